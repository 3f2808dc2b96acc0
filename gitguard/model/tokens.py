"""How many tokens a text takes of a model, guessed from its characters alone.

A token is about four characters of English, and about one of Chinese, Japanese or Korean: the
o200k tokenizer takes 0.74 to 0.79 tokens for a kana or a Han character and 0.60 to 0.96 for a
Hangul syllable (measured in https://github.com/Yeachan-Heo/gajae-code/pull/2067), older ones up to
one and a half. Cyrillic, Greek, Arabic and Hebrew lie between: o200k takes 2.5 to 3.9 characters a
token, cl100k 1.0 to 2.4. So the guess is made in quarters of a token, by the length of a character
in UTF-8: one byte takes a quarter, two take half a token, and three or four take a whole one.
"""

from __future__ import annotations

QUARTERS = 4
"""Quarters in a token; also what `…` takes, which marks a cut."""
_LAST_OF_ONE_BYTE, _LAST_OF_TWO_BYTES = "\x7f", "\u07ff"


def tokens_of(text: str) -> int:
    """Return how many tokens a text takes, rounded up."""
    return -(-quarters_of(text) // QUARTERS)


def quarters_of(text: str) -> int:
    """Return how many quarters of a token a text takes."""
    return len(text) if text.isascii() else sum(map(_quarters, text))


def _quarters(character: str) -> int:
    if character <= _LAST_OF_ONE_BYTE:
        return 1
    return 2 if character <= _LAST_OF_TWO_BYTES else QUARTERS


def beginning(text: str, room: int) -> str:
    """Return the longest beginning of a text that takes at most room quarters."""
    if text.isascii():
        return text[: max(room, 0)]
    for place, character in enumerate(text):
        room -= _quarters(character)
        if room < 0:
            return text[:place]
    return text


def fit(text: str, room: int) -> str:
    """Cut to at most room quarters, at a word's end where there is one, marked with `…`."""
    if quarters_of(text) <= room:
        return text
    if room < QUARTERS:
        return ""
    head = beginning(text, room - QUARTERS)
    word_end = head.rfind(" ")
    return (head[:word_end] if word_end > len(head) // 2 else head).rstrip() + "…"
