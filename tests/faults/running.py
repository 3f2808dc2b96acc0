"""Goes through all points of a kind of fault, on as many processors as it may."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.faults import proof
from tests.faults.acting import Outcome
from tests.faults.kind import Kind
from tests.faults.report import Failure, Row
from tests.faults.scenarios import BY_NAME, Scenario
from tests.faults.world import World

_LONGEST = 2000
"""Characters of a failure; what several processes write into a pipe stays whole if it is short."""


class Share:
    """The points that one of several processes tries."""

    def __init__(self, kind: Kind, folder: Path, number: int, of: int, every: int) -> None:
        self._kind = kind
        self._folder = folder
        self._part = slice(number * every, None, of * every)

    def run(self, scenario: Scenario) -> Iterator[Failure | None]:
        """Try a scenario's points; yield the failure of each, None where there is none."""
        try:
            yield from self._run(scenario)
        except Exception:  # a harness that cannot try is a failure as well
            why = traceback.format_exc(limit=-4)
            yield Failure(f"{self._kind.name}/{scenario.name}", why[-_LONGEST:])

    def _run(self, scenario: Scenario) -> Iterator[Failure | None]:
        world = self._kind.make_world(self._folder / scenario.name)
        try:
            expected = proof.expect(world, scenario)
            for point in self._kind.points(world, scenario)[self._part]:
                why = try_point(world, scenario, expected, self._kind, point)
                name = f"{self._kind.name}/{scenario.name}/{point}"
                yield Failure(name, why[:_LONGEST]) if why else None
        finally:
            world.remove()


def try_point(
    world: World, scenario: Scenario, expected: proof.Expected, kind: Kind, point: str
) -> str:
    """Let a fault happen and prove what has to hold; return what does not."""
    world.put_back()
    outcome = Outcome()
    try:
        outcome = kind.strike(world, scenario, point)
        if outcome.error and not outcome.is_ours and not kind.raises_by_itself:
            raise proof.Broken("that is no error of ours")
        proof.prove(world, scenario, expected, outcome)
    except proof.Broken as broken:
        return f"{outcome}; {broken}"
    except Exception:
        return f"{outcome}; {traceback.format_exc(limit=-4)}"
    return ""


def run_kind(
    kind: Kind,
    scenarios: Iterable[str],
    *,
    jobs: int,
    every: int = 1,
    tell: Callable[[int, list[Failure]], None] = lambda tried, failures: None,
) -> Row:
    """Try a kind of fault in scenarios; every n-th point only, where there is less time."""
    began = time.monotonic()
    if why_not := kind.why_not():
        return Row(kind.name, 0, (), 0, f"not tried: {why_not}")
    tried = 0
    failures: list[Failure] = []
    wanted = [BY_NAME[name] for name in scenarios]
    for failure in _in_processes(kind, wanted, 1 if kind.alone else jobs, every):
        tried += 1
        failures += [failure] if failure else []
        tell(tried, failures)
    return Row(kind.name, tried, tuple(failures), time.monotonic() - began)


def _in_processes(
    kind: Kind, scenarios: list[Scenario], jobs: int, every: int
) -> Iterator[Failure | None]:
    folder = Path(tempfile.mkdtemp(prefix="gitguard-faults-", dir=fast_folder()))
    reader, writer = os.pipe()
    children = []
    for number in range(jobs):
        share = Share(kind, folder / str(number), number, jobs, every)
        child = os.fork()
        if child == 0:
            os.close(reader)
            _work(share, scenarios, writer)
        children.append(child)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as pipe:
            while True:
                try:
                    yield pickle.load(pipe)
                except EOFError:
                    break
    finally:
        ended = [os.waitpid(child, 0)[1] for child in children]
        shutil.rmtree(folder, ignore_errors=True)
    if any(ended):
        raise RuntimeError(f"a process that tries `{kind.name}` faults ended with {ended}")


def _work(share: Share, scenarios: list[Scenario], writer: int) -> None:
    try:
        for scenario in scenarios:
            for failure in share.run(scenario):
                os.write(writer, pickle.dumps(failure))
    finally:
        os._exit(0)


def fast_folder() -> str | None:
    """Return a folder in memory where there is one: thousands of syncs cost nothing there."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
