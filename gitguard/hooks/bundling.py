"""Builds the working bundle: the state's fields, and what is wanted besides."""

from __future__ import annotations

from gitguard import hosts
from gitguard.errors import GitguardError
from gitguard.hooks.bundle import HIGH, MEDIUM, Bundle, ContextItem, build_bundle
from gitguard.hooks.workspace_files import collect
from gitguard.hosts.context_files import context_files
from gitguard.model.value import Value
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace


class Wanted(Value):
    """What is wanted in a bundle besides the state's fields and the given items."""

    summary: bool = False
    bootstrap: bool = False
    """The workspace's context files, which then come first."""
    host: str = ""
    """Whose; empty for that of the newest conversation."""
    folder: str = ""
    """The one that is worked in, by its path; empty for the workspace's own."""


def bundle(
    store: SessionStore, items: tuple[ContextItem, ...], additions: Wanted, *, pressure: float
) -> Bundle:
    """Return the working context for the next major action; a deleted branch is put back first.

    What hooks saw since the last checkpoint is part of it.

    Raises `MissingState`, and what `look` raises.
    """
    from gitguard.sessions.resume.building import returned_branch

    returned_branch(store)
    about_branch = store.about_branch(is_locked=False)
    workspace, config = store.workspace, store.config
    state, _ = store.folded(store.read_unlocked())
    refused: tuple[str, ...] = ()
    if additions.summary:
        from gitguard.store.session.composing import render_summary

        items = (ContextItem("summary", render_summary(state), MEDIUM), *items)
    if additions.bootstrap:
        files, refused = bootstrap_items(workspace, config, additions.host, additions.folder)
        items = (*files, *items)
    built = build_bundle(state, items, pressure=pressure, thresholds=config.thresholds)
    return built.replace(refused=refused, branch=about_branch, conflicts=_conflicts(store, state))


def _conflicts(store: SessionStore, state: TaskState) -> tuple[str, ...]:
    if not state.conflicts:
        return ()
    from gitguard.sessions.conflicts import conflicts_in
    from gitguard.sessions.resume.conflict_section import conflict_section

    section = conflict_section(conflicts_in(store, state), "")
    return tuple(f"{item.text}{item.remark}" for item in section.items)


def bootstrap_items(
    workspace: Workspace, config: Config, host: str = "", folder: str = ""
) -> tuple[tuple[ContextItem, ...], tuple[str, ...]]:
    """Return the files that a host injects, and why others are refused.

    Without a host it is that of the session's newest conversation, if that is known. What the host
    loads is never dropped under pressure, because it is in its context anyway.
    """
    context_names = context_files(host or _newest_host(workspace))
    root, clean = workspace.place.worktree, workspace.redactor.text
    bootstrap = collect(root, context_names, config.bootstrap, clean, folder=folder)
    items = (
        ContextItem(file.name, file.text, MEDIUM if file.is_extra else HIGH)
        for file in bootstrap.files
    )
    return tuple(items), bootstrap.refused


def _newest_host(workspace: Workspace) -> str:
    try:
        conversations = read_record(workspace, current_session(workspace)).host_sessions.values()
    except GitguardError:
        return ""  # whose conversations these are is told elsewhere
    of_hosts = [item for item in conversations if item.transcript_format in hosts.HOSTS]
    newest = max(of_hosts, key=lambda item: item.last_use, default=None)
    return newest.transcript_format if newest else ""
