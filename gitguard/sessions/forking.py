"""Forks a session: its state goes on in a new session with a history of its own."""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model import triggers
from gitguard.sessions.choice import settle
from gitguard.sessions.startup import begin_start
from gitguard.store.session import standing, state_file
from gitguard.store.session.circumstances import Circumstances

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.store import Saved, SessionStore


def fork(source: SessionStore, target: SessionStore, repository: Repository) -> Saved:
    """Go on with a session's state in a new one."""
    if source.session.name == target.session.name:
        raise InvalidInput(
            f"`{target.session.key[:80]}` is the session itself", "Choose another name"
        )
    with source.lock(), target.lock():
        saved = _fork(source, target)
        settle(
            source.workspace, target.session, repository.checked_out().removeprefix("refs/heads/")
        )
    return saved


def _fork(source: SessionStore, target: SessionStore) -> Saved:
    """Begin a new session with the state of another: a new root, sequence 1."""
    before = target.states.read()
    is_free = before.standing == state_file.ABSENT or target.states.is_starting  # a fork died there
    if target.chain.head().standing != standing.NONE or not is_free:
        raise InvalidInput(
            f"the session `{target.session.key}` exists already", "Choose another name"
        )
    folded, _ = source.fold(source.state())  # its journal does not come along
    state = folded.state.replace(session_id=target.session.key, updated_at=target.now)
    head = source.chain.head()
    origin = head.anchor.committed if head.anchor else ""
    begin_start(target)
    ready = target.save(state, state_file.newest_own(before))
    forked = Circumstances(forked_from=origin or source.session.name)
    why = f"Forked from the session {source.session.name}."
    saved = target.checkpoint(triggers.START, why, forked, ready=ready)
    target.states.end_start()
    return saved
