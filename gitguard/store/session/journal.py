"""The journal: increments between checkpoints, one line each, appended in one write.

Of a session's own journal nothing is read that somebody else wrote or began.
"""

from __future__ import annotations

import os

from gitguard.errors import EditedState, InvalidDocument, NotWritable
from gitguard.model.codec import (
    check_format,
    dump_json,
    dump_line,
    encode_json,
    load_json,
    parse_json,
)
from gitguard.model.config.config import WORDS_WHOLE
from gitguard.model.value import Value
from gitguard.state.entries import (
    ENDED,
    FAILED,
    STARTED,
    JournalEntry,
    open_calls,
    read_entries,
)
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.store.session.moment import ConsistentRead
    from gitguard.store.session.workspace import Session, Workspace

FORMAT = 1
_READ_LIMIT = 1 << 24
_LOOK_BACK = 1 << 18
"""A call that began longer ago than so many bytes is not taken for a running one."""
_COUNT_BACK = 1 << 16
"""A conversation of which so many bytes say nothing begins to count its calls anew."""
_HEADER_LIMIT = 1 << 12
_ROTATE_AT = 1 << 18


_COUNT, _BY_ANOTHER = b',"calls":', b',"sub_agent":"'
"""What stands in a line with a count, and in one of a sub-agent."""
_STARTED = f'{{"event":"{STARTED}"'.encode()
SEALED = "-sealed"
"""How the ids of journals end in which every line has to carry a seal."""
_RECENT = 16
"""So many of the folded entries still say what is going on, besides calls that did not end."""


class JournalPart(Value):
    """What of a journal still counts."""

    id: str
    entries: tuple[JournalEntry, ...]
    """Calls that did not end and the newest of what was folded, then what was not."""
    unfolded: tuple[JournalEntry, ...]
    """What lies behind the offset that was folded before."""
    end: int


class JournalFile:
    """Appends to and reads one session's journal; the caller holds the session's lock."""

    def __init__(self, path: str, clock: Callable[[], float]) -> None:
        """Use the file at path, which is made at the first append."""
        self.path = path
        self._clock = clock

    def append(self, entry: JournalEntry) -> None:
        """Add an entry."""
        line = self._line(entry)

        def at(offset: int) -> bytes:
            header = b"" if offset else self._header()
            journal_id = id_in(_document(header) if header else self._begins())
            return header + self._sealed(line, journal_id, offset + len(header))

        files.append(self.path, at)

    def _line(self, entry: JournalEntry) -> bytes:
        return dump_line(entry.line())

    def _sealed(self, line: bytes, journal_id: str, offset: int) -> bytes:
        """Return a line as it is written at an offset of a journal."""
        return line

    def _trusted(self, lines: list[tuple[int, bytes]], journal_id: str) -> list[bytes]:
        """Return the lines, given with their offsets, that are ours."""
        return [line for _, line in lines]

    def _is_new(self) -> bool:
        return self._size() == 0

    def _size(self) -> int:
        try:
            return os.path.getsize(self.path)
        except FileNotFoundError:
            return 0

    def settle(self) -> None:
        """Make durable what was appended, before an offset in it is recorded."""
        try:
            files.sync_file(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise files.refused(self.path, error) from error

    def _header(self) -> bytes:
        return header_of(self._unique())

    def _unique(self) -> str:
        return f"{int(self._clock() * 1e6):x}-{os.getpid():x}"

    def read(self, folded_id: str, folded_offset: int) -> JournalPart:
        """Read the journal; folding goes on behind the offset if the id is the same.

        Of a very long one, only what lies around the offset is read; the next read goes on.
        """
        journal_id = self._begun()
        # A crash can take what was folded and not durable; what came after is not folded then.
        whole = journal_id == folded_id and self._size() >= folded_offset
        start = folded_offset if whole else 0
        position = max(start - _LOOK_BACK, 0)
        lines, end = files.complete_lines(self.path, offset=position, limit=_READ_LIMIT)
        placed = _placed(lines, position)
        folded = sum(offset < start for offset, _ in placed)
        fresh = _entries(self._trusted(placed[folded:], journal_id))
        recent = max(folded - _RECENT, 0)
        before = [*_open_calls(placed[:recent], placed[recent:]), *placed[recent:folded]]
        return JournalPart(
            journal_id, _entries(self._trusted(before, journal_id)) + fresh, fresh, end
        )

    def open_calls(self, *, lost: bool = False) -> tuple[JournalEntry, ...]:
        """Return the tool calls that began and never ended, however long ago.

        With lost, those that were given up as lost are among them, each as that entry.
        """
        journal_id = self._begun()
        lines, _ = files.complete_lines(self.path, offset=0, limit=_READ_LIMIT)
        return _entries(self._trusted(_open_calls(_placed(lines, 0), lost=lost), journal_id))

    def calls(self, host_session: str) -> int:
        """Return how many of a conversation's own calls ended, well or badly.

        That is the count that its newest well ended call carries, and the calls that failed since.
        """
        size = self._size()
        position = max(size - _COUNT_BACK, 0)
        lines, _ = files.complete_lines(self.path, offset=position, limit=_COUNT_BACK)
        calls = _calls_of(_placed(lines, position), host_session)
        counts = [_number_in(line) for line in self._trusted(calls, id_in(self._begins()))]
        return max(counts, default=0) + counts.count(0)  # a failed call carries no count

    def newest_turn(self, host_session: str) -> str:
        """Return the host's id of the turn in which a conversation's own newest call began.

        It is empty where the host has none, and where the call is too old.
        """
        position = max(self._size() - _COUNT_BACK, 0)
        lines, _ = files.complete_lines(self.path, offset=position, limit=_COUNT_BACK)
        whose = _whose(host_session)
        for placed in reversed(_placed(lines, position)):
            line = placed[1]
            if line.startswith(_STARTED) and whose in line and _BY_ANOTHER not in line:
                calls = _entries(self._trusted([placed], id_in(self._begins())))
                return calls[0].turn_id if calls else ""
        return ""

    def _begun(self) -> str:
        """Return the journal's id, empty where there is none."""
        begins = self._begins()
        if begins:
            check_format(begins, FORMAT, what=f"`{self.path}`")
        return id_in(begins)

    def _begins(self) -> dict[str, Any]:
        header, _ = files.complete_lines(self.path, offset=0, limit=_HEADER_LIMIT)
        return (_document(header[0]) if header else None) or {}

    def rotate(self, part: JournalPart) -> JournalPart | None:
        """Begin a new file in place of one that has to end, once everything in it is folded.

        It starts with running calls and the newest entries, which are folded already and returned.
        """
        if not self._is_to_end(part) or self._size() != part.end:
            return None
        recent = part.entries[-_RECENT:]
        running = (entry for entry in open_calls(part.entries) if entry not in recent)
        going_on = (*running, *recent)
        return self.restart(going_on)

    def _is_to_end(self, part: JournalPart) -> bool:
        return part.end > _ROTATE_AT

    def restart(self, entries: tuple[JournalEntry, ...]) -> JournalPart:
        """Begin a new file with entries that are folded already, in place of the one there is."""
        data = self._header()
        begun = id_in(_document(data))
        for entry in entries:
            data += self._sealed(self._line(entry), begun, len(data))
        files.write_bytes(self.path, data)
        return JournalPart(begun, entries, (), len(data))


def id_in(header: dict[str, Any] | None) -> str:
    """Return the id in a journal's first line, empty where there is none."""
    return str((header or {}).get("journal", ""))


def header_of(journal_id: str) -> bytes:
    """Return the first line of a journal."""
    return dump_line({"format": FORMAT, "journal": journal_id})


def _placed(lines: list[bytes], position: int) -> list[tuple[int, bytes]]:
    """Return lines with their offsets."""
    placed = []
    for line in lines:
        placed.append((position, line))
        position += len(line) + 1
    return placed


def _calls_of(lines: list[tuple[int, bytes]], host_session: str) -> list[tuple[int, bytes]]:
    """Return the newest line that tells a conversation's count, and its failed calls since.

    Most lines are of no interest, so they are looked at as bytes, the way `append` writes them.
    """
    whose = _whose(host_session)
    ended, failed = (f'{{"event":"{event}"'.encode() for event in (ENDED, FAILED))
    newest_first = []
    for placed in reversed(lines):
        line = placed[1]
        if whose not in line or _BY_ANOTHER in line or not line.startswith((ended, failed)):
            continue
        newest_first.append(placed)
        # It carries the count of all well ended calls so far: what is older adds nothing.
        if line.startswith(ended):
            break
    return newest_first


def _whose(host_session: str) -> bytes:
    return f'"host_session":{encode_json(host_session)}'.encode("utf-8", "replace")


def _number_in(line: bytes) -> int:
    """Return the count that a line of the journal carries, 0 where it has none."""
    digits = line.rpartition(_COUNT)[2].partition(b",")[0].rstrip(b"}")
    return int(digits) if digits.isdigit() and len(digits) < 10 else 0


def _open_calls(
    lines: list[tuple[int, bytes]],
    later: list[tuple[int, bytes]] | tuple[()] = (),
    *,
    lost: bool = False,
) -> list[tuple[int, bytes]]:
    """Return the lines of calls that began and did not end, not even later.

    With lost, the line that gives a call up as lost stands for it.

    A journal can have a thousand lines, and most of them say nothing any more: so they are looked
    at as bytes, the way `append` writes them, and not read.
    """
    import re

    text = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
    call = re.compile(
        rb'\{"event":"tool-(\w+)","at":%s,"host_session":%s,"id":(%s)' % (text, text, text)
    )
    running: dict[bytes, tuple[int, bytes]] = {}
    for number, placed in enumerate([*lines, *later]):
        match = call.match(placed[1])
        if match is None:
            continue
        event, call_id = match[1], match[2]
        if lost and event == b"lost" and call_id in running:
            running[call_id] = placed
        elif event != b"start":
            running.pop(call_id, None)
        elif number < len(lines):
            running[call_id] = placed
    return list(running.values())


def _entries(lines: list[bytes]) -> tuple[JournalEntry, ...]:
    documents = [document for line in lines if (document := _document(line)) is not None]
    for document in documents:
        document.pop("seal", None)
    return read_entries(documents)


def _document(line: bytes) -> dict[str, Any] | None:
    try:
        document = parse_json(line.decode())
    except (ValueError, RecursionError):
        return None  # a torn line, or nobody's
    return document if isinstance(document, dict) else None


def make_session_files(workspace: Workspace, session: Session) -> None:
    """Create a session's working folders, and its journal in them.

    The journal begins here because its id is noted in the state directory, and a calm hook, which
    appends to it, has no time for that.
    """
    workspace.make_folders(session)
    OwnJournal(workspace, session).begin()


class OwnJournal(JournalFile):
    """A session's journal, of which those that somebody else began are never read."""

    def __init__(self, workspace: Workspace, session: Session, *, words: str = WORDS_WHOLE) -> None:
        """Use the session's working file; words is how much is kept of what was said."""
        super().__init__(workspace.working_file(session, "journal.jsonl"), workspace.clock)
        self._workspace = workspace
        self._session = session
        self._words = words

    def begin(self) -> None:
        """Make the file if it is not there, so that only entries are left to append."""
        if self._is_new():
            files.append(self.path, self._header())

    def _line(self, entry: JournalEntry) -> bytes:
        if self._words != WORDS_WHOLE:
            from gitguard.state.spoken import kept_entry

            entry = kept_entry(entry, self._words)
        return dump_line(self._workspace.redactor.document(entry.line())[0])

    def read(self, folded_id: str, folded_offset: int) -> JournalPart:
        """Read the journal as it was at one moment."""
        read = super().read
        return self._moment.read(lambda: read(folded_id, folded_offset))

    def open_calls(self, *, lost: bool = False) -> tuple[JournalEntry, ...]:
        """Return the tool calls that began and never ended, as it was at one moment."""
        read = super().open_calls
        return self._moment.read(lambda: read(lost=lost))

    @property
    def _moment(self) -> ConsistentRead:
        return self._workspace.moment(self._session)

    def _refuse_unsettled(self) -> None:
        """Refuse to call foreign what another process may be replacing at this very moment."""
        if not self._moment.is_settled:
            from gitguard.store.session.moment import Unsettled

            raise Unsettled(f"`{self.path}` changes while it is read", "Try again in a moment")

    def restart(self, entries: tuple[JournalEntry, ...]) -> JournalPart:
        """Begin a new file; the one before is nobody's from then on, should it come back."""
        replaced = id_in(self._begins())
        part = super().restart(entries)
        _forget_id(self._workspace, self._session, replaced)
        return part

    def _is_to_end(self, part: JournalPart) -> bool:
        """Say whether a journal is large, or was begun when there was no key to seal it with."""
        unsealed = bool(part.id) and not part.id.endswith(SEALED)
        return super()._is_to_end(part) or (unsealed and self._workspace.seal.is_there)

    def _sealed(self, line: bytes, journal_id: str, offset: int) -> bytes:
        return self._workspace.seal.put_on(line, self._place(journal_id, offset))

    def _place(self, journal_id: str, offset: int) -> str:
        # With the offset in it, a sealed line cannot be copied or moved to another place.
        return f"journal {self._session.name} {journal_id} {offset}"

    def _trusted(self, lines: list[tuple[int, bytes]], journal_id: str) -> list[bytes]:
        """Leave out what somebody wrote into a sealed journal by hand, and leave a mark."""
        holds = self._workspace.seal.holds
        if not journal_id.endswith(SEALED):
            return [line for _, line in lines]
        # The header, at byte 0, carries no seal: its id is among those that we began.
        trusted = [line for at, line in lines if not at or holds(line, self._place(journal_id, at))]
        if len(trusted) < len(lines):
            self._refuse_unsettled()
            count = len(lines) - len(trusted)
            foreign = EditedState(
                f"{count} lines of `{self.path}` were not written by gitguard and are not used"
            )
            self._workspace.note_fault("reading the journal", foreign)
        return trusted

    def _begun(self) -> str:
        """Return the journal's id; one that somebody else began is set aside first."""
        begun = super()._begun()
        is_there = begun or not self._is_new()
        if is_there and not _is_ours(self._workspace, self._session, begun):
            self._refuse_unsettled()
            _refuse_foreign(self._workspace, self._session, begun, self.path)
        return begun if os.path.exists(self.path) else ""

    def _header(self) -> bytes:
        sealed = self._workspace.seal.is_there
        begun = _new_id(self._workspace, self._unique(), sealed=sealed)
        _remember_id(self._workspace, self._session, begun)
        return header_of(begun)


# Which journals gitguard began here, kept outside the repository. A branch can bring a journal in:
# git overwrites ignored files without a word when it checks one out. What such a journal says must
# never become state.

_IDS_FORMAT = 1
_IDS_LIMIT = 1 << 16
_MOST_IDS = 50
"""Every worktree that works at a session has a journal, and a large one is followed by another."""


def _remember_id(workspace: Workspace, session: Session, journal_id: str) -> None:
    """Keep the id of a journal that we begin; where nothing can be written it stays unknown."""
    path = _ids_path(workspace, session)
    _keep_ids(path, [*_listed_ids(path), journal_id])


def _forget_id(workspace: Workspace, session: Session, journal_id: str) -> None:
    """Drop the id of a journal that another one took the place of."""
    path = _ids_path(workspace, session)
    listed = _listed_ids(path)
    if journal_id in listed:
        _keep_ids(path, [item for item in listed if item != journal_id])


def _keep_ids(path: str, ids: list[str]) -> None:
    try:
        files.make_folder(os.path.dirname(path))
        files.write_bytes(path, dump_json({"format": _IDS_FORMAT, "journals": ids[-_MOST_IDS:]}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def _is_ours(workspace: Workspace, session: Session, journal_id: str) -> bool:
    """Say whether a journal is known as one that we began."""
    listed = _listed_ids(_ids_path(workspace, session))
    return bool(journal_id) and (
        journal_id in listed or journal_id == _folded_id(workspace, session)
    )


def _refuse_foreign(workspace: Workspace, session: Session, journal_id: str, path: str) -> None:
    """Set a journal aside that is not known as ours, and leave a mark; the lock is held.

    Where nothing is known of any, as in a sandbox, one that was begun here is taken, unless git
    tracks it; an archive may have brought in any other.
    """
    is_any_known = bool(
        _listed_ids(_ids_path(workspace, session)) or _folded_id(workspace, session)
    )
    if not is_any_known and _is_begun_here(workspace, journal_id, path):
        _remember_id(workspace, session, journal_id)
        return
    bad_file = workspace.set_aside(path)
    workspace.note_fault(
        "reading the journal",
        EditedState(f"`{path}` was not started by gitguard here; it is saved as `{bad_file}`"),
    )


def _new_id(workspace: Workspace, unique: str, *, sealed: bool) -> str:
    """Return the id of a journal that is begun here, and where every line carries a seal."""
    return f"{unique}@{_whereabouts(workspace)}{SEALED if sealed else ''}"


def _is_begun_here(workspace: Workspace, journal_id: str, path: str) -> bool:
    begun = journal_id.removesuffix(SEALED).rpartition("@")[2]
    return begun == _whereabouts(workspace) and not _is_tracked(workspace, path)


def _whereabouts(workspace: Workspace) -> str:
    from gitguard.store.session.anchor import whereabouts

    return whereabouts(workspace.place.common_dir)


def _listed_ids(path: str) -> list[str]:
    try:
        data = files.read_bytes(path, limit=_IDS_LIMIT)
        document = {} if data is None else load_json(data, what=f"`{path}`", limit=_IDS_LIMIT)
    except InvalidDocument:
        return []
    ids = document.get("journals")
    return [item for item in ids if isinstance(item, str)] if isinstance(ids, list) else []


def _folded_id(workspace: Workspace, session: Session) -> str:
    from gitguard.store.session.anchor import AnchorFile

    try:
        written = AnchorFile(workspace.anchor_folder(session)).read_copy()
    except InvalidDocument:
        return ""
    return written.journal_id if written else ""


def _is_tracked(workspace: Workspace, path: str) -> bool:
    folder = os.path.relpath(os.path.dirname(path), workspace.place.worktree)
    return bool(workspace.repository().tracked_under(folder))


def _ids_path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "journals.json")
