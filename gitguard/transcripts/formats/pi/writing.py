"""Writing the lines of pi's and OpenClaw's sessions, version 3."""

from __future__ import annotations

import os

from gitguard.errors import InvalidInput
from gitguard.model.conversation import AGENT, MESSAGE, TOOL, UNKNOWN
from gitguard.transcripts import jsonl, session_entries
from gitguard.transcripts.blocks import with_text, word
from gitguard.transcripts.formats.pi.marks import KINDS
from gitguard.transcripts.rewriting.images import replaced_at
from gitguard.transcripts.rewriting.sketching import ids_in, result, sketched
from gitguard.transcripts.rewriting.tree import Mended
from gitguard.transcripts.session_entries import OPENCLAW, PI, ROLES, STOPPED, Dialect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.model.events import Transcript

HAS_HEADER = True
NOTES_BETWEEN = False
RESULTS_NAME_TOOLS = True
POINTERS: frozenset[str] = frozenset(("firstKeptEntryId", "targetId", "fromId"))
_NEWEST_SESSION = 3
"""The newest version of pi's and OpenClaw's sessions whose lines are known well enough."""
_SILENT = KINDS - {"message"}
"""Kinds of lines that hold neither calls nor results."""
_ENVELOPE = ("type", "id", "parentId", "timestamp")

fields_of = session_entries.fields_of


def file_of(transcript: Transcript) -> str:
    """Return the file that a transcript's lines are in."""
    return transcript.path


def refuse_newer(path: str) -> None:
    """Refuse a file whose version is newer than the lines that we know."""
    for line in jsonl.first_documents(path):
        version = line.get("version") if line.get("type") == "session" else None
        if isinstance(version, int) and version > _NEWEST_SESSION:
            raise InvalidInput(
                f"`{path}` is a session of version {version:,}, which is only read; up to "
                f"{_NEWEST_SESSION} they are written",
                "A newer gitguard may write it",
            )


def sketch(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of one of pi's entries that repair needs."""
    return sketched_by(document, PI)


def sketch_in(_path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return `sketch`: sub-agents have no part in a file."""
    return sketch


def sketched_by(document: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """Return the fields of an entry that repair needs, read with a dialect's names."""
    message: Any = document.get("message")
    role = ROLES.get(word(message.get("role"))) if isinstance(message, dict) else None
    if role is None or document.get("type") != "message":
        return _without_role(document, dialect)
    entry_id, parent = document.get("id"), document.get("parentId")
    fields: dict[str, Any] = {
        "kind": MESSAGE,
        "role": role,
        "id": entry_id if isinstance(entry_id, str) else "",
        "parent": parent if isinstance(parent, str) else "",
    }
    if role == TOOL:
        fields["blocks"] = result(dialect.result_id(message), word(message.get("toolName")))
        return fields
    fields["blocks"] = sketched(message.get("content"), dialect.calls, dialect.inputs)
    if role == AGENT and (stopped := STOPPED.get(word(message.get("stopReason")))):
        fields["stopped"] = stopped
    return fields


def _without_role(document: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    fields = session_entries.fields_of(document, dialect)
    is_silent = fields["kind"] != UNKNOWN or document.get("type") in _SILENT
    if not is_silent and (ids := ids_in(document)):
        fields["blocks"] = ids
    return fields


def is_record(document: dict[str, Any]) -> bool:
    """Say whether a document is a line, and no part of one; lines of version 1 have no ids."""
    kind, members = document.get("type"), document.keys()
    if not isinstance(kind, str):
        return False
    if {"id", "parentId"} <= members or (kind == "session" and "id" in members):
        return True
    return "timestamp" in members and ("message" in members or kind == "compaction")


def header(path: str, first: dict[str, Any]) -> dict[str, Any]:
    """Return a header for a file that lost its own, from its name and its first entry.

    The host empties a file without a header, because it does not take it for one of its own.
    """
    stem = os.path.basename(path).partition(".jsonl")[0]
    fields: dict[str, Any] = {"type": "session"}
    if isinstance(first.get("id"), str):
        fields["version"] = 3
    fields |= {"id": stem.rpartition("_")[2] or stem, "timestamp": first.get("timestamp")}
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    # pi names the folder after the working directory, with a hyphen for each slash. A hyphen in a
    # directory's name cannot be told from one, so only a directory that exists is believed.
    place = f"/{folder[2:-2].replace('-', '/')}"
    if folder.startswith("--") and folder.endswith("--") and os.path.isdir(place):
        fields["cwd"] = place
    return fields


def link(document: dict[str, Any]) -> tuple[str, str, bool] | None:
    """Return an entry's id and what it follows; the header has no place in the tree."""
    entry_id, parent = document.get("id"), document.get("parentId")
    if document.get("type") == "session" or not isinstance(entry_id, str) or not entry_id:
        return None
    return entry_id, parent if isinstance(parent, str) else "", False


def new_id(seed: str) -> str:
    """Return eight hexadecimal digits."""
    from hashlib import sha256

    return sha256(seed.encode(errors="surrogatepass")).hexdigest()[:8]


def relinked(document: dict[str, Any], parent: str) -> dict[str, Any]:
    """Return an entry that follows another one, or none."""
    return {**document, "parentId": parent or None}


def with_id(document: dict[str, Any], entry_id: str, parent: str) -> dict[str, Any]:
    """Return an entry under another id; versions before 2 have none."""
    if not isinstance(document.get("id"), str):
        return document
    return {**document, "id": entry_id, "parentId": parent or None}


def without(document: dict[str, Any], blocks: frozenset[int]) -> dict[str, Any]:
    """Return an entry without some blocks; a result is one block with its entry."""
    message, content = _message(document), _content(document)
    if message.get("role") == "toolResult" or not isinstance(content, list):
        return {} if 0 in blocks else document
    left = [block for at, block in enumerate(content) if at not in blocks]
    return _with(document, {"content": left}) if left else {}


def alone(document: dict[str, Any], block: int) -> dict[str, Any]:
    """Return an entry with one of its blocks only."""
    message, content = _message(document), _content(document)
    if message.get("role") == "toolResult" or not isinstance(content, list):
        return document
    return _with(document, {"content": [content[block]]})


def renamed(document: dict[str, Any], block: int, name: str) -> dict[str, Any]:
    """Return an entry in which a call or a result names another tool."""
    if _message(document).get("role") == "toolResult":
        return _with(document, {"toolName": name})
    return _with_block(document, block, {"name": name})


def reissued(document: dict[str, Any], block: int, call_id: str) -> dict[str, Any]:
    """Return an entry in which a call, or its result, has another id."""
    message = _message(document)
    if message.get("role") != "toolResult":
        return _with_block(document, block, {"id": call_id})
    return _with(document, {name: call_id for name in OPENCLAW.result_ids if name in message})


def cut(document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
    """Return an entry with another text in a text block or a result."""
    content = _content(document)
    if _message(document).get("role") == "toolResult":
        return _with(document, {"content": with_text(content, text)})
    if isinstance(content, str):
        return _with(document, {"content": text})
    return _with_block(document, block, {"text": text})


def put(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return an entry with another value at a place inside it."""
    changed: dict[str, Any] = replaced_at(document, path, value)
    return changed


def answer(document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
    """Return an entry with an error as the result of a call."""
    message, call = _message(document), _content(document)[block]
    envelope = {name: document[name] for name in _ENVELOPE if name in document}
    result = {
        "role": "toolResult",
        "toolCallId": call.get("id"),
        "toolName": call.get("name"),
        "content": [{"type": "text", "text": text}],
        "isError": True,
    }
    if "timestamp" in message:
        result["timestamp"] = message["timestamp"]
    return {**envelope, "message": result}


def mark(document: dict[str, Any]) -> dict[str, Any]:
    """Return an entry that the model never sees, to stand where another one stood."""
    envelope = {name: document[name] for name in _ENVELOPE if name in document}
    return {
        **envelope,
        "type": "custom",
        "customType": "gitguard",
        "data": {"stands": "for a leaf"},
    }


def repointed(document: dict[str, Any], mended: Mended) -> dict[str, Any]:
    """Return an entry whose references to removed entries name the nearest ones that remain."""
    changed = dict(document)
    first = word(document.get("firstKeptEntryId"))
    if first in mended.instead:
        # What stays begins at the next entry that is left, not at the one before. With none left,
        # the compaction names itself, and nothing before it stays.
        changed["firstKeptEntryId"] = mended.after.get(first, "") or document.get("id")
    for name in ("targetId", "fromId"):
        named = word(document.get(name))
        if named in mended.instead:
            changed[name] = mended.instead[named] or named
    return changed


def _message(document: dict[str, Any]) -> dict[str, Any]:
    message = document.get("message")
    return message if isinstance(message, dict) else {}


def _content(document: dict[str, Any]) -> Any:
    """Return what an entry says; one that a plugin wrote says it itself."""
    if "message" not in document:
        return document.get("content")
    return _message(document).get("content")


def _with(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    if "message" not in document:
        return {**document, **changes}
    return {**document, "message": {**_message(document), **changes}}


def _with_block(document: dict[str, Any], block: int, changes: dict[str, Any]) -> dict[str, Any]:
    content = list(_content(document))
    content[block] = {**content[block], **changes}
    return _with(document, {"content": content})
