"""What makes a text worth a second look, found without regular expressions.

Hooks start often and most texts conceal nothing, so `re` is not imported before something says that
it may be needed.
"""

from __future__ import annotations

_LONG = 4096
"""Longer texts are searched by `re`, which hooks do without."""
_ORDINARY = bytes({*range(32, 127), *b"\t\n\r"} - {*b"\\%"})
"""What conceals nothing in a text of ASCII."""
_GOES_ON = frozenset(("", "\n", "\r", "+", ".", "\\", '"', "'", "`"))
"""What follows the quote of a string which the next one continues, blanks aside."""
_MAY_GO_ON = _GOES_ON | {" "}
_TOKEN_MARKS = frozenset("_-+/=.~$#^@*!&")
_ESCAPES = frozenset("xuUeE0123_.+/=~:-\r\n")
"""What follows a backslash that can stand for a character of a token, or for none."""
_PERCENTS = frozenset("01234567")


_ASCII = bytes(range(128))
_LOOKS_LIKE_ANOTHER = ((0x24B6, 0x24E9), (0xFF01, 0xFF5E), (0x1D400, 0x1D7FF))
"""Letters and digits in another form."""
_SHOWS_NOTHING = (
    *((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164)),
    *((0x2028, 0x2029), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF)),
)
"""What nobody sees, though Unicode has it for letters and marks: fillers and selectors."""
_SELECTOR = "\ufe0f"
"""What stands behind a symbol that has colours."""
_SEEN: set[str] = set()
"""Characters beyond ASCII that conceal nothing, as they came up."""
_MOST_SEEN = 4096


def may_conceal(text: str) -> bool:
    """Say whether a text may hold what is not seen, or an escape."""
    if not text.isascii():
        data = _without_selectors(text).encode("utf-8", "surrogatepass")
        if not _conceal_nothing(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")):
            return True
        text = text.encode("ascii", "replace").decode("ascii")
    if "\\" not in text and "%" not in text and text.isprintable():
        return False
    if "\r" in text and text.count("\r") != text.count("\r\n"):
        return True
    suspects = text.encode().translate(None, _ORDINARY)
    if suspects.strip(b"\\%"):
        return True
    if b"\\" in suspects and _is_followed("\\", _ESCAPES, text):
        return True
    return b"%" in suspects and _is_followed("%", _PERCENTS, text)


def _without_selectors(text: str) -> str:
    """Return a text without the selectors behind symbols, which part words with them or without."""
    if _SELECTOR not in text:
        return text
    parts = text.split(_SELECTOR)
    return (
        "".join(
            part if part[-1:] > "\x7f" and not part[-1].isalnum() else part + _SELECTOR
            for part in parts[:-1]
        )
        + parts[-1]
    )


def _conceal_nothing(chars: str) -> bool:
    """Say whether all of some characters beyond ASCII are seen, and as what they are."""
    unknown = set(chars) - _SEEN
    if unknown:
        if len(_SEEN) > _MOST_SEEN:
            _SEEN.clear()
            unknown = set(chars)
        from gitguard.model.text import unseen_in

        unknown -= unseen_in("".join(unknown))
        ranges = (*_LOOKS_LIKE_ANOTHER, *_SHOWS_NOTHING)
        _SEEN.update([c for c in unknown if not any(low <= ord(c) <= high for low, high in ranges)])
    return _SEEN.issuperset(chars)


def _is_followed(mark: str, by: frozenset[str], text: str) -> bool:
    return not by.isdisjoint([part[:1] for part in text.split(mark)[1:]])


def joins(text: str) -> list[int]:
    """Return where the quotes are that may end a string which the next one continues."""
    if len(text) > _LONG:
        return _joins_of_long(text)
    places: list[int] = []
    for quote in "\"'`":
        if quote in text:
            parts = text.split(quote)
            # Most quotes are followed by something else, and need no look at where they are.
            numbers = [n for n, part in enumerate(parts) if part[:1] in _MAY_GO_ON and n]
            numbers = [n for n in numbers if _goes_on(parts[n - 1][-1:], parts[n].lstrip(" ")[:1])]
            if numbers:
                from itertools import accumulate

                begins = list(accumulate(len(part) + 1 for part in parts))
                places += [begins[n - 1] - 1 for n in numbers]
    return sorted(places)


def _joins_of_long(text: str) -> list[int]:
    """Return the same of a text with quotes by the thousand, such as a log in JSON."""
    import re

    pattern = r"[\"'`](?<=[\w\-+/=.~$#^@*!&][\"'`])(?= *(?:[\n\r+.\\\"'`]|\Z))"
    return [match.start() for match in re.finditer(pattern, text)]


def _goes_on(before: str, behind: str) -> bool:
    """Say whether a string may go on behind a quote; two quotes have nothing between them."""
    return behind in _GOES_ON and (before.isalnum() or before in _TOKEN_MARKS)
