"""Kimi Code's wire logs, one JSON document a line (recorded with 2.1.0, protocol 1.5).

The program reckons with the newest `token_counting` event: it is measured with each answer and
estimated behind a compaction. Each agent has a log of its own, which is read like any other
conversation.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript, is_token_count
from gitguard.transcripts.entries import (
    backwards,
    inner,
    parse,
    texts,
    tokens,
)
from gitguard.transcripts.event_log import EventLog
from gitguard.transcripts.formats.kimi.lines import KINDS, is_users, time_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.transcript import Message

_COUNTED, _REQUEST = b'"token_counting.', b'"llm.request"'
_COMPACTED = b'"context.apply_compaction"'
_TURNING = (_COMPACTED, b'"context.clear"')
_MESSAGE_MARKS = (b'"context.append_message"', b'"content.part"')
_PROMPTING = (b'"context.append_message"', b'"context.undo"')
_CALLS = (b'"tool.call"', b'"tool.result"')
_FURTHEST = 1 << 22
"""Bytes behind the newest usage in which the request with the window is looked for."""


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest count of tokens since the last compaction, from the end backwards."""
    lines = backwards(transcript.path)
    for text in lines:
        if not any(mark in text for mark in (_COUNTED, *_TURNING)):
            continue
        line = parse(text)
        if line.get("type") in KINDS and not across:
            return None
        reading = _reading(line)
        if reading and not (across and reading.after_compaction):
            return _with_window(reading, lines)
    return None


def _summary_of(line: dict[str, Any]) -> str:
    summary = line.get("summary")
    is_compaction = line.get("type") == "context.apply_compaction"
    return summary if is_compaction and isinstance(summary, str) else ""


def _turning_point(line: bytes) -> tuple[str, str, float]:
    event = parse(line)
    return KINDS.get(str(event.get("type")), ""), "", time_in(event)


def _reading(line: dict[str, Any]) -> Reading | None:
    used, at = tokens(line, ("tokens",)), time_in(line)
    if not str(line.get("type")).startswith("token_counting.") or not used or not at:
        return None
    # After a compaction, or a turn that was taken back, it is an estimate of what is left.
    return Reading("transcript", at, tokens=used, after_compaction=line.get("measured") is False)


def _with_window(reading: Reading, lines: Iterator[bytes]) -> Reading:
    """Add the model and the window of the last request of the conversation before it."""
    left = _FURTHEST
    for text in lines:
        request = parse(text) if _REQUEST in text else {}
        if request.get("kind") == "loop":
            window = request.get("maxTokens")
            is_window = isinstance(window, int) and is_token_count(window)
            model = str(request.get("model") or "")
            return reading.replace(window=window if is_window else None, model=model)
        left -= len(text)
        if left < 0:
            break
    return reading


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    event, message = inner(line, "event"), inner(line, "message")
    if event.get("type") == "content.part":
        role, parts = AGENT, texts([event.get("part")])
    elif message.get("role") == "user" and is_users(message.get("origin")):
        role, parts = USER, texts(message.get("content"))
    else:
        return None
    paragraphs = [text for text in parts if text.strip()]
    return Message(role, "\n".join(paragraphs), time_in(line)) if paragraphs else None


def _step(line: dict[str, Any]) -> str:
    return str(inner(line, "event").get("stepUuid") or "")


def prompts(transcript: Transcript, since: int = 0) -> tuple[Message, ...]:
    """Return what the user said, what they took back marked.

    An undo takes back as many prompts of those that stand, with all that followed them. Nothing is
    returned if there is none behind an offset.
    """
    from gitguard.model.transcript import USER
    from gitguard.transcripts import jsonl

    if not any(line for _, line in jsonl.marked(transcript.path, _PROMPTING[1:], since)):
        return ()
    messages: list[Message] = []
    standing: list[int] = []
    for text in jsonl.forwards(transcript.path):
        line = parse(text) if any(mark in text for mark in _PROMPTING) else {}
        message = _message(line)
        if message is not None and message.role == USER:
            standing.append(len(messages))
            messages.append(message)
        elif line.get("type") == "context.undo":
            begin = max(len(standing) - tokens(line, ("count",)), 0)
            for place in standing[begin:]:
                messages[place] = messages[place].replace(is_taken_back=True)
            del standing[begin:]
    return tuple(messages)


_LOG = EventLog(
    "kimi",
    message_marks=_MESSAGE_MARKS,
    turning=_TURNING,
    calls=_CALLS,
    message_of=_message,
    turning_point=_turning_point,
    summary_of=_summary_of,
    moment_of=time_in,
    answer_of=_step,
)
messages, compactions, entries = _LOG.messages, _LOG.compactions, _LOG.entries
recorded_calls, newest_summary = _LOG.recorded_calls, _LOG.newest_summary
