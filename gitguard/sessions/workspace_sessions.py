"""The sessions of a workspace: begun, chosen, forked, listed, put away and brought back."""

from __future__ import annotations

from gitguard.store.session.current import current_name, current_session
from gitguard.store.session.host_session import read_record
from gitguard.store.session.state_file import Durable
from gitguard.store.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gitguard.errors import Pending
    from gitguard.model.config.config import Config
    from gitguard.model.events import Transcript
    from gitguard.sessions.maintenance import Maintenance
    from gitguard.sessions.session_goals import SessionGoal, SessionListing
    from gitguard.sessions.startup import Startup
    from gitguard.sessions.stored_sessions import Imported, StoredConversation, StoredSession
    from gitguard.sessions.tasks import SessionTask
    from gitguard.state.circumstances import Circumstances
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.archive import Archived
    from gitguard.store.session.store import Saved
    from gitguard.store.session.workspace import Session, Workspace


class WorkspaceSessions:
    """`Guard.sessions`: what is done with the sessions of a workspace as a whole."""

    def __init__(self, workspace: Workspace, config: Config) -> None:
        """Begin with an open workspace and the configuration in force."""
        self.workspace = workspace
        self.config = config
        self.clock = workspace.clock

    def repository(self) -> Repository:
        """Return the door to git."""
        return self.workspace.repository()

    def take_notice(self) -> str:
        """Return once what a person should hear of this repository, such as that it was moved."""
        from gitguard.store.session.identity import take_unsaid

        return take_unsaid(self.workspace)

    def current(self) -> Session:
        """Return the session that work in this workspace belongs to.

        Raises `NotInitialised` where none was begun.
        """
        return current_session(self.workspace)

    def current_name(self) -> str:
        """Return the name of the current session, empty where there is none."""
        return current_name(self.workspace)

    def store(self, session: Session | None = None) -> SessionStore:
        """Return a session's store, the current session's by default."""
        return SessionStore(self.workspace, session or current_session(self.workspace), self.config)

    def ensure(self, circumstances: Circumstances | None = None) -> Startup:
        """Begin, restore or continue the session (references/design/contract.md, "Startup").

        Raises `Complete` when the task says it is done, after its final state is written.
        """
        session = self.any_session()
        with Durable():
            startup = self.begin(session, circumstances)
            self.store(session).states.require_writable()
            startup = startup.replace(notes=(*startup.notes, *self._notices(session)))
        if startup.state.is_done:
            from gitguard.sessions.completion import completion, finish

            store = self.store()
            with store.lock():
                finish(store, store.state())
            raise completion(startup.state)
        return startup

    def why_not_committed(self) -> Pending | None:
        """Return why nothing is committed until a person decides, None where nothing stops it."""
        from gitguard.sessions.resume.building import waiting_for_decision

        return waiting_for_decision(self.store())

    def _notices(self, session: Session) -> tuple[str, ...]:
        """Return what is to be said once of a session's branch."""
        store = self.store(session)
        anchor = store.chain.anchors.read()
        if anchor is None or not anchor.branch_return:
            return ()
        with store.lock():
            notice = store.take_notice(*store.usable_head())
        return (notice,) if notice else ()

    def heads(self) -> dict[str, str]:
        """Return every session of the repository: name and head, empty without a checkpoint."""
        from gitguard.store.session.chain import own_sessions

        heads = own_sessions(self.repository(), self.config.store.ref_prefix)
        return {**dict.fromkeys(self.workspace.session_names(), ""), **heads}

    def remote(self) -> dict[str, str]:
        """Return the sessions that only a remote-tracking branch has: name and head."""
        from gitguard.store.session.chain import remote_sessions

        heads = self.heads()
        remote = remote_sessions(self.repository())
        return {name: head for name, head in remote.items() if not heads.get(name)}

    def find(self, name_or_key: str) -> Session:
        """Return the session of a key, or the one that a name in `session list` stands for."""
        from gitguard.store.session.workspace import Session

        session = Session(name_or_key, name_or_key)
        if name_or_key in self.workspace.session_names():
            return session.replace(key=read_record(self.workspace, session).key)
        if name_or_key in self.heads():
            store = self.store(session)
            head = store.chain.head()
            for checkpoint in store.chain.history(head.committed or head.id):
                return session.replace(key=checkpoint.session_key)
        return Session.of(name_or_key)

    def use(self, session: Session) -> Startup:
        """Make a session the workspace's current one, beginning or restoring it.

        Raises `InvalidInput` where another worktree owns it, or a named session overrides.
        """
        from gitguard.sessions.choice import refuse_use

        refuse_use(self.workspace, session)
        return self.begin(session, pins=True)

    def begin(
        self, session: Session, circumstances: Circumstances | None = None, *, pins: bool = False
    ) -> Startup:
        """Begin, restore or continue a session, without asking whose it is.

        pins is whether hooks stay with it until another branch is checked out.
        """
        from gitguard.sessions.startup import begin

        return begin(
            self.workspace,
            self.repository(),
            self.config,
            session,
            circumstances=circumstances,
            pins=pins,
        )

    def fork(self, session: Session) -> Saved:
        """Go on with the current state in a new session of its own."""
        from gitguard.sessions.forking import fork

        return fork(self.store(), self.store(session), self.repository())

    def any_session(self) -> Session:
        """Return the current session, or the one that `ensure` would begin."""
        from gitguard.sessions.choice import choose_session

        return choose_session(self.workspace, self.repository())

    # What there is

    def keys(self) -> dict[str, str]:
        """Return the keys of the repository's sessions by their names.

        Without working files it is what the newest checkpoint says, and else the name.
        """
        from gitguard.sessions.status import keys_of
        from gitguard.sessions.stored_sessions import committed_keys

        keys = keys_of(self.workspace)
        heads = {name: head for name, head in self.heads().items() if name not in keys}
        return {**committed_keys(self.repository(), heads), **keys}

    def archived(self) -> list[Archived]:
        """Return the archived histories of all sessions."""
        from gitguard.sessions.archiving import all_archived

        return all_archived(self.workspace, self.config)

    def show(self, name_or_key: str = "") -> StoredSession:
        """Describe a session by its key or name, the current one by default, or an archived one.

        Raises `NotInitialised` where nothing is known of it.
        """
        from gitguard.sessions.stored_sessions import stored_session

        return stored_session(self.known_store(name_or_key))

    def tasks(self, name_or_key: str = "") -> tuple[SessionTask, ...]:
        """Return the tasks of a session, the current one by default, the newest first.

        Raises `NotInitialised` where nothing is known of it.
        """
        from gitguard.sessions.choice import refuse_unknown
        from gitguard.sessions.tasks import session_tasks

        store = self.store(self.find(name_or_key) if name_or_key else None)
        refuse_unknown(store)
        return session_tasks(store)

    def goals(self) -> tuple[SessionGoal, ...]:
        """Return what each session is for, archived ones too, as far as this machine wrote it."""
        return self._goals({**dict.fromkeys(self.remote(), ""), **self.keys()})

    def _goals(self, keys: Mapping[str, str]) -> tuple[SessionGoal, ...]:
        from gitguard.sessions.session_goals import session_goals
        from gitguard.store.session.anchor import archived_names
        from gitguard.store.session.workspace import Session

        recorded = self.workspace.recorded_names() & {*keys, *archived_names(self.workspace)}
        sessions = (Session(keys.get(name) or name, name) for name in sorted(recorded))
        return session_goals(map(self.store, sessions))

    def listing(self) -> SessionListing:
        """Return what a list of all sessions tells; git lists the refs once."""
        from gitguard.sessions.session_goals import SessionListing
        from gitguard.store.session.reading_once import ReadingOnce

        with ReadingOnce(self.workspace):
            heads, keys, remote = self.heads(), self.keys(), self.remote()
            return SessionListing(
                current=self.current_name(),
                sessions=heads,
                keys=keys,
                archived=tuple(self.archived()),
                remote=remote,
                goals=self._goals({**dict.fromkeys(remote, ""), **keys}),
                unread=tuple(sorted(heads.keys() - self.workspace.recorded_names())),
            )

    def every_store(self) -> Iterator[SessionStore]:
        """Yield the store of each session: in force, archived, or on a remote-tracking branch."""
        from gitguard.store.session.anchor import archived_names
        from gitguard.store.session.workspace import Session

        others = (*self.remote(), *archived_names(self.workspace))
        for name, key in sorted({**{name: name for name in others}, **self.keys()}.items()):
            yield self.store(Session(key, name))

    def conversations(self, session: Session) -> tuple[StoredConversation, ...]:
        """Return a session's conversations, the one that was used last first."""
        from gitguard.sessions.stored_sessions import stored_conversations

        return stored_conversations(self.store(session))

    def import_transcript(
        self, transcript: Transcript, tell: Callable[[int, int], None] | None = None
    ) -> Imported:
        """Record at the current session that a conversation belongs to it.

        tell is called with how many megabytes of its file are read, of how many.
        """
        from gitguard.sessions.stored_sessions import import_transcript

        return import_transcript(self.store(), transcript, tell)

    def known_store(self, name_or_key: str) -> SessionStore:
        """Return the store of a session by its key or name, the current one's by default.

        It may be archived. Raises `NotInitialised` where nothing is known of it.
        """
        from gitguard.sessions.archiving import find_archived
        from gitguard.sessions.choice import refuse_unknown
        from gitguard.store.session.anchor import archived_names

        store = self.store(self.find(name_or_key) if name_or_key else None)
        is_other = name_or_key not in ("", store.session.name)
        if is_other and name_or_key in archived_names(self.workspace):
            store = self.store(find_archived(store, name_or_key)[0])
        refuse_unknown(store)
        return store

    # Put away and brought back

    def close(self, session: Session | None = None) -> Archived:
        """Take a last checkpoint and put a session away, the current one by default.

        Raises `InvalidInput` while a conversation of it is halted, or where another worktree owns
        it, and `Pending` where its last checkpoint cannot be committed.
        """
        from gitguard.sessions.archiving import close

        return close(self.store(session))

    def reopen(self, name_or_key: str, head: str = "") -> Startup:
        """Bring an archived session back by its key or name, and work at it.

        head names one of several histories; else it is the last. Raises `NotInitialised` for none,
        and what `use` raises, before anything is changed.
        """
        from gitguard.sessions.archiving import bring_back, find_archived
        from gitguard.sessions.choice import refuse_use

        session, archived = find_archived(self.store(self.any_session()), name_or_key, head)
        refuse_use(self.workspace, session)
        bring_back(self.store(session), archived)
        return self.begin(session, pins=True)

    def maintenance(self) -> Maintenance:
        """Return what finds sessions that are to be put away, and puts them away."""
        from gitguard.sessions.maintenance import Maintenance

        return Maintenance(self.store(self.any_session()))
