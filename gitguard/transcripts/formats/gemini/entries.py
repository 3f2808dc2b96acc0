"""The lines of Gemini CLI's chats as entries (recorded with 0.61.0).

The file is read twice, because a later line can take back or rewrite an earlier one: first to learn
what became of each message, then for the entries.
"""

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
from gitguard.transcripts.blocks import call, word
from gitguard.transcripts.entries import parse, time_of, tokens
from gitguard.transcripts.formats.gemini.history import (
    OWN,
    ChatHistory,
    is_snapshot,
    set_messages,
    texts_in,
    time_of_set,
    users_words,
)
from gitguard.transcripts.parts import blocks_of_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ROLES = {"user": USER, "gemini": AGENT}


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset."""
    from gitguard.transcripts import jsonl

    history, upto = ChatHistory(), 0
    for upto, line in jsonl.documents(path):
        history.take(upto, line)
    counted = history.counted_places()
    for entry in jsonl.entries(path, since, _fields):
        if entry.kind == UNKNOWN and b'"$set"' in entry.raw:
            line = parse(entry.raw)
            is_compression = entry.at in history.compressions
            yield entry.replace(**_compression(line)) if is_compression else entry
            yield from _messages_only_in_set(entry, line, counted)
        elif entry.kind != MESSAGE or (entry.at, OWN) in counted or entry.at > upto:
            yield entry  # what was written since the first look is the newest of all
        else:
            yield jsonl.withdrawn(entry)


def _messages_only_in_set(
    entry: TranscriptEntry, line: dict[str, Any], counted: set[tuple[int, int]]
) -> Iterator[TranscriptEntry]:
    """Yield the messages of a history that stand nowhere else."""
    for place, message in enumerate(set_messages(line) or ()):
        if (entry.at, place) in counted and not is_snapshot(message):
            yield TranscriptEntry(entry.at, entry.end, **_message(message))


def _compression(line: dict[str, Any]) -> dict[str, Any]:
    history = set_messages(line) or []
    texts = [text for item in history if is_snapshot(item) for text in texts_in(item)]
    summary = "\n".join(texts)
    return {
        "kind": COMPACTION,
        "blocks": (Block.saying(TEXT, 0, summary),),
        "kept": tuple(word(item["id"]) for item in history if not is_snapshot(item)),
    }


def _fields(line: dict[str, Any]) -> dict[str, Any]:
    if isinstance(line.get("id"), str):
        return _message(line)
    if "projectHash" in line:
        return {"kind": HEADER, "id": word(line.get("sessionId")), "time": _began(line)}
    return {"kind": UNKNOWN, "time": time_of_set(line)}


def _began(line: dict[str, Any]) -> float:
    return time_of({"timestamp": line.get("startTime")})


def _message(message: dict[str, Any]) -> dict[str, Any]:
    role = _ROLES.get(word(message.get("type")))
    fields = {"id": word(message.get("id")), "time": time_of(message)}
    if not role:
        return fields | {"kind": UNKNOWN}  # what the program tells the user
    blocks = (*_thoughts(message), *blocks_of_parts(message.get("content")), *_calls(message))
    blocks = (*blocks, *blocks_of_parts(message.get("results")))
    blocks = tuple(block.replace(at=at) for at, block in enumerate(blocks))
    # Results of tools stand in the user's name.
    if role == USER and any(block.kind == RESULT for block in blocks):
        role = TOOL
    texts = texts_in(message)
    return fields | {
        "kind": MESSAGE,
        "role": role,
        "blocks": blocks,
        "by_host": role == USER and bool(texts) and not any(map(users_words, texts)),
        "tokens": tokens(message.get("tokens"), ("input",)),
        "model": word(message.get("model")),
    }


def _thoughts(message: dict[str, Any]) -> Iterator[Block]:
    thoughts = message.get("thoughts")
    for item in thoughts if isinstance(thoughts, list) else ():
        if isinstance(item, dict):
            parts = [word(item.get(name)) for name in ("subject", "description")]
            text = "\n".join(filter(None, parts))
            yield Block(THINKING, text=text, size=len(text))


def _calls(message: dict[str, Any]) -> Iterator[Block]:
    calls = message.get("toolCalls")
    for item in calls if isinstance(calls, list) else ():
        if isinstance(item, dict):
            yield call(0, item, item.get("args"))
