"""Commands that ask all sessions: search for words, and why code is as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.checkpoints import untrusted_option
from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.errors import NothingFound
from gitguard.model.text import counted, one_line, shorten
from gitguard.review.entries import FIELDS

if TYPE_CHECKING:
    from gitguard.review.search import Match, Results

_SHOWN = 300
"""Characters of a text that are shown; JSON has all of it."""


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--field", "fields", multiple=True, type=click.Choice(FIELDS), help="Search only this field"
)
@click.option("--since", default="", metavar="TIME", help="Only since a date, or an age such as 3d")
@click.option(
    "-n", "--most", type=click.IntRange(1), default=20, metavar="N", help="Show at most N"
)
@untrusted_option
@with_console
def search(
    console: Console,
    words: tuple[str, ...],
    fields: tuple[str, ...],
    since: str,
    most: int,
    untrusted: bool,
) -> None:
    """Search the memory of all sessions for WORDS

    Searches the decisions, failures, learnings, issues, summaries and messages of every session,
    archived ones as well, or of the one that --session names. Case does not matter. Quote a phrase
    to find its words side by side. Prints exact phrases first, then what has all words, then what
    has some, each newest first. Exits with 1 if nothing matches.

    Example: `gitguard search "rate limit" token --field decision --since 2w`
    """
    with progress("checkpoints") as tell:
        results = console.guard.review.search(
            words,
            fields=fields,
            since=since,
            session=console.chosen_session,
            most=most,
            untrusted=untrusted,
            tell=tell,
        )
    for note in results.notes:
        console.remark(f"note: {note}")
    nothing = _nothing(words, results)
    if nothing is not None and not console.as_json:
        raise nothing
    text = "\n".join([*map(_match_text, results.matches), *_more(results)])
    console.say(text, fields_of(results), nothing)


def _nothing(words: tuple[str, ...], results: Results) -> NothingFound | None:
    if results.matches:
        return None
    searched = counted(results.searched, "history", "histories")
    return NothingFound(
        f"nothing matches `{' '.join(words):.80}` in {searched}",
        "Try fewer words, or leave out --field, --since and --session",
    )


def _match_text(match: Match) -> str:
    lines = [_head_line(match), f"    {_shown(match.text[0])}"]
    labels = {"decision": "why: ", "failure": "error: "}
    lines += [f"    {labels.get(match.field, '')}{_shown(part)}" for part in match.text[1:]]
    return "\n".join(lines)


def _head_line(match: Match) -> str:
    mark = "" if match.is_ours else "NOT OURS  "
    who = {"agent": "agent", "user": "user", "hook": "hook"}.get(match.by, "unknown")
    where = f"{match.session}  {match.checkpoint} {match.commit[:12]}"
    return f"{mark}{match.field}, {_state_of(match)}  {where}  {match.when}  {who}"


def _state_of(match: Match) -> str:
    """Say whether what was found still holds."""
    if match.fixed_at:
        return f"fixed {match.fixed_at}"
    if match.removed:
        return f"removed at {match.removed}"
    if match.holds is None:
        return match.kind or "said"
    return "held when archived" if match.archived else "holds"


def _shown(text: str) -> str:
    return shorten(one_line(text), _SHOWN)


def _more(results: Results) -> list[str]:
    left = results.count - len(results.matches)
    shown = results.count if results.count < 1000 else len(results.matches) * 3
    return [f"{left:,} more: -n {shown}"] if left else []


COMMANDS: list[click.Command] = [search]
