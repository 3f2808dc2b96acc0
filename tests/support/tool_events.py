"""Tool calls that end, for tests of the pressure bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.conversation import Conversation


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    return talk


def after_tool(talk: Conversation, **changes: object) -> str:
    """A tool call ends; return what is added to the context."""
    return added(talk.send("PostToolUse.Bash", **changes), "PostToolUse")


def after_failure(talk: Conversation, **changes: object) -> str:
    """A tool call fails; return what is added to the context."""
    return added(talk.send("PostToolUseFailure", **changes), "PostToolUseFailure")


def added(answer: dict[str, Any], event: str) -> str:
    said = answer.get("hookSpecificOutput", {"hookEventName": event})
    assert said["hookEventName"] == event, "the host would not read it"
    return str(said.get("additionalContext", ""))
