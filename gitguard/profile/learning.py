"""Keeps what was advised and what became of it, and looks back over all sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from gitguard.errors import GitguardError
from gitguard.model.value import Value
from gitguard.profile import advice_log
from gitguard.profile.habits import Advised, GivenAdvice, Habit, add_up
from gitguard.store.session.archive import Archived
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

_MOST_LOOKED_AT = 2_000
"""Of an archived session's newest checkpoints."""


class Past(Value):
    """The advice of all sessions, and what it adds up to."""

    advised: tuple[Advised, ...]
    """The newest first."""
    habit: Habit
    problems: tuple[str, ...] = ()
    """Sessions that could not be looked through, and why."""


def record_advice(store: SessionStore, advice: GivenAdvice) -> None:
    """Keep an advice in the state directory, without secrets; the workspace stays as it is.

    Raises `NotWritable` and `Locked`.
    """
    workspace = store.workspace
    clean, _ = advice.redacted(workspace.redactor)
    advised = Advised(store.session.key, int(store.clock()), clean, _head(store))
    advice_log.append(workspace.state_folder, advised, store.clock)


def _head(store: SessionStore) -> str:
    try:
        anchor = store.chain.anchors.read()
    except GitguardError:
        return ""  # whoever uses the history says so
    return anchor.committed if anchor else ""


def is_newest(store: SessionStore, advice: GivenAdvice) -> bool:
    """Say whether the newest advice in the session is this very one."""
    clean, _ = advice.redacted(store.workspace.redactor)
    logged = advice_log.newest_first(store.workspace.state_folder)
    of_session = (each.advice for each in logged if each.session == store.session.key)
    return next(of_session, None) == clean


def past_advice(
    store_of: Callable[[Session], SessionStore], archived: Iterable[Archived], state_folder: str
) -> Past:
    """Return the advice of all sessions.

    Archived histories are sessions of their own, named with their heads: the next session often
    has the same name.
    """
    advised: list[Advised] = []
    problems = []
    archived_as: dict[str, str] = {}
    for archive in archived:
        suffix = f"@{archive.commit[:12]}"
        try:
            store = store_of(Session(archive.name, archive.name))
            history = store.chain.history(archive.commit)
            archived_as.update((c.id, suffix) for c in islice(history, _MOST_LOOKED_AT))
        except GitguardError as error:
            problems.append(f"{archive.name}{suffix}: {error.message}")
    try:
        for each in advice_log.newest_first(state_folder):
            session = each.session + archived_as.get(each.head, "")
            advised.append(each.replace(session=session, head=""))
    except GitguardError as error:
        problems.append(error.message)
    advised.sort(key=lambda each: -each.at)
    return Past(tuple(advised), add_up(advised), tuple(problems))
