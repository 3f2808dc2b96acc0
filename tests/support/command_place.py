"""A place in which the command line is run as a user runs it."""

from __future__ import annotations

import fcntl
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.forked import run, simple_command
from tests.support.scratch import environment, make_repository, shell


class Place:
    """A scratch repository with a session, and what a person types in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repo"
        self.home = folder / "home"
        make_repository(self.root, self.home)

    def type(self, command: str) -> str:
        """Run a command line; return what the person sees."""
        return shell(command, self.root, self.home)

    def run(
        self, command: str, *, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run one gitguard command without a terminal."""
        surroundings = {**environment(self.home), **variables}
        words = simple_command(command)
        if words and not any(name.startswith("PYTHON") for name in variables):  # read at its start
            return run(words, self.root, surroundings, stdin=stdin)
        return subprocess.run(
            shlex.split(command),
            cwd=self.root,
            env=surroundings,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def start(self, command: str) -> subprocess.Popen[str]:
        """Begin a command and do not wait for it."""
        return subprocess.Popen(
            shlex.split(command),
            cwd=self.root,
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the session's lock, as another process would."""
        with (self.root / ".git" / "gitguard" / "main.lock").open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
