"""A conversation in words that no host owns: JSON lines for programs, Markdown for people.

Neither says more than the model saw: what hosts keep beside the results of their tools stays where
it is. Lines that do not parse are named in their place.
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
)
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.model.conversation import Block, Entry
    from gitguard.model.events import Transcript
    from gitguard.model.redaction import Redactor

    Tell = Callable[[int, int], object]

FORMAT = "gitguard-conversation/1"
_TOLD = (MESSAGE, COMPACTION, RESET, BROKEN)
_OFTEN = 1_000
"""Entries after which is told how far reading has got."""
_NAMED = (
    *("kind", "id", "role", "time", "message", "model", "stopped", "tokens", "by_host"),
    "is_aside",
)


class Wishes(Value):
    """How much of a conversation is wanted."""

    last_turns: int = 0
    """So many of the user's last turns and what follows them; 0 for all."""
    thinking: bool = True
    asides: bool = False
    """Whether sub-agents' parts are told, where a format keeps them in the same file."""


def chosen(transcript: Transcript, wishes: Wishes, tell: Tell = max) -> Iterator[Entry]:
    """Yield the entries that say something, and those that do not parse.

    tell hears now and then how many bytes of a file were read, and how many there are. Raises
    `InvalidDocument` when the transcript does not read.
    """
    from gitguard.transcripts import find_format

    kept, size = find_format(transcript.format), size_of(transcript)
    begin = _begin(kept.entries(transcript), wishes.last_turns) if wishes.last_turns else 0
    for number, entry in enumerate(kept.entries(transcript, begin)):
        if entry.kind in _TOLD and (wishes.asides or not entry.is_aside):
            yield entry
        if not number % _OFTEN and entry.at <= size:
            tell(entry.at, size)


def size_of(transcript: Transcript) -> int:
    """Return the bytes of a transcript that is a file, else 0."""
    return os.path.getsize(transcript.path) if os.path.isfile(transcript.path) else 0


def _begin(entries: Iterator[Entry], turns: int) -> int:
    from collections import deque

    from gitguard.transcripts.fitting.limits import is_turn

    newest = deque((entry.at for entry in entries if is_turn(entry)), maxlen=turns)
    return newest[0] if newest else 0


# JSON lines


def json_lines(
    transcript: Transcript, wishes: Wishes, redactor: Redactor | None = None, tell: Tell = max
) -> Iterator[bytes]:
    """Yield the conversation as JSON lines: what it is, then one line an entry.

    A redactor takes out what looks like a secret.
    """
    from gitguard.transcripts.fast_json import writer

    write = writer(size_of(transcript))
    yield write({"kind": "conversation", **heading(transcript)})
    for entry in chosen(transcript, wishes, tell):
        document = document_of(entry, wishes)
        yield write(redactor.document(document)[0] if redactor else document)


def heading(transcript: Transcript) -> dict[str, Any]:
    """Return what a conversation is, as programs read it."""
    told = {"path": transcript.path, "session": transcript.session}
    return {"format": FORMAT, "host": transcript.format, **told}


def document_of(entry: Entry, wishes: Wishes) -> dict[str, Any]:
    """Return an entry as programs read it; what is empty is left out."""
    told = vars(entry)  # quicker than each by its name, of which there are a million in a file
    document = {name: value for name in _NAMED if (value := told.get(name))}
    if entry.kind == BROKEN:
        return document | {"at": entry.at, "problem": entry.problem}
    blocks = entry.blocks
    if not wishes.thinking:
        blocks = tuple(block for block in blocks if block.kind != THINKING)
    document["blocks"] = [_block(block) for block in blocks]
    return document


def _block(block: Block) -> dict[str, Any]:
    kind = block.kind
    if kind in (TEXT, THINKING):
        return {"kind": kind, "text": block.text}
    if kind == CALL:
        return {"kind": kind, "id": block.id, "name": block.name, "input": block.given}
    if kind == RESULT:
        named = {"name": block.name} if block.name else {}
        told = {"kind": kind, "id": block.id, **named, "text": block.text}
        return {**told, "is_error": True} if block.is_error else told
    return {"kind": kind, "size": block.size}
