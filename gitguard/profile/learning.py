"""Keeps what was advised and what became of it, and looks back over all sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from gitguard.errors import GitguardError
from gitguard.model.value import Value
from gitguard.profile import advice_log
from gitguard.profile.advice_log import LoggedAdvice
from gitguard.profile.habits import Advised, GivenAdvice, Habit, add_up, advice_in, sentence
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

    Raises `NotWritable` and `Locked`, and `InvalidInput` for an advice that is none.
    """
    workspace = store.workspace
    text = workspace.redactor.text(sentence(advice))
    logged = LoggedAdvice(int(store.clock()), store.session.key, _head(store), text)
    advice_log.append(workspace.state_folder, logged, store.clock)


def _head(store: SessionStore) -> str:
    try:
        anchor = store.chain.anchors.read()
    except GitguardError:
        return ""  # whoever uses the history says so
    return anchor.committed if anchor else ""


def is_newest(store: SessionStore, advice: GivenAdvice) -> bool:
    """Say whether the newest advice in the session is this very one."""
    text = store.workspace.redactor.text(sentence(advice))
    logged = advice_log.newest_first(store.workspace.state_folder)
    of_session = (each for each in logged if each.session == store.session.key)
    newest = next(of_session, None)
    return newest is not None and newest.sentence == text


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
    for each in archived:
        suffix = f"@{each.commit[:12]}"
        try:
            history = store_of(Session(each.name, each.name)).chain.history(each.commit)
            archived_as.update((c.id, suffix) for c in islice(history, _MOST_LOOKED_AT))
        except GitguardError as error:
            problems.append(f"{each.name}{suffix}: {error.message}")
    try:
        for logged in advice_log.newest_first(state_folder):
            advice = advice_in(logged.sentence)
            if advice is not None:
                session = logged.session + archived_as.get(logged.head, "")
                advised.append(Advised(session, logged.at, advice))
    except GitguardError as error:
        problems.append(error.message)
    advised.sort(key=lambda each: -each.at)
    return Past(tuple(advised), add_up(advised), tuple(problems))
