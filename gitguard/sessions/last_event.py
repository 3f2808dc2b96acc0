"""When a host's hooks were heard of last, and what changed in the worktree since.

Hooks that do not run leave no trace. What tells is that files or HEAD went on without them.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.text import seconds, timestamp
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import SessionStore

_SAME_MOMENT = 2.0
"""Seconds within which a change may belong to the event itself: times are kept in whole seconds."""


class LastEvent(Value):
    """The newest event of a host, and what it does not know of."""

    at: str = ""
    """When it came; empty where none ever came."""
    ago: str = ""
    """How long ago that was, such as `12 min`."""
    changed: tuple[str, ...] = ()
    """The paths that changed since, the newest first."""
    changed_at: str = ""
    """When the newest of them changed; empty where that is not known."""
    head_moved_at: str = ""
    """When HEAD moved since; empty where it did not."""
    unknown: str = ""
    """Why nobody can tell which files changed; empty where that is known."""


def last_event(store: SessionStore, at: str) -> LastEvent:
    """Return the newest event of the session, and what changed in the worktree since.

    at is when it came, empty where none ever did.
    """
    if not at:
        return LastEvent()
    ago = time_since(at, store.workspace.clock())
    since = seconds(at) + _SAME_MOMENT
    repository = store.repository()
    try:
        moved = repository.head_moved_at()
        event = LastEvent(at, ago, head_moved_at=timestamp(moved) if moved > since else "")
        if not store.config.files.enabled:
            return event.replace(unknown="`files.enabled` is off")
        look = store.worktree.compare_again(repository.checked_out_commit(), None)
    except GitguardError as error:
        return LastEvent(at, ago, unknown=error.message)
    listed = repository.without_tools_files(file.path for file in look.files)
    times = _changed_since(store, listed, since)
    paths = sorted(times, key=lambda path: (-times[path], path))
    newest = max(times.values(), default=0.0)
    return event.replace(
        changed=tuple(paths),
        changed_at=timestamp(newest) if newest > since else "",
        unknown=look.tracked_unseen or look.new_unseen,
    )


def time_since(at: str, now: float) -> str:
    """Return how long ago something was, such as `12 min`."""
    from gitguard.sessions.resume.reader import duration

    return duration(max(now - seconds(at), 0.0))


def last_heard(store: SessionStore, conversations: Mapping[str, HostSession]) -> dict[str, str]:
    """Return when each host was heard of last; `GitguardError` where the journal cannot be read.

    A record is kept at each turn, the journal at each call.
    """
    hosts = {key: record.host for key, record in conversations.items()}
    times = [
        (record.host, record.last_use)
        for record in conversations.values()
        if record.host and not record.imported
    ]
    entries = store.journal.read("", 0).entries
    times += [
        (hosts[entry.host_session], entry.at) for entry in entries if entry.host_session in hosts
    ]
    return dict(sorted(times, key=lambda heard: heard[1]))


def _changed_since(store: SessionStore, paths: tuple[str, ...], since: float) -> dict[str, float]:
    """Return the paths that changed since a time, each with when that was."""
    root = store.workspace.place.worktree
    times = {}
    for path in paths:
        try:
            changed = os.lstat(os.path.join(root, path)).st_mtime
        except OSError:
            continue  # it is gone, and nothing tells since when
        if changed > since:
            times[path] = changed
    return times
