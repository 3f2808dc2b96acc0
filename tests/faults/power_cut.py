"""What a power cut can leave behind, worked out from what a command did to files.

The model is that of a journaling file system such as ext4 or XFS. Names (create, rename, link,
unlink, mkdir) and sizes go into one journal in the order in which they happened, and a cut leaves a
beginning of it. A sync of a file or folder makes durable the journal up to the last entry that
touched it, not more. Content is durable only when its own file was synced after it was written;
otherwise any of it may be there: nothing, zeros in its length, the half, all. Nothing is assumed of
files that replace others. Two file systems have journals that know nothing of each other.

File systems without one order of all names, as btrfs and ext4 with fast commits may be, are not
modelled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from tests.faults.acting import Outcome
from tests.faults.file_log import Operation, options, read_log
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.syscall_faults import no_strace, traced
from tests.faults.world import World

CONTENTS = ("nothing", "zeros", "half", "all")
"""What may be there of content that was not synced."""
Tree = dict[Path, bytes | None]


class Crash(NamedTuple):
    """A state in which a cut can leave the disks."""

    after: int
    """How many operations had happened."""
    durable: tuple[int, ...]
    """For each file system, the length of what is left of its journal."""
    content: str
    """What is there of content that was not synced."""


class _Recorded(NamedTuple):
    journal: _Journal
    outcome: Outcome
    states: dict[str, Crash]


class PowerCuts(Kind):
    """Every state that a cut can leave."""

    def __init__(self, *, apart: bool, at_the_end: bool = False) -> None:
        """With the state directory on the repository's file system, or apart on another.

        at_the_end leaves out all cuts but those right after the acknowledgement.
        """
        self._at_the_end = at_the_end
        self.name = "power-cut-two-disks" if apart else "power-cut"
        self._apart = apart
        self._recorded: dict[World, _Recorded] = {}

    def why_not(self) -> str:
        return no_strace()

    def points(self, world: World, scenario: Scenario) -> list[str]:
        """Return the states, each once."""
        self._recorded = {world: self._record(world, scenario)}
        return list(self._recorded[world].states)

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        """Make the world as a cut would leave it."""
        if world not in self._recorded:
            self.points(world, scenario)
        journal, outcome, states = self._recorded[world]
        crash = states[point]
        world.become(journal.leave(world.kept_files(), crash))
        return outcome if crash.after == len(journal) else Outcome(signal=9)

    def _record(self, world: World, scenario: Scenario) -> _Recorded:
        log = world.base.parent / f"{world.base.name}.files"
        with traced(*options(), output=str(log)) as attach:
            outcome = scenario.run(world, attach=attach)
        assert outcome.is_acknowledged, outcome
        start = world.kept_files()
        operations = read_log(log.read_text(), (world.base, world.state_home), start)
        journal = _Journal(operations, start, world.state_home if self._apart else None)
        everything = Crash(len(journal), (len(journal),) * (1 + self._apart), "all")
        model = journal.leave(start, everything)
        assert model == world.files(), _difference(model, world.files())
        world.put_back()
        return _Recorded(journal, outcome, self._states(world, journal))

    def _states(self, world: World, journal: _Journal) -> dict[str, Crash]:
        found: dict[str, Crash] = {}
        seen = set()
        start = world.kept_files()
        for crash in journal.crashes():
            if self._at_the_end and crash.after < len(journal):
                continue
            mark = (_digest(journal.leave(start, crash)), crash.after == len(journal))
            if mark not in seen:
                seen.add(mark)
                durable = "-".join(map(str, crash.durable))
                found[f"{crash.after}:{durable}:{crash.content}"] = crash
        return found


class _Inode:
    """A file or folder, whatever its names are."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data

    def write(self, offset: int, data: bytes) -> None:
        """Write at an offset, -1 being the end."""
        assert self.data is not None
        start = len(self.data) if offset < 0 else offset
        self.data = self.data[:start].ljust(start, b"\0") + data + self.data[start + len(data) :]


class _Journal:
    """What happened in order, and which sync makes what of it durable."""

    def __init__(self, operations: list[Operation], start: Tree, apart: Path | None) -> None:
        self._operations = operations
        self._apart = apart
        self._disks = 1 if apart is None else 2
        self._syncs: list[tuple[int, int, int]] = []
        """For each sync its number, its disk, and how long a journal it makes durable."""
        self._synced_at: dict[int, int] = {}
        """For each write the sync that makes its content durable."""
        self._find_syncs(start)

    def __len__(self) -> int:
        return len(self._operations)

    def _find_syncs(self, start: Tree) -> None:
        names = {path: _Inode(data) for path, data in start.items()}
        touched: dict[int, int] = {}
        writes: dict[int, list[int]] = {}
        kept = list(names.values())  # so that no id is used twice
        for number, operation in enumerate(self._operations):
            inodes = _touched(names, operation)
            if operation.kind == "sync":
                key = id(names[operation.path])
                self._syncs.append((number, self._disk(operation), touched.get(key, -1) + 1))
                self._synced_at.update(dict.fromkeys(writes.pop(key, []), number))
            _apply(names, operation, operation.data)
            kept += [inode for inode in _touched(names, operation) if inode not in kept]
            for inode in {id(i) for i in (*inodes, *_touched(names, operation))}:
                touched[inode] = number
            if operation.kind == "write":
                writes.setdefault(id(names[operation.path]), []).append(number)

    def _disk(self, operation: Operation) -> int:
        return int(self._apart is not None and operation.path.is_relative_to(self._apart))

    def crashes(self) -> Iterator[Crash]:
        """Yield the states a cut can leave, most of them more than once.

        A cut just before a sync can leave all that an earlier one after the last sync could.
        """
        for after in (*(number for number, _, _ in self._syncs), len(self)):
            ranges = [self._lengths(disk, after) for disk in range(self._disks)]
            for durable in product(*ranges):
                for content in self._contents(after, durable):
                    yield Crash(after, durable, content)

    def _lengths(self, disk: int, after: int) -> list[int]:
        synced = [upto for number, d, upto in self._syncs if d == disk and number < after]
        least = max(synced, default=0)
        own = (n for n in range(least, after) if self._disk(self._operations[n]) == disk)
        changes = (n + 1 for n in own if self._operations[n].kind != "sync")
        return [least, *changes]

    def _contents(self, after: int, durable: tuple[int, ...]) -> tuple[str, ...]:
        for number, operation in enumerate(self._operations[: max(durable)]):
            is_there = number < durable[self._disk(operation)]
            if operation.kind == "write" and is_there and not self._is_synced(number, after):
                return CONTENTS
        return ("all",)

    def _is_synced(self, write: int, after: int) -> bool:
        return self._synced_at.get(write, after) < after

    def leave(self, start: Tree, crash: Crash) -> Tree:
        """Return what a cut leaves of a start and what happened since."""
        names = {path: _Inode(data) for path, data in start.items()}
        for number, operation in enumerate(self._operations[: max(crash.durable)]):
            if number < crash.durable[self._disk(operation)]:
                is_synced = self._is_synced(number, crash.after)
                _apply(
                    names, operation, _left(operation.data, "all" if is_synced else crash.content)
                )
        return {path: inode.data for path, inode in names.items()}


def _left(data: bytes, content: str) -> bytes:
    whole = {"nothing": b"", "zeros": bytes(len(data)), "half": data[: len(data) // 2]}
    return whole.get(content, data)


def _touched(names: dict[Path, _Inode], operation: Operation) -> list[_Inode]:
    """Return the files and folders that an operation changes, as they are now."""
    if operation.kind == "sync":
        return []
    paths = [operation.path]
    if operation.kind in ("create", "remove", "mkdir", "rename", "link"):
        paths.append(operation.path.parent)
    if operation.target != Path():
        paths += [operation.target, operation.target.parent]
    return [names[path] for path in paths if path in names]


def _apply(names: dict[Path, _Inode], operation: Operation, data: bytes) -> None:
    kind, path = operation.kind, operation.path
    if kind == "create":
        names.setdefault(path, _Inode(b""))
    elif kind == "mkdir":
        names.setdefault(path, _Inode(None))
    elif kind == "truncate":
        names[path].data = b""
    elif kind == "write":
        names[path].write(operation.offset, data)
    elif kind == "remove":
        del names[path]
    elif kind == "link":
        names[operation.target] = names[path]
    elif kind == "rename":
        for old in [old for old in names if old == path or old.is_relative_to(path)]:
            names[operation.target / old.relative_to(path)] = names.pop(old)


def _digest(tree: Tree) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(tree):
        data = tree[path]
        digest.update(b"%s\0%d\0" % (bytes(path), -1 if data is None else len(data)))
        digest.update(data or b"")
    return digest.digest()


def _difference(one: Tree, other: Tree) -> str:
    return str(sorted(str(p) for p in {*one, *other} if one.get(p, b"?") != other.get(p, b"?")))
