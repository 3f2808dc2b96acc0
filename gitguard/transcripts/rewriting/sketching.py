"""Of an entry only that by which calls and results are paired, since reading it whole is slow.

A sketch has the fields of `Entry` that `pairing`, `context` and `tree` look at, and nothing of what
was said.
"""

from __future__ import annotations

from typing import Any

from gitguard.model.conversation import CALL, OTHER, RESULT, TEXT, Block
from gitguard.transcripts.blocks import word
from gitguard.transcripts.session_entries import OPENCLAW

_SOMETHING: dict[str, Any] = {}
"""What was given to a call, where that matters no more."""
_KNOWN = frozenset(("text", "thinking", "redacted_thinking", "image", "document", *OPENCLAW.calls))
"""Kinds of blocks that are neither calls nor results where they are not taken for them."""
_IDS = ("id", "tool_use_id", "toolCallId", "toolUseId", "call_id")
_PLAIN = tuple(Block(TEXT, at) for at in range(8))
_ONE_TEXT = _PLAIN[:1]


def sketched(
    content: Any, calls: tuple[str, ...], inputs: tuple[str, ...], result: str = ""
) -> tuple[Block, ...]:
    """Return the blocks of a content; the names are the format's for calls, inputs and a result.

    What is neither a call nor a result is a text without words; a block of an unknown kind that has
    an id keeps it.
    """
    if isinstance(content, str):
        return _ONE_TEXT
    if not isinstance(content, list):
        return ()
    if len(content) == 1:  # as most have
        block = _sketch(0, content[0], calls, inputs=inputs, result=result)
        return _ONE_TEXT if block is _PLAIN[0] else (block,)
    return tuple(
        [
            _sketch(at, block, calls, inputs=inputs, result=result)
            for at, block in enumerate(content)
        ]
    )


def _sketch(
    at: int, block: Any, calls: tuple[str, ...], inputs: tuple[str, ...], result: str
) -> Block:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in calls:
        arguments = block.get(inputs[0])
        if arguments is None and len(inputs) > 1:
            arguments = next((block[key] for key in inputs if block.get(key) is not None), None)
        sketch = _SOMETHING if isinstance(arguments, dict) else None
        name, id_ = word(block.get("name")), word(block.get("id"))
        return Block._of({"kind": CALL, "at": at, "id": id_, "name": name, "given": sketch})
    if kind == result:
        return Block._of({"kind": RESULT, "at": at, "id": word(block.get("tool_use_id"))})
    if kind not in _KNOWN and isinstance(block, dict):
        id_ = next(filter(None, (word(block.get(name)) for name in _IDS)), "")
        if id_:
            return Block._of({"kind": OTHER, "at": at, "id": id_})
    return _PLAIN[at] if at < len(_PLAIN) else Block(TEXT, at)


def ids_in(document: dict[str, Any]) -> tuple[Block, ...]:
    """Return a block for each id in a line that nobody here understands.

    It may be of a call or a result: a line of a later version can hold both.
    """
    ids: dict[str, None] = {}
    waiting: list[Any] = [document]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, list):
            waiting += holder
        elif isinstance(holder, dict):
            waiting += holder.values()
            for name, value in holder.items():
                if isinstance(value, str) and value and name.lower().endswith("id"):
                    ids[value] = None
    return tuple([Block._of({"kind": OTHER, "at": 0, "id": id_}) for id_ in ids])


def result(call: str, name: str) -> tuple[Block, ...]:
    """Return the one block of a message that is a result, by its call's id and its tool."""
    return (Block._of({"kind": RESULT, "at": 0, "id": call, "name": name}),)
