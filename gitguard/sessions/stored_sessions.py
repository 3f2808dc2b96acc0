"""The session store: which conversations belong to which session, and how full each is.

There is no index of sessions beside the branches and no cache of what is told here: it is read
when it is asked for, so nothing can differ from what is.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.pressure.gauge import count_compactions, measure_pressure
from gitguard.pressure.usage import is_told_of
from gitguard.sessions.archiving import histories_if_archived, refuse_archived
from gitguard.sessions.choice import refuse_unknown
from gitguard.state.checkpoint import read_checkpoint
from gitguard.store.disk import files
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.host_session import HostSession, read_record
from gitguard.store.session.journal import make_session_files
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitguard.model.config.config import Config
    from gitguard.model.events import Pressure, Transcript, Window
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.archive import Archived
    from gitguard.store.session.store import SessionStore

_COMMIT_LIMIT = 1 << 16
_EVERY = 1_000
"""Entries between two words on how far it is."""


class StoredConversation(Value):
    """What the session store tells of one conversation of a host."""

    conversation: str
    """The name under which the session knows it."""
    session_id: str
    """The conversation's own id, where its transcript is one of many."""
    transcript: str
    """The transcript's file, empty where the host did not tell."""
    format: str
    updated_at: str
    """When it was last used, or its transcript written, whichever is later."""
    context_tokens: int
    """The window of its model."""
    assumption: str
    """That the window is assumed, and the setting that ends it; empty where it is not."""
    total_tokens: int | None
    """Tokens in its context, as they were last counted; None where they never were."""
    total_tokens_fresh: bool
    """Whether that was since the last compaction, and the transcript still says so."""
    compaction_count: int
    turns: int
    problem: str = ""
    """Why its transcript tells nothing."""


class StoredSession(Value):
    """What the session store tells of a session."""

    session: str
    """Its key."""
    name: str
    branch: str
    """The full ref."""
    head: str
    standing: str
    """How the branch stands to what this machine wrote."""
    archived: tuple[Archived, ...]
    """Its histories, oldest first, where it is archived; empty where it is in force."""
    conversations: tuple[StoredConversation, ...]


def stored_session(store: SessionStore) -> StoredSession:
    """Describe a session."""
    return store.at_one_moment(lambda: _stored_session(store))


def _stored_session(store: SessionStore) -> StoredSession:
    head = store.chain.head()
    return StoredSession(
        session=store.session.key,
        name=store.session.name,
        branch=store.chain.ref,
        head=head.id,
        standing=head.standing,
        archived=histories_if_archived(store),
        conversations=stored_conversations(store),
    )


def stored_conversations(store: SessionStore) -> tuple[StoredConversation, ...]:
    """Return a session's conversations, the one that was used last first."""
    records = read_record(store.workspace, store.session).host_sessions
    newest = sorted(records.items(), key=lambda item: item[1].last_use, reverse=True)
    return tuple(_stored(name, conversation, store.config) for name, conversation in newest)


def _stored(name: str, record: HostSession, config: Config) -> StoredConversation:
    written, problem = _written(record)
    try:
        counted, pressure = _measured(record.replace(transcript="") if problem else record, config)
    except GitguardError as error:
        problem = error.message
        counted, pressure = record, None
    tokens = int(pressure.used) if pressure else _last_tokens(record)
    window = pressure.window if pressure else _window(record, config)
    return StoredConversation(
        conversation=name,
        session_id=record.transcript_session,
        transcript=record.transcript,
        format=record.transcript_format,
        updated_at=max(record.last_use, written),
        context_tokens=window.tokens,
        assumption=window.assumption,
        total_tokens=tokens,
        total_tokens_fresh=pressure is not None and not problem,
        compaction_count=max(record.epoch, counted.compactions),
        turns=record.turns,
        problem=problem,
    )


def _measured(record: HostSession, config: Config) -> tuple[HostSession, Pressure | None]:
    counted, _ = count_compactions(record, None)
    return counted, measure_pressure(record, config, first_turn=False)


def _written(record: HostSession) -> tuple[str, str]:
    """Return when the transcript was last written, and what is wrong with it."""
    if not record.transcript:
        return "", ""
    try:
        return timestamp(os.stat(record.transcript).st_mtime), ""
    except OSError as error:
        return "", f"cannot read the transcript `{record.transcript}`: {error.strerror}"


def _last_tokens(record: HostSession) -> int | None:
    reading = record.reading
    return int(reading.tokens) if reading is not None and reading.tokens >= 0 else None


def _window(record: HostSession, config: Config) -> Window:
    from gitguard.pressure.gauge import resolve_window

    return resolve_window(record.window_model, record.window, config.window)


def committed_keys(repository: Repository, heads: Mapping[str, str]) -> dict[str, str]:
    """Return sessions' keys by their names, as the checkpoints at their heads say.

    Whoever can write in the repository can write a key there, so one that does not fit the name is
    not taken.
    """
    with repository.reader() as reader:
        bodies = reader.read_all(heads.values(), "commit", limit=_COMMIT_LIMIT)
    return {name: _committed_key(name, head, bodies[head]) for name, head in heads.items()}


def _committed_key(name: str, head: str, body: bytes | InvalidDocument) -> str:
    if isinstance(body, InvalidDocument):
        return name  # what is wrong with it, `verify` tells
    try:
        key = read_checkpoint(head, body)[0].session_key
    except InvalidDocument:
        return name
    return key if Session(name, name).is_known_as(key) else name


# Import


class Imported(Value):
    """What was recorded of a conversation that no hook told of."""

    conversation: str
    session: str
    transcript: Transcript
    turns: int
    entries: int
    compactions: int
    was_known: bool


def import_transcript(
    store: SessionStore, transcript: Transcript, tell: Callable[[int, int], None] | None = None
) -> Imported:
    """Record a conversation's file, format, id and counts at a session; nothing is copied.

    It is named by the id that its file tells, as hooks would name it. tell is called with how much
    of the file is read, of how much. Raises `InvalidDocument` where the transcript cannot be read.
    """
    from gitguard.transcripts.formats.recognition import require_messages
    from gitguard.transcripts.identity import id_of

    refuse_unknown(store)
    refuse_archived(store)
    require_messages(transcript)
    turns, entries, began, ended = _count(transcript, tell)
    conversation_id = id_of(transcript) or transcript.session or transcript.path
    used = min(ended or files.changed_at(transcript.path), store.clock())
    blank = HostSession(started_at=timestamp(began or used), imported=True)
    counted, newest_at = count_compactions(blank, transcript)
    counts = {"compactions": counted.compactions, "counted_upto": counted.counted_upto}
    fresh = blank.replace(epoch=counted.compactions, compacted_at=newest_at)
    with store.lock():
        conversations = read_record(store.workspace, store.session).host_sessions
        name = _name_of(transcript, conversation_id, conversations)
        record = conversations.get(name, fresh)
        merged = record.replace(
            transcript=transcript.path,
            transcript_format=transcript.format,
            transcript_session=transcript.session,
            turns=max(record.turns, turns),
            **counts,
        )
        make_session_files(store.workspace, store.session)
        used_at = max(record.used_at, timestamp(used))
        keep_conversation(store.workspace, store.session, name, merged, used_at=used_at)
    was_known = name in conversations
    return Imported(
        name,
        store.session.key,
        transcript,
        turns=turns,
        entries=entries,
        compactions=counted.compactions,
        was_known=was_known,
    )


def _name_of(
    transcript: Transcript, conversation_id: str, conversations: Mapping[str, HostSession]
) -> str:
    """Return the name under which a session knows a transcript, else conversation_id.

    Where that is another one's, its place is added, so that neither takes the other's record.
    """
    known_as = [
        name for name, record in conversations.items() if is_told_of(name, record, transcript)
    ]
    if known_as:
        return known_as[0]
    is_free = conversation_id not in conversations or _was_moved(
        conversations[conversation_id], transcript
    )
    return (
        conversation_id
        if is_free
        else f"{conversation_id} ({transcript.format}, {transcript.path})"
    )


def _was_moved(record: HostSession, transcript: Transcript) -> bool:
    """Say whether the record of a conversation's id can be its own: its file is gone, or untold."""
    if not record.transcript:
        return True
    same_format = record.transcript_format == transcript.format
    return same_format and not os.path.lexists(record.transcript)


def _count(
    transcript: Transcript, tell: Callable[[int, int], None] | None
) -> tuple[int, int, float, float]:
    """Count the user's turns and all entries; also say when first and last were written."""
    from gitguard.transcripts import find_format
    from gitguard.transcripts.fitting.limits import is_turn

    size = os.path.getsize(transcript.path) if os.path.isfile(transcript.path) else 0
    turns = entries = 0
    began = ended = 0.0
    for entry in find_format(transcript.format).entries(transcript):
        entries += 1
        began = began or entry.time
        ended = max(ended, entry.time)
        turns += is_turn(entry)
        if tell is not None and entries % _EVERY == 0 and entry.end <= size:
            tell(entry.end, size)
    return turns, entries, began, ended
