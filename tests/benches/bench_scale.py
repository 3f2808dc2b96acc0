"""Whether gitguard stays as fast with 1,000 sessions as with ten (`make bench-scale`).

A store of 1,000 sessions, 100,000 checkpoints and 200 lanes stands beside one of a hundredth, and
each command takes turns in both. A ratio is the large store's time over the small one's.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from gitguard.model.codec import STATE_FILE, dump_json
from gitguard.state.changes import update_state
from gitguard.state.items import Origin
from gitguard.state.task import new_task
from gitguard.store.session.lanes import LANES, OwnLane, WriterFile, new_writer
from gitguard.store.session.workspace import Session
from tests.benches.bench import compose_checkpoint
from tests.benches.bench_search import state_of
from tests.benches.bench_verify import History, import_histories
from tests.benches.bench_workspace import COMMAND, Scratch
from tests.support.measuring import Row, compare, limited, report, table_parser, timed

SESSIONS, CHECKPOINTS, LANES_THERE = 1_000, 100, 200
SMALLER = 100
"""How many times fewer sessions and lanes the small store has."""
_IN_ONE_PACK = 100
"""How many sessions' histories lie in one pack."""
WRITERS, SHARDS, ROUNDS, _AT_A_TIME = 50, 5, 2, 4
FLAT, BY_LANES = 1.5, 4.0
"""What a command may take of the small store's time: one that reads a session, and one that lists
all sessions or lanes."""


class Store:
    """A repository with sessions of a hundred checkpoints each, and a remote with lanes."""

    def __init__(self, folder: Path, name: str, sessions: int, lanes: int) -> None:
        """Write all of it."""
        self.scratch = Scratch(folder, name)
        self.remote = folder / f"{name}.git"
        self.scratch.git("init", "--quiet", "--bare", str(self.remote))
        self.scratch.git("remote", "add", "origin", str(self.remote))
        self._fill(sessions)
        self._others(lanes)

    def _fill(self, sessions: int) -> None:
        guard = self.scratch.guard
        for first in range(0, sessions, _IN_ONE_PACK):
            histories = []
            for number in range(first, min(first + _IN_ONE_PACK, sessions)):
                guard.sessions.use(Session.of(f"session-{number}"))
                guard.note({"goal": f"Goal {number}"})
                guard.checkpoint("Measure.")
                histories.append(self._history(f"session-{number}", number))
            import_histories(self.scratch, histories)

    def _history(self, key: str, number: int) -> History:
        store = self.scratch.store()
        head = store.own_head()
        now = "2026-01-31T09:30:00Z"
        first, _ = update_state(new_task(key, now), {"goal": f"Goal {number}"}, Origin(when=now))
        record, contents = compose_checkpoint(first, head, head.own_anchor.sequence)

        def version(at: int) -> tuple[str, Mapping[str, bytes]]:
            document = state_of(first, number * CHECKPOINTS + at).to_document()
            return f"Turn {at}", {**contents, STATE_FILE: dump_json(document)}

        return History(store, record, CHECKPOINTS - 1, version)

    def _others(self, lanes: int) -> None:
        """Push lanes of as many machines as if each had copied a session of ours."""
        scratch = self.scratch
        file = WriterFile(scratch.guard.workspace)
        for number in range(lanes):
            file.write(new_writer())
            store = scratch.guard.store(Session.of(f"session-{number % 10}"))
            OwnLane(store, file, {}).extend(lambda *_: None)
        scratch.git("push", "--quiet", "origin", f"{LANES}*:{LANES}*")
        # Now they are others': nothing here knows them.
        listed = scratch.git("for-each-ref", "--format=delete %(refname)", LANES)
        scratch.git("update-ref", "--stdin", stdin=listed)
        file.write(new_writer())

    def command(self, *words: str) -> Callable[[], object]:
        """Return what runs a gitguard command here."""
        return partial(self.scratch.run, COMMAND, *words)


COMMANDS = (
    (("status",), FLAT),
    (("resume",), FLAT),
    (("log", "-5"), FLAT),
    (("search", "parser", "token"), BY_LANES),
    (("session", "list"), BY_LANES),
)


def rows(folder: Path, runs: int) -> Iterator[Row]:
    """Build both stores and compare them."""
    folder.mkdir(exist_ok=True)
    few = SESSIONS // SMALLER
    began = time.perf_counter()
    small = Store(folder, "small", few, max(LANES_THERE // SMALLER, 1))
    large = Store(folder, "large", SESSIONS, LANES_THERE)
    count = SESSIONS * CHECKPOINTS
    print(f"built in {time.perf_counter() - began:.0f} s: {count:,} checkpoints", file=sys.stderr)
    for words, target in COMMANDS:
        yield _compared(large, small, words, target, runs)
    hook = ("note", "--next", "Go on")
    yield _compared(large, small, hook, FLAT, runs)
    yield _compared(large, small, ("checkpoint",), FLAT, runs)
    one = ("sync", "--session", "session-1", "--yes")
    took = timed(large.command(*one))
    yield limited(f"first sync of a session, {LANES_THERE} lanes, ms", took * 1e3, 10_000)
    small.command(*one)()
    yield _compared(large, small, one, BY_LANES, runs)
    yield from _sizes(large)


def over_shards(folder: Path) -> Iterator[Row]:
    """Sync the sessions of many machines, several at a time, over a few repositories."""
    folder.mkdir(exist_ok=True)
    settings = folder / "home" / ".config" / "gitguard" / "config.yaml"
    settings.parent.mkdir(parents=True)
    address = f"{folder}/{{repository}}-{{shard}}.git"
    settings.write_text(f"sync:\n  remote: {address}\n  shards: {SHARDS}\n")
    writers = [_writer(folder, number) for number in range(WRITERS)]
    for shard in range(SHARDS):
        writers[0].git("init", "--quiet", "--bare", str(folder / f"work-{shard}.git"))
    began = time.perf_counter()
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        for _ in range(ROUNDS):
            tuple(pool.map(_checkpoint_and_sync, writers))
    rate = WRITERS * ROUNDS / (time.perf_counter() - began)
    print(f"{WRITERS} writers, {SHARDS} repositories: {rate:.1f} syncs a second", file=sys.stderr)
    listed = [
        writers[0].git("ls-remote", str(folder / f"work-{shard}.git"), f"{LANES}*").splitlines()
        for shard in range(SHARDS)
    ]
    arrived = sum(map(len, listed))
    yield Row("lanes that arrived", arrived, "writers", WRITERS, WRITERS / max(arrived, 1), 1.0)
    yield limited("lanes in the fullest repository", max(map(len, listed)), 2 * WRITERS / SHARDS)


def _writer(folder: Path, number: int) -> Scratch:
    """A machine with a session of its own; its project has the same name as everybody's."""
    scratch = Scratch(folder, f"machine-{number}")
    scratch.git("remote", "add", "origin", "https://git.example/team/work.git")
    scratch.guard.sessions.use(Session.of(f"session-{number}"))
    return scratch


def _checkpoint_and_sync(scratch: Scratch) -> None:
    scratch.run(COMMAND, "note", "--learning", f"At {time.time()}")
    scratch.run(COMMAND, "checkpoint")
    scratch.run(COMMAND, "sync", "--yes", "--session", scratch.guard.current_session().key)


def _compared(large: Store, small: Store, words: tuple[str, ...], target: float, runs: int) -> Row:
    what = f"{' '.join(words)}, {SESSIONS:,} sessions"
    beside = f"{SESSIONS // SMALLER:,} sessions"
    return compare(what, large.command(*words), beside, small.command(*words), target, runs)


def _sizes(store: Store) -> Iterator[Row]:
    """What the repository's folder holds after maintenance."""
    settings = store.scratch.root.parent / "home" / ".config" / "gitguard" / "config.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("maintenance:\n  most_sessions: 100000\n")
    store.command("session", "maintain", "--mode", "enforce")()
    git_dir = store.scratch.root / ".git"
    loose = sum(len(files) for _, _, files in os.walk(git_dir / "refs"))
    objects = (
        files for path, _, files in os.walk(git_dir / "objects") if len(Path(path).name) == 2
    )
    yield limited("loose refs", loose, 2_000)
    yield limited("loose objects", sum(map(len, objects)), 6_700)


def _measured(folder: Path, part: str, runs: int) -> Iterator[Row]:
    if part in "rows":
        yield from rows(folder / "stores", runs)
    if part in "over_shards":
        yield from over_shards(folder / "shards")


def main() -> None:
    """Print the table, or JSON; the exit code says whether every target holds."""
    options = table_parser(__doc__, runs=7).parse_args()
    with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
        measured = _measured(Path(folder), options.only, options.runs)
        report(measured, as_json=options.json)


if __name__ == "__main__":
    main()
