"""Which transcripts can be written: files of lines, of hosts that read them back as they are."""

from __future__ import annotations

import os

from gitguard.errors import InvalidInput
from gitguard.model.value import Value
from gitguard.transcripts.formats import COMPACTION, FORMATS, WRITING, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Transcript
    from gitguard.transcripts.fitting.compaction import CompactionPlan, Written
    from gitguard.transcripts.rewriting.tree import Writable


class Writer(Value):
    """Where and how a conversation's compactions are written."""

    path: str
    """The transcript's file."""
    lines: Callable[[CompactionPlan, Written, str, Callable[[int], bytes]], list[bytes]]
    """Returns the lines to append to the file at a path; the last argument gives random bytes."""
    folder: str
    """The folder in which the conversation was held, empty where the file does not tell."""


def writable_of(transcript: Transcript) -> tuple[str, Writable]:
    """Return a transcript's file, and how its lines are written.

    Raises `InvalidInput` for a format or a version that is read only, and where the file clearly is
    of another format than it is named.
    """
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.recognition import refuse_another

    row = FORMATS.get(transcript.format)
    path = ""
    if row is not None and row.is_written:
        writing: Writable = load(transcript.format, WRITING)
        path = writing.file_of(transcript)
    if not path:
        raise InvalidInput(
            f"`{transcript.path}` is a {transcript.format} transcript, which gitguard only reads",
            "It can rewrite the files of claude-code and pi, and of openclaw before 2026.8",
        )
    refuse_another(transcript)
    writing.refuse_newer(path)
    is_any = False
    for document in jsonl.first_documents(path):
        if writing.is_record(document):
            return path, writing
        is_any = True
    if is_any:  # what is too damaged to be read is what its owner says
        raise InvalidInput(
            f"no line of {transcript.format} is in `{transcript.path}`; it was left as it is",
            "Leave out --format: gitguard recognizes the file by its content",
        )
    return path, writing


def entry_at(transcript: Transcript, path: str, at: int, end: int) -> TranscriptEntry:
    """Return one entry of a transcript's file, whole, by where it and the next one begin."""
    from gitguard.transcripts import jsonl

    return jsonl.entry_at(path, at, end, load(transcript.format, WRITING).fields_of)


def writer_of(transcript: Transcript) -> Writer:
    """Return how a conversation is written to; raise `InvalidInput` where it is only read."""
    path, _ = writable_of(transcript)
    compaction = load(transcript.format, COMPACTION)
    compaction.refuse_unfit(path)
    folder = compaction.folder(path)
    # The folder comes from the file, which may be damaged or forged: believe only an absolute path.
    is_folder = os.path.isabs(folder) and "\0" not in folder
    return Writer(path, compaction.lines, os.path.realpath(folder) if is_folder else "")
