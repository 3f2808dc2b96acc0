"""A text's sentences, terms and shape, told by signs and scripts and by no language's words."""

from __future__ import annotations

from gitguard.model.text import late_pattern, one_line
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

READ = 16_384
"""Characters of a text that are looked at, half of them at its end."""
_WORD = late_pattern(r"[\w']+")
_CLOSERS = "\"'”’»)\\]」』】》）*_"
_SENTENCE_ENDS = late_pattern(
    # `.!?` end a sentence before a blank, `!?` also between characters of scripts without blanks.
    # Not the `!` that negates in a shell: `if ! grep`, `a && ! b`.
    rf"(?<![.!?])(?<!if |&& |\|\| )[.!?]++[{_CLOSERS}]*+"
    r"(?:\s++|(?<=[^\x00-\x7f][!?])(?=[^\x00-\x7f\W]))"
    # The marks of other scripts end one wherever they stand; those of full width not in numbers.
    rf"|(?:[。｡！？؟۔।॥།።፧։။។៕‼⁇⁈⁉]|．(?!\d))++[{_CLOSERS}]*+\s*+"
)
_ABBREVIATED = late_pattern(r"(?:^|[\s(])(?:[^\W\d_]{1,4}|[^\W\d_]\.[^\W\d_]|\d+)\.$")
"""A short word, initials or a number before a point: what goes on in small letters goes on."""
_INITIAL = late_pattern(r"(?:^|[\s(.])[A-Za-zΑ-ωА-я]\.$")
_SHORT_OR_NUMBER = late_pattern(r"(?:\W*(?:[^\W\d_]{1,3}|\d{1,2})\.)+")
"""What is no sentence by itself: an abbreviation, a list's number, or a word such as "Yes"."""
_LONGEST_ABBREVIATED = 12
_NOISE = late_pattern(r"^(?:```.*|\|?[-:| =_*]+\|?|#+)$")
_ORDINAL = late_pattern(r"^((?:#+\s+)?(?:\*\*)?\d{1,2})\.\s+")
_NUMBER_IN_LINE = late_pattern(r"(?<!\S)(\d{1,2})[.)]\s")
_END_MARKS = ".!?…。｡．！？؟۔।॥།።፧։။។៕‼⁇⁈⁉\u037e"
"""Marks that end a sentence, of any script."""
_BEHIND_END = late_pattern(rf"[\s{_CLOSERS}\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+$")
"""Closing marks, arrows and pictures behind a sentence's end."""
_LONGEST_BEHIND_END = 24
LEADS = (":", "：")
"""What a line ends with that leads to the next ones."""
BULLET = "- "
"""What an item of a list begins with where texts are kept, if it has no number."""
_BEFORE_LIST = frozenset(".:;!?…。：；！？")
_FEWEST_ITEMS = 2
_LIST_ITEM = late_pattern(r"[-*+•]\s|\d{1,2}[.)]\s")
_ENDS = frozenset(f"{_END_MARKS}:;,：；，")
_QUESTIONS = ("?", "？", "؟", "፧", "\u037e", "⁇", "⁈")
_MARKUP = late_pattern(r"^(?:#+\s+|[-*+•]\s+(?:\[[xX]\]\s+)?|>\s+)|\*\*|`")
"""What is left out of a line; a box that is not ticked says that something is open, and stays."""

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u309f"
_UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Tibetan, Burmese and Khmer, which have no blanks between words either."""
_SCRIPTS = late_pattern(
    rf"(?P<pairs>[{_HAN}]+|[{_UNSPACED}]+)|(?P<word>[{_KATAKANA}]{{2,}})|[{_HIRAGANA}{_KATAKANA}]"
)
_TERM = late_pattern(
    r"[^\s!\"$-,;<=>?\[\]\\^`{|}~¡§«·»¿‐-‧‰-⁞、-〃〈-〠！-／：-＠［-｀｛-･،؛؟۔।॥።፧։၊။។៕…]+"
)
"""A run without blanks or punctuation; `_ . : / - @ #` hold names, versions and paths together."""
_NAME = late_pattern(r"\d|[_./:@#]|(?<=[a-z])[A-Z]")
_QUOTED = late_pattern(
    r"`([^`\n]{2,60})`|\"([^\"\n]{2,60})\"|[“„«「『]([^”“»」』\n]{2,60})[”“»」』]"
)
_SHORTEST_WORD = 3
_FEWEST_LETTERS = 5
"""Letters from which on few words are of a language's grammar."""
_PLAIN = late_pattern(r"[^\W\d_\u1100-\u11ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_PART = late_pattern(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_HAN_IN_A_WORD, _LETTERS_IN_A_WORD = 2, 4
"""Characters of a word of Chinese, and letters of one in other scripts without blanks."""
_PATH = late_pattern(
    r"(?:^|[\s(\"'`])(?:~|\.{0,2})/[\w.-]|\w/[\w.-]|(?:\w\w\.[a-z]\w{0,4}|\w\.[a-z]\w{1,4})(?!\w)"
)
_IDENTIFIER = late_pattern(r"\w_\w|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|::|\w\(\)|(?:^|\s)--?[a-z]")
_ACRONYM = late_pattern(r"(?<!\w)[A-Z]{3,}(?!\w)")
"""A name as `PDF`, among words in small letters."""
_CODE = late_pattern(r"`|=>|[=!]=|&&|\|\||\w\(\)")


def words_of(sentence: str) -> list[str]:
    """Return a sentence's words in lower case."""
    return _WORD.findall(sentence.lower())


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each in one line and without its markup; at least one."""
    whole: list[str] = []
    for line in text[:READ].splitlines():
        if not _NOISE.match(line.strip()):
            for item in _items_of(line.strip()):
                whole += _split(_without_markup(item))
    return [sentence for sentence in whole if sentence] or [one_line(text[:READ])]


def without_sentences(text: str, is_out: Callable[[str], bool], mark: str) -> str:
    """Return a text without some of its sentences, and with a mark in place of each whole line.

    What leads to a list stays; the text is empty where nothing else is left.
    """
    if not any(is_out(s) for s in sentences(text) if not s.endswith(LEADS)):
        return text
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        own = sentences(line)
        kept = [s for s in own if s.endswith(LEADS) or not is_out(s)]
        if len(kept) == len(own):
            lines.append(line)
        elif kept:
            marker = BULLET if line.startswith(BULLET) else ""
            lines.append(f"{marker}{' '.join(kept)}")
        elif lines[-1:] != [mark]:
            lines.append(mark)
    says_something = any(line != mark and not line.endswith(LEADS) for line in lines)
    return "\n".join(lines) if says_something else ""


def _items_of(line: str) -> list[str]:
    """Return the items of a numbered list within a line, what leads to it first."""
    places: list[int] = []
    for number in _NUMBER_IN_LINE.finditer(line):
        begin, place = number.start(), len(places) + 1
        begins_list = begin == 0 or line[begin - 2 : begin - 1] in _BEFORE_LIST
        if int(number[1]) == place and (place > 1 or begins_list):
            places.append(number.start(1))
    if len(places) < _FEWEST_ITEMS:
        return [line]
    ends = [*places[1:], len(line)]
    items = [line[begin:end].strip() for begin, end in zip(places, ends, strict=True)]
    return [line[: places[0]].strip(), *items]


def _split(line: str) -> list[str]:
    """Return the sentences of a line."""
    parts: list[str] = []
    begin = 0
    for end in _SENTENCE_ENDS.finditer(line):
        place = end.end()
        if end[0][0] == "." and _goes_on(line[begin : end.start() + 1], line[place : place + 1]):
            continue
        parts.append(line[begin:place].strip())
        begin = place
    return [*parts, line[begin:].strip()]


def _goes_on(before: str, after: str) -> bool:
    """Say whether a point ends no sentence, as after an abbreviation or the number of a thing."""
    word = before[-_LONGEST_ABBREVIATED:]
    if _INITIAL.search(word) or _SHORT_OR_NUMBER.fullmatch(before):
        return True
    return (after.islower() or after.isdigit()) and bool(_ABBREVIATED.search(word))


def in_one_line(text: str) -> str:
    """Return a text in one line, without the marks of lists."""
    return one_line("\n".join(line.removeprefix(BULLET) for line in text.splitlines()))


def is_question(sentence: str) -> bool:
    """Say whether a sentence ends as a question."""
    return _end_of(sentence).endswith(_QUESTIONS)


def ends_as_sentence(text: str) -> bool:
    """Say whether a text ends with a mark that ends sentences, perhaps with a picture behind it."""
    return _end_of(text)[-1:] in frozenset(_END_MARKS)


def _end_of(text: str) -> str:
    """Return the last characters of a text up to the mark or word with which it ends."""
    return _BEHIND_END.sub("", text[-_LONGEST_BEHIND_END:])


def terms_of(text: str) -> frozenset[str]:
    """Return the terms of a text, in lower case.

    Names, numbers, paths and what is quoted count whole, words with three letters. Scripts without
    blanks between words give pairs of characters; hiragana, which is mostly grammar, gives none.
    """
    text = text[:READ]
    quoted = ("".join(filter(None, groups)) for groups in _QUOTED.findall(text))
    terms = {quotation.strip().casefold() for quotation in quoted}
    for token in _TERM.findall(text):
        token = token.strip(".:-").rstrip("/")
        if not token.isascii() and _SCRIPTS.search(token):
            terms |= _terms_without_blanks(token)
        else:
            terms |= _terms_of_token(token)
    return frozenset(terms - {""})


def _terms_of_token(token: str) -> set[str]:
    lowered = token.casefold()
    if _NAME.search(token):
        return {lowered}
    words = {word for word in lowered.split("-") if _is_word(word)}
    return words | {lowered} if len(words) > 1 else words


def _is_word(word: str) -> bool:
    # A syllable of Hangul is a character, and has two or three letters.
    shortest = 2 if "\uac00" <= word[:1] <= "\ud7a3" else _SHORTEST_WORD
    return len(word) >= shortest and any(map(str.isalnum, word))


def _terms_without_blanks(token: str) -> set[str]:
    terms: set[str] = set()
    begin = 0
    for run in _SCRIPTS.finditer(token):
        terms |= _terms_of_token(token[begin : run.start()].strip(".:-"))
        begin = run.end()
        if run["word"]:
            terms.add(run["word"])
        pairs = run["pairs"] or ""
        terms.update(pairs[i : i + 2] for i in range(len(pairs) - 1))
    return terms | _terms_of_token(token[begin:].strip(".:-"))


def telling_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that hardly any other one has: its short words are left out."""
    terms = terms_of(text)
    return frozenset(t for t in terms if len(t) >= _FEWEST_LETTERS or not _PLAIN.fullmatch(t))


def parts_of(path: str) -> frozenset[str]:
    """Return the words that a path or a command is made of."""
    return frozenset(part.casefold() for part in _PART.findall(path) if len(part) > 1)


def length_of(text: str) -> float:
    """Return about how many words a text has, in scripts without blanks as well."""
    words = 0.0
    for token in _TERM.findall(text[:READ]):
        other_text = _SCRIPTS.sub("", token)
        words += bool(other_text.strip("_.:/-"))
        for run in _SCRIPTS.finditer(token):
            is_han = "\u3400" <= run[0][0] <= "\u9fff"
            words += len(run[0]) / (_HAN_IN_A_WORD if is_han else _LETTERS_IN_A_WORD)
    return words


class Shape(Value):
    """What a text is by its signs, in any language."""

    has_path: bool = False
    has_identifier: bool = False
    has_number: bool = False
    has_code: bool = False
    has_quotation: bool = False
    is_list_item: bool = False
    is_question: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it holds nothing but words."""
        return not (
            self.has_path
            or self.has_identifier
            or self.has_number
            or self.has_code
            or self.has_quotation
        )


def shape_of(text: str) -> Shape:
    """Return a text's shape."""
    text = text[:READ].strip()
    return Shape(
        has_path=bool(_PATH.search(text)),
        has_identifier=bool(_IDENTIFIER.search(text))
        or (bool(_ACRONYM.search(text)) and not text.isupper()),
        has_number=any(map(str.isdigit, text)),
        has_code=bool(_CODE.search(text)),
        has_quotation=text.startswith(">") or bool(_QUOTED.search(text)),
        is_list_item=bool(_LIST_ITEM.match(text)),
        is_question=is_question(text),
    )


def _without_markup(line: str) -> str:
    """Return a line so that it reads well before another one in the same paragraph."""
    # The number of a list's item or a heading keeps its place, and is not taken for a sentence.
    plain = one_line(_MARKUP.sub("", _ORDINAL.sub(r"\1) ", line)))
    if not plain or plain[-1] in _ENDS:
        return plain
    if line.startswith("#"):
        return f"{plain}:"
    return f"{plain}." if _LIST_ITEM.match(line) else plain


def without_code(text: str, mark: str = "") -> str:
    """Return a text without its fenced code: what was written is in the files.

    mark is a line that stands in place of each block.
    """
    parts = text.split("```")
    return f"\n{mark}\n".join(parts[::2]) if len(parts) > 2 else text
