"""One timeline: the checkpoints of a history in their order, and the items of their states.

The report with its page, the index of a search, `at` and `log BASE..HEAD` go along it. A history
may have 100,000 checkpoints with a state each, so no more of them is kept than is asked for.
"""

from __future__ import annotations

from functools import cached_property

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE, STATE_LIMIT
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.value import Value
from gitguard.state.task import upgraded
from gitguard.store.session.chain_check import Verification, refuse
from gitguard.store.session.naming import Session
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.chain_check import ChainLink

    Items = Mapping[Any, Any]
    """The items of a state, each by what makes it the same one in another state."""


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
    times: tuple[int, ...]
    is_ours: bool
    shared: int = 0
    """How many of the first ones another course has too, which ties commits to them."""
    is_cut: bool = False
    """Whether there were checkpoints before the first of them that cannot be read."""
    is_past_ours: bool = False
    """Whether somebody put it on a branch of ours, or in its place."""

    @cached_property
    def first(self) -> dict[str, int]:
        """The place at which each code commit is checked out for the first time."""
        return {head: place for place, head in reversed([*enumerate(self.heads)])}

    @cached_property
    def last(self) -> dict[str, int]:
        """The place at which each code commit is checked out for the last time."""
        return {head: place for place, head in enumerate(self.heads)}

    def named(self, place: int) -> str:
        """Return how a reason calls a checkpoint."""
        return f"checkpoint {self.sequences[place]}"


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
                self._document = upgraded(self._documents.load(data))
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
            walk = Verification(self._reader, Session.of(checkpoint.session_key))
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
            self._end(self._standing.keys() - items.keys())
            for key in items.keys() - self._standing.keys():
                self.items.setdefault(key, ItemHistory(items[key], self.oldest))
                self._since[key] = self.length
            self._standing = items
        self.oldest = checkpoint
        self.length += 1

    def end(self) -> None:
        """Close what stands in the oldest checkpoint; nothing is added after that."""
        self._end(self._standing.keys())

    def _end(self, keys: Iterable[Any]) -> None:
        for key in keys:
            history = self.items[key]
            history.earliest, history.first = self._standing[key], self.oldest
            history.spans.append((self._since.pop(key), self.length - 1))
