"""Which snapshots of a session are kept: one ref, whose commit's tree lists them.

The ref keeps the objects from being collected by the user's own `git gc`. Forgetting a snapshot
writes another list; the disk is freed by a `git gc` once git's two weeks of grace are over.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value
from gitguard.store.git.objects import is_object_id
from gitguard.store.git.trees import FOLDER, TreeEntry, Trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitguard.store.git.repository import ObjectWriter, RefMove, Repository

FOLDER_OF_REFS = "refs/gitguard/files"
DAY = 86_400


class Retention(Value):
    """How long snapshots are kept."""

    most: int = 200
    days: int = 30


class KeptSnapshot(Value):
    """One snapshot of the list."""

    at: int
    """Unix seconds."""
    new_bytes: int
    """Bytes that were stored for it."""
    id: str
    pinned_by: str = ""
    """The name of the checkpoint for which a person keeps it for good; empty where none does."""

    @property
    def name(self) -> str:
        """How the list calls it."""
        pin = f"-{self.pinned_by}" if self.pinned_by else ""
        return f"{self.at:010d}-{self.new_bytes}-{self.id[:12]}{pin}"


class KeptSnapshots:
    """The list of one session's snapshots."""

    def __init__(self, repository: Repository, session_name: str) -> None:
        """Describe the list; nothing is read yet."""
        self._repository = repository
        self.ref = f"{FOLDER_OF_REFS}/{session_name}"

    def list(self) -> tuple[KeptSnapshot, ...]:
        """Return the snapshots that are kept, oldest first; raise where the list does not read."""
        head = self._head()
        if not head:
            return ()
        with self._repository.reader() as reader:
            trees = Trees(reader)
            entries = trees.entries(trees.of_commit(head))
        return tuple(sorted(map(_parsed, entries.items()), key=lambda kept: kept.at))

    def _head(self) -> str:
        return self._repository.ref_id(self.ref)

    def put(self, kept: Sequence[KeptSnapshot], why: str) -> None:
        """Make these the snapshots that are kept."""
        with self.ref_move(why) as move:
            with self._repository.object_writer(self._head()) as writer:
                commit = self.write(kept, why, writer)
            self.move_to(commit, move)

    def ref_move(self, why: str) -> RefMove:
        """Return a context in which git waits to move the ref, while others still write objects."""
        return self._repository.ref_move(self.ref, why)

    def write(self, kept: Sequence[KeptSnapshot], why: str, writer: ObjectWriter) -> str:
        """Write the commit that lists these snapshots; return its id."""
        with self._repository.reader() as reader:
            entries = {snapshot.name: TreeEntry(FOLDER, snapshot.id) for snapshot in kept}
            tree = Trees(reader).changed("", entries, writer.write)
        return self._repository.write_bare_commit(writer, tree, f"gitguard: {why}\n")

    def move_to(self, commit: str, move: RefMove) -> None:
        """Make the list of a commit the one that counts, by a git that waits already."""
        head = self._head()
        if commit != head:
            move.to(commit, head or "0" * len(commit))

    def forget_all(self) -> None:
        """Forget all snapshots."""
        head = self._head()
        if head:
            self._repository.delete_ref(self.ref, head)


def with_newest(kept: Iterable[KeptSnapshot], new: KeptSnapshot) -> tuple[KeptSnapshot, ...]:
    """Return the snapshots with another one; one of the same files is replaced, and its pin stays.

    The same files may have been kept before, at a checkpoint to which they were put back.
    """
    others = []
    for snapshot in kept:
        if snapshot.id == new.id:
            new = new.replace(pinned_by=snapshot.pinned_by)
        else:
            others.append(snapshot)
    return (*others, new)


def retained(
    kept: Iterable[KeptSnapshot], retention: Retention, now: float
) -> tuple[KeptSnapshot, ...]:
    """Return the snapshots that stay, oldest first: never without the newest and what is pinned.

    Of those that were taken in one second, the last one given is the newest.
    """
    oldest_first = sorted(kept, key=lambda snapshot: snapshot.at)
    oldest = now - retention.days * DAY
    stays, unpinned = [], 0
    for place, snapshot in enumerate(reversed(oldest_first)):
        is_within = unpinned < retention.most and snapshot.at >= oldest
        if place == 0 or snapshot.pinned_by or is_within:
            stays.append(snapshot)
        if not snapshot.pinned_by:
            unpinned += 1
    return tuple(reversed(stays))


def bytes_of_day(kept: Iterable[KeptSnapshot], now: float) -> int:
    """Return how many bytes were stored within the last 24 hours."""
    return sum(snapshot.new_bytes for snapshot in kept if snapshot.at > now - DAY)


def _parsed(named: tuple[str, TreeEntry]) -> KeptSnapshot:
    name, entry = named
    at, new_bytes, _, pin, *_ = f"{name}---".split("-")
    if entry.mode != FOLDER or not is_object_id(entry.id) or not at.isdigit():
        raise InvalidDocument(f"the list of file snapshots has an entry `{name:.80}`")
    return KeptSnapshot(int(at), int(new_bytes) if new_bytes.isdigit() else 0, entry.id, pin)
