"""The resume block: what an agent needs after a compaction, a crash or in a new conversation.

It is data about the agent's own work, fenced and cut to a budget. What is cut is counted, and the
command that shows it is named.
"""

from __future__ import annotations

import re

from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.rendering import render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.host_session import HostSession
    from gitguard.model.snapshot import Work
    from gitguard.model.task import TaskState

_CHARACTERS_PER_TOKEN = 4
_FIELD_LIMIT = 300
_ITEM_LIMIT = 240
_COUNT_LENGTH = len("- (+999 more)\n")
_FENCE = "gitguard-resume"
_KEY_LIMIT = 120
_NOT_IN_ATTRIBUTES = str.maketrans("", "", '"<>')
_IN_DATA = re.compile(re.escape(_FENCE), re.IGNORECASE)


class Section(Value):
    """A titled list, with the number of items that had no room."""

    title: str
    items: tuple[str, ...]
    left_out: int = 0


class Origin(Value):
    """Which checkpoint a block hands back, and what a reader should know about it."""

    session: str
    checkpoint: str
    commit: str
    notes: tuple[str, ...] = ()


def is_due(host_session: HostSession, head: str) -> bool:
    """Say whether a conversation lacks this epoch's block, or another writer moved the head."""
    delivery = host_session.delivery
    return delivery is None or delivery.epoch != host_session.epoch or host_session.head != head


def build_resume(state: TaskState, work: Work, origin: Origin, *, max_tokens: int) -> str:
    """Return the block, at most max_tokens of four characters each."""
    origin = _safe_origin(origin)
    budget = max_tokens * _CHARACTERS_PER_TOKEN
    fields = _fields(state, work)
    sections = _sections(state)
    empty = _render(fields, [s.replace(items=(), left_out=0) for s in sections], origin)
    chosen = _choose(sections, budget - len(empty))
    return _render(fields, chosen, origin)


def _safe_origin(origin: Origin) -> Origin:
    # Keys and branches are named by people and programs outside, and anything may stand in them.
    session = _safe(origin.session, _KEY_LIMIT).translate(_NOT_IN_ATTRIBUTES)
    return origin.replace(
        session=session, notes=tuple(_safe(note, _FIELD_LIMIT) for note in origin.notes)
    )


def _render(fields: list[tuple[str, str]], sections: list[Section], origin: Origin) -> str:
    shown = [section for section in sections if section.items or section.left_out]
    return render(
        "resume.md.j2", fence=_FENCE, fields=fields, sections=shown, origin=origin
    ).strip()


def _fields(state: TaskState, work: Work) -> list[tuple[str, str]]:
    last = state.last_action
    fields = [
        ("Goal", state.goal),
        ("Phase", state.current_phase),
        ("Next action", state.next_action),
        ("Last successful action", last.summary if last else ""),
    ]
    if work.interrupted:
        fields.append(("Began and did not end", f"{work.last_tool}: {work.last_tool_params}"))
    return [(name, _safe(value, _FIELD_LIMIT) or "(missing)") for name, value in fields]


def _sections(state: TaskState) -> list[Section]:
    decisions = [
        f"{d.what} — because {d.why}" if d.why else d.what for d in reversed(state.decisions)
    ]
    failures = [f"{f.what}: {f.error}" for f in reversed(state.failed_attempts)]
    outputs = [f"{o.tool}: {o.summary}" for o in reversed(state.tool_outputs)]
    listed: list[tuple[str, list[str]]] = [
        ("Constraints", list(state.constraints)),
        ("Invariants", list(state.invariants)),
        ("Blockers", list(state.blockers)),
        ("Open issues", list(state.open_issues)),
        ("Decisions, newest first", decisions),
        ("Failed attempts, newest first", failures),
        ("Files", [a.path for a in reversed(state.artifacts)]),
        ("Completed steps, newest first", list(reversed(state.completed_steps))),
        ("Assumptions to check", list(state.pending_assumptions)),
        ("Tool outputs, newest first", outputs),
        ("Learnings, newest first", list(reversed(state.learnings))),
    ]
    return [
        Section(title, tuple(_safe(text, _ITEM_LIMIT) for text in texts)) for title, texts in listed
    ]


def _choose(sections: list[Section], room: int) -> list[Section]:
    """Give every section its first item before any gets its second, until the room is used."""
    kept: dict[str, int] = {section.title: 0 for section in sections}
    room -= sum(len(s.title) + 4 + _COUNT_LENGTH for s in sections if s.items)
    longest = max((len(section.items) for section in sections), default=0)
    for place in range(longest):
        for section in sections:
            if place >= len(section.items) or kept[section.title] < place:
                continue
            cost = len(section.items[place]) + len("- \n")
            if cost <= room:
                room -= cost
                kept[section.title] += 1
    return [
        section.replace(
            items=section.items[: kept[section.title]],
            left_out=len(section.items) - kept[section.title],
        )
        for section in sections
    ]


def _safe(text: str, limit: int) -> str:
    # The fence's own name never stands inside it, so that data cannot close it.
    return _IN_DATA.sub("gitguard_resume", shorten(one_line(text), limit))
