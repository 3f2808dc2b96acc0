"""Parts, as Gemini's API names the blocks of a message. Qwen Code keeps them, too."""

from __future__ import annotations

from gitguard.model.codec import encode_json
from gitguard.model.conversation import IMAGE, RESULT, TEXT, THINKING, Block
from gitguard.transcripts.blocks import IMAGE_SIZE, call, unknown_block, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any


def blocks_of_parts(content: Any) -> Iterator[Block]:
    """Yield the blocks of a message's parts, or of its text; their places are not told."""
    parts: Iterable[Any] = content if isinstance(content, list) else [{"text": content}]
    for part in parts if content else ():
        if isinstance(part, str):
            part = {"text": part}
        if not isinstance(part, dict):
            yield unknown_block(0, part)
        elif isinstance(part.get("functionResponse"), dict):
            yield _result(part["functionResponse"])
        elif isinstance(part.get("functionCall"), dict):
            yield call(0, part["functionCall"], part["functionCall"].get("args"))
        elif isinstance(text := part.get("text"), str):
            yield Block(THINKING if part.get("thought") else TEXT, text=text, size=len(text))
        elif "inlineData" in part or "fileData" in part:
            yield Block(IMAGE, size=IMAGE_SIZE)
        else:
            yield unknown_block(0, part)


def _result(response: dict[str, Any]) -> Block:
    body = response.get("response")
    outcome = body if isinstance(body, dict) else {}
    failed = "error" in outcome
    text = word(outcome.get("error" if failed else "output"))
    if not text and outcome:
        text = encode_json(outcome)
    return Block(
        RESULT,
        text=text,
        id=word(response.get("id")),
        name=word(response.get("name")),
        is_error=failed,
        size=len(text),
    )
