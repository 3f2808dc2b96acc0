"""The join of what several writers made of one session's state.

A writer is one worktree on one machine. Each change has a version: the writer and its counter. What
a lane has seen and no longer holds was removed or replaced there, so no removal needs a record of
its own. references/design/sync.md, "Join", says why this loses nothing.

States come without the marks of what another machine wrote (`Origin.elsewhere`).
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, reduce

from gitguard.model import fields
from gitguard.model.record import Record
from gitguard.model.value import Value
from gitguard.state.earlier import earlier_task, notes_of
from gitguard.state.items import (
    Conflict,
    EarlierNote,
    EarlierTask,
    Item,
    Variant,
    derived_id,
)
from gitguard.state.parts import (
    named_values,
    part_of,
    parts_of,
    read_value,
    state_of,
    write_value,
)
from gitguard.state.shown_changes import conflict_of, pick, ranked
from gitguard.state.task import START, TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from gitguard.state.parts import Part
    from gitguard.state.shown_changes import Dots

    Tasks = dict[tuple[str, int], tuple[str, str]]
    """By writer and counter, the task for which it made its changes from then on, and the one since
    which the lists were kept."""

_GOAL, _NEXT_ACTION, _SESSION = ("goal", ""), ("next_action", ""), ("session_id", "")
_SINCE_TASK = ("since_task", "")
_BEYOND_TASKS = ("schema_version", "session_id", "earlier", "earlier_notes", "since_task")
"""Fields that a new task keeps; it begins all others."""


class Variation(Record):
    """What a writer made of a part whose state shows what another one made of it."""

    writer: str = fields.text("Who made it so.")
    value: str = fields.text("What it made of it, as a JSON object of its fields.")


class PartVersion(Record):
    """Who last changed a field or an item, and who put the item where it stands in its list."""

    field: str = fields.text("The field of the state.")
    key: str = fields.text(
        "What tells the item from others; empty for a field that is no list.",
        default="",
        sparse=True,
    )
    changed: Mapping[str, int] = fields.counts(
        "The counters of the last changes that nobody replaced, by writer.", default={}
    )
    placed: Mapping[str, int] = fields.counts(
        "The counters of the last moves in the list, by writer.", default={}, sparse=True
    )
    places: Mapping[str, int] = fields.counts(
        "Where each of these moves put the item, from 0.", default={}, sparse=True
    )
    variations: tuple[Variation, ...] = fields.records(
        "What writers made of it, where that is not what the state holds.",
        of=Variation,
        default=(),
        sparse=True,
    )


class TaskSpan(Record):
    """For which task a writer made its changes, from one of them on."""

    writer: str = fields.text("The writer.")
    counter: int = fields.count("The counter of the first of these changes.")
    task_id: str = fields.text("The task.")
    since_task: str = fields.text(
        "The task since which the state's lists were kept; empty if unknown.", default=""
    )


class _LaneRecord(Record):
    writer: str = fields.text("Whose lane it is.")
    seen: Mapping[str, int] = fields.counts("Up to which change it knows each writer's.")
    versions: tuple[PartVersion, ...] = fields.records("Who last changed what.", of=PartVersion)
    tasks: tuple[TaskSpan, ...] = fields.records(
        "For which tasks these changes were made.", of=TaskSpan, default=(), sparse=True
    )


class LaneState(Value):
    """What one writer knows of a session: its state, and how that came about."""

    writer: str
    """Whose it is; empty for a join that nobody has taken over."""
    seen: Mapping[str, int]
    """By writer, the counter up to which this lane holds or replaced its changes."""
    state: TaskState
    versions: tuple[PartVersion, ...] = ()
    """What has no version here counts as changed by the writer, at the counter it has reached."""
    tasks: tuple[TaskSpan, ...] = ()
    """For which tasks these changes were made; of a change before them that is unknown."""

    def to_document(self) -> dict[str, Any]:
        """Return all but the state, which stands in a file of its own."""
        return _LaneRecord(self.writer, self.seen, self.versions, self.tasks).to_document()

    @classmethod
    def from_document(cls, document: Any, state: TaskState) -> LaneState:
        """Read a lane, or raise `InvalidInput` naming the field and the value."""
        record = _LaneRecord.from_document(document)
        return cls(record.writer, record.seen, state, record.versions, record.tasks)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """What writers noted without knowing of each other, and nobody has settled yet."""
        return self.state.conflicts


def join_lanes(lanes: Iterable[LaneState], writer: str = "") -> LaneState:
    """Return what lanes know together, for a writer to take over.

    The order of lanes does not matter, nor how often or in which groups they are joined. The state
    equals that of a lane to which the others add nothing. Raises `InvalidDocument` for lanes whose
    versions contradict each other, `ValueError` for none at all.
    """
    given = tuple(lanes)
    if not given:
        raise ValueError("there is no lane to join")
    return reduce(_ChangeSet.joined, map(_ChangeSet.of, given)).lane(writer)


def begin_lane(writer: str, state: TaskState, others: Iterable[LaneState]) -> LaneState:
    """Return the lane of a writer of whom nothing is remembered.

    What others hold alike was taken over from them, so it stays their change. All else counts as
    changed by the writer, who has seen nothing, so that a join keeps it.
    """
    shown = dict(parts_of(state))
    values: dict[Part, Dots] = {}
    tasks: Tasks = {(writer, 1): (state.task_id, state.since_task)}
    for other in map(_ChangeSet.of, others):
        tasks |= other.tasks
        for part, dots in other.values.items():
            alike = {w: dot for w, dot in dots.items() if part in shown and dot[1] == shown[part]}
            held = values.setdefault(part, {})
            held.update({w: max(dot, held.get(w, dot)) for w, dot in alike.items()})
    own = {part: {writer: (1, value)} for part, value in shown.items() if not values.get(part)}
    begun = _ChangeSet({writer: 1}, {**_filled(values), **own}, {}, tasks)
    return begun.advanced(state, state, writer).lane(writer)


def advance(lane: LaneState, state: TaskState, writer: str = "") -> LaneState:
    """Return the lane once its writer has changed the state; the same lane if it has not.

    The state that is returned lists the conflicts that are left: whoever changes what is in
    conflict settles it. writer is given where a lane changes hands.
    """
    writer = writer or lane.writer
    if state == lane.state and writer == lane.writer:
        return lane
    return _ChangeSet.of(lane).advanced(lane.state, state, writer).lane(writer)


def renamed(lane: LaneState, writer: str) -> LaneState:
    """Return a lane whose worktree goes on as another writer, because its id may be in use twice.

    What the earlier id changed is the new one's, and nothing of the earlier id was seen: its
    counters may stand for other changes on another machine. What is known of all others stays.
    """
    earlier, changes = lane.writer, _ChangeSet.of(lane)
    seen = {who: counter for who, counter in changes.seen.items() if who != earlier}
    seen[writer] = changes.seen.get(earlier, 1)
    values = {
        part: _renamed_value(part, dots, earlier, writer) for part, dots in changes.values.items()
    }
    places = {
        part: _renamed(moves, earlier, writer) if earlier not in values.get(part, {}) else moves
        for part, moves in changes.places.items()
    }
    tasks = dict(changes.tasks)
    tasks |= {(writer, n): task for (who, n), task in tasks.items() if who == earlier}
    under_new_id = _ChangeSet(seen, values, places, tasks)
    # Items of one counter stand by writer, so each is put where it stood.
    return under_new_id.advanced(lane.state, lane.state, writer).lane(writer)


def _renamed_value(part: Part, dots: Dots, earlier: str, writer: str) -> Dots:
    """Return changes under the new id, or as they are where the state would show another one."""
    under_new_id = _renamed(dots, earlier, writer)
    return under_new_id if pick(part, under_new_id) == pick(part, dots) else dots


def _renamed(dots: Dots, earlier: str, writer: str) -> Dots:
    return {writer if who == earlier else who: dot for who, dot in dots.items()}


def open_conflicts(state: TaskState) -> tuple[Conflict, ...]:
    """Return the conflicts about what has not changed since they were found."""
    if not state.conflicts:
        return ()
    shown = dict(parts_of(state))
    return tuple(
        conflict
        for conflict in state.conflicts
        if (part := (conflict.field, conflict.item)) in shown
        and write_value(part, shown[part]) == conflict.variants[0].value
    )


def read_variant(conflict: Conflict, variant: Variant) -> dict[str, Any]:
    """Return what a variant makes of each field, and of an item under its list's name.

    Raises `InvalidInput` for a variant that cannot be read.
    """
    field, key = conflict.field, conflict.item
    value = read_value((field, key), variant.value)
    return {field: value} if key or field not in TaskState.kinds else named_values(field, value)


def settle(state: TaskState, conflict: Conflict, variant: Variant) -> TaskState:
    """Return the state with one variant of a conflict, which is settled by that.

    What was removed meanwhile comes back at the end of its list. Raises `InvalidInput` for a
    variant that cannot be read.
    """
    part = (conflict.field, conflict.item)
    value = read_value(part, variant.value)
    other_conflicts = tuple(other for other in state.conflicts if other.id != conflict.id)
    return state_of({**dict(parts_of(state)), part: value}, other_conflicts)


class _ChangeSet:
    """What a lane knows: for each part of the state the changes that nobody replaced."""

    def __init__(
        self,
        seen: Mapping[str, int],
        values: dict[Part, Dots],
        places: dict[Part, Dots],
        tasks: Tasks,
    ) -> None:
        self.seen = seen
        self.values = values
        self.places = places
        self.tasks = tasks
        self._open = {since for _, (since,) in self.values.get(_SINCE_TASK, {}).values()}

    @classmethod
    def of(cls, lane: LaneState) -> _ChangeSet:
        """Take a lane apart."""
        versions = {part_of(version.field, version.key): version for version in lane.versions}
        shown = dict(parts_of(lane.state))
        own = max(lane.seen.get(lane.writer, 0), 1)
        values: dict[Part, Dots] = {}
        places: dict[Part, Dots] = {}
        for part, version in versions.items():
            varied = {v.writer: read_value(part, v.value) for v in version.variations}
            values[part] = {
                writer: (counter, varied.get(writer, shown.get(part)))
                for writer, counter in version.changed.items()
                if writer in varied or part in shown
            }
            places[part] = {
                writer: (counter, version.places.get(writer, 0))
                for writer, counter in version.placed.items()
            }
        seen = lane.seen
        tasks = {(t.writer, t.counter): (t.task_id, t.since_task) for t in lane.tasks}
        computed = cls(seen, _filled(values), {}, tasks).computed()
        for place, part in enumerate(shown):
            if not values.get(part) and part not in computed:
                values[part] = {lane.writer: (own, shown[part])}
                places[part] = {lane.writer: (own, place)} if part[1] else {}
                seen = {**lane.seen, lane.writer: own}
                if not lane.versions:
                    tasks[lane.writer, own] = lane.state.task_id, lane.state.since_task
        return cls(seen, _filled(values), _filled(places), tasks)

    def joined(self, other: _ChangeSet) -> _ChangeSet:
        """Return what both know."""
        seen = {
            writer: max(self.seen.get(writer, 0), other.seen.get(writer, 0))
            for writer in {**self.seen, **other.seen}
        }
        values = _joined(self.values, self.seen, other.values, other.seen)
        places = _joined(self.places, self.seen, other.places, other.seen)
        tasks = dict(self.tasks)
        for span, task in other.tasks.items():
            # They differ only where two machines wrote as one writer.
            tasks[span] = max(task, tasks.get(span, task))
        return _ChangeSet(seen, values, places, tasks)

    def advanced(self, before: TaskState, after: TaskState, writer: str) -> _ChangeSet:
        """Return what is known once a writer who knew all of this has changed the state."""
        counter = max(self.seen.values(), default=0) + 1
        left = {(conflict.field, conflict.item) for conflict in after.conflicts}
        settled = {(c.field, c.item) for c in before.conflicts} - left
        shown, computed = dict(parts_of(before)), self.computed()
        open_tasks = {after.since_task} if after.since_task != before.since_task else self._open
        values: dict[Part, Dots] = {}
        places: dict[Part, Dots] = {}
        newest: dict[str, tuple[Any, ...]] = {}
        for place, (part, value) in enumerate(parts_of(after)):
            dots = self.values.get(part)
            is_kept = (
                dots
                and part not in settled
                and part not in computed
                and shown.get(part, ...) == value
                and self._made_for(part, open_tasks)
            )
            values[part] = dots if dots and is_kept else {writer: (counter, value)}
            if not part[1]:
                continue
            field = part[0]
            at = self._place(part) if dots else ()
            if at > newest.get(field, ()):
                places[part] = self.places.get(part, {})
            else:
                places[part] = {writer: (counter, place)}
                at = (counter, writer, place, part[1])
            newest[field] = at
        tasks, task = self.tasks, (after.task_id, after.since_task)
        if self._task_of(writer, counter) != task:
            tasks = {**tasks, (writer, counter): task}
        return _ChangeSet({**self.seen, writer: counter}, values, _filled(places), tasks)

    def _place(self, part: Part) -> tuple[Any, ...]:
        """Return what an item's list is sorted by: later moves stand behind earlier ones."""
        moves = self.places.get(part)
        if moves:
            counter, writer, place = max((n, writer, at) for writer, (n, at) in moves.items())
            return counter, writer, place, part[1]
        counter, writer = max((n, writer) for writer, (n, _) in self.values[part].items())
        return counter, writer, 0, part[1]

    def lane(self, writer: str) -> LaneState:
        """Put the lane together again, with the conflicts that its state shows."""
        state = self._state()
        shown = dict(parts_of(state))
        versions = []
        for part in sorted({*self.values, *self.places}):
            changes, moves = self.values.get(part, {}), self.places.get(part, {})
            variations = (
                Variation(who, write_value(part, value))
                for who, (_, value) in sorted(changes.items())
                if part not in shown or value != shown[part]
            )
            version = PartVersion(
                *part,
                changed={who: counter for who, (counter, _) in sorted(changes.items())},
                placed={who: counter for who, (counter, _) in sorted(moves.items())},
                places={who: place for who, (_, place) in sorted(moves.items())},
                variations=tuple(variations),
            )
            versions.append(version)
        seen = dict(sorted(self.seen.items()))
        return LaneState(writer, seen, state, tuple(versions), tasks=self._spans())

    def _spans(self) -> tuple[TaskSpan, ...]:
        """Return the tasks of those changes that nobody replaced."""
        starts = {
            start
            for dots in self.values.values()
            for writer, (counter, _) in dots.items()
            if (start := self._start_of(writer, counter)) is not None
        }
        return tuple(TaskSpan(*start, *self.tasks[start]) for start in sorted(starts))

    @cached_property
    def _starts(self) -> dict[str, list[int]]:
        starts: dict[str, list[int]] = {}
        for writer, counter in sorted(self.tasks):
            starts.setdefault(writer, []).append(counter)
        return starts

    def _start_of(self, writer: str, counter: int) -> tuple[str, int] | None:
        starts = self._starts.get(writer, [])
        place = bisect_right(starts, counter)
        return (writer, starts[place - 1]) if place else None

    def _task_of(self, writer: str, counter: int) -> tuple[str, str]:
        """Return for which task a change was made, and since which the lists were kept then."""
        start = self._start_of(writer, counter)
        return self.tasks[start] if start is not None else ("", "")

    def _state(self) -> TaskState:
        in_order = sorted(self.values, key=self._place)
        shown = {part: pick(part, dots) for part in in_order if (dots := self._shown_of(part))}
        conflicts = (conflict_of(part, self._shown_of(part)) for part in sorted(self.values))
        return state_of(
            {**shown, **self.computed()},
            tuple(conflict for conflict in conflicts if conflict is not None),
        )

    def _shown_of(self, part: Part) -> Dots:
        """Return the changes of which the state shows one: none of an item of a task that is over.

        Whoever began another task had not heard of these. A field always shows something.
        """
        dots = self.values[part]
        of_open_tasks = self._made_for(part, self._open)
        if part[1]:
            return dots if of_open_tasks else {}
        return of_open_tasks or dots

    def _made_for(self, part: Part, open_tasks: Collection[str]) -> Dots:
        """Return the changes of a part that were made for open tasks, or for unknown ones."""
        dots = self.values[part]
        if part[0] in _BEYOND_TASKS or not open_tasks:
            return dots
        return {
            writer: (counter, value)
            for writer, (counter, value) in dots.items()
            if self._task_of(writer, counter)[1] in ("", *open_tasks)
        }

    def computed(self) -> dict[Part, Any]:
        """Return what the state shows of earlier tasks beside what writers put there."""
        tasks: dict[Part, EarlierTask] = {}
        for part, task in self.tasks_beside().items():
            filed = pick(part, self.values[part]) if part in self.values else task
            if part not in self.values or filed.goal != task.goal:  # restated after its end
                tasks[part] = filed.replace(goal=task.goal)
        return {**tasks, **self._noted_late(), **self._other_variants(), **self._other_goals()}

    def _noted_late(self) -> dict[Part, EarlierNote]:
        """Return what was noted for tasks that somebody ended who had not heard of it."""
        late: dict[str, dict[str, list[Any]]] = {}
        for part in sorted(self.values, key=self._place):
            if part[1] and not self._shown_of(part):
                _, counter, writer, value = max(ranked(part, self.values[part]))
                task_id, _ = self._task_of(writer, counter)
                late.setdefault(task_id, {}).setdefault(part[0], []).append(value)
        return {
            ("earlier_notes", note.id): note
            for task_id, items in late.items()
            for note in notes_of(task_id, _noted_in(items), tuple(items.get("exchanges", ())))
        }

    def _other_variants(self) -> dict[Part, EarlierNote]:
        """Return what else was noted of items of ended tasks: nobody settles these any more."""
        variants: dict[Part, EarlierNote] = {}
        for part, dots in self.values.items():
            is_filed = part[0] == "earlier_notes"
            if len(dots) < 2 or not part[1] or (self._shown_of(part) and not is_filed):
                continue
            *older, newest = sorted(ranked(part, dots))
            for _, counter, writer, item in older:
                if item == newest[-1]:
                    continue
                task_id, _ = self._task_of(writer, counter)
                noted = _noted_in({part[0]: (item,)})
                for note in (item,) if is_filed else notes_of(task_id, noted, ()):
                    note_id = derived_id(note.id, "earlier_notes", note.text)
                    variants["earlier_notes", note_id] = note.replace(id=note_id)
        return variants

    def tasks_beside(self) -> dict[Part, EarlierTask]:
        """Return the tasks that writers began while others began the one that the state shows.

        The conversation of each goes on with it (`task.as_of`).
        """
        return {("earlier", task.id): task for task in self._tasks_and_goals()}

    def _other_goals(self) -> dict[Part, EarlierNote]:
        """Return the goals that such a task was given beside the one in force."""
        tasks = self.tasks_beside()
        notes: dict[Part, EarlierNote] = {}
        for task in self._tasks_and_goals():
            if task.goal != tasks["earlier", task.id].goal:
                note_id = derived_id(task.task_id, "earlier_notes", task.goal)
                note = EarlierNote(task.task_id, "goal", task.goal, id=note_id, origin=task.origin)
                notes["earlier_notes", note_id] = note
        return notes

    def _tasks_and_goals(self) -> Iterator[EarlierTask]:
        """Yield the tasks beside the one that is shown, for each goal, the one in force last."""
        goals, steps = self.values.get(_GOAL, {}), self.values.get(_NEXT_ACTION, {})
        session = self.values.get(_SESSION)
        if len(goals) < 2 or not steps or not session:
            return
        (session_key,) = pick(_SESSION, session)
        shown = named_values("goal", pick(_GOAL, self._shown_of(_GOAL)))
        for _, _, writer, value in sorted(ranked(_GOAL, goals)):
            begun = named_values("goal", value)
            task_id, goal, origin = begun["task_id"], begun["goal"], begun["goal_from"]
            if task_id == shown["task_id"] or origin is None or goal.strip() == START:
                continue
            step = steps[writer][1] if writer in steps else pick(_NEXT_ACTION, steps)
            status = named_values("next_action", step)["status"]
            yield earlier_task(session_key, task_id, goal, status=status, origin=origin)


def _noted_in(items: Mapping[str, Iterable[Any]]) -> Iterator[tuple[str, Item]]:
    """Yield what was noted of the items of fields, and what one of these is called."""
    for field in TaskState.every_noted():
        yield from ((field.noun, item) for item in items.get(field.name, ()) if item.is_noted)


def _joined(
    ours: dict[Part, Dots],
    seen_by_us: Mapping[str, int],
    theirs: dict[Part, Dots],
    seen_by_them: Mapping[str, int],
) -> dict[Part, Dots]:
    """Return the changes that both have, and those of each that the other has never seen."""
    joined: dict[Part, Dots] = {}
    for part in {**ours, **theirs}:
        our, their = ours.get(part, {}), theirs.get(part, {})
        kept = {w: dot for w, dot in our.items() if _stays(w, dot, their, seen_by_them)}
        for writer, dot in their.items():
            if _stays(writer, dot, our, seen_by_us):
                kept[writer] = _same(kept.get(writer, dot), dot)
        if kept:
            joined[part] = kept
    return joined


def _stays(writer: str, dot: tuple[int, Any], other: Dots, seen: Mapping[str, int]) -> bool:
    counter, _ = dot
    return counter > seen.get(writer, 0) or (writer in other and other[writer][0] == counter)


def _same(dot: tuple[int, Any], other: tuple[int, Any]) -> tuple[int, Any]:
    """Return one of two equal changes.

    They differ only where two machines wrote as one writer; all lanes have to choose the same.
    """
    return dot if dot[1] == other[1] else max(dot, other, key=lambda each: repr(each[1]))


def _filled(changes: dict[Part, Dots]) -> dict[Part, Dots]:
    return {part: dots for part, dots in changes.items() if dots}
