"""What this machine wrote last, kept outside the repository, in the user's state directory.

Whoever can write in a repository can build a consistent chain of checkpoints; only a memory outside
it makes a rewritten, truncated or rolled-back one visible (references/design/integrity.md).

Items of a state that another machine wrote are shown with that, also after `trust`. What a document
says of itself cannot be believed: whoever wrote it elsewhere wrote that too. So the copy in the
state directory lists the items of the others, a state is marked by that list when it is read, and
no mark is ever written into a document (references/design/sessions.md, "Items of another machine").
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NewerFormat, NotReadable
from gitguard.model import fields
from gitguard.model.codec import check_format, dump_json, load_json, sha256
from gitguard.model.record import Record
from gitguard.state.items import EarlierNote, Exchange, Item, derived_id
from gitguard.state.thread import is_shortening
from gitguard.store.disk import files
from gitguard.store.session.workspace import is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any, TypeVar

    from gitguard.state.task import TaskState
    from gitguard.store.session.workspace import Workspace

    R = TypeVar("R", bound="Record")

JOINED_LANE = "lane-joined.json"
"""Beside an anchor: what the lane is once the state that is being saved is saved."""
FORMAT = 1
_LIMIT = 1 << 20
INDEX = ("search.txt", "search.jsonl")
"""The index of what the history holds, for `search`; it can be made again at any time."""
RETURN_NOTED, RETURNED, RETURN_SAID = "noted", "returned", "said"
"""How far a deleted branch was put back: about to be, done, and somebody was told of it."""
_ASIDE = "archive"
"""The folder, beside a session's anchor, of the anchors that its archived histories had."""
_FORGET = (
    "Look at the branch with `git log`, set the anchor aside with `gitguard repair --forget`, then "
    "take the branch with `gitguard repair --trust`"
)


class Identity(Record):
    """Which git directory a path leads to."""

    device: int = fields.count("The file system.")
    inode: int = fields.count("The folder in it.")
    born: int = fields.count("Birth time in nanoseconds, 0 where the system does not tell.")


class Anchor(Record):
    """The head this machine wrote, and the one it is about to write."""

    committed: str = fields.text("The newest checkpoint's commit.", default="")
    sequence: int = fields.count("Its number.", default=0)
    state_sha256: str = fields.text("The hash of the state in it.", default="")
    pending: str = fields.text(
        "A commit that is written while the ref may not be moved yet.", default=""
    )
    pending_sha256: str = fields.text("The hash of the state in that.", default="")
    pending_sequence: int = fields.count("Its number; 0 is the next one.", default=0)
    previous: str = fields.text("The checkpoint before.", default="")
    identity: Identity | None = fields.record(
        "The git directory they lie in.", of=Identity, default=None
    )
    repository: str = fields.text("The identity of the repository they lie in.", default="")
    reason: str = fields.text(
        "Why the head was last replaced by another of the same number.", default=""
    )
    branch_return: str = fields.text(
        "How far the deleted branch was put back: noted, returned or said; else empty.", default=""
    )
    archived_at: float = fields.number(
        "Unix seconds when its session was last put away; else 0.", default=0
    )

    def promoted(self) -> Anchor:
        """Return the anchor once its pending commit has become the head."""
        return self.replace(
            committed=self.pending,
            sequence=self.pending_sequence or self.sequence + 1,
            state_sha256=self.pending_sha256,
            pending="",
            pending_sha256="",
            pending_sequence=0,
            previous=self.committed,
        )


_MOST_REMOVED = 1_000
"""Marks that are kept of what is in the state no more; the copy is written at each change."""


class WorktreeWrite(Record):
    """What one worktree wrote last; another may have written the session since."""

    git_dir: str = fields.text("The worktree's git directory.")
    sha256: str = fields.text("The hash of the state it wrote last.")
    previous_sha256: str = fields.text(
        "The hash of the state in its working file before.", default=""
    )


class StateCopy(Record):
    """The last state gitguard wrote, as text, and how far the journal is folded into it."""

    state: str = fields.text("The state, as `state.json` holds it.")
    sha256: str = fields.text("Its hash.")
    previous_sha256: str = fields.text("The hash of the state before.")
    journal_id: str = fields.text("The journal that was folded into it.", default="")
    journal_offset: int = fields.count("Up to which byte.", default=0)
    worktrees: tuple[WorktreeWrite, ...] = fields.records(
        "Who wrote, and what last.", of=WorktreeWrite, default=()
    )
    rules: str = fields.text("By which rules secrets were taken out of it.", default="")
    elsewhere: tuple[str, ...] = fields.texts(
        "The ids of what in it another machine wrote.", default=()
    )
    removed_elsewhere: tuple[str, ...] = fields.texts(
        "The same of what is no longer in it, the last removed last.", default=(), sparse=True
    )

    @property
    def every_elsewhere(self) -> tuple[str, ...]:
        """The ids of what another machine wrote, in this state or in one before."""
        return (*self.removed_elsewhere, *self.elsewhere)

    def with_marks_of(self, state: TaskState, before: StateCopy | None) -> StateCopy:
        """Return the same with the marks of its state, and of what was removed since before."""
        removed = dict.fromkeys(before.every_elsewhere if before else ())
        if removed:
            present = {item.id for item in _items(state)} | {mark for _, mark in _stated_in(state)}
            removed = {mark: None for mark in removed if mark not in present}
        return self.replace(
            elsewhere=marks_in(state), removed_elsewhere=tuple(removed)[-_MOST_REMOVED:]
        )

    def older_hashes(self, git_dir: str) -> tuple[str, ...]:
        """Return the hashes of older states that a worktree's file may hold and still be ours."""
        hashes = [self.previous_sha256]
        for write in self.worktrees:
            if write.git_dir == git_dir:
                hashes += [write.sha256, write.previous_sha256]
        return tuple(hashes)

    def with_write_of(self, git_dir: str, before: str) -> StateCopy:
        """Return the same, noted as what the worktree writes last; removed worktrees go.

        before is the hash of the state that its file holds until then.
        """
        write = WorktreeWrite(git_dir, self.sha256, before)
        others = [w for w in self.worktrees if w.git_dir != git_dir and os.path.isdir(w.git_dir)]
        return self.replace(worktrees=(*others, write))


def identity_of(git_dir: str) -> Identity:
    """Ask the system which folder this is; a path or an inode alone is soon used again."""
    status = os.stat(git_dir)
    born = getattr(status, "st_birthtime_ns", None) or getattr(status, "st_birthtime", None)
    born = int(born) if born is not None else _statx_birth_time(git_dir)
    return Identity(status.st_dev, status.st_ino, born)


def whereabouts(git_dir: str) -> str:
    """Return what tells a git directory from its copies elsewhere; nobody can know it before.

    The device is left out, because a container may see the same folder under another one.
    """
    identity = identity_of(git_dir)
    return f"{identity.inode:x}-{identity.born:x}"


def _statx_birth_time(path: str) -> int:
    """Return when a file was made, in nanoseconds; 0 where neither system nor disk tells."""
    # Python's own `os.stat` does not offer the birth time on Linux; the C library does. A removed
    # file's inode number is given to a new one soon; only with the birth time do both name one.
    import ctypes

    try:
        statx = ctypes.CDLL(None).statx
    except (OSError, AttributeError):
        return 0
    # From <linux/stat.h>: `struct statx` has 256 bytes on every machine, with the birth time as
    # signed 64-bit seconds at byte 80 and 32-bit nanoseconds at byte 88.
    buffer = ctypes.create_string_buffer(256)
    current_folder, birth_time = -100, 0x800  # AT_FDCWD, STATX_BTIME
    if statx(current_folder, os.fsencode(path), 0, birth_time, buffer) != 0:
        return 0
    # The order of bytes may be wrong for the machine: the number is only compared with one that
    # was read the same way.
    # A disk without birth times succeeds all the same and leaves the zeros that stand there.
    seconds = int.from_bytes(buffer.raw[80:88], "little", signed=True)
    return seconds * 10**9 + int.from_bytes(buffer.raw[88:92], "little")


def load_record(path: str, what: str, record: type[R], limit: int = _LIMIT) -> R | None:
    """Read a record of the state directory; None where there is no file."""
    data = files.read_bytes(path, limit=limit)
    if data is None:
        return None
    try:
        document = load_json(data, what=f"{what} `{path}`", limit=limit)
        check_format(document, FORMAT, what=f"{what} `{path}`")
        del document["format"]
        return record.from_document(document)
    except InvalidInput as error:
        raise InvalidDocument(f"{what} `{path}` is damaged: {error.message}") from error


class AnchorFile:
    """The anchor of one session and the copy of its state."""

    def __init__(self, folder: str, way_out: str = _FORGET) -> None:
        """Keep both in folder, which is made when something is written.

        way_out is what to do about an anchor that is damaged.
        """
        self.folder = folder
        self._way_out = way_out
        self._anchor_path = os.path.join(folder, "anchor.json")
        self._state_path = os.path.join(folder, "state.json")
        self.index_paths = tuple(os.path.join(folder, name) for name in INDEX)

    def read(self) -> Anchor | None:
        """Return the anchor, None where this machine never wrote the session."""
        try:
            return load_record(self._anchor_path, "the anchor", Anchor)
        except (NewerFormat, NotReadable):
            raise
        except InvalidDocument as error:
            raise InvalidDocument(error.message, self._way_out) from error

    @property
    def is_there(self) -> bool:
        """Whether there is an anchor, which may be damaged."""
        return os.path.lexists(self._anchor_path)

    def write(self, anchor: Anchor, *, settled: bool = True) -> None:
        """Replace the anchor, durable; not settled, a crash may leave the one before."""
        self._write(self._anchor_path, anchor, settled=settled)

    def read_copy(self) -> StateCopy | None:
        """Return the last state written, None where there is none."""
        written = load_record(self._state_path, "the state's copy", StateCopy)
        if written is not None and sha256(written.state.encode()) != written.sha256:
            raise InvalidDocument(f"the state's copy `{self._state_path}` is not what was written")
        return written

    def write_copy(self, written: StateCopy) -> None:
        """Replace the copy of the state, durable."""
        self._write(self._state_path, written)

    def _write(self, path: str, record: Record, *, settled: bool = True) -> None:
        files.make_folder(self.folder)
        document = {"format": FORMAT, **record.to_document()}
        files.write_bytes(path, dump_json(document), settled=settled)

    def aside(self, commit: str) -> AnchorFile:
        """Return where anchor and copy are kept of a session that was archived at a commit."""
        name, short = os.path.basename(self.folder), commit[:12]
        way_out = (
            f"Look at it with `git log refs/gitguard/archive/{name}/{short}`; put its anchor back "
            "from a backup, or delete the history with `gitguard session maintain --mode "
            f"enforce --delete {name}@{short}`"
        )
        return AnchorFile(os.path.join(self.folder, _ASIDE, short), way_out)

    @property
    def has_aside(self) -> bool:
        """Whether there are archived histories; nothing is parsed."""
        return any(aside.is_there for aside in self._aside())

    def all_aside(self) -> dict[str, Anchor | GitguardError]:
        """Return the anchors of this session's archived histories, the one put away last last.

        Each is known by the beginning of its commit's id. One that cannot be read is its error.
        """
        by_time: list[tuple[float, str, Anchor | GitguardError]] = []
        for aside in self._aside():
            short = os.path.basename(aside.folder)
            try:
                anchor = aside.read()
            except GitguardError as error:
                by_time.append((0, short, error))
                continue
            if anchor is not None:
                by_time.append((anchor.archived_at, short, anchor))
        # Anchors and errors have no order of their own, so only time and name are compared.
        by_time.sort(key=lambda archived: archived[:2])
        return {short: anchor for _, short, anchor in by_time}

    def sweep_aside(self, now: float) -> None:
        """Remove what processes left there that died while they archived."""
        for aside in self._aside():
            files.sweep(aside.folder, now)

    def _aside(self) -> list[AnchorFile]:
        return [self.aside(name) for name in files.names_in(os.path.join(self.folder, _ASIDE))]

    @property
    def has_joined_lane(self) -> bool:
        """Whether a sync is saving what it joined, or was killed."""
        return os.path.lexists(os.path.join(self.folder, JOINED_LANE))

    def forget(self) -> None:
        """Remove anchor and copy, which are kept elsewhere, durable."""
        # Without its copy a state comes from the branch; without its anchor a branch is a stranger.
        for path in (*self.index_paths, self._state_path, self._anchor_path):
            files.remove(path)
        files.settle_folder(self.folder)

    def forget_index(self) -> None:
        """Remove the index of the history, which the next search makes again."""
        for path in self.index_paths:
            files.remove(path)

    def forget_indexes(self) -> None:
        """Remove the indexes of the session's archived histories as well."""
        for anchors in (self, *self._aside()):
            anchors.forget_index()

    def archive(self, suffix: str, *, copy: bool = True) -> None:
        """Set the anchor aside, and the copy of the state with it; they are no longer in force."""
        self.forget_index()
        paths = [self._anchor_path]
        if copy:
            paths.append(self._state_path)
        for path in paths:
            if os.path.lexists(path):
                _set_aside(path, files.free_name(f"{path}.{suffix}"))
        if os.path.isdir(self.folder):
            files.sync_folder(self.folder)


class Current(Record):
    """Which session a worktree works at, for when its working files are gone."""

    name: str = fields.text("The session's name.")
    identity: Identity = fields.record("The worktree's git directory.", of=Identity)


class CurrentFile:
    """The memory of a worktree's current session; a new worktree at an old path has none."""

    def __init__(self, state_folder: str, git_dir: str) -> None:
        """Keep it beside the sessions, whose names never begin with `_`."""
        self._git_dir = git_dir
        name = sha256(os.fsencode(git_dir))[:16]
        self._path = os.path.join(state_folder, f"_current-{name}.json")

    def read(self) -> str:
        """Return the session's name, empty where none is known."""
        current = self.recorded()
        # Another worktree may have taken the path since, and never chose a session.
        if current is None or current.identity != identity_of(self._git_dir):
            return ""
        return current.name if is_session_name(current.name) else ""

    def recorded(self) -> Current | None:
        """Return what was remembered, also of another worktree that lay at this path before."""
        try:
            return load_record(self._path, "the current session", Current)
        except NewerFormat:
            raise
        except InvalidDocument:
            return None

    def write(self, name: str) -> None:
        """Remember a session where the state directory can be written."""
        folder = os.path.dirname(self._path)
        if self.read() == name or not files.is_writable(folder):
            return
        files.make_folder(folder)
        current = Current(name, identity_of(self._git_dir))
        files.write_bytes(self._path, dump_json({"format": FORMAT, **current.to_document()}))

    def forget(self) -> None:
        """Remember no session any more."""
        files.remove(self._path)


def _set_aside(path: str, archive_path: str) -> None:
    try:
        files.rename(path, archive_path)
    except OSError as error:
        raise files.refused(path, error) from error


def archived_names(workspace: Workspace) -> list[str]:
    """Return the names of the sessions with archived histories."""
    names = (name for name in files.names_in(workspace.state_folder) if is_session_name(name))
    folders = {name: os.path.join(workspace.state_folder, name) for name in names}
    return sorted(name for name, folder in folders.items() if AnchorFile(folder).has_aside)


_STATED = {"goal_from": "goal", "next_from": "next_action"}
"""Fields without an id, and the text that each says the origin of."""


def not_ours(theirs: TaskState, ours: TaskState | None) -> tuple[str, ...]:
    """Return the ids of what in their state this machine did not write.

    ours is the state here, as it was marked when it was read; None where there was none.
    """
    own: dict[str, Item] = {}
    stated: set[str] = set()
    if ours is not None:
        elsewhere = set(marks_in(ours))
        own = {item.id: item for item in _items(ours) if item.id not in elsewhere}
        stated = {mark for _, mark in _stated_in(ours) if mark not in elsewhere}
    foreign = {item.id: None for item in _items(theirs) if not _is_same(item, own.get(item.id))}
    foreign.update((mark, None) for _, mark in _stated_in(theirs) if mark not in stated)
    return tuple(foreign)


def marks_in(state: TaskState) -> tuple[str, ...]:
    """Return the ids of what a state is marked as another machine's."""
    ids = [item.id for item in _items(state) if item.origin.elsewhere]
    ids += [mark for name, mark in _stated_in(state) if getattr(state, name).elsewhere]
    return tuple(ids)


def marked(state: TaskState, ids: Collection[str]) -> TaskState:
    """Return a state in which just what the ids name is marked as another machine's."""
    if not ids and not marks_in(state):
        return state
    marked_ids = frozenset(ids)
    changed: dict[str, Any] = {}
    for name in state.kinds:
        value = getattr(state, name)
        if isinstance(value, tuple) and value and isinstance(value[0], Item):
            changed[name] = tuple(_marked(item, elsewhere=item.id in marked_ids) for item in value)
        elif isinstance(value, Item):
            changed[name] = _marked(value, elsewhere=value.id in marked_ids)
    for name, mark in _stated_in(state):
        changed[name] = getattr(state, name).replace(elsewhere=mark in marked_ids)
    return state.replace(**changed)


def _marked(item: Item, *, elsewhere: bool) -> Item:
    if item.origin.elsewhere == elsewhere:
        return item
    return item.replace(origin=item.origin.replace(elsewhere=elsewhere))


def _items(state: TaskState) -> Iterator[Item]:
    for name in state.kinds:
        value = getattr(state, name)
        if isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, Item))
        elif isinstance(value, Item):
            yield value


def _stated_in(state: TaskState) -> Iterator[tuple[str, str]]:
    """Yield the fields that say where a text comes from, and what stands for their id."""
    for name, text in _STATED.items():
        if getattr(state, name) is not None:
            yield name, derived_id(name, getattr(state, text))


def marks_of_text(text: str) -> tuple[str, ...]:
    """Return what stands for the ids of fields without one, such as the goal, with this text."""
    return tuple(derived_id(name, text) for name in _STATED)


def _is_same(theirs: Item, ours: Item | None) -> bool:
    """Whether an item is ours as it was, or as it is kept after newer ones or its task's end."""
    if ours is None:
        return False
    mine, other = _marked(ours, elsewhere=False), _marked(theirs, elsewhere=False)
    if isinstance(other, EarlierNote) and not isinstance(mine, EarlierNote):
        from gitguard.state.earlier import is_note_of

        return is_note_of(other, mine)
    if type(theirs) is not type(ours):
        return False
    if mine == other:
        return True
    if not isinstance(mine, Exchange) or not isinstance(other, Exchange):
        return False
    return is_shortening(other, mine)
