"""The block that an agent asks for by a command of its own."""

from __future__ import annotations

from pathlib import Path

from tests.support.conversation import Conversation


def test_an_agent_that_asks_for_the_block_is_not_told_that_its_call_was_interrupted(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser to Rust, grammar by grammar")
    talk.send("PreToolUse.Bash", tool_input={"command": "gitguard resume"})
    assert "Interrupted" not in talk.guard.resume(talk.session)
