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
from gitguard.transcripts.claude_code import BY_THE_HOST, COUNTED, NOT_THE_USERS
from gitguard.transcripts.entries import time_of, tokens

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
    if document.get("type") == "system" and document.get("subtype") == "compact_boundary":
        return known | {"kind": COMPACTION, "kept": _kept(document.get("compactMetadata"))}
    message = document.get("message")
    if document.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return known
    return known | _message(document, message)


def _kept(metadata: Any) -> tuple[str, ...]:
    preserved = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
    ids = preserved.get("uuids") if isinstance(preserved, dict) else None
    return tuple(filter(None, map(word, ids))) if isinstance(ids, list) else ()


def _message(document: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    is_user = document["type"] == "user"
    has_details = "toolUseResult" in document
    blocks = blocks_of(
        message.get("content"), lambda at, block: _block(at, block, has_details=has_details)
    )
    role = USER if is_user else AGENT
    if is_user and any(block.kind == RESULT for block in blocks):
        role = TOOL
    synthetic = message.get("model") == "<synthetic>"
    marked = any(map(document.get, BY_THE_HOST)) or synthetic
    begins = blocks[0].text.lstrip() if blocks else ""
    return {
        "kind": MESSAGE,
        "role": role,
        "blocks": blocks,
        "message": "" if is_user else word(message.get("id")),
        "by_host": marked or (role == USER and begins.startswith(NOT_THE_USERS)),
        "stopped": FAILED if document.get("isApiErrorMessage") else "",
        "tokens": 0 if is_user else tokens(message.get("usage"), COUNTED),
        "model": word(message.get("model")),
    }


def _block(at: int, block: dict[str, Any], *, has_details: bool) -> Block:
    kind = block.get("type")
    if kind == "tool_use":
        return call(at, block, block.get("input"))
    if kind != "tool_result":
        return plain(at, block)
    text, size = said_by(block.get("content"))
    return Block(
        RESULT,
        at,
        text,
        id=word(block.get("tool_use_id")),
        is_error=bool(block.get("is_error")),
        has_details=has_details,
        size=size,
    )
