"""The one alarm clock of a process, which a test shares with its own limit."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def alarm_lent() -> Iterator[None]:
    """Let what is inside set the alarm; afterwards the alarm set before goes on."""
    handler = signal.getsignal(signal.SIGALRM)
    seconds, interval = signal.getitimer(signal.ITIMER_REAL)
    began = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if seconds:
            remaining = seconds - (time.monotonic() - began)
            # Zero would switch the alarm off; one that is overdue rings at once.
            signal.setitimer(signal.ITIMER_REAL, max(remaining, 0.001), interval)
