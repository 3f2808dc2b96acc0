"""Copilot CLI's event logs, one JSON document a line (recorded with 1.0.102).

Each answer's usage is an event of its own before it, with the window. The program writes its events
one or two seconds late. It compacts beside the conversation: a request that was under way when a
compaction ended still had the old context. Sub-agents' events stand in the same file, with an id.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript, is_token_count
from gitguard.transcripts.entries import (
    COMPACTION,
    documents_backwards,
    inner,
    parse,
    time_of,
    tokens,
)
from gitguard.transcripts.event_log import EventLog
from gitguard.transcripts.formats.copilot.lines import is_compaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.transcript import Message

_USAGE, _COMPACTED = b'"session.usage_record"', b'"session.compaction_complete"'
_MESSAGE_MARKS = (b'"user.message"', b'"assistant.message"')
_CALLS = (b'"assistant.message"', b'"tool.execution_complete"')
_MILLISECONDS = 1_000


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compaction, or what that one left, from the end."""
    newest: Reading | None = None
    requested_at = 0.0
    for line in documents_backwards(transcript.path, (_USAGE, _COMPACTED)):
        if line.get("agentId"):
            continue
        if is_compaction(line):
            if across:
                continue
            is_later = newest is not None and requested_at >= time_of(line)
            return newest if is_later else _after_compaction(line)
        reading = _reading(line)
        if reading is None:
            continue
        if newest is not None or across:
            return newest or reading
        # The request before it ended before it began, so a compaction that it missed comes next.
        newest = reading
        usage = inner(inner(line, "data"), "usage")
        requested_at = reading.at - tokens(usage, ("duration",)) / _MILLISECONDS
    return newest


def _summary_of(line: dict[str, Any]) -> str:
    summary = inner(line, "data").get("summaryContent")
    return summary if is_compaction(line) and isinstance(summary, str) else ""


def _turning_point(line: bytes) -> tuple[str, str, float]:
    event = parse(line)
    kind = COMPACTION if is_compaction(event) else ""
    return kind, str(event.get("id") or ""), time_of(event)


def _after_compaction(line: dict[str, Any]) -> Reading | None:
    left, at = tokens(inner(line, "data"), ("postCompactionTokens",)), time_of(line)
    return Reading("transcript", at, tokens=left, after_compaction=True) if left and at else None


def _reading(line: dict[str, Any]) -> Reading | None:
    usage, at = inner(inner(line, "data"), "usage"), time_of(line)
    used = tokens(usage, ("inputTokens",))
    if line.get("type") != "session.usage_record" or not used or not at:
        return None
    window = usage.get("maxPromptTokens")
    return Reading(
        "transcript",
        at,
        tokens=used,
        window=window if isinstance(window, int) and is_token_count(window) else None,
        model=str(usage.get("model") or ""),
    )


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    role = {"user.message": USER, "assistant.message": AGENT}.get(str(line.get("type")))
    data = inner(line, "data")
    text = data.get("content")
    if not role or line.get("agentId") or not isinstance(text, str) or not text.strip():
        return None
    if role == USER and data.get("source"):
        return None  # of another agent or of the host
    return Message(role, text, time_of(line))


_LOG = EventLog(
    "copilot",
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
