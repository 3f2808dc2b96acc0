"""What can be searched of a history: each item once, with the checkpoints in which it stands.

A state is written whole into every checkpoint, so an item stands in hundreds of them.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.codec import sha256
from gitguard.model.text import one_line, timestamp
from gitguard.model.value import Value
from gitguard.review.timeline import ItemHistory, StateReader, Timeline
from gitguard.state import roles
from gitguard.state.items import HOOK
from gitguard.state.task import START, TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.session.chain_check import ChainLink

    Key = tuple[str, str, tuple[str, ...]]
    """Field, id and text: what makes an item the same one in another checkpoint."""
    Items = dict[Key, dict[str, Any]]

DECISION, FAILURE, LEARNING, ISSUE, SUMMARY, MESSAGE = FIELDS = (
    "decision",
    "failure",
    "learning",
    "issue",
    "summary",
    "message",
)
CHECKPOINT = "checkpoint"
"""What a message is that says why a checkpoint was taken; the others are what was said."""
KEY_LENGTH = 16
_SEARCHED_AS = {roles.LESSON: LEARNING, roles.OPEN_WORK: ISSUE, roles.OBSTACLE: ISSUE}
"""By role; sentences of other roles belong to the summary."""
_SENTENCES = TaskState.noted(*roles.SENTENCES)
_LISTS = {
    "decisions": (DECISION, ("what", "why")),
    "failed_attempts": (FAILURE, ("what", "error")),
    **{f.name: (_SEARCHED_AS.get(f.role, SUMMARY), ("text",)) for f in _SENTENCES if f.is_list},
    "earlier": (SUMMARY, ("goal",)),
    "earlier_notes": (SUMMARY, ("text",)),
    "exchanges": (MESSAGE, ("text",)),
}
"""The lists of a state, with the field that their items are searched as and what they say."""
_LINES = {
    **{field.name: "" for field in _SENTENCES if not field.is_list},
    "goal": "goal_from",
    "next_action": "next_from",
    "current_phase": "",
}
"""The texts of a state, and where it says whose they are."""


class IndexedItem(Value):
    """An item of a history, and when it held."""

    key: str
    field: str
    id: str
    """The item's own; empty for what has none."""
    first: int
    """The number of the checkpoint in which it first stands."""
    commit: str
    """That checkpoint's commit."""
    at: int
    """When that was taken, in Unix seconds."""
    by: str
    when: str
    """When it came up, or else when the checkpoint was taken."""
    kind: str
    """What a message is; empty for other fields."""
    parts: tuple[str, ...]
    """What it says: of a decision what and why, of a failure what and how it failed."""
    removed: int = 0
    """The number of the checkpoint from which on it is gone; 0 while it stands."""
    fixed_at: str = ""
    """When a failed attempt succeeded."""
    conversation: str = ""
    """The host's id of the conversation in which it came up."""

    @property
    def holds(self) -> bool | None:
        """Whether it still holds in the newest checkpoint; None for what was only said."""
        return None if self.field == MESSAGE else not (self.removed or self.fixed_at)


class Turn(Value):
    """A checkpoint at which another code commit is checked out than at the one before."""

    sequence: int
    commit: str
    """The checkpoint's."""
    code: str
    """The code commit that is checked out from there on; empty before the first."""


class Change(Value):
    """What became of an item that was collected before."""

    key: str
    removed: int
    fixed_at: str


class Collected(Value):
    """What new checkpoints add to a history."""

    entries: tuple[IndexedItem, ...]
    """Those that came, oldest first."""
    changes: tuple[Change, ...]
    turns: tuple[Turn, ...]
    """Oldest first."""


class Before(Value):
    """What was collected of the checkpoints before."""

    keys: frozenset[str] = frozenset()
    """The keys of all items."""
    standing: frozenset[str] = frozenset()
    """The keys of those that stand in the newest of them."""
    code: str | None = None
    """The code commit of the newest of them; None where there is none."""


class Collector:
    """Collects checkpoints, which come newest first."""

    def __init__(self, redact: Callable[[str], str], states: StateReader) -> None:
        """Take secrets out of what is kept with redact."""
        self._redact = redact
        self._states = states
        self._document: dict[str, Any] = {}
        self._items: Items = {}
        self._timeline = Timeline()
        self._messages: dict[Key, Checkpoint] = {}
        """Why checkpoints were taken, with the oldest that was taken for it."""
        self._turns: list[Turn] = []

    def add(self, checkpoint: Checkpoint, link: ChainLink) -> None:
        """Take in the next older checkpoint."""
        newer: Checkpoint | None = self._timeline.oldest
        try:
            document = self._states.document(link)
        except InvalidDocument:
            document = {}  # `verify` says what is wrong with it
        if document is not self._document:
            self._document, self._items = document, dict(_items_of(document))
        self._timeline.add(checkpoint, self._items)
        if newer is not None and newer.code.head != checkpoint.code.head:
            self._turns.append(_turn(newer))
        if why := one_line(checkpoint.why):
            self._messages[MESSAGE, "", (why,)] = checkpoint

    def collected(self, before: Before) -> Collected:
        """Return what the checkpoints add to those before them."""
        oldest: Checkpoint | None = self._timeline.oldest
        if oldest is None:
            return Collected((), (), ())
        self._timeline.end()
        if before.code is None or before.code != oldest.code.head:
            self._turns.append(_turn(oldest))
        items = self._timeline.items
        for key, first in self._messages.items():
            message = {"kind": CHECKPOINT, "origin": {"by": HOOK}}
            items.setdefault(key, ItemHistory(message, None)).first = first
        by_digest = {_digest(key): (key, items[key]) for key in items}
        entries = [self._entry(k, *of) for k, of in by_digest.items() if k not in before.keys]
        changes = [
            Change(digest, _number(history.gone_at), _text(history.item.get("fixed_at")))
            for digest, (key, history) in by_digest.items()
            if digest in before.keys and key[0] != MESSAGE
        ]
        changes += [Change(key, oldest.sequence, "") for key in before.standing - by_digest.keys()]
        entries.sort(key=lambda entry: (entry.first, entry.when, entry.key))
        return Collected(tuple(entries), tuple(changes), tuple(reversed(self._turns)))

    def _entry(self, digest: str, key: Key, history: ItemHistory) -> IndexedItem:
        field, item_id, parts = key
        item, first = history.item, history.first
        origin = item.get("origin")
        origin = origin if isinstance(origin, dict) else {}
        return IndexedItem(
            key=digest,
            field=field,
            id=item_id,
            first=first.sequence,
            commit=first.id,
            at=first.at,
            by=_text(origin.get("by")),
            when=_text(origin.get("when")) or timestamp(first.at),
            kind=_text(item.get("kind")) if field == MESSAGE else "",
            parts=tuple(map(self._redact, parts)),
            removed=0 if field == MESSAGE else _number(history.gone_at),
            fixed_at=_text(item.get("fixed_at")),
            conversation=_text(origin.get("conversation")),
        )


def _number(checkpoint: Checkpoint | None) -> int:
    return checkpoint.sequence if checkpoint else 0


def _turn(checkpoint: Checkpoint) -> Turn:
    return Turn(checkpoint.sequence, checkpoint.id, checkpoint.code.head)


def _digest(key: Key) -> str:
    field, item_id, parts = key
    return sha256("\0".join((field, item_id, *parts)).encode("utf-8", "surrogatepass"))[:KEY_LENGTH]


def _items_of(document: dict[str, Any]) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield what a state says, each item with its key; a foreign state may have any shape."""
    for name, (field, names) in _LISTS.items():
        for item in _listed(document.get(name)):
            parts = tuple(filter(None, (_text(item.get(part)) for part in names)))
            if parts:
                yield (field, _text(item.get("id")), parts), item
    for name, origin in _LINES.items():
        text = _text(document.get(name))
        if text not in ("", START):
            yield (SUMMARY, "", (text,)), {"origin": document.get(origin)}
    for item in _listed([document.get("host_summary")]):
        if text := _text(item.get("text")):
            yield (SUMMARY, _text(item.get("id")), (text,)), item


def _listed(value: Any) -> Iterable[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
