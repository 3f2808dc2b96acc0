"""What a session does around a compaction of its conversation: the state is safe before it."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.hooks import gate
from gitguard.model import triggers
from gitguard.pressure.gauge import measure_pressure
from gitguard.pressure.usage import is_told_of
from gitguard.sessions.handoff.handoff_file import current_work
from gitguard.sessions.resume.sections import sections_of
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.conversations import keep_conversation, with_hold
from gitguard.store.session.current import current_name, current_session
from gitguard.store.session.host_session import read_record
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.compaction.compacting import Compacted
    from gitguard.model.events import Transcript
    from gitguard.sessions.resume.filling import BlockSection
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import Saved, SessionStore
    from gitguard.store.session.workspace import Workspace
    from gitguard.transcripts.fitting.compaction import CompactionPlan

TRIGGER = triggers.COMPACTION


def owner_of(workspace: Workspace, transcript: Transcript, folder: str) -> Session | None:
    """Return the session that a conversation belongs to, which was held in a folder.

    That is the one that was named, else the current one if it knows the conversation, else any
    that does: its hooks told of it, it was imported, or it came along from another session. One
    that nobody told of belongs to the current session if it was held in this workspace, and
    otherwise to none.
    """
    if not workspace.is_initialised:
        return None
    if workspace.places.session:
        return current_session(workspace)
    current = current_name(workspace)
    for name in sorted(workspace.session_names(), key=lambda name: name != current):
        owner = _knowing(workspace, name, transcript)
        if owner is not None:
            return owner
    root, inside = workspace.place.worktree, os.path.realpath(folder) if folder else ""
    is_here = inside == root or inside.startswith(root + os.sep)
    return current_session(workspace) if is_here and current else None


def _knowing(workspace: Workspace, name: str, transcript: Transcript) -> Session | None:
    """Return the session of a name if it knows a conversation; a damaged one knows none."""
    try:
        record = read_record(workspace, Session(name, name))
    except GitguardError:
        return None
    knows = any(
        is_told_of(key, host_session, transcript)
        for key, host_session in record.host_sessions.items()
    )
    return Session(record.key, name) if knows else None


class SessionHooks:
    """Checkpoints a session before and after, and tells its own state to the summary.

    Nothing of it stops a compaction; what went wrong is in `notes`.
    """

    def __init__(self, store: SessionStore, transcript: Transcript) -> None:
        """Serve one compaction of one conversation of the session."""
        self._store = store
        self._transcript = transcript
        self.saved: tuple[Saved, ...] = ()
        self.notes: tuple[str, ...] = ()

    @property
    def session_key(self) -> str:
        """The session's key, by which its history limit is looked up."""
        return self._store.session.key

    def before(self, plan: CompactionPlan) -> None:
        """Checkpoint the state as it is."""
        self._checkpoint(f"Before a compaction of {plan.messages_before:,} messages.")

    def sections(self) -> tuple[BlockSection, ...]:
        """Return what the session's state has to say."""
        try:
            return sections_of(*current_work(self._store, compacting=True))
        except GitguardError as error:
            self._note("the session's state is not in the summary", error)
            return ()

    def after(self, done: Compacted) -> None:
        """Note the compaction in the conversation's record, and checkpoint what it did."""
        try:
            with self._store.lock():
                self._note_compaction()
        except GitguardError as error:
            self._note("the conversation's record does not know of it", error)
        self._checkpoint(
            f"Compacted {done.messages_before:,} messages to {done.messages_after:,}, about "
            f"{done.tokens_before:,} tokens to {done.tokens_after:,}."
        )

    def _checkpoint(self, why: str) -> None:
        try:
            with self._store.lock():
                saved = self._store.checkpoint(TRIGGER, why, self._circumstances())
        except GitguardError as error:
            self._note("there is no checkpoint of it", error)
            return
        self.saved += (saved,)

    def _circumstances(self) -> Circumstances:
        _, host_session = self._record()
        pressure = measure_pressure(
            host_session, self._store.config, transcript=self._transcript, first_turn=False
        )
        return Circumstances(pressure, self._transcript, host_session.epoch)

    def _note_compaction(self) -> None:
        key, host_session = self._record()
        if key:
            workspace, config = self._store.workspace, self._store.config
            noted = gate.notice_compaction(host_session, config, self._transcript, "")
            keep_conversation(workspace, self._store.session, key, noted)

    def _record(self) -> tuple[str, HostSession]:
        """Return the record of the conversation, under no key where hooks never told of it."""
        from gitguard.store.session.host_session import HostSession

        record = read_record(self._store.workspace, self._store.session)
        for key, host_session in record.host_sessions.items():
            if is_told_of(key, host_session, self._transcript):
                return key, with_hold(self._store.workspace, self._store.session, key, host_session)
        return "", HostSession(started_at=self._store.now)

    def _note(self, what: str, error: GitguardError) -> None:
        self.notes += (f"{what}: {error.message}",)
