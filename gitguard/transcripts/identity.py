"""Which conversation is it? Told by the id that its host wrote into the file.

A file's name tells less: two hosts, or two folders, may well have files of one name.
"""

from __future__ import annotations

import os
from itertools import islice

from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import inner, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.events import Transcript

_LOOKED_AT, _FURTHEST = 1_000, 1 << 20
"""Lines that are looked at, and where the last of them begins; each may be long."""
_LONGEST = 200
_DATABASE = b"SQLite format 3\0"


def id_of(transcript: Transcript) -> str:
    """Return the id that a conversation's file tells, empty where none does.

    A file may begin with lines of the conversation that it was continued from: an id that it is
    named by as well is its own. Raises `InvalidDocument` when the file does not read.
    """
    if os.path.isdir(transcript.path):
        return ""
    found = dict.fromkeys(_ids_in(transcript.path))
    return transcript.session if transcript.session in found else next(iter(found), "")


def _ids_in(path: str) -> Iterator[str]:
    for at, _, line in islice(jsonl.lines(path), _LOOKED_AT):
        if at > _FURTHEST or line.startswith(_DATABASE):
            return
        found = _id_in(parse(line))
        if isinstance(found, str) and 0 < len(found) <= _LONGEST and found.isprintable():
            yield found


def _id_in(line: dict[str, Any]) -> object:
    if line.get("type") == "session_meta":
        return inner(line, "payload").get("id")
    if line.get("type") == "session":
        return line.get("id")
    # A sub-agent's lines bear the id of the conversation that it was called from.
    return None if line.get("isSidechain") else line.get("sessionId")
