"""How somebody laid a JSON file out, so that a change of ours looks like theirs."""

from __future__ import annotations

import json
import re

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIRST_MEMBER = re.compile(r"\{\s*\n([ \t]*)\"")


class Layout(Value):
    """Indent, line ends and escapes of a JSON file; the defaults are for a new one."""

    indent: str = "  "
    newline: str = "\n"
    ends_with_newline: bool = True
    escapes: bool = False
    """Whether characters outside ASCII are written as escapes."""

    @classmethod
    def of(cls, data: bytes) -> Layout:
        """Describe a file's layout; a file on one line is laid out as a new one is."""
        text = data.decode("utf-8", "replace")
        member = _FIRST_MEMBER.search(text)
        return cls(
            indent=member[1] if member else cls.indent,
            newline="\r\n" if "\r\n" in text else "\n",
            ends_with_newline=text.endswith("\n") or not text,
            escapes="\\u" in text,
        )

    def dump(self, document: dict[str, Any]) -> bytes:
        """Write an object in this layout, its keys in the order they have."""
        text = json.dumps(document, indent=self.indent, ensure_ascii=self.escapes)
        end = "\n" if self.ends_with_newline else ""
        return (text + end).replace("\n", self.newline).encode()
