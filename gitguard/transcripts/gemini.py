"""Gemini CLI's chats, one JSON document a line (recorded with 0.61.0).

A message that is written again under its id takes the place of the first; `$set.messages` is the
whole history from there on, `$rewindTo` ends it before a message. Compressing is a `$set` with a
`<state_snapshot>` in it. The tokens that count are those of the request, as the program itself
compares them. The window is told nowhere; it is compiled in.
"""

from __future__ import annotations

from gitguard.model.events import Reading
from gitguard.transcripts.entries import COMPACTION, backwards, count, parse, time_of, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import Entry
    from gitguard.model.events import Transcript
    from gitguard.model.transcript import Compactions, Message

_WINDOW, _SMALL_WINDOW, _SMALL = 1_048_576, 256_000, "gemma-4"
"""What the program reckons with, and the models for which it is less."""
SNAPSHOT = "<state_snapshot>"
_SNAPSHOT, _SET, _TOKENS = SNAPSHOT.encode(), b'"$set"', b'"tokens"'
_SAID = (b'"user"', b'"gemini"')
_NOT_THE_USERS = ("<session_context>", SNAPSHOT, "<system_reminder>")
"""How texts begin that stand in the user's name."""
_BY_HOOKS, _END_OF_IT = "<hook_context>", "</hook_context>"
"""What hooks said; it may stand before the user's words in the same text."""


def newest_reading(transcript: Transcript) -> Reading | None:
    """Find the newest usage since the last compression, from the end backwards."""
    lines = backwards(transcript.path)
    for text in lines:
        if _SNAPSHOT in text and (names := snapshots(parse(text))):
            return _before_the_copy(lines, names)
        if _TOKENS in text and (reading := _reading(parse(text))):
            return reading
    return None


def _before_the_copy(lines: Iterator[bytes], names: list[str]) -> Reading | None:
    """Return the newest usage if the history that a line sets was set before, else None.

    A chat that goes on begins with a copy of its history, snapshot and all.
    """
    found: Reading | None = None
    marks = [name.encode() for name in names]
    for text in lines:
        if found is None and _TOKENS in text:
            found = _reading(parse(text))
        if all(mark in text for mark in marks):
            return found
    return None


def messages(transcript: Transcript) -> Iterator[Message]:
    """Yield what was said; a message that is written twice counts where it stands last."""
    from gitguard.transcripts import jsonl

    held: tuple[str, Message | None] = ("", None)
    for text in jsonl.forwards(transcript.path):
        if not any(role in text for role in _SAID) or text.startswith(b"{" + _SET):
            continue
        line = parse(text)
        name = str(line.get("id", ""))
        if held[1] and held[0] != name:
            yield held[1]
        held = name, _message(line)
    if held[1]:
        yield held[1]


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compressions; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    begin = jsonl.cursor(transcript.path, since)
    return count(_turning_points(transcript.path, begin), begin)


def entries(transcript: Transcript, since: int = 0) -> Iterator[Entry]:
    """Yield every line, and behind a `$set` the messages that only it tells.

    What was written again, or taken back, is UNKNOWN: the model is not given it.
    """
    from gitguard.transcripts.gemini_entries import entries_of

    return entries_of(transcript.path, since)


def set_messages(line: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the history that a line sets, None where it sets none."""
    patch = line.get("$set")
    found = patch.get("messages") if isinstance(patch, dict) else None
    if not isinstance(found, list):
        return None
    return [item for item in found if isinstance(item, dict) and isinstance(item.get("id"), str)]


def snapshots(line: dict[str, Any]) -> list[str]:
    """Return the ids of the snapshots in the history that a line sets.

    A snapshot that no line before has is what a compression left.
    """
    return [item["id"] for item in set_messages(line) or () if is_snapshot(item)]


def is_snapshot(message: dict[str, Any]) -> bool:
    """Say whether a message stands for all before it."""
    return any(SNAPSHOT in text for text in said_in(message))


def said_in(message: dict[str, Any]) -> list[str]:
    """Return the texts of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return [content] if content.strip() else []
    parts = content if isinstance(content, list) else ()
    found = [p.get("text") for p in parts if isinstance(p, dict) and not p.get("thought")]
    return [text for text in found if isinstance(text, str) and text.strip()]


def users_words(text: str) -> str:
    """Return what of a text in the user's name is the user's, empty if nothing is."""
    words = text.strip()
    while words.startswith(_BY_HOOKS):
        words = words.partition(_END_OF_IT)[2].lstrip()
    return "" if words.startswith(_NOT_THE_USERS) else words


def _turning_points(path: str, begin: int) -> Iterator[tuple[int, str, float]]:
    from gitguard.transcripts import jsonl

    for behind, text in jsonl.marked(path, (_SNAPSHOT,), begin):
        line = parse(text) if text else {}
        names = snapshots(line)
        is_new = names and not all(_is_told(path, name, behind - len(text)) for name in names)
        yield behind, COMPACTION if is_new else "", time_of_set(line)


def _is_told(path: str, name: str, before: int) -> bool:
    """Say whether a line before an offset has an id."""
    from gitguard.transcripts import jsonl

    found = jsonl.marked(path, (name.encode(),), 0)
    return next((behind for behind, line in found if line), before + 1) <= before


def time_of_set(line: dict[str, Any]) -> float:
    """Return when a line set the history, 0 if it does not tell."""
    patch = line.get("$set")
    return time_of({"timestamp": patch.get("lastUpdated")}) if isinstance(patch, dict) else 0


def _reading(line: dict[str, Any]) -> Reading | None:
    used, at = tokens(line.get("tokens"), ("input",)), time_of(line)
    if line.get("type") != "gemini" or used <= 0 or not at:
        return None
    model = str(line.get("model") or "")
    window = _SMALL_WINDOW if model.startswith(_SMALL) else _WINDOW
    return Reading("transcript", at, tokens=used, window=window, model=model)


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    role = {"user": USER, "gemini": AGENT}.get(str(line.get("type")))
    texts = said_in(line)
    said = list(filter(None, map(users_words, texts))) if role == USER else texts
    return Message(role, "\n".join(said), time_of(line)) if role and said else None
