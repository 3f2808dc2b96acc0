"""Lets a writer come in between whatever a reader does, and a reader between a writer's steps."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gitguard.store.disk import lock
from tests.faults.acting import act_apart
from tests.faults.scenarios import Scenario
from tests.faults.step_faults import steps_of
from tests.faults.world import World

_OPENS, _STARTS = ("open", "os.listdir", "os.scandir"), ("subprocess.Popen", "os.posix_spawn")
_heard: list[Callable[[], None]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if not _heard or event not in (*_OPENS, *_STARTS):
        return
    if event in _OPENS and str(arguments[0]).endswith((".py", ".pyc", ".so")):
        return  # Python's own, whenever it first needs a module
    for hear in tuple(_heard):
        hear()


sys.addaudithook(_hear)


@contextmanager
def hearing(hear: Callable[[], None]) -> Iterator[None]:
    """Call hear before this thread opens a file or starts a program."""
    reader = threading.get_ident()

    def hear_reader() -> None:
        if threading.get_ident() == reader:
            hear()

    _heard.append(hear_reader)
    try:
        yield
    finally:
        _heard.remove(hear_reader)


def places_in(read: Callable[[], object]) -> int:
    """Return at how many places somebody can come in between while read is called."""
    places = 0

    def count() -> None:
        nonlocal places
        places += 1

    with hearing(count):
        read()
    return places


def interrupted(read: Callable[[], object], at: int, write: Callable[[], object]) -> object:
    """Call read and return what it returns; another process calls write at one place."""
    place = 0

    def come_in() -> None:
        nonlocal place
        place += 1
        if place == at + 1 and not lock.held():  # else the writer would wait for the reader
            apart(write)

    with hearing(come_in):
        return read()


def apart(act: Callable[[], object]) -> None:
    """Call act in a process of its own; raise what it raises."""
    outcome = act_apart(lambda: _in_silence(act))
    if outcome.error or outcome.signal:
        raise AssertionError(f"the writer {outcome}")


def _in_silence(act: Callable[[], object]) -> object:
    _heard.clear()
    return act()


class HeldWriter:
    """A process that writes, and waits at one of its steps until it is let go."""

    def __init__(self, world: World, scenario: Scenario, at: int) -> None:
        """Begin to write, and return once the step is reached."""
        held, self._tell = os.pipe()
        self._wait, self._go = os.pipe()
        seen = 0

        def hold(_step: str) -> None:
            nonlocal seen
            seen += 1
            if seen == at + 1:
                os.write(self._tell, b".")
                os.read(self._wait, 1)

        world.at_step = hold
        self._thread = threading.Thread(target=scenario.run, args=(world,))
        self._thread.start()
        os.read(held, 1)
        os.close(held)
        world.at_step = str

    def let_go(self) -> None:
        """Let it write on, and wait for its end."""
        if not self.has_ended:
            os.write(self._go, b".")
            self._thread.join()
            for handle in (self._tell, self._wait, self._go):
                os.close(handle)

    @property
    def has_ended(self) -> bool:
        """Whether it was let go."""
        return not self._thread.is_alive()


def held_writers(
    world: World, scenario: Scenario
) -> Iterator[tuple[str, Callable[[], HeldWriter]]]:
    """Yield each step of a scenario, with what begins it anew and holds it there."""
    steps = steps_of(world, scenario)
    for number, step in enumerate(steps):

        def begin(at: int = number) -> HeldWriter:
            world.put_back()
            return HeldWriter(world, scenario, at)

        yield f"{number}:{step}", begin
