"""Keeps what was advised and what became of it, and looks back over all sessions."""

from __future__ import annotations

from itertools import islice

from gitguard.errors import GitguardError
from gitguard.model.triggers import ADVICE
from gitguard.model.value import Value
from gitguard.profile import advice_log
from gitguard.profile.advice_log import LoggedAdvice
from gitguard.profile.habits import Advised, GivenAdvice, Habit, add_up, advice_in, sentence
from gitguard.store.session.naming import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gitguard.store.session.archive import Archived
    from gitguard.store.session.store import SessionStore

_MOST_LOOKED_AT = 2_000
"""Of a session's newest checkpoints."""


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
    store_of: Callable[[Session], SessionStore],
    heads: Mapping[str, str],
    archived: Iterable[Archived],
    state_folder: str,
) -> Past:
    """Return the advice of all sessions; heads are their branches, by name.

    Archived histories are sessions of their own, named with their heads: the next session often
    has the same name. Versions before this one kept each advice in a checkpoint.
    """
    advised: list[Advised] = []
    problems = []
    histories = [(name, head, "") for name, head in heads.items()]
    histories += [(each.name, each.commit, f"@{each.commit[:12]}") for each in archived]
    past_heads: dict[str, str] = {}
    for name, head, suffix in histories:
        try:
            checkpoints = _advised_in(store_of(Session(name, name)), head, suffix, past_heads)
        except GitguardError as error:
            problems.append(f"{name}{suffix}: {error.message}")
        else:
            advised += checkpoints
    try:
        for logged in advice_log.newest_first(state_folder):
            advice = advice_in(logged.sentence)
            if advice is not None:
                session = logged.session + past_heads.get(logged.head, "")
                advised.append(Advised(session, logged.at, advice))
    except GitguardError as error:
        problems.append(error.message)
    advised.sort(key=lambda each: -each.at)
    return Past(tuple(advised), add_up(advised), tuple(problems))


def _own_newest(store: SessionStore) -> str:
    """Return the newest checkpoint that this machine wrote; raise why there is none."""
    head, verdict = store.judged_head()
    if verdict.problem is not None and not head.committed:
        raise verdict.problem
    return head.committed


def _advised_in(
    store: SessionStore, head: str, suffix: str, past_heads: dict[str, str]
) -> list[Advised]:
    """Return the advice in a history's checkpoints, the newest first.

    Of an archived one each commit is noted with the suffix that names it.
    """
    advised = []
    start = head if suffix else _own_newest(store)
    for checkpoint in islice(store.chain.history(start), _MOST_LOOKED_AT):
        if suffix:
            past_heads[checkpoint.id] = suffix
        advice = advice_in(checkpoint.why) if checkpoint.trigger == ADVICE else None
        if advice is not None:
            advised.append(Advised(f"{checkpoint.session_key}{suffix}", checkpoint.at, advice))
    return advised
