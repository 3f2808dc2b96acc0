"""Closes a session: a last checkpoint, then it is put away until somebody brings it back."""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidInput, NotInitialised, Pending
from gitguard.model import triggers
from gitguard.sessions.choice import is_not_in_force, living_owner, refuse_unknown
from gitguard.state.circumstances import Circumstances
from gitguard.store.session import state_file
from gitguard.store.session.anchor import archived_names
from gitguard.store.session.archive import Archived, SessionArchive
from gitguard.store.session.conversations import all_conversations
from gitguard.store.session.current import current_name, leave_session
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.store.session.workspace import Workspace


def archive_of(store: SessionStore) -> SessionArchive:
    """Return the archive of a session."""
    return SessionArchive(store.workspace, store.repository(), store.chain, store.session)


def close(store: SessionStore) -> Archived:
    """Put a session away; where it is the workspace's current one, there is none from then on.

    Raises `InvalidInput` while a conversation of it is halted, or where another worktree owns it,
    and `Pending` where its last checkpoint cannot be committed.
    """
    workspace, session = store.workspace, store.session
    refuse_unknown(store)
    owner = living_owner(workspace, session)
    if owner:
        raise InvalidInput(
            f"the session `{session.key:.80}` belongs to the worktree of `{owner}`",
            "Close it there",
        )
    with store.lock():
        _refuse_halted(workspace, session)
        archived = put_away(store, "The session is closed.")
        if current_name(workspace) == session.name:
            leave_session(workspace)
            workspace.at_step("current-left")
    return archived


def put_away(store: SessionStore, why: str) -> Archived:
    """Archive a session whose lock is held, with all that it holds committed."""
    head = store.chain.head(settle=True)
    reading, anchor = store.states.read(), head.anchor
    if is_not_in_force(reading, head):
        return _newest(store)[1]  # it is archived, and died before it could say so
    ready = state_file.newest_own(reading)
    is_committed = anchor is not None and (ready is None or ready.sha256 == anchor.state_sha256)
    if reading.standing != state_file.ABSENT or reading.problem or not is_committed:
        saved = store.checkpoint(triggers.MANUAL, why, Circumstances(), if_changed=True)
        if saved.pending:
            raise Pending(f"the last checkpoint is pending: {saved.pending}", saved.way_out)
    return archive_of(store).put(store.own_head())


def _refuse_halted(workspace: Workspace, session: Session) -> None:
    for key, record in all_conversations(workspace, session).items():
        if record.halt is not None:
            raise InvalidInput(
                f"the conversation `{key:.80}` of this session is halted: {record.halt.reason}",
                "Lift the halt with `gitguard override --reason …`, or compact the conversation",
            )


# Bringing back


def histories_if_archived(store: SessionStore) -> tuple[Archived, ...]:
    """Return a session's archived histories, oldest first; none where it is in force."""
    return store.at_one_moment(lambda: _histories_if_archived(store), recheck_if=bool)


def _histories_if_archived(store: SessionStore) -> tuple[Archived, ...]:
    try:
        reading, head = store.states.read(), store.chain.head()
    except GitguardError:
        return ()  # there is something, and looking says what is wrong with it
    return tuple(archive_of(store).all()) if is_not_in_force(reading, head) else ()


def refuse_archived(store: SessionStore) -> None:
    """Refuse to begin another session under an archived one's name, without being asked to."""
    if histories_if_archived(store):
        raise InvalidInput(
            f"the session `{store.session.key:.80}` is archived",
            f"Reopen it with `gitguard session reopen {store.session.name}`",
        )


def all_archived(workspace: Workspace, config: Config) -> list[Archived]:
    """Return the archived histories of all sessions."""
    names = archived_names(workspace)
    stores = (SessionStore(workspace, Session(name, name), config) for name in names)
    return [archived for store in stores for archived in archive_of(store).all()]


def find_archived(
    any_store: SessionStore, key_or_name: str, head: str = ""
) -> tuple[Session, Archived]:
    """Return an archived history by its session's key or name: the last, or the one at a head."""
    name = (
        key_or_name
        if key_or_name in archived_names(any_store.workspace)
        else Session.of(key_or_name).name
    )
    store = SessionStore(any_store.workspace, Session(name, name), any_store.config)
    key, newest = _newest(store, head)
    return Session(key, name), newest


def _newest(store: SessionStore, head: str = "") -> tuple[str, Archived]:
    """Return the history that was archived last, and the key of its session."""
    refs = store.chain.archives()
    for short, error in store.chain.damaged().items():
        if short.startswith(head[:12]):
            raise error  # it may be the last, and no other is taken in its place
    histories = [
        archived
        for archived in archive_of(store).all()
        if archived.commit.startswith(head) and archived.ref in refs
    ]
    if not histories:
        names = ", ".join(f"`{name}`" for name in archived_names(store.workspace)) or "none"
        at = f" at `{head:.80}`" if head else ""
        raise NotInitialised(
            f"no history of a session `{store.session.key:.80}`{at} is archived",
            f"Archived sessions: {names}",
        )
    if head and len(histories) > 1:
        raise InvalidInput(
            f"`{head:.80}` matches several archived histories",
            f"Name one of {', '.join(history.commit[:12] for history in histories)}",
        )
    key = store.chain.read(refs[histories[-1].ref]).checkpoint.session_key
    return key, histories[-1]


def bring_back(store: SessionStore, archived: Archived) -> None:
    """Make an archived history the session's own again."""
    with store.lock():
        store.chain.head(settle=True)
        archive_of(store).bring_back(archived)
