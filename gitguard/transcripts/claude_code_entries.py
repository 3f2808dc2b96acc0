"""The entries of Claude Code's transcript (recorded with 2.1.330).

Results of tools stand in the user's name. A compaction is two lines: the boundary, which names the
messages that stay, and the summary that follows it in the user's name.
"""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    COMPACTION,
    FAILED,
    MESSAGE,
    RESULT,
    TOOL,
    UNKNOWN,
    USER,
    Block,
)
from gitguard.transcripts.blocks import blocks_of, call, plain, said_by, word
from gitguard.transcripts.claude_code_lines import BY_THE_HOST, NOT_THE_USERS
from gitguard.transcripts.entries import claudes_tokens, inner, time_of, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def fields_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    known = {
        "kind": UNKNOWN,
        "id": word(document.get("uuid")),
        "parent": word(document.get("parentUuid")),
        "time": time_of(document),
        "is_aside": bool(document.get("isSidechain")),
    }
    kind, message = document.get("type"), document.get("message")
    if kind == "system" and document.get("subtype") == "compact_boundary":
        known |= {"kind": COMPACTION, **_kept(document)}
    elif kind in ("user", "assistant") and isinstance(message, dict):
        _add_message(known, document, message)
    return known


def _kept(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a boundary says of what stays: a list of messages, or only where they lie."""
    metadata = inner(document, "compactMetadata")
    ids = inner(metadata, "preservedMessages").get("uuids")
    if isinstance(ids, list):
        return {"kept": tuple(filter(None, map(word, ids)))}
    segment = inner(metadata, "preservedSegment")
    ends = word(segment.get("headUuid")), word(segment.get("tailUuid"))
    return {"kept": ends, "keeps_between": True} if all(ends) else {}


def _add_message(known: dict[str, Any], document: dict[str, Any], message: dict[str, Any]) -> None:
    # Files have a hundred thousand of these, so there are no dictionaries in between.
    known["kind"] = MESSAGE
    read = _detailed if "toolUseResult" in document else _block
    known["blocks"] = blocks = blocks_of(message.get("content"), read)
    if model := message.get("model"):
        known["model"] = word(model)
    if document.get("isApiErrorMessage"):
        known["stopped"] = FAILED
    by_host = any(map(document.get, BY_THE_HOST)) or model == "<synthetic>"
    if document["type"] == "assistant":
        known["role"], known["message"] = AGENT, word(message.get("id"))
        known["tokens"] = claudes_tokens(message.get("usage"))
        known["answered"] = tokens(message.get("usage"), ("output_tokens",))
    elif any([block.kind == RESULT for block in blocks]):  # noqa: C419
        known["role"] = TOOL
    else:
        known["role"] = USER
        by_host = by_host or bool(blocks and blocks[0].text.lstrip().startswith(NOT_THE_USERS))
    known["by_host"] = by_host


def _block(at: int, block: dict[str, Any]) -> Block:
    kind = block.get("type")
    if kind == "tool_use":
        return call(at, block, block.get("input"))
    return _result(at, block) if kind == "tool_result" else plain(at, block)


def _detailed(at: int, block: dict[str, Any]) -> Block:
    """Return a block of a line that has the results' details beside the message."""
    is_result = block.get("type") == "tool_result"
    return _result(at, block, has_details=True) if is_result else _block(at, block)


def _result(at: int, block: dict[str, Any], *, has_details: bool = False) -> Block:
    text, size = said_by(block.get("content"))
    name, is_error = word(block.get("tool_use_id")), bool(block.get("is_error"))
    return Block.result(at, text, size, id=name, is_error=is_error, has_details=has_details)
