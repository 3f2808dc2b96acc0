"""The entries of a session as pi and OpenClaw keep it: version 3 in lines, version 4 in rows.

Both descend from one program. Results of tools are messages of their own; a compaction is one entry
that names the first of the older ones that stay.
"""

from __future__ import annotations

from gitguard.model.conversation import (
    ABORTED,
    AGENT,
    COMPACTION,
    FAILED,
    HEADER,
    MESSAGE,
    RESET,
    TEXT,
    TOOL,
    UNKNOWN,
    USER,
    Block,
)
from gitguard.model.value import Value
from gitguard.transcripts.blocks import blocks_of, call, plain, text_and_size, word
from gitguard.transcripts.entries import pis_tokens, time_of, tokens
from gitguard.transcripts.session_lines import THE_HOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = {"session": HEADER, "compaction": COMPACTION, "reset": RESET}
ROLES = {"user": USER, "assistant": AGENT, "toolResult": TOOL}
STOPPED = {"aborted": ABORTED, "error": FAILED}


class Dialect(Value):
    """The names under which a host looks for calls and results, each tuple in its order."""

    calls: tuple[str, ...]
    """The types of blocks that are calls."""
    inputs: tuple[str, ...]
    """The members of a call that hold its input."""
    result_ids: tuple[str, ...]
    """The members of a result that hold its call's id."""

    def input_of(self, block: dict[str, Any]) -> Any:
        """Return the input of a call, None where it has none."""
        inputs = (block.get(name) for name in self.inputs)
        return next((value for value in inputs if value is not None), None)

    def result_id(self, message: dict[str, Any]) -> str:
        """Return the id of a result's call, empty where it names none."""
        ids = (word(message.get(name)) for name in self.result_ids)
        return next(filter(None, ids), "")


PI = Dialect(("toolCall",), ("arguments",), ("toolCallId",))
OPENCLAW = Dialect(
    ("toolCall", "toolUse", "functionCall"), ("arguments", "input"), ("toolCallId", "toolUseId")
)
"""OpenClaw also reads what its older versions and its plugins wrote; pi ignores that."""


def fields_of_openclaw(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line or a row of OpenClaw's is."""
    return fields_of(document, OPENCLAW)


def fields_of(document: dict[str, Any], dialect: Dialect = PI) -> dict[str, Any]:
    """Return the fields of the entry that a line of pi's is, or of another dialect's."""
    kind = _KINDS.get(word(document.get("type")), UNKNOWN)
    fields = {
        "kind": kind,
        "id": word(document.get("id")),
        "parent": word(document.get("parentId")),
        "time": time_of(document),
    }
    if kind == COMPACTION:
        summary = word(document.get("summary"))
        first = word(document.get("firstKeptEntryId"))
        blocks = (Block.saying(TEXT, 0, summary),)
        # Only the first entry that stays is named; keeps_on says that all behind it stay too.
        return fields | {"blocks": blocks, "kept": (first,) if first else (), "keeps_on": True}
    if document.get("type") == "custom_message":
        return fields | {
            "kind": MESSAGE,
            "role": USER,
            "by_host": True,
            "blocks": blocks_of(document.get("content"), plain),
        }
    if document.get("type") == "branch_summary":
        return fields | _by_host(word(document.get("summary")))
    message = document.get("message")
    if document.get("type") != "message" or not isinstance(message, dict):
        return fields
    if message.get("role") == "bashExecution" and not message.get("excludeFromContext"):
        return fields | _by_host(f"{word(message.get('command'))}\n{word(message.get('output'))}")
    if role := ROLES.get(word(message.get("role"))):
        _add_message(fields, message, role, dialect)
    return fields


def _by_host(text: str) -> dict[str, Any]:
    """Return the fields of what the host tells the model: a branch that was left, a command."""
    blocks = (Block.saying(TEXT, 0, text),)
    return {"kind": MESSAGE, "role": USER, "by_host": True, "blocks": blocks}


def _add_message(
    fields: dict[str, Any], message: dict[str, Any], role: str, dialect: Dialect
) -> None:
    # Files have a hundred thousand of these, so there are no dictionaries in between.
    fields["kind"], fields["role"] = MESSAGE, role
    fields["by_host"] = _is_by_host(message)
    if role == TOOL:
        fields["blocks"] = _result(message, dialect)
        return
    read = _block if dialect is PI else _openclaws_block
    fields["blocks"] = blocks_of(message.get("content"), read)
    if role == AGENT:
        fields["tokens"] = pis_tokens(message.get("usage"))
        fields["answered"] = tokens(message.get("usage"), ("output",)) if fields["tokens"] else 0
        provider, model = word(message.get("provider")), word(message.get("model"))
        fields["model"] = f"{provider}/{model}" if provider and model else provider or model
        fields["stopped"] = STOPPED.get(word(message.get("stopReason")), "")


def _is_by_host(message: dict[str, Any]) -> bool:
    """Say whether the host wrote a message in the user's or the agent's name."""
    provenance = message.get("provenance")
    foreign = isinstance(provenance, dict) and provenance.get("kind") not in (None, "external_user")
    return foreign or message.get("provider") == THE_HOST


def _block(at: int, block: dict[str, Any]) -> Block:
    if block.get("type") == "toolCall":
        return call(at, block, block.get("arguments"))
    return plain(at, block)


def _openclaws_block(at: int, block: dict[str, Any]) -> Block:
    if block.get("type") in OPENCLAW.calls:
        return call(at, block, OPENCLAW.input_of(block))
    return plain(at, block)


def _result(message: dict[str, Any], dialect: Dialect) -> tuple[Block, ...]:
    text, size = text_and_size(message.get("content"))
    result = Block.result(0, text, size, dialect.result_id(message))
    return (
        result.replace(
            name=word(message.get("toolName")),
            is_error=bool(message.get("isError")),
            has_details="details" in message,
        ),
    )
