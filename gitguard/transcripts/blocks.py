"""Blocks, which the formats share: how content becomes text, thinking, calls and images."""

from __future__ import annotations

from gitguard.model.codec import encode_json, quoted
from gitguard.model.conversation import IMAGE, OTHER, TEXT, THINKING, Block
from gitguard.transcripts.entries import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

IMAGE_SIZE = 4_800
"""Characters that an image counts for: about 1,200 tokens of four each."""


def blocks_of(content: Any, read: Callable[[int, dict[str, Any]], Block]) -> tuple[Block, ...]:
    """Return the blocks of a message's content, which is a list of them or one plain text.

    read turns one block, with its place in the list, into ours.
    """
    if isinstance(content, str):
        return (Block.saying(TEXT, 0, content),)
    if not isinstance(content, list):
        return ()
    if len(content) == 1 and type(content[0]) is dict:  # most have one block: skip the loop
        return (read(0, content[0]),)
    return tuple(
        [
            read(at, block) if isinstance(block, dict) else unknown_block(at, block)
            for at, block in enumerate(content)
        ]
    )


def plain(at: int, block: dict[str, Any]) -> Block:
    """Return a block that is neither a call nor a result."""
    kind = block.get("type")
    if kind == "text" and isinstance(text := block.get("text"), str):
        return Block.saying(TEXT, at, text)
    if kind == "thinking":
        thinking = block.get("thinking")
        text = thinking if isinstance(thinking, str) else ""
        return Block.saying(THINKING, at, text)
    return Block(IMAGE, at, size=IMAGE_SIZE) if kind == "image" else unknown_block(at, block)


def claudes_block(at: int, block: dict[str, Any]) -> Block:
    """Return a block with the names of Claude's API, calls and results included."""
    kind = block.get("type")
    if kind == "text" and type(text := block.get("text")) is str:
        return Block.saying(TEXT, at, text)
    if kind == "tool_use":
        return call(at, block, block.get("input"))
    if kind != "tool_result":
        return plain(at, block)
    text, size = text_and_size(block.get("content"))
    result = Block.result(at, text, size, word(block.get("tool_use_id")))
    return result.replace(is_error=True) if block.get("is_error") else result


def unknown_block(at: int, block: Any) -> Block:
    """Return a block of an unknown kind, of which only the size counts."""
    return Block(OTHER, at, size=len(encode_json(block)))


def call(at: int, block: dict[str, Any], arguments: Any) -> Block:
    """Return a call of a tool with its arguments."""
    name = word(block.get("name"))
    named_arguments = arguments if isinstance(arguments, dict) else None
    return Block.call(
        at,
        name,
        _written_size(arguments) + len(name),
        id=word(block.get("id")),
        given=named_arguments,
    )


def _written_size(arguments: Any) -> int:
    """Return how many characters a call's arguments have as JSON."""
    if arguments is None:
        return 0
    if type(arguments) is not dict:
        return len(encode_json(arguments))
    # Most arguments are a few texts. Adding up their lengths saves writing the whole as JSON.
    size = 0
    for name, value in arguments.items():
        if type(value) is not str:
            return len(encode_json(arguments))
        size += len(quoted(name)) + len(quoted(value)) + len(": , ")
    return size or len("{}")


def text_and_size(content: Any) -> tuple[str, int]:
    """Return the text of a result, and its size in characters, images included."""
    if type(content) is str:
        return content, len(content)
    text = "\n".join(texts(content))
    items = content if isinstance(content, list) else ()
    images = sum(isinstance(block, dict) and block.get("type") == "image" for block in items)
    return text, len(text) + images * IMAGE_SIZE


def with_text(content: Any, text: str) -> list[Any]:
    """Return a result's content with another text; blocks that are not text stay."""
    items = content if isinstance(content, list) else ()
    return [{"type": "text", "text": text}, *(block for block in items if not texts([block]))]


def word(value: Any) -> str:
    """Return a name or an id; empty if the value is not a text."""
    return value if isinstance(value, str) else ""
