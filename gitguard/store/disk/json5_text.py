"""JSON with comments (JSON5), read and changed in place: all that is not the value stays as it is.

The libraries that keep comments are no longer looked after, or write the text anew. What is needed
here is little: where each value stands.
"""

from __future__ import annotations

import json
import re

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    members: dict[str, Node] | None = None
    """Of an object: its values by name; None for all else."""
    key_starts: tuple[int, ...] = ()
    """Of an object: where its members begin."""
    ends_with_comma: bool = False
    inner_end: int = 0
    """Of an object: where what stands in it ends, comments too, before the space at its end."""


def load(text: str, *, what: str) -> dict[str, Any]:
    """Return the object that a text holds; raises `InvalidDocument` naming what and the line."""
    value = _root(text, what).value
    assert isinstance(value, dict)
    return value


def set_value(text: str, path: tuple[str, ...], value: str, *, what: str) -> str:
    """Return the text with the value, a JSON text, at a path of names; all else stays as it is."""
    node = _root(text, what)
    for depth, name in enumerate(path):
        if node.members is None:
            raise InvalidDocument(
                f"`{'.'.join(path[:depth])}` in {what} is not an object", "Correct it by hand"
            )
        below = node.members.get(name)
        if below is None:
            return _insert(text, node, path[depth:], value)
        node = below
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
    if node.members is None:
        raise InvalidDocument(f"{what} does not hold an object", "Correct it; nothing was changed")
    return node


def _insert(text: str, node: Node, path: tuple[str, ...], value: str) -> str:
    """Put a member at the end of an object, in the way in which its others are written."""
    newline = _newline_of(text)
    outer = _indent_at(text, node.start)
    inner = _indent_at(text, node.key_starts[-1]) if node.key_starts else outer + _INDENT
    spread = not node.key_starts or not _LINE_ENDS.isdisjoint(text[node.start : node.end])
    member = _member(path, value, inner if spread else None, newline)
    body = text[node.start + 1 : node.inner_end]
    # The comma goes straight after the last value: what follows it may be a line comment, in which
    # a comma would be lost.
    if node.key_starts and not node.ends_with_comma:
        last_end = max(below.end for below in (node.members or {}).values())
        comma_at = last_end - node.start - 1
        body = body[:comma_at] + "," + body[comma_at:]
    between = newline + inner if spread else " "
    # A file whose last member ends with a comma is written so again: one style a file.
    after = "," if node.ends_with_comma else ""
    closing = text[node.inner_end : node.end]
    if spread and newline not in closing:
        closing = newline + outer + closing.lstrip()
    return text[: node.start + 1] + body + between + member + after + closing + text[node.end :]


def _member(path: tuple[str, ...], value: str, indent: str | None, newline: str) -> str:
    """Return a member, with the objects around it that are not there yet."""
    name, *inner_names = path
    if not inner_names:
        return f"{json.dumps(name)}: {value}"
    if indent is None:
        return f"{json.dumps(name)}: {{{_member(tuple(inner_names), value, None, newline)}}}"
    below = _member(tuple(inner_names), value, indent + _INDENT, newline)
    return f"{json.dumps(name)}: {{{newline}{indent}{_INDENT}{below}{newline}{indent}}}"


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
        members: dict[str, Node] = {}
        keys = []
        comma = False
        self._take()
        while self._token != "}":
            keys.append(self._start)
            name = self._name()
            if self._token != ":":
                raise self._refuse()
            self._take()
            members[name] = self._node(depth + 1)
            comma = self._comma("}")
        inner_end, end = self._last_end, self._at
        self._take()
        value = {name: node.value for name, node in members.items()}
        return Node(value, start, end, members, tuple(keys), comma, inner_end)

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

    def _list(self, depth: int) -> Node:
        start = self._start
        items = []
        self._take()
        while self._token != "]":
            items.append(self._node(depth + 1).value)
            self._comma("]")
        end = self._at
        self._take()
        return Node(items, start, end)


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
