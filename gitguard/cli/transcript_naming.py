"""How commands name a transcript, and the configuration by which they judge it."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gitguard.cli.console import Console
from gitguard.errors import InvalidInput, NotARepository
from gitguard.transcripts.formats import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Transcript
    from gitguard.transcripts.rewriting.images import LargeImage

_SHOWN_IMAGES = 10
F = TypeVar("F", bound="Callable[..., Any]")
MOST_TURNS = 1_000_000_000
"""More than any conversation has; what is larger is a slip of the keys."""


class TranscriptName(NamedTuple):
    """What a command line says of the transcript that it is about."""

    path: str | None = None
    format: str | None = None
    conversation: str | None = None

    def find(self, console: Console) -> Transcript:
        """Return the transcript that is named, else the session's newest conversation.

        A name that is given and empty, as from a variable that is not set, names none.
        """
        for what, value in (("path", self.path), ("--conversation", self.conversation)):
            if value == "":
                raise InvalidInput(
                    f"`{what}` is given and empty, so it names no transcript",
                    "Leave it out for the newest one; a variable in its place may not be set",
                )
        if self.path:
            transcripts = console.anywhere.transcripts
            return transcripts.find(self.path, self.format or "", self.conversation or "")
        if self.format or self.conversation:
            raise InvalidInput(
                "--format and --conversation are about a path, and none is named",
                "Name the file, database or folder, or leave them out",
            )
        try:
            return console.guard.transcripts.newest()
        except NotARepository as error:
            raise NotARepository(
                f"{error.message}, and no transcript is named",
                "Name a transcript's file, database or folder, which works anywhere",
            ) from error


def naming_a_transcript(command: F) -> F:
    """Give a command the argument and the options that name a transcript, as its `name`."""

    @functools.wraps(command)
    def run(
        *args: Any, path: str | None, format: str | None, conversation: str | None, **options: Any
    ) -> Any:
        return command(*args, name=TranscriptName(path, format, conversation), **options)

    for option in (
        click.argument("path", default=None, type=click.Path(readable=False), metavar="[PATH]"),
        click.option(
            "--format",
            default=None,
            type=click.Choice(NAMES),
            metavar="NAME",
            help="Format of the transcript: " + ", ".join(NAMES),
        ),
        click.option(
            "--conversation",
            default=None,
            metavar="ID",
            help="Conversation in a database or folder; by default the newest",
        ),
    ):
        run = option(run)
    return run  # type: ignore[return-value]


naming_a_model = click.option(
    "--model", default="", metavar="NAME", help="Model to use if the transcript names none"
)


replacing_images = click.option(
    "--replace-images", is_flag=True, help="Put a line of text in place of images over 2,000 pixels"
)


def images_text(
    images: Sequence[LargeImage], *, replaced: bool, dry_run: bool = False
) -> list[str]:
    """Return what is said of the images that are too large for a request of many."""
    if not images:
        return []
    fate = "kept; --replace-images replaces them"
    if replaced:
        fate = "to be replaced by a line of text" if dry_run else "replaced by a line of text"
    lines = [f"Images over 2,000 pixels: {len(images):,}, {fate}"]
    shown = [f"  byte {i.at:,}: {i.width:,} x {i.height:,} pixels" for i in images[:_SHOWN_IMAGES]]
    return lines + shown


def telling(
    named: Transcript, tell: Callable[[int, int], None]
) -> Callable[[TranscriptEntry], None]:
    """Return what is shown each entry of a file as it is read, and tells how far that is."""
    size = os.path.getsize(named.path) if os.path.isfile(named.path) else 0

    def seen(entry: TranscriptEntry) -> None:
        if size:
            tell(entry.end, size)

    return seen
