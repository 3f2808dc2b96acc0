"""The ways in which words of a conversation come in; each has a mark that nothing else has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitguard.model.text import timestamp
from tests.support.conversation import Conversation

MARK = "Zq7Marker"
LONG = f"Never drop a row of the report, because {MARK} needs all of them. " * 30


def a_prompt(talk: Conversation) -> None:
    talk.prompt(f"Port the parser. {LONG}")


def an_answer(talk: Conversation) -> None:
    talk.prompt("ok")
    talk.send("Stop", last_assistant_message=f"The loader is mended. {LONG}")


def a_short_reply_to_a_question(talk: Conversation) -> None:
    an_answer(talk)
    talk.prompt("the second one")


def an_answer_to_a_question(talk: Conversation) -> None:
    talk.prompt("ok")
    talk.send(
        "PostToolUse.Bash",
        tool_name="AskUserQuestion",
        tool_input={"questions": []},
        tool_response={"answers": {f"Which one, {MARK}?": LONG}},
    )


def a_summary_of_the_host(talk: Conversation) -> None:
    talk.prompt("ok")
    talk.send("PreCompact.auto")
    talk.send("PostCompact", compact_summary=f"1. Pending Tasks:\n   {LONG}\n")


def a_turn_that_is_cut_off(talk: Conversation) -> None:
    talk.prompt("ok")
    talk.send("PostToolUse.Bash")
    talk.clock.pass_by(1)
    message = {"role": "assistant", "id": "m1", "content": [{"type": "text", "text": LONG}]}
    stamp = timestamp(talk.clock())
    talk._write({"type": "assistant", "timestamp": stamp, "message": message})
    talk.send("PreCompact.auto")


def words_before_the_first_hook(talk: Conversation) -> None:
    stamp = timestamp(talk.clock())
    for role in ("user", "assistant"):
        message: dict[str, Any] = {"role": role, "content": LONG}
        talk._write({"type": role, "timestamp": stamp, "message": message})
    talk.prompt("ok")


WAYS_IN: dict[str, Callable[[Conversation], None]] = {
    way.__name__: way
    for way in (
        a_prompt,
        an_answer,
        a_short_reply_to_a_question,
        an_answer_to_a_question,
        a_summary_of_the_host,
        a_turn_that_is_cut_off,
        words_before_the_first_hook,
    )
}
