"""The command that publishes a piece of work for its reviewer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, asking, confirm, fields_of, named, with_console
from gitguard.cli.process_environment import refuse_agents
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.review.publishing import Publication, PublishedRef, PublishedWork

_SHORT = 12
_HEADS = "refs/heads/"


@click.command()
@click.argument("range_text", default="", metavar="[BASE..HEAD]")
@click.option(
    "--remote", default="origin", callback=named, metavar="NAME", help="Remote to push to"
)
@click.option("--with-words", is_flag=True, help="Publish prompts, answers and summaries too")
@click.option("--replace", is_flag=True, help="Replace refs that this machine did not publish")
@asking
@with_console
def publish(
    console: Console,
    range_text: str,
    remote: str,
    with_words: bool,
    replace: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Push what a reviewer needs of a piece of work, and nothing else

    Pushes two branches for each session, so that a forge shows what its checkpoints say of the
    work as a comparison. Prompts, answers and summaries stay here. Verifies the history and looks
    for secrets first. Only a person may run it.

    Example: `gitguard publish main..HEAD --remote origin`
    """
    refuse_agents("publish")
    planned = console.guard.review.publication(
        range_text, remote, session=console.chosen_session, with_words=with_words, replace=replace
    )
    document = {**fields_of(planned), "pushed": False}
    if dry_run or not console.as_json:
        console.say("\n".join(_plan_lines(planned)), document)
    if dry_run:
        return
    new = sum(ref.is_new for ref in planned.refs)
    if new:
        confirm(f"Push {counted(new, 'ref')} to {one_line(remote)}?", yes=yes)
    console.guard.review.publish(planned)
    console.say("\n".join(_done_lines(planned, new)), {**document, "pushed": bool(new)})


def _plan_lines(planned: Publication) -> Iterator[str]:
    yield f"To {one_line(planned.remote)} ({one_line(planned.address)}):"
    for work in planned.works:
        yield from _work_lines(work)
    yield from (f"Note: {one_line(note)}" for note in planned.notes)


def _work_lines(work: PublishedWork) -> Iterator[str]:
    yield f"Session {one_line(work.session)}"
    yield from (f"  {ref.name}  {ref.commit[:_SHORT]}  {_change(ref)}" for ref in work.refs)
    shown = [counted(count, name) for name, count in work.shows.items()]
    yield f"  shows: {', '.join(shown) or 'no new item'}; {counted(work.commits, 'commit')}"
    yield f"  left out: {', '.join(work.left_out) or 'nothing'}"


def _change(ref: PublishedRef) -> str:
    if not ref.old:
        return "new"
    if not ref.is_new:
        return "already there"
    foreign = ", which this machine did not publish" if ref.is_foreign else ""
    return f"replaces {ref.old[:_SHORT]}{foreign}"


def _done_lines(planned: Publication, new: int) -> Iterator[str]:
    if new:
        yield f"Pushed {counted(new, 'ref')} to {one_line(planned.remote)}."
    else:
        yield f"Nothing to push: {one_line(planned.remote)} has it all."
    for work in planned.works:
        base, head = (ref.name.removeprefix(_HEADS) for ref in work.refs)
        yield f"  git diff {work.base.commit[:_SHORT]}..{work.head.commit[:_SHORT]}"
        yield f"  On the forge, compare {base} with {head}."


COMMANDS: list[click.Command] = [publish]
