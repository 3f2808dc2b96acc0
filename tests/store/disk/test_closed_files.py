"""Files that may not be read: told from damaged ones to people, and as bad as those to the gate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.needed import need
from tests.support.scratch import environment, make_repository
from tests.support.transcript_command import PI

HINT = "Run the command as its owner, or permit the file and its folders to be read"


class Closed:
    """A repository with a session, and commands that have no right to read everything."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "repo", folder / "home"
        make_repository(self.root, self.home)
        self.state = self.home / ".local/state/gitguard"
        self.ok("ensure")
        self.ok("note", "--goal", "One", "--next", "Two")
        self.ok("checkpoint")

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
        need(*drop[:1])
        command = [*drop, sys.executable, "-m", "gitguard", *map(str, words)]
        return subprocess.run(
            command,
            cwd=self.root,
            env=environment(self.home),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def ok(self, *words: str | Path) -> None:
        done = self.run(*words)
        assert done.returncode == 0, done.stderr

    def refused(self, *words: str | Path) -> dict[str, Any]:
        done = self.run(*words, "--json")
        error = json.loads(done.stdout)["error"]
        assert done.returncode == error["exit_code"]
        return dict(error)

    def anchor(self) -> Path:
        return next(self.state.glob("*/*/anchor.json"))


@pytest.fixture
def place(tmp_path: Path) -> Closed:
    return Closed(tmp_path)


@contextmanager
def closed(path: Path) -> Iterator[None]:
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        yield
    finally:
        path.chmod(mode)


def test_a_closed_policy_is_told_from_a_wrong_one(place: Closed) -> None:
    path = place.root / ".context-policy.yml"
    path.write_text("constraints: [One]\n")
    with closed(path):
        error = place.refused("policy", "show")
    assert (error["exit_code"], error["kind"], error["hint"]) == (41, "NotReadable", HINT)
    assert str(path) in error["message"]


@pytest.mark.parametrize("of", ["file", "folder"])
def test_a_closed_configuration_is_told_from_a_wrong_one(of: str, place: Closed) -> None:
    path = place.home / ".config/gitguard/config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    with closed(path if of == "file" else path.parent):
        assert place.refused("status")["exit_code"] == 41


def test_a_recorded_conversation_that_is_closed_since_is_told_from_a_broken_one(
    place: Closed, tmp_path: Path
) -> None:
    path = Path(shutil.copy(PI, tmp_path / "t.jsonl"))
    place.ok("transcript", "import", path)
    with closed(path):
        for command in ("usage", "show"):
            error = place.refused("transcript", command)
            assert (error["exit_code"], error["hint"]) == (41, HINT)


def test_a_closed_anchor_is_not_taken_for_none(place: Closed) -> None:
    anchor = place.anchor()
    before = anchor.read_bytes()
    with closed(anchor):
        for command in ("resume", "verify", "checkpoint", "note --goal Two"):
            assert place.run(*command.split()).returncode not in (0, 70), command
    assert anchor.read_bytes() == before
    place.ok("verify")


def test_a_closed_key_of_the_seals_vouches_for_nothing(place: Closed) -> None:
    key = next(place.state.rglob("_seal.key"))
    with closed(key):
        error = place.refused("checkpoint")
    assert (error["exit_code"], error["hint"]) == (41, HINT)
    place.ok("checkpoint")


def test_a_closed_state_halts_and_a_closed_record_is_set_aside_as_a_damaged_one(
    place: Closed,
) -> None:
    folder = place.root / ".gitguard/sessions/main"
    with closed(folder / "state.json"):
        assert place.refused("gate", "--pressure", "0.1")["exit_code"] == 10
    place.ok("gate", "--pressure", "0.1")
    (folder / "session.json").chmod(0)
    assert place.refused("gate", "--pressure", "0.1")["exit_code"] == 41
    place.ok("repair", "--local")
    place.ok("gate", "--pressure", "0.1")
