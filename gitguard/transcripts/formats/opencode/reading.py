"""opencode's sessions: rows of `opencode.db`, only ever read (recorded with 1.18.33).

A message is a row, and what it consists of are rows of their own. A call and its result are one
part of the agent's message. A compaction is a request in the user's name, and the summary that
answers it. A position is the number of a message's row.
"""

from __future__ import annotations

import os

from gitguard.model.events import Reading, Transcript, is_token_count
from gitguard.model.text import unquoted
from gitguard.transcripts.entries import COMPACTION, count, inner, parse, settings_in, unreadable
from gitguard.transcripts.formats.opencode.messages import is_summary, model_of, moment, used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message
    from gitguard.transcripts.database import Database
    from gitguard.transcripts.jsonl import Tell

_FIRST, _LAST = 500, 2_000
"""Messages that are read of a conversation's beginning and end: all would take a prompt seconds."""
_DATA = "/.local/share/opencode"
_SUMMARY = '"summary":true'
_MESSAGES = "SELECT rowid, id, data FROM message WHERE session_id = ?"
_KINDS = (int, bytes, bytes)
_NO_ROW = (1 << 63) - 1
"""The largest number that a row may have."""


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compaction, from the end backwards."""
    with _open(transcript) as database:
        newest_first = f"{_MESSAGES} ORDER BY time_created DESC, id DESC"  # as its index has them
        rows = database.select(newest_first, transcript.session, kinds=_KINDS)
        for _, _, data in rows:
            message = parse(data)
            if is_summary(message) and not across:
                return None
            if reading := _reading(message):
                window = _window(transcript.path, reading.model)
                return reading.replace(window=window or None)
        return None


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said and stands; of very many messages, the first and the last ones.

    What the user reverts is removed with the next prompt, and until then it is only marked.
    """
    with _open(transcript) as database:
        reverted = _reverted_from(database, transcript.session)
        for row, message_id, document in _first_and_last(database, transcript.session, tell):
            if reverted is not None and row >= reverted:
                break
            if message := _message(document, parts_of(database, message_id)):
                yield message


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the summaries; the cursor is the number of a row."""
    with _open(transcript) as database:
        end = _end(database, transcript.session)
        begin = since if since <= end else 0
        return count(_turning_points(database, transcript.session, begin, end), begin)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every message, with the rows of its parts behind it."""
    from gitguard.transcripts.formats.opencode.entries import entries_of, tail_of

    with _open(transcript) as database:
        tail = ""
        query = f"{_MESSAGES} AND rowid >= ? ORDER BY rowid"
        rows = database.select(query, transcript.session, since, kinds=_KINDS)
        for row, message_id, data in rows:
            parts = parts_of(database, message_id)
            requested_tail = tail_of(parts)
            # The request names what stays; the summary that needs it is a later message.
            tail = tail if requested_tail is None else requested_tail
            yield from entries_of(
                row, message_id.decode(errors="replace"), data, parts=parts, tail=tail
            )


def newest_session(path: str) -> str:
    """Return the session that was written last, sub-agents' left out; empty where there is none."""
    from gitguard.transcripts.database import open_database

    with open_database(path) as database:
        query = "SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT 1"
        rows = database.select(query, kinds=(bytes,))
        return next((session.decode(errors="replace") for (session,) in rows), "")


def parts_of(database: Database, message_id: bytes) -> list[bytes]:
    """Return what a message consists of, in order."""
    query = "SELECT data FROM part WHERE message_id = ? ORDER BY id"
    rows = database.select(query, message_id.decode(errors="replace"), kinds=(bytes,))
    return [data for (data,) in rows]


def _open(transcript: Transcript) -> Database:
    from gitguard.transcripts.database import open_database

    database = open_database(transcript.path)
    try:
        query = "SELECT 1 FROM session WHERE id = ?"
        rows = database.select(query, transcript.session, kinds=(int,))
        if not any(rows):
            raise unreadable(transcript.path, f"it has no session `{transcript.session:.80}`")
    except BaseException:  # an interrupt, too, must not leave the host's database open
        database.close()
        raise
    return database


def _first_and_last(
    database: Database, session: str, tell: Tell | None
) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    skipped = -1
    query = "SELECT count(*) FROM message WHERE session_id = ?"
    [(messages,)] = database.select(query, session, kinds=(int,))
    if tell is not None and messages > _FIRST + _LAST:
        tell(
            f"the conversation has {messages:,} messages; its first {_FIRST:,} and its last "
            f"{_LAST:,} were read"
        )
    query = f"{_MESSAGES} ORDER BY rowid LIMIT ?"
    for row, message_id, data in database.select(query, session, _FIRST, kinds=_KINDS):
        skipped = row
        yield row, message_id, parse(data)
    # The last ones, oldest first. Behind the skipped row, so that no message comes twice.
    query = f"SELECT * FROM ({_MESSAGES} AND rowid > ? ORDER BY rowid DESC LIMIT ?) ORDER BY rowid"
    for row, message_id, data in database.select(query, session, skipped, _LAST, kinds=_KINDS):
        yield row, message_id, parse(data)


def _turning_points(
    database: Database, session: str, begin: int, end: int
) -> Iterator[tuple[int, str, float]]:
    query = f"{_MESSAGES} AND rowid >= ? AND rowid < ? AND instr(data, ?) ORDER BY rowid"
    for row, _, data in database.select(query, session, begin, end, _SUMMARY, kinds=_KINDS):
        message = parse(data)
        is_over = message.get("finish") or message.get("error")
        # Stopping here leaves the cursor on this row, so that the next count looks at it again.
        if message.get("summary") is True and not is_over:
            yield row, "", 0  # it is being written, and counts when it is done
            return
        yield row + 1, COMPACTION if is_summary(message) else "", moment(message)
    yield end, "", 0


def _end(database: Database, session: str) -> int:
    """Return the number behind the newest row that the user has not reverted."""
    reverted = _reverted_from(database, session)
    query = "SELECT max(rowid) FROM message WHERE session_id = ? AND rowid < ?"
    upto = _NO_ROW if reverted is None else reverted
    [(newest,)] = database.select(query, session, upto, kinds=(int | None,))
    return 0 if newest is None else newest + 1


def _reverted_from(database: Database, session: str) -> int | None:
    """Return the row from which on the user reverted a conversation, None if they did not.

    Of a message that is reverted in part, what stands counts.
    """
    query = "SELECT 1 FROM pragma_table_info('session') WHERE name = 'revert'"
    if not any(database.select(query, kinds=(int,))):
        return None
    query = "SELECT revert FROM session WHERE id = ? AND revert IS NOT NULL"
    for (text,) in database.select(query, session, kinds=(bytes,)):
        revert = parse(text)
        query = "SELECT rowid FROM message WHERE session_id = ? AND id = ?"
        message = str(revert.get("messageID") or "")
        for (row,) in database.select(query, session, message, kinds=(int,)):
            return int(row) + bool(revert.get("partID"))
    return None


def _reading(message: dict[str, Any]) -> Reading | None:
    at, count_of = moment(message), used(message)
    if message.get("role") != "assistant" or count_of <= 0 or not at:
        return None
    return Reading("transcript", at, tokens=count_of, model=model_of(message))


def _window(path: str, model: str) -> int:
    """Return the window that a user's own model is given in opencode's settings, 0 where none is.

    A repository's settings are left alone: it could say that a full window is an empty one.
    """
    home = os.path.dirname(path).removesuffix(_DATA)
    if home == os.path.dirname(path):
        return 0
    settings = settings_in(os.path.join(home, ".config", "opencode", "opencode.json"))
    provider, _, name = model.partition("/")
    models = inner(inner(inner(settings, "provider"), provider), "models")
    window = inner(inner(models, name), "limit").get("context")
    return window if isinstance(window, int) and is_token_count(window) else 0


def _message(message: dict[str, Any], parts: list[bytes]) -> Message | None:
    from gitguard.model.transcript import AGENT, USER, Message

    role = {"user": USER, "assistant": AGENT}.get(str(message.get("role")))
    if not role or message.get("summary") is True:
        return None
    text_parts = [part for part in map(parse, parts) if part.get("type") == "text"]
    values = [part.get("text") for part in text_parts if not part.get("synthetic")]
    texts = [text for text in values if isinstance(text, str) and text.strip()]
    said = "\n".join(texts)
    return (
        Message(role, unquoted(said) if role == USER else said, moment(message)) if said else None
    )
