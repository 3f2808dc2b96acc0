"""A hook reads each of its small files once, because it runs at every tool call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.conversation import Conversation
from tests.support.staged import staged_object

PAYLOADS = Path(__file__).parents[1] / "payloads" / "claude_code"
READER = """
import os, sys
def report(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and not arguments[2] & os.O_WRONLY:
        print(os.path.basename(arguments[0]), file=sys.stderr)
sys.addaudithook(report)
from gitguard.cli import hook
hook.answer(["claude-code"], sys.stdin.buffer.read())
"""


def begin_talk(folder: Path) -> Conversation:
    talk = Conversation(folder)
    talk.prompt("Begin")
    talk.uses(20_000)
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


def opened_for_reading(talk: Conversation, recorded: str) -> Counter[str]:
    """Answer an event in a process of its own; count the files that it opens, by name."""
    payload = json.loads((PAYLOADS / f"{recorded}.json").read_text(encoding="utf-8"))
    payload |= {
        "cwd": str(talk.root),
        "session_id": "S1",
        "transcript_path": str(talk.transcript),
    }
    answered = subprocess.run(
        [sys.executable, "-c", READER],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(talk.root.parent / "home"),
            "GITGUARD_STATE_DIR": str(talk.root.parent / "state"),
            "CLAUDE_PROJECT_DIR": str(talk.root),
        },
        input=json.dumps(payload),
        capture_output=True,
        check=True,
        text=True,
    )
    assert talk.faults() == []
    return Counter(answered.stderr.split())


@pytest.mark.parametrize("recorded", ["PreToolUse.Bash", "PostToolUse.Bash"])
def test_a_calm_hook_reads_the_current_session_and_its_record_once(
    talk: Conversation, recorded: str
) -> None:
    opened = opened_for_reading(talk, recorded)
    assert (opened["current"], opened["session.json"]) == (1, 1)


def test_a_compaction_reads_the_record_twice_once_of_them_under_the_lock(
    talk: Conversation,
) -> None:
    opened = opened_for_reading(talk, "PreCompact.auto")
    assert (opened["current"], opened["session.json"]) == (1, 2)
