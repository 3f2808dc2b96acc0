"""The installed hook command: whatever happens, it never hurts the host that calls it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitguard.cli import hook
from gitguard.errors import GitFailed
from gitguard.hooks import answering
from gitguard.hosts.claude_code import hooks as claude_code
from gitguard.hosts.claude_code import installing
from gitguard.hosts.dialect import KINDS
from gitguard.model.events import HookReply
from gitguard.store.git import plumbing
from tests.support.conversation import Conversation
from tests.support.hook_processes import COMMAND, payload, run_hook, talk, tmp_path
from tests.support.hook_replies import denies
from tests.support.waiting import is_alive, wait_until

__all__ = ["talk", "tmp_path"]

BAD_INPUT = {
    "nothing": b"",
    "not JSON": b"hello",
    "torn": b'{"session_id": "S1"',
    "a list": b"[]",
    "duplicate keys": b'{"session_id": "a", "session_id": "b"}',
    "no session": b'{"hook_event_name": "Stop"}',
    "wrong types": b'{"session_id": 7, "hook_event_name": []}',
    "deep": b'{"a":' * 100_000,
    "not UTF-8": b'{"session_id": "\xff"}',
    "NaN": b'{"session_id": NaN}',
}


@pytest.mark.parametrize("data", BAD_INPUT.values(), ids=BAD_INPUT.keys())
def test_bad_input_gets_a_neutral_answer_and_a_loud_mark(talk: Conversation, data: bytes) -> None:
    done = run_hook(talk, data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(talk.faults()) == 1


def test_an_event_of_a_newer_host_gets_a_neutral_answer(talk: Conversation) -> None:
    done = run_hook(talk, payload(talk, "Stop", hook_event_name="Telepathy", thoughts=["hm"]))
    assert (done.returncode, done.stdout) == (0, b"")
    assert talk.faults() == []


@pytest.mark.parametrize("arguments", [("unheard-of",), (), ("claude-code", "more")])
def test_wrong_arguments_end_with_zero(talk: Conversation, arguments: tuple[str, ...]) -> None:
    command = [str(COMMAND), "hook", *arguments]
    done = subprocess.run(
        command, cwd=talk.root, input=b"{}", capture_output=True, check=False, timeout=30
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_outside_a_repository_the_hook_says_nothing(talk: Conversation, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    data = payload(talk, "UserPromptSubmit", cwd=str(outside))
    done = run_hook(talk, data, CLAUDE_PROJECT_DIR=str(outside))
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_folder_that_is_gone_is_no_error(talk: Conversation, tmp_path: Path) -> None:
    done = run_hook(talk, payload(talk, "Stop"), CLAUDE_PROJECT_DIR=str(tmp_path / "gone"))
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_wrong_configuration_stops_no_agent_and_is_said(talk: Conversation) -> None:
    (talk.root / ".gitguard/config.yaml").write_text("thresholds: {critical: 7}\n")
    done = run_hook(talk, payload(talk, "PreToolUse.Bash"))
    assert (done.returncode, done.stdout) == (0, b"")
    (talk.root / ".gitguard/config.yaml").unlink()
    assert any("thresholds.critical" in fault for fault in talk.faults())


def test_half_a_surrogate_in_a_prompt_is_spelled_out(talk: Conversation) -> None:
    done = run_hook(talk, payload(talk, "UserPromptSubmit", prompt="caf\ud83d now"))
    assert done.returncode == 0
    assert talk.guard.state().goal == "caf\\ud83d now"
    assert talk.faults() == []


def test_a_lock_held_by_a_living_process_is_said_and_stops_nobody(talk: Conversation) -> None:
    with talk.guard.store().lock():
        done = run_hook(talk, payload(talk, "Stop"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert any("is held by process" in fault for fault in talk.faults())


def test_the_calm_hook_starts_no_git_and_loads_no_heavy_library(talk: Conversation) -> None:
    talk.prompt("Begin")
    talk.uses(20_000)
    event = talk.root.parent / "event.json"
    event.write_bytes(payload(talk, "PreToolUse.Bash", session_id="S1"))
    program = (
        "import sys; from gitguard.cli import hook; "
        f"hook.answer(['claude-code'], open({str(event)!r}, 'rb').read()); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            "PATH": "/nowhere",
            "HOME": str(talk.root.parent / "home"),
            "GITGUARD_STATE_DIR": str(talk.root.parent / "state"),
            "CLAUDE_PROJECT_DIR": str(talk.root),
        },
        capture_output=True,
        check=True,
        text=True,
    )
    heavy = {"click", "git", "gitdb", "jinja2", "ruamel", "ruamel.yaml", "subprocess"}
    heavy |= {"pathlib", "dataclasses", "hashlib", "datetime", "typing", "contextlib"}
    assert heavy & set(done.stdout.split()) == set()
    assert talk.faults() == []


# Time limits


HANGING_GIT = """#!/bin/sh
trap '' TERM
sleep 300 &
echo $! >> "$(dirname "$0")/children"
wait
sleep 300
"""


def hanging_git(folder: Path) -> Path:
    """A `git` that never answers, ignores being asked to end and has a child with our pipes."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "git").write_text(HANGING_GIT)
    (bin_folder / "git").chmod(0o755)
    return bin_folder


def test_a_hook_that_runs_out_of_time_ends_itself_and_says_so(
    talk: Conversation, tmp_path: Path
) -> None:
    folder = hanging_git(tmp_path)
    # The host waits for 15 s at the end of a turn. Until it is known which event it is, and for the
    # last words, there is more time than a busy machine takes.
    limits = "hook.MARGIN, hook._SHORTEST_LIMIT, hook._LAST_WORDS = 13.5, 40, 20"
    program = f"from gitguard.cli import hook; {limits}; hook.run(['claude-code'])"
    talk.prompt("Begin")
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd="/",
        env={
            "PATH": f"{folder}:/usr/bin:/bin",
            "HOME": str(tmp_path / "home"),
            "GITGUARD_STATE_DIR": str(tmp_path / "state"),
            "CLAUDE_PROJECT_DIR": str(talk.root),
        },
        input=payload(talk, "Stop", session_id="S1"),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert time.monotonic() - started < 60
    assert (done.returncode, done.stdout) == (0, b"")
    assert any("Overdue" in fault for fault in talk.faults())
    children = (folder / "children").read_text().split()
    assert children
    wait_until(lambda: not any(is_alive(int(pid)) for pid in children))


def test_a_halt_is_denied_even_where_saving_it_takes_longer_than_the_host_waits(
    talk: Conversation, tmp_path: Path
) -> None:
    folder = hanging_git(tmp_path)
    limits = "hook.MARGIN, hook._SHORTEST_LIMIT, hook._LAST_WORDS = 13.5, 40, 20"
    program = f"from gitguard.cli import hook; {limits}; hook.run(['claude-code'])"
    talk.prompt("Begin")
    talk.uses(190_000)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd="/",
        env={
            "PATH": f"{folder}:/usr/bin:/bin",
            "HOME": str(tmp_path / "home"),
            "GITGUARD_STATE_DIR": str(tmp_path / "state"),
            "CLAUDE_PROJECT_DIR": str(talk.root),
        },
        input=payload(talk, "PreToolUse.Bash", session_id="S1"),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert denies(json.loads(done.stdout))
    assert any("Overdue" in fault for fault in talk.faults())


def test_a_halt_is_decided_before_anything_is_looked_at_folded_or_searched(
    talk: Conversation,
) -> None:
    talk.prompt("Begin")
    talk.uses(190_000)
    before = talk.triggers()
    told: list[tuple[HookReply, list[str]]] = []
    event = claude_code.HOST.parse_event(
        json.loads(payload(talk, "PreToolUse.Bash", session_id=talk.session)), {}, talk.clock()
    )
    answer = answering.handle(
        talk.guard.workspace,
        talk.guard.config,
        event,
        abilities=claude_code.HOST.abilities,
        decide=lambda reply: told.append((reply, talk.triggers())),
    )
    (decided, then), *more = told
    assert not more
    assert then == before
    assert decided.refuse
    assert "saved" not in decided.refuse
    assert "saved in checkpoint" in answer.refuse
    assert talk.triggers() != before


@pytest.mark.parametrize("asks", [True, False])
def test_a_git_that_hangs_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: bool
) -> None:
    monkeypatch.setattr(plumbing, "TIME_LIMIT", 0.3)
    folder = hanging_git(tmp_path)
    process = plumbing.GitProcess([str(folder / "git")], {"PATH": "/usr/bin:/bin"}, "/")
    started = time.monotonic()
    with pytest.raises(GitFailed, match="within"):
        process.ask("info x") if asks else process.finish()
    assert process.finish().returncode != 0
    assert time.monotonic() - started < 5
    children = (folder / "children").read_text().split()
    wait_until(lambda: not any(is_alive(int(pid)) for pid in children))


def test_a_hook_ends_itself_before_its_host_would_end_it() -> None:
    for name, kind in KINDS.items():
        hooks = installing.merge({}, "x")["hooks"][name]
        assert claude_code.HOST.time_limit(kind) == hooks[0]["hooks"][0]["timeout"]
        assert claude_code.HOST.time_limit(kind) >= hook._SHORTEST_LIMIT  # noqa: SLF001


def test_bad_input_is_marked_in_the_project_wherever_the_shell_is(
    talk: Conversation, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    program = "from gitguard.cli import hook; hook.run(['claude-code'])"
    for i, name in enumerate(("CLAUDE_PROJECT_DIR", "GITGUARD_ROOT")):
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=elsewhere,
            env={"GITGUARD_STATE_DIR": str(tmp_path / "state"), name: str(talk.root)},
            input=b"hello" * (i + 1),
            check=True,
            timeout=30,
        )
    assert sum(fault.get("times", 1) for fault in talk.guard.status().faults) == 2


def test_a_hosts_agent_cannot_say_that_it_was_compacted(talk: Conversation) -> None:
    command = [str(COMMAND), "gate", "--host-session", "S1", "--pressure", "0.1", "--compacted"]
    done = subprocess.run(
        command,
        cwd=talk.root,
        env={"PATH": "/usr/bin:/bin", "HOME": str(talk.root), "CLAUDE_CODE_SESSION_ID": "S2"},
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )
    assert (done.returncode, "for a human" in done.stderr) == (37, True)


# Marks


def status(talk: Conversation, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), "status", *arguments],
        cwd=talk.root,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(talk.root.parent / "home"),
            "GITGUARD_STATE_DIR": str(talk.root.parent / "state"),
        },
        capture_output=True,
        check=False,
        text=True,
        timeout=30,
    )


def test_no_mark_is_written_through_a_linked_folder(talk: Conversation, tmp_path: Path) -> None:
    shutil.rmtree(talk.root / ".gitguard")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (talk.root / ".gitguard").symlink_to(foreign)
    run_hook(talk, payload(talk, "PreToolUse.Bash"))
    (foreign / "faults.jsonl").write_text('{"error": "not ours"}\n')
    shown = status(talk).stdout
    assert "symbolic link" in shown
    assert "not ours" not in shown
    assert (foreign / "faults.jsonl").read_text() == '{"error": "not ours"}\n'


def test_a_fault_that_repeats_is_told_once_and_hides_no_newer_one(talk: Conversation) -> None:
    workspace = talk.guard.workspace
    for _ in range(1500):
        workspace.note_fault("answering stop", ValueError("again"))
        talk.clock.pass_by(1)
    workspace.note_fault("answering stop", ValueError("new"))
    again, new = talk.guard.status().faults
    assert (again["times"], again["error"]) == (1500, "ValueError: again")
    assert again["last"] > again["at"]
    assert new["error"] == "ValueError: new"
    assert "(1500 times, last " in status(talk).stdout


def test_of_many_different_faults_the_newest_are_kept(talk: Conversation) -> None:
    workspace = talk.guard.workspace
    for i in range(400):
        workspace.note_fault("answering stop", ValueError(f"{i} " + "x" * 400))
        talk.clock.pass_by(1)
    faults = [fault["error"].split()[1] for fault in talk.guard.status().faults]
    assert faults == [str(i) for i in range(400 - len(faults), 400)]
    assert (talk.root / ".gitguard/faults.jsonl").stat().st_size < 70_000


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_faults_are_told_before_a_configuration_that_does_not_read(
    talk: Conversation, arguments: tuple[str, ...]
) -> None:
    config = talk.root.parent / "home" / ".config" / "gitguard"
    config.mkdir(parents=True)
    (config / "config.yaml").write_text("thresholds: {critical: 7}\n")
    run_hook(talk, payload(talk, "PreToolUse.Bash"))
    done = status(talk, *arguments)
    assert done.returncode != 0
    assert "answering tool-start" in done.stdout
    assert "thresholds.critical" in done.stdout
