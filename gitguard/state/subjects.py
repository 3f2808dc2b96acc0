"""Which words of a conversation speak of the same subject: those that share its rare terms."""

from __future__ import annotations

import functools

from gitguard.model.text import late_pattern
from gitguard.state.sentences import is_question, sentences, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_COMMON_SHARE, _RARE = 6, 3
"""A term is common if more than every sixth message has it, and more than three do."""
_LONGEST_SMALL_WORD = 3
"""Letters up to which a word of an alphabet says nothing of a subject in most languages."""
_BEGINS_UNSPACED = "\u0e00"
"""From this character on come the scripts whose terms are pairs of characters."""
_PAIR = 2
"""Characters of such a term."""
_LEAST_SHARED = 2
_LEAST_SAID_AGAIN = 3
"""Terms of a sentence by which a newer one with most of them is told from a chance."""
_FEWEST_TERMS = 2
"""Terms of a text that says something of its own."""
_NUMBER = late_pattern(r"v?\d[\d.,:]*[^\W\d_]{0,4}%?")
"""A value, with its unit; what holds other digits is a name, and names a subject."""
_ORDINAL = late_pattern(r"(?:^|\s)\d{1,2}[.):]\s")
"""The number of a list's item, which is no value."""


@functools.lru_cache(maxsize=512)
def _terms_of(text: str) -> frozenset[str]:
    """Return a text's terms; of a thread, which grows slowly, most texts were read before."""
    return terms_of(text)


def telling_words(text: str) -> frozenset[str]:
    """Return a text's terms without the small words, which say nothing of a subject."""
    return frozenset(term for term in _terms_of(text) if not _is_small(term))


class Subjects:
    """The messages of a conversation, by which terms are told that are rare in it."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take what the messages say."""
        self._values: dict[str, frozenset[str]] = {}
        self._counts: dict[str, int] = {}
        number = 0
        for text in texts:
            number += 1
            for term in _terms_of(text):
                self._counts[term] = self._counts.get(term, 0) + 1
        self._most = max(_RARE, number // _COMMON_SHARE)

    def of(self, text: str) -> frozenset[str]:
        """Return the terms that tell what a text speaks of: no small words, and no common ones."""
        return frozenset(term for term in _terms_of(text) if self._is_telling(term))

    def says_little(self, text: str) -> bool:
        """Say whether a text only asks, or hardly names anything."""
        return all(map(is_question, sentences(text))) or len(self.of(text)) < _FEWEST_TERMS

    def is_replaced(self, sentence: str, newer: str) -> bool:
        """Say whether a newer sentence gives another number to all that a sentence speaks of.

        Whether two sentences contradict each other that differ in words or names is known to nobody
        who does not understand them: such ones stay side by side.
        """
        values, new_values = self._values_of(sentence), self._values_of(newer)
        if not (values and new_values):
            return False
        before, after = _terms_of(sentence), _terms_of(newer)
        if values <= after or new_values <= before:
            return False
        subject = before - values
        telling = {term for term in subject if self._is_telling(term)}
        shared = {term for term in subject & after if not _is_small(term)}
        # A pair of characters that reaches over the ends of words need not come back whole.
        characters = set("".join(after))
        missing = telling - after
        is_covered = all(_is_pair(pair) and characters.issuperset(pair) for pair in missing)
        return bool(telling) and is_covered and len(shared) >= _LEAST_SHARED

    def is_said_again(self, sentence: str, newer: str) -> bool:
        """Say whether a newer sentence has two thirds of the terms of one, and all of its names.

        The values in it do not count: the newer sentence has the newer ones.
        """
        terms = telling_words(sentence) - self._values_of(sentence)
        shared = terms & _terms_of(newer)
        is_alike = len(shared) >= _LEAST_SAID_AGAIN and len(shared) * 3 >= len(terms) * 2
        return is_alike and all(map(str.isalpha, terms - shared))

    def _values_of(self, text: str) -> frozenset[str]:
        """Return the terms that are numbers."""
        if text not in self._values:
            terms = _terms_of(_ORDINAL.sub(" ", text))
            self._values[text] = frozenset(t for t in terms if _NUMBER.fullmatch(t))
        return self._values[text]

    def _is_telling(self, term: str) -> bool:
        return not _is_small(term) and self._counts.get(term, 0) <= self._most


def _is_small(term: str) -> bool:
    return term.isalpha() and len(term) <= _LONGEST_SMALL_WORD and term < _BEGINS_UNSPACED


def _is_pair(term: str) -> bool:
    return len(term) == _PAIR and term >= _BEGINS_UNSPACED
