"""The texts in a binary file, as the program `strings` shows them.

A database, an archive that is not compressed, or a core dump has the bytes of its texts as they
are; of what is compressed or encrypted there is nothing to be seen.
"""

from __future__ import annotations

import re

from gitguard.model.redaction.redactor import OVERLAP, WINDOW

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SEEN = rb"\t\n\r\x20-\x7e"
_STRING = re.compile(rb"[%s]{8,}|(?:[%s]\0){8,}" % (_SEEN, _SEEN))
"""A run of characters of ASCII, as bytes or as UTF-16."""
_APART = "\n\n"
"""Two strings are no lines of one text, so no token goes on from one to the other."""


def strings_in(data: bytes) -> Iterator[str]:
    """Yield the strings of overlapping parts of a content; a part without any is passed over."""
    for start in range(0, len(data), WINDOW):
        strings = _STRING.findall(data, start, start + WINDOW + OVERLAP)
        yield _APART.join([string.replace(b"\0", b"").decode("ascii") for string in strings])
