"""Startup, step by step, and what happens to working files that are missing or wrong."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import pytest

from gitguard.errors import (
    Complete,
    EditedState,
    GitguardError,
    InvalidDocument,
    InvalidInput,
    MissingState,
    NewerFormat,
    OtherToolState,
    Untrusted,
)
from gitguard.guard import Guard
from gitguard.model import events
from gitguard.model.events import Abilities, HookEvent
from gitguard.sessions.other_tools import state_of_other_tools
from gitguard.state.entries import JournalEntry
from gitguard.state.items import texts
from gitguard.store.session.anchor import AnchorFile
from gitguard.store.session.current import current_session, read_owner
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Clock, Git, OpenGuard, start_guard
from tests.support.secret_samples import some
from tests.support.session_files import own_file, session_file
from tests.support.staged import staged


def edit(guard: Guard, **changes: object) -> None:
    """Change `state.json` as an editor would."""
    path = session_file(guard, "state.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def begin(folder: Path) -> None:
    start_guard(folder).note({"goal": "Survive", "next_action": "Go on"})


tmp_path = staged(begun=begin)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    return guard


# Step 1 and 2: nothing is there


def test_the_first_ensure_begins_a_session_with_a_checkpoint(guard: Guard, git: Git) -> None:
    before = git.traces()
    startup = guard.ensure()
    assert startup.how == "begun"
    assert startup.state.next_action == "START"
    assert git("show", "gitguard/main:state.json")
    assert git("show", "gitguard/main:summary.md").startswith("# (no goal set)")
    assert session_file(guard, "summary.md").read_text().startswith("# (no goal set)")
    assert "\nGitguard-Trigger: start\n" in git("log", "-1", "--format=%B", "gitguard/main")
    assert git.traces() == before
    git.fsck()


def test_a_summary_without_a_state_stops_the_agent(begun: Guard) -> None:
    session_file(begun, "state.json").unlink()
    with pytest.raises(MissingState) as caught:
        begun.ensure()
    assert "repair --local" in caught.value.hint
    assert begun.repair_local() != ()
    assert begun.ensure().state.goal == "Survive"


# Step 3: required fields are missing, or it cannot be read


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b'{"schema_version": 1',
        b'{"schema_version": 1, "goal": "only"}',
        b'{"schema_version": 1, "goal": "a", "goal": "b"}',
        b"[1, 2]",
        b"\xff\xfe\x00",
        b"{" + b" " * 5_000_000,
    ],
    ids=["empty", "truncated", "incomplete", "duplicate keys", "a list", "not text", "5 MB"],
)
def test_a_bad_state_stops_the_agent_and_is_kept_by_a_repair(begun: Guard, bad: bytes) -> None:
    path = session_file(begun, "state.json")
    path.write_bytes(bad)
    for ask in (begun.ensure, begun.state, lambda: begun.gate("host")):
        with pytest.raises(MissingState) as caught:
            ask()
        assert len(caught.value.message) < 600
        assert "repair --local" in caught.value.hint
    assert path.read_bytes() == bad
    done = begun.repair_local()
    assert any("archived the bad state" in sentence for sentence in done)
    (kept,) = path.parent.glob("state.json.bad-*")
    assert kept.read_bytes() == bad
    assert begun.ensure().state.goal == "Survive"


def test_two_bad_states_in_one_second_are_both_kept(begun: Guard) -> None:
    path = session_file(begun, "state.json")
    for bad in (b"one", b"two"):
        path.write_bytes(bad)
        begun.repair_local()
    kept = {file.read_bytes() for file in path.parent.glob("state.json.bad-*")}
    assert kept == {b"one", b"two"}


def test_a_state_that_is_a_named_pipe_or_a_folder_blocks_nobody(begun: Guard) -> None:
    path = session_file(begun, "state.json")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(MissingState, match="regular file"):
        begun.state()
    begun.repair_local()
    path.unlink()
    path.mkdir()
    with pytest.raises(MissingState):
        begun.state()
    begun.repair_local()
    assert begun.ensure().state.goal == "Survive"


def test_a_state_that_a_newer_gitguard_wrote_is_refused_and_not_repaired(begun: Guard) -> None:
    edit(begun, schema_version=2)
    state = session_file(begun, "state.json").read_text()
    copies = AnchorFile(begun.workspace.anchor_folder(Session.of("main")))
    written = copies.read_copy()
    assert written is not None
    copies.write_copy(written.replace(state=state, sha256=sha256(state.encode()).hexdigest()))
    for ask in (begun.ensure, begun.state, begun.repair_local):
        with pytest.raises(NewerFormat) as caught:
            ask()
        assert caught.value.hint == "upgrade gitguard"


# Step 4: no next action


@pytest.mark.parametrize("field", ["goal", "next_action"])
def test_a_field_that_somebody_emptied_stops_the_agent_until_a_repair(
    begun: Guard, field: str
) -> None:
    before = begun.state()
    edit(begun, **{field: "  "})
    for ask in (begun.ensure, begun.state, lambda: begun.gate("host"), begun.accept):
        with pytest.raises(MissingState, match=field):
            ask()
    begun.repair_local()
    assert begun.ensure().state == before


# Step 5: done


@pytest.mark.parametrize("word", ["DONE", "COMPLETE", "FINISH", "done"])
def test_a_done_task_is_committed_and_said_to_be_complete(
    begun: Guard, git: Git, word: str
) -> None:
    begun.note({"next_action": word})
    assert "\nGitguard-Trigger: complete\n" in git("log", "-1", "--format=%B", "gitguard/main")
    for ask in (begun.ensure, lambda: begun.gate("host")):
        with pytest.raises(Complete):
            ask()
    assert begun.log(1)[0].trigger == "complete"
    assert f"**Next action:** {word}" in git("show", "gitguard/main:summary.md")


def test_a_new_task_goes_on_in_the_same_chain(begun: Guard, clock: Clock, git: Git) -> None:
    begun.note({"learnings": ["never committed"]})
    first = begun.state().task_id
    clock.advance(5)
    noted = begun.note({"goal": "The next"}, new_task=True)
    assert noted.state.task_id != first
    assert noted.state.next_action == "START"
    assert [c.trigger for c in begun.log(2)] == ["start", "recovery"]
    assert "never committed" in git("show", "gitguard/main~1:state.json")


# Steps 6 to 9: the summary


def test_a_missing_summary_stops_the_agent_and_a_repair_renders_it(begun: Guard) -> None:
    path = session_file(begun, "summary.md")
    wanted = path.read_text()
    path.unlink()
    for ask in (begun.ensure, lambda: begun.gate("host")):
        with pytest.raises(MissingState, match="summary"):
            ask()
    assert begun.repair_local() == ("rewrote the summary from the state",)
    assert path.read_text() == wanted


def test_a_summary_that_conflicts_is_rewritten_from_the_state(begun: Guard) -> None:
    path = session_file(begun, "summary.md")
    wanted = path.read_text()
    path.write_text("# Something else\n")
    startup = begun.ensure()
    assert path.read_text() == wanted
    assert any("did not match" in note for note in startup.notes)


@pytest.mark.parametrize(
    "bad", [b"\xff" * 2_000_000, b"\xff\0", None], ids=["large", "no text", "folder"]
)
def test_a_summary_that_does_not_read_is_set_aside_and_rewritten(
    begun: Guard, bad: bytes | None
) -> None:
    path = session_file(begun, "summary.md")
    wanted = path.read_text()
    path.unlink()
    if bad is None:
        path.mkdir()
    else:
        path.write_bytes(bad)
    begun.ensure()
    assert path.read_text() == wanted


def test_marks_of_faults_that_cannot_be_read_are_a_fault(begun: Guard, tmp_path: Path) -> None:
    (Path(begun.workspace.folder) / "faults.jsonl").symlink_to(tmp_path)
    (fault,) = begun.status().faults
    assert "symbolic link" in fault["error"]


def test_the_gate_is_told_of_a_conflict_with_a_unified_diff(begun: Guard) -> None:
    path = session_file(begun, "summary.md")
    path.write_text(path.read_text().replace("Survive", "Give up"))
    gated = begun.gate("host")
    assert "-# Give up\n+# Survive\n" in gated.summary_conflict
    assert "the summary conflicted with the state" in gated.verdict.reasons
    assert path.read_text().startswith("# Survive")


# Working files that are gone


def test_deleted_working_files_come_back_with_all_that_was_noted(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    begun.note({"learnings": ["noted and not committed"]})
    git("clean", "-fdxq")
    assert not Path(begun.workspace.folder).exists()
    startup = open_guard().ensure()
    assert startup.how == "restored"
    assert texts(startup.state.learnings) == ("noted and not committed",)
    assert any("restored" in note for note in startup.notes)


def test_without_the_copy_they_come_back_from_the_checkpoint(begun: Guard, git: Git) -> None:
    begun.checkpoint("A reason.")
    own_file(begun, "state.json").unlink()
    shutil.rmtree(begun.workspace.folder)
    startup = begun.ensure()
    assert startup.state.goal == "Survive"
    assert any("cp_003" in note for note in startup.notes)


def test_a_state_newer_than_the_checkpoint_is_committed_at_startup(begun: Guard) -> None:
    begun.note({"learnings": ["noted and not committed"]})
    startup = begun.ensure()
    assert startup.saved is not None
    assert startup.saved.trigger == "recovery"
    assert begun.ensure().saved is None


# Somebody else's edits


def test_an_edited_state_is_used_only_after_accept(begun: Guard) -> None:
    edit(begun, goal="Theirs")
    for ask in (begun.ensure, begun.state, lambda: begun.note({"goal": "x"})):
        with pytest.raises(EditedState) as caught:
            ask()
        assert "repair --accept" in caught.value.hint
    change = begun.accept(dry_run=True)
    assert change.before is not None
    assert (change.before.goal, change.after.goal) == ("Survive", "Theirs")
    begun.accept()
    assert begun.ensure().state.goal == "Theirs"


def test_an_edited_state_is_dropped_by_a_repair_and_kept_aside(begun: Guard) -> None:
    edit(begun, goal="Theirs")
    begun.repair_local()
    assert begun.ensure().state.goal == "Survive"
    (kept,) = session_file(begun, "state.json").parent.glob("state.json.bad-*")
    assert "Theirs" in kept.read_text()


def test_a_state_of_another_session_is_not_accepted(begun: Guard) -> None:
    edit(begun, session_id="other")
    with pytest.raises(InvalidInput, match="other"):
        begun.accept()
    begun.repair_local()
    assert begun.ensure().state.session_id == "main"


def test_there_is_nothing_to_accept_where_nothing_was_edited(begun: Guard) -> None:
    with pytest.raises(InvalidInput):
        begun.accept()


def test_a_damaged_copy_does_not_lose_the_state(begun: Guard) -> None:
    copy = own_file(begun, "state.json")
    copy.write_bytes(copy.read_bytes().replace(b"Survive", b"Deceive"))
    with pytest.raises(EditedState):
        begun.ensure()
    begun.accept()
    assert begun.ensure().state.goal == "Survive"


@pytest.mark.parametrize(
    "damage", [b"", b"{}", b'{"format": 1, "state": 5, "sha256": "", "previous_sha256": ""}']
)
def test_a_copy_that_does_not_read_is_no_copy(begun: Guard, damage: bytes) -> None:
    begun.checkpoint("A reason.")
    own_file(begun, "state.json").write_bytes(damage)
    shutil.rmtree(begun.workspace.folder)
    assert begun.ensure().state.goal == "Survive"


# The record of the session


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"format": 1, "key": 5}', b"\0\0"])
def test_a_damaged_session_record_is_repaired_by_recover(
    guard: Guard, git: Git, damage: bytes
) -> None:
    git("checkout", "--quiet", "-b", "Feature/X")
    guard.ensure()
    session_file(guard, "session.json").write_bytes(damage)
    with pytest.raises(InvalidDocument, match=r"session\.json"):
        guard.gate("host")
    done = guard.repair_local()
    assert any("conversations" in sentence for sentence in done)
    assert current_session(guard.workspace).key == "Feature/X"
    assert guard.gate("host").verdict.action == "continue"


def test_a_session_keeps_its_key_without_its_record(guard: Guard, git: Git) -> None:
    git("checkout", "--quiet", "-b", "Feature/X")
    guard.ensure()
    session_file(guard, "session.json").unlink()
    assert current_session(guard.workspace).key == "Feature/X"
    assert guard.ensure().how == "continued"


@pytest.mark.parametrize("damage", ["../x\n", "--help\n", "A B\n", "\0\n", "x" * 300])
def test_a_damaged_current_file_is_repaired_by_naming_a_session(
    begun: Guard, open_guard: OpenGuard, damage: str
) -> None:
    (Path(begun.workspace.folder) / "current").write_text(damage)
    with pytest.raises(InvalidDocument) as caught:
        begun.ensure()
    assert "session use" in caught.value.hint
    begun.sessions.use(Session.of("main"))
    assert begun.ensure().state.goal == "Survive"


# Other tools


@pytest.mark.parametrize("name", [".context_guardian", "task_state.json"])
def test_state_of_another_tool_is_refused_until_it_is_archived(
    guard: Guard, git: Git, name: str
) -> None:
    place = git.root / name
    if name.endswith(".json"):
        place.write_text('{"goal": "Theirs"}')
    else:
        (place / "sub").mkdir(parents=True)
    with pytest.raises(OtherToolState) as caught:
        guard.ensure()
    assert "repair --archive-theirs" in caught.value.hint
    (moved,) = guard.archive_theirs()
    assert moved.startswith(f"moved `{name}` to `")
    assert Path(moved.split("`")[3]).exists()
    assert not place.exists()
    assert guard.ensure().how == "begun"


# Doors by which a clone could bring state in


def test_tracked_state_is_refused(begun: Guard, git: Git, tmp_path: Path, places: UserDirs) -> None:
    git("add", "--force", ".gitguard")
    git("commit", "--quiet", "--message", "Poison")
    clone = tmp_path / "clone"
    git("clone", "--quiet", ".", str(clone))
    victim = Guard(str(clone), places.replace(state_home=str(tmp_path / "other")), begun.clock)
    with pytest.raises(EditedState, match="tracks"):
        victim.ensure()


def test_a_tracked_state_is_not_ours_even_with_a_mark_that_calls_it_pending(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    state = session_file(begun, "state.json")
    mark = {"format": 1, "sha256": sha256(state.read_bytes()).hexdigest(), "based_on": ""}
    session_file(begun, "pending.json").write_text(json.dumps(mark))
    git("add", "--force", ".gitguard")
    git("commit", "--quiet", "--message", "Poison")
    clone = tmp_path / "clone"
    git("clone", "--quiet", ".", str(clone))
    victim = Guard(str(clone), places.replace(state_home=str(tmp_path / "other")), begun.clock)
    with pytest.raises(EditedState, match="git tracks"):
        victim.ensure()
    for ask in (victim.state, victim.resume, lambda: victim.gate("host")):
        with pytest.raises(Untrusted):
            ask()


def test_a_hook_hands_out_nothing_that_came_with_a_clone(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    begun.note({"goal": "Poison", "next_action": "Poison", "constraints": ["Poison"]})
    state = session_file(begun, "state.json")
    mark = {"format": 1, "sha256": sha256(state.read_bytes()).hexdigest(), "based_on": ""}
    session_file(begun, "pending.json").write_text(json.dumps(mark))
    git("add", "--force", ".gitguard")
    git("commit", "--quiet", "--message", "Poison")
    clone = tmp_path / "clone"
    git("clone", "--quiet", ".", str(clone))
    Git(clone)("branch", "--quiet", "gitguard/main", "origin/gitguard/main")
    victim = Guard(str(clone), places.replace(state_home=str(tmp_path / "other")), begun.clock)
    for kind in (events.PROMPT, events.TOOL_START, events.TOOL_END, events.TURN_END):
        said = ""
        with suppress(GitguardError):
            said = repr(
                victim.handle(HookEvent(kind, "host", str(clone), prompt="Hello"), Abilities())
            )
        assert "Poison" not in said


@pytest.mark.parametrize("link", [".gitguard", ".gitguard/sessions", ".gitguard/sessions/main"])
def test_a_symbolic_link_out_of_the_workspace_is_refused(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, link: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (git.root / link).rename(elsewhere)
    (git.root / link).symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    for ask in (
        lambda: open_guard().ensure(),
        lambda: open_guard().note({"goal": "x"}),
        lambda: open_guard().repair_local(),
    ):
        with pytest.raises(MissingState, match="symbolic link"):
            ask()
    after = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("name", ["state.json", "summary.md", "session.json", "journal.jsonl"])
def test_a_working_file_that_is_a_link_is_never_written_through(
    begun: Guard, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    path = session_file(begun, name)
    path.unlink(missing_ok=True)
    path.symlink_to(victim)
    with suppress(InvalidDocument, MissingState):
        begun.note({"goal": "x"})
        begun.checkpoint("A reason.")
    with suppress(InvalidDocument):
        begun.repair_local()
    assert victim.read_text() == "precious\n"


def test_the_current_session_comes_back_on_another_branch(begun: Guard, git: Git) -> None:
    git("checkout", "--quiet", "-b", "feature")
    shutil.rmtree(begun.workspace.folder)
    startup = begun.ensure()
    assert (startup.how, startup.state.goal) == ("restored", "Survive")
    assert current_session(begun.workspace).key == "main"


def test_a_new_worktree_at_an_old_path_begins_anew(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    for branch in ("one", "two"):
        git("worktree", "add", "--quiet", "-b", branch, str(tmp_path / "second"))
        second = open_guard(tmp_path / "second")
        second.ensure()
        assert current_session(second.workspace).key == branch
        git("worktree", "remove", "--force", str(tmp_path / "second"))


def test_a_hook_begins_nothing_in_a_clone_that_tracks_a_configuration(
    guard: Guard, git: Git
) -> None:
    folder = Path(guard.workspace.folder)
    folder.mkdir()
    (folder / "config.yaml").write_text("resume: {new_conversation: 600}\n")
    git("add", "--force", ".gitguard")
    git("commit", "--quiet", "--message", "Settings")
    victim = Guard(str(git.root), guard.workspace.places, guard.clock)
    victim.handle(HookEvent(events.PROMPT, "host", str(git.root), prompt="Hello"), Abilities())
    victim.status()
    assert [path.name for path in folder.iterdir()] == ["config.yaml"]
    assert git("status", "--porcelain", "--untracked-files=all") == ""
    assert git("for-each-ref", "refs/heads/gitguard") == ""


def test_a_file_of_the_project_that_is_called_like_a_state_locks_nobody_out(
    guard: Guard, git: Git
) -> None:
    (git.root / "task_state.json").write_text('{"my": "app"}')
    assert guard.ensure().how == "begun"
    assert not state_of_other_tools(guard.workspace)
    (git.root / "task_state.json").write_text('{"goal": "Theirs"}')
    assert guard.ensure().how == "continued"


def test_what_a_checkpoint_holds_of_the_journal_is_not_folded_into_it_again(begun: Guard) -> None:
    entry = JournalEntry(
        "tool-end", "2026-01-31T09:30:00Z", "host", id="t", tool="Edit", written=("a",)
    )
    begun.store().journal.append(entry)
    begun.note({"goal": "Second"}, new_task=True)
    own_file(begun, "state.json").unlink()
    session_file(begun, "state.json").unlink()
    begun.repair_local()
    assert begun.checkpoint("A reason.").commit
    assert begun.state().artifacts == ()


def test_only_what_was_shown_is_accepted(begun: Guard) -> None:
    edit(begun, goal="Shown")
    shown = begun.accept(dry_run=True).sha256
    edit(begun, goal="Swapped")
    with pytest.raises(EditedState, match="after it was shown"):
        begun.accept(shown)
    begun.accept(begun.accept(dry_run=True).sha256)
    assert begun.state().goal == "Swapped"


@pytest.mark.parametrize(
    "name",
    ["session.json", "journal.jsonl", "pending.json", "anchor.json", "owner.json", "copy"],
)
def test_a_file_of_a_newer_gitguard_is_refused(begun: Guard, name: str) -> None:
    own = {"anchor.json": "anchor.json", "owner.json": "owner.json", "copy": "state.json"}
    path = own_file(begun, own[name]) if name in own else session_file(begun, name)
    entry = JournalEntry("tool-end", "2026-01-31T09:30:00Z", "host", id="t", tool="Edit")
    begun.store().journal.append(entry)
    if name == "pending.json":
        path.write_text('{"format": 1}')
        edit(begun, goal="Theirs")
    text = path.read_text()
    separator = "" if '"format":1' in text else " "
    path.write_text(text.replace(f'"format":{separator}1', f'"format":{separator}99'))

    def ask() -> None:
        begun.checkpoint("A reason.")
        begun.gate("host")
        read_owner(begun.workspace, Session.of("main"))

    with pytest.raises(NewerFormat) as caught:
        ask()
    assert caught.value.hint == "upgrade gitguard"
    assert "format 99" in caught.value.message


def test_a_secret_in_the_branchs_name_is_in_no_file_of_ours(
    guard: Guard, git: Git, places: UserDirs
) -> None:
    secret = "ghp_" + some(36)
    guard.ensure()
    git("checkout", "--quiet", "-b", f"fix/{secret}")
    guard.sessions.use(Session.of("work"))
    guard.note({"goal": "Ship it"})
    guard.checkpoint("Done")
    folders = (git.root / ".gitguard", Path(places.state_home))
    written = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert git.root / ".gitguard" / "branch.json" in written
    assert [path for path in written if secret.encode() in path.read_bytes()] == []
