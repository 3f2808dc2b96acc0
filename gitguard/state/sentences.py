"""A text's sentences and words, and the marks that carry a meaning in nearly every sentence."""

from __future__ import annotations

from gitguard.model.text import late_pattern, one_line

READ = 16_384
"""Characters of a text that are looked at, half of them at its end."""
_WORD = late_pattern(r"[\w']+")
_SENTENCE_ENDS = late_pattern(r"(?<=[.!?。！？])\s+")
_NOISE = late_pattern(r"^(?:```.*|\|?[-:| =_*]+\|?|#+)$")
_ORDINAL = late_pattern(r"^(\d{1,2})\.\s+")
_LIST_ITEM = late_pattern(r"[-*+•]\s|\d{1,2}[.)]\s")
_ENDS = frozenset(".:;,!?…。！？")
_MARKUP = late_pattern(r"^(?:#+\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|>\s+)|\*\*|`")


class Marks:
    """Words and phrases that carry a meaning in nearly every sentence that has them.

    They are looked up, and not matched by an expression: compiling one of that size would take a
    hook longer than all else it does with a prompt.
    """

    def __init__(self, words: str, *phrases: str, starts: str = "") -> None:
        """Take words by blanks between them; starts only count as the first word."""
        self._words = frozenset(words.split())
        self._phrases = tuple(f" {phrase} " for phrase in phrases)
        self._starts = frozenset(starts.split())

    def are_in(self, sentence: str) -> bool:
        """Say whether a sentence has one of them."""
        words = words_of(sentence)
        if not self._words.isdisjoint(words) or bool(self._starts.intersection(words[:1])):
            return True
        joined = f" {' '.join(words)} "
        return any(phrase in joined for phrase in self._phrases)


def words_of(sentence: str) -> list[str]:
    """Return a sentence's words in lower case."""
    return _WORD.findall(sentence.lower())


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each in one line and without its markup; at least one."""
    whole: list[str] = []
    for line in text[:READ].splitlines():
        if not _NOISE.match(line.strip()):
            whole += _SENTENCE_ENDS.split(_without_markup(line.strip()))
    return [sentence for sentence in whole if sentence] or [one_line(text[:READ])]


def _without_markup(line: str) -> str:
    """Return a line so that it reads well before another one in the same paragraph."""
    # The number of a list's item keeps its place, and is not taken for a sentence.
    plain = one_line(_MARKUP.sub("", _ORDINAL.sub(r"\1) ", line)))
    if not plain or plain[-1] in _ENDS:
        return plain
    if line.startswith("#"):
        return f"{plain}:"
    return f"{plain}." if _LIST_ITEM.match(line) else plain


def without_code(text: str) -> str:
    """Return a text without its fenced code: what was written is in the files."""
    parts = text.split("```")
    return "\n".join(parts[::2]) if len(parts) > 2 else text
