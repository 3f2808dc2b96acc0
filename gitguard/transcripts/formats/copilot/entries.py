"""The events of Copilot CLI's logs as entries (recorded with 1.0.102)."""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
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
from gitguard.transcripts.blocks import call, word
from gitguard.transcripts.entries import inner, time_of, tokens
from gitguard.transcripts.formats.copilot.lines import is_compaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_STARTED = b'"session.compaction_start"'


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset.

    What was said while a compaction ran stays in the context, from the event of its start on.
    """
    started = ""
    for entry in jsonl.entries(path, since, fields_of):
        if entry.kind == UNKNOWN and _STARTED in entry.raw:
            started = entry.id
        if entry.kind == COMPACTION and started:
            yield entry.replace(kept=(started,), keeps_on=True)
        else:
            yield entry


def fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    kind, data = line.get("type"), inner(line, "data")
    # The program leaves some events out of the file, so parents lead to gaps: lines are in order.
    fields: dict[str, Any] = {"kind": UNKNOWN, "id": word(line.get("id")), "time": time_of(line)}
    if line.get("agentId"):
        fields["is_aside"] = True
    if kind == "session.start":
        fields["kind"] = HEADER
    elif kind == "user.message":
        fields |= {"kind": MESSAGE, "role": USER, "blocks": (_prompt(data),)}
        fields["by_host"] = bool(data.get("source"))
    elif kind == "assistant.message":
        fields |= {"kind": MESSAGE, "role": AGENT, "blocks": _answer(data)}
        fields["model"] = word(data.get("model"))
    elif kind == "tool.execution_complete":
        fields |= {"kind": MESSAGE, "role": TOOL, "blocks": (_result(data),)}
    elif kind == "session.usage_record":
        fields["tokens"] = tokens(inner(data, "usage"), ("inputTokens",))
    elif is_compaction(line):
        summary = Block.saying(TEXT, 0, word(data.get("summaryContent")))
        fields |= {"kind": COMPACTION, "blocks": (summary,)}
    return fields


def _prompt(data: dict[str, Any]) -> Block:
    """Return what the user said; the model is given more around it."""
    text = word(data.get("content"))
    return Block(TEXT, 0, text, size=len(word(data.get("transformedContent")) or text))


def _answer(data: dict[str, Any]) -> tuple[Block, ...]:
    texts = (THINKING, data.get("reasoningText")), (TEXT, data.get("content"))
    blocks = [Block.saying(kind, 0, text) for kind, text in texts if isinstance(text, str) and text]
    requests = data.get("toolRequests")
    for item in requests if isinstance(requests, list) else ():
        if isinstance(item, dict):
            named = {"id": item.get("toolCallId"), "name": item.get("name")}
            blocks.append(call(0, named, item.get("arguments")))
    return tuple(block.replace(at=at) for at, block in enumerate(blocks))


def _result(data: dict[str, Any]) -> Block:
    text = word(inner(data, "result").get("content")) or word(inner(data, "error").get("message"))
    code = inner(data, "shellExecution").get("exitCode")
    exit_code = code if isinstance(code, int) else None
    return Block(
        RESULT,
        0,
        text,
        id=word(data.get("toolCallId")),
        is_error=data.get("success") is False or bool(exit_code),
        exit_code=exit_code,
        size=len(text),
    )
