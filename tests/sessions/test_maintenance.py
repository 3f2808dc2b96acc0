"""Sessions are put away whole, brought back whole, and deleted only by name."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import (
    InvalidConfig,
    InvalidDocument,
    InvalidInput,
    MissingState,
    NotConfirmed,
    NotInitialised,
    OwnerOnly,
    Pending,
    Tampered,
)
from gitguard.guard import Guard
from gitguard.sessions.archiving import archive_of
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.archive import Archived
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.current import current_name, current_session
from gitguard.store.session.host_session import Halt, HostSession, read_record
from gitguard.store.session.workspace import Session
from tests.conftest import Clock, Git, OpenGuard, new_guard
from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.kept_sessions import DAY, GOAL, at, close_it, findings, maintain, reopen
from tests.support.keys import Machine, SshKeys
from tests.support.leaked_secrets import TOKEN, Blind
from tests.support.staged import staged

NOW = "2026-01-31T09:30:00Z"


def converse(guard: Guard, key: str, **known: object) -> None:
    """Let a session know a conversation."""
    store = guard.store(Session.of(key))
    with store.lock():
        conversation = HostSession(started_at=NOW).replace(**known)
        keep_conversation(guard.workspace, store.session, "S1", conversation)


def config(guard: Guard, text: str) -> None:
    folder = Path(guard.workspace.places.config_home)
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(text)


def begin_two(folder: Path) -> None:
    clock = Clock()
    guard = at(new_guard(folder, clock), "old")
    clock.advance(31 * DAY)
    at(guard, "main")


tmp_path = staged(two=begin_two)


@pytest.fixture
def two(guard: Guard, clock: Clock) -> Guard:
    """A session that nobody used for 31 days, and the current one."""
    clock.advance(31 * DAY)
    return guard


# Which ones


def test_warn_lists_and_changes_nothing(two: Guard, git: Git, repo: Path) -> None:
    def everything() -> object:
        refs = git("for-each-ref")
        return refs, {p: p.read_bytes() for p in (repo / ".gitguard").rglob("*") if p.is_file()}

    before = everything()
    done = maintain(two, "")
    assert [one.session.name for one in done.found] == ["old"]
    assert done.found[0].reasons == ("idle for 31 days (limit 30)",)
    assert done.found[0].size > 1000
    assert done.sessions == 2
    assert everything() == before


def test_what_was_used_in_time_is_no_candidate(guard: Guard, clock: Clock) -> None:
    at(guard, "old")
    clock.advance(29 * DAY)
    at(guard, "main")
    assert maintain(guard).found == ()


def test_a_conversation_keeps_its_session_in_use(two: Guard, clock: Clock) -> None:
    converse(two, "old")
    clock.advance(2 * DAY)
    assert maintain(two).found == ()


def test_too_many_are_put_away_beginning_with_the_longest_unused(
    guard: Guard, clock: Clock, open_guard: OpenGuard
) -> None:
    config(guard, "maintenance: {most_sessions: 2}\n")
    for key in ("c", "a", "b", "main"):
        at(guard, key)
        clock.advance(60)
    done = maintain(open_guard())
    assert sorted(one.name for one in done.archived) == ["a", "c"]
    assert sorted(guard.sessions.heads()) == ["b", "main"]


def test_a_large_one_is_put_away(guard: Guard, open_guard: OpenGuard) -> None:
    config(guard, "maintenance: {largest_megabytes: 1}\n")
    at(guard, "large")
    at(guard, "main")
    Path(guard.workspace.session_folder(Session.of("large")), "notes").write_bytes(bytes(2 << 20))
    done = maintain(open_guard(), "warn")
    assert done.found[0].reasons == ("2.0 MB of files (limit 1 MB)",)
    assert [one.name for one in maintain(open_guard()).archived] == ["large"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("idle_days", 0),
        ("idle_days", 4_000),
        ("most_sessions", 0),
        ("most_sessions", 1_000_000),
        ("largest_megabytes", 0),
        ("mode", "delete"),
    ],
)
def test_limits_have_bounds(
    guard: Guard, open_guard: OpenGuard, setting: str, value: object
) -> None:
    config(guard, f"maintenance: {{{setting}: {value}}}\n")
    with pytest.raises(InvalidConfig, match=f"maintenance.{setting}"):
        open_guard()


def test_a_repository_cannot_say_what_is_put_away(two: Guard, open_guard: OpenGuard) -> None:
    Path(two.workspace.folder, "config.yaml").write_text("maintenance: {idle_days: 1}\n")
    guard = open_guard()
    assert guard.config.maintenance.idle_days == 30
    assert "maintenance" in "".join(guard.status().warnings)


# What stays


def test_the_current_session_stays(guard: Guard, clock: Clock) -> None:
    at(guard, "main")
    clock.advance(31 * DAY)
    done = maintain(guard)
    assert done.found[0].kept == "it is the current session"
    assert done.archived == ()
    assert guard.status().standing == "ours"


@pytest.mark.parametrize("hold", ["halt", "override"])
def test_a_held_conversation_keeps_its_session(two: Guard, clock: Clock, hold: str) -> None:
    converse(two, "old", **{hold: Halt(at=NOW, pressure=0.9, reason="full")})
    clock.advance(31 * DAY)
    (one,) = (one for one in maintain(two).found if one.session.name == "old")
    assert "S1 is halted" in one.kept


def test_a_running_conversation_keeps_its_session(guard: Guard, open_guard: OpenGuard) -> None:
    config(guard, "maintenance: {most_sessions: 1}\n")
    at(guard, "running")
    converse(guard, "running")
    at(guard, "main")
    done = maintain(open_guard())
    assert [one.kept for one in done.found] == ["its conversation S1 may be running"]
    assert done.archived == ()


def test_another_worktrees_session_stays(
    two: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path, clock: Clock
) -> None:
    git("worktree", "add", "--quiet", "-b", "work", str(tmp_path / "linked"))
    open_guard(tmp_path / "linked").ensure()
    clock.advance(31 * DAY)
    kept = {one.session.name: one.kept for one in maintain(two).found}
    assert kept["work"].startswith("it belongs to the worktree of")


def test_a_branch_that_is_not_ours_stays(two: Guard, git: Git) -> None:
    git("update-ref", "refs/heads/gitguard/old", "refs/heads/gitguard/old~1")
    done = maintain(two)
    assert [one.kept for one in done.found] == ["its branch is moved; see `gitguard verify --all`"]


def test_a_session_in_use_is_left_for_the_next_time(two: Guard, open_guard: OpenGuard) -> None:
    with two.store(Session.of("old")).lock():
        done = maintain(open_guard())
    assert "is held by process" in done.found[0].kept
    assert [one.name for one in maintain(open_guard()).archived] == ["old"]


def test_what_cannot_be_put_away_does_not_keep_the_others(
    two: Guard, git: Git, clock: Clock, tmp_path: Path
) -> None:
    at(two, "older")
    at(two, "main")
    clock.advance(31 * DAY)
    at(two, "main")
    git("worktree", "add", "--quiet", str(tmp_path / "looked-at"), "gitguard/old")
    done = maintain(two)
    assert [one.name for one in done.archived] == ["older"]
    assert "is checked out in" in done.found[0].kept


# Put away and brought back


def test_archived_is_moved_and_nothing_is_lost(two: Guard, git: Git) -> None:
    commit = git("rev-parse", "gitguard/old")
    folder = Path(two.workspace.session_folder(Session.of("old")))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (one,) = maintain(two).archived
    assert one == Archived("old", commit, f"refs/gitguard/archive/old/{commit[:12]}", one.folder)
    assert git("rev-parse", one.ref) == commit
    assert "refs/heads/gitguard/old" not in git("for-each-ref")
    assert not folder.exists()
    assert {path.name: path.read_bytes() for path in Path(one.folder).iterdir()} == before
    assert sorted(two.sessions.heads()) == ["main"]
    assert findings(two) == []
    git.fsck()


def test_an_archived_history_is_still_verified(two: Guard) -> None:
    maintain(two)
    by_name = {report.session: report for report in two.verify(every_session=True)}
    assert by_name["old"].checkpoints == 2
    assert by_name["old"].notes[-1].startswith("it is archived; `gitguard session reopen old`")


def test_reopened_is_as_it_was(two: Guard, git: Git, open_guard: OpenGuard) -> None:
    converse(two, "old", turns=7)
    store = two.store(Session.of("old"))
    before = store.read_unlocked().state, git("rev-parse", "gitguard/old")
    conversations = read_record(two.workspace, store.session).host_sessions
    close_it(two, "old")
    guard = reopen(open_guard(), "old")
    assert (guard.state(), git("rev-parse", "gitguard/old")) == before
    assert guard.status().standing == "ours"
    assert conversations.items() <= guard.status().host_sessions.items()
    assert guard.checkpoint("It goes on.").sequence == 3
    assert findings(guard) == []
    assert "archive" not in git("for-each-ref")
    assert archived_names(guard.workspace) == []
    assert guard.workspace.faults() == []


def test_what_was_noted_since_the_last_checkpoint_is_in_a_last_one(
    guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    at(guard, "main")
    git.root.joinpath(".git/refs/heads/gitguard/main.lock").touch()
    assert guard.note({"goal": "Waiting"}).saved is not None
    with pytest.raises(Pending, match="last checkpoint is pending"):
        close_it(guard)
    assert guard.status().standing == "ours"
    git.root.joinpath(".git/refs/heads/gitguard/main.lock").unlink()
    done = close_it(guard)
    assert json.loads(git("show", f"{done.ref}:state.json"))["goal"] == "Waiting"
    assert reopen(open_guard(), "main").state().goal == "Waiting"


def test_closing_leaves_the_workspace_without_a_session(guard: Guard, git: Git) -> None:
    at(guard, "other")
    before = git.traces()
    close_it(guard)
    assert current_name(guard.workspace) == ""
    assert git.traces() == before
    with pytest.raises(NotInitialised):
        guard.state()


def test_closing_another_session_leaves_the_current_one(two: Guard) -> None:
    close_it(two, "old")
    assert current_name(two.workspace) == "main"
    assert two.status().standing == "ours"


def test_closing_twice_is_closing_once(guard: Guard) -> None:
    at(guard, "main")
    assert close_it(guard) == close_it(guard, "main")


def test_closing_what_is_not_there_is_refused(guard: Guard) -> None:
    guard.ensure()
    with pytest.raises(NotInitialised, match="`none` has neither"):
        close_it(guard, "none")


def test_closing_does_not_end_a_halt(guard: Guard) -> None:
    at(guard, "main")
    converse(guard, "main", halt=Halt(at=NOW, pressure=0.9, reason="full"))
    with pytest.raises(InvalidInput, match="`S1` of this session is halted: full"):
        close_it(guard)


def test_a_session_of_the_same_name_begins_anew_beside_the_archived_one(
    guard: Guard, git: Git, open_guard: OpenGuard
) -> None:
    at(guard, "main")
    first = close_it(guard)
    guard = open_guard()
    assert guard.ensure().how == "begun"
    assert guard.log()[0].sequence == 1
    with pytest.raises(InvalidInput, match="there is a session `main` already"):
        reopen(guard, "main")
    guard.note({"goal": "Second"})
    second = close_it(guard)
    assert findings(guard) == []
    assert reopen(open_guard(), "main").state().goal == "Second"
    close_it(guard)
    assert reopen(open_guard(), "main", first.commit[:8]).state().goal == f"{GOAL} of main"
    assert findings(guard) == []
    assert second.commit in git("for-each-ref")


def test_a_conversation_goes_on_after_its_session_was_closed(tmp_path: Path) -> None:
    conversation = Conversation(tmp_path)
    conversation.prompt()
    close_it(conversation.guard)
    assert "an older session `main` is archived" in conversation.prompt()
    close_it(conversation.guard)
    conversation.bash("ls")
    assert conversation.faults() == []
    assert current_name(conversation.guard.workspace) == "main"


@pytest.mark.parametrize("copy_is_there", [True, False])
def test_a_session_without_working_files_is_put_away_too(
    two: Guard, open_guard: OpenGuard, copy_is_there: bool
) -> None:
    session = Session.of("old")
    shutil.rmtree(two.workspace.session_folder(session))
    if not copy_is_there:
        Path(two.workspace.anchor_folder(session), "state.json").unlink()
    (one,) = maintain(two).archived
    assert (one.name, one.folder) == ("old", "")
    assert findings(two) == []
    assert reopen(open_guard(), "old").state().goal == f"{GOAL} of old"


def test_a_state_newer_than_its_checkpoint_is_not_left_behind(
    guard: Guard, open_guard: OpenGuard, git: Git
) -> None:
    at(guard, "main")
    lock = git.root / ".git" / "refs" / "heads" / "gitguard" / "main.lock"
    lock.touch()
    guard.note({"goal": "In no checkpoint"})
    lock.unlink()
    shutil.rmtree(guard.workspace.session_folder(Session.of("main")))
    with pytest.raises(MissingState):
        close_it(open_guard(), "main")
    assert open_guard().ensure().state.goal == "In no checkpoint"


def test_a_key_that_is_no_name_is_found_again(guard: Guard, open_guard: OpenGuard) -> None:
    at(guard, "feature/Größe")
    name = current_name(guard.workspace)
    close_it(guard)
    assert current_session(reopen(open_guard(), "feature/Größe").workspace).name == name
    close_it(guard)
    assert current_session(reopen(open_guard(), name).workspace).key == "feature/Größe"


def test_sessions_outside_of_branches_are_put_away_too(
    guard: Guard, open_guard: OpenGuard, git: Git
) -> None:
    config(guard, "store: {ref_prefix: refs/gitguard/}\n")
    guard = at(open_guard(), "work")
    done = close_it(guard)
    listed = git("for-each-ref", "--format=%(refname)", "refs/gitguard/").splitlines()
    assert listed == [done.ref]
    assert guard.sessions.heads() == {}
    assert reopen(open_guard(), "work").state().goal == f"{GOAL} of work"


def test_an_unknown_one_is_said_with_those_there_are(two: Guard) -> None:
    maintain(two)
    with pytest.raises(NotInitialised, match="no history of a session `none`") as refused:
        reopen(two, "none")
    assert "`old`" in refused.value.hint


# What may have happened to an archive


def test_an_archive_that_was_removed_is_found(two: Guard, git: Git) -> None:
    (one,) = maintain(two).archived
    git("update-ref", "-d", one.ref)
    assert len(findings(two)) == 1
    assert one.ref in findings(two)[0]
    with pytest.raises(NotInitialised):
        reopen(two, "old")


def test_an_archive_that_was_rewritten_is_not_brought_back(two: Guard, git: Git) -> None:
    (one,) = maintain(two).archived
    git("update-ref", one.ref, f"{one.ref}~1")
    assert one.ref in findings(two)[0]
    with pytest.raises(Tampered, match="this machine archived"):
        reopen(two, "old")
    git("update-ref", one.ref, one.commit)
    assert findings(two) == []


def test_the_archive_of_another_repository_at_the_path_is_none_of_ours(
    two: Guard, git: Git, repo: Path, open_guard: OpenGuard
) -> None:
    maintain(two)
    shutil.rmtree(repo)
    repo.mkdir()
    git.start()
    guard = open_guard()
    guard.ensure()
    assert findings(guard) == []


def test_a_link_in_the_archives_place_is_refused(two: Guard, tmp_path: Path) -> None:
    os.symlink(tmp_path, Path(two.workspace.folder, "archive"))
    with pytest.raises(InvalidDocument, match="symbolic link"):
        close_it(two, "old")
    assert two.sessions.heads().keys() == {"old", "main"}


def test_a_purge_takes_secrets_out_of_an_archived_history(
    guard: Guard, open_guard: OpenGuard, git: Git
) -> None:
    blind = at(open_guard(), "main")
    blind.workspace.redactor = Blind()
    blind.note({"goal": f"Deploy with {TOKEN}"})
    close_it(blind)
    blind = open_guard()
    blind.workspace.redactor = Blind()
    blind.ensure()
    blind.note({"goal": f"Again with {TOKEN}"})
    guard.secrets.purge("2", reason="a token was written")
    assert findings(guard) == []
    assert list(guard.secrets.scan()) == []
    newer = close_it(guard)
    every = archive_of(guard.store(Session.of("main"))).all()
    (older,) = (one for one in every if one != newer)
    assert TOKEN not in git("show", f"{older.ref}:state.json")
    assert "Deploy with" in reopen(open_guard(), "main", older.commit).state().goal


def test_signed_histories_stay_signed(
    hermetic_seal: Path, tmp_path: Path, repo: Path, clock: Clock
) -> None:
    machine, keys = Machine(hermetic_seal), SshKeys(tmp_path / "keys")
    machine.use_ssh(keys.make("here"), keys.allowed)

    def opened() -> Guard:
        return Guard(str(repo), machine.places, clock)

    at(opened(), "main")
    done = close_it(opened())
    assert findings(opened()) == []
    machine.verify(repo, done.commit)
    assert findings(reopen(opened(), "main")) == []


# Deleting


def test_only_what_is_named_is_deleted(two: Guard, git: Git, clock: Clock) -> None:
    at(two, "older")
    at(two, "main")
    clock.advance(31 * DAY)
    at(two, "main")
    done = maintain(two, "enforce", "old")
    assert [one.name for one in done.deleted] == ["old"]
    assert [one.name for one in done.archived] == ["older"]
    assert "/old/" not in git("for-each-ref")
    assert archived_names(two.workspace) == ["older"]
    assert not Path(two.workspace.anchor_folder(Session.of("old"))).exists()
    assert findings(two) == []
    with pytest.raises(NotInitialised):
        reopen(two, "old")


def test_an_archived_one_can_be_deleted_later(two: Guard, repo: Path) -> None:
    maintain(two)
    assert [one.name for one in maintain(two, "enforce", "old").deleted] == ["old"]
    assert list((repo / ".gitguard" / "archive").iterdir()) == []
    assert findings(two) == []


@pytest.mark.parametrize("name", ["main", "none", "ol", ""])
def test_nothing_else_can_be_named(two: Guard, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"`{name}` is neither due nor archived"):
        maintain(two, "enforce", name)
    assert two.sessions.heads().keys() == {"old", "main"}


def test_nothing_is_deleted_in_the_mode_warn(two: Guard) -> None:
    with pytest.raises(InvalidInput, match="deletes nothing"):
        maintain(two, "warn", "old")


# Crashes


def dying_at(open_guard: OpenGuard, number: int, act: Callable[[Guard], object]) -> bool:
    """Act in a process that dies at a step; say whether there was such a step."""
    seen = 0

    def die(_step: str) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os._exit(9)

    child = os.fork()
    if not child:
        act(open_guard(at_step=die))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_closing_can_die_at_every_step(guard: Guard, open_guard: OpenGuard, git: Git) -> None:
    number, died = 0, True
    while died:
        number += 1
        at(open_guard(), "main")
        open_guard().note({"goal": f"Goal {number}"})
        died = dying_at(open_guard, number, close_it)
        problems = findings(open_guard())
        assert problems == [], number
        close_it(open_guard(), "main")
        assert "heads/gitguard/main" not in git("for-each-ref")
        guard = reopen(open_guard(), "main")
        assert guard.state().goal == f"Goal {number}"
        assert findings(guard) == []
    assert number > 6
    git.fsck()


def test_reopening_can_die_at_every_step(guard: Guard, open_guard: OpenGuard, git: Git) -> None:
    number, died = 0, True
    while died:
        number += 1
        at(open_guard(), "main")
        open_guard().note({"goal": f"Goal {number}"})
        close_it(open_guard())
        died = dying_at(open_guard, number, lambda guard: reopen(guard, "main"))
        try:
            reopened = reopen(open_guard(), "main")
        except (NotInitialised, InvalidInput):  # it was done but for some tidying up
            reopened = open_guard()
            reopened.sessions.use(Session.of("main"))
        assert reopened.state().goal == f"Goal {number}"
        assert findings(reopened) == []
    assert number > 4
    git.fsck()


def test_deleting_can_die_at_every_step(two: Guard, open_guard: OpenGuard, git: Git) -> None:
    number, died = 0, True
    while died:
        number += 1
        at(open_guard(), "gone")
        at(open_guard(), "main")
        close_it(open_guard(), "gone")
        died = dying_at(open_guard, number, lambda guard: maintain(guard, "enforce", "gone"))
        if "gone" in archived_names(two.workspace):
            maintain(open_guard(), "enforce", "gone")
        assert "/gone" not in git("for-each-ref")
        assert findings(open_guard()) == []
    assert number > 1


def packed_lock(git: Git) -> Path:
    """Leave the lock that git takes to remove a ref."""
    path = git.root / ".git" / "packed-refs.lock"
    path.touch()
    return path


def test_a_lock_that_a_git_of_ours_left_is_cleared(
    guard: Guard, git: Git, clock: Clock, open_guard: OpenGuard
) -> None:
    """Found by killing git: nobody could remove a ref or pack refs any more."""
    at(guard, "old")
    (git.root / ".git" / "gitguard" / f"{os.getpid()}.removing").touch()
    lock = packed_lock(git)
    with pytest.raises(Pending, match="packed-refs.lock"):
        close_it(guard, "old")
    clock.advance(61)
    assert close_it(open_guard(), "old").name == "old"
    assert not lock.exists()


def test_a_lock_of_the_users_own_git_stays(
    two: Guard, git: Git, clock: Clock, open_guard: OpenGuard
) -> None:
    lock = packed_lock(git)
    clock.advance(3600)
    two.checkpoint("Cleans up.")
    with pytest.raises(Pending, match="packed-refs.lock"):
        close_it(two, "old")
    assert lock.exists()
    lock.unlink()
    assert close_it(open_guard(), "old").name == "old"


def test_a_git_at_work_keeps_its_lock(two: Guard, git: Git, clock: Clock) -> None:
    (git.root / ".git" / "gitguard" / f"{os.getpid()}.removing").touch()
    lock = packed_lock(git)
    clock.advance(3600)
    command = ["git", "cat-file", "--batch"]
    with subprocess.Popen(command, cwd=git.root, stdin=subprocess.PIPE) as at_work:
        with pytest.raises(Pending):
            close_it(two, "old")
        at_work.communicate()
    assert lock.exists()
    close_it(two, "old")


# The command line


@pytest.fixture
def typed(tmp_path: Path) -> Place:
    return Place(tmp_path / "place")


def test_the_output_names_the_command_that_brings_back(typed: Place) -> None:
    typed.type("gitguard ensure; gitguard note --goal Mine")
    said = typed.type("gitguard session close main")
    (command,) = re.findall(r"`(gitguard session reopen [^`]+)`", said)
    listed = typed.type("gitguard session list").splitlines()
    assert [line.split()[:3:2] for line in listed] == [["main", "archived"]]
    assert re.search(r"  archived  Mine \(\d+ s ago\)$", listed[0])
    assert "Session `main` continued." in typed.type(command)
    assert "Goal: Mine" in typed.type("gitguard status")


def test_beginning_anew_tells_of_the_older_one(typed: Place) -> None:
    typed.type("gitguard ensure; gitguard note --goal Mine; gitguard session close main")
    said = typed.type("gitguard ensure")
    assert "Session `main` begun." in said
    for command in re.findall(r"`(gitguard session [^`]+)`", said):
        typed.type(command)
    assert "Goal: Mine" in typed.type("gitguard status")


def test_maintenance_speaks_json(typed: Place) -> None:
    typed.type("gitguard ensure")
    document = json.loads(typed.type("gitguard session maintain --json"))
    assert document["sessions"] == 1
    assert document["found"] == document["archived"] == []


def test_deleting_is_for_people_and_asks_them(typed: Place) -> None:
    typed.type("gitguard ensure; gitguard session close main")
    command = "gitguard session maintain --mode enforce --delete main"
    assert typed.run(command, CLAUDE_CODE_SESSION_ID="S1").returncode == OwnerOnly.exit_code
    assert typed.run(command).returncode == NotConfirmed.exit_code
    assert "main" in typed.type("git for-each-ref refs/gitguard")
    assert "Deleted main" in typed.type(f"{command} --yes")
    assert typed.type("git for-each-ref refs/gitguard") == ""
