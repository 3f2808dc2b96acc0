"""Lanes of several writers who note, change, remove and exchange, and a record of all of it."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, NamedTuple

from gitguard.model.codec import decode_json
from gitguard.model.text import timestamp
from gitguard.model.transcript import AGENT
from gitguard.state.changes import update_state
from gitguard.state.items import Note, Origin
from gitguard.state.joining import LaneState, advance, join_lanes, settle
from gitguard.state.task import following, new_task

NOW = "2026-01-31T09:30:00Z"
_NOW = 1_769_851_800
_YEAR = 365 * 24 * 3600
_LISTS = ("learnings", "open_issues", "blockers")
_TEXTS = ("goal", "next_action", "current_phase")
_LATEST = 4
"""How many lanes back somebody may still receive what a writer sent."""


def begun(writer: str) -> LaneState:
    """Return the lane of a writer with a new task."""
    return join_lanes([LaneState(writer, {}, new_task("main", NOW))], writer)


def noted(lane: LaneState, when: str = NOW, **changes: Any) -> LaneState:
    """Return a lane after its agent noted something; files are what a tool read."""
    files = tuple(changes.pop("files", lane.state.files_read))
    state, _ = update_state(lane.state, changes, Origin(AGENT, when, lane.writer))
    return advance(lane, state.replace(files_read=files))


class Change(NamedTuple):
    """What somebody noted of a part of the state, or that it is gone."""

    part: tuple[str, str]
    text: str
    """Empty for a removal."""
    replaces: frozenset[int]


class Fleet:
    """Writers with clocks that are off by up to a year, in a network that comes and goes."""

    def __init__(self, writers: int, seed: int, *, begins_anew: bool = False) -> None:
        """Begin with one task; with begins_anew, writers end it and what was noted for it."""
        self._begins_anew = begins_anew
        self._random = random.Random(seed)
        self._names = [f"writer-{number}" for number in range(writers)]
        self._skews = [self._random.randrange(-_YEAR, _YEAR) for _ in self._names]
        self._partition = [0] * writers
        self._changes: list[Change] = []
        start = begun("start")
        self.lanes = [join_lanes([start], name) for name in self._names]
        self._heard: list[frozenset[int]] = [frozenset()] * writers
        self._sent = [deque([(lane, frozenset[int]())], _LATEST) for lane in self.lanes]

    @property
    def recorded(self) -> int:
        """How many texts were noted."""
        return sum(bool(change.text) for change in self._changes)

    def run(self, steps: int) -> None:
        """Let somebody do something, so many times."""
        acts = (
            *(self._note, self._note, self._change, self._change_goal, self._remove),
            *(self._begin_task, self._move, self._read, self._settle, self._receive, self._receive),
            *((self._begin_anew,) if self._begins_anew else ()),
        )
        for step in range(steps):
            if step % 40 == 0:
                self._partition = [self._random.randrange(3) for _ in self._names]
            writer = self._random.randrange(len(self._names))
            self._random.choice(acts)(writer)
            self._sent[writer].append((self.lanes[writer], self._heard[writer]))

    def exchange_all(self) -> None:
        """Let each writer receive the newest lane of every other one."""
        order = list(enumerate(self._names))
        self._random.shuffle(order)
        for writer, name in order:
            lanes = list(self.lanes)
            self._random.shuffle(lanes)
            self.lanes[writer] = join_lanes(lanes, name)
            self._heard[writer] = frozenset[int]().union(*self._heard)

    def lost(self, lane: LaneState) -> list[str]:
        """Return what a lane that knows all lacks, and what it holds though it was removed."""
        heard = frozenset[int]().union(*self._heard)
        replaced = frozenset[int]().union(*(self._changes[number].replaces for number in heard))
        lasting = [self._changes[number] for number in heard - replaced]
        shown = {getattr(lane.state, name) for name in _TEXTS} | {*lane.state.files_read}
        shown |= {n.text for name in (*_LISTS, "earlier_notes") for n in getattr(lane.state, name)}
        shown |= {task.goal for task in lane.state.earlier}
        for conflict in lane.conflicts:
            values = [decode_json(v.value)[conflict.field] for v in conflict.variants]
            shown |= {v if isinstance(v, str) else v["text"] for v in values}
        filed = (*_LISTS, "goal") if self._begins_anew else (*_LISTS, *_TEXTS, "files_read")
        lasting = [change for change in lasting if change.part[0] in filed]
        lost = [f"lost: {c}" for c in lasting if c.text and c.text not in shown]
        parts = {change.part for change in lasting if change.text}
        held = {(name, n.id) for name in _LISTS for n in getattr(lane.state, name)}
        if not self._begins_anew:
            held |= {("files_read", path) for path in lane.state.files_read}
        return lost + [f"removed: {part}" for part in held - parts]

    # What a writer does

    def _record(self, writer: int, part: tuple[str, str], text: str) -> None:
        heard = self._heard[writer]
        replaces = frozenset(n for n in heard if self._changes[n].part == part)
        self._heard[writer] = heard | {len(self._changes)}
        self._changes.append(Change(part, text, replaces))

    def _text(self, writer: int) -> str:
        return f"{self._names[writer]} says {len(self._changes)}"

    def _origin(self, writer: int) -> Origin:
        when = timestamp(_NOW + len(self._changes) + self._skews[writer])
        return Origin(AGENT, when, self._names[writer], len(self._changes))

    def _advance(self, writer: int, **changes: Any) -> None:
        lane = self.lanes[writer]
        self.lanes[writer] = advance(lane, lane.state.replace(**changes))

    def _note(self, writer: int) -> None:
        field, text = self._random.choice(_LISTS), self._text(writer)
        note = Note(text, id=f"{len(self._changes):016x}", origin=self._origin(writer))
        notes = list(getattr(self.lanes[writer].state, field))
        notes.insert(self._random.choice((0, len(notes), len(notes))), note)
        self._advance(writer, **{field: tuple(notes)})
        self._record(writer, (field, note.id), text)

    def _some_note(self, writer: int) -> tuple[str, list[Note], int]:
        field = self._random.choice(_LISTS)
        notes = list(getattr(self.lanes[writer].state, field))
        return field, notes, self._random.randrange(len(notes)) if notes else -1

    def _change(self, writer: int) -> None:
        field, notes, at = self._some_note(writer)
        if notes:
            notes[at] = notes[at].replace(text=self._text(writer))
            self._advance(writer, **{field: tuple(notes)})
            self._record(writer, (field, notes[at].id), notes[at].text)

    def _remove(self, writer: int) -> None:
        field, notes, at = self._some_note(writer)
        if notes:
            gone = notes.pop(at)
            self._advance(writer, **{field: tuple(notes)})
            self._record(writer, (field, gone.id), "")

    def _move(self, writer: int) -> None:
        field, notes, at = self._some_note(writer)
        if notes:
            notes.append(notes.pop(at))
            self._advance(writer, **{field: tuple(notes)})

    def _change_goal(self, writer: int) -> None:
        field, text = self._random.choice(_TEXTS), self._text(writer)
        state, _ = update_state(self.lanes[writer].state, {field: text}, self._origin(writer))
        self.lanes[writer] = advance(self.lanes[writer], state)
        self._record(writer, (field, ""), text)

    def _begin_task(self, writer: int) -> None:
        """Begin a conversation, with a task of its own."""
        origin, text = self._origin(writer), self._text(writer)
        begun = following(self.lanes[writer].state, origin.when)
        state, _ = update_state(begun, {"goal": text}, origin)
        self.lanes[writer] = advance(self.lanes[writer], state)
        self._record(writer, ("current_phase", ""), "")
        self._record(writer, ("goal", ""), text)

    def _begin_anew(self, writer: int) -> None:
        """Begin a task with nothing of the one before."""
        lane, origin, text = self.lanes[writer], self._origin(writer), self._text(writer)
        begun = new_task("main", origin.when, before=lane.state)
        state, _ = update_state(begun, {"goal": text}, origin)
        self.lanes[writer] = advance(lane, state)
        parts = {self._changes[number].part for number in self._heard[writer]}
        for part in sorted(parts - {("goal", "")}):
            self._record(writer, part, "")
        self._record(writer, ("goal", ""), text)

    def _read(self, writer: int) -> None:
        """Read a file; of those that were read only the newest six are kept."""
        path = f"file-{self._random.randrange(12)}"
        before = self.lanes[writer].state.files_read
        read = (*(p for p in before if p != path), path)
        for dropped in read[:-6]:
            self._record(writer, ("files_read", dropped), "")
        if path not in before:
            self._record(writer, ("files_read", path), path)
        self._advance(writer, files_read=read[-6:])

    def _settle(self, writer: int) -> None:
        lane = self.lanes[writer]
        if lane.conflicts:
            conflict = self._random.choice(lane.conflicts)
            variant = self._random.choice(conflict.variants)
            self.lanes[writer] = advance(lane, settle(lane.state, conflict, variant))
            value = decode_json(variant.value)[conflict.field]
            text = value if isinstance(value, str) else value["text"]
            self._record(writer, (conflict.field, conflict.item), text)

    def _receive(self, writer: int) -> None:
        """Receive lanes of whoever can be reached, some of them late."""
        near = [n for n, side in enumerate(self._partition) if side == self._partition[writer]]
        senders = self._random.sample(near, self._random.randint(1, len(near)))
        sent = [self._random.choice(self._sent[sender]) for sender in senders]
        self.lanes[writer] = join_lanes(
            [self.lanes[writer], *(lane for lane, _ in sent)], self._names[writer]
        )
        self._heard[writer] = self._heard[writer].union(*(heard for _, heard in sent))
