"""Every kind of repository: a checkpoint is taken, read back, and nothing else is touched."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from gitguard.errors import GitFailed, InvalidInput, NotARepository, Pending
from gitguard.guard import Guard
from gitguard.state.items import texts
from gitguard.store.session.current import current_name, current_session
from gitguard.store.session.workspace import Session
from tests.conftest import Clock, Git, OpenGuard


def prove(guard: Guard, git: Git, session: str = "main") -> None:
    """Take checkpoints and hold against the repository what they may not touch."""
    before = git.traces()
    guard.ensure()
    guard.note({"goal": "Prove it", "decisions": [{"what": "use git", "why": "it is there"}]})
    saved = guard.checkpoint("A reason.")
    assert saved.commit
    assert saved.pending == ""
    assert '"goal": "Prove it"' in git("show", f"gitguard/{session}:state.json")
    assert [c.sequence for c in guard.log()] == [3, 2, 1]
    assert "Prove it" in guard.resume()
    assert git.traces() == before
    git.fsck()


def test_an_ordinary_repository(guard: Guard, git: Git) -> None:
    prove(guard, git)


def test_a_repository_without_commits(tmp_path: Path, open_guard: OpenGuard) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    git = Git(root)
    git("init", "--quiet", "--initial-branch=main")
    before = (git("status", "--porcelain"), git("symbolic-ref", "HEAD"))
    guard = open_guard(root)
    guard.ensure()
    assert guard.checkpoint("A reason.").commit
    assert git(
        "log", "-1", "--format=%(trailers:key=Gitguard-Head,valueonly)", "gitguard/main"
    ) == ("none")
    assert (git("status", "--porcelain"), git("symbolic-ref", "HEAD")) == before
    git.fsck()


def test_a_detached_head(guard: Guard, git: Git) -> None:
    git("checkout", "--quiet", "--detach")
    name = f"detached-{git('rev-parse', 'HEAD')[:7]}"
    prove(guard, git, name)
    assert current_session(guard.workspace).key == name


def test_a_bare_repository_with_a_worktree(tmp_path: Path, git: Git, open_guard: OpenGuard) -> None:
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    Git(tmp_path / "bare.git")("worktree", "add", "--quiet", str(tmp_path / "tree"), "main")
    prove(open_guard(tmp_path / "tree"), Git(tmp_path / "tree"))
    with pytest.raises(NotARepository):
        open_guard(tmp_path / "bare.git")


def test_a_shallow_clone(tmp_path: Path, git: Git, open_guard: OpenGuard) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "Second")
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--depth=1", f"file://{git.root}", str(clone))
    prove(open_guard(clone), Git(clone))


def test_a_submodule(tmp_path: Path, git: Git, open_guard: OpenGuard) -> None:
    outer = Git(tmp_path / "outer")
    outer.root.mkdir()
    outer.start()
    outer("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(git.root), "sub")
    outer("commit", "--quiet", "--message", "Add it")
    before = outer.traces()
    prove(open_guard(outer.root / "sub"), Git(outer.root / "sub"))
    assert outer.traces() == before


def test_no_user_name(guard: Guard, git: Git) -> None:
    git("config", "--unset", "user.name")
    git("config", "--unset", "user.email")
    git("config", "user.useConfigOnly", "true")
    prove(guard, git)


def test_a_sha256_repository(tmp_path: Path, open_guard: OpenGuard) -> None:
    root = tmp_path / "long"
    root.mkdir()
    Git(root).start("--object-format=sha256")
    prove(open_guard(root), Git(root))


def test_alternates(tmp_path: Path, git: Git, open_guard: OpenGuard) -> None:
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--shared", ".", str(clone))
    prove(open_guard(clone), Git(clone))


def test_a_shared_repository_stays_writable_for_its_group(guard: Guard, git: Git) -> None:
    git("config", "core.sharedRepository", "group")
    objects = git.root / ".git" / "objects"
    objects.chmod(0o2775)
    for fanout in objects.iterdir():
        if len(fanout.name) == 2 and not any(fanout.iterdir()):
            fanout.rmdir()
    before = {path.name for path in objects.iterdir()}
    os.umask(mask := os.umask(0o077))
    old = os.umask(0o077)
    try:
        prove(guard, git)
    finally:
        os.umask(old)
    assert mask == old
    made = [path for path in objects.iterdir() if path.name not in before]
    assert made
    for fanout in made:
        assert stat.S_IMODE(fanout.stat().st_mode) == 0o2775
        assert all(stat.S_IMODE(path.stat().st_mode) == 0o444 for path in fanout.iterdir())


def test_a_folder_below_the_root_belongs_to_the_same_workspace(
    guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    guard.ensure()
    (git.root / "deep" / "down").mkdir(parents=True)
    assert open_guard(git.root / "deep" / "down").ensure().how == "continued"


def test_no_repository_at_all(tmp_path: Path, open_guard: OpenGuard) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(NotARepository, match="plain"):
        open_guard(tmp_path / "plain")


# Worktrees


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_folder_whose_name_is_not_utf8_is_refused(
    tmp_path: Path, git: Git, open_guard: OpenGuard, *, is_linked: bool
) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    git("clone", "--quiet", ".", str(odd))
    root = tmp_path / "plain" if is_linked else odd
    if is_linked:
        Git(odd)("worktree", "add", "--quiet", str(root))
    with pytest.raises(NotARepository, match=r"caf\\udce9.*is not UTF-8"):
        open_guard(root)


def test_two_worktrees_work_at_sessions_of_their_own(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    prove(guard, git)
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    prove(open_guard(tmp_path / "second"), Git(tmp_path / "second"), "topic")
    assert set(guard.sessions.heads()) == {"main", "topic"}


def test_a_second_worktree_never_takes_a_session_that_the_first_one_owns(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    guard.ensure()
    git("checkout", "--quiet", "-b", "other")
    git("worktree", "add", "--quiet", str(tmp_path / "second"), "main")
    second = open_guard(tmp_path / "second")
    second.ensure()
    assert current_session(second.workspace).key == "main-second"
    git("worktree", "remove", "--force", str(tmp_path / "second"))


def test_a_session_whose_worktree_was_removed_is_free(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    second = open_guard(tmp_path / "second")
    second.ensure()
    second.note({"goal": "Left behind"})
    git("worktree", "remove", "--force", str(tmp_path / "second"))
    git("checkout", "--quiet", "topic")
    startup = guard.ensure()
    assert current_session(guard.workspace).key == "topic"
    assert (startup.how, startup.state.goal) == ("restored", "Left behind")


def test_a_named_session_comes_back_in_a_second_worktree(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    guard.ensure()
    guard.note({"goal": "Everywhere", "learnings": ["noted and not committed"]})
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    second = open_guard(tmp_path / "second", session="main")
    startup = second.ensure()
    assert startup.how == "restored"
    assert startup.state.goal == "Everywhere"
    assert texts(startup.state.learnings) == ("noted and not committed",)
    assert current_name(second.workspace) == ""


# What others do in between


def test_gc_and_pack_refs_in_between_change_nothing(guard: Guard, git: Git) -> None:
    prove(guard, git)
    git("gc", "--quiet", "--prune=now")
    git("pack-refs", "--all", "--prune")
    assert guard.state().goal == "Prove it"
    assert guard.checkpoint("After gc.").sequence == 4
    assert [c.sequence for c in guard.log()] == [4, 3, 2, 1]
    git.fsck()


@pytest.mark.parametrize(
    "commands",
    ["git gc --quiet", "git pack-refs --all --prune", "git prune --expire=1.hour.ago"],
)
def test_checkpoints_survive_somebody_cleaning_up_at_the_same_time(
    guard: Guard, git: Git, commands: str
) -> None:
    guard.ensure()
    loop = subprocess.Popen(
        ["sh", "-c", f"while :; do {commands}; done"],
        cwd=git.root,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        saved = [guard.checkpoint(f"Number {n}.") for n in range(12)]
    finally:
        os.killpg(loop.pid, 9)
        loop.wait()
    assert [s.sequence for s in saved] == list(range(2, 14))
    (git.root / ".git" / "gc.pid").unlink(missing_ok=True)
    assert [c.sequence for c in guard.log(99)] == list(range(13, 0, -1))
    git.fsck()


@pytest.mark.parametrize("other", ["", "zoo"])
def test_the_commit_of_a_branch_is_read_from_packed_refs(
    guard: Guard, git: Git, other: str
) -> None:
    if other:  # or else the branch's line is the last one
        git("tag", other)
    git("pack-refs", "--all", "--prune")
    assert guard.workspace.repository().checked_out_commit() == git("rev-parse", "HEAD")


def test_a_session_branch_that_is_checked_out_is_not_moved(guard: Guard, git: Git) -> None:
    guard.ensure()
    git("checkout", "--quiet", "gitguard/main")
    before = git("rev-parse", "HEAD")
    saved = guard.checkpoint("A reason.")
    assert saved.commit == ""
    assert "checked out" in saved.pending
    assert git("rev-parse", "HEAD") == before
    assert git("status", "--porcelain") == ""
    git("checkout", "--quiet", "main")
    guard.note({"learnings": ["the next run commits"]})
    assert guard.log(1)[0].sequence == 2
    git.fsck()


def test_a_session_branch_checked_out_before_its_birth_is_not_created(
    guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    git("checkout", "--quiet", "--orphan", "gitguard/topic")
    git("rm", "-rfq", "--cached", ".")
    startup = open_guard(session="topic").ensure()
    assert startup.saved is not None
    assert "checked out" in startup.saved.pending
    assert git("for-each-ref", "refs/heads/gitguard") == ""


def test_a_tag_of_the_same_name_shadows_nothing(guard: Guard, git: Git) -> None:
    guard.ensure()
    git("tag", "gitguard/main", "HEAD")
    guard.note({"goal": "Mine"})
    assert guard.log(1)[0].id == git("rev-parse", "refs/heads/gitguard/main")
    assert guard.ensure().state.goal == "Mine"


def test_objects_that_are_there_already_are_used(guard: Guard, git: Git, clock: Clock) -> None:
    guard.ensure()
    one = guard.checkpoint("Same state.")
    two = guard.checkpoint("Same state.")
    assert git("rev-parse", f"{one.commit}:state.json") == git(
        "rev-parse", f"{two.commit}:state.json"
    )
    git.fsck()


def test_a_branch_called_gitguard_is_a_clear_error_with_a_way_out(
    guard: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    git("branch", "gitguard")
    with pytest.raises(GitFailed) as caught:
        guard.ensure()
    assert "`gitguard`" in caught.value.message
    assert "store.ref_prefix" in caught.value.hint
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("store: {ref_prefix: refs/gitguard/}\n")
    other = open_guard()
    other.ensure()
    other.note({"goal": "Elsewhere"})
    assert '"goal": "Elsewhere"' in git("show", "refs/gitguard/main:state.json")
    assert git("rev-parse", "gitguard") == git("rev-parse", "main")


def test_with_the_other_prefix_the_archive_is_no_session(
    guard: Guard, tmp_path: Path, open_guard: OpenGuard
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("store: {ref_prefix: refs/gitguard/}\n")
    guard = open_guard()
    guard.ensure()
    store = guard.store()
    store.chain.archive(store.chain.head().id, "kept")
    assert set(guard.sessions.heads()) == {"main"}
    named = open_guard(session="archive")
    named.ensure()
    assert named.log(1)


def test_a_partial_clone_never_fetches(tmp_path: Path, git: Git, open_guard: OpenGuard) -> None:
    """A missing object is missing; asking a remote for it would run programs of the repository."""
    git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{git.root}", str(clone))
    partial = Git(clone)
    marker = tmp_path / "ran"
    partial("config", "remote.origin.uploadpack", f"touch {marker}; git-upload-pack")
    guard = open_guard(clone)
    blob = git("rev-parse", "HEAD:README.md")
    with guard.repository().reader() as reader, pytest.raises(GitFailed):
        reader.exists(blob)
    assert not marker.exists()
    shutil.rmtree(clone)


def test_two_worktrees_at_one_session_both_go_on(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    guard.ensure()
    guard.note({"goal": "Shared"})
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    second = open_guard(tmp_path / "second", session="main")
    second.ensure()
    for number in range(60):
        second.note({"learnings": [f"{number}"]})
    assert len(guard.state().learnings) == 60
    guard.note({"learnings": ["of the first"]})
    assert len(second.state().learnings) == 61
    assert second.ensure().state == guard.ensure().state


def test_a_session_of_another_worktree_is_not_taken(
    tmp_path: Path, guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    guard.ensure()
    git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "second"))
    second = open_guard(tmp_path / "second")
    second.ensure()
    with pytest.raises(InvalidInput, match="belongs to the worktree"):
        second.sessions.use(Session.of("main"))
    assert current_session(second.workspace).key == "topic"


def test_a_session_named_by_the_environment_is_not_left_by_use(open_guard: OpenGuard) -> None:
    named = open_guard(session="main")
    named.ensure()
    with pytest.raises(InvalidInput, match="GITGUARD_SESSION"):
        named.sessions.use(Session.of("other"))


def test_a_task_that_no_checkpoint_holds_makes_no_room_for_the_next(guard: Guard, git: Git) -> None:
    guard.ensure()
    git("checkout", "--quiet", "gitguard/main")
    guard.note({"goal": "Never committed"})
    with pytest.raises(Pending, match="checked out"):
        guard.note({"goal": "The next"}, new_task=True)
    git("checkout", "--quiet", "main")
    guard.note({"goal": "The next"}, new_task=True)
    assert '"goal": "Never committed"' in git("show", "gitguard/main~1:state.json")
