"""A secret that a text names once, and holds again where nothing announces it.

A person pastes a command with a password, and types the password alone in the next line. Only
values that no word, path or number is made like are looked for, so no ordinary word goes.
"""

from __future__ import annotations

from gitguard.model.redaction.keyed import merged
from gitguard.model.redaction.names import (
    has_digit,
    is_placeholder,
    is_reference,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitguard.model.redaction.keyed import Span

_SHORTEST, _LONGEST = 8, 256
_MOST_VALUES = 64
"""So many values of a text are looked for, so that the time stays linear."""
_SIGNS = frozenset("!@#$%^&*+~?")
_PARTED = frozenset(" \t\r\n\"'`\\")
_PATHS = frozenset("/.")
"""What is in names of files and hosts, which a text repeats for good reasons."""


def with_repeats(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the secrets in a text and where their values stand again, in order."""
    values: dict[str, str] = {}
    for begin, end, rule in spans:
        for value in _values_of(text[begin : min(end, begin + _LONGEST + 1)], rule):
            if len(values) < _MOST_VALUES and is_telling(value):
                values.setdefault(value, rule)
    ranked = [(begin, end, 0, rule) for begin, end, rule in spans]
    for value, rule in values.items():
        at = text.find(value)
        while at >= 0:
            ranked.append((at, at + len(value), 1, rule))
            at = text.find(value, at + len(value))
    return merged(ranked)


def _values_of(span: str, rule: str) -> Iterator[str]:
    """Yield what is secret in what was found: of `user:password` the password as well."""
    yield span
    if rule == "cli-option" and ":" in span:
        yield span.partition(":")[2].lstrip("\"'\\$")


def is_telling(value: str) -> bool:
    """Say whether a value is a secret wherever it stands: long, and varied as no word is."""
    if not _SHORTEST <= len(value) <= _LONGEST or not _PARTED.isdisjoint(value):
        return False
    is_varied = has_digit(value) or not _SIGNS.isdisjoint(value)
    if not is_varied or not any(map(str.isalpha, value)):
        return False
    if is_placeholder(value) or is_reference(value):
        return False
    return _PATHS.isdisjoint(value) or looks_random(value, _SHORTEST)
