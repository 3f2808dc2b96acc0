"""Text on its way out: to terminals, to agents, into commit messages.

State is written by agents and may hold anything; control, bidirectional and zero-width characters
could forge lines or hide instructions, so they are dropped at every output.
"""

from __future__ import annotations

import time

_KEPT = "\n\t"
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def visible(text: str) -> str:
    """Return text without characters that a reader cannot see, line ends and tabs kept."""
    if text.isascii() and text.isprintable():
        return text
    from unicodedata import category

    return "".join(c for c in text if c in _KEPT or category(c) not in _DROPPED)


def one_line(text: str) -> str:
    """Return the visible text with every run of white space folded to one blank."""
    return " ".join(visible(text).split())


def shorten(text: str, limit: int) -> str:
    """Cut to at most limit characters, at a word's end where there is one, marked with `…`."""
    if len(text) <= limit:
        return text
    head = text[: max(limit - 1, 0)]
    word_end = head.rfind(" ")
    return (head[:word_end] if word_end > limit // 2 else head).rstrip() + "…"


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON may carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def timestamp(seconds: float) -> str:
    """Return Unix seconds as ISO 8601 in UTC, as every file and message of ours carries it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
