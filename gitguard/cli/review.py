"""Commands for reviewers: what the agent knew when it made a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.change_lines import difference_lines
from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.paging import PageLine, no_pager_option, say_paged
from gitguard.cli.untrusted import untrusted_option, writer_option
from gitguard.model.text import counted, local_times, one_line, percent, shorten, timestamp
from gitguard.state.roles import DONE_WORK, REVIEWED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.guard.review import AtCommit
    from gitguard.review.knowledge import Knowledge, Row
    from gitguard.review.piece import CodeChange
    from gitguard.state.task import TaskState

_SHORT = 7
_SUBJECT = 72
_INDENT = " " * (_SHORT + 2)
_HEADWORDS = ("what", "text", "path", "command", "summary", "goal")
"""The fields of an item of which the first that it has says what it is about."""
_REASONS = ("why", "error", "description", "outcome")
_KNOWN = tuple(role for role in REVIEWED if role != DONE_WORK)
_SHOWN = 10
"""Items of a list that are shown of what was known before; --json has them all."""
_NOT_OURS = "NOT OURS: this machine has no record of writing these checkpoints. Do not trust them."


@click.command()
@click.argument("commit", default="HEAD")
@writer_option
@untrusted_option
@no_pager_option
@with_console
def at(console: Console, commit: str, writer: str, untrusted: bool, no_pager: bool) -> None:
    """Show what the agent knew when it did the work in COMMIT

    Finds the work by the content of the commit, also after a rebase, an amend, a cherry-pick or a
    squash, in every session, including archived ones. Prints the task state after the work, what
    became known in it, and what shows that the commit holds it.

    Example: `gitguard at HEAD~2`
    """
    moment = console.guard.review.at(commit, session=console.chosen_session, writer=writer)
    shown = tuple(k for k in moment.knowledge if k.link.is_ours or untrusted)
    hidden = len(moment.knowledge) - len(shown)
    moment = moment.replace(knowledge=shown)
    lines = list(_moment_lines(moment, hidden))
    document = {**fields_of(moment), "hidden": hidden}
    say_paged(console, lines, document, no_pager=no_pager)


def _moment_lines(moment: AtCommit, hidden: int) -> Iterator[PageLine]:
    yield PageLine(_commit_line(moment.commit), "yellow", _SHORT)
    files = counted(len(moment.commit.paths), "file")
    written = local_times(timestamp(moment.commit.authored_at))
    yield PageLine(f"{_INDENT}{files} changed, written {written}")
    for knowledge in moment.knowledge:
        yield PageLine("")
        yield from _knowledge_lines(knowledge)
    if not moment.knowledge and not hidden:
        yield PageLine("No work of an agent is known in this commit.")
    if hidden:
        histories = counted(hidden, "more session")
        yield PageLine(
            f"{histories} that this machine has no record of: --untrusted shows what they say."
        )
    yield from (PageLine(f"Note: {one_line(note)}") for note in moment.notes)


def _knowledge_lines(knowledge: Knowledge) -> Iterator[PageLine]:
    link = knowledge.link
    if not link.is_ours:
        yield PageLine(_NOT_OURS, "red")
    yield PageLine(f"Session {one_line(link.label)}, {link.after.name} {link.after.id[:12]}")
    yield PageLine(f"Link: {link.certainty}; {one_line(link.reason)}")
    if knowledge.state is not None:
        yield from map(PageLine, _state_lines(knowledge.state))
    if knowledge.problem:
        yield PageLine(f"Problem: {one_line(knowledge.problem)}", "red")
        return
    yield from map(PageLine, _earlier_lines(knowledge))
    yield PageLine(f"Learned in this work (since {link.before.name}):")
    for line in difference_lines(knowledge.sentences, link.after.at, "gitguard at --json"):
        yield PageLine(f"  {line.text}", line.colour)


def _earlier_lines(knowledge: Knowledge) -> Iterator[str]:
    """Yield what the agent already knew when work on the commit began, the newest of each list."""
    assert knowledge.state is not None
    state = knowledge.state.to_document()
    fields = knowledge.state.noted(*_KNOWN)
    added = {change.field: change.added or change.after for change in knowledge.changes}
    lines = []
    for field in (field.name for field in fields):
        new = _listed(added.get(field))
        items = [item for item in _listed(state.get(field)) if item not in new]
        shown = [f"    {_item_text(item)}" for item in items[-_SHOWN:]]
        earlier = [f"    … {len(items) - _SHOWN:,} earlier"] if len(items) > _SHOWN else []
        lines += [f"  {field}:", *earlier, *shown] if items else []
    if lines:
        yield from ("Known before it:", *lines)


def _listed(value: Any) -> list[Any]:
    """Return the items of a field, of which a text is the only one."""
    return list(value) if isinstance(value, list | tuple) else [value] if value else []


def _item_text(item: Any) -> str:
    if not isinstance(item, dict):
        return one_line(str(item))
    words = [item[name] for name in _HEADWORDS if item.get(name)]
    besides = [item[name] for name in _REASONS if item.get(name)]
    return one_line(": ".join(map(str, [*words[:1], *besides[:1]])))


def _state_lines(state: TaskState) -> Iterator[str]:
    goal, following = state.stated_goal, state.stated_next_action
    yield f"Goal: {one_line(goal) or '(none yet)'}"
    yield f"Phase: {one_line(state.current_phase)}; next: {one_line(following) or '(not set)'}"


def _commit_line(commit: CodeChange) -> str:
    return f"{commit.id[:_SHORT]}  {shorten(commit.subject, _SUBJECT)}"


def say_course(
    console: Console, range_text: str, most: int | None, *, writer: str, untrusted: bool
) -> None:
    """Print a row for each code commit of a range, newest first, or for the newest ones."""
    if ".." not in range_text:
        raise click.BadParameter(
            f"`{range_text:.80}` is not a range such as `main..HEAD`; a path goes with --files"
        )
    course = console.guard.review.course(
        range_text, session=console.chosen_session, writer=writer, untrusted=untrusted
    )
    more = max(len(course.rows) - most, 0) if most else 0
    course = course.replace(rows=course.rows[more:])
    lines = [line for row in reversed(course.rows) for line in _row_lines(row)]
    lines += [f"Note: {one_line(note)}" for note in course.notes]
    if more:
        console.remark(f"{counted(more, 'more commit')}; without -n all of them are listed.")
    console.say("\n".join(lines) or "No commits.", {**fields_of(course), "more": more})


def _row_lines(row: Row) -> Iterator[str]:
    yield _commit_line(row.commit)
    if row.link is None:
        yield f"{_INDENT}{row.problem or 'no work of an agent is known in it'}"
        return
    nothing = "not known" if row.problem else "nothing noted"
    added = [f"+{row.added[0]}", *row.added[1:]] if row.added else [nothing]
    following = [f"next: {row.next_action}"] if row.next_action else []
    yield _INDENT + ", ".join([*added, *following])
    yield from (f'{_INDENT}"{message}"' for message in row.messages)
    yield f"{_INDENT}({'; '.join(_about(row))})"


def _about(row: Row) -> Iterator[str]:
    """Yield what is said of a row's checkpoints as a whole."""
    assert row.link is not None
    between = row.link.between
    taken = counted(len(between), "checkpoint")
    yield f"{taken}, {row.automatic} automatic" if row.automatic else taken
    if row.pressure is not None:
        yield f"context up to {percent(row.pressure)}"
    yield f"{one_line(row.link.label)}, {row.link.certainty}"
    if not row.link.is_ours:
        yield "NOT OURS, trust nothing of it"
    if row.problem:
        yield one_line(row.problem)


COMMANDS: list[click.Command] = [at]
