"""The report as one HTML file that opens without a network.

The template escapes whatever it puts in; what the script reads is JSON in which nothing ends the
element that holds it, and the script shows it as text. The policy in the head allows this style
and this script by their hashes, and nothing else.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256

from gitguard.model.text import one_line, percent, shorten, timestamp, visible
from gitguard.model.value import Value
from gitguard.rendering import render_report, report_asset
from gitguard.review.chart import HEIGHT, WIDTH, chart_of, shown_of
from gitguard.review.markdown import SHORT, heaviest
from gitguard.review.page_data import page_data
from gitguard.review.sections import (
    common_source,
    sections_of,
    status_of,
    summary_of,
    unfolded,
)
from gitguard.template_runtime import Markup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitguard.review.gathering import References
    from gitguard.review.report import Report, Stop
    from gitguard.review.sections import Line, Section

MOST_BYTES = 300_000
"""Of a page; of a longer one less of each list and text is shown."""
LIMITS = ((2000, 600), (500, 300), (200, 200), (100, 160), (40, 120), (10, 80), (2, 40))
"""Items of each list and characters of each text, tried in this order."""
_GOAL = 200


class Place(Value):
    """Where something happened: a checkpoint, and the commit that it led to."""

    name: str
    anchor: str
    """Of the checkpoint on the page, empty where it is folded."""
    commit: str = ""
    address: str = ""
    """Of the commit, empty where no browser can open it."""
    state: str = ""
    """What happened there, empty where it appeared."""


class Row(Value):
    """A line as the template takes it."""

    label: str
    text: str
    joiner: str
    detail: str
    source: str
    places: tuple[Place, ...]
    state: str


class Part(Value):
    """A section as the template takes it."""

    anchor: str
    title: str
    count: int
    source: str
    lead: str
    rows: tuple[Row, ...]
    left_out: int


class Step(Value):
    """A checkpoint of the timeline, or the folded ones between two that are shown."""

    anchor: str
    place: int
    """Among those that are shown."""
    name: str
    at: str
    trigger: str
    pressure: str
    next_action: str
    folded: tuple[str, ...] = ()


def page(report: Report, references: References, *, templates: str = "") -> str:
    """Return the report as HTML; templates is the user's own folder, empty without one."""
    text = ""
    for items, characters in LIMITS:
        text = _Page(report, references, items, characters).text(templates)
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES:
            break
    return text


class _Page:
    """One rendering, with so much of each list and text."""

    def __init__(self, report: Report, references: References, items: int, characters: int) -> None:
        self._report = report
        self._references = references
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
            unfolded=[self._row(line) for line in unfolded(report)],
            chart=chart_of(report),
            width=WIDTH,
            height=HEIGHT,
            steps=list(self._steps()),
            count=len(report.stops),
            parts=[self._part(n, section) for n, section in enumerate(sections_of(report))],
            first=_moment(report.stops[0]) if report.stops else "",
            last=_moment(report.stops[-1]) if report.stops else "",
        )

    def _range(self) -> str:
        base, head = self._report.base[:SHORT], self._report.head[:SHORT]
        return f"{base}..{head}" if base else head

    def _part(self, number: int, section: Section) -> Part:
        lines = heaviest(section.lines, self._items)
        source = common_source(section.lines)
        return Part(
            f"s{number}",
            section.title,
            len(section.lines),
            source,
            section.lead,
            tuple(self._row(line, without_source=bool(source)) for line in lines),
            len(section.lines) - len(lines),
        )

    def _row(self, line: Line, *, without_source: bool = False) -> Row:
        places = [self._place(line.at)] if line.at is not None else []
        if line.until is not None:
            places.append(self._place(line.until).replace(state=line.state))
        return Row(
            self._cut(line.label),
            self._cut(line.text),
            line.joiner,
            self._cut(line.detail),
            "" if without_source else line.source,
            tuple(places),
            "" if line.until is not None else line.state,
        )

    def _place(self, stop: Stop) -> Place:
        commit = (stop.commit or stop.code)[:SHORT]
        has_page = bool(commit) and self._references.has_commits
        address = f"{self._references.web}/commit/{commit}" if has_page else ""
        return Place(stop.name, self._anchors.get(stop.id, ""), commit, address)

    def _steps(self) -> Sequence[Step]:
        stops = self._report.stops
        steps: list[Step] = []
        before = -1
        for number, place in enumerate(self._shown):
            if place - before > 1:
                folded = stops[before + 1 : place]
                names = f"{len(folded)} more, {folded[0].name} to {folded[-1].name}"
                words = tuple(f"{s.name} {s.trigger} {_pressure(s)}".rstrip() for s in folded)
                steps.append(Step("", -1, names, "", "", "", "", words))
            stop = stops[place]
            anchor, action = f"c{place}", self._cut(stop.next_action)
            shown = (stop.name, _moment(stop), stop.trigger, _pressure(stop), action)
            steps.append(Step(anchor, number, *shown))
            before = place
        return steps

    def _cut(self, text: str) -> str:
        return shorten(one_line(text), self._characters)


def _moment(stop: Stop) -> str:
    return timestamp(stop.at)[:16].replace("T", " ")


def _pressure(stop: Stop) -> str:
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
