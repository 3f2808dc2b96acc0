"""Qwen Code's chats, one JSON document a line (recorded with 0.24.4).

The tokens that count are those of the request, as the program itself compares them; the window
stands in no line. A sub-agent has a file of its own, which is read like any other conversation.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript
from gitguard.transcripts.entries import (
    COMPACTION,
    documents_backwards,
    inner,
    parse,
    time_of,
    tokens,
)
from gitguard.transcripts.event_log import EventLog
from gitguard.transcripts.formats.qwen.lines import is_by_host, is_compression, summary_in, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.transcript import Message

_USAGE, _COMPRESSED = b'"usageMetadata"', b'"chat_compression"'
_MESSAGE_MARKS = (b'"user"', b'"assistant"')
_CALLS = (b'"functionCall"', b'"functionResponse"')
_FOLLOWS, _REWIND = b'"parentUuid"', b'"rewind"'


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compression, or what that one left, from the end."""
    for line in documents_backwards(transcript.path, (_USAGE, _COMPRESSED)):
        if is_compression(line):
            if not across:
                return _after_compression(line)
        elif reading := _reading(line):
            return reading
    return None


def _turning_point(line: bytes) -> tuple[str, str, float]:
    entry = parse(line)
    kind = COMPACTION if is_compression(entry) else ""
    return kind, str(entry.get("uuid") or ""), time_of(entry)


def _after_compression(line: dict[str, Any]) -> Reading | None:
    info, at = inner(inner(line, "systemPayload"), "info"), time_of(line)
    left = tokens(info, ("newTokenCount",))
    return Reading("transcript", at, tokens=left, after_compaction=True) if left and at else None


def _reading(line: dict[str, Any]) -> Reading | None:
    used, at = tokens(line.get("usageMetadata"), ("promptTokenCount",)), time_of(line)
    if line.get("type") != "assistant" or not used or not at:
        return None
    return Reading("transcript", at, tokens=used, model=str(line.get("model") or ""))


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    role = {"user": USER, "assistant": AGENT}.get(str(line.get("type")))
    texts = texts_in(inner(line, "message"))
    if not role or not texts or (role == USER and is_by_host(line)):
        return None
    return Message(role, "\n".join(texts), time_of(line))


def prompts(transcript: Transcript, since: int = 0) -> tuple[Message, ...]:
    """Return what the user said; a rewind follows the line to which they went back.

    Nothing is returned if nobody went back behind an offset.
    """
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.branches import prompts_on_branches

    if not any(line for _, line in jsonl.marked(transcript.path, (_REWIND,), since)):
        return ()
    lines = (parse(line) for line in jsonl.forwards(transcript.path) if _FOLLOWS in line)
    return prompts_on_branches(
        (str(line.get("uuid") or ""), str(line.get("parentUuid") or ""), _message(line))
        for line in lines
    )


_LOG = EventLog(
    "qwen",
    message_marks=_MESSAGE_MARKS,
    turning=(_COMPRESSED,),
    calls=_CALLS,
    message_of=_message,
    turning_point=_turning_point,
    summary_of=summary_in,
    moment_of=time_of,
)
messages, compactions, entries = _LOG.messages, _LOG.compactions, _LOG.entries
recorded_calls, newest_summary = _LOG.recorded_calls, _LOG.newest_summary
