"""The picture of a report: how full the context was, and what of the checkpoints is shown."""

from __future__ import annotations

from collections.abc import Sequence

from gitguard.model.text import percent
from gitguard.model.triggers import COMPACTION, COMPLETE, FAILURE, HALT, PHASE_CHANGE
from gitguard.model.value import Value
from gitguard.review.report import LIMITS, Report, ReportCheckpoint, names_of
from gitguard.state import roles

WIDTH, HEIGHT = 1000, 100
"""The picture's own units; a page stretches it to its width."""
MOST_SHOWN = 60
"""Checkpoints that are shown one by one."""
_TRIGGERS = (HALT, COMPACTION, COMPLETE, FAILURE, PHASE_CHANGE)
_FIELDS = names_of(roles.LIMIT, roles.DECISION, roles.OBSTACLE, roles.ASSUMPTION)


class Mark(Value):
    """A vertical line in the picture."""

    x: float
    kind: str
    """compaction or halt."""
    title: str


class Chart(Value):
    """Pressure over the checkpoints."""

    paths: tuple[str, ...]
    """One for each stretch in which the pressure is known."""
    marks: tuple[Mark, ...]
    description: str
    """What a reader hears who does not see it."""


def chart_of(report: Report) -> Chart:
    """Draw the pressure of a report's checkpoints, in their order."""
    stops = report.stops
    marks = tuple(
        Mark(_x(place, len(stops)), stop.trigger, f"{stop.name}: {stop.trigger}{_at(stop)}")
        for place, stop in enumerate(stops)
        if stop.trigger in (COMPACTION, HALT)
    )
    peak = report.peak
    highest = f"{percent(peak.pressure or 0)} at {peak.name}" if peak else "unknown"
    description = (
        f"Context pressure at {len(stops)} checkpoints. Highest: {highest}. "
        f"{len(report.triggered(COMPACTION))} compactions, {len(report.triggered(HALT))} halts."
    )
    return Chart(tuple(_paths(stops)), marks, description)


def _at(stop: ReportCheckpoint) -> str:
    return "" if stop.pressure is None else f" at {percent(stop.pressure)}"


def _x(place: int, count: int) -> float:
    return round(place * WIDTH / max(count - 1, 1), 1)


def _paths(stops: Sequence[ReportCheckpoint]) -> list[str]:
    paths: list[list[str]] = [[]]
    for place, stop in enumerate(stops):
        if stop.pressure is None:
            paths.append([])
            continue
        y = round(HEIGHT * (1 - min(stop.pressure, 1)), 1)
        command = "L" if paths[-1] else "M"
        paths[-1].append(f"{command}{_x(place, len(stops)):g} {y:g}")
    # A stretch of one checkpoint is a short line, for a point has no length to draw.
    return [" ".join(path) if len(path) > 1 else f"{path[0]} h2" for path in paths if path]


def shown_of(report: Report, most: int = MOST_SHOWN) -> tuple[int, ...]:
    """Choose the checkpoints that are shown one by one, by their places.

    The ends, then those that were taken for something, then those at which something of weight
    appeared or went away, then others evenly.
    """
    stops = report.stops
    if len(stops) <= most:
        return tuple(range(len(stops)))
    chosen = dict.fromkeys((0, len(stops) - 1))
    for trigger in _TRIGGERS[:3]:
        chosen |= dict.fromkeys(n for n, stop in enumerate(stops) if stop.trigger == trigger)
    chosen |= dict.fromkeys(item.removed for item in report.of(*LIMITS) if item.removed)
    chosen |= dict.fromkeys(item.first for item in report.of(*_FIELDS, is_new=True))
    for trigger in _TRIGGERS[3:]:
        chosen |= dict.fromkeys(n for n, stop in enumerate(stops) if stop.trigger == trigger)
    step = len(stops) / most
    chosen |= dict.fromkeys(int(n * step) for n in range(most))
    chosen |= dict.fromkeys(range(len(stops)))
    return tuple(sorted(list(chosen)[:most]))
