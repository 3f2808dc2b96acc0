"""The command that tells a session of a conversation that no hook told of."""

from __future__ import annotations

import click

from gitguard.cli.console import Console, fields_of, progress, with_console
from gitguard.cli.transcript_naming import TranscriptName, naming_a_transcript
from gitguard.errors import InvalidInput
from gitguard.model.text import counted, one_line


@click.command("import")
@naming_a_transcript
@with_console
def import_transcript(console: Console, name: TranscriptName) -> None:
    """Add a conversation to the session

    For conversations from before `gitguard init`, and for hosts without hooks. Records the file's
    path, format, id and counts, and copies nothing. --session names another session than the
    current one.

    Example: `gitguard transcript import ~/.codex/sessions/rollout.jsonl`
    """
    if name.path is None:
        raise InvalidInput("no transcript is named", "Name its file, database or folder")
    named = name.find(console)
    with progress("bytes") as tell:
        imported = console.guard.sessions.import_transcript(named, tell)
    how = "Updated" if imported.was_known else "Added"
    text = (
        f"{how} the conversation `{imported.conversation}` of the session `{imported.session}`: "
        f"{counted(imported.turns, 'turn')}, {counted(imported.compactions, 'compaction')}, "
        f"{counted(imported.entries, 'entry', 'entries')} ({named.format})."
    )
    console.say(one_line(text), fields_of(imported))


COMMANDS: list[click.Command] = [import_transcript]
