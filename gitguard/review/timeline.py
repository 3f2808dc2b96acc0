"""One timeline: the checkpoints of a history in their order, and the items of their states.

The report with its page, the index of a search, `at` and `log BASE..HEAD` go along it. A history
may have 100,000 checkpoints with a state each, so no more of them is kept than is asked for. A
session may be in force, archived, deleted, or only on a remote; whatever this machine did not write
is marked.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidInput
from gitguard.model.codec import STATE_FILE, STATE_LIMIT
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.value import Value
from gitguard.sessions.lane_reading import NO_LANES, lane_label, readable_lanes
from gitguard.state.task import TaskState, of_our_schema
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.chain import Chain, own_sessions
from gitguard.store.session.chain_check import ChainLink, Verification, refuse
from gitguard.store.session.lane_state import VERSIONS_FILE
from gitguard.store.session.state_file import decode_state
from gitguard.store.session.workspace import Session, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.checkpoint import Checkpoint, WrittenFile
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.lane_store import LaneStore
    from gitguard.store.session.standing import Head

    Items = Mapping[Any, Any]
    """The items of a state, each by what makes it the same one in another state."""


_ARCHIVE = "refs/gitguard/archive"
_REMOTE = "refs/remotes/*/gitguard/*"

# Checkpoints


class Course(Value):
    """The checkpoints of one history of a session, oldest first, as columns."""

    session: str
    """The session's key."""
    name: str
    ids: tuple[str, ...]
    sequences: tuple[int, ...]
    heads: tuple[str, ...]
    """The code commits that were checked out, empty before the first."""
    triggers: tuple[str, ...]
    files: tuple[str, ...]
    """The snapshots of the files, empty where none was taken."""
    written: tuple[tuple[WrittenFile, ...], ...]
    """What the agent wrote, as the checkpoints say it."""
    is_ours: bool
    shared: int = 0
    """How many of the first ones another course has too, which ties commits to them."""
    is_cut: bool = False
    """Whether there were checkpoints before the first of them that cannot be read."""
    writer: str = ""
    """The writer of the lane that it is; empty for a session's own history."""

    @property
    def is_of_here(self) -> bool:
        """Whether this machine wrote it, and so knows more of it than the history says."""
        return self.is_ours and not self.writer

    @property
    def label(self) -> str:
        """How a note calls it."""
        return lane_label(self.session, self.writer)

    def named(self, place: int) -> str:
        """Return how a reason calls a checkpoint."""
        return f"checkpoint {self.sequences[place]}"


class Courses(Value):
    """The histories of all sessions, and what is wrong with them."""

    courses: tuple[Course, ...]
    notes: tuple[str, ...] = ()


class _Source(Value):
    name: str
    head: str
    is_ours: bool
    where: str
    lane: LaneStore | None = None
    """The lane that it is."""


class HistoryChoice(Value):
    """Which histories are looked at."""

    session: str = ""
    """The key or name of the only session; empty for all."""
    writer: str = ""
    """The beginning of the id of the only writer, or the name of its machine; empty for all."""
    with_lanes: bool = True


EVERY_HISTORY = HistoryChoice()


def gather_courses(sessions: WorkspaceSessions, choice: HistoryChoice = EVERY_HISTORY) -> Courses:
    """Read the checkpoints of sessions and lanes, as far as they read.

    Raises `InvalidInput` for an unknown session or writer.
    """
    with sessions.repository().reader() as reader:
        return _gathered_courses(sessions, choice, reader)


def _gathered_courses(
    sessions: WorkspaceSessions, choice: HistoryChoice, reader: ObjectReader
) -> Courses:
    sources: dict[tuple[str, str], _Source] = {}
    lanes = NO_LANES
    if choice.with_lanes:
        lanes = readable_lanes(sessions, writer=choice.writer, reader=reader)
    notes = list(lanes.notes)
    branches = own_sessions(sessions.repository(), sessions.config.store.ref_prefix)
    archived = archived_names(sessions.workspace)
    names = sorted({*branches, *archived, *sessions.workspace.session_names()})
    aside = list(_set_aside(sessions.repository()))
    if choice.writer:
        names, aside = [], []
    aside += [
        _Source(
            store.lane.session,
            store.lane.commit,
            is_ours=store.is_trusted,
            where=store.lane.ref,
            lane=store,
        )
        for store in lanes.stores
    ]
    if choice.session:
        name = named_session(sessions, choice.session, {*names, *(source.name for source in aside)})
        names = [] if choice.writer else [name]
        aside = [source for source in aside if source.name == name]
    for name in names:
        try:
            chain = sessions.store(Session(name, name)).chain
            head = chain.head()
            for source in _sources(chain, head, name):
                sources.setdefault((name, source.head), source)
            if head.id and head.committed and head.id != head.committed:
                notes.append(
                    f"The branch of the session `{name}` is at {head.id[:12]}, which this machine "
                    f"did not write. Only what it wrote, up to {head.committed[:12]}, counts here."
                )
        except GitguardError as error:
            notes.append(f"The session `{name}` is left out: {error.message}")
    for source in aside:
        sources.setdefault((source.name, source.head), source)
    courses: list[Course] = []
    seen: dict[str, set[str]] = {}
    # A lane copies checkpoints, so what is here otherwise goes before it.
    unread = sorted(sources.values(), key=lambda s: (s.lane is not None, not s.is_ours))
    for source in unread:
        store = source.lane or sessions.store(Session(source.name, source.name))
        chain = store.chain
        course, note, broken_at = _course(chain, source, seen.setdefault(source.name, set()))
        notes += [note] if note else []
        # No hash leads to what was before, and anybody who can write in the git directory can write
        # a reflog.
        earlier = chain.before_in_reflog(broken_at) if broken_at else ""
        if earlier:
            unread.append(_Source(source.name, earlier, False, chain.ref))
        if course is not None:
            courses.append(course)
    return Courses(tuple(courses), tuple(dict.fromkeys(notes)))


def named_session(sessions: WorkspaceSessions, name_or_key: str, names: Collection[str]) -> str:
    """Return which of the names is that of the session with a key or name, or raise."""
    name = name_or_key if name_or_key in names else sessions.find(name_or_key).name
    if name in names:
        return name
    raise InvalidInput(
        f"there is no session `{name_or_key:.80}`",
        f"Sessions: {', '.join(f'`{name}`' for name in sorted(names)) or 'none'}",
    )


def _sources(chain: Chain, head: Head, name: str) -> Iterator[_Source]:
    """Yield the histories of a session in this repository; what this machine wrote comes first."""
    if head.committed:
        # It is still there where somebody moved the branch, and often where he deleted it.
        yield _Source(name, head.committed, True, chain.ref)
    for anchor in chain.archived():
        yield _Source(name, anchor.committed, True, chain.archive_of(anchor.committed))
    if head.id and not head.committed:
        yield _Source(name, head.id, False, chain.ref)


def _set_aside(repository: Repository) -> Iterator[_Source]:
    """Yield what remotes have, and what was set aside without an anchor of ours."""
    for ref in repository.refs(_ARCHIVE, _REMOTE).values():
        is_archive = ref.name.startswith(f"{_ARCHIVE}/")
        name = ref.name.removeprefix(f"{_ARCHIVE}/").rpartition("/")[0]
        name = name if is_archive else ref.name.rpartition("/gitguard/")[2]
        if is_session_name(name):
            yield _Source(name, ref.id, False, ref.name)


def _course(chain: Chain, source: _Source, seen: set[str]) -> tuple[Course | None, str, str]:
    """Read a history's checkpoints; a history of ours makes what it shares with others ours.

    Return also why it cannot be read further, and the commit at which that is.
    """
    rows: list[tuple[Any, ...]] = []
    heads: dict[str, str] = {}
    key, note, broken_at = source.name, "", ""
    try:
        for link in chain.commits(source.head):
            checkpoint = link.checkpoint
            if checkpoint is None or (source.lane is not None and link.problems):
                broken_at, error = link.id, link.problems[0]
                before = f" before checkpoint {rows[-1][1]}" if rows else ""
                what = f"lane `{source.where}`" if source.lane else f"session `{source.name}`"
                note = (
                    f"The {what} cannot be read at commit {link.id[:12]}{before}. "
                    f"This machine cannot verify its earlier checkpoints: {error.message}"
                )
                break
            key = checkpoint.session_key if not rows else key
            # Many checkpoints name the same commit: its id is kept once.
            head = heads.setdefault(checkpoint.code.head, checkpoint.code.head)
            named = checkpoint.id, checkpoint.sequence, head, checkpoint.trigger
            mark = checkpoint.lane
            source_id = mark.checkpoint if source.lane is not None and mark else checkpoint.id
            rows.append((*named, checkpoint.files, checkpoint.written, source_id))
    except GitguardError as refusal:
        note = f"The history at `{source.where}` is left out: {refusal.message}"
    rows.reverse()
    columns = zip(*rows, strict=True) if rows else ((),) * 7
    ids, sequences, code_heads, taken_for, snapshots, written, source_ids = columns
    shared = next((n for n, commit in enumerate(source_ids) if commit not in seen), len(ids))
    # What a lane says that it copies is its writer's claim, which may hide nothing of others.
    seen.update(source_ids if source.is_ours else ids)
    if shared == len(ids):
        return None, note, broken_at
    fits = Session(source.name, source.name).is_known_as(key)
    course = Course(
        session=key if fits else source.name,
        name=source.name,
        ids=ids,
        sequences=sequences,
        heads=code_heads,
        triggers=taken_for,
        files=snapshots,
        written=written,
        is_ours=source.is_ours,
        shared=shared,
        is_cut=bool(note),
        writer=source.lane.lane.writer if source.lane is not None else "",
    )
    return course, note, broken_at


# States


class StateReader:
    """Reads the states of checkpoints with an open reader, as git would else start for each."""

    def __init__(self, reader: ObjectReader) -> None:
        """Read nothing yet."""
        self._reader = reader
        self._documents = SimilarObjects(what="the checkpoint's state")
        self._blob = ""
        self._document: dict[str, Any] | GitguardError = {}
        self._last: tuple[str, TaskState] | None = None

    def document(self, link: ChainLink) -> dict[str, Any]:
        """Return the state of a link of a walk as it is stored; raise why it cannot be read.

        As long as the state stays the same, so does the object; what two states that follow each
        other have in common is the same object in both.
        """
        blob = link.files.get(STATE_FILE, "")
        if blob != self._blob or not blob:
            self._blob = blob
            # A content comes with the newest checkpoint that holds it. Older ones hold it again
            # only where somebody went back to it.
            data = link.contents.get(STATE_FILE)
            try:
                if data is None:
                    data = self._reader.read(blob, "blob", limit=STATE_LIMIT)
                self._document = of_our_schema(self._documents.load(data))
            except GitguardError as error:
                self._document = error
        if isinstance(self._document, GitguardError):
            raise self._document
        return self._document

    def state(self, checkpoint: Checkpoint) -> TaskState:
        """Return the state of any checkpoint, verified; raise why it cannot be read.

        The last one stays, as work on the next commit begins with it.
        """
        if self._last is None or self._last[0] != checkpoint.id:
            session = Session.of(checkpoint.session_key)
            may_have = VERSIONS_FILE if checkpoint.lane is not None else ""
            walk = Verification(self._reader, session, may_have=may_have)
            (link,) = walk.links(checkpoint.id, None, most=1)
            data = refuse(link).contents[STATE_FILE]
            self._last = checkpoint.id, decode_state(data, f"the state of {checkpoint.name}")
        return self._last[1]


# Items


class ItemHistory:
    """One item, and which checkpoints had it."""

    def __init__(self, item: Any, gone_at: Any) -> None:
        """Begin with the newest checkpoint that had the item."""
        self.item = item
        """As the newest checkpoint has it."""
        self.earliest = item
        """As the oldest one has it."""
        self.gone_at = gone_at
        """The checkpoint from which on it is gone; None while it stands."""
        self.first: Any = None
        """The oldest checkpoint that has it."""
        self.spans: list[tuple[int, int]] = []
        """From which age to which it was there, the newest first; the newest checkpoint is 0."""


class Timeline:
    """Follows items through checkpoints, which come newest first."""

    def __init__(self) -> None:
        self.items: dict[Any, ItemHistory] = {}
        self.oldest: Any = None
        """The last checkpoint that was added."""
        self.length = 0
        self._standing: Items = {}
        self._since: dict[Any, int] = {}

    def add(self, checkpoint: Any, items: Items) -> None:
        """Take in the next older checkpoint; the same mapping stands for the same state."""
        if items is not self._standing:
            self.end(self._standing.keys() - items.keys())
            for key in items.keys() - self._standing.keys():
                self.items.setdefault(key, ItemHistory(items[key], self.oldest))
                self._since[key] = self.length
            self._standing = items
        self.oldest = checkpoint
        self.length += 1

    def end(self, keys: Iterable[Any] | None = None) -> None:
        """Close items at the oldest checkpoint: all that stand in it, as nothing comes after."""
        for key in self._standing.keys() if keys is None else keys:
            history = self.items[key]
            history.earliest, history.first = self._standing[key], self.oldest
            history.spans.append((self._since.pop(key), self.length - 1))
