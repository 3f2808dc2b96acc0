"""Factory Droid's sessions, one JSON document a line (recorded with 0.225.2).

What the last request took stands in no line, but in `<id>.settings.json` beside the file, which the
program writes with each answer. The window is told nowhere.
"""

from __future__ import annotations

import os

from gitguard.model.events import Reading, Transcript
from gitguard.transcripts.entries import (
    COMPACTION,
    documents_backwards,
    inner,
    parse,
    settings_in,
    texts,
    time_of,
    tokens,
)
from gitguard.transcripts.event_log import EventLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.transcript import Message

_COMPACTED, _ANSWER = b'"compaction_state"', b'"assistant"'
_MESSAGE_MARKS = (b'"user"', _ANSWER)
_CALLS = (b'"tool_use"', b'"tool_result"')
_COUNTED = ("inputTokens", "cacheReadTokens", "outputTokens")


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Return what the last request took, None if a compaction followed the newest answer."""
    for line in documents_backwards(transcript.path, (_COMPACTED, _ANSWER)):
        if line.get("type") == "compaction_state" and not across:
            return None
        message, at = inner(line, "message"), time_of(line)
        if message.get("role") == "assistant" and at:
            beside = transcript.path.removesuffix(".jsonl") + ".settings.json"
            used = tokens(settings_in(beside).get("lastCallTokenUsage"), _COUNTED)
            model = str(message.get("modelId") or "")
            return Reading("transcript", at, tokens=used, model=model) if used else None
    return None


def _summary_of(line: dict[str, Any]) -> str:
    summary = line.get("summaryText")
    is_compaction = line.get("type") == "compaction_state"
    return summary if is_compaction and isinstance(summary, str) else ""


def _turning_point(line: bytes) -> tuple[str, str, float]:
    entry = parse(line)
    kind = COMPACTION if entry.get("type") == "compaction_state" else ""
    return kind, str(entry.get("id") or ""), time_of(entry)


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    message = inner(line, "message")
    role = {"user": USER, "assistant": AGENT}.get(str(message.get("role")))
    paragraphs = [text for text in texts(message.get("content")) if text.strip()]
    if not role or not paragraphs or message.get("visibility"):
        return None
    return Message(role, "\n".join(paragraphs), time_of(line))


def original(transcript: Transcript) -> tuple[str, tuple[Message, ...]]:
    """Return the conversation of which this one is a copy, and its prompts.

    Those that the copy leaves out are marked: whoever rewinds goes on in such a copy. Both are
    empty for one that is no copy.
    """
    from gitguard.model.transcript import USER
    from gitguard.transcripts import jsonl

    header = next(jsonl.first_documents(transcript.path), {})
    parent, last = str(header.get("parent") or ""), header.get("forkedAtMessageId")
    path = os.path.join(os.path.dirname(transcript.path), f"{os.path.basename(parent)}.jsonl")
    if not parent or not last or not os.path.exists(path):
        return "", ()
    prompts: list[Message] = []
    is_left_out = False
    for text in jsonl.forwards(path):
        line = parse(text)
        message = _message(line)
        if message is not None and message.role == USER:
            prompts.append(message.replace(is_taken_back=is_left_out))
        is_left_out = is_left_out or line.get("id") == last
    return parent, tuple(prompts)


_LOG = EventLog(
    "droid",
    message_marks=_MESSAGE_MARKS,
    turning=(_COMPACTED,),
    calls=_CALLS,
    message_of=_message,
    turning_point=_turning_point,
    summary_of=_summary_of,
    moment_of=time_of,
)
messages, compactions, entries = _LOG.messages, _LOG.compactions, _LOG.entries
recorded_calls, newest_summary = _LOG.recorded_calls, _LOG.newest_summary
