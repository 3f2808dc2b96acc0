"""The hand-off file's text: the state as a checkpoint holds it, and what the workspace says of it.

Sections and their sources are those of the Context Guard hook and of the context-management skill.
A last line marks the file as ours and unchanged, because agents write such files by hand as well.
"""

from __future__ import annotations

import re

from gitguard.model.codec import sha256
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.rendering import render
from gitguard.state import roles
from gitguard.state.items import AGENT_KINDS, EVENT, FROM_ELSEWHERE, texts
from gitguard.state.thread import labelled, lasting_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.snapshot import Work
    from gitguard.state.task import TaskState

_ITEM_LIMIT = 300
_MOST_ITEMS = 20
"""Of each list, the newest; with the limit of an item the file stays small enough to read back."""
_FAILURE_LINES, _FAILURE_LIMIT = 3, 200
_GOAL = re.compile(r"^[ \t>*_#-]*goal[ \t*_]*:[ \t*_]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(r"^[ \t]*\d+[.)][ \t]+\S.*$", re.MULTILINE)
_IN_PROGRESS = re.compile(r"\[in.progress\]", re.IGNORECASE)
_LIST_MARK = re.compile(r"^[\s>*+-]*(?:\d+[.)])?\s*(?:\[.\])?[\s:*_-]*")
_ENTRY_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_MARK = re.compile(rb"<!-- gitguard hand-off session=([a-z0-9._-]+) sha256=([0-9a-f]{64}) -->\n?\Z")


class WorkspaceFacts(Value):
    """What the workspace's own files say, in words; each as it is when there is no such file."""

    plan: str = "none"
    last_failure: str = "none"
    self_model: str = ""
    """How old the agent's description of itself is; empty where a workspace has none."""
    env_model: str = ""
    """The same for its description of the environment."""
    changed: tuple[str, ...] = ()
    """Files whose content changed, to be shown."""
    changed_besides: int = 0
    """How many more there are."""
    unseen: str = ""
    """What could not be compared."""
    daily_log: str = ""


def render_handoff(
    state: TaskState,
    work: Work,
    around: WorkspaceFacts,
    redactor: Redactor,
    *,
    session: str,
    now: str,
) -> bytes:
    """Return the file for a session's name at a time in ISO 8601, without secrets."""
    text = render(
        "handoff.md.j2",
        written=f"{now[:10]} {now[11:19]} UTC",
        task=_labelled(_task(state, work, around)),
        key_state=_labelled(_key_state(state, work)),
        decisions=_decisions(state),
        around=around,
        changed=[_short(name) for name in around.changed],
        noted_files=_noted_files(state, around),
        next_steps=_labelled(_next_steps(state, around)),
        assumptions=_short("; ".join(reversed(_texts_of(state, roles.ASSUMPTION)))) or "none",
    )
    body = redactor.text(text.rstrip("\n")).encode("utf-8", "replace") + b"\n"
    return body + f"<!-- gitguard hand-off session={session} sha256={sha256(body)} -->\n".encode()


def written_for(data: bytes) -> str:
    """Return the name of the session that a file is marked with, empty without our mark."""
    mark = _MARK.search(data)
    return mark[1].decode() if mark else ""


def is_as_written(data: bytes) -> bool:
    """Say whether a file is ours and nobody has changed it."""
    mark = _MARK.search(data)
    return mark is not None and sha256(data[: mark.start()]) == mark[2].decode()


def without_mark(data: bytes) -> bytes:
    """Return a file without the line that marks it as ours."""
    return _MARK.sub(b"", data)


# What the workspace's files say


def summarise_plan(text: str) -> str:
    """Return a plan's goal and the step in progress, or else the number of its steps."""
    goal = _GOAL.search(text)
    steps = _STEP.findall(text)
    current = next((line for line in text.splitlines() if _IN_PROGRESS.search(line)), "")
    parts = [f"Goal: {goal[1]}"] if goal else []
    if current:
        parts.append("In progress: " + _LIST_MARK.sub("", _IN_PROGRESS.sub("", current)))
    elif steps:
        parts.append(f"{len(steps)} step{'s' * (len(steps) > 1)}")
    return _short("; ".join(parts)) or "the plan file shows neither goal nor steps"


def summarise_failure(log: str) -> str:
    """Return the first lines of a log's last entry; empty when it has none."""
    entries = [entry.strip() for entry in _ENTRY_END.split(log) if entry.strip()]
    if not entries:
        return ""
    return shorten(one_line(" ".join(entries[-1].splitlines()[:_FAILURE_LINES])), _FAILURE_LIMIT)


def newest_failure(state: TaskState) -> str:
    """Return the newest failure that the state knows; empty when it knows none."""
    if not state.failed_attempts:
        return ""
    newest = state.failed_attempts[-1]
    return shorten(one_line(f"{newest.what}: {newest.error}"), _FAILURE_LIMIT)


def age_text(seconds: float) -> str:
    """Say how long ago something was; a time to come is unknown."""
    minutes = round(seconds / 60)
    if minutes < 0:
        return "unknown"
    return f"{minutes}m ago" if minutes < 60 else f"{round(minutes / 60)}h ago"


# What the state says


def _task(state: TaskState, work: Work, around: WorkspaceFacts) -> list[tuple[str, str]]:
    goal, topic = state.stated_goal.strip(), work.topic.strip()
    is_elsewhere = state.goal_from is not None and state.goal_from.elsewhere
    fields = [
        (f"Goal ({FROM_ELSEWHERE})" if is_elsewhere else "Goal", goal),
        ("Last request", topic if topic != goal else ""),
    ]
    if not goal and not topic:
        fields = [("Plan", around.plan)] if around.plan != "none" else [("Goal", "unknown")]
    return [*fields, ("Phase", state.current_phase), ("Status", state.status)]


def _key_state(state: TaskState, work: Work) -> list[tuple[str, str]]:
    last = state.last_action
    running = f"{work.last_tool}: {work.last_tool_params}" if work.interrupted else ""
    open_items = dict.fromkeys((*_texts_of(state, roles.OPEN_WORK), *work.open_items))
    return [
        ("Last successful action", last.summary if last else ""),
        ("Interrupted", running),
        *_noted(state, roles.OBSTACLE, roles.LIMIT),
        *_newest("The user said", tuple(map(labelled, lasting_words(state.exchanges)))),
        *_newest("What happened", _exchanges_of(state, EVENT)),
        ("Last answer", _last_answer(state)),
        *_newest("Check", tuple(f"{c.command}: {c.outcome}" for c in state.commands)),
        *_newest("Open", tuple(open_items)),
        *_newest("Done", _texts_of(state, roles.DONE_WORK)),
        *_noted(state, roles.REMARK),
    ]


def _noted(state: TaskState, *field_roles: str) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for field in state.noted(*field_roles):
        lines += _newest(field.noun.capitalize(), texts(field.items_in(state)))
    return lines


def _texts_of(state: TaskState, role: str) -> tuple[str, ...]:
    return tuple(text for field in state.noted(role) for text in texts(field.items_in(state)))


def _exchanges_of(state: TaskState, *kinds: str) -> tuple[str, ...]:
    return tuple(labelled(e) for e in state.exchanges if e.kind in kinds)


def _last_answer(state: TaskState) -> str:
    answers = [e for e in state.exchanges if e.kind in AGENT_KINDS]
    return labelled(answers[-1]) if answers else ""


def _newest(label: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    lines = [(label, text) for text in reversed(texts[-_MOST_ITEMS:])]
    older = len(texts) - len(lines)
    return lines + ([(label, f"… and {older:,} older")] if older else [])


def _decisions(state: TaskState) -> list[str]:
    """Return the decisions newest first, each with its own number, because the end may be cut."""
    numbered = list(enumerate(state.decisions, start=1))
    lines = []
    for number, decision in reversed(numbered[-_MOST_ITEMS:]):
        why = f" — because {_short(decision.why)}" if decision.why.strip() else ""
        lines.append(f"{number}. {_short(decision.what)}{why}")
    besides = len(numbered) - len(lines)
    return lines + ([f"… and {besides:,} older"] if besides else [])


def _noted_files(state: TaskState, around: WorkspaceFacts) -> str:
    """Name the task's files that are not shown as changed, newest first."""
    paths = [a.path for a in reversed(state.artifacts) if a.path not in around.changed]
    shown = ", ".join(f"`{_short(path)}`" for path in paths[:_MOST_ITEMS])
    besides = len(paths) - _MOST_ITEMS
    return f"{shown} and {besides:,} more" if besides > 0 else shown


def _next_steps(state: TaskState, around: WorkspaceFacts) -> list[tuple[str, str]]:
    action = state.stated_next_action
    instead = "none noted; continue from the plan or the last user request"
    return [("Next", action.strip() or instead), ("Today's log", around.daily_log)]


def _labelled(fields: Iterable[tuple[str, str]]) -> list[str]:
    # With a label before it, no text of a state can stand where a heading would.
    return [f"- {label}: {_short(text)}" for label, text in fields if text.strip()]


def _short(text: str) -> str:
    return shorten(one_line(text), _ITEM_LIMIT)
