"""Asks the agent for notes of what hooks cannot see, and tells the person what was handed back.

Decisions over a conversation's record and the state; nothing is written here. What is asked, and
how often, is in references/design/capture.md, "Asking for notes".
"""

from __future__ import annotations

from gitguard.model.text import counted, one_line, seconds, shorten
from gitguard.model.transcript import AGENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.state.items import Item, Origin
    from gitguard.state.task import TaskState
    from gitguard.store.session.host_session import HostSession

_SAVE = (
    "Save what only you know: `gitguard note --decision TEXT --why TEXT`, `--failure`, `--next`.]"
)
FIRST_LINE = f"[gitguard: hooks save commands and files. {_SAVE}"
"""At most 40 tokens: it is read once in every conversation."""
_SEEN_LISTS = ("exchanges", "commands", "plan")
_GOAL = 80
"""Characters of a goal that a person is told."""


def first_line(*, saves: bool) -> str:
    """Return the line that asks for notes at a conversation's first prompt.

    saves is whether checkpoints are taken, without which hooks do not save files.
    """
    return FIRST_LINE if saves else f"[gitguard: {_SAVE}"


def ask_after_work(
    record: HostSession, state: TaskState, conversation: str, *, calls: int, most: int, now: str
) -> tuple[HostSession, str]:
    """Return the record and one line if more than most calls ended since the last note or line.

    calls is how many of the conversation's have ended, now the time of the state's notes. An agent
    that took no note when it was asked is not asked again, nor one that a warning asked.
    """
    # Calls are counted anew once those of others fill what is read of the journal.
    since = calls - record.asked_calls if calls >= record.asked_calls else calls
    if since < most:
        return record, ""
    has_noted = newest_note(state, conversation) > record.asked_at
    is_to_ask = not (has_noted or record.asked_notes or record.warned)
    line = (
        f"[gitguard: {counted(since, 'tool call')} without a note. Note decisions, dead ends and "
        "the next step: `gitguard note …`]"
    )
    is_asked = is_to_ask or (record.asked_notes and not has_noted)
    record = record.replace(asked_calls=calls, asked_at=now, asked_notes=is_asked)
    return record, line if is_to_ask else ""


def newest_note(state: TaskState, conversation: str) -> str:
    """Return when the agent noted something last in a conversation, empty if it never did."""
    times = (
        origin.when
        for origin in _origins(state)
        if origin is not None and origin.by == AGENT and origin.conversation == conversation
    )
    return max(times, default="")


def _origins(state: TaskState) -> Iterator[Origin | None]:
    yield state.goal_from
    yield state.next_from
    yield from (item.origin for item in _noted_items(state))


def _noted_items(state: TaskState) -> Iterator[Item]:
    from gitguard.state import roles

    for field in state.noted(*roles.ITEMS):
        yield from field.items_in(state)


def restored_line(state: TaskState, now: str) -> str:
    """Return what a person reads after a hand-back: which task, how much of it, and how old."""
    from gitguard.sessions.resume.reader import duration

    goal = shorten(one_line(state.stated_goal), _GOAL)
    task = f"task '{goal}'" if goal else "a task without a goal"
    items = len([*_noted_items(state)]) + sum(len(getattr(state, name)) for name in _SEEN_LISTS)
    age = duration(seconds(now) - seconds(state.updated_at))
    return f"gitguard: restored {task}, {counted(items, 'item')}, {age} old"
