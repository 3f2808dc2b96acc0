"""What is remembered of tasks that have ended: their goals, and what was noted for them."""

from __future__ import annotations

from gitguard.model.text import shorten
from gitguard.state.items import (
    SAID,
    Artifact,
    Decision,
    EarlierNote,
    EarlierTask,
    Exchange,
    Failure,
    Origin,
    ToolOutput,
    derived_id,
)
from gitguard.state.thread import lasting_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from gitguard.state.items import Item

_GOAL, _NOTE = 200, 240
"""Characters of an earlier task's goal, and of each of its notes."""
_MOST_NOTES = 12


def earlier_task(
    session_key: str, task_id: str, goal: str, status: str, origin: Origin
) -> EarlierTask:
    """Return what a session remembers of a task that gave way to another one."""
    item_id = derived_id(session_key, "earlier", task_id)
    return EarlierTask(task_id, shorten(goal, _GOAL), status, id=item_id, origin=origin)


def notes_of(
    task_id: str, noted: Iterable[tuple[str, Item]], exchanges: tuple[Exchange, ...]
) -> tuple[EarlierNote, ...]:
    """Return what was noted for a task, with what each item is called, and the lasting words."""
    lasting = ((SAID, exchange) for exchange in lasting_words(exchanges))
    return tuple(
        EarlierNote(task_id, kind, _words_of(item), id=item.id, origin=item.origin)
        for kind, item in (*noted, *lasting)
    )


def in_short(notes: tuple[EarlierNote, ...]) -> tuple[EarlierNote, ...]:
    """Return as much of the notes of a task as is kept when it ends: the last ones, cut."""
    return tuple(note.replace(text=shorten(note.text, _NOTE)) for note in notes[-_MOST_NOTES:])


def is_note_of(note: EarlierNote, item: Item) -> bool:
    """Say whether a note says just what an item said, cut as a note may be."""
    words = _words_of(item)
    if isinstance(item, Exchange):  # of the first one only what is behind its first sentence
        return note.origin == item.origin and " ".join(words.split()).endswith(
            " ".join(note.text.split())
        )
    return note.origin == item.origin and note.text in (words, shorten(words, _NOTE))


def _words_of(item: Any) -> str:
    if isinstance(item, Decision):
        return f"{item.what} — because {item.why}" if item.why else item.what
    if isinstance(item, Failure):
        return f"{item.what}: {item.error}"
    if isinstance(item, ToolOutput):
        return f"{item.tool}: {item.summary}"
    words: str = item.path if isinstance(item, Artifact) else getattr(item, "text", "")
    return words
