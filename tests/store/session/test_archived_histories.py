"""Archived histories stand side by side: a damaged one harms no other, and each has its name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.guard import Guard
from gitguard.store.session.archive import Archived
from gitguard.store.session.current import current_name
from gitguard.store.session.workspace import Session
from gitguard.transcripts.formats.recognition import recognise
from tests.conftest import Clock, Git, OpenGuard
from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.kept_sessions import DAY, at, close_it, findings, maintain, reopen
from tests.support.transcript_lines import lines, said


def damage(guard: Guard, archived: Archived) -> None:
    anchor_of(guard, archived).write_text("{broken")


def anchor_of(guard: Guard, archived: Archived) -> Path:
    folder = Path(guard.workspace.anchor_folder(Session(archived.name, archived.name)))
    return folder / "archive" / archived.commit[:12] / "anchor.json"


@pytest.fixture
def damaged(guard: Guard) -> Archived:
    """An archived session whose anchor is damaged, beside one that is whole and the current one."""
    at(guard, "whole")
    at(guard, "broken")
    at(guard, "main")
    close_it(guard, "whole")
    archived = close_it(guard, "broken")
    damage(guard, archived)
    return archived


# A damaged anchor


def test_a_damaged_anchor_leaves_all_else_as_it_is(damaged: Archived, guard: Guard) -> None:
    by_name = {one.name: one for one in guard.sessions.archived()}
    assert by_name["whole"].problem == ""
    assert by_name["broken"] == damaged.replace(problem=by_name["broken"].problem)
    assert "anchor.json` is not valid JSON" in by_name["broken"].problem
    assert maintain(guard).found == ()
    assert guard.verify()[0].findings == ()
    assert reopen(guard, "whole").state().goal.endswith("whole")


def test_a_damaged_anchor_is_a_finding_of_its_session(damaged: Archived, guard: Guard) -> None:
    (report,) = (one for one in guard.verify(every_session=True) if one.findings)
    (found,) = report.findings
    assert (report.session, found.exit_code) == ("broken", InvalidDocument.exit_code)
    assert damaged.ref in found.way_out
    assert "--forget" not in found.way_out


def test_a_damaged_anchor_is_never_passed_over(
    damaged: Archived, guard: Guard, open_guard: OpenGuard
) -> None:
    at(guard, "broken")
    newer = close_it(guard, "broken")
    with pytest.raises(InvalidDocument, match=r"anchor\.json` is not valid"):
        reopen(guard, "broken")
    with pytest.raises(InvalidDocument):
        reopen(guard, "broken", damaged.commit)
    assert current_name(reopen(open_guard(), "broken", newer.commit).workspace) == "broken"


def test_a_session_begins_beside_a_damaged_archive(damaged: Archived, guard: Guard) -> None:
    begun = guard.sessions.use(Session.of("broken"))
    assert begun.how == "begun"
    assert begun.older == (
        "an older session `broken` is archived but unreadable; `gitguard verify` says why",
    )
    assert len(findings(guard)) == 1


def test_a_hook_answers_beside_a_damaged_archive(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    damage(conversation.guard, close_it(conversation.guard))
    assert "is archived but unreadable" in conversation.prompt()
    assert conversation.faults() == []


def test_a_purge_goes_on_beside_a_damaged_archive(
    damaged: Archived, guard: Guard, git: Git
) -> None:
    at(guard, "broken")
    guard.secrets.purge("2", reason="it was said", value="Nothing is lost of broken")
    assert len(findings(guard)) == 1
    (one,) = (one for one in guard.sessions.archived() if one.name == "broken")
    assert git("rev-parse", one.ref) == one.commit != damaged.commit
    state = Path(guard.workspace.state_folder)
    assert [path for path in state.rglob("*.json") if b"is lost of b" in path.read_bytes()] == []


def test_a_damaged_archive_is_listed_and_shown(tmp_path: Path) -> None:
    typed = Place(tmp_path / "place")
    typed.type("gitguard ensure; gitguard session close main")
    (anchor,) = tmp_path.rglob("archive/*/anchor.json")
    anchor.write_text("{broken")
    for command in ("list", "show main"):
        assert re.search(r"rchived.*is not valid JSON", typed.type(f"gitguard session {command}"))
    assert re.match(r"  main  [0-9a-f]{12}  archived; ", typed.type("gitguard session list"))
    document = json.loads(typed.type("gitguard session list --json"))
    assert "is not valid JSON" in document["archived"][0]["problem"]
    verified = typed.run("gitguard verify --all")
    assert verified.returncode == InvalidDocument.exit_code


# Brought back


def test_a_session_that_cannot_be_used_is_not_brought_back(
    guard: Guard, open_guard: OpenGuard, git: Git
) -> None:
    at(guard, "old")
    at(guard, "main")
    close_it(guard, "old")
    before = git("for-each-ref"), guard.sessions.archived()
    with pytest.raises(InvalidInput, match="names `third`, which takes precedence"):
        open_guard(session="third").sessions.reopen("old")
    assert (git("for-each-ref"), guard.sessions.archived()) == before
    assert guard.sessions.reopen("old").how == "continued"


def test_a_session_of_another_worktree_is_not_brought_back(
    guard: Guard, open_guard: OpenGuard, git: Git, tmp_path: Path
) -> None:
    git("worktree", "add", "--quiet", "-b", "work", str(tmp_path / "linked"))
    other = open_guard(tmp_path / "linked")
    at(other, "theirs")
    close_it(other)
    guard.ensure()
    before = git("for-each-ref"), guard.sessions.archived()
    with pytest.raises(InvalidInput, match="belongs to the worktree of"):
        guard.sessions.reopen("theirs")
    assert (git("for-each-ref"), guard.sessions.archived()) == before
    assert open_guard(tmp_path / "linked").sessions.reopen("theirs").how == "continued"


def test_the_beginning_of_several_histories_brings_none_back(guard: Guard) -> None:
    heads: set[str] = set()
    number = 0
    while len({head[0] for head in heads}) == len(heads):
        number += 1
        at(guard, "twice").note({"goal": f"Goal {number}"})
        heads.add(close_it(guard).commit)
    twice = next(head[0] for head in heads if sum(head[0] == one[0] for one in heads) > 1)
    before = guard.sessions.archived()
    with pytest.raises(InvalidInput, match=f"`{twice}` matches several archived"):
        guard.sessions.reopen("twice", twice)
    assert guard.sessions.archived() == before


# Which one is the last


def two_histories(guard: Guard, clock: Clock) -> tuple[Archived, Archived]:
    """Put two histories of one session away, one after the other."""
    at(guard, "twice").note({"goal": "Deploy to unmistakable-place"})
    older = close_it(guard)
    clock.advance(60)
    at(guard, "twice").note({"goal": "The newer one"})
    return older, close_it(guard)


def test_a_purge_does_not_change_which_history_is_the_last(guard: Guard, clock: Clock) -> None:
    older, newer = two_histories(guard, clock)
    clock.advance(60)
    at(guard, "twice").secrets.purge("2", reason="it was said", value="unmistakable-place")
    rewritten, last = guard.sessions.archived()
    assert rewritten.commit != older.commit
    assert last == newer


# Deleted by name


def test_deleting_an_older_history_names_it_and_leaves_the_session(
    guard: Guard, clock: Clock
) -> None:
    older, newer = two_histories(guard, clock)
    guard.sessions.reopen("twice")
    (one,) = maintain(guard, "enforce", "twice").deleted
    assert one.label == f"twice@{older.commit[:12]}"
    assert guard.store().chain.head().id == newer.commit


def test_one_history_of_several_is_deleted(guard: Guard, clock: Clock, git: Git) -> None:
    older, newer = two_histories(guard, clock)
    maintain(guard, "enforce", f"twice@{newer.commit[:7]}")
    assert guard.sessions.archived() == [older]
    assert newer.ref not in git("for-each-ref")
    for wrong in ("twice@0000000", "twice@x"):
        with pytest.raises(InvalidInput, match=f"`{wrong}` is neither"):
            maintain(guard, "enforce", wrong)


def test_what_begins_several_histories_names_none(guard: Guard, clock: Clock) -> None:
    two_histories(guard, clock)
    with pytest.raises(InvalidInput, match="`twice@` matches several"):
        maintain(guard, "enforce", "twice@")


def test_a_due_session_is_deleted_without_its_older_histories(guard: Guard, clock: Clock) -> None:
    older, newer = two_histories(guard, clock)
    guard.sessions.reopen("twice")
    clock.advance(31 * DAY)
    at(guard, "main")
    (one,) = maintain(guard, "enforce", "twice").deleted
    assert one.commit == newer.commit
    assert guard.sessions.archived() == [older]


def test_what_cannot_be_deleted_keeps_neither_the_others_nor_the_report(
    guard: Guard, clock: Clock
) -> None:
    older, newer = two_histories(guard, clock)
    guard.sessions.reopen("twice")
    at(guard, "other")
    clock.advance(31 * DAY)
    at(guard, "main")
    with guard.store(Session.of("twice")).lock():
        done = maintain(guard, "enforce", "other", "twice")
    assert [one.name for one in done.deleted] == ["other"]
    (kept,) = done.undeleted
    assert (kept.name, "is held by process" in kept.refusal) == ("twice", True)
    assert guard.sessions.archived() == [older]
    assert guard.sessions.heads()["twice"] == newer.commit


def test_an_archived_one_that_is_in_use_is_told_not_deleted(guard: Guard, clock: Clock) -> None:
    every = two_histories(guard, clock)
    at(guard, "main")
    close_it(guard)
    with guard.store(Session.of("twice")).lock():
        done = maintain(guard, "enforce", "main", "twice")
    assert [one.name for one in done.deleted] == ["main"]
    assert {one.commit for one in done.undeleted} == {one.commit for one in every}
    assert guard.sessions.archived() == [*every]


def test_a_damaged_one_can_be_deleted(damaged: Archived, guard: Guard) -> None:
    (found,) = (one for report in guard.verify(every_session=True) for one in report.findings)
    name = f"broken@{damaged.commit[:12]}"
    assert f"--delete {name}" in found.way_out
    maintain(guard, "enforce", name)
    assert findings(guard) == []
    assert [one.name for one in guard.sessions.archived()] == ["whole"]


def test_sessions_are_looked_through_once(guard: Guard) -> None:
    at(guard, "main")
    maintenance = guard.sessions.maintenance()
    assert maintenance.plan() is maintenance.plan()


def test_an_import_of_an_old_conversation_keeps_no_session_from_being_put_away(
    guard: Guard, clock: Clock, tmp_path: Path
) -> None:
    at(guard, "old")
    clock.advance(31 * DAY)
    guard.sessions.import_transcript(recognise(str(lines(tmp_path / "S9.jsonl", said(1, "one")))))
    at(guard, "main")
    assert [one.name for one in maintain(guard).archived] == ["old"]
