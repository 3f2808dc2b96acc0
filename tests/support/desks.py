"""Machines at which an agent works in a conversation, each with a clone of one remote."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Git
from tests.support.conversation import Clock, Conversation
from tests.support.synced_machines import Machine


def desk(folder: Path, name: str, clock: Clock) -> tuple[Machine, Conversation]:
    """Clone the remote of a folder on one more machine; return it, and a conversation there."""
    home = folder / name
    Git(folder)("clone", "--quiet", str(folder / "remote.git"), str(home / "repo"))
    for setting, value in (("user.name", name), ("user.email", f"{name}@example.invalid")):
        Git(home / "repo")("config", setting, value)
    machine = Machine(home / "repo", home, clock, str)
    machine.guard.ensure()
    return machine, Conversation(home, f"at-{name}", clock)


def writes(conversation: Conversation, path: str, content: str) -> None:
    """The agent writes a file."""
    place = {"file_path": str(conversation.root / path), "content": content}
    call = f"call-{path}-{content}"
    conversation.send("PreToolUse.Write", tool_input=place, tool_use_id=call)
    (conversation.root / path).write_text(content, encoding="utf-8")
    conversation.send("PostToolUse.Write", tool_input=place, tool_use_id=call)


def joined(giver: Machine, taker: Machine) -> None:
    """Push what the giver has, and take it on the other machine."""
    giver.settled()
    taker.sync(pushes=False)
    taker.trust(giver)
    taker.sync(pushes=False)
