"""Starts child processes and ends them: git, a host's program, a summarizer, a status line.

Each runs in a process group of its own, because what it starts holds our pipes too: to end only the
child would leave us waiting for its children.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import suppress

from gitguard.store.disk import lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

TimeoutExpired = subprocess.TimeoutExpired
"""Raised by `Child.communicate` and `Child.wait` when their seconds are over."""
NOTHING = subprocess.DEVNULL
"""No input for a child, or nowhere for its output."""
_PIPE = subprocess.PIPE


class Child(subprocess.Popen[bytes]):
    """A process as `subprocess` has it, with bytes in and out."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code; raise `TimeoutExpired`.

        Where Python waits with a time limit, it looks in growing intervals whether the child has
        ended. A git command takes two milliseconds, and that adds up to one more to each of them.
        """
        if timeout is not None and self.returncode is None and hasattr(os, "pidfd_open"):
            # Where the kernel has no such handle, Python's own way is left.
            with suppress(OSError):
                _await_end(self.pid, timeout)
        return super().wait(timeout)

    def end(self, *, grace: float = 0, patience: float | None = None) -> None:
        """End it and all that it started, and wait for nobody who still holds a pipe.

        With a grace it is asked to end first, and has so many seconds to clean up. patience is how
        many seconds to wait for the end once it was killed; None waits until it has ended.
        """
        if grace:
            self.signal_group("SIGTERM", grace)
        self.signal_group("SIGKILL", patience)
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()

    def signal_group(self, name: str, seconds: float | None) -> None:
        """Signal it and all that it started, and wait so many seconds for its end."""
        # The group has the child's own number, because `start` makes it the leader of a session.
        # The group is signalled even where the child has ended: what it started may still run.
        with suppress(OSError, TimeoutExpired):
            if hasattr(os, "killpg"):
                os.killpg(self.pid, getattr(signal, name))
            else:
                self.kill()
            self.wait(seconds)


def start(
    command: str | list[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    stdin: int | IO[bytes] = _PIPE,
    stderr: int = _PIPE,
    keeps_lock: bool = False,
) -> Child:
    """Start a child whose output is piped; raise `OSError` where it does not start.

    A command that is a string is run by the shell. Without an environment or a folder the child has
    ours. keeps_lock is whether our locks are held until it has ended, even where we end before.
    """
    return Child(
        command,
        shell=isinstance(command, str),
        env=environment,
        cwd=folder,
        stdin=stdin,
        stdout=_PIPE,
        stderr=stderr,
        bufsize=0,  # what waits in a buffer of Python's cannot be waited for
        pass_fds=lock.held() if keeps_lock else (),
        start_new_session=True,
    )


def start_detached(command: list[str], *, environment: Mapping[str, str], folder: str) -> None:
    """Start a child that goes on without us, and that nobody hears; raise `OSError`.

    It holds none of our pipes, so whoever waits for ours to end does not wait for it.
    """
    child = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=NOTHING,
        stdout=NOTHING,
        stderr=NOTHING,
        start_new_session=True,
    )
    # Nobody waits for it here, and Python would complain.
    child.returncode = 0


def start_on_terminal(
    command: str | list[str], *, environment: Mapping[str, str], folder: str
) -> Child:
    """Start a child that reads what it is given and has our terminal; raise `OSError`.

    It stays in our process group, because the terminal takes keys for that one alone; so it is
    waited for, and never ended with `end`.
    """
    return Child(command, shell=isinstance(command, str), env=environment, cwd=folder, stdin=_PIPE)


def _await_end(process: int, timeout: float) -> None:
    handle = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(timeout, 0) * 1000)
    finally:
        os.close(handle)
