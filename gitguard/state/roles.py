"""What an agent notes: the role of each such field in the task state, and the words for it.

Whoever shows, counts or searches notes goes by roles, so a new field needs its declaration alone.
"""

from __future__ import annotations

from gitguard.model.value import Value
from gitguard.state.items import Note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitguard.model.fields import Kind
    from gitguard.model.record import Record

HEADLINE, DECISION, FAILURE, FILE, OUTPUT = "headline", "decision", "failure", "file", "output"
LIMIT, OBSTACLE, OPEN_WORK, DONE_WORK, ASSUMPTION, LESSON, REMARK = SENTENCES = (
    "limit",
    "obstacle",
    "open work",
    "done work",
    "assumption",
    "lesson",
    "remark",
)
"""Roles of what is noted in sentences; a field that declares none holds remarks."""
ITEMS = (DECISION, FAILURE, FILE, OUTPUT, *SENTENCES)
"""All but the headlines, which stand at the head of whatever shows a state."""
REVIEWED = (DECISION, FAILURE, LIMIT, ASSUMPTION, LESSON, OPEN_WORK, OBSTACLE, DONE_WORK, REMARK)
"""What is counted of a piece of work, in this order."""
OPTIONS = (
    *(HEADLINE, DONE_WORK, OPEN_WORK, LIMIT, OBSTACLE, LESSON, ASSUMPTION, REMARK, FILE, OUTPUT),
    *(DECISION, FAILURE),
)
"""What `gitguard note` takes, in the order of its help."""


class NotedField(Value):
    """A field that an agent notes. What its declaration leaves out follows from its name."""

    role: str = REMARK
    help: str = ""
    """What `gitguard note --help` says of its option."""
    added: str = ""
    """What a comparison says before a new item."""
    removed: str = ""
    """What it says of an item that is gone, with {} for the item."""
    noun: str = ""
    """What one item is called."""
    option: str = ""
    """The option's name."""
    title: str = ""
    """What a resume block says above the items."""
    name: str = ""
    is_list: bool = True

    @property
    def label(self) -> str:
        """The field's name as a heading."""
        return self.name.replace("_", " ").capitalize()

    def items_in(self, state: Record) -> tuple[Any, ...]:
        """Return the items that a state holds; a text is a note without an id."""
        value = getattr(state, self.name)
        return value if self.is_list else notes_of(value)


def notes_of(text: str) -> tuple[Note, ...]:
    """Return a field's text as a list holds it; nothing where it is empty."""
    return (Note(text),) if text.strip() else ()


def declared_in(kinds: Mapping[str, Kind]) -> Iterator[NotedField]:
    """Yield the fields that an agent notes: lists of items, and texts of any words."""
    for name, kind in kinds.items():
        if kind.is_fixed or not (kind.is_list or kind.is_free_text):
            continue
        field: NotedField = kind.noted or NotedField()
        if field.role in SENTENCES and kind.of is not Note and kind.is_list:
            raise TypeError(f"`{name}` has to be a list of notes, so that each item has an id")
        words = name.replace("_", " ")
        noun = field.noun or (words.removesuffix("s") if kind.is_list else words)
        yield field.replace(
            name=name,
            is_list=kind.is_list,
            noun=noun,
            option=field.option or noun.replace(" ", "-"),
            help=field.help or kind.doc.removesuffix("."),
            title=field.title or words.capitalize(),
            added=field.added or f"New {noun}",
            removed=field.removed or f'Dropped the {noun} "{{}}"',
        )
