"""The resume block: what an agent needs after a compaction, a crash or in a new conversation.

It is data about the agent's own work, fenced and cut to a budget. What is cut is counted, and the
command that shows it is named.
"""

from __future__ import annotations

import re

from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.rendering import render
from gitguard.sessions.resume.filling import BlockSection, Filled, Item, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.snapshot import Work
    from gitguard.store.session.task import TaskState

LEAST_TOKENS = 300
"""The smallest block: below it the required sections would not all find a few words' room."""
_CHARACTERS_PER_TOKEN = 4
_FENCE = "gitguard-resume"
_KEY_LIMIT = 60
_NOTE_LIMIT = 240
_NOT_IN_ATTRIBUTES = str.maketrans("", "", '"<>')
_IN_DATA = re.compile(re.escape(_FENCE), re.IGNORECASE)


class Origin(Value):
    """Which checkpoint a block hands back, and what a reader should know about it."""

    session: str
    checkpoint: str
    commit: str
    notes: tuple[str, ...] = ()
    changes: str = ""
    """What changed since the checkpoint, in one line."""


def is_due(host_session: HostSession, head: str) -> bool:
    """Say whether a conversation lacks this epoch's block, or another writer moved the head."""
    delivery = host_session.delivery
    return delivery is None or delivery.epoch != host_session.epoch or host_session.head != head


def build_resume(state: TaskState, work: Work, origin: Origin, *, max_tokens: int) -> str:
    """Return the block, at most max_tokens of four characters each.

    Fewer than `LEAST_TOKENS` count as these: a required section is never dropped.
    """
    budget = max(max_tokens, LEAST_TOKENS) * _CHARACTERS_PER_TOKEN
    fixed = _render((), origin)
    sections = (*_about(origin), *sections_of(state, work))
    return _render(fill(sections, budget - len(fixed)), origin)


def sections_of(state: TaskState, work: Work) -> tuple[BlockSection, ...]:
    """Return what there is to show of a state and the work around it, what is required first."""
    return (*_required(state, work), *_optional(state, work))


def _render(filled: tuple[Filled, ...], origin: Origin) -> str:
    # Keys and branches are named by people and programs outside, and anything may stand in them.
    session = shorten(_safe(origin.session).translate(_NOT_IN_ATTRIBUTES), _KEY_LIMIT)
    return render(
        "resume.md.j2",
        fence=_FENCE,
        session=session,
        origin=origin,
        sections=[section for section in filled if section.texts],
        absent="; ".join(section.absence for section in filled if not section.texts),
    ).strip()


def _about(origin: Origin) -> tuple[BlockSection, ...]:
    notes = [shorten(one_line(note), _NOTE_LIMIT) for note in origin.notes]
    return (
        BlockSection("Notes", _noted(notes), 6),
        _field("Changed since the checkpoint", origin.changes, 4, is_derived=True),
    )


def _required(state: TaskState, work: Work) -> tuple[BlockSection, ...]:
    goal, is_prompt = _safe(state.stated_goal), "goal" in state.mechanical
    running = f"{work.last_tool}: {work.last_tool_params}" if work.interrupted else ""
    planned = [item for item in work.open_items if item not in state.open_issues]
    decisions = [
        (f"{d.what} — because {d.why}" if d.why else d.what, False)
        for d in state.decisions
        if not d.mechanical
    ]
    failures = [(f"{f.what}: {f.error}", f.mechanical) for f in state.failed_attempts]
    files = [
        (f"{a.path} — {a.description}" if a.description else a.path, a.mechanical)
        for a in state.artifacts
    ]
    return (
        _field(_marked("Goal", state, "goal"), goal or "(missing)", 10, is_derived=is_prompt),
        _state_field("Phase", state, "current_phase", 3),
        _state_field("Next action", state, "next_action", 10),
        _field("Interrupted", running, 5, is_derived=True),
        BlockSection("Blockers", _noted(reversed(state.blockers)), 8),
        BlockSection("Constraints", _noted(reversed(state.constraints)), 10),
        BlockSection("Invariants", _noted(reversed(state.invariants)), 10),
        BlockSection("Decisions", _entries(decisions), 20),
        BlockSection("Failed attempts", _entries(failures), 10),
        BlockSection("Open items", _noted(reversed(state.open_issues)), 8),
        BlockSection("Plan, next step first", _derived(planned), 6),
        BlockSection("Files", _entries(files), 8),
    )


def _optional(state: TaskState, work: Work) -> tuple[BlockSection, ...]:
    last = state.last_action
    is_new = work.topic.rstrip("…") not in one_line(state.next_action)
    outputs = [(f"{o.tool}: {o.summary}", o.mechanical) for o in state.tool_outputs]
    # Guessed from the shape of a conversation: what the agent decided and noted goes before it.
    answers = [(f"{d.what} — to: {d.why}", True) for d in state.decisions if d.mechanical]
    noted_paths = {artifact.path for artifact in state.artifacts}
    read = [path for path in reversed(work.files_read) if path not in noted_paths]
    sections = (
        _field(
            "Last successful action",
            last.summary if last else "",
            5,
            is_derived=last is not None and last.mechanical,
        ),
        _field("Last user request", work.topic if is_new else "", 5, is_derived=True),
        _field("Conversation", work.thread_summary, 8, is_derived=True),
        BlockSection("Short answers from the user", _entries(answers), 6),
        BlockSection("Completed steps", _noted(reversed(state.completed_steps)), 10),
        BlockSection("Assumptions to check", _noted(reversed(state.pending_assumptions)), 10),
        BlockSection("Tool outputs", _entries(outputs), 6),
        BlockSection("Learnings", _noted(reversed(state.learnings)), 10),
        BlockSection("Files read", _derived(read), 4),
        BlockSection("Tools used", _derived(reversed(work.tools_used)), 3),
    )
    return tuple(section.replace(is_required=False) for section in sections)


def _state_field(title: str, state: TaskState, name: str, share: int) -> BlockSection:
    text = _safe(getattr(state, name)) or "(missing)"
    is_derived = name in state.mechanical
    return _field(_marked(title, state, name), text, share, is_derived=is_derived)


def _marked(title: str, state: TaskState, name: str) -> str:
    """Mark a field that gitguard filled with what the user asked for, and no agent set."""
    return f"{title} (the user's prompt)" if name in state.mechanical else title


def _field(title: str, text: str, share: int, *, is_derived: bool = False) -> BlockSection:
    return BlockSection(title, _items((text, is_derived)), share, is_list=False)


def _noted(texts: Iterable[str]) -> tuple[Item, ...]:
    return _items(*((text, False) for text in texts))


def _derived(texts: Iterable[str]) -> tuple[Item, ...]:
    return _items(*((text, True) for text in texts))


def _entries(entries: list[tuple[str, bool]]) -> tuple[Item, ...]:
    """Return entries that came oldest first, each with whether it was derived."""
    return _items(*reversed(entries))


def _items(*entries: tuple[str, bool]) -> tuple[Item, ...]:
    safe = (Item(_safe(text), is_derived) for text, is_derived in entries)
    return tuple(item for item in safe if item.text)


def _safe(text: str) -> str:
    # The fence's own name never stands inside it, so that data cannot close it.
    return _IN_DATA.sub("gitguard_resume", one_line(text))
