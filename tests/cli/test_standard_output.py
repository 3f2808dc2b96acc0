"""The ends of a command that are nobody's fault: no room, no reader, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.needed import cannot_run
from tests.support.spoken import pi, turns
from tests.support.transcript_command import PI, run

FULL = Path("/dev/full")
COMMAND = [sys.executable, "-m", "gitguard"]
READING = [["show"], ["export"], ["usage"], ["usage", "--json"]]


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_full_disk_under_standard_output_is_no_fault_of_ours(
    words: list[str], unbuffered: str, tmp_path: Path, hermetic_seal: Path
) -> None:
    if not FULL.exists():
        cannot_run("the system has no /dev/full")
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "transcript", *words, str(PI)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 38, done.stderr
    assert done.stderr.startswith("error: cannot write to standard output: No space left")
    assert len(done.stderr.splitlines()) == 2
    assert not [*hermetic_seal.rglob("crash.log")]


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_reader_that_goes_away_is_no_error(command: str, tmp_path: Path) -> None:
    path = pi(tmp_path / "talk.jsonl", turns(200, size=2_000)).path
    with subprocess.Popen(
        [*COMMAND, "transcript", command, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    "words",
    [["show", "--last-turns"], ["budget", "--turns"], ["compact", "--window"]]
    + [["compact", "--keep-turns"]],
    ids=" ".join,
)
def test_a_number_that_no_conversation_reaches_is_refused(words: list[str], tmp_path: Path) -> None:
    said = run(*words, "9999999999999999999999", PI, cwd=tmp_path, code=2)
    assert "is not in the range" in said


SLOW = """
import sys
class Slow:
    def find_spec(self, name, *more):
        if name == "gitguard.cli.app":
            import time
            print("loading", file=sys.stderr, flush=True)
            time.sleep(30)
sys.meta_path.insert(0, Slow())
from gitguard.cli import main
main()
"""
"""gitguard, of which the command line takes long to load."""


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["text", "json"])
def test_while_it_is_loaded_a_command_can_be_interrupted(words: list[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, "session", "list", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "loading\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)
    assert process.returncode == 130
    if words:
        assert json.loads(out)["error"]["exit_code"] == 130
        assert said == ""
    else:
        assert (out, said) == ("", "error: interrupted\n")
