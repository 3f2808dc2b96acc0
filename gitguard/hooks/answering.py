"""Answers the events of a host.

The host's adapter makes an event of a payload. The event is bound to a conversation
(`conversation`), a handler answers it (`tool_calls` for tool calls, `turns` for all else), and the
adapter puts the reply into the host's words. The calm path, a tool call below every threshold,
appends to the journal, reads the pressure and returns; whatever needs git or templates is imported
where it is needed.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, MissingState, NotWritable
from gitguard.hooks.conversation import Conversation
from gitguard.model import events
from gitguard.model.events import NEUTRAL
from gitguard.store.disk.files import is_refusal
from gitguard.store.session import state_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.config.config import Config
    from gitguard.model.events import Abilities, HookEvent, HookReply
    from gitguard.store.session.workspace import Workspace

_TOOL_EVENTS = (events.TOOL_START, events.TOOL_END, events.TOOL_FAILED)


def handle(
    workspace: Workspace,
    config: Config,
    event: HookEvent,
    *,
    abilities: Abilities,
    decide: Callable[[HookReply], None] = lambda _: None,
) -> HookReply:
    """Answer one event; neutral where nobody ran `gitguard init`.

    decide takes a refusal before anything is saved, for a caller whose time may run out. A fault of
    ours is left to the caller, which answers neutrally, and to `MissingState` by
    `refusing.answer_unreachable`: something else lies in the place of our folders.
    """
    if not workspace.is_initialised:
        workspace.refuse_other_users_folder()
        return NEUTRAL
    is_tool_event = event.kind in _TOOL_EVENTS
    if event.sub_agent and not is_tool_event:
        return NEUTRAL  # its prompts and compactions are not the conversation's
    conversation = Conversation(workspace, config, event, abilities=abilities, decide=decide)
    if conversation.is_unsettled:
        from gitguard.hooks.settling import settle

        conversation = settle(conversation)
    answer = _answer_tool_event if is_tool_event else _answer_turn
    return answer(conversation).visible()


def _answer_tool_event(conversation: Conversation) -> HookReply:
    from gitguard.hooks import tool_calls

    try:
        reply = tool_calls.answer(conversation)
    except (MissingState, NotWritable) as error:
        reply = tool_calls.answer_without_state(conversation, _missing_state(error))
    return _with_told_line(conversation, reply) if conversation.lines else reply


def _answer_turn(conversation: Conversation) -> HookReply:
    from gitguard.hooks import turns

    if _may_follow_branch(conversation):
        from gitguard.hooks.branches import follow_branch

        conversation = follow_branch(conversation)
    try:
        reply = turns.answer(conversation)
    except (MissingState, NotWritable) as error:
        reply = turns.answer_without_state(conversation, _missing_state(error))
    return _with_told_line(conversation, reply) if conversation.lines else reply


def _with_told_line(conversation: Conversation, reply: HookReply) -> HookReply:
    """Return the reply with the one line that is told; a refusal is told instead of any."""
    if reply.refuse or reply.stop:
        return reply
    from gitguard.hooks.told_line import pick_line

    line, untold = pick_line(conversation.lines)
    if untold:
        try:
            with conversation.recording():
                conversation.record = conversation.record.replace(untold=untold)
        except GitguardError as error:
            conversation.note_fault(error)
    return reply.replace(context="\n".join(text for text in (line, reply.context) if text))


def _may_follow_branch(conversation: Conversation) -> bool:
    """Say whether an event comes between two turns; after a compaction one may be going on."""
    event = conversation.event
    begins = event.kind == events.SESSION_START and event.source != events.STARTED_AFTER_COMPACTION
    return (event.kind == events.PROMPT or begins) and conversation.is_believed


def _missing_state(error: MissingState | NotWritable) -> MissingState:
    """Return why the state cannot be used; raise what has another reason."""
    if isinstance(error, MissingState):
        return error
    if not is_refusal(error):
        raise error
    return state_file.unwritable(error)
