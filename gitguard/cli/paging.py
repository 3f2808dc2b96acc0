"""Output that a person reads at length: in colour and through a pager, both only on a terminal."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from gitguard import process
from gitguard.cli.console import Console, may_page, printable, wants_colour

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

no_pager_option = click.option(
    "--no-pager", is_flag=True, help="Print everything at once, on a terminal too"
)


class PageLine(NamedTuple):
    """One line, and the colour of its first characters; of all of them without a number."""

    text: str
    colour: str = ""
    coloured: int | None = None


def say_paged(
    console: Console,
    lines: Sequence[PageLine],
    document: dict[str, Any],
    *,
    mark: str = "",
    remark: str = "",
    no_pager: bool = False,
) -> None:
    """Print lines, or the one document for programs.

    The mark of what is not ours comes first. A remark is no part of the outcome: it goes to
    standard error, and behind the lines where a pager would hide that.
    """
    if console.as_json or not _is_terminal():
        text = "\n".join([*([mark] if mark else []), *(line.text for line in lines)])
        console.say(text, {**document, "not_ours": mark} if mark else document)
        if remark:
            console.remark(remark)
        return
    marked = [*([PageLine(mark, "red")] if mark else []), *lines]
    text = (
        "\n".join(map(_painted, [*marked, *([PageLine(f"\n{remark}")] if remark else [])])) + "\n"
    )
    with _keys_for_the_pager():
        is_shown = not no_pager and may_page() and _page(console, text)
    if not is_shown:
        click.echo(text, nl=False)


def _page(console: Console, text: str) -> bool:
    encoded = text.encode(sys.stdout.encoding or "utf-8", "replace")
    sys.stdout.flush()
    return process.page(encoded, console.guard.workspace.place.worktree)


def _is_terminal() -> bool:
    return bool(sys.stdout and sys.stdout.isatty())


def _painted(line: PageLine) -> str:
    # Only colours of ours reach the terminal: what a state holds has lost its control characters.
    text = printable(line.text)
    if not (line.colour and text and wants_colour()):
        return text
    return click.style(text[: line.coloured], fg=line.colour) + (
        "" if line.coloured is None else text[line.coloured :]
    )


@contextmanager
def _keys_for_the_pager() -> Iterator[None]:
    """Leave Ctrl-C to the pager, which reads on after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A handler that does nothing, because a pager would inherit that the signal is ignored.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
