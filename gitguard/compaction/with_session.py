"""Compacts a conversation as its user means it: with its session around it and their summarizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from gitguard.compaction import compacting
from gitguard.compaction.compacting import Compacted
from gitguard.compaction.session_hooks import SessionHooks, owner_of
from gitguard.errors import InvalidConfig
from gitguard.model.config.config import Config
from gitguard.model.config.redaction import redactor_of
from gitguard.model.events import Transcript
from gitguard.model.transcript import Answer
from gitguard.model.value import Value
from gitguard.pressure.usage import UNKNOWN
from gitguard.sessions.choice import refuse_unknown
from gitguard.store.disk.program import path_of
from gitguard.store.disk.summarizer import SummarizerCommand
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import HostSession
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Workspace
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
    done = compacting.compact(
        transcript, config, tools, keep_turns=keep_turns, window=window, dry_run=dry_run
    )
    if session is None:
        return done
    return done.replace(session=session.session_key, checkpoints=session.saved, notes=session.notes)


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

    def __call__(self, done: int, of: int) -> None:
        """Tell how many are done."""
        self._newest = (done, of)
        self.again()

    def again(self) -> None:
        """Tell the same once more."""
        self._tell(*self._newest)
