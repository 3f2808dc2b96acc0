"""UserDirs that cannot be written: the working files hold the state, the next run commits it."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from gitguard.errors import EditedState, GitguardError, Locked, MissingState
from gitguard.guard import Guard
from gitguard.state.entries import ENDED, FAILED, JournalEntry
from gitguard.state.items import texts
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git, OpenGuard
from tests.support.session_branches import BRANCH
from tests.support.session_files import own_file, session_file
from tests.support.unwritable import fill, read_only, small_disk


@pytest.fixture
def begun(guard: Guard, places: UserDirs) -> Guard:
    guard.ensure()
    guard.note({"goal": "Kept"})
    return guard


def places_to_seal(begun: Guard, places: UserDirs) -> dict[str, list[Path]]:
    git_dir = Path(begun.workspace.place.git_dir)
    state = Path(places.state_home)
    return {"git": [git_dir], "state": [state], "both": [git_dir, state]}


@pytest.mark.parametrize("sealed", ["git", "state", "both"])
def test_a_sandbox_works_on_and_the_next_run_commits(
    begun: Guard, git: Git, places: UserDirs, open_guard: OpenGuard, sealed: str
) -> None:
    before = git.traces()
    with ExitStack() as seals:
        for folder in places_to_seal(begun, places)[sealed]:
            seals.enter_context(read_only(folder))
        noted = open_guard().note({"goal": "Noted in the sandbox"})
        assert noted.saved is not None
        assert noted.saved.commit == ""
        assert noted.saved.pending
        open_guard().note({"learnings": ["a plain note"]})
        assert open_guard().checkpoint("A reason.").pending
        assert texts(open_guard().ensure().state.learnings) == ("a plain note",)
        assert "Noted in the sandbox" in open_guard().resume()
        assert open_guard().gate("host").verdict.action == "continue"
        head = git("rev-parse", BRANCH)
    assert git("log", "--format=%s", "-1", head).startswith("checkpoint 2")
    noted = open_guard().note({"learnings": ["written outside"]})
    assert noted.saved is not None
    assert noted.saved.sequence == 3
    assert "a plain note" in git("show", f"{BRANCH}:state.json")
    assert open_guard().ensure().saved is None
    assert git.traces() == before
    git.fsck()


@pytest.mark.parametrize("sealed", ["git", "state", "both"])
def test_a_session_that_begins_in_a_sandbox_is_committed_outside(
    guard: Guard, git: Git, places: UserDirs, open_guard: OpenGuard, sealed: str
) -> None:
    os.makedirs(places.state_home)
    with ExitStack() as seals:
        for folder in places_to_seal(guard, places)[sealed]:
            seals.enter_context(read_only(folder))
        startup = open_guard().ensure()
        assert startup.how == "begun"
        assert startup.saved is not None
        assert startup.saved.pending
        open_guard().note({"goal": "Begun in the sandbox"})
        assert open_guard().ensure().state.goal == "Begun in the sandbox"
    startup = open_guard().ensure()
    assert startup.saved is not None
    assert startup.saved.commit
    assert '"goal": "Begun in the sandbox"' in git("show", f"{BRANCH}:state.json")
    git.fsck()


def test_a_pending_state_whose_write_was_cut_short_is_still_ours(
    begun: Guard, places: UserDirs, open_guard: OpenGuard
) -> None:
    """The mark is written before the state; a crash between leaves the state before."""
    with read_only(Path(places.state_home)):
        open_guard().note({"learnings": ["one"]})
        state = session_file(begun, "state.json").read_bytes()
        open_guard().note({"learnings": ["two"]})
        session_file(begun, "state.json").write_bytes(state)
        assert texts(open_guard().state().learnings) == ("one",)
    assert texts(open_guard().ensure().state.learnings) == ("one",)


def test_what_a_sandbox_folded_is_not_folded_again(
    begun: Guard, places: UserDirs, open_guard: OpenGuard
) -> None:
    begun.checkpoint("All of it.")
    with read_only(Path(places.state_home)):
        for number in range(150):
            begun.store().journal.append(written(f"f{number}.py"))
        begun.store().journal.append(written("", event=FAILED, error="no rule"))
        assert open_guard().checkpoint("Once.").pending
        open_guard().update({"failed_attempts": []}, replace=True)
        begun.store().journal.append(written("after.py"))
        assert open_guard().checkpoint("Twice.").pending
    assert open_guard().checkpoint("Outside.").commit
    state = open_guard().state()
    assert len(state.artifacts) + state.dropped["artifacts"] == 151
    assert state.artifacts[-1].path == "after.py"
    assert state.failed_attempts == ()


def written(path: str, *, event: str = ENDED, error: str = "") -> JournalEntry:
    now = "2026-01-31T09:30:00Z"
    paths = (path,) if path else ()
    return JournalEntry(event, now, "host", id="t1", tool="Edit", written=paths, error=error)


def test_an_edit_in_the_sandbox_is_still_an_edit(
    begun: Guard, places: UserDirs, open_guard: OpenGuard
) -> None:
    with read_only(Path(places.state_home)):
        open_guard().note({"learnings": ["one"]})
        path = session_file(begun, "state.json")
        path.write_bytes(path.read_bytes().replace(b"Kept", b"Swapped"))
        with pytest.raises(EditedState):
            open_guard().state()
    with pytest.raises(EditedState):
        open_guard().ensure()


def test_a_finished_commit_reads_as_ours_though_the_anchor_cannot_be_promoted(
    begun: Guard, git: Git, places: UserDirs, open_guard: OpenGuard
) -> None:
    anchor = own_file(begun, "anchor.json")
    before = anchor.read_text()
    begun.note({"goal": "New"})
    head = git("rev-parse", BRANCH)
    anchor.write_text(before.replace('"pending": ""', f'"pending": "{head}"'))
    with read_only(Path(places.state_home)):
        assert "New" in open_guard().resume()
        assert open_guard().status().standing == "ours"
    assert open_guard().checkpoint("Goes on.").sequence == 4


def test_two_that_share_a_lock_exclude_each_other_even_in_a_sandbox(
    begun: Guard, open_guard: OpenGuard
) -> None:
    with read_only(Path(begun.workspace.place.git_dir)):
        inside = open_guard().store().lock(timeout=0.05)
        with inside, pytest.raises(Locked), open_guard().store().lock(timeout=0.05):
            pass


def test_everything_read_only_says_so(begun: Guard, git: Git, places: UserDirs) -> None:
    with read_only(git.root), read_only(Path(places.state_home)):
        with pytest.raises(MissingState) as caught:
            begun.note({"goal": "Nowhere"})
        assert "cannot write" in caught.value.message
        assert begun.state().goal == "Kept"
    assert begun.ensure().state.goal == "Kept"


# Full disks


def test_a_full_disk_loses_nothing(tmp_path: Path, places: UserDirs, open_guard: OpenGuard) -> None:
    with small_disk(tmp_path / "disk", "1500k") as disk:
        root = disk / "repo"
        root.mkdir()
        git = Git(root)
        git.start()
        places = places.replace(state_home=str(disk / "state"))

        def guard() -> Guard:
            return open_guard(root, state_home=places.state_home)

        guard().ensure()
        guard().note({"goal": "Kept"})
        acknowledged, refused = -1, 0
        filler = disk / "filler"
        for room in (200_000, 100_000, 40_000, 20_000, 12_000, 8_000, 4_000, 0):
            fill(filler, room)
            try:
                guard().note({"learnings": [f"said {room}"], "current_phase": f"{room}"})
                acknowledged = room
            except GitguardError as error:
                refused += "No space left" in error.message
            filler.unlink()
            state = guard().ensure().state
            if acknowledged == room:
                assert f"said {room}" in texts(state.learnings)
            assert "said 200000" in texts(state.learnings)
        assert refused
        assert guard().checkpoint("There is room again.").commit
        git.fsck()


def test_a_limit_on_file_sizes_is_like_a_full_disk(begun: Guard, open_guard: OpenGuard) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, old[1]))
        with pytest.raises(GitguardError):
            open_guard().note({"goal": "Too long to be written"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert open_guard().ensure().state.goal == "Kept"
    assert open_guard().checkpoint("A reason.").commit


def test_a_state_too_large_is_refused_whole(begun: Guard) -> None:
    with pytest.raises(GitguardError, match="notes may fill"):
        begun.note({"goal": "x" * 300_000})
    assert begun.ensure().state.goal == "Kept"


# Faults leave a mark


def test_a_fault_is_marked_even_where_the_working_folder_is_gone(begun: Guard) -> None:
    shutil.rmtree(begun.workspace.folder)
    begun.workspace.note_fault("a test", ValueError("broken"))
    (fault,) = begun.workspace.faults()
    assert fault["error"] == "ValueError: broken"
