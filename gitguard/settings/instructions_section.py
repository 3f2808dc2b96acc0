"""Our section in a file of instructions for agents: put in, recognised and taken out, as bytes.

The file travels with the repository, so the section has to be recognised without any record of this
machine: its first line carries a digest of its text. A section that somebody edited is theirs.
"""

from __future__ import annotations

import re
from hashlib import sha256

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value

_BEGIN, _END = "<!-- gitguard:begin", "<!-- gitguard:end -->"
_SECTION = re.compile(
    rf"^{_BEGIN} (?P<digest>[0-9a-f]+) [^\n]*-->\r?\n(?P<text>.*?)^{_END}(?P<end>\r?\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(rf"^(?:{_BEGIN}|{re.escape(_END)})", re.MULTILINE)
_MADE_BY = (
    "from `gitguard init --host none`; `gitguard uninstall --host none` removes this section -->"
)


class SplitFile(Value):
    """A file of instructions around our section."""

    before: str
    section: str
    """With its marks; empty where the file has none."""
    after: str
    is_edited: bool = False
    """Whether somebody changed the section's text."""


def split(data: bytes, name: str) -> SplitFile:
    """Find our section in a file.

    Raises `InvalidDocument` for a file that is not UTF-8 or whose marks do not form one section.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(
            f"`{name}` is not UTF-8", "Save it as UTF-8; nothing was changed"
        ) from error
    match, marks = _SECTION.search(text), len(_MARK.findall(text))
    if marks == 0:
        return SplitFile(text, "", "")
    if match is None or marks != 2:
        raise InvalidDocument(
            f"`{name}` does not hold one whole gitguard section",
            f"Delete the lines from `{_BEGIN} …` to `{_END}` by hand; nothing was changed",
        )
    is_edited = match["digest"] != _digest(match["text"])
    return SplitFile(text[: match.start()], match[0], text[match.end() :], is_edited)


def with_section(data: bytes, name: str, text: str) -> bytes:
    """Return a file with our section, in its place or else at the end; an edited one stays."""
    parts = split(data, name)
    if parts.is_edited:
        return data
    newline = _newline_of(parts.section or parts.before)
    section = _section(text).replace("\n", newline)
    if parts.section:
        if not parts.section.endswith("\n"):
            section = section.removesuffix(newline)
        return (parts.before + section + parts.after).encode()
    if not parts.before:
        return section.encode()
    if parts.before.endswith("\n"):
        return (parts.before + newline + section).encode()
    # The file's end is left as it was found, so that `without_section` gives back every byte.
    return (parts.before + newline * 2 + section.removesuffix(newline)).encode()


def without_section(data: bytes, name: str) -> bytes | None:
    """Return a file as it was without our section, None where nothing else is in it."""
    parts = split(data, name)
    if not parts.section or parts.is_edited:
        return data
    newline = _newline_of(parts.section)
    before = parts.before
    if before.endswith(("\n\n", "\n\r\n")):
        before = before.removesuffix(newline)
    if not parts.section.endswith("\n"):
        before = before.removesuffix(newline)
    return (before + parts.after).encode() or None


def _section(text: str) -> str:
    return f"{_BEGIN} {_digest(text)} {_MADE_BY}\n{text}{_END}\n"


def _newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _digest(text: str) -> str:
    """Return a digest that a change of line ends, which git makes, does not change."""
    return sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:12]
