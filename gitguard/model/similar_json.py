"""Reads JSON objects that come one after another and have most of their lines in common.

A state is written with one member or one list item a line, and from one checkpoint to the next most
lines stay. Reading a history is mostly reading JSON, so a line that stood in the object before is
not read again.
"""

from __future__ import annotations

from gitguard.model.codec import check_size, decode_json, load_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class SimilarObjects:
    """Reads objects as `load_json` does; those it returns share what they have in common."""

    def __init__(self, *, what: str) -> None:
        """Name the objects for errors."""
        self._what = what
        self._values: dict[str, Any] = {}
        """What the lines of the last object say; no text is a member and an item as well."""

    def load(self, data: bytes) -> dict[str, Any]:
        """Read one JSON object, or raise `InvalidDocument` naming what it should have been."""
        check_size(len(data), what=self._what)
        earlier, self._values = self._values, {}
        try:
            document = self._by_lines(data.decode("utf-8").split("\n"), earlier)
        except (ValueError, RecursionError):
            document = None
        return load_json(data, what=self._what) if document is None else document

    def _by_lines(self, lines: list[str], earlier: dict[str, Any]) -> dict[str, Any] | None:
        """Return what the lines say together, None where they are laid out otherwise.

        A JSON string holds no line break, so a line that reads by itself is a whole member or item.
        Any doubt, and so any error, is left to the reader of whole texts.
        """
        if lines[0] != "{" or lines[-2:] != ["}", ""]:
            return None
        values = self._values
        document: dict[str, Any] = {}
        items: list[Any] | None = None
        continues = True
        for line in lines[1:-2]:
            text = line[:-1] if line[-1:] == "," else line
            closes = text == "  ]" and items is not None
            if continues == closes:
                return None  # a comma is missing, or one too many
            continues = text is not line
            if closes:
                items = None
            elif items is not None:
                value = earlier[text] if text in earlier else decode_json(text)
                values[text] = value
                items.append(value)
            elif text.endswith(": ["):
                key, items = decode_json(text.removesuffix(": [")), []
                if continues or not isinstance(key, str) or key in document:
                    return None
                document[key], continues = items, True
            else:
                member = earlier[text] if text in earlier else decode_json(f"{{{text}}}")
                values[text] = member
                if not member or not document.keys().isdisjoint(member):
                    return None
                document.update(member)
        return None if continues or items is not None else document
