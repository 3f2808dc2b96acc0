"""The branch against the anchor: every standing it can have, and the way out of each."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import (
    EditedState,
    HeadAdvanced,
    InvalidDocument,
    InvalidInput,
    MissingState,
    Pending,
    Tampered,
    Untrusted,
)
from gitguard.guard import Guard
from gitguard.state.entries import JournalEntry
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Clock, Git, OpenGuard
from tests.support.session_branches import BRANCH, advance_from_elsewhere, elsewhere
from tests.support.session_files import own_file, session_file

__all__ = ["elsewhere"]


def trigger_of(git: Git, ref: str = BRANCH) -> str:
    return git("log", "-1", "--format=%(trailers:key=Gitguard-Trigger,valueonly)", ref)


# Advanced


def test_a_head_ahead_of_ours_is_refused_with_both_sides_named(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    ours = git("rev-parse", BRANCH)
    advance_from_elsewhere(begun, git, tmp_path, elsewhere)
    theirs = git("rev-parse", BRANCH)
    with pytest.raises(HeadAdvanced) as caught:
        begun.checkpoint("x")
    pending = begun.sessions.why_not_committed()
    assert pending is not None
    for error in (caught.value, pending):
        assert ours[:12] in error.message
        assert theirs[:12] in error.message
        assert "repair --take-theirs" in error.hint
        assert "session fork" in error.hint
    assert "Ours" in begun.resume()
    assert begun.ensure().state.goal == "Ours"
    assert git("rev-parse", BRANCH) == theirs
    assert begun.state().goal == "Ours"


def test_trust_adopts_theirs_and_archives_ours(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    advance_from_elsewhere(begun, git, tmp_path, elsewhere)
    theirs = git("rev-parse", BRANCH)
    begun.note({"learnings": ["ours, not committed"]})
    with pytest.raises(HeadAdvanced):
        begun.repair_local()
    (done, *_) = begun.trust(theirs).notes
    assert "archived" in done
    assert begun.ensure().state.goal == "Theirs"
    assert git("rev-parse", BRANCH) == theirs
    (archived,) = git("for-each-ref", "--format=%(refname)", "refs/gitguard/archive").split()
    assert "ours, not committed" in git("show", f"{archived}:state.json")
    git.fsck()


def test_fork_keeps_ours_in_a_session_of_its_own(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    ours = git("rev-parse", BRANCH)
    advance_from_elsewhere(begun, git, tmp_path, elsewhere)
    theirs = git("rev-parse", BRANCH)
    saved = begun.sessions.fork(Session.of("mine"))
    assert saved.sequence == 1
    assert current_session(begun.workspace).key == "mine"
    assert begun.ensure().state.goal == "Ours"
    assert begun.state().session_id == "mine"
    assert git("rev-parse", BRANCH) == theirs
    assert git("log", "--format=%H", "refs/heads/gitguard/mine").count("\n") == 0
    assert f"\nGitguard-Forked-From: {ours}\n" in git(
        "log", "-1", "--format=%B", "refs/heads/gitguard/mine"
    ) + "\n"  # fmt: skip


def test_a_fork_never_overwrites_a_session(begun: Guard) -> None:
    begun.sessions.fork(Session.of("mine"))
    begun.sessions.use(Session.of("main"))
    with pytest.raises(InvalidInput, match="mine"):
        begun.sessions.fork(Session.of("mine"))


# Moved, deleted


def test_a_rewritten_branch_is_tampered_with_until_recover_puts_ours_back(
    begun: Guard, git: Git
) -> None:
    ours = git("rev-parse", BRANCH)
    forged = git("commit-tree", f"{BRANCH}^{{tree}}", "-m", "forged")
    git("update-ref", BRANCH, forged)
    with pytest.raises(Tampered) as caught:
        begun.checkpoint("x")
    pending = begun.sessions.why_not_committed()
    assert pending is not None
    for error in (caught.value, pending):
        assert "repair --archive-theirs" in error.hint
        assert "repair --take-theirs --head" in error.hint
    assert git("rev-parse", BRANCH) == forged
    begun.archive_theirs()
    assert git("rev-parse", BRANCH) == ours
    assert forged in git("for-each-ref", "--format=%(objectname)", "refs/gitguard/archive")
    assert begun.ensure().state.goal == "Ours"


def test_a_truncated_branch_is_noticed(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("update-ref", BRANCH, f"{BRANCH}~1")
    saved = begun.ensure().saved
    assert saved is not None
    assert "does not follow" in saved.pending
    begun.archive_theirs()
    assert git("rev-parse", BRANCH) == ours


def test_a_moved_head_can_be_trusted_by_name_and_ours_is_kept(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("update-ref", BRANCH, older := git("rev-parse", f"{BRANCH}~1"))
    with pytest.raises(InvalidInput, match="did not write the head"):
        begun.trust()
    with pytest.raises(InvalidInput, match="not at"):
        begun.trust("0000000")
    begun.trust(older[:12])
    assert begun.ensure().state.stated_goal == ""
    assert ours in git("for-each-ref", "--format=%(objectname)", "refs/gitguard/archive")


def test_a_deleted_branch_comes_back(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("update-ref", "-d", BRANCH)
    with pytest.raises(Tampered, match="is gone"):
        begun.log()
    begun.archive_theirs()
    assert git("rev-parse", BRANCH) == ours
    assert begun.ensure().state.goal == "Ours"


def test_a_deleted_branch_can_be_let_go_and_the_state_begins_a_new_one(
    begun: Guard, git: Git
) -> None:
    git("update-ref", "-d", BRANCH)
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "--quiet", "--prune=now")
    for path in (git.root / ".git" / "objects").glob("??/*"):
        path.unlink()
    git("gc", "--quiet", "--prune=now", check=False)
    begun.forget()
    assert begun.ensure().state.goal == "Ours"
    assert begun.log(1)[0].sequence == 1


def test_a_branch_whose_commits_are_gone_names_the_way_out(begun: Guard, git: Git) -> None:
    git("update-ref", "-d", BRANCH)
    for name in git("cat-file", "--batch-all-objects", "--batch-check").splitlines():
        commit = name.split()[0]
        if "checkpoint" in git("cat-file", "-p", commit):
            (git.root / ".git" / "objects" / commit[:2] / commit[2:]).unlink()
    with pytest.raises(MissingState) as caught:
        begun.archive_theirs()
    assert "repair --forget" in caught.value.hint
    begun.forget()
    assert begun.ensure().state.goal == "Ours"
    assert begun.log(1)[0].sequence == 1


def test_a_branch_checked_out_is_not_put_back_under_its_worktree(begun: Guard, git: Git) -> None:
    git("update-ref", BRANCH, older := git("rev-parse", f"{BRANCH}~1"))
    git("checkout", "--quiet", "gitguard/main")
    with pytest.raises(Pending):
        begun.archive_theirs()
    assert git("rev-parse", "HEAD") == older
    assert git("status", "--porcelain") == ""


# What nobody may slip in


def test_a_replaced_commit_is_refused(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("replace", ours, f"{BRANCH}~1")
    with pytest.raises(Tampered) as caught:
        begun.ensure()
    assert f"git replace -d {ours}" in caught.value.hint


def test_a_symbolic_branch_is_refused(begun: Guard, git: Git) -> None:
    git("symbolic-ref", BRANCH, "refs/heads/main")
    with pytest.raises(Tampered, match="symbolic ref"):
        begun.checkpoint("On top.")
    git("symbolic-ref", "-d", BRANCH)
    begun.archive_theirs()
    assert begun.ensure().state.goal == "Ours"


def test_an_object_with_another_content_than_its_name_is_refused(begun: Guard, git: Git) -> None:
    begun.checkpoint("A reason.")
    blob = git("rev-parse", f"{BRANCH}:state.json")
    other = git("rev-parse", f"{BRANCH}~2:state.json")
    objects = git.root / ".git" / "objects"
    path = objects / blob[:2] / blob[2:]
    path.chmod(0o644)
    shutil.copyfile(objects / other[:2] / other[2:], path)
    own_file(begun, "state.json").unlink()
    shutil.rmtree(begun.workspace.folder)
    with pytest.raises(Tampered, match="does not have the content of its id"):
        begun.ensure()


@pytest.mark.parametrize("mode", ["120000", "100755", "160000"])
def test_a_tree_with_anything_but_plain_files_is_refused(begun: Guard, git: Git, mode: str) -> None:
    listed = git("ls-tree", BRANCH).replace("100644 blob", f"{mode} blob", 1)
    if mode == "160000":
        blob = listed.split()[2]
        listed = listed.replace(f"160000 blob {blob}", f"160000 commit {git('rev-parse', BRANCH)}")
    tree = git("mktree", stdin=listed + "\n")
    body = git("cat-file", "commit", BRANCH).split("\n", 1)[1]
    forged = git("hash-object", "-t", "commit", "-w", "--stdin", stdin=f"tree {tree}\n{body}\n")
    git("update-ref", BRANCH, forged)
    with pytest.raises(Tampered, match=mode):
        begun.trust(forged)


def test_a_bomb_in_the_branch_is_refused_before_it_is_read(begun: Guard, git: Git) -> None:
    bomb = git("hash-object", "-w", "--stdin", stdin=" " * 20_000_000)
    listed = git("ls-tree", BRANCH).splitlines()
    listed = [line if "state.json" not in line else f"100644 blob {bomb}\tstate.json" for line in listed]  # fmt: skip  # noqa: E501
    tree = git("mktree", stdin="\n".join(listed) + "\n")
    body = git("cat-file", "commit", BRANCH).split("\n", 1)[1]
    forged = git("hash-object", "-t", "commit", "-w", "--stdin", stdin=f"tree {tree}\n{body}\n")
    git("update-ref", BRANCH, forged)
    with pytest.raises(Tampered, match="20,000,000"):
        begun.trust(forged)


# Clones, moves, other repositories


def test_a_clone_with_a_session_branch_is_data_until_it_is_trusted(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    clone = Git(tmp_path / "clone")
    git("clone", "--quiet", ".", str(clone.root))
    clone("branch", "--quiet", "gitguard/main", "origin/gitguard/main")
    theirs = Guard(str(clone.root), elsewhere, begun.clock)
    asks: list[Callable[[], object]] = [
        theirs.ensure,
        lambda: theirs.sessions.use(Session.of("main")),
    ]
    for ask in asks:
        with pytest.raises(Untrusted) as caught:
            ask()
        assert "repair --trust" in caught.value.hint
    assert [c.sequence for c in theirs.log(untrusted=True)] == [2, 1]
    assert theirs.trust(dry_run=True).after.goal == "Ours"
    theirs.trust()
    assert theirs.ensure().state.goal == "Ours"


def test_a_session_known_only_from_a_remote_waits_for_trust(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    clone = Git(tmp_path / "clone")
    git("clone", "--quiet", ".", str(clone.root))
    theirs = Guard(str(clone.root), elsewhere, begun.clock)
    startup = theirs.ensure()
    assert startup.saved is not None
    assert "the remote already has a session `main`" in startup.saved.pending
    theirs.note({"goal": "Noted meanwhile"})
    assert clone("for-each-ref", "refs/heads/gitguard") == ""
    assert theirs.state().goal == "Noted meanwhile"
    theirs.trust()
    assert theirs.ensure().state.goal == "Ours"
    (archived,) = clone("for-each-ref", "--format=%(refname)", "refs/gitguard/archive").split()
    assert "Noted meanwhile" in clone("show", f"{archived}:state.json")
    assert [c.sequence for c in theirs.log()] == [2, 1]


def test_a_session_known_only_from_a_remote_can_be_left_alone(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    theirs = Guard(str(tmp_path / "clone"), elsewhere, begun.clock)
    theirs.ensure()
    startup = theirs.sessions.use(Session.of("new"))
    assert startup.saved is not None
    assert startup.saved.sequence == 1


def test_two_clones_of_one_session_never_overwrite_each_other(
    begun: Guard, git: Git, tmp_path: Path, elsewhere: UserDirs
) -> None:
    clone = Git(tmp_path / "clone")
    git("clone", "--quiet", ".", str(clone.root))
    theirs = Guard(str(clone.root), elsewhere, begun.clock)
    theirs.trust()
    theirs.note({"goal": "Theirs"})
    begun.note({"goal": "Ours again"})
    clone("fetch", "--quiet", "origin", f"+{BRANCH}:{BRANCH}")
    with pytest.raises(Tampered):
        theirs.checkpoint("On top.")
    theirs.archive_theirs()
    assert theirs.ensure().state.goal == "Theirs"
    assert git("rev-parse", BRANCH) in clone("for-each-ref", "--format=%(objectname)")


def test_a_repository_under_another_home_is_trusted_and_loses_nothing(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    begun.note({"learnings": ["noted and not committed"]})
    there = open_guard(state_home=str(tmp_path / "another-home"))
    with pytest.raises((EditedState, Untrusted)):
        there.ensure()
    there.trust()
    assert there.ensure().state.goal == "Ours"
    kept = [path.read_text() for path in git.root.rglob("state.json.bad-*")]
    assert any("noted and not committed" in text for text in kept)


def test_another_repository_at_the_same_path_begins_anew_and_says_so_once(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    shutil.rmtree(git.root)
    git.root.mkdir()
    git.start()
    startup = open_guard().ensure()
    assert startup.how == "begun"
    assert startup.state.stated_goal == ""
    assert any("another repository" in note for note in startup.notes)
    assert open_guard().ensure().notes == ()
    archived = list(own_file(begun, ".").glob("*.json.*"))
    assert any("Ours" in path.read_text() for path in archived)


# The anchor


@pytest.mark.parametrize(
    "damage",
    [b"", b"\0\0\0", b"{}", b'{"format": 1, "sequence": "x"}', b'{"format": 1, "committed": 5}'],
)
def test_a_damaged_anchor_stops_nothing_for_good(begun: Guard, damage: bytes) -> None:
    own_file(begun, "anchor.json").write_bytes(damage)
    for ask in (begun.ensure, lambda: begun.checkpoint("x"), begun.resume):
        with pytest.raises(InvalidDocument) as caught:
            ask()
        assert "repair --forget" in caught.value.hint
    begun.forget()
    saved = begun.ensure().saved
    assert saved is not None
    assert "this machine has no record of writing it" in saved.pending
    begun.trust()
    assert begun.ensure().state.goal == "Ours"
    assert begun.checkpoint("Goes on.").sequence == 3


def test_forget_keeps_the_anchor_aside(begun: Guard) -> None:
    begun.forget()
    assert list(own_file(begun, ".").glob("anchor.json.*"))
    assert begun.state().goal == "Ours"


# restore


def test_restore_makes_an_earlier_state_the_newest_and_touches_no_file(
    begun: Guard, git: Git
) -> None:
    begun.note({"goal": "Later", "current_phase": "two", "learnings": ["not committed"]})
    begun.note({"learnings": ["not committed either"]})
    before = git.traces()
    assert begun.restore("2", dry_run=True).after.goal == "Ours"
    assert begun.state().goal == "Later"
    change = begun.restore("cp_002")
    assert change.saved is not None
    assert begun.state().goal == "Ours"
    assert [c.trigger for c in begun.log(2)] == ["manual", "pre-restore"]
    assert "not committed either" in git("show", f"{BRANCH}~1:state.json")
    assert git.traces() == before


@pytest.mark.parametrize("wanted", ["", "99", "cp_099", "zzzz", "--help", "../x", "HEAD", "0"])
def test_a_checkpoint_that_is_not_there_is_named(begun: Guard, wanted: str) -> None:
    with pytest.raises(InvalidInput, match="there is no checkpoint"):
        begun.restore(wanted)


def test_a_checkpoint_is_found_by_its_short_id(begun: Guard, git: Git) -> None:
    begun.restore(git("rev-parse", "--short=8", f"{BRANCH}~1"))
    assert begun.state().stated_goal == ""


def test_a_repair_with_nothing_to_do_does_nothing(begun: Guard, git: Git) -> None:
    before = session_file(begun, "state.json").read_bytes(), git("rev-parse", BRANCH)
    assert begun.repair_local() == ()
    assert (session_file(begun, "state.json").read_bytes(), git("rev-parse", BRANCH)) == before


def test_what_is_set_aside_twice_is_kept_twice(begun: Guard, clock: Clock) -> None:
    begun.forget()
    begun.trust()
    begun.forget()
    assert len(list(own_file(begun, ".").glob("anchor.json.*"))) == 2


def test_a_fork_takes_along_what_the_journal_holds(begun: Guard) -> None:
    entry = JournalEntry(
        "tool-end", "2026-01-31T09:30:00Z", "host", id="t", tool="Edit", written=("a",)
    )
    begun.store().journal.append(entry)
    begun.sessions.fork(Session.of("mine"))
    assert [artifact.path for artifact in begun.state().artifacts] == ["a"]


def test_a_fork_onto_itself_is_refused_at_once(begun: Guard) -> None:
    with pytest.raises(InvalidInput, match="the session you are in"):
        begun.sessions.fork(Session.of("main"))


def test_looking_writes_no_anchor(begun: Guard, git: Git) -> None:
    """Readers hold no lock, so what they write could undo what a checkpoint writes."""
    anchor = own_file(begun, "anchor.json")
    before = anchor.read_text()
    begun.note({"goal": "Newer"})
    pending = before.replace('"pending": ""', f'"pending": "{git("rev-parse", BRANCH)}"')
    anchor.write_text(pending)
    for look in (begun.status, begun.log, begun.diff, begun.resume):
        look()
    assert begun.status().standing == "ours"
    assert anchor.read_text() == pending
    assert begun.checkpoint("Goes on.").commit
