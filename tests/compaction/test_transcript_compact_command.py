"""The command that compacts: the session around it, the user's summarizer, and what is printed."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from gitguard.compaction.with_session import owner_of
from gitguard.errors import NotARepository, NotInitialised
from gitguard.guard import Guard
from gitguard.model.events import Transcript
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import HostSession
from gitguard.store.session.workspace import Session
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import context_of
from tests.conftest import Git
from tests.support.compacting_user import COMMAND, User, conversation, user
from tests.support.spoken import turns
from tests.support.summarizers import runs
from tests.support.waiting import wait_until

__all__ = ["user"]


def summary_of(transcript: Transcript) -> str:
    return context_of(find_format(transcript.format).entries(transcript)).summary


# The session


def test_the_session_is_checkpointed_and_its_state_told(user: User, tmp_path: Path) -> None:
    user.run("ensure")
    user.run("note", "--goal", "Ship it", "--next", "Run it", "--decision", "Git", "--why", "small")
    (user.root / "AGENTS.md").write_text("## Red Lines\nNever push.\n")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.json("transcript", "compact", transcript.path)
    assert [saved["trigger"] for saved in done["checkpoints"]] == ["compaction"] * 2
    assert done["notes"] == []
    for text in ("Ship it", "Run it", "Git — because small", "Never push."):
        assert text in summary_of(transcript)
    [after, before, *_] = user.json("log")["checkpoints"]
    assert before["why"] == "Before a compaction of 48 messages."
    assert after["why"].startswith("Compacted 48 messages to 19, about ")


def test_a_conversation_of_elsewhere_is_none_of_the_sessions(user: User, tmp_path: Path) -> None:
    user.run("ensure")
    user.run("note", "--goal", "Ship it")
    before = user.json("log")
    transcript = conversation(tmp_path, tmp_path / "elsewhere", turns(8))
    done = user.run("transcript", "compact", transcript.path)
    assert "The conversation belongs to no session here" in done.stdout
    assert "Ship it" not in summary_of(transcript)
    assert user.json("log") == before


def test_outside_of_a_repository_it_compacts_all_the_same(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, tmp_path, turns(8))
    done = user.run("transcript", "compact", transcript.path, cwd=tmp_path)
    assert "Messages: 48 before, 19 after" in done.stdout
    assert "characters, mechanically" in done.stdout


def forked(user: User, transcript: Transcript) -> None:
    """Import a conversation to `main` and to its fork `two`, which has another goal."""
    user.run("ensure")
    user.run("note", "--goal", "Goal of main")
    user.run("transcript", "import", transcript.path)
    user.run("session", "fork", "two")
    user.run("note", "--goal", "Goal of two")
    user.run("transcript", "import", transcript.path)


@pytest.mark.parametrize(
    ("current", "named"), [("two", ""), ("two", "two"), ("main", "two"), ("two", "main")]
)
def test_after_a_fork_the_named_session_or_the_current_one_counts(
    current: str, named: str, user: User, tmp_path: Path
) -> None:
    transcript = conversation(tmp_path, user.root, turns(8))
    forked(user, transcript)
    user.run("session", "use", current)
    wanted = named or current
    done = user.run("transcript", "compact", transcript.path, GITGUARD_SESSION=named)
    assert f"Session: {wanted}" in done.stdout
    assert f"Goal of {wanted}" in summary_of(transcript)
    triggers = {
        name: [saved["trigger"] for saved in user.json("log", "--session", name)["checkpoints"]]
        for name in ("main", "two")
    }
    assert {name for name, every in triggers.items() if "compaction" in every} == {wanted}


def test_the_compaction_tells_programs_whose_it_was(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, user.root, turns(8))
    forked(user, transcript)
    done = user.json("--session", "main", "transcript", "compact", transcript.path)
    assert done["session"] == "main"


def test_a_conversation_belongs_to_whom_its_hooks_told(guard: Guard, tmp_path: Path) -> None:
    guard.ensure()
    transcript = conversation(tmp_path, tmp_path, turns(4))
    workspace, current = guard.workspace, current_session(guard.workspace)
    assert owner_of(workspace, transcript, str(tmp_path)) is None
    assert owner_of(workspace, transcript, workspace.place.worktree) == current
    other = guard.sessions.find("agent:main:dm:1")
    guard.sessions.use(other)
    guard.sessions.use(current)
    tell(guard, other, transcript)
    assert owner_of(workspace, transcript, workspace.place.worktree) == other
    assert owner_of(workspace, transcript, str(tmp_path)) == other


def test_of_many_in_one_place_each_has_its_own_session(guard: Guard, tmp_path: Path) -> None:
    guard.ensure()
    one, two = (Transcript(str(tmp_path), "openclaw", name) for name in ("one", "two"))
    sessions = [guard.sessions.find(f"agent:main:{number}") for number in (1, 2)]
    for session, transcript in zip(sessions, (one, two), strict=True):
        guard.sessions.use(session)
        guard.sessions.use(guard.sessions.find("main"))
        tell(guard, session, transcript)
    assert [owner_of(guard.workspace, each, "") for each in (one, two)] == sessions
    by_path = Transcript(str(tmp_path / "sessions" / "two.jsonl"), "openclaw", "two")
    assert owner_of(guard.workspace, by_path, "") == sessions[1]


def test_a_damaged_session_of_somebody_else_is_in_nobodys_way(user: User, tmp_path: Path) -> None:
    user.run("ensure", "--session", "other")
    (user.root / ".gitguard/sessions/other/session.json").write_text("{")
    user.run("ensure")
    transcript = conversation(tmp_path, user.root, turns(8))
    assert user.json("transcript", "compact", transcript.path)["notes"] == []


@pytest.mark.parametrize(
    "folder", ["", "here", "/no\0thing", "/" + "x" * 5_000, "/nowhere", "/dev/null"]
)
def test_a_folder_that_is_none_is_in_nobodys_way(folder: str, user: User, tmp_path: Path) -> None:
    user.run("ensure")
    transcript = conversation(tmp_path, Path("/repo"), turns(8))
    path = Path(transcript.path)
    path.write_text(path.read_text().replace('"cwd": "/repo"', f'"cwd": {json.dumps(folder)}'))
    assert user.json("transcript", "compact", transcript.path)["checkpoints"] == []


def tell(guard: Guard, session: Session, transcript: Transcript) -> None:
    """Record a conversation as hooks do."""
    record = HostSession(
        started_at="2026-01-01T00:00:00Z",
        transcript=transcript.path,
        transcript_format=transcript.format,
        transcript_session=transcript.session,
    )
    keep_conversation(guard.workspace, session, transcript.session, record)


def test_a_session_without_state_stops_nothing(user: User, tmp_path: Path) -> None:
    user.run("ensure")
    [state] = (user.root / ".gitguard").glob("sessions/*/state.json")
    state.write_text("{")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.json("transcript", "compact", transcript.path)
    assert any("no checkpoint" in note for note in done["notes"])
    assert summary_of(transcript)


@pytest.mark.parametrize("begun", [True, False])
def test_a_named_session_that_is_not_there_is_refused_before_anything_is_touched(
    begun: bool, user: User, tmp_path: Path
) -> None:
    if begun:
        user.run("ensure")
    transcript = conversation(tmp_path, user.root, turns(8))
    before, path = Path(transcript.path).read_bytes(), transcript.path
    done = user.run("transcript", "compact", path, "--session", "typo", check=False)
    assert "the session `typo` has neither state nor checkpoints here" in done.stderr
    assert done.returncode == NotInitialised.exit_code
    assert Path(path).read_bytes() == before
    assert not list(user.root.glob(".git/gitguard/typo*"))


def test_a_session_that_is_named_where_there_is_none_is_refused(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, tmp_path, turns(8))
    before, variables = Path(transcript.path).read_bytes(), {"GITGUARD_SESSION": "typo"}
    done = user.run(
        "transcript", "compact", transcript.path, cwd=tmp_path, check=False, **variables
    )
    assert done.returncode == NotARepository.exit_code
    assert Path(transcript.path).read_bytes() == before


# The summarizer


def test_the_users_own_summarizer_is_asked(user: User, tmp_path: Path) -> None:
    user.summarizer(f"cat > {tmp_path}/given; echo They talked.")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.json("transcript", "compact", transcript.path)
    assert (done["summarized_by"], done["complaints"]) == ("command", [])
    assert "They talked." in summary_of(transcript)
    assert "request 0" not in summary_of(transcript)
    given = (tmp_path / "given").read_text()
    assert "User: request 0" in given
    assert "request 5" not in given, "what is kept is not summarized"


def test_a_repository_cannot_set_a_summarizer_up(user: User, tmp_path: Path) -> None:
    user.run("ensure")
    own = user.root / ".gitguard" / "config.yaml"
    own.write_text(f"summarizer: {json.dumps(['sh', '-c', f'touch {tmp_path}/ran; echo mine'])}\n")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.json("transcript", "compact", transcript.path)
    assert done["summarized_by"] == "mechanical"
    assert not (tmp_path / "ran").exists()
    assert "`summarizer`" in user.run("status", check=False).stdout


@pytest.mark.parametrize("held_in", ["", "elsewhere"])
def test_a_program_of_the_repository_is_no_summarizer(
    held_in: str, user: User, tmp_path: Path
) -> None:
    user.run("ensure")
    program = user.root / "bin" / "summarize"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    user.config.write_text("summarizer: [summarize]\n")
    transcript = conversation(tmp_path, tmp_path / held_in if held_in else user.root, turns(8))
    path = f"{program.parent}:{os.environ['PATH']}"
    done = user.run("transcript", "compact", transcript.path, check=False, PATH=path)
    assert done.returncode == 22
    assert "not a program on your PATH" in done.stderr
    assert not (tmp_path / "ran").exists()
    user.run("transcript", "compact", transcript.path, "--mechanical")


def test_a_summarizer_that_fails_is_asked_again_and_said(user: User, tmp_path: Path) -> None:
    user.summarizer(f"echo x >> {tmp_path}/asked; echo no credit >&2; exit 3")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.run("transcript", "compact", transcript.path)
    assert (tmp_path / "asked").read_text() == "x\n" * 3
    assert "trying again" in done.stderr
    assert "The summarizer did not answer: it ended with 3: no credit" in done.stdout
    assert "- User: request 0" in summary_of(transcript)


def test_the_size_of_a_chunk_is_a_setting_and_what_is_refused_is_halved(
    user: User, tmp_path: Path
) -> None:
    given = tmp_path / "given"
    user.summarizer(f"""
        cat > {given}.$$
        if test $(wc -c < {given}.$$) -gt 6000; then echo too long >&2; exit 3; fi
        echo They talked.""")
    with user.config.open("a") as config:
        config.write("compaction: {chunk_tokens: 2000}\n")
    transcript = conversation(tmp_path, user.root, turns(20, size=1_000))
    done = user.json("transcript", "compact", transcript.path)
    assert (done["summarized_by"], done["complaints"]) == ("command", [])
    texts = [path.read_text() for path in tmp_path.glob("given.*")]
    assert 6_000 < max(map(len, texts)) < 10_000
    taken = "".join(text for text in texts if len(text) <= 6_000)
    assert [n for n in range(17) if f"User: request {n}\n" not in taken] == []


def test_a_chunk_that_is_too_small_is_refused(user: User, tmp_path: Path) -> None:
    user.config.write_text("compaction: {chunk_tokens: 999}\n")
    transcript = conversation(tmp_path, user.root, turns(8))
    done = user.run("transcript", "compact", transcript.path, check=False)
    assert done.returncode == 22
    assert "`compaction.chunk_tokens` is 999; it must be 0, or at least 1,000" in done.stderr


def test_a_summarizer_that_is_an_agent_changes_no_state(
    user: User, tmp_path: Path, git: Git
) -> None:
    user.run("ensure")
    user.run("note", "--goal", "Ship it")
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "another",
        "prompt": "summarize this",
        "cwd": str(user.root),
        "transcript_path": str(tmp_path / "none.jsonl"),
    }
    # As a host does that the user set up with gitguard's hooks in all their projects.
    calls_hooks = f"printf %s {shlex.quote(json.dumps(event))} | {COMMAND} hook claude-code"
    before = whole_state(user)
    program = f"CLAUDE_PROJECT_DIR={user.root} sh -c {shlex.quote(calls_hooks)}; echo They talked."
    user.summarizer(program)
    transcript = conversation(tmp_path, tmp_path / "elsewhere", turns(8))
    traces = git.traces()
    user.run("transcript", "compact", transcript.path)
    assert "They talked." in summary_of(transcript)
    assert (whole_state(user), git.traces()) == (before, traces)
    # The same call does change the state where hooks are on.
    subprocess.run(["sh", "-c", program], env=user.environment, check=True, capture_output=True)
    assert whole_state(user) != before


def whole_state(user: User) -> dict[str, bytes]:
    """All that gitguard keeps, but for the memory of what the user's configuration says."""
    folders = (user.root / ".gitguard", user.home / ".local" / "state" / "gitguard")
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in found if path.name != "config.json"}


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGHUP, -signal.SIGHUP)],
)
def test_ending_the_command_ends_the_summarizer(
    number: signal.Signals, code: int, user: User, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    user.summarizer(f"sleep 60 & echo $! > {pid_file}.new; mv {pid_file}.new {pid_file}; wait")
    transcript = conversation(tmp_path, user.root, turns(8))
    before = Path(transcript.path).read_bytes()
    process = subprocess.Popen(
        [COMMAND, "transcript", "compact", transcript.path],
        cwd=user.root,
        env=user.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(pid_file.exists, 20, "the summarizer was never asked")
    process.send_signal(number)
    assert process.wait(20) == code
    assert Path(transcript.path).read_bytes() == before
    assert not list(tmp_path.glob("*lock*"))
    pid = pid_file.read_text().strip()
    wait_until(lambda: not runs(pid), 10, "the summarizer still runs")


def test_a_signal_that_is_ignored_ends_no_command(user: User, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    user.summarizer(f"touch {asked}; sleep 2; echo They talked.")
    transcript = conversation(tmp_path, user.root, turns(8))
    words = shlex.join([COMMAND, "transcript", "compact", transcript.path])
    process = subprocess.Popen(
        ["sh", "-c", f"trap '' HUP; exec {words}"], cwd=user.root, env=user.environment
    )
    wait_until(asked.exists, 20, "the summarizer was never asked")
    process.send_signal(signal.SIGHUP)
    assert process.wait(20) == 0
    assert "They talked." in summary_of(transcript)


def test_of_two_at_the_same_time_one_comes_after_the_other(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, user.root, turns(8))
    command = [COMMAND, "transcript", "compact", transcript.path]
    both = [
        subprocess.Popen(command, cwd=user.root, env=user.environment, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    said = [process.communicate(timeout=60)[1].decode() for process in both]
    assert sorted(process.returncode for process in both) == [0, 23]
    assert any("nothing to summarize" in text for text in said)
    found = context_of(find_format(transcript.format).entries(transcript))
    assert found.compactions == 1


def test_a_killed_one_leaves_the_file_as_it_was_and_no_lock_behind(
    user: User, tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    user.summarizer(f"echo $$ > {asked}.new; mv {asked}.new {asked}; exec sleep 60")
    transcript = conversation(tmp_path, user.root, turns(8))
    before = Path(transcript.path).read_bytes()
    process = subprocess.Popen(
        [COMMAND, "transcript", "compact", transcript.path], cwd=user.root, env=user.environment
    )
    wait_until(asked.exists, 20, "the summarizer was never asked")
    process.kill()
    process.wait(20)
    os.kill(int(asked.read_text()), signal.SIGKILL)
    assert Path(transcript.path).read_bytes() == before
    user.run("transcript", "compact", transcript.path, "--mechanical")
    assert summary_of(transcript)


# What is printed


def test_a_rehearsal_shows_the_summary(user: User, tmp_path: Path) -> None:
    user.summarizer(f"touch {tmp_path}/ran")
    transcript = conversation(tmp_path, user.root, turns(8))
    before = Path(transcript.path).read_bytes()
    done = user.run("transcript", "compact", transcript.path, "--dry-run")
    assert "Nothing was changed." in done.stdout
    assert "# Where this conversation stands" in done.stdout
    assert Path(transcript.path).read_bytes() == before
    assert not (tmp_path / "ran").exists()


def test_on_a_terminal_it_shows_how_far_it_is(user: User, tmp_path: Path) -> None:
    user.summarizer("sleep 2.5; echo They talked.")
    transcript = conversation(tmp_path, user.root, turns(8))
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "transcript", "compact", transcript.path],
        cwd=user.root,
        env=user.environment,
        stdout=subprocess.DEVNULL,
        stderr=inner,
    )
    assert process.wait(60) == 0
    os.close(inner)
    assert b"0 of 1 parts" in os.read(outer, 4096)
    os.close(outer)


def test_the_window_and_the_turns_can_be_given(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, user.root, turns(40, size=2_000))
    options = ("--window", "32000", "--keep-turns", "1")
    done = user.json("transcript", "compact", transcript.path, *options)
    assert done["window"] == 32_000
    assert done["budget"] < 32_000
    assert done["messages_after"] == 7


def test_what_is_wrong_is_said_with_the_way_out(user: User, tmp_path: Path) -> None:
    transcript = conversation(tmp_path, user.root, turns(2))
    done = user.run("transcript", "compact", transcript.path, check=False)
    assert done.returncode == 23
    assert "nothing to summarize" in done.stderr
    assert "--keep-turns" in done.stderr
    assert "Traceback" not in done.stderr
    missing = user.run("transcript", "compact", str(tmp_path / "none.jsonl"), check=False)
    assert missing.returncode == 24
