"""What can be changed in a transcript's file, as values; `applying.py` applies them.

Entries are named by where they begin, blocks by their place in the content of their message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitguard.model.value import Value

START = -1
"""What stands behind it is the first line of the file."""


class Drop(Value):
    """Leave blocks of an entry out, or the entry itself where none are named or left."""

    at: int
    blocks: tuple[int, ...] = ()


class Rename(Value):
    """Give a call, or a result that repeats it, another tool's name."""

    at: int
    block: int
    name: str


class Reissue(Value):
    """Give a call, or its result, another id."""

    at: int
    block: int
    id: str


class Cut(Value):
    """Let a text or a result say something else."""

    at: int
    block: int
    text: str


class Put(Value):
    """Put a value in the place of one inside an entry."""

    at: int
    path: tuple[str | int, ...]
    """Names of members and places in lists."""
    value: Any


class Unsign(Value):
    """Take the signature that no API takes from the block at a place inside an entry."""

    at: int
    path: tuple[str | int, ...]


class Move(Value):
    """Put a block right behind another entry, as an entry of its own."""

    at: int
    block: int
    behind: int


class AddResult(Value):
    """Put an error behind an entry, as the result of the call that stands at a block."""

    at: int
    block: int
    behind: int
    text: str


class Add(Value):
    """Put a line as it is behind an entry, or at the `START`."""

    behind: int
    line: bytes


class Shift(Value):
    """Put an entry behind another one, or at the `START`; what it follows stays the same."""

    at: int
    behind: int


class Replace(Value):
    """Put a line in the place of an entry."""

    at: int
    line: bytes


class Relink(Value):
    """Let an entry follow another, or none where the id is empty."""

    at: int
    parent: str


class End(Value):
    """Give the last line the end that it lacks."""


Change = Rename | Reissue | Cut | Put | Unsign
"""Of one block, which stays."""
Edit = Drop | Change | Move | AddResult | Add | Shift | Replace | Relink | End


def replaced(raw: bytes, edits: Sequence[Edit]) -> bytes:
    """Return the line that stands in the place of another one, or that one."""
    return next((edit.line for edit in edits if isinstance(edit, Replace)), raw)


def taken_out(edits: Sequence[Edit]) -> frozenset[int] | None:
    """Return the blocks that do not stay where they are, None when the entry does not."""
    blocks: set[int] = set()
    for edit in edits:
        if isinstance(edit, Drop):
            if not edit.blocks:
                return None
            blocks |= {*edit.blocks}
        elif isinstance(edit, Move):
            blocks.add(edit.block)
    return frozenset(blocks)
