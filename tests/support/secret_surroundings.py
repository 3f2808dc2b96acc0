"""How a secret is written when it is not written plainly, and how a reader has it plain again.

Each surrounding conceals a secret within its text and reveals what is left of a text, as a
terminal, a parser or a person would. What is out of reach is in `references/design/redaction.md`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from gitguard.model.redaction.redactor import Redactor
from tests.support.secret_corpus import Document, Sample, is_left, samples, texts_of
from tests.support.secret_kinds import Kind, samples_of
from tests.support.secret_shapes import SHAPES

Conceal = Callable[[str, str], str]
"""Returns a text with its secret concealed."""


LEAST_RECALL = 0.95
"""What is promised of each surrounding."""


class Surrounding(NamedTuple):
    """One way to write a secret."""

    name: str
    conceal: Conceal
    reveal: Callable[[str], str]


def _on_secret(change: Callable[[str], str]) -> Conceal:
    return lambda text, secret: text.replace(secret, change(secret))


def _on_text(change: Callable[[str], str]) -> Conceal:
    return lambda text, _secret: change(text)


def _middle(secret: str, between: str) -> str:
    half = len(secret) // 2
    return secret[:half] + between + secret[half:]


def _every(secret: str, between: str, step: int = 4) -> str:
    return between.join(secret[at : at + step] for at in range(0, len(secret), step))


def _glued(mark: str) -> Conceal:
    """Return what puts a word before a secret that is a word of its own, with a mark between."""
    return lambda text, secret: re.sub(
        rf"(?<![^\s\"'`(]){re.escape(secret)}", lambda match: f"backup{mark}{match[0]}", text
    )


def _without(pattern: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)
    return lambda text: compiled.sub("", text)


_WIDE = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
_PLAIN = {ord(wide): plain for plain, wide in _WIDE.items()}
_COLOURS = r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x07]*\x07"


def _wide(secret: str) -> str:
    return "".join(_WIDE.get(char, char) for char in secret)


def _decoded(text: str) -> str:
    """Return a text with all words that are base64 or hex as what they say."""

    def says(match: re.Match[str]) -> str:
        word = match[0]
        try:
            data = bytes.fromhex(word) if re.fullmatch("[0-9a-f]+", word) else b""
            data = data or base64.urlsafe_b64decode(word.translate(_URL_SAFE) + "===")
        except (ValueError, binascii.Error):
            return word
        return f"{word} {data.decode('latin-1')}"

    return re.sub(r"[A-Za-z0-9+/_-]{16,}", says, text)


_URL_SAFE = str.maketrans("+/", "-_")
_CODE_JOINED = _without(r"[\"'] *\+ *[\"']|[\"'] *\\?\n *(?:\+ *)?[\"']")
_LINES_JOINED = _without(r"\\?\n[ \t]*(?:[+>|#-] ?)?")

SURROUNDINGS = (
    Surrounding("plain", _on_secret(str), str),
    Surrounding("coloured", _on_secret("\x1b[32m{}\x1b[0m".format), _without(_COLOURS)),
    Surrounding(
        "colour inside", _on_secret(lambda s: _middle(s, "\x1b[1;31m")), _without(_COLOURS)
    ),
    Surrounding(
        "terminal link", _on_secret("\x1b]8;;http://x\x07{}\x1b]8;;\x07".format), _without(_COLOURS)
    ),
    Surrounding("zero-width", _on_secret(lambda s: _middle(s, "\u200b")), _without("\u200b")),
    Surrounding("many zero-width", _on_secret(lambda s: _every(s, "\u2060")), _without("\u2060")),
    Surrounding("soft hyphen", _on_secret(lambda s: _middle(s, "\xad")), _without("\xad")),
    Surrounding("byte order mark", _on_secret(lambda s: _middle(s, "\ufeff")), _without("\ufeff")),
    Surrounding("control character", _on_secret(lambda s: _middle(s, "\x00")), _without("\x00")),
    Surrounding("full-width", _on_secret(_wide), lambda text: text.translate(_PLAIN)),
    Surrounding("JSON", _on_text(json.dumps), lambda text: text),
    Surrounding(
        "JSON, coloured",
        lambda text, secret: json.dumps(text.replace(secret, _middle(secret, "\x1b[1m"))),
        _without(r"\\u001b\[[0-9;]*m"),
    ),
    Surrounding(
        "JSON, every character escaped",
        _on_secret(lambda s: "".join(f"\\u{ord(char):04x}" for char in s)),
        lambda text: re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text),
    ),
    Surrounding(
        "shell, escaped colours", _on_secret(r"\e[32m{}\e[0m".format), _without(r"\\e\[\d+m")
    ),
    Surrounding("shell, continued", _on_secret(lambda s: _middle(s, "\\\n")), _LINES_JOINED),
    Surrounding(
        "percent-encoded",
        _on_secret(lambda s: "".join(f"%{ord(char):02X}" for char in s)),
        unquote,
    ),
    Surrounding("in an address", _on_secret(lambda s: quote(s, safe="")), unquote),
    Surrounding("YAML block", _on_text(lambda t: "note: |\n  " + t.replace("\n", "\n  ")), str),
    Surrounding("diff line", _on_text(lambda t: "+" + t.replace("\n", "\n+")), str),
    Surrounding("quoted mail", _on_text(lambda t: "> " + t.replace("\n", "\n> ")), str),
    Surrounding(
        "traceback",
        _on_text(lambda t: f'  File "run.py", line 3, in <module>\n    {t}\nValueError: no'),
        str,
    ),
    Surrounding("Markdown, escaped", _on_secret(lambda s: s.replace("_", "\\_")), _without(r"\\")),
    Surrounding(
        "base64",
        _on_text(lambda t: base64.b64encode(t.encode()).decode()),
        _decoded,
    ),
    Surrounding(
        "URL-safe base64 in JSON",
        _on_text(lambda t: json.dumps({"data": base64.urlsafe_b64encode(t.encode()).decode()})),
        _decoded,
    ),
    Surrounding("hex", _on_text(lambda t: t.encode().hex()), _decoded),
    Surrounding("split line", _on_secret(lambda s: _middle(s, "\n")), _LINES_JOINED),
    Surrounding("split line, indented", _on_secret(lambda s: _middle(s, "\n    ")), _LINES_JOINED),
    Surrounding("split line of a diff", _on_secret(lambda s: _middle(s, "\n+ ")), _LINES_JOINED),
    Surrounding("concatenated", _on_secret(lambda s: _middle(s, '" + "')), _CODE_JOINED),
    Surrounding("concatenated lines", _on_secret(lambda s: _middle(s, '"\n    "')), _CODE_JOINED),
)


GLUED = tuple(Surrounding(f"behind `{mark}` in a word", _glued(mark), str) for mark in "-_./")
"""Ways to write a token with a prefix; a password with a word before it is another password."""


def changed(document: Document, change: Callable[[str], str]) -> Document:
    """Return a document with each of its values changed."""
    if isinstance(document, str):
        return change(document)
    if isinstance(document, dict):
        return {key: changed(value, change) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [changed(item, change) for item in document]
    return document


def in_one_line(seeds: Iterable[int]) -> Iterator[Sample]:
    """Make one secret of each shape; private keys, which have lines of their own, are left out."""
    for seed in seeds:
        for number, sample in enumerate(samples(SHAPES, seed)):
            if number % 5 == 0 and "\n" not in sample.secret.text:
                yield sample


def is_missed(redactor: Redactor, surrounding: Surrounding, sample: Sample) -> bool:
    """Say whether a reader finds anything of a secret after a text was redacted."""
    secret = sample.secret.text
    document = changed(
        sample.document,
        lambda text: surrounding.conceal(text, secret) if secret in text else text,
    )
    clean = "\n".join(texts_of(redactor.document(document)[0]))
    return is_left(sample.secret, surrounding.reveal(clean))


def recall_of(kind: Kind, surrounding: Surrounding, seeds: Iterable[int]) -> tuple[float, int]:
    """Return the share of secrets of a kind of which a reader finds nothing, and of how many."""
    redactor = Redactor()
    drawn = [sample for seed in seeds for sample in samples_of(kind, seed)]
    missed = sum(is_missed(redactor, surrounding, sample) for sample in drawn)
    return 1 - missed / len(drawn), len(drawn)


def recall_in(surrounding: Surrounding, seeds: Iterable[int]) -> tuple[float, int]:
    """Return the share of secrets of which a reader finds nothing, and of how many."""
    redactor = Redactor()
    missed = [is_missed(redactor, surrounding, sample) for sample in in_one_line(seeds)]
    return 1 - sum(missed) / len(missed), len(missed)
