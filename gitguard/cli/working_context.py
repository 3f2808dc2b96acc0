"""Commands that print what an agent works with: bundle, resume."""

from __future__ import annotations

from typing import Any

import click

from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.option_values import share_up_to
from gitguard.cli.process_environment import host_session
from gitguard.errors import InvalidInput
from gitguard.guard.hosts import WITH_CONTEXT_FILES
from gitguard.hooks.bundle import ContextItem
from gitguard.model.codec import load_json
from gitguard.model.text import one_line


@click.command()
@click.option("--summary", "with_summary", is_flag=True, help="Include the summary")
@click.option(
    "--pressure", type=share_up_to(1), default=0.0, metavar="0..1", help="Pressure to trim for"
)
@click.option(
    "--items",
    type=click.File("rb"),
    metavar="FILE",
    help="JSON {items: [{name, text, worth}]}, worth low, medium or high; - for standard input",
)
@click.option(
    "--bootstrap",
    "with_bootstrap",
    is_flag=True,
    help="Add the workspace's context files after the state, as the host loads them",
)
@click.option(
    "--host",
    default=None,
    type=click.Choice(WITH_CONTEXT_FILES),
    metavar="NAME",
    help="With --bootstrap: the files' host; by default that of the newest conversation",
)
@with_console
def bundle(console: Console, pressure: float, items: Any, **options: Any) -> None:
    """Print the working context for the next major action

    Goal, phase, next action, last successful action, constraints and relevant artifacts; never the
    whole state. Under pressure, drops items of low worth first and names them. Cuts a long context
    file in the middle and marks the cut.

    Example: `gitguard bundle --summary --pressure 0.7`
    """
    if options["host"] and not options["with_bootstrap"]:
        raise InvalidInput(
            "`--host` says whose context files are added, and none are", "Add them: --bootstrap"
        )
    options["host"] = options["host"] or ""
    context_items = _context_items(items.read()) if items else ()
    built = console.guard.bundle(context_items, pressure=pressure, **options)
    has_conflicts = bool(built.conflicts)
    lines = [
        f"Goal: {one_line(built.goal)}",
        f"Phase: {one_line(built.phase)}",
        f"Next action: {one_line(built.next_action)}",
        f"Last successful action: {one_line(built.last_successful_action)}",
        "Constraints:" + _listed(built.constraints),
        "Relevant artifacts:" + _listed(built.relevant_artifacts),
        *(["Noted differently on several machines:" + _listed(built.conflicts)] * has_conflicts),
        *(f"\n{item.name}:\n{item.text}" for item in built.items),
        *([f"Dropped under pressure: {', '.join(built.dropped)}"] if built.dropped else []),
        *(f"Left out: {one_line(reason)}" for reason in built.refused),
        *([one_line(f"Warning: {built.branch}.")] if built.branch else []),
    ]
    console.say("\n".join(lines), fields_of(built))


def _listed(items: tuple[str, ...]) -> str:
    return "".join(f"\n- {one_line(item)}" for item in items) or " (none)"


def _context_items(data: bytes) -> tuple[ContextItem, ...]:
    document = load_json(data, what="the items file")
    try:
        return tuple(
            ContextItem(str(i["name"]), str(i["text"]), str(i.get("worth", "low")))
            for i in document["items"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"the items file is wrong: {error!r}", 'Write {"items": [{"name": …, "text": …}]}'
        ) from error


@click.command()
@with_console
def resume(console: Console) -> None:
    """Print the block that returns the state to an agent

    Only what this machine wrote, and what verifies, is returned. Beside a branch that somebody
    moved, the block says why no checkpoint is taken, and the command exits with 13.

    Example: `gitguard resume`
    """
    block = console.guard.resume(host_session())
    document = {"resume": block, "characters": len(block)}
    console.say(block, document, console.guard.sessions.why_not_committed())


COMMANDS: list[click.Command] = [bundle, resume]
