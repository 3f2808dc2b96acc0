"""What a report shows and in which order, for every form it is written in."""

from __future__ import annotations

from gitguard.model.text import counted, percent
from gitguard.model.transcript import AGENT, USER
from gitguard.model.value import Value
from gitguard.review.report import NOTED, OUTSIDE, SHELL, TOOLS
from gitguard.state.items import (
    CONSTRAINT,
    CORRECTION,
    FAILED,
    FROM_ELSEWHERE,
    HOOK,
    PASSED,
    RAN,
    REQUEST,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.review.report import Entry, Report, Stop

_UNFOLDED = 3
"""Lines of a kind that are shown without unfolding anything."""
_HEAVY = 9
_PATHS = 4
"""Paths in a line, of files that the agent changed."""
SOURCES = {USER: "the user's words", AGENT: "the agent's claim", HOOK: "a hook saw it"}
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
    NOTED: "Noted by the agent, seen by no hook",
    OUTSIDE: "Outside the session, or seen by no hook",
}


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
    at: Stop | None = None
    """Where it appeared."""
    state: str = ""
    """What became of it, in our words, such as `removed`."""
    until: Stop | None = None
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


def status_name(stop: Stop) -> str:
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
    parts += [
        counted(len(stops), name)
        for name, stops in (("compaction", report.compactions), ("halt", report.halts))
        if stops
    ]
    if report.overrides:
        parts.append(counted(len(report.overrides), "override"))
    if report.redactions:
        parts.append(counted(len(report.redactions), "redaction"))
    return ", ".join(parts)


def unfolded(report: Report) -> tuple[Line, ...]:
    """Return what a reviewer should see first, at most a screen of it."""
    groups = (
        ("Not ours", _foreign(report)),
        ("Removed", _removed(report)),
        ("Never checked", _entries(report, report.unchecked)),
        ("Blocked by", _entries(report, report.blockers)),
        ("Failed check", _entries(report, report.failing, "with")),
        ("Changed outside", _outside(report)),
        ("Halted", _halts(report)),
        ("Redacted", _redactions(report)),
        ("Not sound", [Line(v.text) for v in report.verdicts if not v.is_sound]),
    )
    return tuple(line for title, lines in groups for line in _first(title, list(lines)))


def _foreign(report: Report) -> list[Line]:
    text = "this machine did not write the history"
    return [Line(text, label=verdict.session) for verdict in report.verdicts if not verdict.is_ours]


def _first(title: str, lines: list[Line]) -> Iterator[Line]:
    for line in lines[:_UNFOLDED]:
        # Where it comes from is told below, beside all others of its kind.
        words = f"{line.label}: {line.text}" if line.label else line.text
        yield line.replace(label=title, text=words, source="", names_commit=False)
    if len(lines) > _UNFOLDED:
        yield Line(f"{len(lines) - _UNFOLDED} more below", label=title)


def sections_of(report: Report) -> tuple[Section, ...]:
    """Return the report's sections in their order; those with nothing to say have no lines."""
    decisions = _entries(report, report.decisions, "because", names_commit=True)
    given_up = _entries(report, report.given_up, names_commit=True)
    lists = (
        ("Constraints and invariants, removed ones first", _limits(report), False),
        ("Decisions", decisions, True),
        ("Tried and given up", given_up, True),
        ("Failed first, fixed later", _entries(report, report.overcome), False),
        ("Assumptions nobody checked", _entries(report, report.unchecked), True),
        ("Blockers and open issues", _open(report), True),
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


def common_source(lines: Iterable[Line]) -> str:
    """Return the source that all lines of a section have, empty where they differ."""
    sources = {line.source for line in lines}
    return sources.pop() if len(sources) == 1 else ""


def _entries(
    report: Report, entries: Iterable[Entry], joiner: str = "", *, names_commit: bool = False
) -> Iterator[Line]:
    for entry in entries:
        yield _line(report, entry, joiner, names_commit=names_commit)


def _line(
    report: Report,
    entry: Entry,
    joiner: str = "",
    *,
    label: str = "",
    names_commit: bool = False,
) -> Line:
    is_decision = entry.field == "decisions"
    return Line(
        entry.text,
        label or (entry.label if is_decision else ""),
        entry.detail,
        joiner if entry.detail else "",
        source_of(entry),
        report.stops[entry.first],
        "was there before" if entry.inherited else "",
        names_commit=names_commit,
        weight=(HOOK, AGENT, USER).index(entry.by),
    )


def source_of(entry: Entry) -> str:
    """Say who an item comes from, in our words."""
    source = SOURCES.get(entry.by, entry.by)
    return f"{source}, {FROM_ELSEWHERE}" if entry.elsewhere else source


def _limits(report: Report) -> Iterator[Line]:
    for line in _removed(report):
        yield line.replace(label=f"removed {line.label}")
    for entry in report.limits:
        yield _line(report, entry, label="invariant" if entry.field == "invariants" else "")


def _open(report: Report) -> Iterator[Line]:
    for entry in (*report.blockers, *report.issues):
        yield _line(report, entry, label="blocker" if entry.field == "blockers" else "issue")


def _removed(report: Report) -> Iterator[Line]:
    for entry in report.removed_limits:
        if entry.removed is not None:
            state = "gone with its task" if entry.with_task else "removed"
            label = entry.field.removesuffix("s")
            line = _line(report, entry, label=label, names_commit=True)
            yield line.replace(state=state, until=report.stops[entry.removed], weight=_HEAVY)


def _user_words(report: Report) -> Iterator[Line]:
    kinds = (CONSTRAINT, CORRECTION, REQUEST)
    spoken = [e for e in report.of("exchanges") if e.by == USER and not e.inherited]
    for kind in kinds:
        for entry in spoken:
            if entry.label == kind:
                line = _line(report, entry, "in answer to", label=kind)
                yield line.replace(weight=len(kinds) - kinds.index(kind))


def _files(report: Report) -> Iterator[Line]:
    for author in (OUTSIDE, SHELL, NOTED, TOOLS):
        paths = [file.path for file in report.files if file.author == author]
        size = 1 if author in (OUTSIDE, SHELL) else _PATHS
        for start in range(0, len(paths), size):
            text = ", ".join(paths[start : start + size])
            yield Line(text, label=_AUTHORS[author], weight=1 if size == 1 else 0)


def _outside(report: Report) -> Iterator[Line]:
    # Without hooks nothing tells outside from inside.
    if any(entry.by == HOOK or entry.field == "exchanges" for entry in report.entries):
        yield from (Line(file.path) for file in report.files if file.author == OUTSIDE)


def _context(report: Report) -> Iterator[Line]:
    peak = report.peak
    if peak is not None and peak.pressure is not None:
        yield Line(f"{percent(peak.pressure)} of the context", label="Highest pressure", at=peak)
    yield from (line.replace(label="Halt") for line in _halts(report))
    for override in report.overrides:
        text = f"{override.at}, at {percent(override.pressure)}"
        yield Line(text, label="Override", detail=override.reason, joiner="because")
    for stop in report.compactions:
        yield Line(_fullness(stop), label="Compaction", at=stop)


def _halts(report: Report) -> Iterator[Line]:
    for stop in report.halts:
        yield Line(_fullness(stop), at=stop)


def _fullness(stop: Stop) -> str:
    return "pressure unknown" if stop.pressure is None else f"at {percent(stop.pressure)}"


def _redactions(report: Report) -> Iterator[Line]:
    for redaction in report.redactions:
        yield Line(redaction.rule, detail=redaction.where, joiner="in")


def _checks(report: Report, checks: Iterable[Entry]) -> Iterator[Line]:
    for entry in checks:
        line = _line(report, entry, "with", label=entry.label)
        yield line.replace(weight=2 if entry.label == FAILED else 1)


def _claims(report: Report) -> Section:
    """Return what the agent says of the work beside the checks that hooks saw."""
    checks = [entry for entry in report.of("commands") if not entry.inherited]
    checks = sorted(checks, key=lambda entry: (FAILED, RAN, PASSED).index(entry.label))
    steps = [e for e in report.of("completed_steps") if not e.inherited]
    failed = sum(entry.label == FAILED for entry in checks)
    lead = ""
    if report.newest is not None:
        # A state begins with full confidence, which nobody has claimed.
        share = report.newest.confidence
        confidence = f", confidence {percent(share)}" if share < 1 else ""
        lead = (
            f"The agent claims: {status_name(report.newest).lower()}{confidence}, "
            f"{counted(len(steps), 'completed step')}. "
            f"Hooks saw {counted(len(checks), 'check')}, {failed} failed when last run."
        )
    claims = (_line(report, entry, label="step").replace(weight=0) for entry in steps)
    return Section("Claims and what hooks saw", (*_checks(report, checks), *claims), lead)


def _verification(report: Report) -> Iterator[Line]:
    for verdict in report.verdicts:
        owner = "written by this machine" if verdict.is_ours else "NOT written by this machine"
        if verdict.is_ours and not verdict.is_sound:
            owner = "compared with what this machine wrote"
        yield Line(verdict.text, label=verdict.session, detail=owner, joiner="history", weight=2)
        yield from (Line(note, label="Note") for note in verdict.notes)
    if report.unlinked:
        number = counted(len(report.unlinked), "commit")
        yield Line(f"{number} of {len(report.commits)} tied to no checkpoint", label="Note")
    yield from (Line(note, label="Note") for note in report.notes)
