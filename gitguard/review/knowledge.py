"""What was known when a commit was made, and what became known while it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitguard.errors import GitguardError
from gitguard.model.text import counted, one_line
from gitguard.model.triggers import MANUAL, NO_MESSAGE
from gitguard.model.value import Value
from gitguard.review.piece import CodeChange, Link, Piece
from gitguard.review.sentences import Sentence, sentences
from gitguard.review.timeline import StateReader
from gitguard.sessions.state_comparison import FieldChange, compare_states
from gitguard.sessions.workspace_sessions import WorkspaceSessions
from gitguard.state import roles
from gitguard.state.task import START, TaskState, new_task

_CUT = "the checkpoints before it cannot be read, so what became known in it is not known"


class Knowledge(Value):
    """What one session knew when a commit was made."""

    link: Link
    state: TaskState | None
    """The state of the checkpoint after the commit; None where it cannot be read."""
    changes: tuple[FieldChange, ...] = ()
    """What became known while the commit was made, by field."""
    sentences: tuple[Sentence, ...] = ()
    """The same in sentences, what matters most first."""
    problem: str = ""
    """Why a state cannot be read; empty where both can."""


class Row(Value):
    """A code commit, and in short what became known while it was made."""

    commit: CodeChange
    link: Link | None = None
    """The surest link; None where no checkpoint is tied to the commit."""
    added: tuple[str, ...] = ()
    """Such as `2 decisions`; what was noted before is not counted again."""
    next_action: str = ""
    messages: tuple[str, ...] = ()
    """Why people and agents took checkpoints, oldest first."""
    pressure: float | None = None
    """The highest share of the context that was in use."""
    automatic: int = 0
    """Checkpoints that gitguard took by itself."""
    problem: str = ""


def _knowledge(states: StateReader, link: Link) -> Knowledge:
    """Return what the session of a link knew."""
    state = None
    try:
        earlier = states.state(link.before) if link.before else None
        state = states.state(link.after)
        if link.is_cut:
            return Knowledge(link, state, problem=_CUT)
        # What a session begins with is nothing that became known in it.
        blank = new_task(state.session_id, state.updated_at).replace(task_id=state.task_id)
        changes = compare_states(earlier or blank, state)
    except GitguardError as error:
        return Knowledge(link, state, problem=error.message)
    shown = (_stated(c) for c in changes if not (c.is_bookkeeping or c.is_empty))
    return Knowledge(link, state, tuple(shown), sentences(earlier, state))


def _stated(change: FieldChange) -> FieldChange:
    """Return a change without the word that stands for what nobody had said yet."""
    return change.replace(before=None) if change.before == START else change


def knowledge_of(sessions: WorkspaceSessions, piece: Piece) -> tuple[Knowledge, ...]:
    """Return what each session knew of the commits of a piece."""
    with sessions.repository().reader() as reader:
        states = StateReader(reader)
        return tuple(_knowledge(states, link) for link in piece.links)


def rows_of(sessions: WorkspaceSessions, piece: Piece, *, untrusted: bool = False) -> Iterator[Row]:
    """Yield a row for each commit of a piece, oldest first.

    What this machine did not write is left out, unless an untrusted history is asked for.
    """
    surest: dict[str, Link] = {}
    for link in piece.links:
        if link.is_ours or untrusted:
            surest.setdefault(link.commit.id, link)
    with sessions.repository().reader() as reader:
        states = StateReader(reader)
        for commit in piece.commits:
            chosen = surest.get(commit.id)
            yield row(_knowledge(states, chosen)) if chosen else Row(commit)


def row(knowledge: Knowledge) -> Row:
    """Say in short what became known while a commit was made."""
    link, state = knowledge.link, knowledge.state
    messages = [
        one_line(c.why) for c in link.between if c.trigger == MANUAL and c.why != NO_MESSAGE
    ]
    pressures = [c.pressure for c in link.between if c.pressure is not None]
    return Row(
        commit=link.commit,
        link=link,
        added=tuple(_added(knowledge.changes)),
        next_action=one_line(state.stated_next_action) if state else "",
        messages=tuple(messages),
        pressure=max(pressures, default=None),
        automatic=sum(c.trigger != MANUAL for c in link.between),
        problem=knowledge.problem,
    )


def _added(changes: Iterable[FieldChange]) -> Iterator[str]:
    by_field = {change.field: change for change in changes}
    for field in TaskState.noted(*roles.REVIEWED):
        change = by_field.get(field.name)
        if change is None:
            continue
        # An item that changed is gone as it was and there as it is; its id stays.
        before = {item.get("id") for item in change.removed}
        added = change.added or (change.after if change.before is None else ()) or ()
        number = sum(item.get("id") not in before for item in added)
        if not field.is_list:
            number = int(bool(change.after))
        if number:
            yield counted(number, field.noun)
