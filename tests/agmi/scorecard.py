"""The scorecard: every attacker against every edit, as a table."""

from __future__ import annotations

from agmi.check import run

from .adapters import ATTACKERS, PLAIN_GIT, WITHOUT_ANCHOR, GitguardAdapter

_KNOWN: dict[str, tuple[tuple[str, str, str], ...]] = {}
"""What was run already, by the adapter's name."""


def verdicts(adapter: type[GitguardAdapter]) -> tuple[tuple[str, str, str], ...]:
    """Return edit, verdict and detail of each of the suite's edits; they are run once."""
    if adapter.__name__ not in _KNOWN:
        rows = run(adapter())
        _KNOWN[adapter.__name__] = tuple((r["edit"], r["verdict"], r["detail"]) for r in rows)
    return _KNOWN[adapter.__name__]


def table() -> str:
    """Return the table in Markdown."""
    adapters = ATTACKERS + WITHOUT_ANCHOR + PLAIN_GIT
    edits = [edit for edit, _, _ in verdicts(adapters[0])]
    lines = ["| | " + " | ".join(edits) + " |", "| --- |" + " --- |" * len(edits)]
    for adapter in adapters:
        words = [verdict.lower() for _, verdict, _ in verdicts(adapter)]
        lines.append(f"| {adapter().name} | " + " | ".join(words) + " |")
    return "\n".join(lines) + "\n"
