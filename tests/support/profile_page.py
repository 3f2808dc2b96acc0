"""The tables of the page about profiles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any


def named_on_the_page() -> set[str]:
    page = (Path(__file__).parents[2] / "references" / "design" / "profile.md").read_text()
    rows = [row for row in page.partition("## For programs")[2].splitlines() if row[:1] == "|"]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def members(value: Any) -> set[str]:
    """Return the names of all members, at any depth."""
    inside = value if isinstance(value, list) else []
    names: set[str] = set()
    if isinstance(value, dict):
        names, inside = set(value), list(value.values())
    return names.union(*map(members, inside))
