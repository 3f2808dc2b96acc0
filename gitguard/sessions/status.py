"""Describes a session for `status`: our own faults first, then state, branch and conversations."""

from __future__ import annotations

import os
import sys

from gitguard.errors import GitguardError, InvalidConfig
from gitguard.model.config.config import FOLLOW_BRANCH
from gitguard.model.value import Value
from gitguard.pressure.gauge import resolve_window, window_warning
from gitguard.sessions.branch_change import branch_change
from gitguard.sessions.conflicts import conflicts_in
from gitguard.sessions.cut_off_turn import CutOffTurn, cut_off_turn
from gitguard.sessions.following import session_of
from gitguard.sessions.hook_health import tried_versions
from gitguard.sessions.host_status import HostStatus, host_statuses
from gitguard.sessions.last_event import LastEvent, last_event, last_heard
from gitguard.sessions.maintenance_record import is_due
from gitguard.sessions.sync_record import (
    OtherLane,
    SyncFile,
    lanes_gone_back,
    waiting_to_sync,
)
from gitguard.state.checkpoint import checkpoint_name
from gitguard.store.session.conversations import conversations_here
from gitguard.store.session.current import current_session, ignored_settings
from gitguard.store.session.host_session import read_record
from gitguard.store.session.standing import weightier
from gitguard.store.session.state_file import newest_own
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gitguard.model.config.config import Config
    from gitguard.state.conflicts import OpenConflict
    from gitguard.state.task import TaskState
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.workspace import Workspace

    _Seen = tuple[OwnState | UnusableState | None, Head | None, GitguardError | None]


_NAMED = 5
"""Files that a warning names."""


class Overview(Value):
    """What `status` shows."""

    root: str
    session: str
    branch: str
    """The full ref of the session."""
    faults: tuple[Mapping[str, Any], ...]
    """Marks of faults of ours, oldest first."""
    error: GitguardError | None
    """Why an agent could not go on, None when it could."""
    state: TaskState | None
    standing: str
    """How the branch stands to what this machine wrote: none, ours, advanced, moved, …"""
    checkpoint: str
    commit: str
    uncommitted: bool
    host_sessions: Mapping[str, HostSession]
    warnings: tuple[str, ...]
    others: tuple[str, ...] = ()
    """The keys of this workspace's other sessions."""
    hosts: tuple[HostStatus, ...] = ()
    """Those that gitguard was installed for here, or that had a conversation here."""
    tried: Mapping[str, tuple[str, ...]] = {}
    """The versions of each host that this gitguard was tried with."""
    last_event: LastEvent = LastEvent()
    """The newest event of a host, and what changed since."""
    summary_conflict: str = ""
    """The unified diff of a summary that differs from the state, empty where it does not."""
    lanes: tuple[OtherLane, ...] = ()
    """What other machines pushed of this repository's sessions, as of the last sync."""
    conflicts: tuple[OpenConflict, ...] = ()
    """What several machines noted without knowing of each other."""
    cut_off: CutOffTurn | None = None
    """The turn in which the agent's process ended, None where it did not."""


def describe(workspace: Workspace, config: Config) -> Overview:
    """Look at everything `status` shows; a part that cannot be read becomes its error."""
    try:
        session = current_session(workspace)
    except GitguardError as problem:
        return _nothing(workspace, problem)
    store = SessionStore(workspace, session, config)
    reading, head, error = _read_at_once(store)
    ready = newest_own(reading) if reading is not None else None
    host_sessions = _host_sessions(store)
    cut_off = cut_off_turn(store, host_sessions)
    anchor = head.anchor if head else None
    heard, unheard = _heard(store, host_sessions)
    hosts = host_statuses(workspace, host_sessions, heard)
    event = last_event(store, max(heard.values(), default=""))
    return Overview(
        root=workspace.place.worktree,
        session=session.key,
        branch=store.chain.ref,
        faults=tuple(workspace.faults()),
        error=error,
        state=ready.state if ready else None,
        standing=head.standing if head else "unknown",
        checkpoint=checkpoint_name(anchor.sequence) if anchor and anchor.committed else "",
        commit=head.committed if head else "",
        uncommitted=ready is not None and ready.sha256 != (anchor.state_sha256 if anchor else ""),
        host_sessions=host_sessions,
        warnings=(
            *_hook_warnings(hosts),
            *_cut_off_restore(store),
            *_cut_off_turn(cut_off),
            *_next_session(store),
            *_warnings(workspace, head),
            *_window_warnings(host_sessions, config),
            *_maintenance_warning(workspace, config),
            *_problem_or(lambda: waiting_to_sync(workspace)),
            *_problem_or(lambda: lanes_gone_back(workspace)),
        ),
        lanes=_lanes(store),
        conflicts=conflicts_in(store, ready.state) if ready else (),
        others=_others(workspace, session),
        hosts=hosts,
        tried=tried_versions(),
        last_event=event.replace(unknown=unheard) if unheard else event,
        summary_conflict=_summary_conflict(store, ready),
        cut_off=cut_off,
    )


def _summary_conflict(store: SessionStore, ready: OwnState | None) -> str:
    if ready is None or not ready.has_summary:
        return ""
    try:
        return store.summary_conflict(ready.state)
    except GitguardError as error:
        return error.message


def _next_session(store: SessionStore) -> Iterator[str]:
    """Say which session the next prompt goes to, where another branch was checked out since."""
    workspace, config = store.workspace, store.config
    if config.session.follow != FOLLOW_BRANCH or workspace.places.session:
        return
    try:
        repository = store.repository()
        change = branch_change(workspace, repository, store.session, config.store.ref_prefix)
        session = session_of(store, change.branch, repository) if change and change.before else None
    except GitguardError:
        return  # what cannot be read is told by the session's own faults
    if session is not None and session.name != store.session.name:
        is_new = session.name not in workspace.session_names()
        yield (
            f"the branch is another one since the last prompt; the next prompt goes to "
            f"{'a new session' if is_new else 'the session'} `{session.key:.80}`"
        )


def _heard(
    store: SessionStore, conversations: Mapping[str, HostSession]
) -> tuple[Mapping[str, str], str]:
    """Return when each host was heard of last, or why that is unknown."""
    try:
        return last_heard(store, conversations), ""
    except GitguardError as error:
        return {}, error.message


def _hook_warnings(hosts: tuple[HostStatus, ...]) -> Iterator[str]:
    """Warn of hooks that do not run."""
    for status in hosts:
        yield from status.sentences


def _others(workspace: Workspace, session: Session) -> tuple[str, ...]:
    return tuple(key for key in keys_of(workspace).values() if key != session.key)


def keys_of(workspace: Workspace) -> dict[str, str]:
    """Return the keys of this workspace's sessions by their names."""
    keys = {}
    for name in workspace.session_names():
        try:
            keys[name] = read_record(workspace, Session(name, name)).key
        except GitguardError:
            keys[name] = name  # its own status tells what is wrong with it
    return keys


def _nothing(workspace: Workspace, error: GitguardError) -> Overview:
    hosts = host_statuses(workspace, {}, {})
    return Overview(
        root=workspace.place.worktree,
        session="",
        branch="",
        faults=tuple(workspace.faults()),
        error=error,
        state=None,
        standing="none",
        checkpoint="",
        commit="",
        uncommitted=False,
        host_sessions={},
        warnings=tuple(_hook_warnings(hosts)),
        hosts=hosts,
    )


def _read_at_once(store: SessionStore) -> _Seen:
    try:
        return store.at_one_moment(
            lambda: _read_session(store), recheck_if=lambda seen: seen[2] is not None
        )
    except GitguardError as error:
        return None, None, error


def _read_session(store: SessionStore) -> _Seen:
    reading: OwnState | UnusableState | None = None
    head: Head | None = None
    error: GitguardError | None = None
    try:
        reading = store.read()
        error = _problem(store.read_unlocked) or _problem(
            lambda: read_record(store.workspace, store.session)
        )
        head = own_head = store.chain.head()
        error = weightier(error, head, store.chain.ref)
        if error is None and head.committed:
            error = _problem(lambda: store.chain.verify(own_head))
    except GitguardError as failure:
        error = error or failure
    return reading, head, error


def _problem(look: Callable[[], object]) -> GitguardError | None:
    try:
        look()
    except GitguardError as problem:
        return problem
    return None


def _host_sessions(store: SessionStore) -> Mapping[str, HostSession]:
    try:
        return conversations_here(store.workspace, store.session)
    except GitguardError:
        return {}


def _problem_or(look: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return look()
    except GitguardError as error:
        return (error.message,)


def _lanes(store: SessionStore) -> tuple[OtherLane, ...]:
    if not SyncFile(store.workspace).is_there:
        return ()
    try:
        from gitguard.sessions.belief import other_lanes

        return other_lanes(store.workspace, store.repository())
    except GitguardError:
        return ()  # whoever syncs is told


def _maintenance_warning(workspace: Workspace, config: Config) -> list[str]:
    if not is_due(workspace, config):
        return []
    return ["Session maintenance is due: run `gitguard session maintain`"]


def _window_warnings(conversations: Mapping[str, HostSession], config: Config) -> tuple[str, ...]:
    warnings = []
    for record in conversations.values():
        if not record.window:
            continue
        try:
            window = resolve_window(record.window_model, record.window, config.window)
            warnings.append(window_warning(window))
        except InvalidConfig as error:
            warnings.append(error.message)
    return tuple(warning for warning in dict.fromkeys(warnings) if warning)


def _cut_off_restore(store: SessionStore) -> tuple[str, ...]:
    """Warn of a restore of files that was cut off, with the files in question."""
    from gitguard.sessions.file_restore import unfinished_elsewhere, unfinished_restore

    try:
        record, elsewhere = unfinished_restore(store), unfinished_elsewhere(store)
    except GitguardError as error:
        return (error.message,)
    if record is None and elsewhere is not None:
        name, record = elsewhere
        return (
            f"a restore of files to {record.source} in the session {name} was cut off; `gitguard "
            f"--session {name} restore --undo` takes it back",
        )
    if record is None:
        return ()
    named = _named([file.path for file in record.files])
    return (
        f"a restore of files to {record.source} was cut off ({named}); `gitguard restore --undo` "
        "takes it back, and any other `gitguard restore --files` finishes it",
    )


def _cut_off_turn(turn: CutOffTurn | None) -> tuple[str, ...]:
    """Warn of a turn that was cut off, with what ran and the files in question."""
    if turn is None:
        return ()
    running = f" while `{turn.calls[0]}` ran" if turn.calls else ""
    what = f"the agent's process ended in the middle of a turn{running}"
    if not turn.files:
        return (what,)
    before = f"; what lay there before it destroyed something is in {_named(turn.within)}"
    return (
        f"{what}; since {turn.since} it changed {_named(turn.files)}, and `gitguard restore "
        f"{turn.since} --files` puts these back (--dry-run shows it)"
        f"{before if turn.within else ''}",
    )


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_NAMED]) + (", …" if len(paths) > _NAMED else "")


def _warnings(workspace: Workspace, head: Head | None) -> tuple[str, ...]:
    warnings = [
        f"`{name:.80}` in the repository's config.yaml is ignored; set it in your own"
        for name in ignored_settings(workspace.folder)
    ]
    if head is not None and head.checked_out_in:
        warnings.append(
            f"the session branch is checked out in `{head.checked_out_in}`; checkpoints are pending"
        )
    if workspace.is_recorded and os.path.isdir(workspace.apart().folder):
        warnings.append(
            "what was captured before you trusted this state is not part of it yet; run "
            "`gitguard repair --local`"
        )
    if sys.platform not in ("linux", "darwin"):
        warnings.append(f"gitguard is not tested on `{sys.platform}`")
    return tuple(warnings)
