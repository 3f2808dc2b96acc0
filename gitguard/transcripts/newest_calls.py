"""The newest calls of a conversation and how they ended, read from the end of its lines."""

from __future__ import annotations

from gitguard.model.conversation import CALL, RESULT
from gitguard.model.transcript import RecordedCall
from gitguard.transcripts.entries import backwards, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.model.conversation import Block

_MOST_LINES_BACK = 2_000
"""Lines that are searched: more than any turn has."""


def newest_calls(
    path: str, marks: tuple[bytes, ...], fields_of: Callable[[dict[str, Any]], dict[str, Any]]
) -> Iterator[RecordedCall]:
    """Yield the calls of the main conversation, newest first; lines with a mark hold them.

    fields_of returns the fields of a line's entry. Providers may use an id again: a result belongs
    to the nearest call before it.
    """
    results: dict[str, tuple[Block, float]] = {}
    for number, line in enumerate(backwards(path)):
        if number >= _MOST_LINES_BACK:
            return
        if not any(mark in line for mark in marks):
            continue
        fields = fields_of(parse(line))
        if fields.get("is_aside"):
            continue
        for block in reversed(fields.get("blocks", ())):
            if block.kind == RESULT:
                results.setdefault(block.id, (block, fields.get("time", 0)))
            elif block.kind == CALL:
                yield _recorded(block, *results.pop(block.id, (None, 0)))


def _recorded(call: Block, result: Block | None, at: float) -> RecordedCall:
    if result is None:
        return RecordedCall(call.id, call.name, call.given)
    return RecordedCall(
        call.id,
        call.name,
        call.given,
        has_ended=True,
        text=result.text,
        is_error=result.is_error,
        exit_code=result.exit_code,
        at=at,
    )
