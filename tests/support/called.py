"""Tool calls with parameters, as the units that a compaction reads."""

from __future__ import annotations

from typing import Any

from gitguard.transcripts.fitting.chunks import Unit, units
from tests.support import spoken
from tests.support.spoken import Said

Call = tuple[str, dict[str, Any], str]
"""A tool's name, its parameters, and what the model read of its result."""


def shell(*runs: tuple[str, bool, str]) -> tuple[Unit, ...]:
    """Return shell calls, each a command, whether it failed, and what it said."""
    said: list[Said] = []
    for number, (_, has_failed, output) in enumerate(runs):
        call = f"c{number}"
        said += [("call", call, "Bash"), ("failed" if has_failed else "result", call, output)]
    entries = spoken.entries(said)
    for number, (command, _, _) in enumerate(runs):
        block = entries[2 * number].blocks[0].replace(given={"command": command})
        entries[2 * number] = entries[2 * number].replace(blocks=(block,))
    return units(entries)


def planned(*calls: Call) -> tuple[Unit, ...]:
    """Return calls of planning tools, each a name, its parameters, and what the model read."""
    said: list[Said] = []
    for number, (name, _, answer) in enumerate(calls):
        said += [("call", f"p{number}", name), ("result", f"p{number}", answer)]
    entries = spoken.entries(said)
    for number, (_, parameters, _) in enumerate(calls):
        block = entries[2 * number].blocks[0].replace(given=parameters)
        entries[2 * number] = entries[2 * number].replace(blocks=(block,))
    return units(entries)


def created(number: int, subject: str) -> Call:
    parameters = {"subject": subject, "description": "d"}
    return "TaskCreate", parameters, f"Task #{number} created successfully: {subject}"


def updated(number: int, **changes: str) -> Call:
    return "TaskUpdate", {"taskId": str(number), **changes}, f"Updated task #{number} status"
