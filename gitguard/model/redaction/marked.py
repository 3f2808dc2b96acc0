"""Values without quotes that hold brackets or `&`, as generated passwords do, and code too."""

from __future__ import annotations

from gitguard.model.redaction.names import (
    DIGITS,
    IDENTIFIER,
    LETTERS,
    PASSWORD,
    QUOTES,
    VALUE,
    has_digit,
    is_placeholder,
    is_reference,
    looks_random,
    turns,
)

_MARKED_VALUE = VALUE + "()[]&"
_NO_CODE = frozenset("^#@~$%&")
_NO_LETTERS = str.maketrans("", "", LETTERS + DIGITS)
_MARKS_TO_BLANKS = str.maketrans("_-./+=~%:!@#$^*?|()[]&", " " * 22)


def end_of_marked(text: str, begin: int, *, in_form: bool) -> int:
    """Return where a value ends that may hold brackets and `&`, as generated passwords do."""
    near = text[begin : begin + 256]
    size = len(near) - len(near.lstrip(_MARKED_VALUE))
    value = near[:size]
    at = value.find("&", 1)
    while at >= 0 and (in_form or value[at + 1 : at + 2] == "&"):
        # `&name=` is the next parameter of an address, and `&&` the next command.
        if value[at + 1 :].lstrip(IDENTIFIER)[:1] in ("=", "&"):
            value = value[:at]
            break
        at = value.find("&", at + 1)
    while value[-1:] in (")", "]") and value.count(")") + value.count("]") > (
        value.count("(") + value.count("[")
    ):
        value = value[:-1]
    return begin + len(value.rstrip(".,:"))


def is_marked_secret(value: str, sure: int) -> bool:
    """Say whether a value with brackets or `&` is a secret, unless it is code."""
    if len(value) < 6 or not has_digit(value) or value.isdigit() or is_placeholder(value):
        return False
    if is_reference(value):
        return False
    letters = sum(map(str.isalpha, value))
    if sure == PASSWORD:
        return letters > 1
    # The digits of code stand behind its names: `key1[x2]`.
    parts = value.translate(_MARKS_TO_BLANKS).split()
    mixed = sum(turns(part) > 1 for part in parts)
    kinds = len(set(value.translate(_NO_LETTERS)))
    is_long = len(value) > 23 and (mixed > 0 or kinds > 4)
    return len(value) > 11 and letters > 3 and (mixed > 1 or is_long)


def reads_as_code(value: str, following: str, *, is_env: bool) -> bool:
    """Say whether a value is a call, an index or a link: `get(x1)`, `row[3]`, `f(a1,`, `[a](b)`."""
    if "](" in value or "()" in value or "[]" in value:
        return True
    is_cut = value[-1] in "([" and following and following in QUOTES
    if is_cut and _NO_CODE.isdisjoint(value):
        return True
    size = min((value.find(mark) for mark in "([" if mark in value), default=0)
    head = value[:size].lstrip("!").replace("_", "").replace("$", "")
    if value[0] in "([":
        return value[-1] in ")]" and not looks_random(value[1:-1], 8)
    parts = head.split(".")
    if not size or not all(part.isalnum() and turns(part) < 2 for part in parts):
        return False
    is_closed = value.count("(") == value.count(")") and value.count("[") == value.count("]")
    return is_closed or following in (",", "{") or (following in (" ", "\t") and not is_env)
