"""Passwords in sentences of many languages: "Das Passwort lautet …", "пароль — …", "密码是…".

Only the word for a password is of a language. Between it and the password may stand anything that
has no digit and ends no sentence, so no grammar is needed; the farther a value is away, the surer
it has to look like a password.
"""

from __future__ import annotations

from gitguard.model.redaction.names import (
    DIGITS,
    LETTERS,
    is_placeholder,
    is_reference,
    looks_random,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.redaction.keyed import Span

_RUN = LETTERS + DIGITS + "!@#$%^&*+~_-=./:?|()[]"
_ALGORITHMS = (
    *("sha", "md5", "bcrypt", "scrypt", "argon", "pbkdf", "aes", "hmac", "base64", "base32", "utf"),
    *("oauth", "ipv", "http", "x509", "tls", "ssl", "wpa", "rfc", "rot13"),
)
"""What sentences about passwords name, with a number."""
_SYMBOLS = frozenset("!@#$%^&*+~")
_STOPS = (". ", "。", "! ", "? ", "\n", "\\n", " (", "（", "`")
_SHORTEST_PART = 7
"""The shortest word that counts as the end of a longer one, such as `Datenbankpasswort`."""
_NEAR, _FAR = 28, 72
"""So many characters behind its word a password stands, and so many with words between."""


def passwords_behind(text: str, low: str, word: str) -> Iterator[Span]:
    """Yield the passwords behind a word for one; low is text in lower case."""
    at = low.find(word)
    while at >= 0:
        is_part = len(word) < _SHORTEST_PART and text[at - 1 : at].isascii() and at > 0
        if is_part and text[at - 1].isalpha():
            at = low.find(word, at + len(word))  # `Bresenham` has `senha`
            continue
        if span := _behind(text, at + len(word), word):
            yield span
        at = low.find(word, at + len(word))


def _behind(text: str, at: int, word: str) -> Span | None:
    near = text[at : at + _FAR]
    # Chinese and Japanese have no blank behind the word; elsewhere the word may go on.
    ends = near if word.isascii() or word[0] < "\u3000" else ""
    size = next((n for n, char in enumerate(ends) if not char.isalpha()), len(ends))
    if near[size : size + 1] in ("_", ".", "(", "[", "-") and near[size : size + 1]:
        return None  # a name in code
    stop = min((n for n in (near.find(mark, size) for mark in _STOPS) if n >= 0), default=len(near))
    begin = size
    while begin < stop:
        run = text[at + begin : at + begin + 256]
        length = len(run) - len(run.lstrip(_RUN))
        value = run[:length].rstrip(".,:?=").lstrip("-:=.([")
        while value[-1:] in (")", "]") and value.count("(") + value.count("[") == 0:
            value = value[:-1]
        if _is_password(value, is_near=begin - size <= _NEAR):
            begin = at + begin + run.index(value)
            return begin, begin + len(value), "spoken-password"
        if any(char in DIGITS for char in value):
            return None
        begin += length or 1
    return None


def _is_password(value: str, *, is_near: bool) -> bool:
    letters = [char for char in value if char in LETTERS]
    has_digit = len(value.translate(_NO_DIGITS)) < len(value)
    has_symbol = not _SYMBOLS.isdisjoint(value[1:])
    if len(value) < 6 or len(letters) < 3 or not (has_digit or has_symbol):
        return False
    if value.isupper() or "://" in value or is_placeholder(value) or is_reference(value):
        return False
    if value.lower().startswith(_ALGORITHMS) and not has_symbol:
        return False
    if not has_symbol and value.replace("_", "").replace(".", "").replace("/", "").isalnum():
        # `bcrypt2`, `utf8.decode`, `src/login2.py` are words.
        mixed = value.lower() != value
        if ("." in value or "/" in value) and not looks_random(value, 8):
            return False
        return is_near or (mixed and len(value) > 7) or looks_random(value, 8)
    return is_near or has_digit


_NO_DIGITS = str.maketrans("", "", DIGITS)
