"""Keeps what was advised in a session and what became of it, and looks back over all sessions."""

from __future__ import annotations

import os
import time
from itertools import islice

from gitguard.context.gauge import Circumstances
from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model.checkpoint import ADVICE
from gitguard.model.config_handoff import DATE
from gitguard.model.session import Session
from gitguard.model.value import Value
from gitguard.policy.history import Advised, GivenAdvice, Habit, add_up, advice_in, sentence
from gitguard.session_store import Saved, SessionStore
from gitguard.store import artifacts, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gitguard.model.checkpoint import Checkpoint
    from gitguard.store.archive import Archived

_MOST_LOOKED_AT = 2_000
"""Of a session's newest checkpoints."""
_READABLE = 0o644
"""The day's log is the user's own file, and not one of ours."""


class Recorded(Value):
    """Where an advice was kept."""

    saved: Saved
    log: str = ""
    """The day's log that got a line, empty where the workspace keeps none."""
    problem: str = ""
    """Why the log did not get it."""


class Past(Value):
    """The advice of all sessions, and what it adds up to."""

    advised: tuple[Advised, ...]
    """The newest first."""
    habit: Habit
    problems: tuple[str, ...] = ()
    """Sessions that could not be looked through, and why."""


def record_advice(store: SessionStore, advice: GivenAdvice) -> Recorded:
    """Keep an advice in a checkpoint of the session, and in the day's log if there is one.

    Only for people and agents who asked for advice: a hook must not write into their files.
    Raises what `SessionStore.checkpoint` raises, and `InvalidInput` for an advice that is none.
    """
    said = store.workspace.redactor.text(sentence(advice))
    with store.lock():
        saved = store.checkpoint(ADVICE, said, Circumstances())
        try:
            log = _note_in_log(store, said)
        except GitguardError as error:
            return Recorded(saved, problem=error.message)
    return Recorded(saved, log)


def is_newest(store: SessionStore, advice: GivenAdvice) -> bool:
    """Say whether the newest advice in the session is this very one."""
    said = store.workspace.redactor.text(sentence(advice))
    newest = next(_kept(store, store.readable_head().committed), None)
    if newest is None:
        return False
    # Of a very long advice the message of a commit holds the beginning.
    is_cut = newest.why.endswith("…") and said.startswith(newest.why[:-1])
    return newest.why == said or is_cut


def _note_in_log(store: SessionStore, said: str) -> str:
    """Append a line to the day's log where its folder is there; return the log's name."""
    now = time.localtime(store.clock())
    root = store.workspace.place.worktree
    name = store.config.handoff.daily_log.replace(DATE, time.strftime("%Y-%m-%d", now))
    path = artifacts.own_path(root, name)
    folder, is_there = os.path.dirname(path), os.path.lexists(path)
    if not is_there and (folder == root or not os.path.isdir(folder)):
        return ""
    line = f"- {time.strftime('%H:%M', now)} gitguard: {said}\n".encode()
    if is_there and os.lstat(path).st_nlink > 1:
        raise InvalidDocument(f"`{name}` is no file with one name only, and is left as it is")
    if is_there:
        files.append(path, line)
    else:
        files.write_bytes(path, line, mode=_READABLE)
    return name


def past_advice(
    store_of: Callable[[Session], SessionStore],
    heads: Mapping[str, str],
    archived: Iterable[Archived] = (),
) -> Past:
    """Look through the checkpoints of all sessions; heads are their branches, by name.

    Archived histories are sessions of their own, named with their heads: the next session often
    has the same name.
    """
    found: list[Advised] = []
    problems = []
    histories = [(name, head, "") for name, head in heads.items()]
    histories += [(one.name, one.commit, f"@{one.commit[:12]}") for one in archived]
    for name, head, at in histories:
        try:
            found += _advised(store_of(Session(name, name)), head, at)
        except GitguardError as error:
            problems.append(f"{name}{at}: {error.message}")
    found.sort(key=lambda each: -each.at)
    return Past(tuple(found), add_up(found), tuple(problems))


def _advised(store: SessionStore, head: str, at: str) -> list[Advised]:
    return [
        Advised(f"{checkpoint.session_key}{at}", checkpoint.at, advice)
        for checkpoint in _kept(store, head if at else store.readable_head().committed)
        if (advice := advice_in(checkpoint.why)) is not None
    ]


def _kept(store: SessionStore, head: str) -> Iterator[Checkpoint]:
    """Yield the checkpoints that hold an advice, the newest first."""
    newest = islice(store.chain.history(head), _MOST_LOOKED_AT)
    return (checkpoint for checkpoint in newest if checkpoint.trigger == ADVICE)
