"""Reads values out of what a host sent, which may be anything that JSON can say."""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.events import kept_line
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import encodable, one_line, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REDACTOR = Redactor()
"""By the built-in rules; what only a configuration knows is taken out of what is left."""
cut = _REDACTOR.shorten
"""Returns a text without secrets, cut to a number of characters."""
SUMMARY_LIMIT = 200
"""Characters of a call's parameters that people are shown."""
NAME_LIMIT, _PATH_LIMIT = 200, 4096
"""Names and paths that are longer than these are no names and paths."""


def text(payload: dict[str, Any], name: str) -> str:
    """Return a text, empty where there is none."""
    value = payload.get(name)
    return encodable(value) if isinstance(value, str) else ""


def name_of(payload: dict[str, Any], name: str) -> str:
    """Return a text that names something, cut where it is too long for a name."""
    return shorten(text(payload, name), NAME_LIMIT)


def path(payload: dict[str, Any], name: str) -> str:
    """Return a path, empty where it is too long to be one."""
    value = text(payload, name)
    return value if len(value) <= _PATH_LIMIT and "\0" not in value else ""


def mapping(payload: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object, an empty one where there is none."""
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def objects(payload: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    value = payload.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count(payload: dict[str, Any], name: str) -> int:
    """Return a whole number from 0, which is 0 where there is none."""
    value = payload.get(name)
    return value if isinstance(value, int) and value >= 0 and value is not True else 0


def required(payload: dict[str, Any], name: str) -> str:
    """Return a text that must be there; raise `InvalidDocument` where it is not."""
    value = text(payload, name)
    if not value:
        raise InvalidDocument(f"the hook's input has no `{name}`")
    return value


def kept_command(command: str) -> str:
    """Return a shell command without secrets and with its lines; empty if a summary holds it."""
    line = command.strip()
    if len(line) <= SUMMARY_LIMIT and "\n" not in line:
        return ""
    return kept_line(line, _REDACTOR)


_ERROR = 32 << 10
"""Characters of a long error that are looked at, from its end."""
_LAST_LINES, _SUMMARY_LINES = 300, 200
"""Characters of the end of an output, and of lines above it that sum up a check or a commit."""
_HEX = "0123456789abcdef"
_SUMMARY_MARKS = (
    *(" passed", " failed", " errors", " error in", " passing", " failing", " total", " failures"),
    *("test result:", "already formatted", "reformatted", "no issues", ".dll (", "Found "),
)
"""What such lines contain besides a number; substrings, because `re` is not loaded here."""


def ending(error: str) -> str:
    """Return what an error says, without secrets: its verdict, which stands at the end."""
    if not error:
        return ""
    from gitguard.model.outcome import verdict

    if len(error) > _ERROR:
        error = f"{error[:80]}\n{error[-_ERROR:]}"
    return verdict(_REDACTOR.text(error))


def last_lines(output: str) -> str:
    """Return the last lines of what a command said, whole, in one line.

    A part of a line is never taken: a part of a secret would not be known for one.
    """
    end = output[-_ERROR:].rstrip().split("\n")
    if len(output) > _ERROR:
        del end[0]  # it may begin in its middle
    lines: list[str] = []
    room, room_above = _LAST_LINES, _SUMMARY_LINES
    for line in reversed(end):
        if not any(map(str.isalnum, line)):
            continue  # a rule between the parts of a report says nothing
        room -= len(line) + 1
        if room < 0:
            if not _is_summary(line) or len(line) >= room_above:
                continue
            room_above -= len(line) + 1
        lines.append(line)
    return one_line(" ".join(reversed(lines)))


def _is_summary(line: str) -> bool:
    if "All checks passed!" in line or _names_commit(line):
        return True
    return any(mark in line for mark in _SUMMARY_MARKS) and any(map(str.isdigit, line))


def _names_commit(line: str) -> bool:
    """Whether git says that it made a commit: `[main 1234567] Subject`."""
    if line[:1] != "[":
        return False
    head, bracket, _ = line.partition("] ")
    commit = head.rpartition(" ")[2]
    return bool(bracket) and len(commit) >= 7 and not commit.strip(_HEX)


def parameters(arguments: dict[str, Any]) -> str:
    """Return the parameters of a call in one line, for people; no more of them than are shown."""
    parts: list[str] = []
    length = 0
    for key, value in arguments.items():
        if isinstance(value, str | int):
            parts.append(cut(f"{key}={value}", 80))
            length += len(parts[-1])
            if length > SUMMARY_LIMIT:
                break
    return encodable(", ".join(parts))
