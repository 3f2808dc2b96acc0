"""Many processes at once, some of which are killed, while git packs refs and collects garbage."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitguard.errors import GitguardError, Locked
from gitguard.guard import Guard
from gitguard.state.items import texts
from tests.faults.report import Failure, Row
from tests.faults.world import World

_PATIENCE = 60
"""How often a worker that is told to wait tries again."""
_REF_LOCK_AGE = 61


class Shape(NamedTuple):
    """Who works where."""

    name: str
    linked: bool
    """Whether each process has a worktree of its own."""
    session: str
    """The session that is forced on all, empty where each worktree has its own."""


SHAPES = (
    Shape("one-worktree", False, ""),
    Shape("linked-worktrees-one-session", True, "shared"),
    Shape("linked-worktrees-own-sessions", True, ""),
)


class _Said(NamedTuple):
    text: str
    commit: str
    sequence: int
    root: str
    error: str = ""


class Crowd:
    """Processes that checkpoint in one repository."""

    def __init__(self, shape: Shape, processes: int, checkpoints: int, seed: int = 1) -> None:
        self._shape = shape
        self._processes = processes
        self._checkpoints = checkpoints
        self._random = random.Random(seed)
        self._acknowledged: list[_Said] = []
        self._errors: list[str] = []
        self._killed = 0

    def run(self) -> Row:
        """Let them work, and prove that nothing acknowledged is lost."""
        began = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="gitguard-crowd-"))
        try:
            world = World(folder / "world")
            roots = self._roots(world)
            housekeeper = _keep_house(world.root)
            try:
                self._work(world, roots)
            finally:
                os.kill(housekeeper, signal.SIGKILL)
                os.waitpid(housekeeper, 0)
            self._prove(world, roots)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        failures = tuple(Failure(f"crowd-{self._shape.name}", why) for why in self._errors)
        note = f"{self._killed} killed, {self._processes} × {self._checkpoints}"
        name = f"crowd-{self._shape.name}"
        return Row(name, len(self._acknowledged), failures, time.monotonic() - began, note)

    def _roots(self, world: World) -> list[Path]:
        if not self._shape.linked:
            self._guard(world, world.root).ensure()
            return [world.root] * self._processes
        roots = [world.base / f"linked-{n}" for n in range(self._processes)]
        for number, root in enumerate(roots):
            world.git("worktree", "add", "--quiet", "-b", f"work-{number}", str(root))
            self._guard(world, root).ensure()
        return roots

    def _guard(self, world: World, root: Path) -> Guard:
        return world.guard(root, session=self._shape.session)

    # Working

    def _work(self, world: World, roots: list[Path]) -> None:
        workers: dict[int, tuple[int, int]] = {}
        """By the pipe of each: its number and process."""
        unread: dict[int, bytes] = {}
        done = [0] * len(roots)
        for number, root in enumerate(roots):
            self._start(world, root, number, 0, workers)
        next_kill = time.monotonic() + 0.5
        while workers:
            ready, _, _ = select.select(list(workers), [], [], 0.05)
            for pipe in ready:
                self._read(pipe, workers, unread, done)
            if time.monotonic() > next_kill and self._killed < self._processes and workers:
                next_kill = time.monotonic() + self._random.uniform(0.05, 0.6)
                number, process = self._random.choice(list(workers.values()))
                os.kill(process, signal.SIGKILL)
                self._killed += 1
                # What it was at is lost unless it is there; the next one goes on behind it.
                first = done[number] + 1  # or at it again, if it said so and nobody heard yet
                self._start(world, roots[number], number, first, workers)

    def _read(
        self,
        pipe: int,
        workers: dict[int, tuple[int, int]],
        unread: dict[int, bytes],
        done: list[int],
    ) -> None:
        part = os.read(pipe, 1 << 16)
        *lines, unread[pipe] = (unread.get(pipe, b"") + part).split(b"\n")
        for line in lines:
            said = _Said(**json.loads(line))
            number = workers[pipe][0]
            done[number] = max(done[number], int(said.text.split("-")[1]))
            if said.error:
                self._errors.append(f"{said.text}: {said.error}")
            else:
                self._acknowledged.append(said)
        if not part:
            os.close(pipe)
            os.waitpid(workers.pop(pipe)[1], 0)

    def _start(
        self, world: World, root: Path, number: int, first: int, workers: dict[int, tuple[int, int]]
    ) -> None:
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                for index in range(first, self._checkpoints):
                    text = f"w{number}-{index}-{os.getpid()}"
                    said = _checkpoint(lambda: self._guard(world, root), text, root)
                    os.write(writer, json.dumps(said._asdict()).encode() + b"\n")
            finally:
                os._exit(0)
        os.close(writer)
        workers[reader] = number, process

    # Proof

    def _prove(self, world: World, roots: list[Path]) -> None:
        world.clock.advance(_REF_LOCK_AGE)
        wanted = len(self._acknowledged) + self._killed
        if wanted < self._processes * self._checkpoints and not self._errors:
            self._errors.append(f"only {wanted} checkpoints were tried")
        for root in dict.fromkeys(roots):
            try:
                self._prove_session(world, root)
            except GitguardError as error:
                self._errors.append(f"{root.name}: {type(error).__name__}: {error}")
        if said := world.git("fsck", "--strict", "--no-dangling", "--full"):
            self._errors.append(f"git fsck says: {said}")

    def _prove_session(self, world: World, root: Path) -> None:
        guard = self._guard(world, root)
        guard.ensure()
        if not guard.checkpoint("All is said.").commit:
            self._errors.append("the last checkpoint is pending")
        log = guard.log(100_000)
        if [c.sequence for c in log] != list(range(len(log), 0, -1)):
            self._errors.append(f"{root.name}: the sequence has gaps")
        here = [s for s in self._acknowledged if self._shape.session or s.root == str(root)]
        numbers = {c.id: c.sequence for c in log}
        learnings = texts(guard.state().learnings)
        for said in here:
            if numbers.get(said.commit) != said.sequence:
                self._errors.append(f"{said.text}: {said.commit} is not number {said.sequence}")
            if learnings.count(said.text) != 1:
                self._errors.append(
                    f"{said.text} is in the state {learnings.count(said.text)} times"
                )


def _checkpoint(open_guard: Callable[[], Guard], text: str, root: Path) -> _Said:
    """Note a text with a checkpoint, waiting where others are at work."""
    said = _Said(text, "", 0, str(root))
    try:
        for _ in range(_PATIENCE):
            try:
                noted = open_guard().note({"learnings": [text], "current_phase": text})
                break
            except Locked:
                continue
        else:
            return said._replace(error="the lock was never free")
        saved = noted.saved
        for _ in range(_PATIENCE):
            if saved is not None and saved.commit:
                return said._replace(commit=saved.commit, sequence=saved.sequence)
            time.sleep(0.05)  # pending: somebody holds the ref's lock
            saved = open_guard().checkpoint("Again.")
    except GitguardError as error:
        return said._replace(error=f"{type(error).__name__}: {error}")
    return said._replace(error=f"pending for ever: {saved.pending if saved else ''}")


def _keep_house(root: Path) -> int:
    """Start what packs refs and collects garbage, as users and their tools do."""
    process = os.fork()
    if process:
        return process
    try:
        while True:
            for command in (["pack-refs", "--all", "--prune"], ["gc", "--quiet"]):
                subprocess.run(["git", *command], cwd=root, capture_output=True, check=False)
                time.sleep(0.2)
    finally:
        os._exit(0)
