"""How fast all sessions are searched: a row of `make bench`."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gitguard.model.codec import STATE_FILE, dump_json
from gitguard.state.checkpoint import CheckpointRecord
from gitguard.state.items import Decision, Exchange, Note, Origin, derived_id
from gitguard.store.session.anchor import INDEX
from tests.benches.bench_verify import import_history

if TYPE_CHECKING:
    from gitguard.state.task import TaskState
    from tests.benches.bench_workspace import Scratch

FAST_ENOUGH_MS = 100.0
_STANDING = 12
"""Items of a list that stand in one checkpoint."""
_WORDS = (
    *("parser", "token", "buffer", "retry", "queue", "index", "cursor", "schema", "cache"),
    *("socket", "window", "branch", "thread", "lock", "timeout", "header", "cookie", "session"),
    *("worker", "batch", "stream", "codec", "tree", "commit", "merge", "rebase", "filter"),
)


def _sentence(number: int, length: int) -> str:
    """A sentence of its own for each number."""
    words = (_WORDS[(number * 7 + n * n + n * number) % len(_WORDS)] for n in range(length))
    return f"{' '.join(words)} in case {number}"


def state_of(state: TaskState, number: int) -> TaskState:
    """The state at a checkpoint: one more decision, learning and message, and the oldest gone."""
    numbers = range(max(number - _STANDING, 0), number + 1)
    origin = Origin(when="2026-01-31T09:30:00Z")

    def named(kind: str, n: int) -> str:
        return derived_id(kind, str(n))

    return state.replace(
        next_action=_sentence(number, 8),
        decisions=tuple(
            Decision(f"d{n}", _sentence(n, 9), _sentence(n + 1, 8), id=named("d", n), origin=origin)
            for n in numbers
        ),
        learnings=tuple(
            Note(_sentence(n + 2, 12), id=named("l", n), origin=origin) for n in numbers
        ),
        exchanges=tuple(
            Exchange(_sentence(n + 3, 40), "request", id=named("e", n), origin=origin)
            for n in numbers
        ),
    )


def long_work(
    scratch: Scratch,
    state: TaskState,
    record: CheckpointRecord,
    contents: Mapping[str, bytes],
    count: int,
) -> None:
    """Give a session a history in which each checkpoint says something new in four fields."""

    def version(number: int) -> tuple[str, Mapping[str, bytes]]:
        document = state_of(state, number).to_document()
        why = f"Because of {_sentence(number + 4, 5)}"
        return why, {**contents, STATE_FILE: dump_json(document)}

    import_history(scratch, record, contents, count, version=version)


def index_size(scratch: Scratch) -> int:
    """Return the bytes of the current session's index."""
    workspace = scratch.guard.workspace
    folder = workspace.anchor_folder(scratch.guard.current_session())
    return sum(os.path.getsize(Path(folder) / name) for name in INDEX)


def build_seconds(scratch: Scratch) -> float:
    """Return how long the first search takes, which makes the index."""
    began = time.perf_counter()
    scratch.guard.review.search(("parser",))
    return time.perf_counter() - began
