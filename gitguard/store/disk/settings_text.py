"""Settings as text, by format: read, and edited so that all else stays as it is."""

from __future__ import annotations

import json

from gitguard.errors import InvalidDocument
from gitguard.model.codec import load_json
from gitguard.model.document_edits import JSON, JSONC, TOML, differences, is_same
from gitguard.store.disk import json5_text, toml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LIMIT = 4 << 20
_MARK = "\ufeff"
_CORRECT = "Correct it and run the command again; nothing was changed"


def load(format: str, data: bytes | None, *, what: str) -> dict[str, Any]:
    """Return what settings say; no file and an empty one say nothing.

    Raises `InvalidDocument`, naming what, where the host would not read them.
    """
    if data is None or not data.strip():
        return {}
    if format == TOML:
        return toml_text.load(text_of(data, what), what=what)
    if format == JSON:
        try:
            return load_json(data, what=what, limit=_LIMIT)
        except InvalidDocument as error:
            raise InvalidDocument(error.message, _CORRECT) from error
    document = json5_text.load(text_of(data, what), what=what)
    if format == JSONC:
        refuse_other_than_json(text_of(data, what), what, with_comments=True)
    return document


def refuse_other_than_json(text: str, what: str, *, with_comments: bool) -> None:
    """Raise `InvalidDocument` for JSON5 that is no JSON, or none with comments."""
    if text.startswith(_MARK):
        raise InvalidDocument(
            f"{what} begins with a byte order mark, which is no JSON",
            "Save it as UTF-8 without one; nothing was changed",
        )
    try:
        json.loads(
            json5_text.without_comments(text) if with_comments else text,
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        more = "trailing commas" if with_comments else "comments and trailing commas"
        raise InvalidDocument(
            f"{what} cannot be read as the host reads it: {error}",
            f"Take {more} out; nothing was changed",
        ) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def text_of(data: bytes, what: str) -> str:
    """Return the text of a file; raises `InvalidDocument` where it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(f"{what} is not UTF-8", "Look at it by hand") from error


def rewritten(format: str, data: bytes | None, document: dict[str, Any], *, what: str) -> bytes:
    """Return settings that say what a document says; only what differs is written anew."""
    edits = tuple(differences(load(format, data, what=what), document))
    if not edits:
        return data or b""
    text = text_of(data or b"", what)
    if format == TOML:
        edited = toml_text.edited(text, edits, what=what)
    else:
        edited = json5_text.edited(text if text.strip() else "{}\n", edits, what=what)
    # It stands between a fault in our editing and people's settings.
    if not is_same(load(format, edited.encode(), what=what), document):
        raise InvalidDocument(
            f"gitguard cannot edit {what} without changing something else in it",
            "Make the changes by hand; nothing was changed",
        )
    return edited.encode()


def with_values(format: str, data: bytes | None, values: Mapping[str, str], *, what: str) -> bytes:
    """Return settings with values, JSON texts, by keys with dots between their names."""
    document = load(format, data, what=what)
    for key, value in values.items():
        *above, last = key.split(".")
        holder = document
        for name in above:
            holder = holder.setdefault(name, {})
            if not isinstance(holder, dict):
                raise InvalidDocument(
                    f"`{name}` in {what} is not an object", "Correct it; nothing was changed"
                )
        holder[last] = json.loads(value)
    return rewritten(format, data, document, what=what)
