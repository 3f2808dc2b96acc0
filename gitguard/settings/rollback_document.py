"""What people read who take a change of a host's settings back, with or without gitguard."""

from __future__ import annotations

from shlex import quote

from gitguard.hosts.adviser import UndoHelp
from gitguard.settings.advice import Advice
from gitguard.settings.changes_file import MadeChange


def rollback_document(planned: MadeChange, advice: Advice, undo: UndoHelp) -> str:
    """Return the document, as markdown."""
    keys = {key for key, _, _ in planned.changes}
    rows = [
        f"| {setting.title} | `{setting.key}` "
        f"| `{_value(setting.before)}` | `{_value(setting.after)}` |"
        for setting in advice.changes
        if setting.key in keys
    ]
    parts = [
        f"# Settings of {advice.title} changed by gitguard, {planned.at}",
        f"- File: `{planned.file}`\n- Backup: {_backup(planned)}",
        "## What changed",
        "\n".join(["| what | setting | before | after |", "| --- | --- | --- | --- |", *rows]),
        "## How to roll back",
        f"    {rollback_command(planned)}",
        "Or without gitguard:",
        _by_hand(planned, undo),
        "## When a change takes effect",
        undo.counts[:1].upper() + undo.counts[1:] + ".",
        "## How to check the host",
        "\n".join(f"    {command}" for command in undo.health),
        "## If it does not start",
        f"Roll back as described above; {undo.repair}.",
    ]
    return "\n\n".join(parts) + "\n"


def rollback_command(change: MadeChange) -> str:
    """Return what to type, in whatever folder, to take a change back."""
    project = f" --root {quote(change.project)}" if change.project else ""
    return f"gitguard config rollback {change.host}{project}"


def _value(text: str) -> str:
    return text or "not set"


def _backup(planned: MadeChange) -> str:
    return f"`{planned.backup}`" if planned.backup else "none, because there was no file"


def _by_hand(planned: MadeChange, undo: UndoHelp) -> str:
    if not planned.backup:
        return f"    rm {quote(planned.file)}"
    back = f"    cp {quote(planned.backup)} {quote(planned.file)}"
    if undo.own_backup is None:
        return back
    theirs = planned.file + undo.own_backup.suffix
    return (
        f"    mv {quote(theirs)} {quote(f'{theirs}.aside')}\n{back}\n\n"
        f"The first command is needed because {planned.host} may restore its own backup, made at "
        "the time of the change, if it does not trust the file."
    )
