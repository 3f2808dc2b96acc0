"""TOML read and changed with its comments and order kept; the one door to tomlkit."""

from __future__ import annotations

import json

from gitguard.errors import InvalidDocument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARK = "\ufeff"
"""What some editors put before a text; it is no part of the document."""


def load(text: str, *, what: str) -> dict[str, Any]:
    """Return what a text holds; raises `InvalidDocument` naming what and the line."""
    import tomllib

    try:
        return tomllib.loads(text.removeprefix(_MARK))
    except tomllib.TOMLDecodeError as error:
        raise InvalidDocument(
            f"{what} cannot be read: {error}", "Correct it; nothing was changed"
        ) from error
    except RecursionError:
        raise _too_deep(what) from None


def set_value(text: str, name: str, value: str, *, what: str) -> str:
    """Return the text with the value, a JSON text, of a name outside of all tables."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text.removeprefix(_MARK))
        document[name] = json.loads(value)
    except TOMLKitError as error:
        raise InvalidDocument(
            f"{what} cannot be read: {error}", "Correct it; nothing was changed"
        ) from error
    except RecursionError:
        raise _too_deep(what) from None
    edited = tomlkit.dumps(document)
    if text.startswith(_MARK):
        edited = _MARK + edited
    # tomlkit ends the lines that it adds with LF; a file that has CRLF throughout keeps it.
    if 0 < text.count("\n") == text.count("\r\n"):
        return edited.replace("\r\n", "\n").replace("\n", "\r\n")
    return edited


def _too_deep(what: str) -> InvalidDocument:
    return InvalidDocument(f"{what} is nested too deeply", "Correct it; nothing was changed")
