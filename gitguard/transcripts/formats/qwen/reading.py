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
from gitguard.transcripts.formats.qwen.lines import is_by_host, is_compression, texts_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message, RecordedCall
    from gitguard.transcripts.jsonl import Tell

_USAGE, _COMPRESSED = b'"usageMetadata"', b'"chat_compression"'
_SAID = (b'"user"', b'"assistant"')
_CALLS = (b'"functionCall"', b'"functionResponse"')


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compression, or what that one left, from the end."""
    for line in documents_backwards(transcript.path, (_USAGE, _COMPRESSED)):
        if is_compression(line):
            if not across:
                return _after_compression(line)
        elif reading := _reading(line):
            return reading
    return None


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said, without what hooks added to prompts."""
    from gitguard.transcripts import jsonl

    for text in jsonl.forwards(transcript.path, since, tell):
        if any(mark in text for mark in _SAID) and (message := _message(parse(text))):
            yield message


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compressions; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    return jsonl.count_compactions(transcript.path, since, (_COMPRESSED,), _turning_point)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line; a position is a byte offset."""
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.qwen.entries import fields_of

    return jsonl.entries(transcript.path, since, fields_of)


def recorded_calls(transcript: Transcript) -> Iterator[RecordedCall]:
    """Yield the newest calls and how they ended."""
    from gitguard.transcripts.formats.qwen.entries import fields_of
    from gitguard.transcripts.newest_calls import newest_calls

    return newest_calls(transcript.path, _CALLS, fields_of)


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
