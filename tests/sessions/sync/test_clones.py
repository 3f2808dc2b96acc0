"""Whatever kind of clone a machine has, and whoever else uses it, its sessions sync."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import Clock, Git
from tests.support.another_user import ALICE, BOB, GROUP, open_the_way, run_as
from tests.support.needed import need_root
from tests.support.synced_machines import Machine, Remote, introduced, make_machine, never_forced


def test_a_clone_of_a_clone_reaches_the_others_by_way_of_it(
    a: Machine, b: Machine, remote: Remote, three: Path, clock: Clock
) -> None:
    introduced(a, b)
    root = three / "inner"
    Git(three)("clone", "--quiet", "--single-branch", str(b.git.root), str(root))
    Git(root)("config", "user.name", "inner")
    inner = Machine(root, three / "inner-home", clock, str)
    inner.guard.ensure()
    inner.learn("of the inner clone")
    inner.settled()
    b.trust(inner)
    for each in (b, a):
        each.settled()
    assert a.learned == b.learned == {"of the inner clone"}
    assert list(remote.lanes) == sorted((a.lane, b.lane)), "the inner lane stays where it went"
    inner.settled()
    inner.trust(b)
    a.learn("of a")
    for each in (a, b, inner):
        each.settled()
    assert inner.learned == {"of a", "of the inner clone"}
    assert b.git("status", "--porcelain") == ""
    never_forced(remote)


def test_a_clone_that_has_the_session_of_another_one_says_that_nothing_leaves(
    b: Machine, three: Path, clock: Clock
) -> None:
    """A plain clone of a clone has its session's branch, which nobody continues unasked."""
    inner = make_machine(three, "inner", Remote(b.git.root), clock)
    (problem,) = inner.sync().problems
    assert problem.startswith("`main` has no checkpoint that could leave")
    assert b.lanes == {}


def test_a_clone_without_blobs_syncs_and_fetches_all_of_a_lane(
    a: Machine, remote: Remote, three: Path, clock: Clock
) -> None:
    remote("config", "uploadpack.allowFilter", "true")
    a.learn("one")
    a.settled()
    root = three / "partial"
    Git(three)("clone", "--quiet", "--filter=blob:none", f"file://{remote.root}", str(root))
    Git(root)("config", "user.name", "partial")
    partial = Machine(root, three / "partial-home", clock, str)
    partial.guard.ensure()
    partial.settled()
    partial.trust(a)
    partial.settled()
    assert partial.learned == {"one"}
    missing = partial.git("rev-list", "--objects", "--missing=print", a.lane)
    assert "?" not in missing, "nothing of a lane is left to be fetched later"
    partial.learn("two")
    partial.settled()
    a.settled()
    a.trust(partial)
    a.settled()
    assert a.learned == {"one", "two"}
    partial.git.fsck()


def test_a_bare_clone_that_others_took_for_their_remote_serves_as_well(
    a: Machine, b: Machine, remote: Remote, three: Path
) -> None:
    introduced(a, b)
    mirror = Remote(three / "mirror.git")
    Git(three)("clone", "--quiet", "--mirror", str(remote.root), str(mirror.root))
    b.git("remote", "set-url", "origin", str(mirror.root))
    a.learn("one")
    a.settled()
    b.settled()
    assert b.learned == set()
    b.git("remote", "set-url", "origin", str(remote.root))
    b.settled()
    assert b.learned == {"one"}


def as_user(user: int, machine: Machine, *words: str) -> str:
    """Run gitguard as the user whose machine it is; return what it says."""
    home, state = str(machine.home), str(machine.home / "state")
    code, said = run_as(user, machine.git.root, *words, HOME=home, GITGUARD_STATE_DIR=state)
    assert code == 0, said
    return said


def give(user: int, *folders: Path) -> None:
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, GROUP, follow_symlinks=False)


def test_two_accounts_of_one_machine_sync_through_a_folder_that_both_may_write(
    a: Machine, b: Machine, remote: Remote, three: Path
) -> None:
    need_root("to run commands as two other users")
    open_the_way(three)
    remote("config", "core.sharedRepository", "group")
    give(0, remote.root)
    for path in (remote.root, *remote.root.rglob("*")):
        path.chmod(path.stat().st_mode | (0o2070 if path.is_dir() else 0o060))
    for user, each in ((ALICE, a), (BOB, b)):
        give(user, each.git.root, each.home)
    said = as_user(ALICE, a, "sync", "--yes")
    assert "Queued" in said
    assert "dubious ownership" in said, "git asks whether to trust a folder of somebody else's"
    for user, each in ((ALICE, a), (BOB, b)):
        (each.home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {remote.root}\n")
        give(user, each.home)
    as_user(ALICE, a, "note", "--learning", "of alice")
    assert "Pushed" in as_user(ALICE, a, "sync", "--yes")
    assert "Pushed" in as_user(BOB, b, "sync", "--yes")
    assert "Joined 1 lane" in as_user(BOB, b, "sync", "--trust", a.writer, "--yes")
    assert "of alice" in as_user(BOB, b, "resume")
    remote.fsck()
