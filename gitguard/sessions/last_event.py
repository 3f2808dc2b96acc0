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
    from collections.abc import Iterator, Mapping

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


def last_event(store: SessionStore, conversations: Mapping[str, HostSession]) -> LastEvent:
    """Return the newest event of the session, and what changed in the worktree since."""
    try:
        at = max(_times(store, conversations), default="")
    except GitguardError as error:
        return LastEvent(unknown=error.message)
    if not at:
        return LastEvent()
    from gitguard.sessions.resume.reader import duration

    ago = duration(max(store.workspace.clock() - seconds(at), 0.0))
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


def _times(store: SessionStore, conversations: Mapping[str, HostSession]) -> Iterator[str]:
    """Yield when events of hosts came; a record is kept at each turn, the journal at each call."""
    for record in conversations.values():
        if record.host and not record.imported:
            yield record.last_use
    for entry in store.journal.read("", 0).entries:
        if entry.host_session in conversations:
            yield entry.at


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
