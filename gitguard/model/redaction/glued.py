"""Tokens that stand against other text: a database has no blanks between its fields.

A prefix counts anywhere here, if it is no part of a word by chance: it ends in a mark, or what
follows has capitals and digits of a number that is known.
"""

from __future__ import annotations

import re

from gitguard.model.redaction.names import DIGITS
from gitguard.model.redaction.tokens import TOKENS, E, is_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST_PREFIX = 4
_CAPITALS = ("AKIA", "ASIA", "AIza")
"""Prefixes without a mark that count; behind them another field may follow."""
_OTHER_TOKENS = (
    ("ai-key", "sk-", "[A-Za-z0-9]{40,64}"),
    ("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
)
"""Tokens with a short prefix, which what follows tells from words."""


def _patterns() -> dict[str, tuple[str, str]]:
    """Return rule and pattern by prefix."""
    patterns = {
        prefix: (rule, _pattern(prefix, tail_pattern))
        for rule, prefix, tail_pattern in _OTHER_TOKENS
    }
    for rule, prefixes, tail_pattern in TOKENS:
        for prefix in prefixes.split():
            if prefix in _CAPITALS:
                patterns[prefix] = rule, _pattern(prefix, tail_pattern.removesuffix(E))
            elif len(prefix) >= _LEAST_PREFIX and not prefix[-1].isalnum():
                patterns.setdefault(prefix, (rule, _pattern(prefix, tail_pattern)))
    return patterns


def _pattern(prefix: str, tail_pattern: str) -> str:
    return f"{re.escape(prefix)}({tail_pattern})"


_PATTERNS = _patterns()


def glued_tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the tokens in a text, whatever stands before and behind them, each with its rule."""
    for prefix, (rule, pattern) in _PATTERNS.items():
        if prefix in text:
            for match in re.finditer(pattern, text):
                if is_token(match[1], rule) and any(digit in match[1] for digit in DIGITS):
                    yield rule, match[0]
