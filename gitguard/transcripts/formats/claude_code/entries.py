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
from gitguard.transcripts.blocks import blocks_of, claudes_block, word
from gitguard.transcripts.entries import claudes_tokens, inner, time_of, tokens
from gitguard.transcripts.formats.claude_code.lines import BY_THE_HOST, NOT_THE_USERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def fields_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return a line's fields as an `Entry` has them; empty ones may be left out."""
    # Files have a hundred thousand of these, so nothing is called that need not be.
    entry_id, parent = document.get("uuid"), document.get("parentUuid")
    fields: dict[str, Any] = {
        "kind": UNKNOWN,
        "id": entry_id if type(entry_id) is str else "",
        "parent": parent if type(parent) is str else "",
    }
    if "timestamp" in document:
        fields["time"] = time_of(document)
    if document.get("isSidechain"):
        fields["is_aside"] = True
    kind, message = document.get("type"), document.get("message")
    if kind == "system" and document.get("subtype") == "compact_boundary":
        fields |= {"kind": COMPACTION, **_preserved(document)}
    elif kind in ("user", "assistant") and isinstance(message, dict):
        _add_message(fields, document, message)
    return fields


def fields_of_own(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a line in a sub-agent's own transcript, where nothing is an aside."""
    return fields_of({**document, "isSidechain": False})


def _preserved(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a boundary keeps: the ids of messages, or of the first and the last of them."""
    metadata = inner(document, "compactMetadata")
    ids = inner(metadata, "preservedMessages").get("uuids")
    if isinstance(ids, list):
        return {"kept": tuple(filter(None, map(word, ids)))}
    segment = inner(metadata, "preservedSegment")
    ends = word(segment.get("headUuid")), word(segment.get("tailUuid"))
    return {"kept": ends, "keeps_between": True} if all(ends) else {}


def _add_message(fields: dict[str, Any], document: dict[str, Any], message: dict[str, Any]) -> None:
    fields["kind"] = MESSAGE
    read = _detailed if "toolUseResult" in document else claudes_block
    fields["blocks"] = blocks = blocks_of(message.get("content"), read)
    model = message.get("model")
    if model:
        fields["model"] = word(model)
    if document.get("isApiErrorMessage"):
        fields["stopped"] = FAILED
    by_host = model == "<synthetic>" or _is_by_host(document)
    if document["type"] == "assistant":
        fields["role"], fields["message"] = AGENT, word(message.get("id"))
        if usage := message.get("usage"):
            fields["tokens"] = claudes_tokens(usage)
            fields["answered"] = tokens(usage, ("output_tokens",))
    elif blocks and (blocks[0].kind == RESULT or RESULT in [block.kind for block in blocks]):
        fields["role"] = TOOL
    else:
        fields["role"] = USER
        by_host = by_host or bool(blocks and blocks[0].text.lstrip().startswith(NOT_THE_USERS))
    if by_host:
        fields["by_host"] = True


def _is_by_host(document: dict[str, Any]) -> bool:
    for mark in BY_THE_HOST:  # noqa: SIM110 - thrice as quick as `any`
        if mark in document and document[mark]:
            return True
    return False


def _detailed(at: int, block: dict[str, Any]) -> Block:
    """Return a block of a line that has the results' details beside the message."""
    read = claudes_block(at, block)
    return read.replace(has_details=True) if read.kind == RESULT else read
