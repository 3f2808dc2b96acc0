"""Factory Droid's sessions, one JSON document a line (recorded with 0.225.2).

What the last request took stands in no line, but in `<id>.settings.json` beside the file, which the
program writes with each answer. The window is told nowhere.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript
from gitguard.transcripts.entries import (
    COMPACTION,
    backwards,
    documents_backwards,
    inner,
    parse,
    settings_in,
    summary_since,
    texts,
    time_of,
    tokens,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message, RecordedCall
    from gitguard.transcripts.jsonl import Tell

_COMPACTED, _ANSWER = b'"compaction_state"', b'"assistant"'
_SAID = (b'"user"', _ANSWER)
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


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said."""
    from gitguard.transcripts import jsonl

    for text in jsonl.forwards(transcript.path, since, tell):
        if any(mark in text for mark in _SAID) and (message := _message(parse(text))):
            yield message


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compactions; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    return jsonl.count_compactions(transcript.path, since, (_COMPACTED,), _turning_point)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line; a position is a byte offset."""
    from gitguard.transcripts.formats.droid.entries import entries_of

    return entries_of(transcript.path, since)


def recorded_calls(transcript: Transcript) -> Iterator[RecordedCall]:
    """Yield the newest calls and how they ended; no hook tells of those that failed."""
    from gitguard.transcripts.formats.droid.entries import fields_of
    from gitguard.transcripts.newest_calls import newest_calls

    return newest_calls(transcript.path, _CALLS, fields_of)


def newest_summary(transcript: Transcript, since: float) -> str:
    """Return the summary of a compaction since a time, empty if none."""
    return summary_since(backwards(transcript.path), _COMPACTED, since, _summary_of)


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
