"""The lines of Codex's rollouts as entries (recorded with 0.169.0).

Every item that the model is given or answers is a line: a message, a call, a result. A compaction
is one line with the summary and the history that replaces the one before it.
"""

from __future__ import annotations

from gitguard.model.codec import parse_json
from gitguard.model.conversation import (
    ABORTED,
    AGENT,
    COMPACTION,
    HEADER,
    IMAGE,
    MESSAGE,
    RESULT,
    TEXT,
    THINKING,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.transcripts import jsonl
from gitguard.transcripts.blocks import IMAGE_SIZE, call, unknown_block, word
from gitguard.transcripts.entries import inner, time_of, tokens
from gitguard.transcripts.formats.codex.lines import is_by_host, taken_back, texts_in, usage_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


_ROLES = {"user": USER, "developer": USER, "assistant": AGENT}
_TEXTS = ("input_text", "output_text", "text")
_EXITS = ("Process exited with code ", "Exit code: ")
"""What results of commands say in one of their first lines."""
_EXIT_WITHIN, _EXIT_LINES = 400, 4
"""Characters and lines in which that stands; further on it may be the command's own output."""


def entries_of(path: str, since: int) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file behind an offset."""
    rolled_back, newest_usage = taken_back(path), (0, 0)
    for entry in jsonl.entries(path, since, fields_of):
        is_rolled_back = any(begin <= entry.at < end for begin, end in rolled_back)
        # The counts for the screen repeat an answer's own record, some behind its results.
        is_repeated = entry.tokens > 0 and (entry.tokens, entry.answered) == newest_usage
        if entry.tokens and not is_rolled_back:
            newest_usage = entry.tokens, entry.answered
        yield jsonl.withdrawn(entry) if is_rolled_back or is_repeated else entry


def fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the entry that a line is."""
    kind, payload = line.get("type"), inner(line, "payload")
    fields: dict[str, Any] = {"id": word(payload.get("id")), "time": time_of(line)}
    if kind == "session_meta":
        return fields | {"kind": HEADER}
    if kind == "compacted":
        return fields | {"kind": COMPACTION, **_compaction(payload)}
    item = payload.get("type")
    if kind != "response_item" or not isinstance(item, str):
        return fields | {"kind": UNKNOWN, **_measure(usage_in(line))}
    fields |= {"kind": MESSAGE, "message": _answer(line, payload)}
    if item == "message":
        return fields | _message(line, payload)
    if item == "reasoning":
        return fields | {"role": AGENT, "message": fields["message"], "blocks": _thinking(payload)}
    if item.endswith("_output"):
        return fields | {"role": TOOL, "message": "", "blocks": (_result(payload),)}
    return fields | {"role": AGENT, "blocks": (_call(item, payload),)}


def call_fields_of(line: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry; the end of a command, written before its result, is one too.

    A hook behind the call comes after the first and may come before the second (seen in 0.171.0).
    """
    item = inner(inner(line, "payload"), "item")
    if item.get("type") != "CommandExecution":
        return fields_of(line)
    code = item.get("exit_code")
    exit_code = code if type(code) is int else None
    output = word(item.get("aggregated_output"))
    end = Block(
        RESULT,
        0,
        output,
        id=word(item.get("id")),
        is_error=bool(exit_code),
        exit_code=exit_code,
        size=len(output),
    )
    return {"time": time_of(line), "role": TOOL, "blocks": (end,)}


def _measure(usage: Any) -> dict[str, int]:
    """Return what a usage of the model tells; one without input is not the model's."""
    if not tokens(usage, ("input_tokens",)):
        return {}
    answered = tokens(usage, ("output_tokens",))
    return {"tokens": tokens(usage, ("total_tokens",)), "answered": answered}


def _answer(line: dict[str, Any], payload: dict[str, Any]) -> str:
    """Name the answer of the model that an item is a part of, empty where it does not tell."""
    passed = inner(payload, "internal_chat_message_metadata_passthrough")
    upto = inner(line, "metadata").get("sampled_through_sequence")
    turn = word(passed.get("turn_id"))
    return f"{turn}/{upto}" if isinstance(upto, int) and turn else ""


def _message(line: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    content = payload.get("content")
    items = content if isinstance(content, list) else []
    role = _ROLES.get(word(payload.get("role")), USER)
    return {
        "role": role,
        "message": _answer(line, payload) if role == AGENT else "",
        "blocks": tuple(_block(at, item) for at, item in enumerate(items)),
        "by_host": is_by_host(line, "\n".join(texts_in(content))),
        "stopped": ABORTED if payload.get("status") == "incomplete" else "",
    }


def _block(at: int, item: Any) -> Block:
    if not isinstance(item, dict):
        return unknown_block(at, item)
    text = item.get("text")
    if item.get("type") in _TEXTS and isinstance(text, str):
        return Block.saying(TEXT, at, text)
    if item.get("type") == "input_image":
        return Block(IMAGE, at, size=IMAGE_SIZE)
    return unknown_block(at, item)


def _thinking(payload: dict[str, Any]) -> tuple[Block, ...]:
    text = "\n".join(texts_in(payload.get("summary")) + texts_in(payload.get("content")))
    return (Block.saying(THINKING, 0, text),)


def _call(item: str, payload: dict[str, Any]) -> Block:
    if "call_id" not in payload:
        return unknown_block(0, payload)  # what the provider's own tools did; no result follows
    named = {"id": payload["call_id"], "name": payload.get("name") or item.removesuffix("_call")}
    if item == "custom_tool_call":
        return call(0, named, {"input": payload.get("input")})
    arguments = payload.get("arguments", payload.get("action"))
    if isinstance(arguments, str):
        try:
            arguments = parse_json(arguments)
        except (ValueError, RecursionError):
            # The model wrote arguments that do not parse; they fill its context all the same.
            return call(0, named, None).replace(size=len(arguments))
    return call(0, named, arguments)


def _result(payload: dict[str, Any]) -> Block:
    output = payload.get("output")
    if isinstance(output, dict):
        output = output.get("content")
    images = 0
    if isinstance(output, list):
        images = sum(isinstance(i, dict) and i.get("type") == "input_image" for i in output)
        output = "\n".join(texts_in(output))
    text = word(output)
    size = len(text) + images * IMAGE_SIZE
    name = word(payload.get("call_id"))
    end = _end_of_command(text)
    exit_code = int(end) if end.isdecimal() else None
    is_error = end not in ("", "0")
    return Block(RESULT, 0, text, id=name, is_error=is_error, exit_code=exit_code, size=size)


def _end_of_command(text: str) -> str:
    """Return with what a command exited, empty where the result does not tell."""
    for line in text[:_EXIT_WITHIN].split("\n")[:_EXIT_LINES]:
        for begin in _EXITS:
            if line.startswith(begin):
                return line.removeprefix(begin).strip()
    return ""


def _compaction(payload: dict[str, Any]) -> dict[str, Any]:
    summary = word(payload.get("message"))
    history = payload.get("replacement_history")
    items = history if isinstance(history, list) else []
    ids = [word(item.get("id")) for item in items if isinstance(item, dict)]
    return {"blocks": (Block.saying(TEXT, 0, summary),), "kept": tuple(filter(None, ids))}
