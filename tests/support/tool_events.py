"""Tool calls that end, for tests of the pressure bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.conversation import Conversation
from tests.support.staged import staged_object


def begin_talk(folder: Path) -> Conversation:
    talk = Conversation(folder)
    talk.prompt("Begin")
    return talk


tmp_path, talk = staged_object("talk", begin_talk)


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
