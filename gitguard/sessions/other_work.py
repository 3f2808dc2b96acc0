"""What another conversation of the repository did, read from its session's own records."""

from __future__ import annotations

from gitguard.errors import NotARepository
from gitguard.state.collisions import OtherWork
from gitguard.store.disk import files
from gitguard.store.session.state_file import newest_own
from gitguard.store.session.store import HOOK_LOCK_TIMEOUT, SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.store.session.announced import Announced
    from gitguard.store.session.workspace import Workspace

_READ_LIMIT = 1 << 24


def store_of(workspace: Workspace, config: Config, announced: Announced) -> SessionStore | None:
    """Return the store of a conversation's session, in its own worktree.

    None where that is no worktree of the repository any more.
    """
    try:
        other_workspace = workspace.in_worktree(announced.worktree)
    except NotARepository:
        return None
    session = Session(announced.key, announced.session)
    return SessionStore(other_workspace, session, config, patience=HOOK_LOCK_TIMEOUT)


def may_tell_of(store: SessionStore, texts: tuple[str, ...]) -> bool:
    """Say whether a session's state or journal has one of the texts somewhere.

    It is asked before these are parsed, for most of what is written concerns nobody else.
    """
    from gitguard.model.codec import encode_json

    needles = [encode_json(text)[1:-1].encode("utf-8", "replace") for text in texts]
    for path in (store.states.path, store.journal.path):
        data = files.read_bytes(path, limit=_READ_LIMIT) or b""
        if any(needle in data for needle in needles):
            return True
    return False


def names_any(announced: Announced, texts: tuple[str, ...]) -> bool:
    """Say whether what a conversation announced to do next has one of the texts somewhere."""
    return any(text in intent for intent in announced.intents for text in texts)


def read_work(store: SessionStore, announced: Announced) -> OtherWork | None:
    """Return what a conversation did; None where its session has no state that can be used."""
    from gitguard.state.capture import fold

    ready = newest_own(store.read())
    if ready is None:
        return None
    part = store.journal.read(ready.journal_id, ready.journal_offset)
    state = fold(ready.state, part.unfolded, store.now)
    return OtherWork(
        announced.conversation, state, part.entries, store.now, announced=announced.intents
    )
