"""A repository is known by its identity, wherever it lies; a path is only a hint."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import EditedState, InvalidInput, MissingState, Tampered, Untrusted
from gitguard.guard import Guard
from gitguard.model.events import Abilities, HookEvent, Reading, ToolCall
from gitguard.state.items import texts
from gitguard.store.session import identity
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Git, OpenGuard
from tests.support.session_branches import BRANCH


def identity_file(root: Path) -> Path:
    return root / ".git" / "gitguard" / "identity"


def record_of(guard: Guard) -> identity.RepositoryRecord:
    record = identity.read_record(guard.workspace.state_folder)
    assert record is not None
    return record


def move(git: Git, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    git.root.rename(target)
    return target


def move_to_another_disk(git: Git, target: Path) -> Path:
    """Move without keeping the folder that the system knows, as between file systems."""
    shutil.copytree(git.root, target, symlinks=True)
    shutil.rmtree(git.root)
    return target


# The identity


def test_the_first_anchor_gives_a_repository_an_identity(begun: Guard, git: Git) -> None:
    known = identity_file(git.root).read_text().strip()
    assert identity.is_identity(known)
    record = record_of(begun)
    assert (record.identity, record.path) == (known, str(git.root / ".git"))
    before = identity_file(git.root).stat().st_ino
    begun.note({"goal": "Later"})
    assert identity_file(git.root).stat().st_ino == before


def test_an_identity_that_was_removed_is_put_back(begun: Guard, git: Git) -> None:
    known = identity_file(git.root).read_text()
    identity_file(git.root).unlink()
    assert "Ours" in begun.resume()
    begun.checkpoint("Goes on.")
    assert identity_file(git.root).read_text() == known


def change(path: Path, other: Path) -> None:
    path.write_text(identity.new_identity())


def empty(path: Path, other: Path) -> None:
    path.write_text("")


def garble(path: Path, other: Path) -> None:
    path.write_bytes(b"\xff" * 9000)


def copy(path: Path, other: Path) -> None:
    shutil.copy(other, path)


def link(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to(other)


def folder(path: Path, other: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("tamper", [change, empty, garble, copy, link, folder])
def test_nobody_sheds_the_anchor_by_changing_the_identity(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, tamper: object
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Git(other).start()
    open_guard(other).ensure()
    known = identity_file(git.root).read_text()
    ours = git("rev-parse", BRANCH)
    tamper(identity_file(git.root), identity_file(other))  # type: ignore[operator]
    git("update-ref", BRANCH, f"{BRANCH}~1")
    for use in (begun.resume, begun.ensure, lambda: begun.checkpoint("x")):
        with pytest.raises(Tampered):
            use()
    assert record_of(begun).identity == known.strip()
    assert any("identity" in done for done in begun.repair_local())
    begun.archive_theirs()
    assert identity_file(git.root).read_text() == known
    assert git("rev-parse", BRANCH) == ours
    assert "Ours" in open_guard().resume()
    assert "other" not in str(open_guard(other).ensure().notes)


def test_a_changed_identity_does_not_shed_the_anchor_of_a_moved_repository(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    identity_file(git.root).write_text(identity.new_identity())
    there = open_guard(move(git, tmp_path / "moved"))
    with pytest.raises(Tampered, match="identity"):
        there.resume()
    there.repair_local()
    assert "Ours" in there.resume()


def test_an_identity_planted_before_the_first_anchor_is_not_shared(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    Git(other).start()
    identity_file(other).parent.mkdir()
    shutil.copy(identity_file(git.root), identity_file(other))
    assert open_guard(other).ensure().how == "begun"
    assert identity_file(other).read_text() != identity_file(git.root).read_text()
    assert "Ours" in begun.resume()


# Moved


@pytest.mark.parametrize("how", [move, move_to_another_disk])
def test_a_moved_repository_goes_on_and_says_so_once(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, how: object
) -> None:
    begun.note({"learnings": ["in no checkpoint yet"]})
    root = how(git, tmp_path / "deep" / "moved")  # type: ignore[operator]
    there = open_guard(root)
    assert texts(there.ensure().state.learnings) == ("in no checkpoint yet",)
    assert there.checkpoint("Goes on.").sequence == 4
    assert there.take_notice() == (
        f"the repository was moved from `{git.root}` to `{root}`; its sessions continue"
    )
    assert open_guard(root).take_notice() == ""
    assert there.workspace.faults() == []
    assert record_of(there).path == str(root / ".git")
    assert not os.path.exists(begun.workspace.state_folder)
    assert [report.findings for report in there.verify()] == [()]


def test_a_repository_that_comes_back_to_its_path_goes_on_there(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    moved = move(git, tmp_path / "moved")
    open_guard(moved).note({"goal": "Noted there"})
    moved.rename(git.root)
    assert open_guard().ensure().state.goal == "Noted there"


def test_the_same_repository_under_the_path_of_a_container_goes_on_in_both(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    inside = tmp_path / "workspaces" / "repo"
    inside.parent.mkdir()
    for number in range(3):
        git.root.rename(inside)
        open_guard(inside).note({"learnings": [f"inside {number}"]})
        inside.rename(git.root)
        open_guard().note({"learnings": [f"outside {number}"]})
    assert len(open_guard().state().learnings) == 6
    assert open_guard().workspace.faults() == []


def test_a_moved_repository_whose_path_another_one_took_goes_on(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    moved = move(git, tmp_path / "moved")
    git.root.mkdir()
    git.start()
    fresh = open_guard()
    assert fresh.ensure().how == "begun"
    fresh.note({"goal": "Another"})
    assert open_guard(moved).ensure().state.goal == "Ours"
    assert open_guard().ensure().state.goal == "Another"
    assert identity_file(moved).read_text() != identity_file(git.root).read_text()


def test_the_worktrees_of_a_moved_repository_go_on(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    open_guard(tmp_path / "second").ensure()
    open_guard(tmp_path / "second").note({"goal": "Of the second"})
    moved = Git(move(git, tmp_path / "moved"))
    (tmp_path / "second").rename(tmp_path / "third")
    moved("worktree", "repair", str(tmp_path / "third"))
    third = open_guard(tmp_path / "third")
    assert third.ensure().state.goal == "Of the second"
    shutil.rmtree(tmp_path / "third" / ".gitguard")
    assert open_guard(tmp_path / "third").ensure().state.goal == "Of the second"
    assert open_guard(moved.root).ensure().state.goal == "Ours"
    with pytest.raises(InvalidInput, match="belongs to the worktree"):
        third.sessions.use(Session.of("main"))
    assert third.workspace.faults() == []


def test_a_moved_repository_that_was_rolled_back_is_refused_and_can_be_put_back(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    git("update-ref", BRANCH, f"{BRANCH}~1")
    there = open_guard(move(git, tmp_path / "moved"))
    with pytest.raises(Tampered):
        there.checkpoint("x")
    assert "no checkpoint is taken" in there.resume()
    there.archive_theirs()
    assert "no checkpoint is taken" not in there.resume()
    assert "Ours" in there.resume()


def test_a_move_that_died_halfway_is_finished(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    root = move(git, tmp_path / "moved")

    def die(at: str) -> object:
        def at_step(step: str) -> None:
            if step == at:
                raise KeyboardInterrupt

        return at_step

    for step in ("record-relocated", "record-moved"):
        with pytest.raises(KeyboardInterrupt):
            open_guard(root, at_step=die(step))
    assert open_guard(root).ensure().state.goal == "Ours"
    assert "moved" in open_guard(root).take_notice()


def test_a_clone_is_a_stranger(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    clone = Git(tmp_path / "clone")
    clone("fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}")
    with pytest.raises(Untrusted):
        open_guard(clone.root).ensure()


# Copied


def test_a_copy_gets_an_identity_and_an_anchor_of_its_own(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(git.root, root, symlinks=True)
    there = open_guard(root)
    assert there.ensure().state.goal == "Ours"
    assert "copy" in there.take_notice()
    there.note({"goal": "Of the copy"})
    begun.note({"goal": "Of the original"})
    assert identity_file(root).read_text() != identity_file(git.root).read_text()
    assert "Of the copy" in open_guard(root).resume()
    assert "Of the original" in open_guard().resume()
    assert there.workspace.faults() == begun.workspace.faults() == []
    Git(root)("update-ref", BRANCH, f"{BRANCH}~1")
    with pytest.raises(Tampered):
        open_guard(root).checkpoint("x")
    shutil.rmtree(git.root)
    with pytest.raises(Tampered):
        open_guard(root).checkpoint("x")


@pytest.mark.parametrize("step", ["record-copied", "identity-written"])
def test_a_copy_that_died_halfway_is_finished(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, step: str
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(git.root, root, symlinks=True)

    def die(at: str) -> None:
        if at == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_guard(root, at_step=die)
    assert open_guard(root).ensure().state.goal == "Ours"
    open_guard(root).checkpoint("Goes on.")
    assert identity_file(root).read_text() != identity_file(git.root).read_text()


def test_a_copy_of_an_older_state_is_a_stranger_until_it_is_trusted(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(git.root, root, symlinks=True)
    begun.note({"goal": "Later"})
    there = open_guard(root)
    with pytest.raises(Untrusted):
        there.resume()
    there.trust()
    assert "Ours" in there.resume()
    assert identity_file(root).read_text() != identity_file(git.root).read_text()
    assert "Later" in open_guard().resume()


# What else brings an older head


def test_a_restored_backup_at_its_path_is_a_rollback_until_it_is_trusted(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, places: UserDirs
) -> None:
    shutil.copytree(git.root, tmp_path / "backup", symlinks=True)
    begun.note({"goal": "Later"})
    begun.note({"goal": "Later still"})
    shutil.rmtree(git.root)
    shutil.copytree(tmp_path / "backup", git.root, symlinks=True)
    there = open_guard()
    assert isinstance(there.status().error, MissingState)
    for use in (there.resume, there.ensure):
        with pytest.raises(MissingState):
            use()
    with pytest.raises((MissingState, EditedState)):
        there.checkpoint("x")
    there.trust(there.store().chain.head().id)
    assert "Ours" in there.resume()
    assert there.checkpoint("Goes on.").sequence == 3


def test_a_repository_that_lost_identity_and_record_gets_them_at_the_next_checkpoint(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    identity_file(git.root).unlink()
    Path(begun.workspace.state_folder, identity.RECORD).unlink()
    assert "Ours" in open_guard().resume()
    assert not identity_file(git.root).exists()
    open_guard().checkpoint("Goes on.")
    assert record_of(begun).identity == identity_file(git.root).read_text().strip()


# Another home


def prompt(guard: Guard, text: str, conversation: str = "c1") -> str:
    event = HookEvent("prompt", conversation, guard.workspace.place.worktree, prompt=text)
    return guard.handle(event, Abilities()).context


def edit(guard: Guard, path: str, number: str, conversation: str = "c1") -> None:
    tool = ToolCall("Edit", id=number, paths_written=(path,))
    for kind in ("tool-start", "tool-end"):
        event = HookEvent(kind, conversation, guard.workspace.place.worktree, tool=tool)
        guard.handle(event, Abilities())


@pytest.fixture
def under_another_home(open_guard: OpenGuard, tmp_path: Path) -> Callable[[], Guard]:
    return lambda: open_guard(state_home=str(tmp_path / "another-home"))


def test_under_another_home_nothing_is_handed_out_and_what_happens_is_saved(
    begun: Guard, git: Git, under_another_home: Callable[[], Guard], open_guard: OpenGuard
) -> None:
    prompt(begun, "Asked at home")
    before = {p: p.read_bytes() for p in Path(begun.workspace.folder).rglob("*") if p.is_file()}
    answer = prompt(under_another_home(), "Asked elsewhere: port lexer.py")
    assert "Ours" not in answer
    assert "gitguard repair --trust" in answer
    assert len(answer.splitlines()) == 1
    assert prompt(under_another_home(), "Asked again: port parser.py") == ""
    edit(under_another_home(), "made.py", "t1")
    with pytest.raises(Untrusted):
        under_another_home().resume()
    noted = under_another_home().note({"learnings": ["noted elsewhere"]})
    assert noted.saved is not None
    assert noted.saved.pending
    assert under_another_home().workspace.faults() == []
    after = {p: p.read_bytes() for p in Path(begun.workspace.folder).rglob("*") if p.is_file()}
    assert after == before
    change = under_another_home().trust()
    assert any("captured before the state was trusted" in note for note in change.notes)
    state = under_another_home().state()
    assert state.goal == "Ours"
    assert texts(state.learnings) == ("noted elsewhere",)
    assert [artifact.path for artifact in state.artifacts] == ["made.py"]
    block = under_another_home().resume()
    assert "Asked elsewhere: port lexer.py" in block
    assert "Asked again: port parser.py" in block
    assert under_another_home().workspace.faults() == []
    git.fsck()


def test_whoever_comes_home_finds_everything_as_it_was_left(
    begun: Guard, under_another_home: Callable[[], Guard], open_guard: OpenGuard
) -> None:
    prompt(begun, "Asked at home")
    prompt(under_another_home(), "Asked elsewhere: port lexer.py")
    edit(under_another_home(), "made.py", "t1")
    prompt(open_guard(), "Asked at home again")
    open_guard().checkpoint("Goes on.")
    assert "Asked at home again" in open_guard().resume()
    assert open_guard().workspace.faults() == []


class Killed(BaseException):
    """Ends a command where a kill would."""


def test_what_was_captured_before_an_interrupted_trust_is_named_and_taken_in_by_recover(
    begun: Guard, open_guard: OpenGuard, tmp_path: Path
) -> None:
    there = str(tmp_path / "another-home")
    open_guard(state_home=there).note({"learnings": ["noted elsewhere"]})

    def die(step: str) -> None:
        if step == "session-settled":
            raise Killed

    with pytest.raises(Killed):
        open_guard(state_home=there, at_step=die).trust()
    warnings = open_guard(state_home=there).status().warnings
    assert any("gitguard repair --local" in warning for warning in warnings)
    assert any(
        "captured before the state was trusted" in done
        for done in open_guard(state_home=there).repair_local()
    )
    after = open_guard(state_home=there)
    assert texts(after.state().learnings) == ("noted elsewhere",)
    assert after.status().warnings == ()
    assert not any("captured before the state was trusted" in done for done in after.repair_local())


def test_a_note_that_is_wrong_is_refused_under_another_home_as_well(
    begun: Guard, under_another_home: Callable[[], Guard]
) -> None:
    with pytest.raises(InvalidInput):
        under_another_home().note({"nonsense": "x"})
    with pytest.raises(Untrusted):
        under_another_home().ensure()


def test_under_another_home_a_halt_still_stops_the_agent(
    begun: Guard, under_another_home: Callable[[], Guard]
) -> None:
    root = begun.workspace.place.worktree
    reading = Reading("host", begun.clock(), tokens=198_000, window=200_000)
    tool = ToolCall("Edit", id="t1", paths_written=("made.py",))
    event = HookEvent("tool-start", "c1", root, tool=tool, reading=reading)
    reply = under_another_home().handle(event, Abilities())
    assert "STATUS:HALT" in reply.refuse + reply.stop


# What hooks capture beside a rollback


def test_what_hooks_capture_beside_a_rollback_follows_once_it_is_trusted(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    shutil.copytree(git.root, tmp_path / "backup", symlinks=True)
    for number in range(20):
        prompt(begun, f"Asked before, {number}")
    begun.note({"goal": "Later"})
    shutil.rmtree(git.root)
    shutil.copytree(tmp_path / "backup", git.root, symlinks=True)
    assert "Ours" not in prompt(open_guard(), "Asked after the backup")
    edit(open_guard(), "made.py", "t1")
    open_guard().trust(open_guard().store().chain.head().id)
    open_guard().checkpoint("Goes on.")
    assert "Asked after the backup" in open_guard().resume()
    assert [artifact.path for artifact in open_guard().state().artifacts] == ["made.py"]


# A git directory that was made anew


@pytest.fixture
def made_anew(begun: Guard, git: Git, open_guard: OpenGuard) -> Guard:
    """A repository with our state in its worktree, in which somebody ran `git init` again."""
    begun.note({"learnings": ["in no checkpoint"]})
    shutil.rmtree(git.root / ".git")
    git.start()
    return open_guard()


def test_after_git_init_everything_says_what_happened(
    made_anew: Guard, git: Git, open_guard: OpenGuard
) -> None:
    (report,) = made_anew.verify()
    assert "another git directory" in report.findings[0].problem
    for use in (
        made_anew.resume,
        made_anew.ensure,
        made_anew.repair_local,
        made_anew.bundle,
        lambda: made_anew.gate("S1", Reading("given", 0.0, share=0.2)),
        lambda: made_anew.checkpoint("x"),
        lambda: made_anew.note({"goal": "New"}),
    ):
        with pytest.raises(Tampered, match="another git directory") as caught:
            use()
        assert "gitguard repair --accept" in caught.value.hint
    assert isinstance(made_anew.status().error, Tampered)
    assert git("for-each-ref", "refs/heads/gitguard") == ""
    assert "Ours" not in prompt(open_guard(), "Asked after it")


def test_after_git_init_a_person_goes_on_with_the_state_in_a_new_history(
    made_anew: Guard, git: Git, open_guard: OpenGuard
) -> None:
    prompt(made_anew, "Asked in between")
    saved = made_anew.accept().saved
    assert saved is not None
    assert saved.sequence == 1
    state = open_guard().ensure().state
    assert (state.goal, texts(state.learnings)) == ("Ours", ("in no checkpoint",))
    assert "Asked in between" in open_guard().resume()
    assert [report.findings for report in open_guard().verify()] == [()]
    assert open_guard().note({"goal": "Later"}).saved
    git.fsck()


def test_after_git_init_the_old_git_directory_can_be_put_back(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    (git.root / ".git").rename(tmp_path / "old")
    git.start()
    with pytest.raises(Tampered):
        open_guard().resume()
    shutil.rmtree(git.root / ".git")
    (tmp_path / "old").rename(git.root / ".git")
    assert "Ours" in open_guard().resume()
