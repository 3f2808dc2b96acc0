"""The golden repository of this format: every later version reads, verifies and continues it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import InvalidDocument, NewerFormat
from gitguard.guard import Guard
from gitguard.model.codec import load_yaml
from gitguard.model.events import Reading
from gitguard.model.triggers import TRIGGERS
from tests.conftest import Git
from tests.generating.generate_golden import pack, write_everything
from tests.support.conversation import Clock
from tests.support.golden import ALLOWED, FOLDER, HALTED, OVERRIDDEN, SLUGGED, put_down
from tests.support.needed import need

CHECKPOINTS = {"main": 22, "finished": 2, "tabs-again": 1, SLUGGED: 2, "signed": 2, "pending": 2}
"""Each session's key and how many checkpoints it has."""


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    clock = Clock()
    clock.pass_by(86_400)
    return put_down(tmp_path, clock)


@pytest.fixture
def git(guard: Guard) -> Git:
    return Git(Path(guard.workspace.place.worktree))


def at(guard: Guard, key: str, **places: Any) -> Guard:
    root, places_there = guard.workspace.place.worktree, guard.workspace.places
    return Guard(root, places_there.replace(session=key, **places), guard.clock)


def test_every_golden_session_is_verified(guard: Guard) -> None:
    reports = guard.verify(every_session=True)
    assert [report.findings for report in reports] == [()] * len(CHECKPOINTS)
    assert {report.session: report.checkpoints for report in reports} == CHECKPOINTS


def test_golden_checkpoints_are_of_every_kind_and_each_is_shown(guard: Guard) -> None:
    triggers = {"complete"}  # of the archived session
    for key in set(CHECKPOINTS) - {"finished"}:
        session = at(guard, key)
        checkpoints = session.log(100)
        assert len(checkpoints) == CHECKPOINTS[key]
        for checkpoint in checkpoints:
            triggers.add(checkpoint.trigger)
            for name in ("state.json", "summary.md", "snapshot.yaml"):
                assert session.show(name, checkpoint.id)
    wanted = "`tests/generating/generate_golden.py` takes a checkpoint for each, then `make golden`"
    assert triggers == set(TRIGGERS), wanted


@pytest.mark.parametrize("key", ["main", "tabs-again", SLUGGED, "signed"])
def test_a_golden_session_is_resumed_and_continued(guard: Guard, git: Git, key: str) -> None:
    session = at(guard, key)
    goal = session.ensure().state.goal
    head = git("rev-parse", session.store().chain.ref)
    assert goal in session.resume()
    session.note({"learnings": ["noted by a later version"]})
    saved = session.checkpoint("by a later version")
    assert git("rev-parse", f"{saved.commit}^") == head
    assert session.state().goal == goal
    assert [report.findings for report in session.verify()] == [()]
    git.fsck()


def test_golden_items_say_who_noted_them(guard: Guard) -> None:
    state = guard.state()
    assert [decision.what for decision in state.decisions] == ["Split on any white space"]
    assert {item.origin.by for item in (*state.learnings, *state.exchanges)} == {
        "agent",
        "hook",
        "user",
    }
    assert "Never touch the lexer" in guard.resume()


def test_golden_journal_lines_are_known_as_ours_and_go_on(guard: Guard) -> None:
    lines = guard.store().journal.read("", 0).entries
    assert {"tool-end", "tool-failed"} <= {line.event for line in lines}
    assert guard.store().journal.calls("S1") > 0
    guard.checkpoint("folds what is new")
    assert not list(Path(guard.workspace.folder).rglob("journal.jsonl.bad-*"))


def test_an_archived_golden_session_is_reopened(guard: Guard) -> None:
    guard.sessions.reopen("finished")
    session = at(guard, "finished")
    assert session.state().goal == "Rename the command"
    assert [report.findings for report in session.verify()] == [()]


def test_golden_signatures_are_good(guard: Guard, tmp_path: Path) -> None:
    need("ssh-keygen")
    config = tmp_path / "config"
    config.mkdir()
    (config / "config.yaml").write_text("sign: true\n")
    allowed = f'[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tallowedSignersFile = {FOLDER / ALLOWED}\n'
    (tmp_path / ".gitconfig").write_text(allowed)
    (report,) = at(guard, "signed").verify()
    assert report.findings == ()
    assert not any("signature" in note for note in report.notes), report.notes


def test_what_is_pending_in_the_golden_repository_is_committed_once_it_can_be(
    guard: Guard, git: Git, tmp_path: Path
) -> None:
    held, session = str(tmp_path / "held"), at(guard, "pending")
    git("worktree", "add", "--quiet", held, "gitguard/pending")
    assert session.checkpoint("the branch is held").pending
    assert session.state().goal == "Saved, and not committed yet"
    git("worktree", "remove", "--force", held)
    saved = session.checkpoint("the branch is free")
    assert json.loads(git("show", f"{saved.commit}:state.json"))["goal"] == session.state().goal


def test_a_conversation_that_is_halted_in_the_golden_repository_stays_halted(
    guard: Guard,
) -> None:
    reading = Reading("explicit", guard.clock(), share=0.4)
    assert guard.gate(HALTED, reading).verdict.action == "halt"
    assert guard.status().host_sessions[OVERRIDDEN].override is not None
    guard.override(HALTED, "A human looked at it.")
    assert guard.gate(HALTED, reading).verdict.action == "continue"


def test_files_come_back_from_golden_snapshots_and_a_golden_restore_is_undone(
    guard: Guard, git: Git
) -> None:
    (pinned,) = guard.files.status().pinned
    good = (git.root / "parser.txt").read_text()
    guard.files.restore(guard.files.plan_undo())
    assert (git.root / "parser.txt").read_text() == "broken\n"
    (git.root / "notes.txt").unlink()
    guard.files.restore(guard.files.plan(pinned, theirs_too=True))
    assert (git.root / "parser.txt").read_text() == good
    assert (git.root / "notes.txt").read_text() == "changed by the user\n"


# The format


def keys_of(document: Any, above: str = "") -> Iterator[str]:
    """Yield where something stands in a document; names that are no field's are all the same."""
    if isinstance(document, dict):
        for key, value in document.items():
            name = f"{above}.{key}" if re.fullmatch("[a-zA-Z_]+", key) else f"{above}.*"
            yield name
            yield from keys_of(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from keys_of(value, f"{above}[]")


def documents_in(path: Path) -> Iterator[Any]:
    """Yield what a file holds, as far as it is one of ours that has fields."""
    if path.suffix == ".json":
        yield json.loads(path.read_text())
    elif path.suffix == ".jsonl":
        yield from map(json.loads, path.read_text().splitlines())
    elif path.suffix == ".yaml":
        yield load_yaml(path.read_bytes(), what="the snapshot")


def format_of(packed: Path) -> dict[str, set[str]]:
    """Return the files of a packed repository, without ids in their names, and their fields."""
    fields: dict[str, set[str]] = {}
    for path in sorted(packed.rglob("*")):
        if path.is_file():
            name = re.sub(r"[0-9a-f]{8,}|[0-9]{8,}", "ID", str(path.relative_to(packed)))
            keys = (key for document in documents_in(path) for key in keys_of(document))
            fields.setdefault(name, set()).update(keys)
    return fields


def test_the_golden_repository_is_what_this_version_writes(tmp_path: Path) -> None:
    """Where this fails, the format has changed; `make golden` writes it again before a release."""
    need("ssh-keygen")
    write_everything(tmp_path / "place")
    pack(tmp_path / "place", tmp_path / "packed")
    assert format_of(tmp_path / "packed") == format_of(FOLDER), "run `make golden`"


@pytest.mark.parametrize(("version", "error"), [("2", NewerFormat), ("0", InvalidDocument)])
def test_a_golden_anchor_of_another_format_is_refused(
    guard: Guard, version: str, error: type[InvalidDocument]
) -> None:
    guard.ensure()
    path = Path(guard.workspace.state_folder, "main", "anchor.json")
    path.write_text(path.read_text().replace('"format": 1', f'"format": {version}'))
    with pytest.raises(error, match="format"):
        guard.checkpoint("on top")
