"""Crashes of one kind each, by hand; `test_faults` lets every kind strike at every point."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import pytest

from gitguard.errors import GitFailed, GitguardError, MissingState, NotReadable, NotWritable
from gitguard.guard import Guard
from gitguard.state.items import texts
from gitguard.store.session.workspace import Session, UserDirs
from tests.conftest import Clock, Git, OpenGuard
from tests.support.session_branches import BRANCH, advance_from_elsewhere
from tests.support.session_files import own_file

MAIN = Session.of("main")


@pytest.fixture
def begun(guard: Guard) -> Guard:
    guard.ensure()
    guard.note({"goal": "Kept", "learnings": ["acknowledged 0"]})
    return guard


def prove_sound(guard: Guard, git: Git) -> None:
    """Fail unless sequence, objects and ref are whole."""
    log = guard.log(1000)
    assert [c.sequence for c in log] == list(range(len(log), 0, -1))
    assert log[0].id == git("rev-parse", BRANCH)
    git.fsck()


def test_a_fork_that_died_can_be_used_or_made_again(begun: Guard, open_guard: OpenGuard) -> None:
    """Found at a step: the new session had a state, no summary, and needed `recover`."""

    def fork(name: str, at_step: Callable[[str], object] = str) -> object:
        return open_guard(at_step=at_step).sessions.fork(Session.of(name))

    def die(step: str) -> None:
        if step == "state-written":
            os._exit(1)

    for name in ("used", "again"):
        child = os.fork()
        if child == 0:
            fork(name, at_step=die)
        os.waitpid(child, 0)
    assert open_guard().sessions.use(Session.of("used")).state.goal == "Kept"
    open_guard().sessions.use(Session.of("main"))
    fork("again")
    assert open_guard().log()[0].sequence == 1
    assert open_guard().ensure().state.goal == "Kept"


def test_a_file_that_stays_behind_two_crashes_is_still_ours(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs, open_guard: OpenGuard
) -> None:
    """Found by a fault after a fault: `trust` died twice before it wrote the file."""
    elsewhere = places.replace(state_home=str(tmp_path / "other-machine"))
    advance_from_elsewhere(begun, git, tmp_path, elsewhere)
    theirs = git("rev-parse", BRANCH)

    def die(step: str) -> None:
        if step == "state-copy-written":
            os._exit(1)

    for _ in range(3):
        child = os.fork()
        if child == 0:
            open_guard(at_step=die).trust(theirs)
        os.waitpid(child, 0)
        assert open_guard().state().goal == "Theirs"
    open_guard().trust(theirs)
    assert open_guard().ensure().state.goal == "Theirs"


def test_a_pending_commit_that_became_the_head_is_ours(begun: Guard, git: Git) -> None:
    """The ref moved, and the anchor was not promoted yet."""
    anchor = own_file(begun, "anchor.json")
    before = anchor.read_bytes()
    begun.note({"goal": "New"})
    head = git("rev-parse", BRANCH)
    state = git("show", f"{head}:state.json") + "\n"
    text = before.decode().replace('"pending": ""', f'"pending": "{head}"')
    digest = sha256(state.encode()).hexdigest()
    anchor.write_text(text.replace('"pending_sha256": ""', f'"pending_sha256": "{digest}"'))
    assert begun.ensure().state.goal == "New"
    assert begun.log(1)[0].sequence == 3
    assert begun.checkpoint("Goes on.").sequence == 4


# Git itself is killed

_SHIM = """#!/bin/sh
case " $* " in
*" {command} "*)
    {before}
    {git} "$@"
    code=$?
    {after}
    exit $code ;;
esac
exec {git} "$@"
"""


def shim(tmp_path: Path, places: UserDirs, command: str, before: str, after: str) -> UserDirs:
    """Return places with a `git` that does something around one command."""
    import shutil

    folder = tmp_path / "shim"
    folder.mkdir(exist_ok=True)
    script = folder / "git"
    real = shutil.which("git")
    script.write_text(_SHIM.format(command=command, before=before, after=after, git=real))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return places.replace(environment={**places.environment, "PATH": path})


@pytest.mark.parametrize("command", ["update-ref", "for-each-ref", "cat-file"])
@pytest.mark.parametrize(
    ("before", "after"), [("kill -9 $$", ""), ("", "kill -9 $$")], ids=["before", "after"]
)
def test_a_git_that_is_killed_is_never_a_missing_branch(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs, command: str, before: str, after: str
) -> None:
    broken = Guard(str(git.root), shim(tmp_path, places, command, before, after), begun.clock)
    for act in (
        lambda: broken.note({"goal": "New"}),
        broken.ensure,
        broken.repair_local,
        broken.log,
        broken.resume,
    ):
        with suppress(GitguardError):
            act()
    assert begun.ensure().state.goal == "New"
    prove_sound(begun, git)


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_process_killed_around_the_move_of_the_ref_leaves_old_or_new(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs, when: str
) -> None:
    kill = {when: "kill -9 $PPID"}
    killing = shim(
        tmp_path, places, "update-ref", before=kill.get("before", ""), after=kill.get("after", "")
    )
    child = os.fork()
    if child == 0:
        Guard(str(git.root), killing, begun.clock).note({"goal": "New"})
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert begun.ensure().state.goal == "New"
    prove_sound(begun, git)


def slow_to_move(tmp_path: Path, places: UserDirs, before: str) -> UserDirs:
    """Return places whose `git update-ref` takes its request, does something, and then moves."""
    tmp_path.mkdir()
    slowed = shim(tmp_path, places, "update-ref", before=f"request=$(cat); {before}", after="")
    script = tmp_path / "shim" / "git"
    fed = script.read_text().replace('git "$@"\n', 'git "$@" <<< "$request"\n', 1)
    script.write_text(fed.replace("/bin/sh", "/bin/bash"))
    return slowed


def test_a_git_that_outlives_our_process_moves_no_ref_behind_the_next_one_s_back(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    """Our process dies while its git is about to move the ref; the next one has to wait for it."""
    dying = slow_to_move(tmp_path / "dying", places, "kill -9 $PPID; sleep 1")
    next_one = slow_to_move(tmp_path / "next", places, "sleep 2")
    child = os.fork()
    if child == 0:
        Guard(str(git.root), dying, begun.clock).note({"goal": "New"})
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    noted = Guard(str(git.root), next_one, begun.clock).note({"goal": "Newer"})
    assert noted.saved is not None
    assert begun.ensure().state.goal == "Newer"
    assert begun.log(1)[0].id == noted.saved.commit
    prove_sound(begun, git)


def test_a_git_that_hangs_is_given_up(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    """Only that a limit exists; waiting for it would take half a minute."""
    from gitguard.store.git import plumbing

    assert 0 < plumbing.TIME_LIMIT <= 60


def test_a_ref_that_git_cannot_read_is_not_missing(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    """Git says nothing and ends well where it cannot open the folder of a ref."""
    broken = Guard(str(git.root), shim(tmp_path, places, "for-each-ref", "exit 0", ""), begun.clock)
    for act in (broken.ensure, broken.repair_local, lambda: broken.note({"goal": "New"})):
        with pytest.raises(GitFailed, match="does not list"):
            act()
    assert begun.ensure().state.goal == "New"
    prove_sound(begun, git)


def test_locks_that_dead_gits_left_in_the_archive_are_cleared(
    begun: Guard, git: Git, clock: Clock
) -> None:
    folder = git.root / ".git" / "refs" / "gitguard" / "archive" / "main"
    folder.mkdir(parents=True)
    (folder / "0123456789ab.lock").touch()
    begun.checkpoint("Too early.")
    assert (folder / "0123456789ab.lock").exists()
    clock.advance(61)
    begun.checkpoint("Clears it.")
    assert list(folder.iterdir()) == []


# The system fails


@contextmanager
def io_errors(monkeypatch: pytest.MonkeyPatch, call: str, *parts: str) -> Iterator[None]:
    """Let a call of the system fail with an I/O error for paths that contain one of the parts."""
    real = getattr(os, call)

    def whole(path: object, folder: object) -> str:
        if isinstance(path, int):
            return os.readlink(f"/proc/self/fd/{path}")
        return str(path) if folder is None else f"{os.readlink(f'/proc/self/fd/{folder}')}/{path}"

    def fail(path: object, *arguments: object, **options: object) -> object:
        if any(part in whole(path, options.get("dir_fd")) for part in parts):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        yield


@pytest.mark.parametrize("call", ["scandir", "listdir"])
def test_left_overs_that_cannot_be_listed_stop_no_checkpoint(
    begun: Guard, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with io_errors(monkeypatch, call, "objects"):
        assert begun.checkpoint("A reason.").commit


def test_a_ref_that_cannot_be_made_durable_is_said_to_be_so(
    begun: Guard, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = io_errors(monkeypatch, "open", "refs/heads/gitguard")
    with failing, pytest.raises(NotWritable, match="Input/output error"):
        begun.note({"goal": "New"})
    assert begun.ensure().state.goal == "New"
    prove_sound(begun, git)


def test_a_head_that_cannot_be_read_is_not_taken_for_a_rewritten_one(
    begun: Guard, git: Git, tmp_path: Path, places: UserDirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by an I/O error: `trust` put our own head back instead."""
    elsewhere = places.replace(state_home=str(tmp_path / "other-machine"))
    advance_from_elsewhere(begun, git, tmp_path, elsewhere)
    theirs = git("rev-parse", BRANCH)
    failing = io_errors(monkeypatch, "open", f"objects/{theirs[:2]}/{theirs[2:]}")
    with failing, pytest.raises(NotReadable):
        begun.trust(theirs)
    assert git("rev-parse", BRANCH) == theirs
    begun.trust(theirs)
    assert begun.ensure().state.goal == "Theirs"


@pytest.mark.parametrize("name", ["_seal.key", "state.json", "anchor.json", "conversations.json"])
def test_what_cannot_be_read_in_the_state_directory_is_not_taken_for_missing(
    begun: Guard, monkeypatch: pytest.MonkeyPatch, open_guard: OpenGuard, name: str
) -> None:
    shutil.rmtree(begun.workspace.folder)
    folders = begun.workspace.anchor_folder(MAIN), begun.workspace.state_folder
    failing = io_errors(monkeypatch, "open", *(f"{folder}/{name}" for folder in folders))
    with failing, pytest.raises(NotReadable):
        open_guard().ensure()
    assert open_guard().ensure().state.goal == "Kept"


def test_what_dead_processes_left_beside_the_sessions_is_swept(
    begun: Guard, places: UserDirs, clock: Clock
) -> None:
    left = [
        Path(folder, "x.json.1.tmp") for folder in (begun.workspace.state_folder, places.state_home)
    ]
    for path in left:
        path.touch()
    clock.advance(61)
    begun.checkpoint("Sweeps.")
    assert not any(path.exists() for path in left)


# Locks


def test_a_ref_lock_left_by_a_dead_process_is_pending_and_cleared_after_a_minute(
    begun: Guard, git: Git, clock: Clock
) -> None:
    lock = git.root / ".git" / f"{BRANCH}.lock"
    lock.touch()
    clock.advance(30)
    noted = begun.note({"goal": "New"})
    assert noted.saved is not None
    assert "lock" in noted.saved.pending
    assert begun.state().goal == "New"
    assert lock.exists()
    clock.advance(31)
    noted = begun.note({"learnings": ["any next command commits it"]})
    assert noted.saved is not None
    assert noted.saved.sequence == 3
    assert not lock.exists()
    prove_sound(begun, git)


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock"])
def test_locks_of_other_files_do_not_stop_us(begun: Guard, git: Git, name: str) -> None:
    (git.root / ".git" / name).touch()
    assert begun.checkpoint("A reason.").sequence == 3


def test_a_lock_that_a_living_process_holds_names_it_and_its_age(
    begun: Guard, clock: Clock
) -> None:
    from gitguard.errors import Locked

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with begun.store().lock():
            os.write(writer, b"x")
            signal.pause()
        os._exit(0)
    try:
        os.read(reader, 1)
        clock.advance(42)
        with pytest.raises(Locked) as caught, begun.store().lock(timeout=0.05):
            pass
        assert f"process {child} for 4" in caught.value.message
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)
    with begun.store().lock(timeout=0.05):
        pass


# Many at once

_WORKER = """
import os, sys, time
from gitguard.guard import Guard
from gitguard.store.session.workspace import UserDirs
root, state, config, name = sys.argv[1:]
guard = Guard(root, UserDirs(state, config, environment=dict(os.environ)), time.time)
for number in range(10):
    guard.note({"open_issues": [f"{name}-{number}"]})
    guard.checkpoint(f"{name} {number}")
"""


def test_four_processes_at_once_lose_nothing(begun: Guard, git: Git, places: UserDirs) -> None:
    arguments = [str(git.root), places.state_home, places.config_home]
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER, *arguments, f"w{n}"]) for n in range(4)
    ]
    assert [worker.wait() for worker in workers] == [0] * 4
    noted = texts(begun.state().open_issues)
    assert sorted(noted) == sorted(f"w{n}-{i}" for n in range(4) for i in range(10))
    for n in range(4):
        mine = [text for text in noted if text.startswith(f"w{n}-")]
        assert mine == [f"w{n}-{i}" for i in range(10)]
    assert begun.log(1)[0].sequence == 42
    prove_sound(begun, git)


def test_two_processes_that_begin_the_same_session_begin_one(
    git: Git, places: UserDirs, guard: Guard
) -> None:
    code = _WORKER.split("for number")[0] + "guard.ensure()\n"
    arguments = [str(git.root), places.state_home, places.config_home, "x"]
    workers = [subprocess.Popen([sys.executable, "-c", code, *arguments]) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0] * 3
    assert [c.sequence for c in guard.log()] == [1]


def test_a_worktree_whose_file_was_rewritten_from_another_s_state_still_knows_it(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    """Found by a crowd: the file in the idle worktree seemed to be somebody else's edit."""
    idle = tmp_path / "idle"
    git("worktree", "add", "--quiet", "-b", "idle", str(idle))
    open_guard(session="main").note({"learnings": ["one"]})
    open_guard(idle, session="main").ensure()
    for number in range(3):
        open_guard(session="main").note({"learnings": [f"later {number}"]})
    assert open_guard(idle, session="main").state().learnings[-1].text == "later 2"
    open_guard(idle, session="main").note({"learnings": ["from the idle one"]})
    assert open_guard(session="main").state().learnings[-1].text == "from the idle one"


# Readers beside a writer


def test_readers_without_the_lock_never_undo_what_a_writer_wrote(
    begun: Guard, open_guard: OpenGuard
) -> None:
    guard = open_guard()
    readers = [start_reader(ask) for ask in (guard.state, guard.bundle, guard.resume)]
    try:
        for number in range(150):
            begun.note({"learnings": [f"{number}"]})
    finally:
        for reader in readers:
            os.kill(reader, signal.SIGTERM)
        ends = [os.waitpid(reader, 0)[1] for reader in readers]
    assert [os.WTERMSIG(end) for end in ends] == [signal.SIGTERM] * 3, "a reader failed"
    assert texts(begun.state().learnings)[-150:] == tuple(map(str, range(150)))


def start_reader(ask: Callable[[], object]) -> int:
    """Start a process that reads until it is ended, or leaves by its first error."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                ask()
        finally:
            os._exit(1)
    return child


def test_a_session_that_cannot_be_read_now_is_not_begun_anew_a_moment_later(
    begun: Guard,
) -> None:
    """Found at a system call: a state that failed to open once was taken for none at all."""
    Path(begun.workspace.working_file(Session.of("other"), "state.json")).mkdir(parents=True)
    with pytest.raises(MissingState):
        begun.sessions.fork(Session.of("other"))


def test_a_start_whose_mark_stays_is_no_success(begun: Guard) -> None:
    """Found at a system call: the mark of a start stayed, and nobody came back for it."""
    Path(begun.workspace.working_file(MAIN, "starting")).mkdir()
    with pytest.raises(NotWritable):
        begun.ensure()
