"""The report as Markdown for the body of a pull request, or for a comment that is kept current.

What a state or a file name says is text here and never markup: `inert` is the one way in. It also
keeps a host of code from making a mention, a reference or a link of it.
"""

from __future__ import annotations

import re

from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.rendering import render_report
from gitguard.review.report import Report, ReportCheckpoint
from gitguard.review.sections import Line, Section, sections_of, status_of, summary_of, unfolded
from gitguard.store.session.workspace import is_session_name

MOST = 65_000
"""Characters of the largest report; hosts of code take 65,536."""
USUAL = 8_192
"""Bytes within which a report stays as long as that leaves enough of each list."""
_BREAK = "&#8203;"
"""A break of no width: what stands before and after it is no mention and no reference."""
_LIVE = re.compile(
    r"(?P<after>@|[#!%~](?=\w)|:(?=//)|:(?=[\w+-]+:)"
    r"|(?<=[A-Za-z])-(?=\d)|(?<=GHSA)-)"
    r"|(?P<before>(?<=www)\.)"
    r"|(?P<commit>(?<![0-9A-Za-z])[0-9a-f]{7,}(?![0-9A-Za-z]))",
    re.IGNORECASE,
)
"""What hosts of code make links of: users, issues, addresses, emoji, keys of trackers, commits."""
_PIECE = 6
"""Digits that are too few for a commit."""
_MARKUP = re.compile(r"[\\`*\[\]~<>&|$]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "|": "&#124;", "$": "&#36;"}
_FIRST = re.compile(r"[-#+=:/]|\d+(?=[.)])")
"""What begins a block, or a command to a bot, where it is the first of a line."""
SHORT = 8
"""Digits by which a commit is named."""
_CUT = "\n\nThe rest is left out: the report would be too long.\n"


class Limit(Value):
    """How much of a report is shown."""

    items: int
    """Of each list."""
    characters: int
    """Of each text."""


LIMITS = (Limit(400, 400), Limit(60, 240), Limit(24, 160), Limit(16, 120))
"""Tried in this order for the usual size; the last serves even if it is longer."""
SMALLEST = (Limit(8, 100), Limit(3, 80), Limit(1, 40), Limit(0, 40))
"""Tried where the largest size would be exceeded."""


def inert(text: str) -> str:
    """Return text that Markdown shows as it is, in one line, with nothing in it alive."""
    parts: list[str] = []
    start = 0
    text = one_line(text)
    for live in _LIVE.finditer(text):
        parts.append(_as_text(text, start, live.start()))
        parts.append(_dead(text, live))
        start = live.end()
    shown = "".join([*parts, _as_text(text, start, len(text))])
    first = _FIRST.match(shown)
    if first is None:
        return shown
    if shown[0] == "/":
        return f"&#47;{shown[1:]}"
    at = 0 if first.end() == 1 and not shown[0].isdigit() else first.end()
    return f"{shown[:at]}\\{shown[at:]}"


def _as_text(text: str, start: int, end: int) -> str:
    """Return a part of a text with all markup escaped; its neighbours say what is markup."""
    parts: list[str] = []
    for mark in _MARKUP.finditer(text, start, end):
        parts += (text[start : mark.start()], _ENTITIES.get(mark[0], f"\\{mark[0]}"))
        start = mark.end()
    return "".join([*parts, text[start:end]])


def _dead(text: str, live: re.Match[str]) -> str:
    if live["commit"]:
        digits = live["commit"]
        return _BREAK.join(digits[i : i + _PIECE] for i in range(0, len(digits), _PIECE))
    shown = _as_text(text, live.start(), live.end())
    return f"{_BREAK}{shown}" if live["before"] else f"{shown}{_BREAK}"


def markdown(report: Report, web: str, *, templates: str = "") -> str:
    """Return the report as Markdown.

    web is the address of the pages that show its commits, empty for none; templates is the user's
    own folder, empty without one.
    """
    for limit in LIMITS:
        page = _MarkdownPage(web, limit).text(report, templates)
        if len(page.encode()) <= USUAL:
            return page
    for limit in (LIMITS[-1], *SMALLEST):
        page = _MarkdownPage(web, limit).text(report, templates)
        if len(page) <= MOST:
            return page
    return f"{page[: MOST - len(_CUT)]}{_CUT}"  # only a template of the user's own is so long


def _example(report: Report) -> str:
    """Return how to open the newest checkpoint here, empty where this machine would refuse to."""
    newest = report.newest
    foreign = {verdict.label for verdict in report.verdicts if not verdict.is_ours}
    if newest is None or newest.label in foreign or not is_session_name(newest.session):
        return ""
    writer = f" --writer {newest.writer}" if newest.writer else ""
    return f"--session {newest.session} show {newest.name}{writer}"


class _MarkdownPage:
    """One rendering, with so much of each list."""

    def __init__(self, web: str, limit: Limit) -> None:
        self._web = web
        self._limit = limit
        self._commits: dict[str, str] = {}
        self._sessions: set[str] = set()

    def text(self, report: Report, templates: str) -> str:
        """Fill the template."""
        self._sessions = {stop.label for stop in report.stops}
        sections = [self._written(section) for section in sections_of(report)]
        goal = report.newest.goal if report.newest else ""
        return render_report(
            "report.md.j2",
            templates,
            goal=self._inert(goal) or "No goal was noted",
            status=inert(status_of(report)),
            summary=inert(summary_of(report)),
            unfolded=[self._line(line) for line in unfolded(report)],
            sections=[section for section in sections if section.lines or section.lead],
            commits=[f"[{name}]: {address}" for name, address in sorted(self._commits.items())],
            example=_example(report),
            range=f"{report.base[:SHORT]}..{report.head[:SHORT]}".removeprefix(".."),
        )

    def _written(self, section: Section) -> Section:
        """Return as much of a section as fits, as inert texts."""
        most = self._limit.items if section.is_main else self._limit.items // 2
        shown = section.fitting(most)
        return shown.replace(lead=inert(shown.lead), lines=tuple(map(self._line, shown.lines)))

    def _line(self, line: Line) -> str:
        label = f"**{self._inert(line.label)}** " if line.label else ""
        text = f"{label}{self._inert(line.text)}"
        if line.detail:
            joiner = f" {line.joiner}" if line.joiner else ""
            text = f"{text} –{joiner} {self._inert(line.detail)}"
        where = [line.source] if line.source else []
        if line.at is not None:
            where.append(self._place(line.at, names_commit=line.names_commit))
        if line.until is not None:
            where.append(f"{line.state} at {self._place(line.until, names_commit=True)}")
        elif line.state:
            where.append(line.state)
        return f"{text} ({', '.join(where)})" if where else text

    def _place(self, stop: ReportCheckpoint, *, names_commit: bool) -> str:
        commit = (stop.commit or stop.code)[:SHORT] if names_commit else ""
        several = f"{self._inert(stop.label)} " if len(self._sessions) > 1 else ""
        name = f"{several}{inert(stop.name)}"
        if not commit:
            return name
        if not self._web:
            return f"{name} `{commit}`"
        self._commits[commit] = f"{self._web}/commit/{commit}"
        return f"{name} [{commit}]"

    def _inert(self, text: str) -> str:
        return inert(shorten(one_line(text), self._limit.characters))
