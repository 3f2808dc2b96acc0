"""What was known when a commit was made, and what became known while it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

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
from gitguard.state.task import START, TaskState, as_of, without


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


_FOREIGN = "work of a session that this machine has no record of; --untrusted shows it"


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
    """Why nothing more is said."""


def _knowledge(states: StateReader, link: Link) -> Knowledge:
    """Return what the session of a link knew."""
    state = None
    try:
        earlier, state = (
            _words_of(states.state(checkpoint), link) for checkpoint in (link.before, link.after)
        )
        changes = compare_states(earlier, state)
    except GitguardError as error:
        return Knowledge(link, state, problem=error.message)
    shown = (_stated(c) for c in changes if not (c.is_bookkeeping or c.is_empty))
    return Knowledge(link, state, tuple(shown), sentences(earlier, state))


def _words_of(state: TaskState, link: Link) -> TaskState:
    """Return a state with the task of those that did the work, without what others did beside."""
    if not link.beside:
        return state
    for writer in link.writers:
        state = as_of(state, writer, state.updated_at)
    return without(state, link.beside)


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
    links: dict[str, list[Link]] = {}
    for link in piece.links:
        of_commit = links.setdefault(link.commit.id, [])
        # The first is the surest, and all of the same session belong to it.
        if (link.is_ours or untrusted) and (not of_commit or of_commit[0].label == link.label):
            of_commit.append(link)
    with sessions.repository().reader() as reader:
        states = StateReader(reader)
        for commit in piece.commits:
            of_commit = links.get(commit.id, [])
            knowledge = [_knowledge(states, link) for link in of_commit]
            problem = _FOREIGN if commit.id in links else ""
            yield row(knowledge) if knowledge else Row(commit, problem=problem)


def row(knowledge: Sequence[Knowledge]) -> Row:
    """Say in short what became known in the work that a commit holds, from its links in order."""
    link, state = knowledge[0].link, knowledge[-1].state
    between = list({c.id: c for k in knowledge for c in k.link.between}.values())
    messages = [one_line(c.why) for c in between if c.trigger == MANUAL and c.why != NO_MESSAGE]
    pressures = [c.pressure for c in between if c.pressure is not None]
    return Row(
        commit=link.commit,
        link=link.replace(between=tuple(between)),
        added=tuple(_added([change for k in knowledge for change in k.changes])),
        next_action=one_line(state.stated_next_action) if state else "",
        messages=tuple(messages),
        pressure=max(pressures, default=None),
        automatic=sum(c.trigger != MANUAL for c in between),
        problem=next((k.problem for k in knowledge if k.problem), ""),
    )


def _added(changes: Iterable[FieldChange]) -> Iterator[str]:
    numbers: Counter[str] = Counter()
    fields = {field.name: field for field in TaskState.noted(*roles.REVIEWED)}
    for change in changes:
        if change.field not in fields:
            continue
        # An item that changed is gone as it was and there as it is; its id stays.
        before = {item.get("id") for item in change.removed}
        added = change.added or (change.after if change.before is None else ()) or ()
        is_list = fields[change.field].is_list
        new = sum(item.get("id") not in before for item in added) if is_list else 0
        numbers[change.field] += new if is_list else int(bool(change.after))
    for name, field in fields.items():
        if numbers[name]:
            yield counted(numbers[name], field.noun)
