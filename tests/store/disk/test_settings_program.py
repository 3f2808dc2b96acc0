"""A host's own program ends with the command that ran it, or keeps others waiting until it has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitguard.errors import Locked
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.program import find_program
from tests.support.alarms import alarm_lent
from tests.support.waiting import wait_until

SLOW = """#!/bin/sh
echo $$ > "$1/pid.new"
mv "$1/pid.new" "$1/pid"
until test -e "$1/go"; do sleep 0.05; done
touch "$1/written"
"""
RUN = """
import sys, time
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.program import find_program
folder = sys.argv[1]
program = find_program("host", {"PATH": folder + ":/usr/bin:/bin"}, "")
with Lock(folder + "/lock", timeout=0, clock=time.time):
    program.run((folder,))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "host").write_text(SLOW)
    (tmp_path / "host").chmod(0o755)
    yield tmp_path
    (tmp_path / "go").touch()


def test_a_program_does_not_outlive_an_interrupt(folder: Path) -> None:
    program = find_program("host", {"PATH": f"{folder}:/usr/bin:/bin"}, "")
    assert program is not None

    def interrupt(_number: int, _frame: object) -> None:
        if (folder / "pid").exists():
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    with alarm_lent():
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        with pytest.raises(KeyboardInterrupt):
            program.run((str(folder),))
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def test_a_program_whose_command_was_killed_keeps_its_lock_until_it_ends(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RUN, folder]) as running:
        wait_until((folder / "pid").exists)
        running.kill()
    lock = str(folder / "lock")
    with pytest.raises(Locked), Lock(lock, timeout=0, clock=time.time):
        pass
    (folder / "go").touch()
    with Lock(lock, timeout=30, clock=time.time):
        assert (folder / "written").exists()
