"""Lines that hosts read and Python's `json` does not: nested very deeply, or with endless numbers.

A text stands in for each such part, so that the rest of the line is understood. The text either
says what is there, for readers, or holds the part itself, so that it is written back as it was.
"""

from __future__ import annotations

import os
import re
from math import isfinite

from gitguard.model.codec import json_decoder, parse_json, quoted
from gitguard.model.text import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TOKENS = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]|(?<![\w.+-])-?\d[\d.eE+-]{999,}', re.DOTALL
)
"""Texts, brackets and long numbers; a text that never ends is read once, and not from each quote
in it."""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_HELD = f"gitguard-verbatim-{os.urandom(12).hex()}-"
"""How a text begins that holds a part as it is; nobody can have written it into a transcript."""
_LONGEST_FLOAT = 32
"""Characters; a float has 17 digits that count."""
_IN_LINE = re.compile(rb'"' + _HELD.encode() + rb'((?:[^"\\]|\\.)*)"', re.DOTALL)


def described(part: str) -> str:
    """Return a text that says what part of a line is not shown."""
    if part[0] in "[{":
        return f"[gitguard: {counted(len(part), 'character')}, nested too deeply to be shown]"
    return f"[gitguard: a number of {counted(len(part), 'digit')}]"


def held(part: str) -> str:
    """Return a text that holds a part of a line, until `restored` puts it back."""
    return _HELD + part


def _number(digits: str) -> float | str:
    """Return a float, or a text that holds one that Python would write otherwise, as 1e999."""
    return (
        float(digits) if len(digits) <= _LONGEST_FLOAT and isfinite(float(digits)) else held(digits)
    )


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is nothing that JSON has")


decode_to_write = json_decoder(number=_number, constant=_refuse)
"""Reads a line that is to be written again."""


def restored(line: bytes) -> bytes:
    """Return a line in which each part that a text holds is what it was."""
    return _IN_LINE.sub(_part, line) if _HELD.encode() in line else line


def _part(match: re.Match[bytes]) -> bytes:
    quoted = b'"' + match[1] + b'"'
    text: str = parse_json(quoted.decode(errors="surrogateescape"))
    return text.encode(errors="surrogateescape")


def shortened(text: str, deepest: int, stand_in: Callable[[str], str]) -> str:
    """Return a JSON text with texts in the place of what is too deep or too long.

    Raises `ValueError` where such a part is no JSON.
    """
    short, parts = _without_parts(text, deepest, stand_in)
    for part in parts:
        _require_json(part, deepest)
    return short


def _require_json(part: str, deepest: int) -> None:
    """Raise `ValueError` where a part is no JSON, however deep it is; it is read once."""
    chunks: list[list[str]] = [[]]  # pieces of so many levels each, the deepest last
    depth = position = 0
    for token in TOKENS.finditer(part):
        mark = token[0]
        if mark in ("[", "{"):
            if depth and depth % deepest == 0:
                chunks[-1].append(part[position : token.start()] + "null")
                chunks.append([])
                position = token.start()
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
            if depth < 0:
                raise ValueError("a bracket is closed that was not opened")
            if depth and depth % deepest == 0:
                parse_json("".join((*chunks.pop(), part[position : token.end()])))
                position = token.end()
        elif mark[0] != '"':
            if not _NUMBER.fullmatch(mark):
                raise ValueError("a number is malformed")
            chunks[-1].append(part[position : token.start()] + "0")
            position = token.end()
    parse_json("".join((*chunks.pop(), part[position:])))


def _without_parts(
    text: str, deepest: int, stand_in: Callable[[str], str]
) -> tuple[str, list[str]]:
    """Return a text without its odd parts, and those."""
    depth = position = begin = 0
    pieces: list[str] = []
    parts: list[str] = []

    def put(start: int, end: int) -> None:
        nonlocal position
        parts.append(text[start:end])
        pieces.extend((text[position:start], quoted(stand_in(parts[-1]))))
        position = end

    for token in TOKENS.finditer(text):
        mark = token[0]
        if mark in ("[", "{"):
            depth += 1
            if depth == deepest + 1:
                begin = token.start()
        elif mark in ("]", "}"):
            if depth == deepest + 1:
                put(begin, token.end())
            depth -= 1
        elif mark[0] != '"' and depth <= deepest:
            put(token.start(), token.end())
    return "".join([*pieces, text[position:]]), parts
