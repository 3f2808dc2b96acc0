"""Which conversation is it? Told by the id that its host wrote into the file.

A file's name tells less: two hosts, or two folders, may well have files of one name.
"""

from __future__ import annotations

import os

from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import inner
from gitguard.transcripts.formats.recognition import is_database
from gitguard.transcripts.plain_lines import as_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.events import Transcript

_LONGEST = 200
"""Characters of the longest id that is believed; hosts write UUIDs."""


def id_of(transcript: Transcript) -> str:
    """Return the id that a conversation's file tells, empty where none does.

    A file may begin with lines of the conversation that it was continued from: an id that it is
    named by as well is its own. Raises `InvalidDocument` when the file cannot be read.
    """
    if os.path.isdir(transcript.path) or is_database(transcript.path):
        return ""
    with as_lines(transcript.path) as path:
        ids = dict.fromkeys(_ids_in(path))
    return transcript.session if transcript.session in ids else next(iter(ids), "")


def _ids_in(path: str) -> Iterator[str]:
    for line in jsonl.first_documents(path):
        conversation_id = _id_in(line)
        if (
            isinstance(conversation_id, str)
            and 0 < len(conversation_id) <= _LONGEST
            and conversation_id.isprintable()
        ):
            yield conversation_id


def _id_in(line: dict[str, Any]) -> object:
    if line.get("type") == "session_meta":
        return inner(line, "payload").get("id")
    if line.get("type") == "session.start":
        return inner(line, "data").get("sessionId")
    if line.get("type") in ("session", "session_start"):
        return line.get("id")
    # A sub-agent's lines bear the id of the conversation that it was called from.
    return None if line.get("isSidechain") else line.get("sessionId")
