"""What was advised on hosts' settings in a repository, kept in the user's state directory.

A question is no change: nothing of it is written into the workspace or its history.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import dump_line, load_json
from gitguard.profile.habits import Advised
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock

_NAME = "_advice.jsonl"
"""The names of sessions never begin with `_`."""
_LOCK_TIMEOUT = 5.0
_MOST = 5_000
"""So many of the newest lines are read."""


def path_in(state_folder: str) -> str:
    """Return where a repository's log lies."""
    return os.path.join(state_folder, _NAME)


def append(state_folder: str, advised: Advised, clock: Callable[[], float]) -> None:
    """Keep an advice, durable as any other line; raises `NotWritable` and `Locked`."""
    path = path_in(state_folder)
    files.make_folder(state_folder)
    with Lock(f"{path}.lock", timeout=_LOCK_TIMEOUT, clock=clock):
        files.append(path, dump_line(advised.to_document()))


def newest_first(state_folder: str) -> Iterator[Advised]:
    """Yield what was kept, the newest first; a line that a crash tore is passed over.

    Raises `InvalidDocument` or `NotReadable` where the log itself does not.
    """
    path = path_in(state_folder)
    try:
        for line in files.lines_backwards(path, most=_MOST):
            with suppress(InvalidDocument, InvalidInput):
                yield Advised.from_document(load_json(line, what="an advice"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.unreadable(path, error) from error
