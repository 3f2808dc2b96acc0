"""Calls that write files in a turn in which the agent said that its task is done.

The first one is denied with the contract's signal and the way on. Whoever repeats it means it: it
passes, and the journal says so. What ends a piece of work, as `git commit` does, is never denied.
"""

from __future__ import annotations

from gitguard.errors import Complete, GitguardError
from gitguard.model.events import HookReply
from gitguard.model.text import seconds
from gitguard.store.session.state_file import newest_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.model.events import ToolCall

REMARK = "after DONE"
"""What the journal says of a call that passes."""
_REFUSAL = (
    f"{Complete.status}\nYou said that the task is done, and this call writes a file. If work "
    'remains, say what comes next with `gitguard note --next "…"`. Otherwise tell the user the '
    "result and stop. The same call passes if you repeat it."
)


def denial_after_done(conversation: Conversation) -> tuple[HookReply | None, str]:
    """Return the denial of a call, None where it passes, and what the journal remarks on it."""
    # Whether the task is done takes a look at a file, and what a line writes takes it apart.
    if conversation.is_apart or not conversation.store.states.may_be_done():
        return None, ""
    done_at = _done_at(conversation)
    if not done_at or not _writes_file(conversation.tool):
        return None, ""
    if conversation.record.denied_done == done_at:
        return None, REMARK
    with conversation.recording():
        conversation.record = conversation.record.replace(denied_done=done_at)
    return HookReply(refuse=_REFUSAL), ""


def _done_at(conversation: Conversation) -> str:
    """Return when this conversation said in its newest turn that its task is done, else empty.

    After a word like "go on" the state still says so, because that begins no other task.
    """
    try:
        our_state = newest_own(conversation.store.states.read())
    except GitguardError:
        return ""  # whoever uses the state says what is wrong with it
    if our_state is None or not our_state.state.is_done:
        return ""
    origin = our_state.state.next_from
    is_here = origin is None or origin.conversation in ("", conversation.event.host_session)
    when = origin.when if origin is not None else our_state.state.updated_at
    # Times in the state are in whole seconds.
    is_in_turn = seconds(when) >= int(conversation.record.turn_since)
    return when if is_here and is_in_turn else ""


def _writes_file(tool: ToolCall) -> bool:
    if tool.paths_written:
        return True
    if not tool.command:
        return False
    from gitguard.model.shell.writes import writes_of

    paths = writes_of(tool.command).paths
    return any(not (item.ends_work or item.path.startswith("/dev/")) for item in paths)
