"""Which conversations are at work beside one, and what they are at."""

from __future__ import annotations

from gitguard.model.text import late_pattern, one_line, seconds, shorten
from gitguard.model.value import Value
from gitguard.sessions.stopped_calls import is_turn_stopped
from gitguard.state.task import goal_of
from gitguard.store.session.at_work import BUSY, at_work_beside
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.state.task import TaskState
    from gitguard.store.session.at_work import AtWork
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import SessionStore

_GOAL, _CALL = 120, 80
_PREPARATION = late_pattern(
    r"^(\w+: )?(?:(?:cd |export \w+=)(?:\"[^\"`(]*\"|'[^']*'|[^\s\"'`();|&]+) && )+"
)
"""How many agents begin each command: it tells nothing, and takes the room of what follows."""


class Beside(Value):
    """The conversations that are, or may be, at work beside one."""

    at_work: Mapping[str, AtWork] = {}
    """By the host's ids of them."""
    calls: tuple[str, ...] = ()
    """Their calls that began and of which no end was seen, such as `Bash: make`."""

    @property
    def busy(self) -> tuple[str, ...]:
        """Those of which the process shows that they are at work."""
        return tuple(key for key, work in self.at_work.items() if work.standing == BUSY)


ALONE = Beside()


def conversations_beside(
    store: SessionStore,
    own: str,
    records: Mapping[str, HostSession] | None = None,
    *,
    process: str = "",
) -> Beside:
    """Return who is at work beside a conversation, or a person where own is empty.

    Without records, those of the session's record count. process is the one that own comes from.
    """
    if records is None:
        records = read_record(store.workspace, store.session).host_sessions
    at_work = at_work_beside(
        records,
        own,
        store.clock(),
        is_stopped=is_turn_stopped,
        last_sign=lambda key: _last_sign(store, key),
        process=process,
    )
    calls = store.journal.open_calls() if at_work else ()
    named = (f"{call.tool}: {call.summary}" for call in calls if call.host_session in at_work)
    return Beside(
        at_work, tuple(shorten(without_preparation(one_line(call)), _CALL) for call in named)
    )


def _last_sign(store: SessionStore, key: str) -> float:
    entries = store.journal.read("", 0).entries
    return max((seconds(entry.at) for entry in entries if entry.host_session == key), default=0)


def line_about(beside: Beside, state: TaskState) -> str:
    """Return the one line for a conversation that begins while others are at work."""
    goals = [shorten(one_line(goal_of(state, key)), _GOAL) for key in beside.busy]
    about = "; ".join(f"“{goal}”" for goal in goals if goal)
    at = f" at {about}" if about else ""
    running = f". It runs `{beside.calls[0]}`" if beside.calls else ""
    return (
        f"[gitguard: another conversation works in this checkout{at}{running}. A request here "
        "begins a task of its own.]"
    )


def without_preparation(call: str) -> str:
    """Return a call without the changes of folder and environment that it begins with."""
    return _PREPARATION.sub(r"\1", call)
