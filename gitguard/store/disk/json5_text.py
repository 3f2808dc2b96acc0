"""JSON with comments (JSON5), read and changed in place: all that is not the value stays as it is.

The libraries that keep comments are no longer looked after, or write the text anew. What is needed
here is little: where each value stands.
"""

from __future__ import annotations

import json
import re

from gitguard.errors import InvalidDocument
from gitguard.model.document_edits import GONE, Edit
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


_TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)
    |(?P<mark>[{}\[\]:,])
    |(?P<text>"(?:[^"\\\n\r]|\\(?:\r\n|.))*"|'(?:[^'\\\n\r]|\\(?:\r\n|.))*')
    |(?P<word>[^\s{}\[\]:,"'/\ufeff]+)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(\r\n|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_DROPPED = ("\n", "\r", "\r\n", "\u2028", "\u2029")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
# A name without quotes may begin with an escape; the tokenizer has already cut it at its end.
_NAME = re.compile(r"[^\W\d]|[$_]|\\u")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)", re.ASCII
)
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 100
_LONGEST_NUMBER = 400
"""Characters; Python itself refuses to read far longer ones."""
_INDENT = "  "


class Node(Value):
    """A value and where it stands in the text."""

    value: Any
    start: int
    end: int
    begins: int = 0
    """Where its member or item begins: at the name, if it has one."""
    below: Mapping[str | int, Node] | None = None
    """Of an object or a list: its values by name or position; None for all else."""
    ends_with_comma: bool = False
    inner_end: int = 0
    """Of an object or a list: where what stands in it ends, comments too, before the space."""


def load(text: str, *, what: str) -> dict[str, Any]:
    """Return the object that a text holds; raises `InvalidDocument` naming what and the line."""
    value = _root(text, what).value
    assert isinstance(value, dict)
    return value


def edited(text: str, edits: Iterable[Edit], *, what: str) -> str:
    """Return the text with edits, each of what the one before it made; all else stays as it is."""
    for edit in edits:
        text = _edited(text, edit, what)
    return text


def _edited(text: str, edit: Edit, what: str) -> str:
    holder = node = _root(text, what)
    for depth, name in enumerate(edit.path):
        if node.below is None or isinstance(name, int) != isinstance(node.value, list):
            named = ".".join(map(str, edit.path[:depth]))
            raise InvalidDocument(f"`{named}` in {what} is not an object", "Correct it by hand")
        if name not in node.below:
            return _insert(text, node, edit.path[depth:], edit.value)
        holder, node = node, node.below[name]
    if edit.value is GONE:
        return _cut(text, holder, node)
    value = _written(text, edit.value, _indent_at(text, node.start))
    return text[: node.start] + value + text[node.end :]


def without_comments(text: str) -> str:
    """Return a text that reads with a space in the place of each comment."""
    return _TOKEN.sub(lambda token: " " if token.group().startswith("/") else token.group(), text)


def _root(text: str, what: str) -> Node:
    try:
        node = _Json5Reader(text).document()
    except _Unreadable as error:
        line = text.count("\n", 0, error.at) + 1
        column = error.at - text.rfind("\n", 0, error.at)
        raise InvalidDocument(
            f"{what} cannot be read: {error.why} in line {line}, column {column}",
            "Correct it; nothing was changed",
        ) from None
    if not isinstance(node.value, dict):
        raise InvalidDocument(f"{what} does not hold an object", "Correct it; nothing was changed")
    return node


def _insert(text: str, node: Node, path: tuple[str | int, ...], value: Any) -> str:
    """Put a member or an item at the end, in the way in which the others are written."""
    for name in reversed(path[1:]):
        value = {name: value}
    newline = _newline_of(text)
    outer = _indent_at(text, node.start)
    others = [*(node.below or {}).values()]
    inner = _indent_at(text, others[-1].begins) if others else outer + _INDENT
    spread = not others or not _LINE_ENDS.isdisjoint(text[node.start : node.end])
    unit = inner.removeprefix(outer) or _INDENT
    member = _written(text, value, inner, unit) if spread else _dumped(text, value)
    if isinstance(node.value, dict):
        member = f"{_dumped(text, path[0])}: {member}"
    body = text[node.start + 1 : node.inner_end]
    # The comma goes straight after the last value: what follows it may be a line comment, in which
    # a comma would be lost.
    if others and not node.ends_with_comma:
        comma_at = max(below.end for below in others) - node.start - 1
        body = body[:comma_at] + "," + body[comma_at:]
    between = newline + inner if spread else " "
    # A file whose last member ends with a comma is written so again: one style a file.
    after = "," if node.ends_with_comma else ""
    closing = text[node.inner_end : node.end]
    if spread and newline not in closing:
        closing = newline + outer + closing.lstrip()
    return text[: node.start + 1] + body + between + member + after + closing + text[node.end :]


def _cut(text: str, holder: Node, node: Node) -> str:
    """Take a member or an item out, with its comma and the space before it; comments stay."""
    others = [below for below in (holder.below or {}).values() if below is not node]
    before = max((below.end for below in others if below.end <= node.begins), default=None)
    is_last = all(below.end <= node.begins for below in others)
    head, tail = text[: node.begins], text[node.end :]
    if not _ends_in_line_comment(head):
        head = head.rstrip()
    if not is_last or holder.ends_with_comma:
        tail = _without_comma(tail)
    elif before is not None:
        head = head[:before] + _without_comma(head[before:])
    return head + tail


def _ends_in_line_comment(text: str) -> bool:
    tokens = [token.group() for token in _TOKEN.finditer(text.rstrip())]
    return bool(tokens) and tokens[-1].startswith("//")


def _without_comma(text: str) -> str:
    """Return a text without its first comma that stands in no comment."""
    for token in _TOKEN.finditer(text):
        if token.group() == ",":
            return text[: token.start()] + text[token.end() :]
    return text


def _written(text: str, value: Any, indent: str, unit: str = _INDENT) -> str:
    """Return a value over several lines, the first of which is indented already."""
    lines = _dumped(text, value, indent=unit).split("\n")
    return (_newline_of(text) + indent).join(lines)


def _dumped(text: str, value: Any, indent: str | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii="\\u" in text)


def _newline_of(text: str) -> str:
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def _indent_at(text: str, at: int) -> str:
    line = text[max(text.rfind(end, 0, at) for end in _LINE_ENDS) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


class _Unreadable(Exception):
    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why, self.at = why, at


class _Json5Reader:
    """Reads the tokens of one text, each with its place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._last_end = 0
        """Where the newest token ended, comments too, but no space."""
        self._next()

    def _next(self) -> None:
        """Go on to the next token that is not space."""
        while True:
            token = _TOKEN.match(self._text, self._at)
            if token is None:
                self._kind, self._token, self._start = "", "", self._at
                if self._at < len(self._text):
                    raise _Unreadable(f"`{self._text[self._at]}` is not expected", self._at)
                return
            self._kind, self._token = token.lastgroup or "", token.group()
            self._start, self._at = token.span()
            if self._kind != "space":
                return
            if self._token[0] == "/":
                self._last_end = self._at

    def _take(self) -> None:
        self._last_end = self._at
        self._next()

    def _refuse(self) -> _Unreadable:
        reason = f"`{self._token[:40]}` is not expected" if self._token else "it ends too early"
        return _Unreadable(reason, self._start)

    def document(self) -> Node:
        node = self._node(0)
        if self._kind:
            raise self._refuse()
        return node

    def _node(self, depth: int) -> Node:
        start = self._start
        if depth > _DEEPEST:
            raise _Unreadable("it is nested too deeply", start)
        if self._token == "{":
            return self._object(depth)
        if self._token == "[":
            return self._list(depth)
        if self._kind == "text":
            value: Any = _text_of(self._token)
        elif self._kind == "word":
            value = self._word()
        else:
            raise self._refuse()
        end = self._at
        self._take()
        return Node(value, start, end)

    def _word(self) -> Any:
        word = self._token
        if word in _WORDS:
            return _WORDS[word]
        # `lstrip` takes any number of signs, of which JSON5 allows one.
        if word.lstrip("+-") in ("Infinity", "NaN") and len(word.lstrip("+-")) >= len(word) - 1:
            return float(word.replace("Infinity", "inf"))
        if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
            raise self._refuse()
        if "x" in word.lower():
            return int(word, 16)
        return int(word) if word.lstrip("+-").isdigit() else float(word)

    def _object(self, depth: int) -> Node:
        start = self._start
        below: dict[str | int, Node] = {}
        comma = False
        self._take()
        while self._token != "}":
            begins = self._start
            name = self._name()
            if self._token != ":":
                raise self._refuse()
            self._take()
            below[name] = self._node(depth + 1).replace(begins=begins)
            comma = self._comma("}")
        value = {name: node.value for name, node in below.items()}
        return self._closed(value, start, below, comma=comma)

    def _list(self, depth: int) -> Node:
        start = self._start
        below: dict[str | int, Node] = {}
        comma = False
        self._take()
        while self._token != "]":
            begins = self._start
            below[len(below)] = self._node(depth + 1).replace(begins=begins)
            comma = self._comma("]")
        return self._closed([node.value for node in below.values()], start, below, comma=comma)

    def _closed(
        self, value: Any, start: int, below: Mapping[str | int, Node], *, comma: bool
    ) -> Node:
        inner_end, end = self._last_end, self._at
        self._take()
        return Node(
            value, start, end, begins=0, below=below, ends_with_comma=comma, inner_end=inner_end
        )

    def _name(self) -> str:
        word = self._token
        if self._kind == "text":
            word = _text_of(word)
        elif self._kind == "word" and _NAME.match(word):
            word = _text_of(f'"{word}"')
        else:
            raise self._refuse()
        self._take()
        return word

    def _comma(self, closing: str) -> bool:
        """Pass a comma between members, and say whether it was there."""
        if self._token == ",":
            self._take()
            return True
        if self._token != closing:
            raise self._refuse()
        return False


def _text_of(token: str) -> str:
    def plain(escape: re.Match[str]) -> str:
        escaped = escape.group(1)
        if escaped in _DROPPED:
            return ""
        if len(escaped) > 1:
            return chr(int(escaped[1:], 16))
        return _ESCAPED.get(escaped, escaped)

    joined = _ESCAPE.sub(plain, token[1:-1])
    # Halves of a character outside the basic plane are written as two escapes.
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
