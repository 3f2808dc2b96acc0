"""Cuts a JSON text before it is parsed, so that neither its size nor its shape takes long.

A long text keeps its beginning and its end. A document with too many parts keeps its beginning, and
the last members of its outermost object, which are read backwards from the end. Both ways know
where texts begin and end, so nothing that stands in a text becomes a member.
"""

from __future__ import annotations

import re

from gitguard.model.value import Value


class JsonLimits(Value):
    """How much of a JSON text stays."""

    text: int = 1 << 18
    """Bytes of a text that stays whole; of a longer one most of the beginning and a part of the
    end stay."""
    parts: int = 100_000
    """Texts, brackets and commas that are looked at from each side."""
    size: int = 1 << 20
    """Bytes that are kept from the beginning; from the end it is half of that."""


_LIMITS = JsonLimits()
_LONGEST_SCALAR = 1 << 12
"""Bytes of what stands between two such parts: a number, a constant, blanks."""
_PART = re.compile(rb'"[^"]*"?|[\[\]{},]')
_QUOTE, _COMMA = b'"', b","
_CLOSING = {b"{": b"}", b"[": b"]"}
_PAIR, _PAIR_END = b"\x01\x02", 2
"""These stand for an escaped quote or backslash; valid JSON has neither of the two bytes."""
_PROGRAM, _BETWEEN_ITS_LETTERS = b"gitguard", b"\"'\\n"
"""A shell joins what quotes, backslashes and escaped ends of lines (`\\n` in JSON) take apart."""
_ESCAPED_ASCII = b"\\u00"
_UNKNOWN_END = b" [the bytes from here on were left out and may name gitguard] "


def bounded(data: bytes, end: bytes = b"", limits: JsonLimits = _LIMITS) -> bytes:
    """Return a JSON text of little more than 1.5 times the size of limits.

    An invalid text stays invalid. end is the end of a text that is too large to be held: what stood
    between data and end is left out, like the middle of a document with too many parts.
    """
    masked = _masked(data)
    text, position = _beginning(data, masked, limits, is_whole=not end)
    if position < 0:
        return text
    if end:
        data, masked = end, _masked(end)
    else:
        data, masked = data[position:], masked[position:]
    size = _last_members(masked, limits)
    if not size:
        return text
    members, masked_members = b"{" + data[-size:], b"{" + masked[-size:]
    last, _ = _beginning(members, masked_members, limits, is_whole=True)
    return text[:-1] + _COMMA + last[1:]


def _masked(data: bytes) -> bytes:
    """Return as many bytes, in which every quote begins or ends a text."""
    if b"\\" not in data:
        return data
    return data.replace(b"\\\\", _PAIR).replace(b'\\"', _PAIR)


def _beginning(
    data: bytes, masked: bytes, limits: JsonLimits, *, is_whole: bool
) -> tuple[bytes, int]:
    """Return a text cut to the limits, and the byte after which nothing of it was read.

    The byte is -1 where the text was read to its end. If it is not whole, what is incomplete at its
    end is left out.
    """
    pieces: list[bytes] = []
    closing: list[bytes] = []
    position = sound = size = 0
    for count, part in enumerate(_PART.finditer(masked)):
        begin, stop = part.span()
        scalar, kind = _cut_scalar(data[position:begin]), masked[begin : begin + 1]
        is_value = False
        if kind == _QUOTE:
            pieces += (scalar, _cut_text(data, masked, part.span(), limits.text))
            is_value = b":" in scalar or closing[-1:] == [b"]"]
        elif kind == _COMMA:
            pieces.append(scalar)
            sound = len(pieces)
            pieces.append(kind)
        else:
            pieces += (scalar, kind)
            if kind in _CLOSING:
                closing.append(_CLOSING[kind])
            elif closing:
                closing.pop()
        sound = len(pieces) if is_value or kind not in (_QUOTE, _COMMA) else sound
        size += len(scalar) + len(pieces[-1])
        position = stop
        if not closing:
            return b"".join(pieces) + _cut_scalar(data[stop:]), -1
        if kind != _QUOTE and (count >= limits.parts or size >= limits.size):
            break
    else:
        if is_whole:
            return b"".join(pieces), -1
    return b"".join([*pieces[:sound], *reversed(closing)]), position


def _last_members(masked: bytes, limits: JsonLimits) -> int:
    """Return how many bytes at the end hold the last members of the outermost object."""
    size = depth = position = members = 0
    for count, part in enumerate(_PART.finditer(masked[::-1])):
        begin, stop = part.span()
        kind = part[0][:1]
        if kind in (b"]", b"}"):
            depth += 1
        elif kind in _CLOSING:
            depth -= 1
        elif kind == _COMMA and depth == 1:
            members = begin
        size += min(begin - position, _LONGEST_SCALAR) + min(stop - begin, limits.text)
        position = stop
        if depth < 1 or count >= limits.parts or size >= limits.size // 2:
            break
    return members


def _cut_scalar(scalar: bytes) -> bytes:
    """Return what stands between two parts; null takes the place of a value that is too long."""
    if len(scalar) <= _LONGEST_SCALAR:
        return scalar
    scalar = scalar.strip()
    if len(scalar) <= _LONGEST_SCALAR:
        return scalar
    return b":null" if scalar.startswith(b":") else b"null"


def _cut_text(data: bytes, masked: bytes, span: tuple[int, int], longest: int) -> bytes:
    """Return a text in its quotes; its middle is left out where it is too long."""
    begin, stop = span
    has_end = stop - begin > 1 and masked[stop - 1 : stop] == _QUOTE
    if not has_end:
        stop = max(_floor(masked, stop - 1), begin + 1)
    closing = b"" if has_end else _UNKNOWN_END + _QUOTE
    if stop - begin <= longest:
        return data[begin:stop] + closing
    head = _floor(masked, begin + longest // 4 * 3)
    tail = _floor(masked, stop - longest // 8)
    return data[begin:head] + _mark(data[head:tail]) + data[tail:stop] + closing


def _floor(masked: bytes, at: int) -> int:
    """Return the nearest byte, not after this one, that splits neither character nor escape."""
    while masked[at] & 0xC0 == 0x80:
        at -= 1
    if masked[at] == _PAIR_END:
        at -= 1
    escape = masked.rfind(b"\\", max(at - 5, 0), at)
    length = 6 if masked[escape + 1 : escape + 2] == b"u" else 2
    return escape if escape >= 0 and escape + length > at else at


def _mark(removed: bytes) -> bytes:
    """Return what stands in the place of bytes; it names gitguard where they may name it.

    So whoever looks for our own commands in the text sees that it can hold one.
    """
    joined = removed.translate(None, _BETWEEN_ITS_LETTERS).lower()
    is_named = _PROGRAM in joined or _ESCAPED_ASCII in removed
    return b" [%d bytes left out%s] " % (len(removed), b" that may name gitguard" * is_named)
