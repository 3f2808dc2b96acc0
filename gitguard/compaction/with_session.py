"""Compacts a conversation as its user means it: with its session around it and their summarizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from gitguard.compaction import compacting
from gitguard.compaction.compacting import Compacted
from gitguard.errors import GitguardError, InvalidConfig
from gitguard.hooks import gate
from gitguard.model import triggers
from gitguard.model.config.config import Config
from gitguard.model.config.redaction import redactor_of
from gitguard.model.events import Transcript
from gitguard.model.transcript import Answer
from gitguard.model.value import Value
from gitguard.pressure.gauge import measure_pressure
from gitguard.pressure.usage import UNKNOWN, is_told_of
from gitguard.sessions.choice import refuse_unknown
from gitguard.sessions.handoff.handoff_file import current_work
from gitguard.sessions.resume.filling import BlockSection
from gitguard.sessions.resume.sections import sections_of
from gitguard.state.circumstances import Circumstances
from gitguard.store.disk.program import path_of
from gitguard.store.disk.summarizer import SummarizerCommand
from gitguard.store.session.conversations import keep_conversation, with_hold
from gitguard.store.session.current import current_name, current_session
from gitguard.store.session.host_session import HostSession, read_record
from gitguard.store.session.store import Saved, SessionStore
from gitguard.store.session.workspace import Session, Workspace
from gitguard.transcripts.fitting.compaction import CompactionPlan
from gitguard.transcripts.fitting.summarizing import Patience, persistent
from gitguard.transcripts.formats.writable import writer_of


class Asking(Value):
    """What it takes to run the user's summarizer and to wait for it."""

    environment: Mapping[str, str]
    """The user's own, with the PATH on which the command is found."""
    now: Callable[[], float]
    """Seconds of a clock that never goes back."""
    sleep: Callable[[float], None]
    chance: Callable[[], float]
    """A number from 0 to 1."""
    complain: Callable[[str], object] = str
    """Told of each attempt that failed and is tried again."""


class Surroundings(Value):
    """What compacting needs of the program that it is part of; none of it is looked up."""

    random: Callable[[int], bytes]
    asking: Asking | None = None
    """Without it, the summarizer is not asked."""
    tell: Callable[[int, int], object] = max
    """Told how many parts are summarized, of how many, about once a second while one takes long."""
    tell_read: Callable[[int, int], object] = max
    """Told how many bytes are looked through, of how many."""


def compact(
    transcript: Transcript,
    config: Config,
    clock: Callable[[], float],
    surroundings: Surroundings,
    workspace: Workspace | None,
    *,
    host_session: HostSession = UNKNOWN,
    keep_turns: int = 0,
    window: int = 0,
    dry_run: bool = False,
) -> Compacted:
    """Compact a conversation; the session that it belongs to is checkpointed before and after.

    Without a workspace it is no session's. A dry run does not ask the summarizer. Raises what
    `compacting.compact` does, `InvalidConfig` where the summarizer is not a program of the user's,
    and `NotInitialised` where a session is named that is not there.
    """
    held_in = writer_of(transcript).folder
    worktree = workspace.place.worktree if workspace else ""
    session = _session_of(transcript, config, workspace, held_in)
    telling = _Telling(surroundings.tell)
    asking = surroundings.asking if config.summarizer and not dry_run else None
    tools = compacting.Tools(
        clock=clock,
        random=surroundings.random,
        redactor=redactor_of(config.redaction),
        ask=_summarizer(config, asking, telling, held_in, worktree) if asking else None,
        tell=telling,
        tell_read=surroundings.tell_read,
        folder=worktree if session else held_in,
        session_key=session.session_key if session else "",
        host_session=host_session,
        hooks=(session,) if session else (),
    )
    compacted = compacting.compact(
        transcript, config, tools, keep_turns=keep_turns, window=window, dry_run=dry_run
    )
    if session is None:
        return compacted
    return compacted.replace(
        session=session.session_key, checkpoints=session.saved, notes=session.notes
    )


def _session_of(
    transcript: Transcript, config: Config, workspace: Workspace | None, held_in: str
) -> SessionHooks | None:
    """Return the hooks of the session that a conversation belongs to."""
    if workspace is None:
        return None
    if workspace.places.session:
        refuse_unknown(SessionStore(workspace, current_session(workspace), config))
    owner = owner_of(workspace, transcript, held_in)
    return SessionHooks(SessionStore(workspace, owner, config), transcript) if owner else None


def _summarizer(
    config: Config, asking: Asking, telling: _Telling, *foreign: str
) -> Callable[[str], Answer]:
    """Return the user's own command, asked with patience; what lies in foreign folders is none."""
    name, *arguments = config.summarizer
    folders = (os.path.realpath(folder) for folder in foreign if folder)
    path = path_of(name, asking.environment, *folders)
    if not path:
        raise InvalidConfig(
            f"`summarizer` names `{name:.80}`, which is not a program on your PATH",
            "Name one outside of the workspace, or say --mechanical",
        )
    command = SummarizerCommand(
        path, tuple(arguments), asking.environment, now=asking.now, beat=telling.again
    )
    until = asking.now() + config.compaction.timeout_seconds
    patience = Patience(asking.now, asking.sleep, asking.chance, until)
    return persistent(command, patience, asking.complain)


class _Telling:
    """Tells how many parts are done, and again while one takes long."""

    def __init__(self, tell: Callable[[int, int], object]) -> None:
        """Tell it to a function."""
        self._tell = tell
        self._newest = (0, 0)

    def __call__(self, count: int, total: int) -> None:
        """Tell how many are done."""
        self._newest = (count, total)
        self.again()

    def again(self) -> None:
        """Tell the same once more."""
        self._tell(*self._newest)


# What a session does around a compaction of its conversation: the state is safe before it


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

    def after(self, compacted: Compacted) -> None:
        """Note the compaction in the conversation's record, and checkpoint what it did."""
        try:
            with self._store.lock():
                self._note_compaction()
        except GitguardError as error:
            self._note("the conversation's record does not know of it", error)
        self._checkpoint(
            f"Compacted {compacted.messages_before:,} messages to {compacted.messages_after:,}, "
            f"about {compacted.tokens_before:,} tokens to {compacted.tokens_after:,}."
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
