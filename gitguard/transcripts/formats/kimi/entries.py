"""The events of Kimi Code's wire logs as entries (recorded with 2.1.0, protocol 1.5).

An answer is a step of several events: its texts and its calls, each with the result behind it.
"""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    HEADER,
    MESSAGE,
    RESULT,
    TEXT,
    THINKING,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.transcripts import jsonl
from gitguard.transcripts.blocks import blocks_of, call, plain, text_and_size, word
from gitguard.transcripts.entries import inner, tokens
from gitguard.transcripts.formats.kimi.lines import KINDS, is_users, time_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_INPUT = ("inputOther", "inputCacheRead", "inputCacheCreation")
_ROLES = {"user": USER, "assistant": AGENT, "tool": TOOL}
_EXITED, _FAILED = "Process exited with code ", "Command failed with exit code: "
"""How the result of a command that failed begins."""


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset."""
    return jsonl.entries(path, since, fields_of)


def fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    kind = word(line.get("type"))
    fields: dict[str, Any] = {"kind": KINDS.get(kind, UNKNOWN), "time": time_in(line)}
    if kind == "metadata":
        fields["kind"] = HEADER
    elif kind == "context.apply_compaction":
        fields["blocks"] = (Block.saying(TEXT, 0, word(line.get("summary"))),)
    elif kind == "usage.record" and line.get("usageScope") == "turn":
        fields["tokens"] = tokens(line.get("usage"), _INPUT)
    elif kind == "context.append_message":
        fields |= _message(inner(line, "message"))
    elif kind == "context.append_loop_event":
        fields |= _event(inner(line, "event"))
    return fields


def _message(message: dict[str, Any]) -> dict[str, Any]:
    role = _ROLES.get(word(message.get("role")))
    if role is None:
        return {}
    return {
        "kind": MESSAGE,
        "id": word(message.get("id")),
        "role": role,
        "blocks": blocks_of(message.get("content"), _block),
        "by_host": role == USER and not is_users(message.get("origin")),
    }


def _event(event: dict[str, Any]) -> dict[str, Any]:
    kind, step = event.get("type"), word(event.get("stepUuid"))
    if kind == "content.part":
        block = _block(0, inner(event, "part"))
        return {"kind": MESSAGE, "role": AGENT, "message": step, "blocks": (block,)}
    if kind == "tool.call":
        named = {"id": event.get("toolCallId"), "name": event.get("name")}
        block = call(0, named, event.get("args"))
        return {"kind": MESSAGE, "role": AGENT, "message": step, "blocks": (block,)}
    if kind == "tool.result":
        return {"kind": MESSAGE, "role": TOOL, "blocks": (_result(event),)}
    return {}


def _block(at: int, part: dict[str, Any]) -> Block:
    if part.get("type") == "think":
        return Block.saying(THINKING, at, word(part.get("think")))
    return plain(at, part)


def _result(event: dict[str, Any]) -> Block:
    outcome = inner(event, "result")
    text, size = text_and_size(outcome.get("output"))
    is_error = outcome.get("isError") is True
    code = _exit_code(text) if is_error else ""
    return Block(
        RESULT,
        0,
        text,
        id=word(event.get("toolCallId")),
        is_error=is_error,
        exit_code=int(code) if code.isdecimal() else None,
        size=size,
    )


def _exit_code(text: str) -> str:
    """Return the exit code of a command that failed, from the first line or the last one."""
    if text.startswith(_EXITED):
        return text.partition("\n")[0].removeprefix(_EXITED)
    last = text.rstrip().rpartition("\n")[2]
    return last.removeprefix(_FAILED).rstrip(".") if last.startswith(_FAILED) else ""
