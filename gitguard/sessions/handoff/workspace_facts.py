"""Gathers what a workspace's own files say for the hand-off file.

They are other people's and may be anything, so what cannot be read is said and stops nothing.
"""

from __future__ import annotations

import time

from gitguard.errors import InvalidDocument
from gitguard.model.config.handoff import DATE
from gitguard.sessions.handoff.handoff_text import (
    WorkspaceFacts,
    age_text,
    newest_failure,
    summarise_failure,
    summarise_plan,
)
from gitguard.store.disk import artifacts
from gitguard.store.git.differences import WorktreeComparer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.handoff import HandoffConfig
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.task import TaskState
    from gitguard.store.git.repository import Repository

_LIMIT = 64 << 10
"""Bytes that are read of a plan's beginning and of a log's end."""


def gather(
    repository: Repository,
    redactor: Redactor,
    config: HandoffConfig,
    state: TaskState,
    now: float,
    *,
    without: tuple[str, ...],
) -> WorkspaceFacts:
    """Look around a worktree at a time in Unix seconds; without names what is never listed."""
    root = repository.place.worktree
    commit = repository.head_at(now - config.recent_minutes * 60)
    changes = WorktreeComparer(repository, redactor).compare(commit).changes()
    names = {path: path for path in repository.without_tools_files(changes.changed)}
    names |= {path: f"{path} (deleted)" for path in repository.without_tools_files(changes.gone)}
    listed = [path for path in sorted(names) if not _is_below(path, (*config.own_names, *without))]
    shown = [names[path] for path in listed if path.count("/") <= config.depth]
    shown = shown[: config.shown_files]
    return WorkspaceFacts(
        plan=_plan(root, config.plan),
        last_failure=_last_failure(root, config.failure_log) or newest_failure(state) or "none",
        self_model=_age(root, config.capabilities, now),
        env_model=_age(root, config.environment, now),
        changed=tuple(shown),
        changed_besides=len(listed) - len(shown),
        unseen="; ".join(changes.unseen),
        daily_log=daily_log(root, config, now),
    )


def kept_by_agents(
    root: str, config: HandoffConfig, redactor: Redactor
) -> tuple[tuple[str, str], ...]:
    """Return what the plan file and the failure log of a worktree say, each behind its heading.

    Those that are missing or empty are left out.
    """
    plan, failure = _plan(root, config.plan), _last_failure(root, config.failure_log)
    sections = {
        f"The plan file {config.plan}": "" if plan == "none" else plan,
        f"The last entry of {config.failure_log}": failure,
    }
    return tuple((title, redactor.text(text)) for title, text in sections.items() if text)


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(f"{path}/".startswith(f"{folder}/") for folder in folders)


def daily_log(root: str, config: HandoffConfig, now: float) -> str:
    """Return the path of today's log if there is one; days are those of the machine's zone."""
    day = time.strftime("%Y-%m-%d", time.localtime(now))
    name = config.daily_log.replace(DATE, day)
    return name if artifacts.changed_at(root, name) is not None else ""


def _plan(root: str, name: str) -> str:
    try:
        text = artifacts.read_start(root, name, limit=_LIMIT)
    except InvalidDocument as error:
        return f"unreadable: {error.message}"
    return summarise_plan(text) if text and text.strip() else "none"


def _last_failure(root: str, name: str) -> str:
    try:
        return summarise_failure(artifacts.read_end(root, name, limit=_LIMIT) or "")
    except InvalidDocument as error:
        return f"unreadable: {error.message}"


def _age(root: str, name: str, now: float) -> str:
    changed = artifacts.changed_at(root, name)
    return "" if changed is None else age_text(now - changed)
