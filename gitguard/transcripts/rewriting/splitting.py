"""Records that lost the line end between them: whole ones glued together, or behind a torn one.

A record is told from an object inside a torn one by what only its format's records have.
"""

from __future__ import annotations

from json import JSONDecoder

from gitguard.transcripts.entries import Unread, cleaned, read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    IsRecord = Callable[[dict[str, Any]], bool]

_BEGIN = '{"'
_AROUND = "\0\ufeff \t\r\n"
_INSIDE = ":,["
"""What stands before an object that is a part of another one."""
_MOST_BY_HAND = 64
"""Objects of one line whose end is looked for bracket by bracket, which is slow."""


def records_in(raw: bytes, is_record: IsRecord) -> list[bytes]:
    """Return the whole records in a line that is no document; what is torn is left out.

    is_record says whether a document is a line of the transcript's format.
    """
    text = raw.decode(errors="surrogateescape")
    records: list[bytes] = []
    ends = _Ends(text)
    position = text.find("{")
    while 0 <= position < len(text):
        end = ends.behind(position)
        record = text[position:end].encode(errors="surrogateescape") if end > 0 else b""
        if record and _is_one(record, is_record) and _stands_alone(text, position, end):
            records.append(record)
            position = end
        else:
            position += 1
        position = text.find(_BEGIN, position)
    return records


def remnants(raw: bytes, records: list[bytes]) -> int:
    """Return how many bytes of a line belong to none of its records."""
    return len(cleaned(raw).strip()) - sum(map(len, records))


def _stands_alone(text: str, begin: int, end: int) -> bool:
    """Say whether an object can be a line's: what goes on behind one is inside of another."""
    before = begin - 1
    while before >= 0 and text[before] in _AROUND:
        before -= 1
    while end < len(text) and text[end] in _AROUND:
        end += 1
    return end == len(text) or text[end] == "{" or before < 0 or text[before] not in _INSIDE


def _is_one(record: bytes, is_record: IsRecord) -> bool:
    document = read_line(record, "surrogateescape")
    return not isinstance(document, Unread) and is_record(document)


class _Ends:
    """Where the objects in a text end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decode = JSONDecoder().raw_decode
        self._by_hand = 0

    def behind(self, begin: int) -> int:
        """Return the place behind an object, -1 where it has no end."""
        try:
            return self._decode(self._text, begin)[1]
        except RecursionError:
            return self._by_brackets(begin)
        except ValueError as problem:
            is_long = "integer string conversion" in str(problem)
            return self._by_brackets(begin) if is_long else -1

    def _by_brackets(self, begin: int) -> int:
        from gitguard.transcripts.odd_lines import TOKENS

        self._by_hand += 1
        if self._by_hand > _MOST_BY_HAND:
            return -1
        depth = 0
        for token in TOKENS.finditer(self._text, begin):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth == 0:
                return token.end()
        return -1
