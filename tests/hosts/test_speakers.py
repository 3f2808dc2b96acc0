"""Which program is at the other end of a hook, and which of its versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gitguard.cli.sessions import _overview_text
from gitguard.hosts import find_host, find_speaker
from gitguard.hosts.claude_code import health, hooks
from gitguard.hosts.openclaw import health as openclaw_health
from tests.e2e import claude_code, openclaw_install
from tests.support.conversation import Conversation

PAYLOADS = Path(__file__).parents[1] / "payloads"
HOME = {"HOME": "/home/user"}
MARKS = {
    "claude-code": {"CLAUDECODE": "1"},
    "copilot": {"COPILOT_CLI": "1"},
    "qwen": {"QWEN_CODE_CLI": "/opt/qwen"},
    "droid": {"FACTORY_PROJECT_DIR": "/repo"},
    "kimi": {},
    "codex": {},
}
"""The variables that each host's hooks have."""
SPEAKERS = tuple(MARKS)


def recorded(host: str) -> dict[str, dict[str, Any]]:
    """Return the payloads that were recorded of a host, by their names."""
    folder = PAYLOADS / host.replace("-", "_")
    texts = {path.stem: path.read_text() for path in sorted(folder.glob("*.json"))}
    return {name: json.loads(text) for name, text in texts.items() if "hook_event_name" in text}


@pytest.mark.parametrize("named", SPEAKERS)
@pytest.mark.parametrize("host", SPEAKERS)
def test_a_payload_is_its_senders_whichever_host_the_hook_names(host: str, named: str) -> None:
    payloads = recorded(host)
    assert len(payloads) > 10
    senders = {
        name: find_speaker(named, payload, {**HOME, **MARKS[host]}).name
        for name, payload in payloads.items()
        if not (host == "claude-code" and "transcript_path" not in payload)
    }
    assert senders == dict.fromkeys(senders, host)


@pytest.mark.parametrize("outer", SPEAKERS)
@pytest.mark.parametrize("host", SPEAKERS)
def test_marks_that_were_inherited_from_another_hosts_shell_count_for_nothing(
    host: str, outer: str
) -> None:
    around = {**HOME, **MARKS[outer], **MARKS[host]}
    for name, payload in recorded(host).items():
        if payload.get("transcript_path") or host in ("copilot", "kimi"):
            assert find_speaker(host, payload, around).name == host, name


def test_a_folder_that_the_user_moved_tells_as_well() -> None:
    payload = {**recorded("claude-code")["UserPromptSubmit"], "session_id": "S2"}
    payload["transcript_path"] = "/elsewhere/projects/-repo/S2.jsonl"
    around = {**HOME, "CLAUDE_CONFIG_DIR": "/elsewhere", "COPILOT_CLI": "1"}
    assert find_speaker("claude-code", payload, around).name == "claude-code"


def test_the_versions_that_count_as_tried_are_those_that_the_tests_run() -> None:
    assert health.TRIED == (claude_code.VERSION,)
    assert openclaw_health.TRIED == openclaw_install.VERSIONS


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        ("claude-code_2-1-330_harness", "claude-code 2.1.330,"),
        ("claude-code_2-1-331_harness", "2.1.331 (not tried with this gitguard; tried: 2.1.330)"),
        ("", "claude-code, version unknown"),
    ],
)
def test_a_version_of_the_host_that_was_not_tried_is_marked_so(
    tmp_path: Path, mark: str, shown: str
) -> None:
    talk = Conversation(tmp_path)
    document = json.loads((PAYLOADS / "claude_code" / "UserPromptSubmit.json").read_text())
    document |= {"session_id": "S2", "cwd": str(talk.root)}
    around = {"CLAUDE_PROJECT_DIR": str(talk.root), "AI_AGENT": mark}
    talk.guard.handle(hooks.HOST.parse_event(document, around, talk.clock()), hooks.HOST.abilities)
    lines = _overview_text(talk.guard.status()).splitlines()
    assert any("Conversation S2" in line and shown in line for line in lines)


def test_the_version_of_a_host_that_only_its_transcript_tells_is_read_there_at_prompts() -> None:
    codex, rollout = recorded("codex"), str(PAYLOADS / "codex" / "rollout.jsonl")

    def version(event: str, transcript: str | None) -> str:
        payload = {**codex[event], "transcript_path": transcript}
        return find_host("codex").parse_event(payload, HOME, 1.0).version

    assert version("UserPromptSubmit", rollout) == version("Stop", rollout) == "0.169.0"
    assert version("PreToolUse", rollout) == "", "a call waits for no file"
    assert version("UserPromptSubmit", None) == ""
    assert version("UserPromptSubmit", __file__) == ""


def test_the_version_of_droid_is_the_one_that_was_started_last(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    transcript = tmp_path / "sessions/-repo/S.jsonl"
    payload = {**recorded("droid")["UserPromptSubmit"], "transcript_path": str(transcript)}

    def version() -> str:
        return find_host("droid").parse_event(payload, HOME, 1.0).version

    assert version() == ""
    (tmp_path / "state/last-startup-version").write_text("0.225.2\n")
    assert version() == "0.225.2"
    (tmp_path / "state/last-startup-version").write_text("some other text")
    assert version() == ""


@pytest.mark.parametrize("host", ["opencode", "pi"])
def test_a_plugin_tells_the_version_of_its_host(host: str) -> None:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": "S", "cwd": "/repo"}
    event = find_host(host).parse_event({**payload, "host_version": "1.5.0"}, HOME, 1.0)
    assert event.version == "1.5.0"
