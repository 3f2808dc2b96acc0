"""A damaged conversation whose file is repaired, and what has to hold of it after every fault."""

from __future__ import annotations

import errno
import os
import tempfile
from functools import cache
from pathlib import Path

import pytest

from gitguard.model.events import Transcript
from gitguard.store.disk import processes
from gitguard.transcripts.rewriting.repair import repair
from tests.faults.acting import Outcome
from tests.faults.world import World
from tests.support.written_conversations import Document, agent, pi, user, write

_LONG = "word " * 3_000
_LATER, _MUCH_LATER = 120, 1_900
"""Seconds after which nobody still needs a dead process's files, or a lock that names nobody."""


def write_torn(world: World) -> None:
    """Write a conversation with a torn line and a call without a result."""
    world.talk.parent.mkdir()
    world.talk.write_bytes(_contents()[0])


@cache
def _contents() -> tuple[bytes, bytes]:
    """Return the file as it was, and as it is to be: the same repair writes the same file.

    All that a repair loads while it runs is loaded then.
    """
    lines: list[Document | bytes] = [*pi([user(), agent("", "c1"), user(_LONG), agent("end")])]
    lines.insert(3, b'{"type":"message","id":"torn","mess')
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "talk.jsonl"), lines)
        before = path.read_bytes()
        assert repair(Transcript(str(path), "pi"), lambda: 0.0).backup
        return before, path.read_bytes()


def act(world: World) -> object:
    """Repair the conversation."""
    # Who writes to it is asked of `/proc`: calls without end, other ones each time, of no disk.
    pytest.MonkeyPatch().setattr(processes, "writers_of", lambda *_: {})
    return repair(Transcript(str(world.talk), "pi"), world.clock, at_step=world.at_step)


def act_by_copying(world: World) -> object:
    """Repair the conversation on a file system without hard links."""

    def refuse(source: str, target: str, **_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    pytest.MonkeyPatch().setattr(os, "link", refuse)
    return act(world)


def go_on(world: World) -> object:
    """Repair what a fault left."""
    world.clock.advance(_LATER)
    return act(world)


def go_on_much_later(world: World) -> object:
    """Repair what a fault left; only hard links keep a power cut from leaving half a lock."""
    world.clock.advance(_MUCH_LATER)
    return act(world)


def doubts(world: World, outcome: Outcome) -> str:
    """Say what was lost; either file is whole, and with the new one the old one is there, too."""
    original, repaired = _contents()
    found = world.talk.read_bytes() if world.talk.exists() else b""
    backups = [path for path in world.talk.parent.glob("*.bak-*") if path.suffix != ".tmp"]
    if found not in (original, repaired):
        return f"the conversation is neither the old one nor the repaired one: {found[:200]!r}"
    if outcome.is_acknowledged and found != repaired:
        return "the conversation is the old one"
    if any(path.read_bytes() != original for path in backups):
        return f"a backup is not the original: {sorted(map(str, backups))}"
    return "the original is nowhere" if found == repaired and not backups else ""
