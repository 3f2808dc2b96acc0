"""How a command ends that a signal ends: in order, as at any error, and then by that signal.

Only the command line installs handlers, and only around its own work: a library must leave them to
the program it is part of.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGABRT")
    if hasattr(signal, name)
)
"""Those that end a process at once; at SIGINT Python itself ends in order."""
_SIGNALLED = 128
"""What shells add to a signal's number to make an exit code of it."""


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let locks and programs that were started end first where a signal ends the command.

    A signal that is ignored, as SIGHUP under `nohup`, or handled already stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is told of signals
        return
    received: list[int] = []

    def end(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        raise SystemExit(_SIGNALLED + number)

    watched = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in watched:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in watched:
            signal.signal(number, signal.SIG_DFL)
        if received:
            signal.raise_signal(received[0])
