"""What a command lets go when a signal ends it.

Only the command line installs handlers, and only around its own work: a library must leave them to
the program it is part of.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitguard.transcripts.rewriting.locks import let_go_of_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGQUIT", "SIGABRT")
    if hasattr(signal, name)
)


@contextmanager
def letting_go_of_locks() -> Iterator[None]:
    """Let go of the locks of transcripts at a signal, then do what was done at it before."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is told of signals
        return
    before = {number: signal.getsignal(number) for number in ENDING}

    def let_go(number: int, frame: FrameType | None) -> None:
        let_go_of_all()
        handler = before[number]
        if callable(handler):
            handler(number, frame)
            return
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    watched = [n for n, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for number in watched:
        signal.signal(number, let_go)
    try:
        yield
    finally:
        for number in watched:
            signal.signal(number, before[number])
