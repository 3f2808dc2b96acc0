"""What tools' calls and results were measured to take."""

from __future__ import annotations

import json

from tests.benches.measure_operation_costs import (
    MEASURED,
    OPERATIONS,
    Cost,
)

KIND = {told.what: told.kind for told in OPERATIONS}


def rows(text: str, title: str) -> list[list[str]]:
    """The cells of the table below a title."""
    part = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def measured() -> list[Cost]:
    rows = map(json.loads, MEASURED.read_text().splitlines())
    return [Cost(host, tool, KIND[what], what, *sizes) for host, tool, what, *sizes in rows]
