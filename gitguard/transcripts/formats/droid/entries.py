"""The lines of Factory Droid's sessions as entries (recorded with 0.225.2)."""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
    HEADER,
    MESSAGE,
    RESULT,
    TEXT,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.transcripts import jsonl
from gitguard.transcripts.blocks import blocks_of, claudes_block, word
from gitguard.transcripts.entries import inner, time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ROLES = {"user": USER, "assistant": AGENT}
_EXITED = "[Process exited with code "
"""How the last line of a command's output begins."""


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset.

    A compaction names the last message that it summarizes; everything behind that one stays.
    """
    before, next_ids = "", {}
    for entry in jsonl.entries(path, since, fields_of):
        if entry.kind == MESSAGE:
            next_ids[before], before = entry.id, entry.id
        elif entry.kind == COMPACTION:
            first = next_ids.get(entry.kept[0])
            entry = entry.replace(kept=(first,) if first else (), keeps_on=bool(first))
        yield entry


def fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    kind, message = line.get("type"), inner(line, "message")
    # Compactions have no parent, so that parents lead past them: lines are in order.
    fields: dict[str, Any] = {"kind": UNKNOWN, "id": word(line.get("id")), "time": time_of(line)}
    if kind == "session_start":
        return fields | {"kind": HEADER}
    if kind == "compaction_state":
        summary = Block.saying(TEXT, 0, word(line.get("summaryText")))
        last = word(inner(line, "anchorMessage").get("id"))
        return fields | {"kind": COMPACTION, "blocks": (summary,), "kept": (last,)}
    role = _ROLES.get(word(message.get("role")))
    # What the program shows only to the user, such as the runs of hooks, never reaches the model.
    if kind != "message" or role is None or message.get("visibility") == "user_only":
        return fields
    blocks = blocks_of(message.get("content"), _block)
    if any(block.kind == RESULT for block in blocks):
        role = TOOL
    return fields | {
        "kind": MESSAGE,
        "role": role,
        "blocks": blocks,
        "by_host": role == USER and bool(message.get("visibility")),
        "model": word(message.get("modelId")),
    }


def _block(at: int, block: dict[str, Any]) -> Block:
    read = claudes_block(at, block)
    return read.replace(exit_code=_exit_code(read)) if read.kind == RESULT else read


def _exit_code(result: Block) -> int | None:
    last = result.text[-len(_EXITED) - 8 :].rstrip().rpartition("\n")[2]
    code = last.removeprefix(_EXITED).removesuffix("]")
    # A tool that reads a file may end with such a line as well; then it says nothing of the tool.
    is_its_own = last.startswith(_EXITED) and code.isdecimal()
    return int(code) if is_its_own and (int(code) != 0) == result.is_error else None
