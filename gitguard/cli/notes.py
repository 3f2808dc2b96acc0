"""Commands that write the state: note and update, and how a checkpoint is reported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitguard.cli.console import Console, can_ask, read_input, with_console
from gitguard.cli.option_values import OptionsInOrder, pairs
from gitguard.cli.process_environment import conversation_around, is_agents_shell
from gitguard.errors import Complete, InvalidDocument, InvalidInput, Pending
from gitguard.model import triggers
from gitguard.model.codec import STATE_LIMIT, load_json
from gitguard.model.text import counted, one_line, shorten
from gitguard.state.roles import DECISION, FAILURE, FILE, OPTIONS, OUTPUT
from gitguard.state.task import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.sessions.notes import Noted
    from gitguard.store.session.store import Saved

F = TypeVar("F", bound="Callable[..., Any]")

_GOAL_LIMIT = 80
_NEXT_COMMITS = "The next gitguard command that can write commits it"
_UPDATE_EXAMPLE = """Give a JSON object, such as {"next_action": "Write the tests"}"""
_METAVARS = {FILE: "PATH", OUTPUT: "TOOL:TEXT"}
_DETAILS = {DECISION: ("why", "Reason for the decision"), FAILURE: ("error", "Its error")}
"""By role, an option that says more about another one, and its help."""
_APPENDED = sorted(name for name, kind in TaskState.kinds.items() if kind.appends)


def _options() -> Iterator[Callable[[F], F]]:
    """Yield an option for each field: texts first, those with a detail of their own last."""
    fields = TaskState.noted(*OPTIONS)
    for field in sorted(fields, key=lambda field: field.is_list):
        metavar = _METAVARS.get(field.role, "TEXT")
        yield _option(field.option, metavar, field.help, is_list=field.is_list)
        if field.role in _DETAILS:
            detail, text = _DETAILS[field.role]
            yield _option(detail, "TEXT", f"{text}; put it after its --{field.option}")


def _option(name: str, metavar: str, text: str, *, is_list: bool = True) -> Callable[[F], F]:
    text += " (can be repeated)" if is_list else ""
    kind = click.Path() if metavar == "PATH" else click.STRING
    return click.option(f"--{name}", multiple=is_list, metavar=metavar, type=kind, help=text)


def _field_options(command: F) -> F:
    for option in reversed(list(_options())):
        command = option(command)
    return command


@click.command(cls=OptionsInOrder)
@_field_options
@click.option(
    "--confidence", type=click.FloatRange(0, 1), metavar="0..1", help="How certain this state is"
)
@click.option("--new-task", is_flag=True, help="Begin a new task in this session")
@with_console
def note(console: Console, new_task: bool, **values: Any) -> None:
    """Record what the agent knows

    A noted value stays until you change it; a list grows. To replace a list, use `gitguard update`.
    Put each --why right after its --decision, and each --error right after its --failure.

    Example: `gitguard note --goal "Port the parser" --next "Write the tokenizer's tests"`
    """
    changes = _changes(values)
    for artifact in changes.get("artifacts", ()):
        artifact["path"] = _from_here(console, artifact["path"])
    noted = console.guard.note(
        changes,
        new_task=new_task,
        host_session=conversation_around(),
        by_person=_is_by_person(),
    )
    _say_noted(console, noted)


def _from_here(console: Console, path: str) -> str:
    """Return a path given in the current folder as the workspace names it; addresses stay."""
    return path if "://" in path else console.guard.workspace.place.relative(os.path.realpath(path))


def _changes(values: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for field in TaskState.noted(*(role for role in OPTIONS if role not in _DETAILS)):
        value = values[field.option.replace("-", "_")]
        if field.is_list and value:
            changes[field.name] = [_item(field.role, text) for text in value]
        elif not (field.is_list or value is None):
            changes[field.name] = value
    if values["done"]:
        changes["last_action"] = {"summary": values["done"][-1]}
    for field in TaskState.noted(*_DETAILS):
        detail, _ = _DETAILS[field.role]
        entries = pairs(click.get_current_context(), field.option, detail, values)
        if entries:
            changes[field.name] = [{"what": what, detail: text} for what, text in entries]
    if values["confidence"] is not None:
        changes["state_confidence"] = values["confidence"]
    return changes


def _item(role: str, text: str) -> str | dict[str, str]:
    if role == FILE:
        return {"path": text}
    if role != OUTPUT:
        return text
    tool, colon, summary = text.partition(":")
    if not colon:
        raise InvalidInput(f"`{text[:80]}` has no tool's name", "Write --output 'pytest: 3 failed'")
    return {"tool": tool.strip(), "summary": summary.strip()}


@click.command(
    help=f"""Set fields of the state from a JSON object on standard input

    Applies the whole object or nothing. Appends to {", ".join(_APPENDED[:-1])} and {_APPENDED[-1]};
    replaces the other lists.

    Example: `gitguard update --replace < state.json`
    """
)
@click.option("--replace", is_flag=True, help="Replace every given list")
@with_console
def update(console: Console, replace: bool) -> None:
    """Set fields of the state from a JSON object on standard input."""
    if can_ask():
        console.remark("Type a JSON object, then press Ctrl-D.")
    data = read_input(STATE_LIMIT + 1)
    if not data.strip():
        raise InvalidDocument("standard input is empty", _UPDATE_EXAMPLE)
    document = load_json(data, what="standard input")
    if not document:
        raise InvalidInput("the JSON object names no field", _UPDATE_EXAMPLE)
    noted = console.guard.update(
        document, replace=replace, host_session=conversation_around(), by_person=_is_by_person()
    )
    _say_noted(console, noted)


def _is_by_person() -> bool:
    """Say whether a person types the command, as far as the terminal and its environment tell."""
    return bool(sys.stderr and sys.stderr.isatty()) and not is_agents_shell()


def _say_noted(console: Console, noted: Noted) -> None:
    lines = [f"{name}: {what}" for name, what in noted.report.items()]
    if noted.saved is not None and noted.saved.trigger == triggers.START:
        lines.insert(0, f"A new task begins: {noted.state.task_id}")
    lines += [
        f"{secret.path}: redacted, it looks like a secret ({secret.rule})"
        for secret in noted.redacted
    ]
    if noted.earlier_goal:
        lines.append(_about_goal(noted))
    if noted.is_apart:
        lines.append("The note is saved in the state directory.")
    elif noted.saved is not None:
        lines.append(_noted_text(noted.saved))
    status = ""
    if noted.state.is_done and "next_action" in noted.report and not noted.is_apart:
        status = Complete.status
        lines += [
            f"The task `{noted.state.task_id}` is complete. Tell the user the result and stop; "
            "`gitguard note --next TEXT` continues it."
        ]
    document = {
        "status": status,
        "report": noted.report,
        "redacted": list(noted.redacted),
        "earlier_goal": noted.earlier_goal,
        "still_noted": noted.still_noted,
        "saved": noted.saved,
        "state": noted.state,
    }
    console.say("\n".join(lines), document, signal=status)


def _about_goal(noted: Noted) -> str:
    """Say what stays of the task whose goal was replaced, and how to begin another task."""
    labels = [name.replace("_", " ").removesuffix("s") for name in noted.still_noted]
    items = list(map(counted, noted.still_noted.values(), labels))
    stays = f"what was noted for it stays: {', '.join(items)}" if items else "nothing else changes"
    return one_line(
        f"This goal replaces `{shorten(noted.earlier_goal, _GOAL_LIMIT)}`; {stays}. If it is "
        "another task, begin it with `gitguard note --new-task --goal TEXT`."
    )


def _noted_text(saved: Saved) -> str:
    """Say what became of a note: one whose commit has to wait is saved, so it did not fail."""
    if not saved.pending:
        return saved_text(saved)
    way_out = saved.way_out or _NEXT_COMMITS
    return one_line(f"The note is saved; its commit is pending: {saved.pending}. {way_out}.")


def saved_text(saved: Saved) -> str:
    """Say what became of a checkpoint."""
    if saved.pending:
        return "The state is saved in the working files."
    if not saved.commit:
        return "Nothing changed since the last checkpoint."
    return f"Saved checkpoint {saved.sequence} ({saved.trigger}) as {saved.commit[:12]}"


def pending(saved: Saved | None) -> Pending | None:
    """Return the problem of a command whose commit has to wait."""
    if saved is None or not saved.pending:
        return None
    return Pending(
        f"nothing is committed yet: {saved.pending}",
        saved.way_out or _NEXT_COMMITS,
    )


COMMANDS: list[click.Command] = [note, update]
