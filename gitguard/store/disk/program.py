"""Runs a host's own program, for commands that people run: never in hooks.

What it is about to write must not come after we have gone on or given up: it ends with us, and
where we are killed, it holds our locks until it has ended.
"""

from __future__ import annotations

import os
from threading import Timer

from gitguard.model.text import one_line, shorten, visible
from gitguard.model.value import Value
from gitguard.store.disk import child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TIME_LIMIT = 120
"""Seconds after which the program has failed; a large one takes several to start."""
_EXCHANGE = 3.0
"""Seconds that an exchange of lines takes at most, while a person waits for `status`."""
_GRACE = 1.0
"""Seconds in which the program may then close its files."""
_LONGEST = 1 << 20
"""Bytes of a line that are read at once."""


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
            process = child.start(
                [self._path, *arguments],
                environment=self._environment,
                folder=os.path.abspath(os.sep),
                stdin=child.NOTHING,
                keeps_lock=True,
            )
        except OSError as error:
            return ProgramOutcome(127, "", str(error))
        try:
            stdout, stderr = process.communicate(timeout=TIME_LIMIT)
        except child.TimeoutExpired:
            process.end()
            return ProgramOutcome(124, "", f"it did not end within {TIME_LIMIT} s")
        except BaseException:
            process.end()
            raise
        return ProgramOutcome(
            process.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")
        )

    def exchange(
        self,
        arguments: tuple[str, ...],
        sent: tuple[str, ...],
        is_last: Callable[[str], bool],
    ) -> tuple[str, ...]:
        """Give it lines, and return its own up to the last one; fewer where it ends before.

        It is ended after that one, or after three seconds.
        """
        try:
            process = child.start(
                [self._path, *arguments],
                environment=self._environment,
                folder=os.path.abspath(os.sep),
                stderr=child.NOTHING,
            )
        except OSError:
            return ()
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_EXCHANGE, process.signal_group, ("SIGKILL", None))
        timer.start()
        lines: list[str] = []
        try:
            process.stdin.write("".join(f"{line}\n" for line in sent).encode())
            while line := process.stdout.readline(_LONGEST):
                lines.append(line.decode("utf-8", "replace"))
                if is_last(lines[-1]):
                    break
        except OSError:
            pass  # it ended before it read them
        finally:
            timer.cancel()
            process.end(grace=_GRACE)
        return tuple(lines)


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
