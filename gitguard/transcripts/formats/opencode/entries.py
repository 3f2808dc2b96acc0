"""The messages of opencode's sessions as entries (recorded with 1.18.33).

What the model is given of a part is what the host makes of it, such as a sentence in place of a
result that it took out.
"""

from __future__ import annotations

from gitguard.model.conversation import (
    ABORTED,
    AGENT,
    BROKEN,
    COMPACTION,
    FAILED,
    IMAGE,
    MESSAGE,
    OTHER,
    RESULT,
    TEXT,
    THINKING,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.transcripts.blocks import IMAGE_SIZE, call, unknown_block, word
from gitguard.transcripts.entries import parse, tokens
from gitguard.transcripts.formats.opencode.messages import is_summary, model_of, moment, used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_ROLES = {"user": USER, "assistant": AGENT}
_PLAIN = ("text/plain", "application/x-directory")
"""Files that the host turns into texts of their own beside the part that names them."""
_SAY_NOTHING = ("step-start", "step-finish", "patch", "snapshot", "compaction", "agent", "retry")


def entries_of(
    row: int, name: str, data: bytes, parts: list[bytes], tail: str
) -> Iterator[TranscriptEntry]:
    """Yield a message's entries: its own, and the results of the calls in it, which have no id.

    What a row names its parent is the request that it answers, and not the one before it. tail is
    the first message that a compaction keeps, if this is its summary.
    """
    raw = b"\n".join((data, *parts))
    message = parse(data)
    if not message or not name:
        problem = "the row holds no JSON object" if name else "the row has no id that is a text"
        yield TranscriptEntry(row, row + 1, raw, kind=BROKEN, id=name, problem=problem)
        return
    read = [parse(part) for part in parts]
    time = moment(message)
    try:
        fields = _fields(message, read, tail)
    except RecursionError:
        yield TranscriptEntry(
            row, row + 1, raw, kind=BROKEN, id=name, problem="it is nested too deeply"
        )
        return
    yield TranscriptEntry(row, row + 1, raw, id=name, time=time, **fields)
    # A call and its result are one part here, and two entries in our model.
    tools = [(at, part) for at, part in enumerate(read) if part.get("type") == "tool"]
    if tools and message.get("role") == "assistant":
        results = tuple(_result(at, part) for at, part in tools)
        yield TranscriptEntry(row, row + 1, b"", MESSAGE, time=time, role=TOOL, blocks=results)


def tail_of(parts: list[bytes]) -> str | None:
    """Return the first message that stays after a compaction, None if these parts ask for none.

    The id is empty if a compaction is asked for that keeps nothing.
    """
    for part in map(parse, parts):
        if part.get("type") == "compaction":
            return word(part.get("tail_start_id"))
    return None


def _fields(message: dict[str, Any], parts: list[dict[str, Any]], tail: str) -> dict[str, Any]:
    blocks = tuple(_block(at, p) for at, p in enumerate(parts) if p.get("type") not in _SAY_NOTHING)
    if is_summary(message):
        tail_fields = {"kept": (tail,), "keeps_on": True} if tail else {}
        text = "\n".join(block.text for block in blocks if block.kind == TEXT)
        summary = (Block(TEXT, 0, text, size=len(text)),)
        return {"kind": COMPACTION, "blocks": summary, **tail_fields}
    role = _ROLES.get(word(message.get("role")))
    if not role or not blocks or message.get("summary") is True:
        return {"kind": UNKNOWN}
    texts = [part for part in parts if part.get("type") == "text"]
    return {
        "kind": MESSAGE,
        "role": role,
        "blocks": blocks,
        "by_host": bool(texts) and all(part.get("synthetic") for part in texts),
        "stopped": _stopped(message.get("error")),
        "tokens": used(message) if role == AGENT else 0,
        "answered": tokens(message.get("tokens"), ("output",)) if role == AGENT else 0,
        "model": model_of(message) if role == AGENT else "",
    }


def _stopped(error: Any) -> str:
    if not error:
        return ""
    is_aborted = isinstance(error, dict) and error.get("name") == "MessageAbortedError"
    return ABORTED if is_aborted else FAILED


def _block(at: int, part: dict[str, Any]) -> Block:
    kind, text = part.get("type"), word(part.get("text"))
    if kind in ("text", "reasoning"):
        visible_text = "" if part.get("ignored") else text
        return Block.saying(TEXT if kind == "text" else THINKING, at, visible_text)
    if kind == "tool":
        state = _state(part)
        named = {"id": part.get("callID"), "name": part.get("tool")}
        return call(at, named, state.get("input"))
    if kind == "file" and part.get("mime") in _PLAIN:
        return Block(OTHER, at)
    return Block(IMAGE, at, size=IMAGE_SIZE) if kind == "file" else unknown_block(at, part)


def _result(at: int, part: dict[str, Any]) -> Block:
    state = _state(part)
    status, times = state.get("status"), state.get("time")
    if status == "completed":
        cleared = isinstance(times, dict) and times.get("compacted")
        text = _CLEARED if cleared else word(state.get("output"))
    else:
        text = word(state.get("error")) if status == "error" else _INTERRUPTED
    attached = state.get("attachments")
    images = len(attached) if isinstance(attached, list) else 0
    return Block(
        RESULT,
        at,
        text,
        id=word(part.get("callID")),
        name=word(part.get("tool")),
        is_error=status != "completed",
        has_details="metadata" in state,
        size=len(text) + images * IMAGE_SIZE,
    )


def _state(part: dict[str, Any]) -> dict[str, Any]:
    state = part.get("state")
    return state if isinstance(state, dict) else {}
