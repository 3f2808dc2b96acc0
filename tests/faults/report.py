"""The table of what was tried."""

from __future__ import annotations

from typing import NamedTuple


class Failure(NamedTuple):
    """A point at which a promise did not hold."""

    point: str
    """Which the command line takes, to try it again."""
    why: str


class Row(NamedTuple):
    """One kind of fault."""

    kind: str
    tried: int
    failures: tuple[Failure, ...]
    seconds: float
    note: str = ""
    """Why nothing was tried, or what the kind could not do here."""


def table(rows: list[Row]) -> str:
    """Return the rows as text."""
    lines = [f"{'kind of fault':24}{'points':>8}{'failures':>10}{'seconds':>9}"]
    for row in rows:
        note = f"  {row.note}" if row.note else ""
        counts = f"{row.tried:>8,}{len(row.failures):>10}{row.seconds:>9.0f}"
        lines.append(f"{row.kind:24}{counts}{note}")
    total = sum(row.tried for row in rows), sum(len(row.failures) for row in rows)
    lines.append(f"{'all':24}{total[0]:>8,}{total[1]:>10}")
    return "\n".join(lines)


def failures(rows: list[Row], most: int = 20) -> str:
    """Return each failure with the command that tries it again."""
    found = [failure for row in rows for failure in row.failures]
    lines = [f"python -m tests.faults {f.point}\n    {f.why[:600]}" for f in found[:most]]
    if len(found) > most:
        lines.append(f"… and {len(found) - most} more")
    return "\n".join(lines)
