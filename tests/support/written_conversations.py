"""Conversations as two hosts write them, made from the same parts, for tests that damage them.

Each host's shape is its recorded one: Claude Code puts results in the user's name and one block of
an answer in each line, pi has messages of their own for results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Document = dict[str, Any]


class Said(NamedTuple):
    """What somebody says: the user or the agent; calls are ids, with a tool's name."""

    who: str
    text: str = ""
    thinking: str = ""
    calls: tuple[str, ...] = ()
    stopped: str = ""


class Result(NamedTuple):
    """What a tool says."""

    call: str
    text: str = "done"


Part = Said | Result


def user(text: str = "go on") -> Said:
    return Said("user", text)


def agent(text: str = "", *calls: str, thinking: str = "", stopped: str = "") -> Said:
    return Said("agent", text, thinking, calls, stopped)


def claude_code(parts: Sequence[Part]) -> list[Document]:
    """The lines of Claude Code."""
    return list(_chained(_claude_code_lines(parts), "uuid", "parentUuid", "u{:03}"))


def _claude_code_lines(parts: Sequence[Part]) -> Iterator[Document]:
    common = {"isSidechain": False, "sessionId": "s", "timestamp": "2026-11-21T20:09:06.521Z"}
    for number, part in enumerate(parts):
        if isinstance(part, Result):
            block = {"type": "tool_result", "tool_use_id": part.call, "content": part.text}
            message: Document = {"role": "user", "content": [block]}
            yield common | {"type": "user", "message": message, "toolUseResult": {"stdout": "x"}}
        elif part.who == "user":
            yield common | {"type": "user", "message": {"role": "user", "content": part.text}}
        else:
            for block in _blocks(part, "tool_use", "input"):
                message = {"id": f"msg_{number}", "role": "assistant", "model": "m"}
                message |= {"content": [block], "usage": {"input_tokens": 5}}
                yield common | {"type": "assistant", "message": message}


def pi(parts: Sequence[Part]) -> list[Document]:
    """The lines of pi, version 3, header first."""
    header = {"type": "session", "version": 3, "id": "01a1-ffc5", "cwd": "/repo"}
    return [header, *_chained(_pi_lines(parts), "id", "parentId", "{:08x}")]


def openclaw(parts: Sequence[Part]) -> list[Document]:
    """The lines of OpenClaw, with all three types of calls that it reads, and both ids."""
    documents = pi(parts)
    for at, document in enumerate(documents):
        message = document.get("message", {})
        if at % 3 and "toolCallId" in message:
            message["toolUseId"] = message.pop("toolCallId")
        for block in message.get("content", ()) if message.get("role") == "assistant" else ():
            if at % 3 and block["type"] == "toolCall":
                block["type"] = ("toolUse", "functionCall")[at % 2]
                block["input"] = block.pop("arguments")
    return documents


def _pi_lines(parts: Sequence[Part]) -> Iterator[Document]:
    for part in parts:
        if isinstance(part, Result):
            text = [{"type": "text", "text": part.text}]
            message: Document = {"role": "toolResult", "toolCallId": part.call, "toolName": "bash"}
            message |= {"content": text, "isError": False, "details": {"exit": 0}}
        elif part.who == "user":
            message = {"role": "user", "content": [{"type": "text", "text": part.text}]}
        else:
            message = {"role": "assistant", "content": _blocks(part, "toolCall", "arguments")}
            message |= {"stopReason": part.stopped or "stop", "usage": {"input": 5}}
        yield {"type": "message", "timestamp": "2026-11-21T20:21:11.885Z", "message": message}


def _blocks(part: Said, kind: str, given: str) -> list[Document]:
    blocks: list[Document] = []
    if part.thinking:
        blocks.append({"type": "thinking", "thinking": part.thinking, "signature": "sig"})
    if part.text:
        blocks.append({"type": "text", "text": part.text})
    calls = ({"type": kind, "id": call, "name": "bash", given: {"a": 1}} for call in part.calls)
    return [*blocks, *calls]


def _chained(documents: Iterator[Document], own: str, parent: str, name: str) -> Iterator[Document]:
    newest = None
    for number, document in enumerate(documents, start=1):
        yield {own: name.format(number), parent: newest, **document}
        newest = name.format(number)


WRITERS: dict[str, Callable[[Sequence[Part]], list[Document]]] = {
    "claude-code": claude_code,
    "pi": pi,
}
PAIRED = {**WRITERS, "openclaw": openclaw}
"""All dialects of calls and results; OpenClaw's lines are pi's in everything else."""


def write(path: Path, documents: Sequence[Document | bytes]) -> Path:
    """Write one document a line; bytes are lines as they are."""
    lines = (
        document if isinstance(document, bytes) else json.dumps(document).encode()
        for document in documents
    )
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def read(path: Path) -> list[Document]:
    """Return the documents of a file in which all lines parse."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def blocks_of(document: Document) -> list[Document]:
    """Return the blocks of a line; a result of pi's is one."""
    message = document.get("message", {})
    if message.get("role") == "toolResult":
        own = message.get("toolCallId") or message.get("toolUseId")
        return [{**message, "type": "tool_result", "tool_use_id": own}]
    content = message.get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def spoken(documents: Sequence[Document]) -> list[str]:
    """Return all text and thinking, in the order of the file; what results say is left out."""
    found = (block for document in documents for block in blocks_of(document))
    return [b.get("text") or b["thinking"] for b in found if b["type"] in ("text", "thinking")]


def branch(documents: Sequence[Document]) -> list[Document]:
    """Return the messages that the last line follows from, oldest first."""
    own, parent = ("uuid", "parentUuid") if "uuid" in documents[-1] else ("id", "parentId")
    known = {document[own]: document for document in documents if parent in document}
    found, wanted = [], documents[-1][own]
    while wanted:
        found.append(known[wanted])
        wanted = found[-1][parent]
    return found[::-1]


def refusals(documents: Sequence[Document]) -> list[str]:
    """Return why a model would refuse the conversation: it takes pairs of one id each only."""
    problems = []
    seen: set[str] = set()
    pending: list[str] = []
    newest = None
    for document in branch(documents):
        message = document["message"]
        if message["role"] == "assistant":
            same = newest is not None and message.get("id") == newest
            if pending and not same:
                problems.append(f"{pending} have no result before {message}")
                pending = []
            newest = message.get("id")
            if message.get("stopReason") not in ("aborted", "error"):
                ids = [b["id"] for b in blocks_of(document) if b["type"] in CALLS]
                problems += [f"{call} is a second call's id" for call in ids if call in seen]
                problems += [f"`{call}` is no id" for call in ids if not str(call).strip()]
                pending += ids
                seen |= {*ids}
            continue
        blocks = blocks_of(document)
        has_results = any(block["type"] == "tool_result" for block in blocks)
        for block in blocks:
            if block["type"] != "tool_result":
                if has_results:
                    continue  # the host puts the results of a line before its texts
                if pending:
                    problems.append(f"{pending} have no result before {block}")
                pending, newest = [], None
            elif block["tool_use_id"] in pending:
                pending.remove(block["tool_use_id"])
            else:
                problems.append(f"no call for {block}")
    return [*problems, *(f"{call} has no result" for call in pending)]


CALLS = ("tool_use", "toolCall", "toolUse", "functionCall")


def write_parser_conversation(path: Path) -> None:
    """Write the short conversation of Claude Code that the guides' examples read."""
    parts: list[Part] = [
        user("Port the parser"),
        agent("I look at it.", "call_1"),
        Result("call_1"),
        agent("It is ported."),
        user("Now its tests"),
        agent("They pass."),
    ]
    documents = claude_code(parts)
    answer = documents[-1]["message"]
    answer |= {"model": "claude-haiku-4-5", "usage": {"input_tokens": 131_072}}
    write(path, documents)
