"""What a report shows and in which order, for every form it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitguard.model.text import counted, percent
from gitguard.model.transcript import AGENT, USER
from gitguard.model.triggers import COMPACTION, HALT
from gitguard.model.value import Value
from gitguard.review.report import (
    LIMITS,
    NOTED,
    OUTSIDE,
    SHELL,
    TOOLS,
    UNKNOWN,
    Report,
    ReportCheckpoint,
    TrackedItem,
    Verdict,
    names_of,
)
from gitguard.state import roles
from gitguard.state.items import (
    CONSTRAINT,
    CORRECTION,
    FAILED,
    HOOK,
    PASSED,
    PERSON,
    RAN,
    REQUEST,
    source_label,
)
from gitguard.state.task import TaskState

_UNFOLDED = 3
"""Lines of a kind that are shown without unfolding anything."""
_UNTIED_HERE = "No agent's work found here"
"""Of files, where checkpoints alone could tell, which do not name what no commit held by then."""
_REMOVED = "removed"
_HEAVY = 9
_PATHS = 4
"""Paths in a line, of files that the agent changed."""
SOURCES = {
    USER: "the user's words",
    AGENT: "the agent's claim",
    PERSON: "noted in a terminal",
    HOOK: "a hook saw it",
}
"""How each source is called."""
_STATUSES = {
    "in_progress": "In progress",
    "waiting_for_user": "Waiting for the user",
    "blocked": "Blocked",
    "complete": "Complete",
}
_AUTHORS = {
    TOOLS: "Agent's edit tools (hook saw)",
    SHELL: "Shell commands (hook saw)",
    NOTED: "In the session's work, seen by no hook",
    OUTSIDE: "Outside the agent's work, as far as content shows",
    UNKNOWN: "The agent wrote here; whose the committed content is, is not known",
}
_NAMES = {field.name: field.option for field in TaskState.noted(*roles.SENTENCES)}
"""What one item of each field is called."""


class Line(Value):
    """One line of a section."""

    text: str
    """May be anybody's words."""
    label: str = ""
    """What stands before it; may be anybody's words, too."""
    detail: str = ""
    """What stands behind it; may be anybody's words, too."""
    joiner: str = ""
    """How the detail is introduced, in our words."""
    source: str = ""
    """Who it comes from, in our words."""
    at: ReportCheckpoint | None = None
    """Where it appeared."""
    state: str = ""
    """What became of it, in our words, such as `removed`."""
    until: ReportCheckpoint | None = None
    """Where that happened."""
    names_commit: bool = False
    """Whether a reviewer has to see which commit it led to."""
    weight: int = 0
    """Of lines that have no room, the lightest go first."""


class Section(Value):
    """A part of the report with its heading."""

    title: str
    lines: tuple[Line, ...]
    lead: str = ""
    """A sentence of ours before the lines."""
    is_main: bool = False
    """Whether it keeps twice as many lines where room is short."""
    source: str = ""
    """Who all lines come from, empty where they differ."""
    count: int = 0
    """How many lines there are with those that are left out."""
    left_out: int = 0
    anchor: str = ""
    """Where a page has it."""

    def fitting(self, most: int) -> Section:
        """Return it with so many lines: the weightiest in their order, and of these the latest.

        A source that all lines have is told once.
        """
        lines = self.lines
        places = sorted(range(len(lines)), key=lambda place: (lines[place].weight, place))
        sources = {line.source for line in lines}
        source = sources.pop() if len(sources) == 1 else ""
        shown = [lines[place] for place in sorted(places[max(len(lines) - most, 0) :])]
        return self.replace(
            lines=tuple(line.replace(source="") if source else line for line in shown),
            source=source,
            count=len(lines),
            left_out=len(lines) - len(shown),
        )


def status_name(stop: ReportCheckpoint) -> str:
    """Return how the work stood at a checkpoint, in words."""
    return _STATUSES.get(stop.status, stop.status)


def status_of(report: Report) -> str:
    """Say how the work stands, and who says so."""
    newest = report.newest
    if newest is None:
        return "No checkpoint is tied to these commits"
    status = status_name(newest)
    return f"{status}, by the agent's claim" if newest.status == "complete" else status


def summary_of(report: Report) -> str:
    """Return one sentence on the whole, in our words."""
    parts = [counted(len(report.commits), "commit"), counted(len(report.stops), "checkpoint")]
    peak = report.peak
    if peak is not None and peak.pressure is not None:
        parts.append(f"context at most {percent(peak.pressure)} full")
    for trigger in (COMPACTION, HALT):
        stops = report.triggered(trigger)
        parts += [counted(len(stops), trigger)] if stops else []
    if report.overrides:
        parts.append(counted(len(report.overrides), "override"))
    if report.redactions:
        parts.append(counted(len(report.redactions), "redaction"))
    return ", ".join(parts)


def unfolded(report: Report) -> tuple[Line, ...]:
    """Return what a reviewer should see first, at most a screen of it."""
    foreign = [v for v in report.verdicts if not v.is_ours]
    failing = [item for item in report.of("commands", stands=True) if item.label == FAILED]
    # Without hooks nothing tells outside from inside.
    has_hooks = any(item.by == HOOK or item.field == "exchanges" for item in report.entries)
    outside = [file.path for file in report.files if has_hooks and file.author == OUTSIDE]
    groups: tuple[tuple[str, Iterable[Line]], ...] = (
        ("Not verified", [Line(_owner(verdict), label=verdict.label) for verdict in foreign]),
        ("Removed", (line for line in _gone(report) if line.state == _REMOVED)),
        ("Never checked", _lines(report, report.of(*names_of(roles.ASSUMPTION), stands=True))),
        ("Blocked by", _lines(report, report.of(*names_of(roles.OBSTACLE), stands=True))),
        ("Failed check", _lines(report, failing, "with")),
        (_UNTIED_HERE if foreign else "Changed outside", map(Line, outside)),
        ("Halted", _taken_for(report, HALT)),
        ("Redacted", _redactions(report)),
        ("Not sound", [Line(v.text) for v in report.verdicts if not v.is_sound]),
    )
    shown: list[Line] = []
    for title, lines in groups:
        of_group = list(lines)
        for line in of_group[:_UNFOLDED]:
            # Where it comes from is told below, beside all others of its kind.
            words = f"{line.label}: {line.text}" if line.label else line.text
            shown.append(line.replace(label=title, text=words, source="", names_commit=False))
        if len(of_group) > _UNFOLDED:
            shown.append(Line(f"{len(of_group) - _UNFOLDED} more below", label=title))
    return tuple(shown)


def sections_of(report: Report) -> tuple[Section, ...]:
    """Return the report's sections in their order; those with nothing to say have no lines."""
    failures = report.of(*names_of(roles.FAILURE), is_new=True)
    unmended, overcome = (
        [f for f in failures if bool(f.label) is fixed] for fixed in (False, True)
    )
    decisions = _lines(report, report.of("decisions", is_new=True), "because", names_commit=True)
    unsolved = (
        *report.of(*names_of(roles.OBSTACLE), stands=True),
        *report.of(*names_of(roles.OPEN_WORK), stands=True),
    )
    limits = (
        *(
            line.replace(label=f"removed {line.label}") if line.state == _REMOVED else line
            for line in _gone(report)
        ),
        *_lines(report, report.of(*LIMITS, stands=True), labels={**_NAMES, "constraints": ""}),
    )
    unchecked = report.of(*names_of(roles.ASSUMPTION), stands=True)
    lists: tuple[tuple[str, Iterable[Line], bool], ...] = (
        ("Constraints and invariants, removed ones first", limits, False),
        ("Decisions", decisions, True),
        ("Failed, and not seen to succeed in its task", _failed(report, unmended), True),
        ("Failed first, fixed later", _lines(report, overcome), False),
        ("Assumptions nobody checked", _lines(report, unchecked), True),
        ("Blockers and open issues", _lines(report, unsolved, labels=_NAMES), True),
        *(
            (field.label, _lines(report, report.of(field.name, stands=True)), False)
            for field in TaskState.noted(roles.REMARK)
        ),
        ("What the user asked for and ruled out", _user_words(report), False),
        ("Files by who changed them", _files(report), False),
        ("Context pressure, compactions, halts, overrides", _context(report), False),
        ("Redactions", _redactions(report), True),
    )
    return (
        *(Section(title, tuple(lines), is_main=is_main) for title, lines, is_main in lists),
        _claims(report),
        Section("Verification", tuple(_verification(report))),
    )


def _lines(
    report: Report,
    items: Iterable[TrackedItem],
    joiner: str = "",
    *,
    labels: Mapping[str, str] = {},
    names_commit: bool = False,
) -> Iterator[Line]:
    """Yield a line for each item; labels say by field what stands before it."""
    for item in items:
        yield Line(
            text=item.text,
            label=item.label if item.field == "decisions" else labels.get(item.field, ""),
            detail=item.detail,
            joiner=joiner if item.detail else "",
            source=source_of(item),
            at=report.stops[item.first],
            state="was there before" if item.inherited else "",
            names_commit=names_commit,
            weight=(HOOK, AGENT, PERSON, USER).index(item.by),
        )


def _failed(report: Report, failures: Sequence[TrackedItem]) -> Iterator[Line]:
    """Yield what failed; of what stood open when its task ended, nothing was looked for since."""
    lines = _lines(report, failures, names_commit=True)
    for item, line in zip(failures, lines, strict=True):
        is_left = item.with_task and item.removed is not None
        until = report.stops[item.last + 1] if is_left else None
        yield line.replace(state="task ended", until=until) if is_left else line


def source_of(item: TrackedItem) -> str:
    """Say who an item comes from, in our words."""
    source = source_label(SOURCES.get(item.by, item.by), elsewhere=item.elsewhere)
    also = (f"writer {writer} says the same" for writer in item.also_by)
    return ", ".join((source, *also))


def _gone(report: Report) -> Iterator[Line]:
    """Yield the limits that hold no more: somebody removed them, or their task ended."""
    gone = [item for item in report.of(*LIMITS) if item.removed is not None]
    lines = _lines(report, gone, labels=_NAMES, names_commit=True)
    for item, line in zip(gone, lines, strict=True):
        until = report.stops[item.last + 1]
        if item.with_task:
            yield line.replace(state="task ended", until=until)
        else:
            yield line.replace(state=_REMOVED, until=until, weight=_HEAVY)


def _user_words(report: Report) -> Iterator[Line]:
    spoken = [item for item in report.of("exchanges", is_new=True) if item.by == USER]
    for weight, kind in ((3, CONSTRAINT), (2, CORRECTION), (1, REQUEST)):
        items = [item for item in spoken if item.label == kind]
        for line in _lines(report, items, "in answer to", labels={"exchanges": kind}):
            yield line.replace(weight=weight)


def _files(report: Report) -> Iterator[Line]:
    for author in (OUTSIDE, UNKNOWN, SHELL, NOTED, TOOLS):
        paths = [file.path for file in report.files if file.author == author]
        size = 1 if author in (OUTSIDE, SHELL) else _PATHS
        for start in range(0, len(paths), size):
            text = ", ".join(paths[start : start + size])
            yield Line(text, label=_AUTHORS[author], weight=1 if size == 1 else 0)


def _context(report: Report) -> Iterator[Line]:
    peak = report.peak
    if peak is not None and peak.pressure is not None:
        yield Line(f"{percent(peak.pressure)} of the context", label="Highest pressure", at=peak)
    yield from _taken_for(report, HALT, label="Halt")
    for override in report.overrides:
        text = f"{override.at}, at {percent(override.pressure)}"
        yield Line(text, label="Override", detail=override.reason, joiner="because")
    yield from _taken_for(report, COMPACTION, label="Compaction")


def _taken_for(report: Report, trigger: str, *, label: str = "") -> Iterator[Line]:
    for stop in report.triggered(trigger):
        share = "pressure unknown" if stop.pressure is None else f"at {percent(stop.pressure)}"
        yield Line(share, label=label, at=stop)


def _redactions(report: Report) -> Iterator[Line]:
    for redaction in report.redactions:
        yield Line(redaction.rule, detail=redaction.where, joiner="in")


def _claims(report: Report) -> Section:
    """Return what the agent says of the work beside the checks that hooks saw."""
    checks = list(report.of("commands", is_new=True))
    checks.sort(key=lambda item: (FAILED, RAN, PASSED).index(item.label))
    step_fields = names_of(roles.DONE_WORK)
    steps = report.of(*step_fields, is_new=True)
    failed = sum(item.label == FAILED for item in checks)
    seen = [
        line.replace(label=item.label, weight=2 if item.label == FAILED else 1)
        for item, line in zip(checks, _lines(report, checks, "with"), strict=True)
    ]
    claims = _lines(report, steps, labels=dict.fromkeys(step_fields, "step"))
    lead = ""
    if report.newest is not None:
        # A state begins with full confidence, which nobody has claimed.
        share = report.newest.confidence
        confidence = f", confidence {percent(share)}" if share < 1 else ""
        lead = (
            f"The agent claims: {status_name(report.newest).lower()}{confidence}, "
            f"{counted(len(steps), 'completed step')}. "
            f"{_checks_seen(len(checks), failed)}."
        )
    lines = (*seen, *(line.replace(weight=0) for line in claims))
    return Section("Claims and what hooks saw", lines, lead)


def _checks_seen(number: int, failed: int) -> str:
    if not number:
        return "No known check was run"
    return f"Hooks saw {counted(number, 'check')}, {failed} failed when last run"


def _owner(verdict: Verdict, *, joins: bool = False) -> str:
    """Say how a history was checked, and what that shows.

    joins is whether work of other machines was joined in it.
    """
    if verdict.writer:
        trust = "trusted here" if verdict.is_ours else "whom nobody here trusts"
        checked = "a lane that verifies as a chain" if verdict.is_sound else "a lane"
        return f"{checked}, by {verdict.author}, {trust}"
    if not verdict.is_known:
        return "this machine has no record of the history, so only its structure was checked"
    if not verdict.is_ours:
        return "this machine did not write the history"
    compared = "history compared with what this machine wrote"
    if not verdict.is_sound:
        return compared
    joined = ", with what it joined from other machines" if joins else ""
    return f"history written by this machine{joined}"


def _verification(report: Report) -> Iterator[Line]:
    for verdict in report.verdicts:
        joins = any(stop.joins and stop.label == verdict.label for stop in report.stops)
        owner = _owner(verdict, joins=joins)
        yield Line(verdict.text, label=verdict.label, detail=owner, weight=2)
        yield from (Line(note, label="Note") for note in verdict.notes)
    if report.unlinked:
        number = counted(len(report.unlinked), "commit")
        text = f"{number} of {len(report.commits)} in which no work of an agent is known"
        yield Line(text, label="Note")
    yield from (Line(note, label="Note") for note in report.notes)
