"""The words that somebody looks for, and how well a text has them."""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.value import Value

PHRASE, ALL, SOME = RANKS = ("phrase", "all words", "some words")
"""How well a text has the words, best first."""


class Words(Value):
    """What is looked for: words, and phrases that count as one word."""

    terms: tuple[str, ...]
    """Folded."""

    @property
    def phrase(self) -> str:
        """All of them, one after the other."""
        return " ".join(self.terms)


def folded(text: str) -> str:
    """Return a text as it is compared: without case or variants of letters, in one line."""
    if text.isascii():
        return " ".join(text.lower().split())
    from unicodedata import normalize

    # Folding may bring forth what is composed in another way, so it is normalised again.
    text = normalize("NFKC", normalize("NFKC", text).casefold())
    return " ".join(text.split())


def read_words(arguments: tuple[str, ...]) -> Words:
    """Read what is looked for: an argument with blanks is a phrase, and so is one in quotes.

    Raises `InvalidInput` where nothing is looked for.
    """
    terms: list[str] = []
    for argument in arguments:
        outside, *parts = argument.split('"')
        if not parts:
            terms.append(folded(argument))
            continue
        for number, part in enumerate((outside, *parts)):
            terms += [folded(part)] if number % 2 else folded(part).split()
    terms = list(filter(None, terms))
    if not terms:
        raise InvalidInput(
            f"`{' '.join(arguments)[:80]}` names no word to search for",
            'Name words, or a phrase in quotes: `gitguard search "rate limit" token`',
        )
    return Words(tuple(terms))
