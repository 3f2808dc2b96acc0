"""Which transcripts can be written: files of lines, of hosts that read them back as they are."""

from __future__ import annotations

import os

from gitguard.errors import InvalidInput
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.model.conversation import Entry
    from gitguard.model.events import Transcript
    from gitguard.transcripts.fitting.compaction import Plan, Written
    from gitguard.transcripts.rewriting.tree import Writable


_NEWEST_SESSION = 3
"""The newest version of pi's and OpenClaw's sessions whose lines are known well enough."""


class Writer(Value):
    """Where and how a conversation's compactions are written."""

    path: str
    """The transcript's file."""
    lines: Callable[[Plan, Written, str, Callable[[int], bytes]], list[bytes]]
    """Returns the lines to append to the file at a path; the last argument gives random bytes."""
    folder: str
    """The folder in which the conversation was held, empty where the file does not tell."""


def writable_of(transcript: Transcript) -> tuple[str, Writable]:
    """Return a transcript's file, and how its lines are written.

    Raises `InvalidInput` for a format or a version that is read only, and where the file clearly is
    of another format than it is named.
    """
    from gitguard.transcripts.formats.claude_code import writing
    from gitguard.transcripts.formats.openclaw import writing as openclaw_writing
    from gitguard.transcripts.formats.openclaw.reading import file_of
    from gitguard.transcripts.formats.recognition import refuse_another
    from gitguard.transcripts.rewriting import session_writing

    formats: dict[str, Writable] = {
        "claude-code": writing,
        "openclaw": openclaw_writing,
        "pi": session_writing,
    }
    path = file_of(transcript) if transcript.format == "openclaw" else transcript.path
    if not path or transcript.format not in formats:
        raise InvalidInput(
            f"`{transcript.path}` is of {transcript.format}, and such transcripts are read only",
            "The files of claude-code and pi, and openclaw's of before 2026.8, can be written",
        )
    refuse_another(transcript)
    if transcript.format != "claude-code":
        _refuse_newer(path)
    return path, formats[transcript.format]


def _refuse_newer(path: str) -> None:
    from gitguard.transcripts import jsonl

    for line in jsonl.first_documents(path):
        version = line.get("version") if line.get("type") == "session" else None
        if isinstance(version, int) and version > _NEWEST_SESSION:
            raise InvalidInput(
                f"`{path}` is a session of version {version:,}, which is only read; up to "
                f"{_NEWEST_SESSION} they are written",
                "A newer gitguard may write it",
            )


def entry_at(transcript: Transcript, path: str, at: int, end: int) -> Entry:
    """Return one entry of a transcript's file, whole, by where it and the next one begin."""
    from gitguard.transcripts import jsonl, session_entries
    from gitguard.transcripts.formats.claude_code import entries

    translate: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "claude-code": entries.fields_of,
        "openclaw": session_entries.fields_of_openclaw,
        "pi": session_entries.fields_of,
    }
    return jsonl.entry_at(path, at, end, translate[transcript.format])


def writer_of(transcript: Transcript) -> Writer:
    """Return how a conversation is written to; raise `InvalidInput` where it is only read."""
    from gitguard.transcripts.formats.claude_code import compaction
    from gitguard.transcripts.rewriting import session_compaction

    path, _ = writable_of(transcript)
    is_claude_code = transcript.format == "claude-code"
    module = compaction if is_claude_code else session_compaction
    folder = module.folder(path)
    # Whoever wrote the file wrote this, too.
    is_one = os.path.isabs(folder) and "\0" not in folder
    return Writer(path, module.lines, os.path.realpath(folder) if is_one else "")
