"""What hosts keep of a tool's result beside what the model sees, such as diffs and whole outputs.

It is for the host's own screen. It may hold anything, so it is taken off before a conversation goes
to a model or to another host.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor

_OWN, _OF_MESSAGES = "toolUseResult", "details"
_MARKS = (f'"{_OWN}"'.encode(), f'"{_OF_MESSAGES}"'.encode(), b"\\u")
"""What a line holds that may have details; names may be spelled out as escapes."""


def strip_details(document: dict[str, Any]) -> dict[str, Any]:
    """Return an entry, as a host wrote it, without the details of the results in it."""
    left = {name: value for name, value in document.items() if name != _OWN}
    message = document.get("message")
    if isinstance(message, dict) and message.get("role") == "toolResult":
        remaining = {name: value for name, value in message.items() if name != _OF_MESSAGES}
        left["message"] = remaining
    return left


def host_lines(transcript: Transcript, redactor: Redactor | None = None) -> Iterator[bytes]:
    """Yield a transcript's lines as its own host reads them, without details.

    Lines that do not parse are left out, and so are blank ones; a redactor takes out what looks
    like a secret. Raises `InvalidInput` for a format that is only read.
    """
    from gitguard.model.conversation import BROKEN
    from gitguard.transcripts import find_format
    from gitguard.transcripts.formats.writable import writable_of

    writable_of(transcript)
    for entry in find_format(transcript.format).entries(transcript):
        if entry.kind != BROKEN and (line := _clean_line(entry.raw.removesuffix(b"\r"), redactor)):
            yield line + b"\n"


def _clean_line(line: bytes, redactor: Redactor | None) -> bytes:
    """Return a line without details and secrets, nothing for one that does not parse.

    A line that may have held some is written anew: of a name that stands twice in it, a document
    shows the last one only.
    """
    from gitguard.transcripts.rewriting.applying import line_of, parse

    if redactor is None and not any(mark in line for mark in _MARKS):
        return line
    document = parse(line)
    if document is None:
        return b""
    without_details = strip_details(document)
    return line_of(redactor.document(without_details)[0] if redactor else without_details)
