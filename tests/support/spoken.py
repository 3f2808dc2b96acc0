"""Conversations written down in the two dialects of files that can be rewritten."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gitguard.model.conversation import (
    AGENT,
    CALL,
    MESSAGE,
    RESULT,
    TEXT,
    TOOL,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.model.events import Transcript
from gitguard.model.text import timestamp

NOW = 1_790_000_000.0
"""When the first line is written; each one comes a second later."""
Said = tuple[str, ...]
"""("user", text), ("agent", text), ("call", id, tool), or ("result" or "failed", id, text).

A call may be given a path as well."""


def turns(count: int, *, size: int = 0) -> list[Said]:
    """Turns of a request, a read, an edit and an answer; every fourth edit fails.

    size adds characters to each answer.
    """
    said: list[Said] = []
    for number in range(count):
        one, two = f"a{number}", f"b{number}"
        said += [
            ("user", f"request {number}"),
            ("call", one, "read", f"/repo/src/read_{number % 7}.py"),
            ("result", one, f"content {number}"),
            ("call", two, "edit", f"/repo/src/edit_{number % 5}.py"),
            ("result" if number % 4 else "failed", two, f"outcome {number}"),
            ("agent", f"answer {number} " + "x" * size),
        ]
    return said


def entries(said: Iterable[Said]) -> list[TranscriptEntry]:
    """Return what was said as entries, without any file."""
    return [_entry(i, *one) for i, one in enumerate(said)]


def _entry(at: int, what: str, first: str, second: str = "", path: str = "") -> TranscriptEntry:
    blocks = {
        "user": Block(TEXT, 0, first, size=len(first)),
        "agent": Block(TEXT, 0, first, size=len(first)),
        "call": Block(CALL, 0, id=first, name=second, given=_given(path), size=len(second)),
        "result": Block(RESULT, 0, second, id=first, size=len(second)),
        "failed": Block(RESULT, 0, second, id=first, size=len(second), is_error=True),
    }
    roles = {"user": USER, "result": TOOL, "failed": TOOL}
    role = roles.get(what, AGENT)
    block = blocks[what]
    return TranscriptEntry(
        at, at + 1, kind=MESSAGE, id=str(at), role=role, blocks=(block,), time=NOW + at
    )


def _given(*path: str) -> dict[str, Any]:
    return {"path": path[0]} if path and path[0] else {"a": 1}


def claude_code(path: Path, said: Iterable[Said]) -> Transcript:
    """Write what was said as Claude Code would."""
    lines, parent = [], None
    for i, (what, first, *rest) in enumerate(said):
        uuid = f"00000000-0000-4000-8000-{i:012}"
        role = "assistant" if what in ("agent", "call") else "user"
        content: Any = [{"type": "text", "text": first}]
        if what == "user":
            content = first
        elif what == "call":
            content = [
                {"type": "tool_use", "id": first, "name": rest[0], "input": _given(*rest[1:])}
            ]
        elif what != "agent":
            content = [{"type": "tool_result", "tool_use_id": first, "content": rest[0]}]
            content[0] |= {"is_error": True} if what == "failed" else {}
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{i}", "model": "claude-haiku-4-5"}
        line = {"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
        lines.append(line | {"timestamp": timestamp(NOW + i), "message": message})
        parent = uuid
    _write(path, lines)
    return Transcript(str(path), "claude-code", path.stem)


def pi(path: Path, said: Iterable[Said]) -> Transcript:
    """Write what was said as pi would."""
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": timestamp(NOW), "cwd": "/repo"}
    ]
    parent: str | None = None
    tools: dict[str, str] = {}
    for i, (what, first, *rest) in enumerate(said):
        message: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": first}]}
        if what == "agent":
            message["role"] = "assistant"
        elif what == "call":
            tools[first] = rest[0]
            block: dict[str, Any] = {"type": "toolCall", "id": first, "name": rest[0]}
            block["arguments"] = _given(*rest[1:])
            message = {"role": "assistant", "content": [block]}
        elif what != "user":
            message = {
                "role": "toolResult",
                "toolCallId": first,
                "toolName": tools.get(first, "bash"),
                "content": [{"type": "text", "text": rest[0]}],
                "isError": what == "failed",
            }
        own = f"{i:08x}"
        line: dict[str, Any] = {"type": "message", "id": own, "parentId": parent}
        lines.append(line | {"timestamp": timestamp(NOW + i), "message": message})
        parent = own
    _write(path, lines)
    return Transcript(str(path), "pi", path.stem)


def _write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


DIALECTS = {"claude-code": claude_code, "pi": pi}
