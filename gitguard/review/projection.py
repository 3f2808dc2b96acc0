"""What a reviewer is shown of a session: its states without what was said, as commits.

Said are prompts, answers to questions, the agent's answers and the host's summary. An item that an
agent noted stays, even where it repeats a prompt: noting it was the agent's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, dump_json
from gitguard.model.text import counted, one_line, shorten
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.review.piece import Link
from gitguard.state import roles
from gitguard.state.checkpoint import Checkpoint
from gitguard.state.items import HOOK, Item
from gitguard.state.task import TaskState
from gitguard.store.session.composing import render_summary

_SHORT = 7
_SUBJECT = 100


class Projection(Value):
    """A task state as it is published, and what it leaves out."""

    state: TaskState
    left_out: tuple[str, ...] = ()


class PublishedCommit(Value):
    """A commit that is published: a subject, and the checkpoint whose state it has."""

    subject: str
    checkpoint: Checkpoint | None
    """None before the session's first checkpoint, when there was no state."""
    at: int
    """Unix seconds."""


def projected(state: TaskState, *, with_words: bool = False) -> Projection:
    """Return a state without anything that was said, or all of it."""
    if with_words:
        return Projection(state)
    left_out = [counted(len(state.exchanges), "message")] if state.exchanges else []
    changed: dict[str, Any] = {"exchanges": (), "host_summary": None}
    left_out += ["the host's summary"] if state.host_summary is not None else []
    for field, origin, name in (
        ("goal", "goal_from", "the goal"),
        ("next_action", "next_from", "the next action"),
    ):
        if not state.is_noted(field):
            changed |= {field: "", origin: None}
            left_out.append(f"{name}, which is from a prompt")
    if state.last_action is not None and state.last_action.by == HOOK:
        changed["last_action"] = None  # its arguments may be a question, or a prompt handed on
        left_out.append("the last tool call")
    said = 0
    for field in state.kinds:
        items = getattr(state, field)
        if field not in changed and isinstance(items, tuple):
            changed[field] = tuple(item for item in items if not _is_said(item))
            said += len(items) - len(changed[field])
    left_out += [f"{counted(said, 'item')} in the user's words"] if said else []
    return Projection(state.replace(**changed), tuple(left_out))


def _is_said(item: object) -> bool:
    return isinstance(item, Item) and item.origin.by == USER


def files_of(state: TaskState) -> dict[str, bytes]:
    """Return the files that show a projected state."""
    return {
        STATE_FILE: dump_json(state.to_document()),
        SUMMARY_FILE: render_summary(state).encode(),
    }


def shown_in(before: TaskState | None, after: TaskState) -> Mapping[str, int]:
    """Count what a comparison of two projected states adds, by the name of one item."""
    added = {}
    for field in after.noted(*roles.REVIEWED):
        known = {item.id for item in field.items_in(before)} if before else ()
        added[field.noun] = sum(item.id not in known for item in field.items_in(after))
    return {name: count for name, count in added.items() if count}


def steps_of(links: Sequence[Link], last: Checkpoint) -> list[PublishedCommit]:
    """Return the commits that show a piece of work: the base, then one after each code commit.

    links are those of one session, in the order of their commits. The last step has the state of
    the last checkpoint.
    """
    first = links[0].commit
    befores = [link.before for link in links]
    known = [before for before in befores if before is not None]
    began_here = len(known) < len(befores)
    base = None if began_here else min(known, key=lambda checkpoint: checkpoint.sequence)
    oldest = min((link.between or (link.after,))[0].at for link in links)
    steps = [
        PublishedCommit(
            _subject("Before", first.id, first.subject), base, base.at if base else oldest
        )
    ]
    by_commit = {link.commit.id: link for link in reversed(links)}  # the surest comes first
    newest: Checkpoint | None = None
    for link in sorted(by_commit.values(), key=links.index):
        # A rebase may change the order of commits; what was known then is still known.
        is_newer = newest is None or link.after.sequence >= newest.sequence
        newest = link.after if is_newer or newest is None else newest
        subject = _subject("After", link.commit.id, link.commit.subject)
        steps.append(PublishedCommit(subject, newest, newest.at))
    return [*steps[:-1], steps[-1].replace(checkpoint=last, at=last.at)]


def _subject(when: str, commit: str, subject: str) -> str:
    return shorten(f"{when} {commit[:_SHORT]}: {one_line(subject)}", _SUBJECT)


def message_of(step: PublishedCommit, session: str, *, with_words: bool) -> str:
    """Return the message of a commit that is published."""
    if step.checkpoint is None:
        body = f"The session {one_line(session)} had no checkpoint yet."
    else:
        what = "with" if with_words else "without"
        body = (
            f"The state of checkpoint {step.checkpoint.sequence} of the session "
            f"{one_line(session)},\n{what} prompts, answers and summaries.\n\n"
            f"Checkpoint: {step.checkpoint.id}"
        )
    return f"{step.subject}\n\n{body}\n"
