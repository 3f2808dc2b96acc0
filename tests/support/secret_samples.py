"""Random texts that a regular expression matches, so that no test has to write a secret down."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from typing import Any

RANDOM = random.Random(20261122)
ALPHANUMERIC = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(size: int, alphabet: str = ALPHANUMERIC) -> str:
    """Return a random text that has a digit and a letter."""
    while True:
        text = "".join(RANDOM.choice(alphabet) for _ in range(size))
        if any(c.isdigit() for c in text) and any(c.isalpha() for c in text):
            return text


def parsed(pattern: str) -> Any:
    return vars(re)["_parser"].parse(pattern)


def a_match(tree: Any) -> str:
    """Return a random text that the parsed expression matches, but for its assertions."""
    return "".join(_a_match(str(kind), value) for kind, value in tree)


def _a_match(kind: str, value: Any) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return RANDOM.choice([c for c in ALPHANUMERIC if ord(c) != value])
        case "IN":
            return RANDOM.choice(_members(value))
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, inner = value
            count = RANDOM.randint(int(least), min(int(most), int(least) + 6))
            return "".join(a_match(inner) for _ in range(count))
        case "SUBPATTERN":
            return a_match(value[3])
        case "BRANCH":
            return a_match(RANDOM.choice(value[1]))
        case "ASSERT":
            return ""
        case "ASSERT_NOT" | "AT":
            return ""
    raise AssertionError(kind)


def _members(value: Any) -> list[str]:
    negated = str(value[0][0]) == "NEGATE"
    found = {c for kind, what in value for c in _in_class(str(kind), what)}
    plain = [c for c in ALPHANUMERIC if c not in found] if negated else sorted(found)
    assert plain, value
    return plain


def _in_class(kind: str, what: Any) -> str:
    match kind:
        case "LITERAL":
            return chr(what)
        case "RANGE":
            return "".join(map(chr, range(what[0], what[1] + 1)))
        case "CATEGORY":
            classes = {"CATEGORY_SPACE": " ", "CATEGORY_WORD": ALPHANUMERIC}
            return classes.get(str(what), string.digits)
        case _:
            return ""


def repetitions(tree: Any, outer: bool = False) -> Iterator[bool]:
    """Yield for each unbounded or long repetition whether another one is around it."""
    for kind, value in tree:
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            varies = int(most) != int(least) and int(most) > 3
            if varies:
                yield outer
            yield from repetitions(inner, outer or varies)
        elif str(kind) == "SUBPATTERN":
            yield from repetitions(value[3], outer)
        elif str(kind) == "BRANCH":
            for branch in value[1]:
                yield from repetitions(branch, outer)


SECRET, WORD = some(32), "h" + "unter2"
