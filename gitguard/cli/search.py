"""Commands that ask all sessions: search for words, and why code is as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.cli.untrusted import untrusted_option, writer_option
from gitguard.errors import GitguardError, NothingFound, NotReadable
from gitguard.model.text import counted, local_times, one_line, shorten
from gitguard.review.entries import FAILURE, FIELDS, ISSUE

if TYPE_CHECKING:
    from gitguard.review.search import Match, Results
    from gitguard.review.why import Reason, Why

_SHOWN = 300
"""Characters of a text that are shown; JSON has all of it."""
_MOST_COMMITS = 5
"""Commits that are named above the reasons."""


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--field", "fields", multiple=True, type=click.Choice(FIELDS), help="Search only this field"
)
@click.option("--since", default="", metavar="TIME", help="Only since a date, or an age such as 3d")
@click.option(
    "-n", "--most", type=click.IntRange(1), default=20, metavar="N", help="Show at most N"
)
@writer_option
@untrusted_option
@with_console
def search(
    console: Console,
    words: tuple[str, ...],
    fields: tuple[str, ...],
    since: str,
    most: int,
    writer: str,
    untrusted: bool,
) -> None:
    """Search the memory of all sessions for WORDS

    Searches the decisions, failures, learnings, issues, summaries and messages of every session,
    archived ones as well, or of the one that --session names, and the lanes of other machines that
    you trust. Case does not matter. Quote a phrase
    to find its words side by side. Prints exact phrases first, then what has all words, then what
    has some, each newest first. Exits with 1 if nothing matches, with 41 if some checkpoints could
    not be read either.

    Example: `gitguard search "rate limit" token --field decision --since 2w`
    """
    with progress("checkpoints") as tell:
        results = console.guard.review.search(
            words,
            fields=fields,
            since=since,
            session=console.chosen_session,
            writer=writer,
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


def _nothing(words: tuple[str, ...], results: Results) -> GitguardError | None:
    if results.matches:
        return None
    searched = counted(results.searched, "history", "histories")
    if results.unread:
        return NotReadable(
            f"nothing matches `{' '.join(words):.80}` in what could be read of {searched}",
            "The notes above say what could not; `gitguard verify` says what to do about it",
        )
    hint = (
        "Try fewer words, or leave out --field, --since and --session; "
        "notes since the last checkpoint need `gitguard checkpoint` first"
    )
    if not results.searched:
        hint = "This machine has no checkpoints here; --untrusted also searches those of others"
    elif results.hidden_lanes:
        lanes = counted(results.hidden_lanes, "lane")
        hint = f"--untrusted also searches {lanes} of writers whom nobody here trusts. {hint}"
    return NothingFound(f"nothing matches `{' '.join(words):.80}` in {searched}", hint)


def _match_text(match: Match) -> str:
    lines = [_head_line(match), f"    {_shown(match.text[0])}"]
    labels = {"decision": "why: ", "failure": "error: "}
    lines += [f"    {labels.get(match.field, '')}{_shown(part)}" for part in match.text[1:]]
    return "\n".join(lines)


def _head_line(match: Match) -> str:
    mark = "" if match.is_ours or match.is_joined else "NOT OURS  "
    where = f"{match.label}  {match.checkpoint} {match.commit[:12]}"
    whose = f"{local_times(match.when)}  {match.source}"
    return f"{mark}{match.field} ({_state_of(match)})  {where}  {whose}"


def _state_of(match: Match) -> str:
    """Say whether what was found still holds."""
    if match.fixed_at:
        return f"fixed {local_times(match.fixed_at)}"
    if match.removed:  # by somebody, or because its task ended
        return f"listed until {match.removed}"
    if match.holds is None:
        return match.kind or "said"
    verb = "open" if match.field in (FAILURE, ISSUE) else "valid"
    return f"{verb} when archived" if match.archived else f"still {verb}"


def _shown(text: str) -> str:
    return shorten(one_line(text), _SHOWN)


def _more(results: Results) -> list[str]:
    more = results.count - len(results.matches)
    shown = results.count if results.count < 1000 else len(results.matches) * 3
    return [f"{more:,} more: -n {shown}"] if more else []


@click.command()
@click.argument("target", metavar="FILE[:LINE]", type=click.Path())
@writer_option
@untrusted_option
@with_console
def why(console: Console, target: str, writer: str, untrusted: bool) -> None:
    """Show the decisions and failures behind a file or line

    Finds the commits that the lines come from, and the checkpoints between which each commit was
    made. Prints at most 10 decisions, failures and requests of that time, the nearest first, and
    why it shows each. Exits with 1 if there is none.

    Example: `gitguard why src/parser.py:12`
    """
    with progress("checkpoints") as tell:
        answer = console.guard.review.why(
            target,
            session=console.chosen_session,
            writer=writer,
            untrusted=untrusted,
            tell=tell,
        )
    for note in answer.notes:
        console.remark(f"note: {note}")
    for line in _commit_lines(answer):
        console.remark(line)
    nothing = _no_reason(answer)
    if nothing is not None and not console.as_json:
        raise nothing
    lines = [*map(_reason_text, answer.reasons), *_more_reasons(answer)]
    console.say("\n".join(lines), fields_of(answer), nothing)


def _commit_lines(answer: Why) -> list[str]:
    """Name the commits behind the lines, those of most lines first."""
    lines = []
    for commit in answer.commits[:_MOST_COMMITS]:
        many = f", {counted(commit.lines, 'line')}" if commit.lines else ""
        unlinked = (
            ", no agent's work on this file is known in it" if commit.id in answer.unlinked else ""
        )
        lines.append(f'Code: {commit.id[:7]} "{commit.subject}"{many}{unlinked}')
    more = len(answer.commits) - len(lines)
    return lines + ([f"Code: {counted(more, 'more commit')}"] if more else [])


def _no_reason(answer: Why) -> NothingFound | None:
    if answer.reasons:
        return None
    where = f"{answer.path}:{answer.line}" if answer.line else answer.path
    return NothingFound(
        f"no decision or failure explains `{where:.200}`",
        "The commits may be older than the sessions, or made without an agent; `gitguard search` "
        "finds what was noted at other times",
    )


def _reason_text(reason: Reason) -> str:
    return f"{_match_text(reason.item)}\n    (shown because {reason.because})"


def _more_reasons(answer: Why) -> list[str]:
    return [f"{answer.left_out:,} more, less near"] if answer.left_out else []


COMMANDS: list[click.Command] = [search, why]
