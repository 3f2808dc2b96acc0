"""Tells the agent of hooks of its host that do not run as they were installed.

Hooks that are gone tell nothing, so those that still run do: each prompt, and the end of a tool
call in whose turn the host's settings changed.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation


def offer_missing_hooks(conversation: Conversation) -> None:
    """Offer a line on hooks that do not run, once for each thing that is wrong with them.

    The conversation's record is changed, so the caller is recording.
    """
    from gitguard.hooks.told_line import MISSING_HOOKS, outranks
    from gitguard.sessions.hook_health import hook_health

    if outranks(conversation.lines, MISSING_HOOKS):
        return
    health = hook_health(conversation.workspace, conversation.event.host)
    problem = "; ".join(hooks.sentence for hooks in health if hooks.problems)
    if problem == conversation.record.told_hooks:
        return
    conversation.record = conversation.record.replace(told_hooks=problem)
    if problem:
        line = f"[gitguard: {problem}. What these hooks save is lost until then: tell the user.]"
        conversation.offer(MISSING_HOOKS, line)


def may_be_missing(conversation: Conversation) -> bool:
    """Say whether the host's settings changed in this turn or are gone, without reading them."""
    workspace, names = conversation.workspace, conversation.abilities.settings_files
    ledger = os.path.join(workspace.state_folder, f"_{conversation.event.host}.json")
    if not names or not os.path.exists(ledger):
        return False  # nothing was installed here
    place, is_there = workspace.place, False
    for root in (place.worktree, os.path.dirname(place.common_dir)):
        for name in names:
            try:
                changed_at = os.stat(os.path.join(root, name)).st_mtime
            except OSError:
                continue
            is_there = True
            if changed_at >= conversation.record.turn_since > 0:
                return True
    return not is_there
