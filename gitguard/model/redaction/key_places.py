"""Where in a long text a value may stand behind a key word, found by regular expressions.

Logs have key words by the hundred thousand, and hardly any stands before what can be a secret. To
judge each of them takes microseconds; a regular expression passes over most of them in C. It finds
every place where `keyed` accepts a value, and others, which `keyed` judges.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PASSWORDS = ("pass", "pwd", "psw")
"""What is in each name of a password."""
_SHORT_ONES = (*_PASSWORDS, "value")
"""Words whose value may be a password: `value` has the name that stands before it."""
_SHORTEST, _SHORTEST_OF_ENV, _SHORTEST_PASSWORD = 8, 4, 3
"""How long a value has to be: of a token, in a line of an environment, and of a password."""
_KELVIN = "\u212a"
"""A letter beyond ASCII that is a `k` in lower case."""


def _behind_name(least: int) -> str:
    """Return a pattern of an operator and a value that is long enough, in lower case.

    Blanks are never given back, so that no run of them is passed over twice.
    """
    quoted = "|".join(
        rf"{quote}(?:{quote}{quote}|[^{quote}\n]{{{least}}})" for quote in ('"', "'", "`")
    )
    escaped = rf"\\[\"'](?:(?!\\[\"'])[^\n]){{{least}}}"
    nested = rf"(?:[\"'\\]{{2,48}}+|\$\$|\\\$\\\$)[^\"'\\\n]{{{least}}}"
    text = rf"(?:(?=[brufen@$l]?[\"'`\\$])[brufen@$l]?(?:{quoted}|{escaped}|{nested}))"
    value = rf"(?:{text}|[a-z0-9_\-./+=~%:!@#$^*?|()\[\]&]{{{least}}})"
    typed = r"[a-z0-9_.\[\]|?<> ]{0,40}+(?<= )="
    return (
        r"(?=[\"'`\])\\} \t:=>|,(-])"  # hardly any word is followed by one of these
        r"(?:[\"'`\])\\}]*+[ \t]*+(?:"
        rf"(?:[:=>]|->)[:=>]{{0,2}}(?:\*\*(?= ))?\s*+{value}"
        rf"|:\s*+{typed}"
        r"|:[ \t]*+[|>][-+0-9]{0,40}[ \t]*+(?:[\r\n]|\\[rn])"
        rf"|\|[ \t]*+{value}"
        rf"|[,(][ \t]*+{text}"
        r")"
        rf"|[ \t]++(?:for |of |(?:is[ :]|was |to )?[ \t]*+{value}))"
    )


_TOKEN = _behind_name(_SHORTEST)
_PASSWORD = _behind_name(_SHORTEST_PASSWORD)
_NAME = r"[a-z0-9_.\-]{0,48}+"
_ENV = (
    rf"[A-Z0-9_]*+=[=>:]{{0,2}}\s*+[bruBRUfFEN@$L]?(?:[\"'`\\]|[^\s\"'`\\]{{{_SHORTEST_OF_ENV}}})"
)
_compiled: dict[str, re.Pattern[str]] = {}


def key_places(text: str, low: str, word: str) -> Iterable[int]:
    """Return where a key word stands before what may be a secret, in order."""
    places = {match.start() for match in _pattern(word).finditer(low)}
    capitals = text.replace(_KELVIN, "K")
    if (shouted := word.upper()) in capitals:
        places.update(match.start() for match in _pattern(shouted).finditer(capitals))
    return sorted(places)


def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word in small letters, or of one in capitals."""
    compiled = _compiled.get(word)
    if compiled is None:
        if word.isupper():
            behind = _ENV
        elif word in _SHORT_ONES:
            behind = _NAME + _PASSWORD
        else:
            in_name = rf"(?=[a-z0-9_.\-])(?=[a-z0-9_.\-]{{0,48}}?(?:{'|'.join(_PASSWORDS)}))"
            behind = f"(?:{_NAME}{_TOKEN}|{in_name}{_NAME}{_PASSWORD})"
        # A word is found fast where it stands alone at the beginning of its pattern.
        compiled = _compiled[word] = re.compile(f"{word}(?={behind})")
    return compiled
