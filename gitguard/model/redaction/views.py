"""What a text says behind how it is written: without terminal codes, escapes and split strings.

A secret with a colour or a zero-width character in its middle is still one: whoever prints the text
without them has the secret again. So the rules search the *views* of a text as well: the text
without what nobody sees and without escapes, and with split strings put together. A view maps its
characters back to the text it was made from, where a find is taken out. A text without a find stays
as it is.

Only what can stand inside a secret makes a view. An escape that stands for a blank or a quote parts
words as the blank does, and the rules know it. So ordinary text has few views and costs little.
"""

from __future__ import annotations

from bisect import bisect_right

from gitguard.model.redaction.names import DIGITS, looks_random
from gitguard.model.redaction.tokens import tokens_in
from gitguard.model.text import late_pattern, unseen_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

Edit = tuple[int, int, str]
"""Where a text is replaced: begin, end, and by what."""

_UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that nobody sees: controls, format characters, fillers, selectors, tags."""
_WIDE = "\uff01-\uff5e\U0001d400-\U0001d7ff\u24b6-\u24e9"
"""Letters and digits in another form, which a person copies as the plain ones."""
_SUSPECT_TAIL = (
    # In code most backslashes belong to patterns; a mark is concealed only within a word.
    r"(?:(?<=\\)(?=[uUxeE0-3/_]|(?<=[A-Za-z0-9_-]\\)[_.+=~:-][A-Za-z0-9_-]"
    r"|(?<=[A-Za-z0-9_=+/.$#^@*!&%?~()\[\]-]\\)[\r\n])|(?<=%)(?=[0-9A-Fa-f]{2})"
    r"|(?<=\r)(?!\n)|(?<![\\%\r]))"  # a carriage return alone is dropped at every output
)
# A class of characters comes first, because for that a text is searched fastest, most of all for a
# class of ASCII.
_SUSPECT = late_pattern(rf"[\\%\r{_UNSEEN}{_WIDE}]{_SUSPECT_TAIL}")
_ASCII_SUSPECT = late_pattern(rf"[\\%\r\x00-\x08\x0b\x0c\x0e-\x1f\x7f]{_SUSPECT_TAIL}")
_CODE = late_pattern(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor
    # OSC, DCS and the like: a title or a link
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,2048}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]"
)
_ESCAPE = late_pattern(
    r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})"
    r"|(0[0-3][0-7]{2}|[0-3][0-7]{2}|033)|([eE])|([_.+/=~:-])|\r?\n)"
)
_PERCENT = late_pattern(r"%([0-9A-Fa-f]{2})")
_TOKEN = "A-Za-z0-9_+/=.~:!@#$^*?|-"
_MOST_EDITS = 40_000
"""More than a window has for any good reason; what follows is searched as it is."""
_QUOTED_JOIN = late_pattern(
    # Two strings that are one: `"a" + "b"`, `'a'"b"`, `"a" \` and a line end, or a line end alone.
    r"[\"'`](?:[ \t]{0,8}[+.&][ \t]{0,8}(?:\\?\r?\n[ \t]{0,64})?|"
    r"[ \t]{0,8}\\?\r?\n[ \t]{0,64}(?:[+.&][ \t]{0,8})?|)[bfru]{0,2}[\"'`]"
    rf"(?=[{_TOKEN}])"
)
_LINE_JOIN = late_pattern(
    # A line that goes on: indented, continued, quoted, commented, or a line of a diff.
    r"[\"'`]?[ \t]{0,8}\\?\r?\n[ \t]{0,64}(?:(?:[>|*#+-]|//|\d{1,6}[:|])[ \t]{0,8}){0,2}[\"'`]?"
    rf"(?=[{_TOKEN}]{{4}})"
)
_NEXT_LINE = late_pattern(
    # Before the line end stands what may be the beginning of a token, six characters or more. What
    # goes on behind it is no word: it has a digit, or a capital after a small letter.
    r"\n(?:(?<=[A-Za-z0-9_/+=.~$-]{6}\n)|(?<=[A-Za-z0-9_/+=.~$-]{6}[\r\\]\n))"
    r"[ \t]{0,64}+(?:(?:[>|*#+-]|//)[ \t]{0,8}+){0,2}+"
    r"(?=[A-Za-z_/+=.~-]{0,16}+[0-9]|[A-Za-z]{0,8}[a-z][A-Z])"
)
_HEAD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/+=.~$-"
_LONGEST_HEAD = 512
"""Of what stands of a token on its first line."""
_KEY_LINE = late_pattern(r"[A-Za-z0-9+/]{60}")
_RUN = late_pattern(rf"[{_TOKEN}]+")
_MOST_LINES = 8
_BEFORE, _BEHIND, _KEY_BEFORE, _KEY_BEHIND = 512, 1024, 3072, 16_384
"""So far around an edit a secret may reach; a private key reaches farthest."""


class View:
    """A part of a text as it reads after edits, and where each of its characters comes from."""

    __slots__ = ("_begins", "_edits", "text")

    def __init__(
        self, original: str, edits: Iterable[Edit], start: int = 0, stop: int | None = None
    ) -> None:
        """Apply edits, which are in order and do not overlap, to what is from start to stop."""
        parts: list[str] = []
        # Begin and end here, and in the original.
        self._edits: list[tuple[int, int, int, int]] = [(0, 0, start, start)]
        new_at, at = 0, start
        for begin, end, new in edits:
            parts += (original[at:begin], new)
            new_at += begin - at
            self._edits.append((new_at, new_at + len(new), begin, end))
            new_at, at = new_at + len(new), end
        parts.append(original[at:stop])
        self.text = "".join(parts)
        self._begins = [edit[0] for edit in self._edits]

    def original(self, begin: int, end: int) -> tuple[int, int]:
        """Return which part of the original a part of the view was made from."""
        return self._at(begin, begins=True), self._at(end - 1, begins=False)

    def _at(self, at: int, *, begins: bool) -> int:
        """Return where the character at a place of the view begins, or ends, in the original."""
        number = bisect_right(self._begins, at) - 1
        _begin, end, old_begin, old_end = self._edits[number]
        if at < end:
            return old_begin if begins else old_end
        return old_end + at - end + (not begins)


def revealed(text: str) -> Iterator[View]:
    """Yield what stands around each place where something is not seen or escaped, without that.

    A text within JSON may hold a colour as an escape, so what escapes stand for is looked at too.
    """
    for begin, end, edits in _neighbourhoods(text, list(_unescaping(text))):
        first = View(text, edits, begin, end)
        edits = list(_unescaping(first.text))
        yield _Chained(first, View(first.text, edits)) if edits else first


def _neighbourhoods(text: str, edits: list[Edit]) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield parts of a text that hold its edits, so that a long text is not searched twice.

    A part ends where lines do, because what stands before a secret on its line announces it.
    """
    at = 0
    while at < len(edits):
        first = at
        while at + 1 < len(edits) and edits[at + 1][0] - edits[at][1] < _BEFORE + _BEHIND:
            at += 1
        begin = max(edits[first][0] - _BEFORE, 0)
        near = text[begin : edits[at][1] + _BEFORE]
        has_key_line = _KEY_LINE.search(near) is not None
        if has_key_line:
            begin = max(begin - _KEY_BEFORE, 0)
        begin = text.rfind("\n", 0, begin) + 1
        behind = _KEY_BEHIND if has_key_line or "-----" in near else _BEHIND
        end = text.find("\n", min(edits[at][1] + behind, len(text)))
        at += 1
        yield begin, len(text) if end < 0 else end, edits[first:at]


class _Chained(View):
    """A view of a view."""

    __slots__ = ("_first", "_second")

    def __init__(self, first: View, second: View) -> None:
        self._first, self._second = first, second
        self.text = second.text

    def original(self, begin: int, end: int) -> tuple[int, int]:
        return self._first.original(*self._second.original(begin, end))


def _unescaping(text: str) -> Iterator[Edit]:
    """Yield the edits that take away what conceals a token's characters."""
    end = count = 0
    suspects = _ASCII_SUSPECT
    if not text.isascii():
        suspects, text = _SUSPECT, _with_known_unseen(text)
    for suspect in suspects.finditer(text):
        at = suspect.start()
        if at < end:
            continue
        edit = _edit_at(text, at)
        if edit is not None:
            end = edit[1]
            yield edit
            count += 1
            if count == _MOST_EDITS:
                return


def _with_known_unseen(text: str) -> str:
    """Return a text of the same length in which all that outputs drop is in `_UNSEEN`.

    Which characters are unassigned or for private use, only Unicode's table knows. Whatever an
    output drops must not part a secret here, or that output would put it together again.
    """
    beyond = [char for char in unseen_in(text) if char >= "\xa0"]  # below are controls and codes
    return text.translate(dict.fromkeys(map(ord, beyond), "\u200b")) if beyond else text


def _edit_at(text: str, at: int) -> Edit | None:
    char = text[at]
    if char == "\\":
        match = _ESCAPE.match(text, at)
        new = _meant(match) if match else None
        return (at, match.end(), new) if match and new is not None else None
    if char == "%":
        match = _PERCENT.match(text, at)
        new = chr(int(match[1], 16)) if match else ""
        # A byte beyond ASCII is a part of a letter.
        is_letter = new.isascii() or not new.isprintable()
        return (at, at + 3, new) if new and is_letter and _conceals(new) else None
    if char in "\x1b\x90\x98\x9b\x9d\x9e\x9f":
        match = _CODE.match(text, at)
        return at, match.end() if match else at + 1, ""
    if char >= "\u24b6" and _is_wide(char):
        import unicodedata

        return at, at + 1, unicodedata.normalize("NFKC", char)
    return at, at + 1, ""


def _is_wide(char: str) -> bool:
    return (
        "\u24b6" <= char <= "\u24e9"
        or "\uff01" <= char <= "\uff5e"
        or ("\U0001d400" <= char <= "\U0001d7ff")
    )


def _meant(match: re.Match[str]) -> str | None:
    """Return what an escape stands for, None where it parts words and conceals nothing."""
    digits = match[1] or match[2] or match[3] or match[4]
    if digits or match[5]:
        number = int(digits, 16) if digits else int(match[5], 8)
        char = chr(number) if number < 0x110000 else ""
        return char if char and _conceals(char) else None
    if match[6]:
        return "\x1b"
    return match[7] or ""


def _conceals(char: str) -> bool:
    """Say whether a character can stand in a secret or announce one, or is one that nobody sees."""
    if char.isprintable():
        return char not in " \"'`\\,;"
    return char not in "\t\r\n" and _SUSPECT.match(_with_known_unseen(char)) is not None


def joined(text: str, quotes: Iterable[int]) -> Iterator[View]:
    """Yield what stands around split strings, with them whole.

    quotes are where a string in quotes may end that goes on.
    """
    edits: dict[int, Edit] = {edit[0]: edit for edit in _line_joins(text)}
    for quote in quotes:
        match = _QUOTED_JOIN.match(text, quote)
        if match:
            edits[quote] = (quote, match.end(), "")
    if not edits:
        return
    apart: list[Edit] = []
    for edit in sorted(edits.values()):
        if not apart or edit[0] >= apart[-1][1]:
            apart.append(edit)
    for first, last, near in _neighbourhoods(text, apart[:_MOST_EDITS]):
        yield View(text, near, first, last)


def end_of_continued(text: str, end: int) -> int:
    """Return where a secret really ends that goes on in lines of its own behind its first one."""
    for _line in range(_MOST_LINES):
        join = _LINE_JOIN.match(text, end)
        run = _RUN.match(text, join.end()) if join else None
        if run is None or not looks_random(run[0], 8):
            return end
        end = run.end()
    return end


def _line_joins(text: str) -> Iterator[Edit]:
    """Yield the line ends within a token: before them and behind is what no word is made of."""
    heads: dict[str, bool] = {}  # the lines of a log end alike
    for match in _NEXT_LINE.finditer(text):
        end = match.start() - (text[match.start() - 1] in "\r\\")
        near = text[max(0, end - _LONGEST_HEAD) : end]
        word = near[len(near.rstrip(_HEAD)) :]
        is_head = heads.get(word)
        if is_head is None:
            is_head = heads[word] = _is_mixed(word) or bool(tokens_in(word))
        if is_head:
            yield end, match.end(), ""


def _is_mixed(word: str) -> bool:
    """Say whether a word has digits, or capitals behind small letters, as tokens have."""
    return not word.isalpha() and any(char in DIGITS for char in word) or not word[1:].islower()
