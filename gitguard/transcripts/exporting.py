"""Exports a conversation, of whatever host, as JSON lines; `readable` does so for people.

An export has nothing that the model did not see: what hosts store beside tool results for their own
screens is left out. A line that does not parse is reported where it stands.
"""

from __future__ import annotations

import os

from gitguard.model.conversation import (
    BROKEN,
    CALL,
    COMPACTION,
    MESSAGE,
    RESET,
    RESULT,
    TEXT,
    THINKING,
    Block,
    TranscriptEntry,
)
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.model.events import Transcript
    from gitguard.model.redaction.redactor import Redactor

    Tell = Callable[[int, int], object]

FORMAT = "gitguard-conversation/1"
_SHOWN_KINDS = (MESSAGE, COMPACTION, RESET, BROKEN)
_WITH_TEXT = frozenset((TEXT, THINKING))
_REPORT_EVERY = 1 << 19
"""Bytes between two reports of progress."""


class Selection(Value):
    """What part of a conversation is shown or exported."""

    last_turns: int = 0
    """How many of the user's last turns to include, with what follows them; 0 for all."""
    thinking: bool = True
    asides: bool = False
    """Whether to include sub-agents' parts, where a format keeps them in the same file."""


def selected_entries(
    transcript: Transcript, selection: Selection, tell: Tell = max
) -> Iterator[TranscriptEntry]:
    """Yield the entries that say something, and those that do not parse.

    tell is called now and then with the bytes read and the size of the file. Raises
    `InvalidDocument` when the transcript cannot be read.
    """
    from gitguard.transcripts import find_format

    reading, size = find_format(transcript.format), size_of(transcript)
    begin = _begin(reading.entries(transcript), selection.last_turns) if selection.last_turns else 0
    reported = 0
    for entry in reading.entries(transcript, begin):
        if entry.kind in _SHOWN_KINDS and (selection.asides or not entry.is_aside):
            yield entry
        if reported <= entry.at <= size:
            tell(entry.at, size)
            reported = entry.at + _REPORT_EVERY
        del entry


def size_of(transcript: Transcript) -> int:
    """Return the bytes of a transcript that is a file, else 0."""
    return os.path.getsize(transcript.path) if os.path.isfile(transcript.path) else 0


def _begin(entries: Iterator[TranscriptEntry], turns: int) -> int:
    from collections import deque

    from gitguard.transcripts.fitting.limits import is_turn

    # A queue of bounded length keeps only the newest turns, so memory stays constant.
    newest = deque((entry.at for entry in entries if is_turn(entry)), maxlen=turns)
    return newest[0] if newest else 0


# JSON lines


def json_lines(
    transcript: Transcript, selection: Selection, redactor: Redactor | None = None, tell: Tell = max
) -> Iterator[bytes]:
    """Yield the conversation as JSON lines: a heading, then one line for each entry.

    A redactor replaces what looks like a secret.
    """
    from gitguard.transcripts.entries import no_collections
    from gitguard.transcripts.fast_json import writer

    write = writer(size_of(transcript))
    yield write({"kind": "conversation", **heading(transcript)})
    with no_collections():
        for entry in selected_entries(transcript, selection, tell):
            document = document_of(entry, selection)
            yield write(redactor.document(document)[0] if redactor else document)
            del entry, document  # which may be long, and are not to be held while more is read


def heading(transcript: Transcript) -> dict[str, Any]:
    """Return the first line of an export: its format, and which conversation it is."""
    source = {"path": transcript.path, "session": transcript.session}
    return {"format": FORMAT, "host": transcript.format, **source}


def document_of(entry: TranscriptEntry, selection: Selection) -> dict[str, Any]:
    """Return an entry as a line of an export; empty fields are left out."""
    document: dict[str, Any] = {"kind": entry.kind}
    # One by one, as a loop over their names takes thrice as long, and files have a million of them.
    if entry.id:
        document["id"] = entry.id
    if entry.role:
        document["role"] = entry.role
    if entry.time:
        document["time"] = entry.time
    if entry.message:
        document["message"] = entry.message
    if entry.model:
        document["model"] = entry.model
    if entry.stopped:
        document["stopped"] = entry.stopped
    if entry.tokens:
        document["tokens"] = entry.tokens
    if entry.by_host:
        document["by_host"] = entry.by_host
    if entry.is_aside:
        document["is_aside"] = entry.is_aside
    if entry.kind == BROKEN:
        return document | {"at": entry.at, "problem": entry.problem}
    blocks = entry.blocks
    if not selection.thinking:
        blocks = tuple(block for block in blocks if block.kind != THINKING)
    document["blocks"] = [_block(blocks[0])] if len(blocks) == 1 else list(map(_block, blocks))
    return document


def _block(block: Block) -> dict[str, Any]:
    kind = block.kind
    if kind in _WITH_TEXT:
        return {"kind": kind, "text": block.text}
    if kind == CALL:
        return {"kind": kind, "id": block.id, "name": block.name, "input": block.given}
    if kind == RESULT:
        document: dict[str, Any] = {"kind": kind, "id": block.id}
        if block.name:
            document["name"] = block.name
        document["text"] = block.text
        if block.is_error:
            document["is_error"] = True
        if block.exit_code is not None:
            document["exit_code"] = block.exit_code
        return document
    return {"kind": kind, "size": block.size}
