"""Writing the lines of Claude Code's transcript (recorded with 2.1.330)."""

from __future__ import annotations

from gitguard.model.conversation import (
    AGENT,
    FAILED,
    MESSAGE,
    RESULT,
    THINKING,
    TOOL,
    UNKNOWN,
    USER,
    Block,
)
from gitguard.transcripts.blocks import with_text, word
from gitguard.transcripts.formats.claude_code import entries
from gitguard.transcripts.formats.claude_code.lines import BY_THE_HOST, ENVIRONMENT, NOT_THE_USERS
from gitguard.transcripts.formats.claude_code.reading import is_sub_agents
from gitguard.transcripts.rewriting.images import replaced_at
from gitguard.transcripts.rewriting.signatures import is_signed
from gitguard.transcripts.rewriting.sketching import ids_in, sketched
from gitguard.transcripts.rewriting.tree import Mended, ids_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.model.events import Transcript

HAS_HEADER = False
NOTES_BETWEEN = True
"""The host puts results first by itself, before its own notes."""
RESULTS_NAME_TOOLS = False
POINTERS: frozenset[str] = frozenset(("compactMetadata", "leafUuid"))
MARK = "[gitguard] what stood here was taken out, and the conversation goes on from here"
_CALLS, _INPUTS = ("tool_use",), ("input",)
_UNDERSTOOD = frozenset(("user", "assistant", "progress", "attachment"))
"""Kinds of lines between messages, besides `system`, of which is known what they hold."""
_COMMON = ("isSidechain", "agentId", "promptId")


fields_of = entries.fields_of


def file_of(transcript: Transcript) -> str:
    """Return the file that a transcript's lines are in."""
    return transcript.path


def refuse_newer(_path: str) -> None:
    """Refuse nothing: the lines of every version seen are known."""


def sketch(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a line that repair needs; empty ones may be left out.

    Repair asks this for each of hundreds of thousands of lines, so it calls as little as it can.
    """
    kind = document.get("type")
    if kind == "system":
        return entries.fields_of(document)
    entry_id, parent = document.get("uuid"), document.get("parentUuid")
    fields: dict[str, Any] = {
        "kind": UNKNOWN,
        "id": entry_id if type(entry_id) is str else "",
        "parent": parent if type(parent) is str else "",
    }
    if document.get("isSidechain"):
        fields["is_aside"] = True
    message = document.get("message")
    if kind not in _UNDERSTOOD:
        if fields["id"] and (ids := ids_in(document)):
            fields["blocks"] = ids
    elif not isinstance(message, dict):
        return fields
    elif kind == "assistant":
        fields["kind"], fields["role"] = MESSAGE, AGENT
        fields["message"] = word(message.get("id"))
        content = message.get("content")
        fields["blocks"] = sketched(content, _CALLS, _INPUTS, "tool_result")
        if isinstance(content, list) and not all(map(_is_signed, content)):
            fields["blocks"] = tuple(map(_unsigned, fields["blocks"], content))
        if document.get("isApiErrorMessage"):
            fields["stopped"] = FAILED
    elif kind == "user":
        _sketch_user(fields, document, message.get("content"))
    return fields


def sketch_in(path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return `sketch` for one file: in a sub-agent's own nothing is a sub-agent's."""
    return _sketch_own if is_sub_agents(path) else sketch


def _sketch_own(document: dict[str, Any]) -> dict[str, Any]:
    fields = sketch(document)
    fields.pop("is_aside", None)
    return fields


def _is_signed(block: Any) -> bool:
    return not isinstance(block, dict) or is_signed(block)


def _unsigned(sketch: Block, block: Any) -> Block:
    """Return the sketch of a block: thinking that is not signed is an error to models."""
    return sketch if _is_signed(block) else Block(THINKING, sketch.at, is_error=True)


def _sketch_user(fields: dict[str, Any], document: dict[str, Any], content: Any) -> None:
    fields["kind"] = MESSAGE
    fields["blocks"] = blocks = sketched(content, _CALLS, _INPUTS, "tool_result")
    for block in blocks:
        if block.kind == RESULT:
            fields["role"] = TOOL
            return
    fields["role"] = USER
    if any(map(document.get, BY_THE_HOST)) or _begins(content).startswith(NOT_THE_USERS):
        fields["by_host"] = True


def _begins(content: Any) -> str:
    first = content[0] if isinstance(content, list) and content else content
    return word(first.get("text") if isinstance(first, dict) else first).lstrip()


def is_record(document: dict[str, Any]) -> bool:
    """Say whether a document is a line, and no part of one: progress holds other messages."""
    members = document.keys()
    return isinstance(document.get("type"), str) and (
        {"uuid", "parentUuid"} <= members
        or {"messageId", "snapshot"} <= members
        or "sessionId" in members
        or "leafUuid" in members
    )


def header(_path: str, _first: dict[str, Any]) -> dict[str, Any]:
    """Return nothing: these files begin with whatever comes first."""
    return {}


def link(document: dict[str, Any]) -> tuple[str, str, bool] | None:
    """Return a line's id and what it follows; notes of the host's have none."""
    entry_id, parent = document.get("uuid"), document.get("parentUuid")
    if not isinstance(entry_id, str) or not entry_id or "parentUuid" not in document:
        return None
    return entry_id, parent if isinstance(parent, str) else "", bool(document.get("isSidechain"))


def new_id(seed: str) -> str:
    """Return a UUID made from the seed: version 8, the one whose digits an application chooses."""
    from hashlib import sha256

    digits = sha256(seed.encode(errors="surrogatepass")).hexdigest()
    # Two digits are fixed: the 13th is the version, the 17th the variant.
    parts = digits[:8], digits[8:12], "8" + digits[13:16], "8" + digits[17:20], digits[20:32]
    return "-".join(parts)


def relinked(document: dict[str, Any], parent: str) -> dict[str, Any]:
    """Return a line that follows another one, or none."""
    return {**document, "parentUuid": parent or None}


def with_id(document: dict[str, Any], entry_id: str, parent: str) -> dict[str, Any]:
    """Return a line under another id."""
    return {**document, "parentUuid": parent or None, "uuid": entry_id}


def without(document: dict[str, Any], blocks: frozenset[int]) -> dict[str, Any]:
    """Return a line without some blocks, an empty one when none are left."""
    content = _content(document)
    if not isinstance(content, list):
        return {} if 0 in blocks else document
    left = [block for at, block in enumerate(content) if at not in blocks]
    if not left:
        return {}
    changed = _with(document, left)
    if not any(isinstance(block, dict) and block.get("type") == "tool_result" for block in left):
        for name in ("toolUseResult", "sourceToolAssistantUUID"):
            changed.pop(name, None)  # they describe a result, and the line has none any more
    return changed


def alone(document: dict[str, Any], block: int) -> dict[str, Any]:
    """Return a line with one of its blocks only."""
    content = _content(document)
    if not isinstance(content, list):
        return document
    return without(document, frozenset(range(len(content))) - {block})


def renamed(document: dict[str, Any], block: int, name: str) -> dict[str, Any]:
    """Return a line in which a call names another tool; results name none."""
    return _with_block(document, block, {"name": name})


def reissued(document: dict[str, Any], block: int, call_id: str) -> dict[str, Any]:
    """Return a line in which a call, or its result, has another id."""
    is_result = _content(document)[block].get("type") == "tool_result"
    return _with_block(document, block, {"tool_use_id" if is_result else "id": call_id})


def cut(document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
    """Return a line with another text in a text block or a result.

    What the host stores beside a result for its screen repeats the old text, so it is removed.
    """
    content = _content(document)
    if isinstance(content, str):
        return _with(document, text)
    if content[block].get("type") != "tool_result":
        return _with_block(document, block, {"text": text})
    result_content = with_text(content[block].get("content"), text)
    changed = _with_block(
        document, block, {"content": result_content if len(result_content) > 1 else text}
    )
    changed.pop("toolUseResult", None)
    return changed


def put(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return a line with another value at a place inside it; what repeats a result goes with it."""
    changed: dict[str, Any] = replaced_at(document, path, value)
    if path.count("content") > 1:
        changed.pop("toolUseResult", None)
    return changed


def answer(document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
    """Return a line with an error as the result of a call."""
    call = _content(document)[block]
    result = {"type": "tool_result", "content": text, "is_error": True, "tool_use_id": call["id"]}
    return {
        "parentUuid": document.get("uuid"),
        **{name: document[name] for name in _COMMON if name in document},
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "uuid": "",
        "timestamp": document.get("timestamp"),
        "toolUseResult": f"Error: {text}",
        "sourceToolAssistantUUID": document.get("uuid"),
        **{name: document[name] for name in ENVIRONMENT if name in document},
    }


def mark(document: dict[str, Any]) -> dict[str, Any]:
    """Return a line that the model never sees, to stand where another one stood."""
    copied = ("parentUuid", "uuid", "timestamp", "isSidechain", *ENVIRONMENT)
    return {
        **{name: document[name] for name in copied if name in document},
        "type": "system",
        "subtype": "informational",
        "content": MARK,
        "isMeta": False,
        "level": "info",
    }


def repointed(document: dict[str, Any], mended: Mended) -> dict[str, Any]:
    """Return a line whose references to removed lines name the nearest ones that remain."""
    changed = dict(document)
    for name in ("leafUuid", "sourceToolAssistantUUID", "logicalParentUuid"):
        if (named := word(document.get(name))) in mended.instead:
            changed[name] = mended.instead[named] or None
    metadata = document.get("compactMetadata")
    if isinstance(metadata, dict):
        changed["compactMetadata"] = _metadata(metadata, mended)
    return changed


def _metadata(metadata: dict[str, Any], mended: Mended) -> dict[str, Any]:
    changed = dict(metadata)
    segment, messages = metadata.get("preservedSegment"), metadata.get("preservedMessages")
    if isinstance(segment, dict):
        head, tail = word(segment.get("headUuid")), word(segment.get("tailUuid"))
        new = {
            "headUuid": mended.after.get(head, "") if head in mended.instead else head,
            "tailUuid": mended.instead.get(tail, tail),
        }
        changed["preservedSegment"] = {**segment, **new}
    if isinstance(messages, dict):
        lists = {
            name: ids_with(ids, mended)
            for name in ("uuids", "allUuids")
            if isinstance(ids := messages.get(name), list)
        }
        changed["preservedMessages"] = {**messages, **lists}
    return changed


def _content(document: dict[str, Any]) -> Any:
    message = document.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _with(document: dict[str, Any], content: Any) -> dict[str, Any]:
    return {**document, "message": {**document["message"], "content": content}}


def _with_block(document: dict[str, Any], block: int, changes: dict[str, Any]) -> dict[str, Any]:
    content = list(_content(document))
    content[block] = {**content[block], **changes}
    return _with(document, content)
