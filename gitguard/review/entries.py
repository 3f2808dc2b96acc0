"""What can be searched of a history: each item once, with the checkpoints in which it stands.

A state is written whole into every checkpoint, so an item stands in hundreds of them. Pure: it is
handed checkpoints and says what came, stayed and went.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.codec import STATE_FILE
from gitguard.model.digest import sha256
from gitguard.model.similar_json import SimilarObjects
from gitguard.model.text import one_line, timestamp
from gitguard.model.value import Value
from gitguard.state.items import HOOK
from gitguard.state.task import START, upgraded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.session.chain_check import Verified

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
_LISTS = {
    "decisions": (DECISION, ("what", "why")),
    "failed_attempts": (FAILURE, ("what", "error")),
    "learnings": (LEARNING, ("text",)),
    "open_issues": (ISSUE, ("text",)),
    "blockers": (ISSUE, ("text",)),
    "completed_steps": (SUMMARY, ("text",)),
    "constraints": (SUMMARY, ("text",)),
    "invariants": (SUMMARY, ("text",)),
    "pending_assumptions": (SUMMARY, ("text",)),
    "earlier": (SUMMARY, ("goal",)),
    "exchanges": (MESSAGE, ("text",)),
}
"""The lists of a state, with the field that their items are searched as and what they say."""
_LINES = {"goal": "goal_from", "next_action": "next_from", "current_phase": ""}
"""The lines of a summary that are no list, and where a state says whose they are."""


class Entry(Value):
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

    entries: tuple[Entry, ...]
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


class _Span:
    """An item while it is collected, from the newest checkpoint on backwards."""

    def __init__(self, key: Key, item: dict[str, Any], removed: int, first: Checkpoint) -> None:
        self.key = key
        self.item = item
        self.removed = removed
        self.first = first


class Timeline:
    """Collects checkpoints, which come newest first."""

    def __init__(self, redact: Callable[[str], str], read: Callable[[str], bytes]) -> None:
        """Take secrets out of what is kept with redact; read returns the content of a state."""
        self._redact = redact
        self._read = read
        self._documents = SimilarObjects(what="the checkpoint's state")
        self._spans: dict[Key, _Span] = {}
        self._standing: Items = {}
        self._turns: list[Turn] = []
        self._newer: Checkpoint | None = None
        self._blob = ""

    def add(self, verified: Verified, blob: str) -> None:
        """Take in the next older checkpoint; blob is the id of its state."""
        checkpoint, newer = verified.checkpoint, self._newer
        if blob != self._blob:
            self._move_to(checkpoint, self._items(verified, blob))
            self._blob = blob
        if newer is not None and newer.code.head != checkpoint.code.head:
            self._turns.append(_turn(newer))
        message = (MESSAGE, "", (one_line(checkpoint.why),))
        if message[2][0]:
            origin = {"kind": CHECKPOINT, "origin": {"by": HOOK}}
            self._spans.setdefault(
                message, _Span(message, origin, 0, checkpoint)
            ).first = checkpoint
        self._newer = checkpoint

    def _items(self, verified: Verified, blob: str) -> Items:
        # A content comes with the newest checkpoint that holds it. Older ones hold it again only
        # where somebody went back to it.
        content = verified.contents.get(STATE_FILE)
        try:
            document = self._documents.load(self._read(blob) if content is None else content)
            return dict(_items_of(upgraded(document)))
        except InvalidDocument:
            return {}  # `verify` says what is wrong with it

    def _move_to(self, checkpoint: Checkpoint, items: Items) -> None:
        newer = self._newer
        if newer is not None:
            for key in self._standing.keys() - items.keys():
                self._spans[key].first = newer
        for key in items.keys() - self._standing.keys():
            if key not in self._spans:
                removed = newer.sequence if newer is not None else 0
                self._spans[key] = _Span(key, items[key], removed, checkpoint)
        self._standing = items

    def collected(self, before: Before) -> Collected:
        """Return what the checkpoints add to those before them."""
        oldest = self._newer
        if oldest is None:
            return Collected((), (), ())
        for key in self._standing:
            self._spans[key].first = oldest
        if before.code is None or before.code != oldest.code.head:
            self._turns.append(_turn(oldest))
        spans = {_digest(key): span for key, span in self._spans.items()}
        entries = [self._entry(k, span) for k, span in spans.items() if k not in before.keys]
        changes = [
            Change(key, span.removed, _text(span.item.get("fixed_at")))
            for key, span in spans.items()
            if key in before.keys and span.key[0] != MESSAGE
        ]
        changes += [Change(key, oldest.sequence, "") for key in before.standing - spans.keys()]
        entries.sort(key=lambda entry: (entry.first, entry.when, entry.key))
        return Collected(tuple(entries), tuple(changes), tuple(reversed(self._turns)))

    def _entry(self, key: str, span: _Span) -> Entry:
        field, item_id, parts = span.key
        origin = span.item.get("origin")
        origin = origin if isinstance(origin, dict) else {}
        first = span.first
        return Entry(
            key,
            field,
            item_id,
            first.sequence,
            first.id,
            first.at,
            _text(origin.get("by")),
            _text(origin.get("when")) or timestamp(first.at),
            _text(span.item.get("kind")) if field == MESSAGE else "",
            tuple(map(self._redact, parts)),
            0 if field == MESSAGE else span.removed,
            _text(span.item.get("fixed_at")),
        )


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
