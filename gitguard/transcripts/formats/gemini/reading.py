"""Gemini CLI's chats, one JSON document a line (recorded with 0.61.0).

A message that is written again under its id takes the place of the first; `$set.messages` is the
whole history from there on, `$rewindTo` ends it before a message. Compressing is a `$set` with a
`<state_snapshot>` in it. Before 0.40 a chat was one JSON document, which is read as lines. The
tokens that count are those of the request, as the program itself compares them. The window is told
nowhere; it is compiled in.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript
from gitguard.transcripts.entries import COMPACTION, backwards, count, parse, time_of, tokens
from gitguard.transcripts.plain_lines import as_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message
    from gitguard.transcripts.jsonl import Tell

_WINDOW, _SMALL_WINDOW, _SMALL = 1_048_576, 256_000, "gemma-4"
"""What the program reckons with, and the models for which it is less."""
_SNAPSHOT, _TOKENS = b"<state_snapshot>", b'"tokens"'


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compression, from the end backwards."""
    with as_lines(transcript.path) as path:
        return _newest(path, across=across)


def _newest(path: str, *, across: bool) -> Reading | None:
    lines = backwards(path)
    for text in lines:
        if not across and _SNAPSHOT in text and (names := _snapshots(parse(text))):
            return _before_the_copy(lines, names)
        if _TOKENS in text and (reading := _reading(parse(text))):
            return reading
    return None


def _before_the_copy(lines: Iterator[bytes], names: list[str]) -> Reading | None:
    """Return the newest usage if the history that a line sets was set before, else None.

    A chat that goes on begins with a copy of its history, snapshot and all.
    """
    reading: Reading | None = None
    marks = [name.encode() for name in names]
    for text in lines:
        if reading is None and _TOKENS in text:
            reading = _reading(parse(text))
        if all(mark in text for mark in marks):
            return reading
    return None


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said and not taken back; what is written twice counts where it stands last.

    The end of a chat can take back all before it, so what was said is held: 3 MB at most.
    """
    with as_lines(transcript.path) as path:
        yield from _messages(path, tell)


def _messages(path: str, tell: Tell | None) -> Iterator[Message]:
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.gemini.history import OWN, ChatHistory, messages_in

    history, messages_by_place = ChatHistory(), {}
    for number, text in enumerate(jsonl.forwards(path, tell=tell)):
        line = parse(text)
        history.take(number, line)
        for place, document in messages_in(line):
            if message := _message(document):
                messages_by_place[number, place] = message
    counted = history.counted_places()
    for place_in_file, message in messages_by_place.items():
        # The program wrote what a compression leaves, although it stands in the user's and the
        # agent's names.
        is_by_host = place_in_file[1] != OWN and place_in_file[0] in history.compressions
        if place_in_file in counted and not is_by_host:
            yield message


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compressions; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    with as_lines(transcript.path) as path:
        begin = jsonl.cursor(path, since)
        return count(_turning_points(path, begin), begin)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line, and behind a `$set` the messages that only it tells.

    What was written again, or taken back, is UNKNOWN: the model is not given it.
    """
    from gitguard.transcripts.formats.gemini.entries import entries_of

    with as_lines(transcript.path) as path:
        yield from entries_of(path, since)


def _snapshots(line: dict[str, Any]) -> list[str]:
    from gitguard.transcripts.formats.gemini.history import snapshots

    return snapshots(line)


def _turning_points(path: str, begin: int) -> Iterator[tuple[int, str, float]]:
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.gemini.history import snapshots, time_of_set

    for behind, text in jsonl.marked(path, (_SNAPSHOT,), begin, most=jsonl.COUNTED_AT_ONCE):
        line = parse(text) if text else {}
        names = snapshots(line)
        # A chat that goes on repeats its history, snapshot and all; that is no new compression.
        is_new = names and not all(_is_id_before(path, name, behind - len(text)) for name in names)
        yield behind, COMPACTION if is_new else "", time_of_set(line)


def _is_id_before(path: str, name: str, before: int) -> bool:
    """Say whether a line before an offset has an id."""
    from gitguard.transcripts import jsonl

    lines = jsonl.marked(path, (name.encode(),), 0, most=jsonl.COUNTED_AT_ONCE)
    return next((behind for behind, line in lines if line), before + 1) <= before


def _reading(line: dict[str, Any]) -> Reading | None:
    used, at = tokens(line.get("tokens"), ("input",)), time_of(line)
    if line.get("type") != "gemini" or used <= 0 or not at:
        return None
    model = str(line.get("model") or "")
    window = _SMALL_WINDOW if model.startswith(_SMALL) else _WINDOW
    return Reading("transcript", at, tokens=used, window=window, model=model)


def _message(line: dict[str, Any]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message
    from gitguard.transcripts.formats.gemini.history import texts_in, users_words

    role = {"user": USER, "gemini": AGENT}.get(str(line.get("type")))
    texts = texts_in(line)
    paragraphs = list(filter(None, map(users_words, texts))) if role == USER else texts
    return Message(role, "\n".join(paragraphs), time_of(line)) if role and paragraphs else None
