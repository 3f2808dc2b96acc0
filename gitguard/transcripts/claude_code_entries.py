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
    kind, message = document.get("type"), document.get("message")
    if kind == "system" and document.get("subtype") == "compact_boundary":
        known |= {"kind": COMPACTION, "kept": _kept(document.get("compactMetadata"))}
    elif kind in ("user", "assistant") and isinstance(message, dict):
        known |= _message(document, message)
    return known


def _kept(metadata: Any) -> tuple[str, ...]:
    preserved = metadata.get("preservedMessages") if isinstance(metadata, dict) else None
    ids = preserved.get("uuids") if isinstance(preserved, dict) else None
    return tuple(filter(None, map(word, ids))) if isinstance(ids, list) else ()


def _message(document: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    is_user = document["type"] == "user"
    blocks = blocks_of(message.get("content"), _block)
    role = USER if is_user else AGENT
    if is_user and any([block.kind == RESULT for block in blocks]):  # noqa: C419
        role = TOOL
        blocks = _with_details(blocks) if "toolUseResult" in document else blocks
    by_host = any(map(document.get, BY_THE_HOST)) or message.get("model") == "<synthetic>"
    if role == USER and blocks and not by_host:
        by_host = blocks[0].text.lstrip().startswith(NOT_THE_USERS)
    return {
        "kind": MESSAGE,
        "role": role,
        "blocks": blocks,
        "message": "" if is_user else word(message.get("id")),
        "by_host": by_host,
        "stopped": FAILED if document.get("isApiErrorMessage") else "",
        "tokens": 0 if is_user else tokens(message.get("usage"), COUNTED),
        "model": word(message.get("model")),
    }


def _with_details(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple([b.replace(has_details=True) if b.kind == RESULT else b for b in blocks])


def _block(at: int, block: dict[str, Any]) -> Block:
    kind = block.get("type")
    if kind == "tool_use":
        return call(at, block, block.get("input"))
    if kind != "tool_result":
        return plain(at, block)
    text, size = said_by(block.get("content"))
    name, is_error = word(block.get("tool_use_id")), bool(block.get("is_error"))
    return Block.result(at, text, size, id=name, is_error=is_error)
