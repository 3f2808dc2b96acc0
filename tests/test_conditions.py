"""The tests themselves: what they set up, what they end, and what they say of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.alarms import alarm_lent
from tests.support.needed import cannot_run, need

ROOT = Path(__file__).parent.parent
ENDING = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGTERM")


def ignore_all() -> None:
    """What `&` in a script and `nohup` do to the tests."""
    for name in ENDING:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def run_tests(folder: Path, source: str, *options: str, **environment: str) -> str:
    """Run tests of a file of their own as `make test` does; return what is printed."""
    path = folder / "test_sample.py"
    path.write_text(source)
    words = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    command = [sys.executable, "-m", "pytest", *words, "--rootdir", str(folder), *options]
    surroundings = {**os.environ, "CI": "", "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [*command, str(path)],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=ignore_all,
    )
    return done.stdout + done.stderr


SIGNALS = f"""
import signal, subprocess, sys
import pytest

@pytest.mark.parametrize("name", {ENDING!r})
def test_a_child_ends(name):
    wait = "import sys; print('ready', flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        child.stdout.readline()
        child.send_signal(getattr(signal, name))
        assert child.wait(30) != 0
"""


def test_tests_behind_nohup_end_their_children_by_signals(tmp_path: Path) -> None:
    assert f"{len(ENDING)} passed" in run_tests(tmp_path, SIGNALS)


ENDLESS = """
import threading

def test_that_waits_for_ever():
    threading.Event().wait()

def test_after_it():
    pass
"""


def test_a_test_that_waits_for_ever_fails_with_its_stack(tmp_path: Path) -> None:
    printed = run_tests(tmp_path, ENDLESS, "-o", "timeout=1")
    assert "1 failed, 1 passed" in printed
    assert "threading.Event().wait()" in printed
    assert "Timeout" in printed


def test_every_test_has_a_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 0


def test_an_alarm_that_is_lent_goes_on_afterwards() -> None:
    rings: list[int] = []
    with alarm_lent():
        signal.signal(signal.SIGALRM, lambda number, _frame: rings.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with alarm_lent():
            signal.setitimer(signal.ITIMER_REAL, 0)
        deadline = time.monotonic() + 30
        while not rings and time.monotonic() < deadline:
            signal.sigtimedwait([], 0.05)
    assert rings == [signal.SIGALRM]


NEEDING = """
from tests.support.needed import need, need_root

def test_one():
    need("no-such-program")

def test_two():
    need("no-such-program", "python3")

def test_three():
    pass
"""


def test_what_a_machine_lacks_is_counted_by_name_at_the_end(tmp_path: Path) -> None:
    printed = run_tests(tmp_path, NEEDING)
    assert "1 passed, 2 skipped" in printed
    assert "2 skipped: needs no-such-program" in printed


def test_what_a_machine_lacks_is_counted_with_several_processes_too(tmp_path: Path) -> None:
    assert "2 skipped: needs no-such-program" in run_tests(tmp_path, NEEDING, "-n", "2")


def test_under_ci_what_the_machine_lacks_is_a_failure(tmp_path: Path) -> None:
    printed = run_tests(tmp_path, NEEDING, CI="true")
    assert "2 failed, 1 passed" in printed
    assert "cannot run here: needs no-such-program" in printed


def test_only_one_function_skips_a_test() -> None:
    skipping = ("pytest.skip(", "mark.skip", "pytest.importorskip")
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    allowed = {ROOT / "tests" / "support" / "needed.py", Path(__file__)}
    skips = [path.name for path, text in sources.items() if any(s in text for s in skipping)]
    assert set(skips) == {path.name for path in allowed}


@pytest.mark.parametrize("value", ["", "0", "false"])
def test_outside_ci_a_test_is_skipped(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.skip.Exception, match="lacks it"):
        cannot_run("lacks it")
    need("git")
