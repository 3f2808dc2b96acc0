"""Values in quotes that stand within other quotes, as in a command within a command."""

from __future__ import annotations

from gitguard.model.redaction.names import VALUE

_NEAR, _LONGEST = 48, 2048
_NESTING = "\"'\\"
_PLAIN = ('\\"', "\\'", '"""', "'''")
_DOLLARS = ("$$", "\\$\\$")
_FIRST_MARKS = "!#%^&*=?_~"
"""What a value begins with, beside a letter or a digit; code goes on with other marks."""


def in_nested_quotes(text: str, at: int) -> tuple[int, int] | None:
    """Return where a value is whose quotes stand within others, None if its quotes are plain.

    A shell writes them `'"'"'`, `'\\''` or `\\\"`, a file in CSV `""`, a database `$$` as well.
    """
    near = text[at : at + _NEAR]
    opening = next((mark for mark in _DOLLARS if near.startswith(mark)), "")
    opening = opening or near[: len(near) - len(near.lstrip(_NESTING))]
    begin = at + len(opening)
    first = text[begin : begin + 1]
    if len(opening) < 2 or opening in _PLAIN or opening[-1] == "\\" or not first:
        return None
    if not first.isalnum() and first not in _FIRST_MARKS:
        return None
    line = text[begin : begin + _LONGEST].partition("\n")[0]
    if opening in _DOLLARS:
        size = line.find(opening)
        return (begin, begin + size) if size >= 0 else None
    size = min((n for n in map(line.find, _NESTING) if n >= 0), default=-1)
    if size < 0:
        # Whoever cut the line may have left only the beginning of the quotes.
        return (begin, begin + len(line) - len(line.lstrip(VALUE))) if len(opening) > 2 else None
    is_closed = line[size:].lstrip("\\").startswith(opening.lstrip("\\")[:2])
    return (begin, begin + size) if is_closed else None
