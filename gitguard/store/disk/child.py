"""A child process whose end is noticed at once.

Where Python waits with a time limit, it looks in growing intervals whether the child has ended. A
git command takes two milliseconds, and that adds up to one more to each of them.
"""

from __future__ import annotations

import os
import select
import subprocess
from contextlib import suppress


class Child(subprocess.Popen[bytes]):
    """A process as `subprocess` has it, with bytes in and out."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code; raise `subprocess.TimeoutExpired`."""
        if timeout is not None and self.returncode is None and hasattr(os, "pidfd_open"):
            # Where the kernel has no such handle, Python's own way is left.
            with suppress(OSError):
                _await_end(self.pid, timeout)
        return super().wait(timeout)


def _await_end(process: int, timeout: float) -> None:
    handle = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(timeout, 0) * 1000)
    finally:
        os.close(handle)
