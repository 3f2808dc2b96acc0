"""The scorecard: every attacker against every edit, as a table."""

from __future__ import annotations

from itertools import groupby
from textwrap import fill

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
    """Return the nine edits and the table in Markdown."""
    adapters = ATTACKERS + WITHOUT_ANCHOR + PLAIN_GIT
    edits = [edit for edit, _, _ in verdicts(adapters[0])]
    lines = [*fill(f"The edits: {', '.join(edits)}.", 100).splitlines(), ""]
    lines += ["| | rejected | accepted |", "| --- | --- | --- |"]
    for adapter in adapters:
        answers = [verdict for _, verdict, _ in verdicts(adapter)]
        assert {"REJECTED", "ACCEPTED"} >= set(answers), adapter().name
        numbers = {answer: _numbers(answers, answer) for answer in ("REJECTED", "ACCEPTED")}
        lines.append(f"| {adapter().name} | {numbers['REJECTED']} | {numbers['ACCEPTED']} |")
    return "\n".join(lines) + "\n"


def _numbers(answers: list[str], answer: str) -> str:
    """Return which edits got an answer, as `T1–T8`; the suite counts them from T1."""
    edits = [number for number, got in enumerate(answers, 1) if got == answer]
    stretches = []
    for _, stretch in groupby(enumerate(edits), lambda item: item[1] - item[0]):
        first, *others = (number for _, number in stretch)
        stretches.append(f"T{first}–T{others[-1]}" if others else f"T{first}")
    return ", ".join(stretches) or "none"
