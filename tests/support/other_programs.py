"""Other programs that are at work while a test looks: what they hold open, and until when."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPENER = """
import sys
opened = open(sys.argv[1], sys.argv[2])
print("open", flush=True)
sys.stdin.read()
"""


@contextmanager
def running(program: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program that says a line when it is there, and ends when its input does."""
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        assert started.stdout.readline()
        try:
            yield started
        finally:
            started.kill()


@contextmanager
def opened(path: str | Path, mode: str = "a") -> Iterator[int]:
    """Let another process have a file open, as by `open`; yield its id."""
    with running(_OPENER, str(path), mode) as opener:
        yield opener.pid
