"""The journal: one line an event, torn lines skipped, folded by offset and never twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.model.codec import STATE_LIMIT, dump_json
from gitguard.model.events import PlanItem
from gitguard.model.text import seconds
from gitguard.state import capture
from gitguard.state import entries as journaling
from gitguard.state.entries import ENDED, FAILED, INTERRUPTED, PROMPT, STARTED, JournalEntry
from gitguard.state.items import Artifact
from gitguard.state.snapshot import SnapshotMeta, render_snapshot, snapshot_of
from gitguard.state.task import LastAction, new_task
from gitguard.store.session.journal import JournalFile
from tests.conftest import Clock, Git
from tests.support.session_files import session_file

NOW = "2026-01-31T09:30:00Z"


def entry(event: str = ENDED, **changes: object) -> JournalEntry:
    return JournalEntry(event, NOW, "host", **{"id": "t1", "tool": "Edit", **changes})  # type: ignore[arg-type]


@pytest.fixture
def journal(tmp_path: Path, clock: Clock) -> JournalFile:
    return JournalFile(str(tmp_path / "journal.jsonl"), clock)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    guard.ensure()
    return guard


# The file


def test_what_is_appended_reads_back(journal: JournalFile) -> None:
    journal.append(entry(summary="one\ntwo \u2028 three", written=("a.py",)))
    journal.append(entry(FAILED, error="bröken 🦊"))
    part = journal.read("", 0)
    assert [e.summary for e in part.entries] == ["one\ntwo \u2028 three", ""]
    assert part.entries[1].error == "bröken 🦊"
    assert part.unfolded == part.entries


def test_a_torn_last_line_is_skipped_and_the_next_one_is_whole(journal: JournalFile) -> None:
    journal.append(entry(id="first"))
    path = Path(journal.path)
    with path.open("ab") as file:
        file.write(b'{"event": "tool-end", "at"')
    assert [e.id for e in journal.read("", 0).entries] == ["first"]
    journal.append(entry(id="second"))
    assert [e.id for e in journal.read("", 0).entries] == ["first", "second"]


@pytest.mark.parametrize("torn", [b"", b'{"format": 1, "jour', b"\n", b"\0\0\0\n"])
def test_a_torn_beginning_loses_nothing_that_follows(journal: JournalFile, torn: bytes) -> None:
    Path(journal.path).write_bytes(torn)
    journal.append(entry(id="first"))
    journal.append(entry(id="second"))
    part = journal.read("", 0)
    assert [e.id for e in part.entries] == ["first", "second"]
    again = journal.read(part.id, part.end)
    assert again.unfolded == ()


def test_folding_goes_on_behind_the_offset(journal: JournalFile) -> None:
    journal.append(entry(id="first"))
    part = journal.read("", 0)
    journal.append(entry(id="second"))
    again = journal.read(part.id, part.end)
    assert [e.id for e in again.unfolded] == ["second"]
    assert [e.id for e in again.entries] == ["first", "second"]


def test_another_journal_is_folded_from_its_beginning(journal: JournalFile, clock: Clock) -> None:
    journal.append(entry(id="old"))
    part = journal.read("", 0)
    Path(journal.path).unlink()
    clock.advance(1)
    journal.append(entry(id="new"))
    assert [e.id for e in journal.read(part.id, part.end).unfolded] == ["new"]


def test_lines_of_nobody_are_skipped(journal: JournalFile) -> None:
    journal.append(entry(id="first"))
    with Path(journal.path).open("ab") as file:
        file.write(b'[]\n{"a": 1}\nnot json\n{"event": 5}\n\xff\n')
    journal.append(entry(id="second"))
    assert [e.id for e in journal.read("", 0).entries] == ["first", "second"]


def test_text_that_utf8_cannot_carry_is_journaled_all_the_same(journal: JournalFile) -> None:
    journal.append(entry(summary="half \ud800 pair", written=("caf\udce9",)))
    (found,) = journal.read("", 0).entries
    assert found.summary == "half ? pair"


def test_a_journal_of_many_megabytes_is_folded_to_its_end(journal: JournalFile) -> None:
    journal.append(entry(id="first"))
    line = Path(journal.path).read_bytes().splitlines(keepends=True)[1]
    with Path(journal.path).open("ab") as file:
        file.write(line.replace(b'"Edit"', b'"' + b"E" * 1000 + b'"') * 20_000)
    journal.append(entry(id="last"))
    part, seen = journal.read("", 0), ""
    for _ in range(3):
        seen = part.unfolded[-1].id if part.unfolded else seen
        part = journal.read(part.id, part.end)
    assert seen == "last"
    assert part.unfolded == ()


# What entries add up to


def test_changed_files_become_artifacts_and_the_last_success_the_last_action() -> None:
    state = new_task("main", NOW)
    entries = (
        entry(written=("a.py",), summary="edit a"),
        entry(FAILED, tool="Bash", error="no"),
        entry(STARTED, written=("never.py",)),
    )
    folded = capture.fold(state, entries, NOW)
    (artifact,) = folded.artifacts
    assert (artifact.path, artifact.writes, artifact.origin.by) == ("a.py", 1, "hook")
    assert folded.last_action == LastAction("Edit: edit a", "success", NOW, by="hook")
    assert capture.fold(folded, (), NOW) is folded


def test_what_the_agent_noted_is_never_replaced() -> None:
    noted = LastAction("Designed it", "success", NOW)
    artifact = Artifact("a.py", "file", "the heart")
    state = new_task("main", NOW).replace(last_action=noted, artifacts=(artifact,))
    folded = capture.fold(state, (entry(written=("a.py", "b.py")),), NOW)
    assert folded.last_action == noted
    first, second = folded.artifacts
    assert first == artifact.replace(writes=1)
    assert (second.path, second.origin.by) == ("b.py", "hook")


def test_mechanical_entries_are_bounded_in_number_and_in_size() -> None:
    state = new_task("main", NOW).replace(artifacts=(Artifact("noted.py"),))
    many = tuple(entry(written=(f"f{n}.py",)) for n in range(300))
    folded = capture.fold(state, many, NOW)
    assert len(folded.artifacts) == 41
    assert folded.artifacts[0].path == "noted.py"
    assert folded.artifacts[-1].path == "f299.py"
    long = tuple(entry(written=(f"{n}" + "é" * 4000,)) for n in range(100))
    assert len(str(capture.fold(state, long, NOW).artifacts)) < 60_000
    for n in range(200):
        failed = entry(FAILED, id=f"t{n}", summary="🦊" * 400, error=f"{n}")
        state = capture.fold(state, (failed,), NOW)
    assert state.failed_attempts[-1].error == "199"
    assert sum(len(f.what) * 4 for f in state.failed_attempts) < 60_000


@pytest.mark.parametrize("letter", ["a", "\x01", '"', "\\", "é", "🦊", "\u200b"])
def test_whatever_tools_are_called_with_no_checkpoint_grows_too_large(letter: str) -> None:
    entries = [
        entry(
            event,
            tool=f"{n}".ljust(200, letter),
            summary=letter * 200,
            read=(f"r{n}".ljust(4000, letter),),
            written=(f"w{n}".ljust(4000, letter),),
            error=letter * 400,
            plan=(PlanItem(f"{n}", letter * 500),),
        )
        for n in range(100)
        for event in (ENDED, FAILED)
    ]
    state = capture.fold(new_task("main", NOW), tuple(entries), NOW)
    work = capture.work_of(tuple(entries), state, seconds(NOW))
    meta = SnapshotMeta("cp_001", "main", created_at=NOW, trigger="manual")
    assert len(dump_json(state.to_document())) < STATE_LIMIT
    assert len(render_snapshot(snapshot_of(state, work, meta))) < STATE_LIMIT


def test_one_path_beyond_measure_drives_no_other_out() -> None:
    read = (*(f"{n}.py" for n in range(20)), "\x01" * 4000)
    assert len(capture.fold(new_task("main", NOW), (entry(read=read),), NOW).files_read) == 20


def test_a_call_that_never_ended_is_open_until_it_is_journaled_as_interrupted() -> None:
    begun, other = entry(STARTED), entry(STARTED, id="t2")
    assert journaling.open_calls((begun, other, entry(ENDED, id="t2"))) == (begun,)
    assert journaling.open_calls((begun, entry(INTERRUPTED))) == ()
    entries = (entry(PROMPT, summary="do it"), begun)
    state = capture.fold(new_task("main", NOW), entries, NOW)
    work = capture.work_of(entries, state, seconds(NOW))
    assert (work.topic, work.interrupted, work.last_tool) == ("do it", True, "Edit")


# In a session


def test_the_checkpoint_folds_the_journal_once(begun: Guard, git: Git) -> None:
    store = begun.store()
    for name in ("a.py", "b.py"):
        store.journal.append(entry(written=(name,)))
        begun.checkpoint(f"With {name}.")
    assert [a.path for a in begun.state().artifacts] == ["a.py", "b.py"]
    snapshot = git("show", "gitguard/main:snapshot.yaml")
    size = session_file(begun, "journal.jsonl").stat().st_size
    assert f"journal_offset: {size}" in snapshot


def test_a_folded_journal_that_grew_large_begins_anew(begun: Guard) -> None:
    store = begun.store()
    for _ in range(400):
        store.journal.append(entry(summary="x" * 700))
    begun.checkpoint("Full.")
    path = session_file(begun, "journal.jsonl")
    assert path.stat().st_size < 20_000
    store.journal.append(entry(written=("after.py",)))
    begun.checkpoint("After.")
    assert [a.path for a in begun.state().artifacts] == ["after.py"]


def test_what_a_new_journal_begins_with_is_folded_already(begun: Guard) -> None:
    store = begun.store()
    for n in range(400):
        store.journal.append(entry(FAILED, summary="x" * 700, error=f"{n}"))
    begun.checkpoint("Full.")
    begun.update({"failed_attempts": []}, replace=True)
    assert begun.checkpoint("After.").commit
    assert begun.state().failed_attempts == ()


def test_what_the_journal_holds_belongs_to_the_task_it_happened_in(begun: Guard) -> None:
    begun.note({"goal": "First"})
    begun.store().journal.append(entry(written=("first.py",)))
    begun.note({"goal": "Second"}, new_task=True)
    assert begun.checkpoint("A reason.").commit
    assert begun.state().artifacts == ()


def test_a_failure_that_was_journaled_is_never_lost_and_never_doubled(begun: Guard) -> None:
    """A hook may be killed between the journal's entry and the state."""
    begun.store().journal.append(entry(FAILED, tool="Bash", summary="make", error="no rule"))
    begun.checkpoint("A reason.")
    begun.checkpoint("Another.")
    (failure,) = begun.state().failed_attempts
    assert (failure.what, failure.error, failure.when) == ("Bash: make", "no rule", NOW)


def test_failures_folded_again_stay_as_they_are() -> None:
    failed = tuple(entry(FAILED, error=f"{n}") for n in range(80))
    once = capture.fold(new_task("main", NOW), failed, NOW)
    assert [f.error for f in once.failed_attempts] == [str(n) for n in range(68, 80)]
    assert capture.fold(once, failed, NOW) is once


def test_a_journal_that_lost_its_end_is_folded_from_its_beginning(begun: Guard) -> None:
    store = begun.store()
    for name in ("a.py", "b.py"):
        store.journal.append(entry(written=(name,)))
    begun.checkpoint("Both.")
    path = session_file(begun, "journal.jsonl")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    store.journal.append(entry(written=("c",)))
    begun.checkpoint("After the crash.")
    assert "c" in [a.path for a in begun.state().artifacts]
