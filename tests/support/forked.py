"""Runs a gitguard command in a process forked from the tests': what it imports is there already.

A command that starts as a user's does costs a tenth of a second before it begins. So this is for
tests of what a command says and does; those about the process itself start a real one.
"""

from __future__ import annotations

import gc
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from gitguard.cli import main
from tests.faults.proof import load_everything

_LIMIT = 60
"""Seconds after which a command counts as hung."""
_FOR_A_SHELL = re.compile(r"[|&;<>()$`\\*?\[\]#!{}\n]|(?<![^\s=:])~")
_HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def simple_command(line: str) -> list[str] | None:
    """Return the words of a line that is one `gitguard` command and needs no shell, else None."""
    unquoted = re.sub("'[^']*'", "", line)
    if _FOR_A_SHELL.search(unquoted) or "'" in unquoted or unquoted.count('"') % 2:
        return None
    words = shlex.split(line)
    return words if words[:1] == ["gitguard"] else None


def run(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    stdin: str = "",
    together: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; together puts its errors among its output."""
    load_everything()
    with (
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as complained,
        tempfile.TemporaryFile() as given,
    ):
        given.write(stdin.encode())
        given.seek(0)
        files = (given, said, said if together else complained)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
            child = os.fork()
        if child == 0:
            _become(words, folder, dict(environment), files)
        code = _end_of(child, words)
        return subprocess.CompletedProcess(list(words), code, _text(said), _text(complained))


def _end_of(child: int, words: Sequence[str]) -> int:
    deadline = time.monotonic() + _LIMIT
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise subprocess.TimeoutExpired(list(words), _LIMIT)
        time.sleep(0.001)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8").read()


def _become(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], files: Sequence[IO[bytes]]
) -> None:
    """Turn a forked process into a command; it does not return."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        gc.freeze()  # to collect what the tests left would copy all of it
        _look_like_new(folder, environment)
        sys.argv = [str(Path(sys.executable).with_name("gitguard")), *words[1:]]
        code = _call()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    finally:
        os._exit(code)


def _look_like_new(folder: Path, environment: Mapping[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    tempfile.tempdir = None
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.resetwarnings()
    for category in _HIDDEN:
        warnings.simplefilter("ignore", category)
    modes = ("r", "w", "w")
    streams = [
        os.fdopen(number, mode, encoding="utf-8", closefd=False)
        for number, mode in enumerate(modes)
    ]
    sys.stdin, sys.stdout, sys.stderr = streams


def _call() -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
