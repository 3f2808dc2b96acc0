"""A terminal on which a command runs, and what the person in front of it sees."""

from __future__ import annotations

import os
import pty
import shlex

from tests.support.command_place import Place
from tests.support.scratch import environment


def on_terminal(place: Place, command: str, said: bytes = b"", **variables: str) -> tuple[int, str]:
    """Run a command on a terminal, answer it, and return its exit code and what was seen."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place.root)
        words = shlex.split(command)
        os.execvpe(words[0], words, {**environment(place.home), "TERM": "xterm", **variables})
    os.write(terminal, said)
    seen = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()
