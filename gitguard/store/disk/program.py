"""Runs a host's own program, for commands that people run: never in hooks.

What it is about to write must not come after we have gone on or given up: it ends with us, and
where we are killed, it holds our locks until it has ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from gitguard.model.text import one_line, shorten, visible
from gitguard.model.value import Value
from gitguard.store.disk import lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

TIME_LIMIT = 120
"""Seconds after which the program has failed; a large one takes several to start."""


class ProgramOutcome(Value):
    """How a program ended."""

    returncode: int
    stdout: str
    stderr: str = ""

    @property
    def complaint(self) -> str:
        """What it said in the end, in one line."""
        lines = (self.stderr.strip() or self.stdout.strip()).splitlines()
        return shorten(one_line(visible(" ".join(lines[-3:]))), 300) or "nothing"


class Program:
    """A program that is on the user's PATH."""

    def __init__(self, path: str, environment: Mapping[str, str]) -> None:
        """Name the program; its environment is the caller's, because it is the user's own."""
        self._path = path
        self._environment = environment

    def run(self, arguments: tuple[str, ...]) -> ProgramOutcome:
        """Run it and return how it ended; one that does not run or end has failed too."""
        try:
            process = subprocess.Popen(
                [self._path, *arguments],
                env=dict(self._environment),
                cwd=os.path.abspath(os.sep),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=lock.held(),
                # A group of its own, because what it starts holds our pipes too.
                start_new_session=True,
            )
        except OSError as error:
            return ProgramOutcome(127, "", str(error))
        try:
            said = process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            _end(process)
            return ProgramOutcome(124, "", f"it did not end within {TIME_LIMIT} s")
        except BaseException:
            _end(process)
            raise
        return ProgramOutcome(
            process.returncode, *(part.decode("utf-8", "replace") for part in said)
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in filter(None, (process.stdout, process.stderr)):
        pipe.close()
    process.wait()


def find_program(name: str, environment: Mapping[str, str], worktree: str) -> Program | None:
    """Find a program on PATH; one in the worktree would be the repository's own, and is none."""
    path = path_of(name, environment, worktree)
    return Program(path, environment) if path else None


def path_of(name: str, environment: Mapping[str, str], *worktrees: str) -> str:
    """Return where a program is that PATH finds, or that is named by its whole path; else none.

    One in a worktree, or a link there, would be the repository's own, and is none; an empty
    worktree is none.
    """
    within = tuple(worktree + os.sep for worktree in worktrees if worktree)
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        candidate = os.path.join(folder, name)
        lies_in = (os.path.dirname(candidate), os.path.dirname(os.path.realpath(candidate)))
        inside = any((os.path.realpath(each) + os.sep).startswith(within) for each in lies_in)
        runs = os.path.isfile(candidate) and os.access(candidate, os.X_OK)
        if os.path.isabs(candidate) and runs and not inside:
            return candidate
    return ""
