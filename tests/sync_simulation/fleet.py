"""Machines that note, remove and sync while networks part, processes die and clocks jump."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from gitguard.errors import GitguardError
from gitguard.model.codec import decode_json
from gitguard.model.text import counted
from gitguard.sessions.syncing import Synced
from gitguard.state.items import Conflict
from gitguard.state.joining import open_conflicts
from gitguard.state.task import TaskState
from gitguard.store.session.anchor import marked
from tests.conftest import Git
from tests.support.synced_machines import (
    Machine,
    hook,
    introduced,
    make_machine,
    make_remote,
)

_YEAR = 365 * 24 * 3600.0
_LISTS = ("learnings", "open_issues", "blockers")
_TEXTS = ("goal", "next_action", "current_phase")
_AT_ONCE = 40
"""How many records a note has at most."""
_ROOM = 150
"""How many records a machine lets grow in one list before it removes most of them."""
_MOST_STEPS, _MOST_IN_SYNC = 3, 14
"""Up to how many steps of a command somebody waits who kills it."""
_PATIENCE = 5


class SkewedClock:
    """The time of a machine whose clock is off."""

    def __init__(self, skew: float) -> None:
        self.skew = skew

    def __call__(self) -> float:
        return time.time() + self.skew


class Broken(AssertionError):
    """A promise did not hold."""


class Fleet:
    """Machines that share one session by way of one remote."""

    def __init__(self, folder: Path, seed: int, machines: int = 8) -> None:
        """Make the remote, and clone it for each machine; the rest follows from the seed."""
        self._random = Random(seed)
        self._folder = folder
        self.remote = make_remote(folder)
        self._pushes = folder / "pushes"
        """What was pushed: full ref, old and new commit of each, as the remote was asked for it."""
        hook(self.remote, "update", f'echo "$@" >> {self._pushes}')
        self._clocks = [SkewedClock(self._random.uniform(-_YEAR, _YEAR)) for _ in range(machines)]
        self.machines = [
            make_machine(folder, f"m{number}", self.remote, clock)
            for number, clock in enumerate(self._clocks)
        ]
        for number, machine in enumerate(self.machines):
            machine.git("remote", "set-url", "origin", str(self._road(number)))
            self._lead(number, "remote.git")
        introduced(*self.machines)
        self._count = 0
        self._lasting: set[str] = set()
        """What was noted, and that nobody replaced or removed who had it."""
        self._gone: set[str] = set()
        """What was replaced or removed by somebody who had it."""
        self.did: Counter[str] = Counter()
        """How often each thing happened."""
        self._acts: dict[Callable[[int], object], int] = {
            self._note: 30,
            self._change: 15,
            self._change_text: 6,
            self._remove: 8,
            self._sync: 40,
            self._sync_at_once: 4,
            self._fetch_late: 3,
            self._part: 4,
            self._jump: 2,
            self._mirror: 1,
        }

    def _road(self, number: int) -> Path:
        """The path at which a machine finds the remote, while it is in its network."""
        return self._folder / f"road-{number}"

    def _lead(self, number: int, target: str) -> None:
        road = self._road(number)
        road.unlink(missing_ok=True)
        if target:
            road.symlink_to(target)

    @property
    def recorded(self) -> int:
        """How many records were noted, those included that somebody replaced or removed."""
        return len(self._lasting) + len(self._gone)

    def run(self, steps: int) -> None:
        """Let so many things happen, each at one machine."""
        for _ in range(steps):
            (act,) = self._random.choices(list(self._acts), list(self._acts.values()))
            act(self._random.randrange(len(self.machines)))

    def converge(self) -> None:
        """Join all networks, and let each machine sync twice."""
        for number in range(len(self.machines)):
            self._lead(number, "remote.git")
        for _ in range(2):
            order = self._random.sample(self.machines, len(self.machines))
            synced = [self._whole(machine) for machine in order]
        late = [(each.queued, each.problems) for each in synced if each.queued or each.problems]
        if late:
            raise Broken(f"the second round of syncs was not whole: {late}")

    def _whole(self, machine: Machine) -> Synced:
        """Sync, again where the time for it was over on a machine that is busy."""
        for _ in range(_PATIENCE):
            synced = machine.sync()
            if not synced.queued:
                break
        return synced

    def prove(self) -> None:
        """Raise `Broken` where a record is lost or came back, states differ, or all was forced."""
        states = {m.git("rev-parse", "refs/heads/gitguard/main:state.json") for m in self.machines}
        shown = _texts_of(self.machines[0].guard.state())
        lost, back = self._lasting - shown, self._gone & shown
        problems = [
            *(
                [f"{counted(len(states), 'state')} on {len(self.machines)} machines"]
                * (len(states) > 1)
            ),
            *(f"lost: {text}" for text in sorted(lost)[:5]),
            *(f"came back: {text}" for text in sorted(back)[:5]),
            *self._forced(),
        ]
        if problems:
            raise Broken("; ".join(problems))
        for machine in self.machines:
            machine.git.fsck()

    def _forced(self) -> Iterator[str]:
        """Say of each push that moved a lane to what does not follow it, or removed it."""
        for line in dict.fromkeys(self._pushes.read_text().splitlines()):
            name, old, new = line.split(" ")
            follows = not old.strip("0") or self.remote("merge-base", old, new, check=False) == old
            if not new.strip("0") or not follows:
                yield f"forced: {name} from {old} to {new}"

    # What happens at a machine

    def _new_texts(self, number: int, most: int = _AT_ONCE) -> list[str]:
        first, count = self._count, self._random.randint(1, most)
        self._count += count
        return [f"machine {number} says {n}" for n in range(first, first + count)]

    def _note(self, number: int) -> None:
        field, notes = self._some_list(number)
        if len(notes) > _ROOM:
            self._remove(number)
            return
        texts = self._new_texts(number)
        self._do(number, "note", lambda m: m.guard.note({field: texts}), set(texts), set())

    def _change(self, number: int) -> None:
        """Change some items of a list."""
        field, notes = self._some_list(number)
        texts = self._new_texts(number, min(_AT_ONCE, len(notes))) if notes else []
        changed = dict(zip(self._random.sample(range(len(notes)), len(texts)), texts, strict=True))
        state = self.machines[number].guard.state()
        replaced = {notes[at].text for at in changed}
        for at in changed:
            replaced |= _variants_of(state, field, notes[at].id)
        items = [
            {"id": note.id, "text": changed.get(at, note.text)} for at, note in enumerate(notes)
        ]
        if changed:
            self._do(
                number,
                "change",
                lambda m: m.guard.update({field: items}, replace=True),
                set(texts),
                replaced,
            )

    def _change_text(self, number: int) -> None:
        field, (text,) = self._random.choice(_TEXTS), self._new_texts(number, 1)
        state = self.machines[number].guard.state()
        replaced = {getattr(state, field), *_variants_of(state, field, "")} & self._lasting
        self._do(number, "change", lambda m: m.guard.note({field: text}), {text}, replaced)

    def _remove(self, number: int) -> None:
        field, notes = self._some_list(number)
        if not notes:
            return
        share = 0.8 if len(notes) > _ROOM else 0.2
        kept = [note for note in notes if self._random.random() > share]
        removed = [note for note in notes if note not in kept]
        state = self.machines[number].guard.state()
        replaced = {note.text for note in removed}
        for note in removed:
            replaced |= _variants_of(state, field, note.id)
        items = [{"id": note.id, "text": note.text} for note in kept]
        if removed:
            self._do(
                number,
                "remove",
                lambda m: m.guard.update({field: items}, replace=True),
                set(),
                replaced,
            )

    def _some_list(self, number: int) -> tuple[str, tuple[Any, ...]]:
        """Return the longest list of a machine, or any."""
        state = self.machines[number].guard.state()
        field = max(_LISTS, key=lambda name: len(getattr(state, name)))
        if len(getattr(state, field)) <= _ROOM:
            field = self._random.choice(_LISTS)
        return field, getattr(state, field)

    def _sync(self, number: int) -> None:
        half = self._random.choice(((True, True), (True, True), (True, False), (False, True)))

        def sync(machine: Machine) -> None:
            machine.sync(fetches=half[0], pushes=half[1])

        self._do(number, "sync", sync, set(), set())

    def _sync_at_once(self, _: int) -> None:
        """Let several machines sync at the same time."""
        children = []
        for machine in self._random.sample(self.machines, 3):
            child = os.fork()
            if child == 0:
                os._exit(self._exit_code(machine))
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        self.did["sync at once"] += 1
        if any(codes):
            raise Broken(f"syncs at the same time ended with {codes}")

    def _exit_code(self, machine: Machine) -> int:
        try:
            machine.sync()
        except BaseException as error:
            print(f"{machine.git.root.name}: {error!r}", flush=True)
            return 4
        return 0

    def _fetch_late(self, number: int) -> None:
        """Let a machine fetch what the remote had a while ago, as from a mirror."""
        stale = self._folder / "stale.git"
        if stale.exists():
            self._lead(number, "stale.git")
            self.machines[number].sync(pushes=False)
            self._lead(number, "remote.git")
            shutil.rmtree(stale)
            self.did["fetch late"] += 1
        else:
            shutil.copytree(self.remote.root, stale, symlinks=True)

    def _part(self, _: int) -> None:
        """Let some machines lose their network, and others find it again."""
        for number in range(len(self.machines)):
            self._lead(number, "remote.git" if self._random.random() < 0.7 else "")
        self.did["partition"] += 1

    def _jump(self, number: int) -> None:
        self._clocks[number].skew = self._random.uniform(-_YEAR, _YEAR)
        self.did["clock jump"] += 1

    def _mirror(self, _: int) -> None:
        """Let an outsider push their clone as a mirror, which deletes what it lacks."""
        outsider = self._folder / "outsider"
        self.remote("config", "core.hooksPath", "/dev/null")
        Git(self._folder)("clone", "--quiet", str(self.remote.root), str(outsider))
        Git(outsider)("push", "--quiet", "--mirror")
        self.remote("config", "--unset", "core.hooksPath")
        shutil.rmtree(outsider)
        self.did["mirror"] += 1
        if self.remote.lanes:
            raise Broken("the outsider's mirror deleted nothing")

    # How it happens

    def _do(
        self,
        number: int,
        what: str,
        act: Callable[[Machine], object],
        new: set[str],
        replaced: set[str],
    ) -> None:
        """Let a machine do something, sometimes in a process that dies at one of its steps."""
        machine = self.machines[number]
        if self._random.random() < 0.2:
            most = _MOST_IN_SYNC if what == "sync" else _MOST_STEPS
            died = self._killed(machine, act, self._random.randint(1, most))
            self.did[f"{what} killed" if died else what] += 1
            shown = _texts_of(machine.guard.state())
            has_happened = bool(new & shown) if new else bool(replaced) and not replaced & shown
            if has_happened and not new <= shown:
                raise Broken(f"half of a {what} survived its kill: {sorted(new - shown)[:3]}")
        else:
            act(machine)
            self.did[what] += 1
            has_happened = True
        if has_happened:
            self._lasting = self._lasting - replaced | new
            self._gone |= replaced

    def _killed(self, machine: Machine, act: Callable[[Machine], object], after: int) -> bool:
        child = os.fork()
        if child == 0:
            try:
                act(machine.dying_after(after))
            except BaseException as error:
                print(f"{machine.git.root.name}: {error!r}", flush=True)
                os._exit(4)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code not in (0, 9):
            raise Broken(f"a command that was to be killed ended with {code}")
        return code == 9


def _texts_of(state: TaskState) -> set[str]:
    """Return all that a state shows, and what it has of conflicts."""
    shown = {getattr(state, name) for name in _TEXTS}
    shown |= {note.text for name in _LISTS for note in getattr(state, name)}
    for conflict in _open_conflicts(state):
        shown |= _variants_of(state, conflict.field, conflict.item)
    return shown


def _open_conflicts(state: TaskState) -> tuple[Conflict, ...]:
    """Return the conflicts that nobody settled, as commands read them: without marks."""
    return open_conflicts(marked(state, ()))


def _variants_of(state: TaskState, field: str, key: str) -> set[str]:
    """Return what stands against each other in the conflict about a part."""
    return {text for text in _variants(state, field, key) if isinstance(text, str)}


def _variants(state: TaskState, field: str, key: str) -> Iterator[Any]:
    for conflict in _open_conflicts(state):
        if (conflict.field, conflict.item) == (field, key):
            for variant in conflict.variants:
                value = decode_json(variant.value)[field]
                yield value if isinstance(value, str) else value["text"]


def simulate(folder: Path, seed: int, steps: int, machines: int = 8) -> Fleet:
    """Let a fleet work, converge, and prove that nothing is lost; raise `Broken` with the seed."""
    try:
        fleet = Fleet(folder, seed, machines)
        fleet.run(steps)
        fleet.converge()
        fleet.prove()
    except (AssertionError, GitguardError) as error:
        raise Broken(f"seed {seed}, {steps} steps: {type(error).__name__}: {error}") from error
    return fleet
