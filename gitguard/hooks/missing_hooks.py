"""Tells the agent of hooks of its host that do not run as they were installed.

Hooks that are gone tell nothing, so those that still run do: each prompt, and the end of a tool
call in whose turn the host's settings changed.
"""

from __future__ import annotations

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
