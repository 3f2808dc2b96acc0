"""What was advised on hosts' settings in a repository, kept in the user's state directory.

A question is no change: nothing of it is written into the workspace or its history.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from gitguard.errors import InvalidDocument
from gitguard.model.codec import dump_line, load_json
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock

_NAME = "_advice.jsonl"
"""The names of sessions never begin with `_`."""
_LOCK_TIMEOUT = 5.0
_MOST = 5_000
"""So many of the newest lines are read."""


class LoggedAdvice(Value):
    """One advice as the log keeps it."""

    at: int
    """Unix seconds."""
    session: str
    """The key of the session that was in force."""
    head: str
    """Its newest checkpoint's commit, empty before the first."""
    sentence: str


def path_in(state_folder: str) -> str:
    """Return where a repository's log lies."""
    return os.path.join(state_folder, _NAME)


def append(state_folder: str, advice: LoggedAdvice, clock: Callable[[], float]) -> None:
    """Keep an advice, durable as any other line; raises `NotWritable` and `Locked`."""
    path = path_in(state_folder)
    files.make_folder(state_folder)
    with Lock(f"{path}.lock", timeout=_LOCK_TIMEOUT, clock=clock):
        files.append(path, dump_line({name: getattr(advice, name) for name in advice.field_names}))


def newest_first(state_folder: str) -> Iterator[LoggedAdvice]:
    """Yield what was kept, the newest first; a line that cannot be read is passed over.

    Raises `InvalidDocument` or `NotReadable` where the log itself does not.
    """
    path = path_in(state_folder)
    try:
        for line in files.lines_backwards(path, most=_MOST):
            advice = _advice_in(line)
            if advice is not None:
                yield advice
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.unreadable(path, error) from error


def _advice_in(line: bytes) -> LoggedAdvice | None:
    """Read a line back; None for one that a crash tore before it was acknowledged."""
    try:
        document = load_json(line, what="an advice")
        advice = LoggedAdvice(**{name: document[name] for name in LoggedAdvice.field_names})
    except (InvalidDocument, KeyError):
        return None
    texts = (advice.session, advice.head, advice.sentence)
    is_whole = type(advice.at) is int and all(isinstance(text, str) for text in texts)
    return advice if is_whole else None
