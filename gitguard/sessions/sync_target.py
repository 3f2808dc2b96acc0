"""Which remote a session is synced with."""

from __future__ import annotations

import os
import re

from gitguard.model.codec import sha256
from gitguard.model.config.sync import REPOSITORY, SHARD
from gitguard.sessions.status import keys_of
from gitguard.store.git.remote import shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.sync import SyncConfig
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.git.repository import Repository

_ORIGIN = "origin"
_UNUSUAL = re.compile(r"[^\w.-]+|^\.+")
"""What no repository's name has in an address."""


def remote_of(config: SyncConfig, repository_name: str, session_name: str) -> str:
    """Return the remote that the user set for a session; empty where none is set.

    A session has the same shard on every machine, so that all its lanes meet.
    """
    shard = int(sha256(session_name.encode())[:8], 16) % config.shards
    remote = config.remote.replace(REPOSITORY, repository_name)
    return remote.replace(SHARD, str(shard))


def targets(sessions: WorkspaceSessions, remote: str, session: str) -> list[tuple[str, str]]:
    """Return with which remotes to sync: each one's name or address, and the only session's key.

    remote and session are what a person named, or empty; an empty key stands for all sessions.
    """
    settings = sessions.config.sync
    if remote or not settings.remote:
        return [(remote or _of_branch(sessions.repository()), session)]
    name = _name_of(sessions.repository())
    if SHARD not in settings.remote:
        return [(remote_of(settings, name, ""), session)]
    keys = keys_of(sessions.workspace)
    keys = keys or {sessions.any_session().name: sessions.any_session().key}
    named = {n: key for n, key in keys.items() if session in ("", key, n)}
    return [(remote_of(settings, name, n), key) for n, key in sorted(named.items())]


def default_remotes(sessions: WorkspaceSessions) -> frozenset[str]:
    """Return the names, as they are shown, of the remotes that sessions are synced with."""
    return frozenset(shown_name(remote) for remote, _ in targets(sessions, "", ""))


def _of_branch(repository: Repository) -> str:
    """Return the remote of the current branch, else `origin`."""
    branch = repository.checked_out().removeprefix("refs/heads/")
    name = _setting(repository, f"branch.{branch}.remote")
    return name if name not in ("", ".") else _ORIGIN


def _name_of(repository: Repository) -> str:
    """Return what a repository is called on every machine: the end of its origin's address."""
    address = _setting(repository, f"remote.{_ORIGIN}.url") or repository.place.worktree
    last = re.split(r"[/:]", address.rstrip("/"))[-1].removesuffix(".git")
    return _UNUSUAL.sub("-", last) or os.path.basename(repository.place.worktree)


def _setting(repository: Repository, name: str) -> str:
    outcome = repository.git.attempt("config", "--get", name)
    return outcome.stdout.decode("utf-8", "replace").strip()
