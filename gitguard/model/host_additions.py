"""Takes what a host adds to the user's words out of them: open files, reminders, notifications."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_ATTRIBUTES = 300
"""Characters; a bound keeps the search for the end of a tag short."""


def outside_of(text: str, tags: Iterable[str], beginnings: tuple[str, ...] = ()) -> str:
    """Return a text without what stands between tags, or nothing if the rest begins as a host's.

    A file between such tags may hold the closing tag as well, and words behind it. So all from the
    first opening tag to the last closing one counts as the host's. Tags and beginnings count in
    capital letters too, and tags with attributes.
    """
    if "<" in text:
        lowered = text.lower()
        for tag in tags:
            if tag in lowered:
                text = _outside(text, tag)
    marks = tuple(beginning.lower().rstrip(">") for beginning in beginnings)
    return "" if text.lstrip().lower().startswith(marks) else text


def _outside(text: str, tag: str) -> str:
    attributes = rf"(?:\s[^>]{{0,{_LONGEST_ATTRIBUTES}}})?"
    opening = re.search(rf"<{tag}{attributes}>", text, re.IGNORECASE)
    if opening is None:
        return text
    closings = [*re.compile(rf"</{tag}\s*>", re.IGNORECASE).finditer(text, opening.end())]
    return text[: opening.start()] + text[closings[-1].end() :] if closings else text
