"""TOML read and changed with its comments and order kept; the one door to tomlkit."""

from __future__ import annotations

import re

from gitguard.errors import InvalidDocument
from gitguard.model.document_edits import GONE, Edit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from tomlkit import TOMLDocument
    from tomlkit.items import Table


_MARK = "\ufeff"
"""What some editors put before a text; it is no part of the document."""
_GONE_KEY = "gitguard-takes-this-out"
_EMPTIED = re.compile(
    rf"^[ \t]*\[[^\n]*\n((?:[ \t\r]*(?:#[^\n]*)?\n)*){_GONE_KEY} = true\r?\n?", re.MULTILINE
)
"""An emptied table; what is kept of it are comments and blank lines."""


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


def edited(text: str, edits: Iterable[Edit], *, what: str) -> str:
    """Return the text with edits, each of what the one before it made."""
    from tomlkit.exceptions import TOMLKitError

    after = text.removeprefix(_MARK)
    try:
        for edit in edits:
            after = _edited(after, edit)
    except TOMLKitError as error:
        raise InvalidDocument(
            f"{what} cannot be read: {error}", "Correct it; nothing was changed"
        ) from error
    except RecursionError:
        raise _too_deep(what) from None
    if text.startswith(_MARK):
        after = _MARK + after
    # tomlkit ends the lines that it adds with LF; a file that has CRLF throughout keeps it.
    if 0 < text.count("\n") == text.count("\r\n"):
        return after.replace("\r\n", "\n").replace("\n", "\r\n")
    return after


def _edited(text: str, edit: Edit) -> str:
    import tomlkit
    from tomlkit.items import AoT

    document = tomlkit.parse(text)
    *above, last = edit.path
    holder: Any = document
    for name in above:
        holder = holder[name]
    if edit.value is GONE:
        return _without(document, holder, last)
    if isinstance(holder, list) and last == len(holder):
        holder.append(tomlkit.item(edit.value) if isinstance(holder, AoT) else edit.value)
    else:
        holder[last] = edit.value
    return tomlkit.dumps(document)


def _without(document: TOMLDocument, holder: Any, name: str | int) -> str:
    """Return a document's text without what stands at a name.

    What follows a table up to the next one belongs to it, also comments that somebody wrote there
    on what comes next. They stay.
    """
    import tomlkit
    from tomlkit.items import AoT, Table

    item = holder[name]
    if isinstance(item, AoT | Table) and "#" in item.as_string():
        for table in item.body if isinstance(item, AoT) else [item]:
            _empty(table)
        return re.sub(_EMPTIED, r"\1", tomlkit.dumps(document))
    del holder[name]
    return tomlkit.dumps(document)


def _empty(table: Table) -> None:
    """Take the values out of a table and those below it, and mark them."""
    from tomlkit.items import AoT, Table

    for name in [*table]:
        item = table[name]
        if not isinstance(item, AoT | Table):
            del table[name]
            continue
        for below in item.body if isinstance(item, AoT) else [item]:
            _empty(below)
    if not table.is_super_table():
        table[_GONE_KEY] = True


def _too_deep(what: str) -> InvalidDocument:
    return InvalidDocument(f"{what} is nested too deeply", "Correct it; nothing was changed")
