"""Writes a task's description for a sub-agent from the state in force."""

from __future__ import annotations

import os

from gitguard.delegation.brief import BriefOptions, build_brief
from gitguard.errors import InvalidInput
from gitguard.hooks.bundle import relevant_artifacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.session.store import SessionStore

_LONGEST_GIVEN = 100_000
"""Characters of a task that are looked at; of what is shown there are far fewer."""


def brief(store: SessionStore, task: str, options: BriefOptions) -> str:
    """Return what a sub-agent has to know of a task, without the secrets in it.

    Raises `InvalidInput` for a task that says nothing, and what `SessionStore.look` raises.
    """
    redactor = store.workspace.redactor
    task = redactor.text(task[:_LONGEST_GIVEN]).strip()
    if not task:
        raise InvalidInput("the task is empty", 'Say what to do: `gitguard policy brief "…"`')
    state, _ = store.read_unlocked().state.redacted(redactor)
    words = relevant_artifacts(state.replace(next_action=task, artifacts=()))
    root = store.workspace.place.worktree
    named_files = (word for word in words if _is_file(word, root))
    noted_paths = (artifact.path for artifact in reversed(state.artifacts))
    return build_brief(task, state, _clean(options, redactor), (*named_files, *noted_paths))


def _is_file(word: str, root: str) -> bool:
    """Say whether a word that looks like a path is one, which `e.g` and `and/or` are not."""
    is_surely = "/" in word and os.path.splitext(word)[1]
    return bool(is_surely) or os.path.lexists(os.path.join(root, word))


def _clean(options: BriefOptions, redactor: Redactor) -> BriefOptions:
    lists = ("success", "read", "write", "avoid")
    clean = {name: tuple(map(redactor.text, getattr(options, name))) for name in lists}
    return options.replace(**clean)
