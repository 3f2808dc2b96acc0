"""The report as one HTML file that opens without a network.

The template escapes whatever it puts in; what the script reads is JSON in which nothing ends the
element that holds it, and the script shows it as text. The policy in the head allows this style
and this script by their hashes, and nothing else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from gitguard.model.text import one_line, percent, shorten, timestamp, visible
from gitguard.model.triggers import COMPACTION, COMPLETE, FAILURE, HALT, PHASE_CHANGE
from gitguard.model.value import Value
from gitguard.rendering import render_report, report_asset
from gitguard.review.markdown import SHORT
from gitguard.review.report import FIELDS, LIMITS, Report, ReportCheckpoint, TrackedItem, names_of
from gitguard.review.sections import (
    Line,
    sections_of,
    source_of,
    status_name,
    status_of,
    summary_of,
    unfolded,
)
from gitguard.state import roles
from gitguard.template_runtime import Markup

MOST_BYTES = 300_000
"""Of a page; of a longer one less of each list and text is shown."""
SIZES = ((2000, 600), (500, 300), (200, 200), (100, 160), (40, 120), (10, 80), (2, 40))
"""Items of each list and characters of each text, tried in this order."""
_GOAL = 200


class TimelineRow(Value):
    """A checkpoint of the timeline, or the folded ones between two that are shown."""

    checkpoint: ReportCheckpoint | None
    place: int = -1
    """Among those that are shown."""
    folded: str = ""
    """How many are folded, and which."""
    names: tuple[str, ...] = ()


def page(report: Report, web: str, *, templates: str = "") -> str:
    """Return the report as HTML; the arguments are those of `markdown`."""
    text = ""
    for items, characters in SIZES:
        text = _HtmlPage(report, web, items, characters).text(templates)
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES:
            break
    return text


class _HtmlPage:
    """One rendering, with so much of each list and text."""

    def __init__(self, report: Report, web: str, items: int, characters: int) -> None:
        self._report = report
        self._web = web
        self._items, self._characters = items, characters
        self._shown = shown_of(report)
        self._anchors = {report.stops[n].id: f"c{n}" for n in self._shown}

    def text(self, templates: str) -> str:
        """Fill the template."""
        report = self._report
        newest = report.newest
        style = report_asset("report.css", templates)
        script = report_asset("report.js", templates)
        data = page_data(report, self._shown, self._items, self._characters)
        return render_report(
            "report.html.j2",
            templates,
            policy=policy(style, script),
            style=Markup(style),
            script=Markup(script),
            data=Markup(embedded(data)),
            goal=shorten(one_line(newest.goal), _GOAL) if newest and newest.goal else "No goal",
            status=status_of(report),
            summary=summary_of(report),
            commits=self._range(),
            unfolded=[self._cut_line(line) for line in unfolded(report)],
            chart=chart_of(report),
            width=WIDTH,
            height=HEIGHT,
            anchors=self._anchors,
            web=self._web,
            moment=_moment,
            pressure=_pressure,
            steps=self._steps(),
            count=len(report.stops),
            parts=[
                part.replace(anchor=f"s{number}", lines=tuple(map(self._cut_line, part.lines)))
                for number, section in enumerate(sections_of(report))
                for part in [section.fitting(self._items)]
            ],
            first=_moment(report.stops[0]) if report.stops else "",
            last=_moment(report.stops[-1]) if report.stops else "",
        )

    def _range(self) -> str:
        base, head = self._report.base[:SHORT], self._report.head[:SHORT]
        return f"{base}..{head}" if base else head

    def _cut_line(self, line: Line) -> Line:
        label, text, detail = map(self._cut, (line.label, line.text, line.detail))
        return line.replace(label=label, text=text, detail=detail)

    def _steps(self) -> list[TimelineRow]:
        stops = self._report.stops
        steps: list[TimelineRow] = []
        before = -1
        for number, place in enumerate(self._shown):
            if place - before > 1:
                folded = stops[before + 1 : place]
                span = f"{len(folded)} more, {folded[0].name} to {folded[-1].name}"
                names = tuple(f"{s.name} {s.trigger} {_pressure(s)}".rstrip() for s in folded)
                steps.append(TimelineRow(None, folded=span, names=names))
            stop = stops[place]
            shown = stop.replace(next_action=self._cut(stop.next_action))
            steps.append(TimelineRow(shown, number))
            before = place
        return steps

    def _cut(self, text: str) -> str:
        return shorten(one_line(text), self._characters)


def _moment(stop: ReportCheckpoint) -> str:
    return timestamp(stop.at)[:16].replace("T", " ")


def _pressure(stop: ReportCheckpoint) -> str:
    return "" if stop.pressure is None else percent(stop.pressure)


def policy(style: str, script: str) -> str:
    """Return the policy that allows one style and one script, and no request at all."""
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def embedded(data: dict[str, Any]) -> str:
    """Return data as JSON that may stand in a script element: no mark in it ends the element."""
    text = visible(json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


# What the script compares


def page_data(report: Report, shown: Sequence[int], items: int, characters: int) -> dict[str, Any]:
    """Return the checkpoints at these places, and in which of them each item was.

    Of each list at most so many items are taken, the newest, and of each text so many characters.
    """
    entries = [
        (entry, spans)
        for field in FIELDS
        for entry in report.of(field)[-items:]
        if (spans := _among(shown, entry))
    ]
    at = {commit.id: place for place, commit in enumerate(report.commits)}
    paths: dict[str, int] = {}
    return {
        "fields": [field.replace("_", " ") for field in FIELDS],
        "stops": [_stop(report.stops[n], at, report.base, characters) for n in shown],
        "items": [
            [FIELDS.index(entry.field), _words(entry, characters), source_of(entry), spans]
            for entry, spans in entries
        ],
        "commits": [
            [
                commit.id[:SHORT],
                shorten(one_line(commit.subject), characters),
                [
                    [paths.setdefault(path.path, len(paths)), path.added, path.removed]
                    for path in commit.paths[:items]
                ],
            ]
            for commit in report.commits
        ],
        "paths": [shorten(one_line(path), characters) for path in paths],
    }


def _among(shown: Sequence[int], entry: TrackedItem) -> list[list[int]]:
    """Return which of the shown checkpoints had an item, from and to."""
    spans = ((bisect_left(shown, a), bisect_right(shown, b) - 1) for a, b in entry.spans)
    return [[first, last] for first, last in spans if first <= last]


def _words(entry: TrackedItem, characters: int) -> str:
    label = f"{entry.label}: " if entry.label else ""
    detail = f" – {entry.detail}" if entry.detail else ""
    return shorten(one_line(f"{label}{entry.text}{detail}"), characters)


def _stop(stop: ReportCheckpoint, at: dict[str, int], base: str, characters: int) -> list[Any]:
    """Return a checkpoint, with how many commits of the range were made by then."""
    commits = at[stop.code] + 1 if stop.code in at else (0 if stop.code == base else -1)
    pressure = "unknown" if stop.pressure is None else percent(stop.pressure)
    texts = (stop.goal, status_name(stop), stop.phase, stop.next_action)
    stated = [shorten(one_line(text), characters) for text in texts]
    return [stop.name, commits, [*stated, percent(stop.confidence), pressure]]


# The picture of a report: how full the context was, and what of the checkpoints is shown


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
