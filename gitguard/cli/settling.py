"""The command that settles what several machines noted differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, can_ask, fields_of, named, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.model.text import counted, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.sessions.conflicts import SettledConflict
    from gitguard.state.conflicts import OpenConflict

_TEXT = 200
_WHY_IN_USE = (
    "In use is what was noted after more changes, or else by the greater writer id; "
    "times do not count."
)


@click.command()
@click.argument("conflict", default=None, callback=named)
@click.argument("variant", type=click.IntRange(min=1), required=False, default=None)
@with_console
def settle(console: Console, conflict: str, variant: int | None) -> None:
    """Keep one of the variants that several machines noted

    Without arguments, lists the open conflicts: what each machine noted, and when. CONFLICT is the
    beginning of a conflict's id, VARIANT the number of what to keep. On a terminal it asks for a
    number that is missing. `gitguard sync` passes the choice on to the other machines.

    Example: `gitguard settle 3f2a9c1d 2`
    """
    if variant is None:
        variant = _choose(console, conflict)
    if variant is not None:
        say_settled(console, console.guard.lanes.settle(conflict, variant))


def _choose(console: Console, conflict: str) -> int | None:
    """Show the conflicts that a name fits; return what a person chooses of a single one."""
    conflicts = tuple(c for c in console.guard.lanes.conflicts() if c.id.startswith(conflict))
    lines = list(conflict_lines(conflicts))
    console.say("\n".join(lines) or "No conflicts.", {"conflicts": conflicts})
    if not conflict or len(conflicts) != 1 or console.as_json or not can_ask():
        return None
    numbers = [str(number) for number in range(len(conflicts[0].variants) + 1)]
    number = click.prompt(
        "Keep which? 0 changes nothing", type=click.Choice(numbers), default="0", show_choices=False
    )
    return int(number) or None


def conflict_lines(conflicts: Iterable[OpenConflict]) -> Iterator[str]:
    """Yield each conflict with its variants: their writers, their ages, and how one is kept."""
    for conflict in conflicts:
        yield f"Conflict about the {one_line(conflict.subject)}; `{conflict.command}` keeps one:"
        for variant in conflict.variants:
            age = f"{variant.age} ago" if variant.age else "time unknown"
            shown = ", in use" if variant.number == 1 else ""
            text = shorten(one_line(variant.text), _TEXT)
            yield f"  {variant.number}. {text}  ({variant.author}, {age}{shown})"
        yield f"  {_WHY_IN_USE}"


def say_settled(console: Console, settled: SettledConflict) -> None:
    """Print what was kept, and how many conflicts are left."""
    conflicts_left = f"; {counted(len(settled.left), 'conflict')} left" if settled.left else ""
    text = shorten(one_line(settled.text), _TEXT)
    lines = [
        f"Settled the {one_line(settled.subject)}: {text}{conflicts_left}.",
        saved_text(settled.saved),
    ]
    console.say("\n".join(lines), fields_of(settled), pending(settled.saved))


COMMANDS: list[click.Command] = [settle]
