"""What the journal's entries add up to in the state.

Mechanical entries are bounded, the oldest dropped first and counted; what the agent noted is never
dropped. A crash can take what was folded and not durable of a journal, and then the same entries
are folded again: every list is built such that this adds nothing.
"""

from __future__ import annotations

from gitguard.model import thread
from gitguard.model.text import seconds, shorten
from gitguard.model.transcript import AGENT, USER
from gitguard.store.session import entries as journal
from gitguard.store.session.snapshot import IDLE, IN_PROGRESS, WAITING, Work
from gitguard.store.session.task import (
    Artifact,
    Decision,
    Failure,
    LastAction,
    merge_artifacts,
    next_decision,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    from gitguard.model.events import PlanItem
    from gitguard.model.thread import Exchange
    from gitguard.store.session.entries import Entry
    from gitguard.store.session.task import TaskState

    T = TypeVar("T")

MOST_DECISIONS = 50
MOST_TOOLS = 100
MOST_FILES = 100
MOST_OPEN_ITEMS = 50
_MOST_FAILURES = 50
_ROOM = 32 * 1024
"""The bytes of mechanical entries in one list, so that no state grows too large by itself."""
_AROUND = 16
"""Bytes around a text: its name, quotes and a comma."""
_LARGEST_ITEM = _ROOM // 2
"""What is larger is not kept, so that it does not drive everything else out."""
_ESCAPED = 10
"""The most bytes that a character takes which JSON or YAML writes as an escape."""
_TOPIC_LIMIT = 100
_IDLE_AFTER = 30 * 60
"""Seconds without an event after which nobody is at work."""
_CALLED = (journal.ENDED, journal.FAILED)
_ROLES = {journal.PROMPT: USER, journal.TURN_ENDED: AGENT}


def fold(state: TaskState, entries: tuple[Entry, ...], now: str) -> TaskState:
    """Add what the entries say to the state; the same state comes back if they say nothing new."""
    ended = tuple(entry for entry in entries if entry.event == journal.ENDED)
    lists: dict[str, tuple[tuple[Any, ...], int]] = {
        "tools_used": (_tools(state, entries), MOST_TOOLS),
        "files_read": (_files_read(state, ended), MOST_FILES),
        "artifacts": (merge_artifacts(state.artifacts, _written(ended)), MOST_FILES),
        "failed_attempts": (_failures(state, entries), _MOST_FAILURES),
        "decisions": (_decisions(state, entries), MOST_DECISIONS),
        "plan": (_plan(state, ended), MOST_OPEN_ITEMS),
    }
    kept = {name: bounded(items, most) for name, (items, most) in lists.items()}
    without = {name: len(items) - len(kept[name]) for name, (items, _) in lists.items()}
    dropped = {name: state.dropped.get(name, 0) + count for name, count in without.items()}
    changed = state.replace(
        **kept,
        exchanges=_exchanges(state, entries),
        last_action=_last_action(state, ended),
        dropped={name: count for name, count in dropped.items() if count},
    )
    return state if changed == state else changed.replace(updated_at=now)


def bounded(items: tuple[T, ...], most: int) -> tuple[T, ...]:
    """Drop the oldest mechanical entries above the bound; what the agent noted stays."""
    if len(items) <= most and _fits_anyway(items):
        return items
    room, kept = _ROOM, []
    for item in reversed(items):
        if not _is_mechanical(item):
            kept.append(item)
        elif (size := _size(item)) <= _LARGEST_ITEM:
            most -= 1
            room -= size
            kept += [item] * (most >= 0 and room >= 0)
    return tuple(reversed(kept))


def _is_mechanical(item: object) -> bool:
    return bool(getattr(item, "mechanical", True))


def _fits_anyway(items: tuple[Any, ...]) -> bool:
    """Say whether items cannot be too large even if each character were escaped."""
    if not all(type(item) is str for item in items):
        return False
    return (_ESCAPED * len("".join(items))) + _AROUND * len(items) <= _ROOM


def _size(item: Any) -> int:
    """Return about how many bytes an item takes; writing it out would cost a checkpoint dearly."""
    texts = [item] if isinstance(item, str) else map(item.__getattribute__, item.kinds)
    return sum(_written_size(text) + _AROUND for text in texts if isinstance(text, str))


def _written_size(text: str) -> int:
    size = len(text.encode()) + text.count('"') + text.count("\\")
    return size if text.isprintable() else size + _ESCAPED * sum(not c.isprintable() for c in text)


def _newest_last(known: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    texts = dict.fromkeys(known)
    for text in more:
        texts.pop(text, None)
        texts[text] = None
    return tuple(texts)


def _tools(state: TaskState, entries: tuple[Entry, ...]) -> tuple[str, ...]:
    called = (entry.tool for entry in entries if entry.event in _CALLED and entry.tool)
    return _newest_last(state.tools_used, called)


def _files_read(state: TaskState, ended: tuple[Entry, ...]) -> tuple[str, ...]:
    return _newest_last(state.files_read, (path for entry in ended for path in entry.read))


def _written(ended: tuple[Entry, ...]) -> tuple[Artifact, ...]:
    return tuple(Artifact(path, mechanical=True) for entry in ended for path in entry.written)


def _failures(state: TaskState, entries: tuple[Entry, ...]) -> tuple[Failure, ...]:
    failed = tuple(_failure(entry) for entry in entries if entry.event == journal.FAILED)
    newest = bounded(failed, _MOST_FAILURES)
    fresh = tuple(failure for failure in newest if failure not in state.failed_attempts)
    # Where some are known, the older ones were dropped and counted when these were folded first.
    failures = (*state.failed_attempts, *(failed if len(fresh) == len(newest) else fresh))
    mended = _mended(entries)
    return tuple(f for f in failures if not f.mechanical or f.when > mended.get(f.what, ""))


def _mended(entries: tuple[Entry, ...]) -> dict[str, str]:
    """Return when each call last ended well, if it did not fail again after that."""
    mended: dict[str, str] = {}
    for entry in entries:
        if entry.event == journal.ENDED:
            mended[_attempt(entry)] = entry.at
        elif entry.event == journal.FAILED:
            mended.pop(_attempt(entry), None)
    return mended


def _failure(entry: Entry) -> Failure:
    return Failure(_attempt(entry), entry.error or "failed", entry.at, mechanical=True)


def _attempt(entry: Entry) -> str:
    return shorten(f"{entry.tool}: {entry.summary}" if entry.summary else entry.tool, 400)


def _decisions(state: TaskState, entries: tuple[Entry, ...]) -> tuple[Decision, ...]:
    known = {(decision.what, decision.when) for decision in state.decisions}
    short = [entry for entry in entries if entry.event == journal.PROMPT and entry.settles]
    newest = short[-MOST_DECISIONS:]
    fresh = [entry for entry in newest if (_said(entry), entry.at) not in known]
    fresh = short if len(fresh) == len(newest) else fresh
    number = next_decision(state)
    return (
        *state.decisions,
        *(
            Decision(f"d{number + i}", _said(entry), entry.settles, entry.at, mechanical=True)
            for i, entry in enumerate(fresh)
        ),
    )


def _said(entry: Entry) -> str:
    return f"the user answered: {entry.summary}"


def _plan(state: TaskState, ended: tuple[Entry, ...]) -> tuple[PlanItem, ...]:
    """Follow the host's plan; what is done goes first when there is no room."""
    items = {item.id: item for item in state.plan}
    for entry in ended:
        if entry.whole_plan:
            items = {}
        for change in entry.plan:
            known = items.get(change.id)
            if change.gone:
                items.pop(change.id, None)
            elif change.text or known:
                text = change.text or (known.text if known else "")
                items[change.id] = change.replace(text=text)
    open_items = [item for item in items.values() if not item.done]
    if len(items) > MOST_OPEN_ITEMS:
        return tuple(open_items)
    return tuple(items.values())


def _last_action(state: TaskState, ended: tuple[Entry, ...]) -> LastAction | None:
    noted = state.last_action is not None and not state.last_action.mechanical
    if not ended or noted:
        return state.last_action
    newest = ended[-1]
    summary = shorten(f"{newest.tool}: {newest.summary}" if newest.summary else newest.tool, 200)
    return LastAction(summary, "success", newest.at, mechanical=True)


def _exchanges(state: TaskState, entries: tuple[Entry, ...]) -> tuple[Exchange, ...]:
    said = [_exchange(entry) for entry in entries if entry.event in _ROLES]
    exchanges = state.exchanges
    # What is folded once more ends with, or goes on behind, the newest that is known.
    again = [i for i, one in enumerate(said) if exchanges and _is_same(one, exchanges[-1])]
    for one in said[again[-1] + 1 :] if again else said:
        exchanges = thread.add(exchanges, one)
    return exchanges


def _exchange(entry: Entry) -> Exchange:
    said = thread.exchange_of(_ROLES[entry.event], entry.summary, entry.at)
    return said.replace(pivot=entry.pivot, long=said.long or entry.long)


def _is_same(one: Exchange, other: Exchange) -> bool:
    return (one.role, one.gist, one.when) == (other.role, other.gist, other.when)


def work_of(
    entries: tuple[Entry, ...], state: TaskState, now: float, *, compacting: bool = False
) -> Work:
    """Return what the snapshot says of the work in progress.

    compacting says that a compaction begins, which splits the turn that is going on.
    """
    main = [entry for entry in entries if not entry.sub_agent]
    running = journal.open_calls(main)
    in_turn = bool(main) and main[-1].event not in (journal.TURN_ENDED, journal.INTERRUPTED)
    called = running or [entry for entry in main if entry.event in _CALLED]
    last = called[-1] if called else None
    user = [exchange.gist for exchange in state.exchanges if exchange.role == USER]
    return Work(
        topic=user[-1][:_TOPIC_LIMIT] if user else "",
        status=_status(state, main, now, in_turn=in_turn),
        interrupted=bool(running) or (compacting and in_turn),
        last_tool=last.tool if last else "",
        last_tool_params=last.summary if last else "",
        files_read=state.files_read,
        files_modified=tuple(a.path for a in state.artifacts if a.kind == "file"),
        tools_used=state.tools_used,
        open_items=(*state.open_issues, *(item.text for item in state.plan if not item.done)),
        thread_summary=thread.summary(state.exchanges),
    )


def _status(state: TaskState, main: list[Entry], now: float, *, in_turn: bool) -> str:
    """Guess what the agent is doing, unless it said that it waits or is done."""
    if state.status == "waiting_for_user":
        return WAITING
    if state.status == "complete" or not main or now - seconds(main[-1].at) > _IDLE_AFTER:
        return IDLE
    return IN_PROGRESS if in_turn else WAITING
