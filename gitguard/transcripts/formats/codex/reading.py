"""Codex's rollouts, one JSON document a line (recorded with 0.169.0).

What the model is given and answers are `response_item` lines; most others tell the same once more
for its screen. Usage counts in the order of the file: an answer's own record comes before the
counts for the screen, and after a compaction only an estimate stands there until the next answer.
The window that it tells is already the usable part, 95 %. A rollout of a week ago is compressed.
"""

from __future__ import annotations

from bisect import bisect_left

from gitguard.model.events import Reading, Transcript, is_token_count
from gitguard.transcripts.entries import COMPACTION, backwards, inner, parse, time_of, tokens
from gitguard.transcripts.plain_lines import as_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message, RecordedCall
    from gitguard.transcripts.jsonl import Tell

_COMPACTED, _ROLLED_BACK = b'"compacted"', b'"thread_rolled_back"'
_USAGES = (b'"token_usage_record"', b'"token_count"', _COMPACTED, _ROLLED_BACK)
_SETTINGS = (b'"turn_context"', b'"model_context_window"')
_CALLS = (b'_call"', b'_call_output"', b'"CommandExecution"')
_FURTHEST = 1 << 22
"""Bytes behind the newest usage in which the model and its window are looked for."""
_MESSAGE_MARKS = (b'"message"', _COMPACTED, _ROLLED_BACK)


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage, or what the last compaction left, from the end backwards."""
    with as_lines(transcript.path) as path:
        lines = backwards(path)
        reading, line = _usage(lines, across=across)
        return _with_model(reading, line, lines) if reading else None


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said and not taken back.

    Until the next compaction all of it can be, so it is held till then: 3 MB at most.
    """
    with as_lines(transcript.path) as path:
        yield from _messages(path, tell, since)


def _messages(path: str, tell: Tell | None, since: int) -> Iterator[Message]:
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.codex.lines import Turns

    turns = Turns()
    pending: list[Message] = []
    for text in jsonl.forwards(path, since, tell):
        line = parse(text) if any(mark in text for mark in _MESSAGE_MARKS) else {}
        taken_back = turns.take(line, len(pending))
        if taken_back is not None:
            del pending[taken_back:]
        elif message := _message(line):
            pending.append(message)
        elif line.get("type") == "compacted":
            yield from pending
            pending = []
    yield from pending


def prompts(transcript: Transcript, since: int = 0) -> tuple[Message, ...]:
    """Return what the user said, what they took back marked.

    A conversation that is reverted goes on in a file of its own, which names the line of those
    before it from which on they do not count. Nothing is returned if nothing was taken back behind
    an offset of this file.
    """
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.codex.segments import base_of, rollouts_of

    with as_lines(transcript.path) as path:
        if since and not any(line for _, line in jsonl.marked(path, (_ROLLED_BACK,), since)):
            return ()
    base = base_of(transcript.path)
    older = rollouts_of(base.thread, before=transcript.path) if base and base.is_reverted else ()
    return _prompts_in((*older, transcript.path))


def _prompts_in(paths: Iterable[str]) -> tuple[Message, ...]:
    """Return the prompts of a conversation's files."""
    from gitguard.model.transcript import USER
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.codex.lines import Turns
    from gitguard.transcripts.formats.codex.segments import base_of

    turns = Turns()
    messages: list[Message] = []
    ordinals: list[int] = []

    def take_back(begin: int) -> None:
        messages[begin:] = [m.replace(is_taken_back=True) for m in messages[begin:]]

    for path in paths:
        base = base_of(path)
        if base is not None and base.is_reverted:
            take_back(bisect_left(ordinals, base.end))
        with as_lines(path) as lines:
            for text in jsonl.forwards(lines):
                line = parse(text) if any(mark in text for mark in _MESSAGE_MARKS) else {}
                taken_back = turns.take(line, len(messages))
                message = _message(line)
                if taken_back is not None:
                    take_back(taken_back)
                elif message is not None and message.role == USER:
                    messages.append(message)
                    ordinals.append(tokens(line, ("ordinal",)))
    return tuple(messages)


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compactions; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    with as_lines(transcript.path) as path:
        return jsonl.count_compactions(path, since, (_COMPACTED,), _turning_point)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line; a position is a byte offset. What was taken back is UNKNOWN."""
    from gitguard.transcripts.formats.codex.entries import entries_of

    with as_lines(transcript.path) as path:
        yield from entries_of(path, since)


def recorded_calls(transcript: Transcript) -> Iterator[RecordedCall]:
    """Yield the newest calls and how they ended, those of turns that were taken back included."""
    from gitguard.transcripts.formats.codex.entries import call_fields_of
    from gitguard.transcripts.newest_calls import newest_calls

    with as_lines(transcript.path) as path:
        yield from newest_calls(path, _CALLS, call_fields_of)


def _turning_point(line: bytes) -> tuple[str, str, float]:
    entry = parse(line)
    kind = COMPACTION if entry.get("type") == "compacted" else ""
    return kind, "", time_of(entry)


def _usage(lines: Iterable[bytes], *, across: bool) -> tuple[Reading | None, dict[str, Any]]:
    """Return the newest usage and the line that tells it; before turns were taken back is none."""
    from gitguard.transcripts.formats.codex.lines import usage_in

    estimate: tuple[Reading | None, dict[str, Any]] = (None, {})
    for text in lines:
        if not any(mark in text for mark in _USAGES):
            continue
        line = parse(text)
        if line.get("type") == "compacted" or _is_rollback(line):
            # Usage on the far side measured a context that the model is not given any more.
            if across:
                continue
            return estimate
        usage = usage_in(line)
        used, at = tokens(usage, ("total_tokens",)), time_of(line)
        if used <= 0 or not at:
            continue
        if tokens(usage, ("input_tokens",)):
            return Reading("transcript", at, tokens=used), line
        # Not from the model: what a compaction left, or what is free after an error.
        if estimate[0] is None:
            estimate = Reading("transcript", at, tokens=used, after_compaction=True), line
    return None, {}


def _is_rollback(line: dict[str, Any]) -> bool:
    return inner(line, "payload").get("type") == "thread_rolled_back"


def _with_model(reading: Reading, line: dict[str, Any], lines: Iterator[bytes]) -> Reading:
    """Add the model and the window, which lines before the usage tell, or its own."""
    # Go on backwards from the usage, but not through the whole file: a hook waits for this.
    model, window, left = "", _window(line), _FURTHEST
    while left > 0 and not (model and window):
        text = next(lines, None)
        if text is None:
            break
        left -= len(text)
        if any(mark in text for mark in _SETTINGS):
            before = parse(text)
            window = window or _window(before)
            if before.get("type") == "turn_context":
                model = model or str(inner(before, "payload").get("model") or "")
    return reading.replace(model=model, window=window or None)


def _window(line: dict[str, Any]) -> int:
    payload = inner(line, "payload")
    token_info = payload.get("info")
    figures = token_info if isinstance(token_info, dict) else payload
    window = figures.get("model_context_window")
    return window if isinstance(window, int) and is_token_count(window) else 0


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message
    from gitguard.transcripts.formats.codex.lines import is_by_host, texts_in

    payload = inner(line, "payload")
    if line.get("type") != "response_item" or payload.get("type") != "message":
        return None
    role = {"user": USER, "assistant": AGENT}.get(str(payload.get("role")))
    text = "\n".join(texts_in(payload.get("content")))
    if not role or not text or is_by_host(line, text):
        return None
    return Message(role, text, time_of(line))
