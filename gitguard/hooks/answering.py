"""Answers the events of a host.

The host's adapter makes an event of a payload. The event is bound to a conversation
(`conversation`), a handler answers it (`tool_calls` for tool calls, `turns` for all else), and the
adapter puts the reply into the host's words. The calm path, a tool call below every threshold,
appends to the journal, reads the pressure and returns; whatever needs git or templates is imported
where it is needed.

What is refused whatever the repository holds, halted conversations and the owner's commands, is
decided first, from the event and the user's state directory alone. So nothing that an agent writes,
removes or replaces in the repository can keep a refusal from it.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, MissingState, NotWritable
from gitguard.hooks.conversation import Conversation
from gitguard.hooks.shell_commands import (
    HIDDEN,
    HOOK,
    REPAIR,
    is_plainly_harmless,
    only_mentions,
    owner_command,
)
from gitguard.model import events
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.store.disk.files import is_refusal
from gitguard.store.session import state_file
from gitguard.store.session.conversations import forget_denials, host_hold_path, read_hold
from gitguard.store.session.removed_hosts import is_removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.config.config import Config
    from gitguard.model.events import Abilities, HookEvent
    from gitguard.store.session.host_session import Hold
    from gitguard.store.session.workspace import UserDirs, Workspace

_ENDING_DENIAL = 2
"""The denied call of a turn that ends it; after the first one the agent may answer in words."""
_NOT_SAVED = "Nothing could be saved: gitguard's files cannot be read, see `gitguard status`."
_OWNER_REFUSAL = "`gitguard {}` is for a human: ask the user to run it in their own terminal"
_HOOK_REFUSAL = (
    "`gitguard hook` is for the host alone, which reports its events by it; no tool call may run it"
)
_REPAIR_REFUSAL = (
    "; you may run `gitguard repair --dry-run`, which says what is wrong, and `gitguard repair "
    "--local`, which takes this machine's own copy of the state"
)
_FOLDER_REFUSAL = (
    "only the user changes `{}`, which holds gitguard's settings or records; you may read it. Tell "
    "the user what to change there"
)
_CODE_REFUSAL = (
    "`{}` of gitguard's library is for a human, and this code reaches it: ask the user to run "
    "gitguard's own command in their terminal"
)
_UNREAD_REFUSAL = (
    "gitguard could not read this call, which names it: write it in another way, or ask the user"
)
_HIDDEN_REFUSAL = (
    "this shell command does not show which gitguard command it runs: write that command out, "
    "without a variable, a substitution or `xargs`"
)


def first_refusal(
    event: HookEvent,
    abilities: Abilities,
    places: UserDirs,
    now: float,
    *,
    decide: Callable[[HookReply], object] = bool,
) -> HookReply | None:
    """Return the refusal of an event, None where nothing outside the repository speaks against it.

    now is in Unix seconds. A sub-agent is never halted, for its pressure is not its parent's.
    decide takes the denial of a halt before the call is read, which takes longer.
    """
    if event.kind == events.STEP:
        return _end_at_step(event, abilities, places)
    if event.kind not in (events.TOOL_START, events.PROMPT):
        return None
    is_call = event.kind == events.TOOL_START and event.tool is not None
    path = host_hold_path(places.state_home, event.host, event.host_session)
    hold = None if event.sub_agent else read_hold(path)
    is_denied = False
    if is_call and hold is not None and hold.halt is not None:
        from gitguard.hooks.halting import denial, is_exempt

        is_denied = not is_exempt(event, places)
        if is_denied:
            decide(denial(event, abilities, hold.halt, ends=False))
    refusal = _refusal_of_call(event, places) if is_call else ""
    if refusal:
        return HookReply(refuse=refusal)
    if hold is None or hold.halt is None:
        return None
    if not is_call:
        forget_denials(path, hold, now)
    if not is_denied:
        return None
    from gitguard.hooks.halting import deny

    return deny(event, abilities, hold.halt, path=path, now=now)


def _end_at_step(event: HookEvent, abilities: Abilities, places: UserDirs) -> HookReply:
    """End the turn of a halted conversation that went on after its first denied call."""
    hold = None if event.sub_agent else _hold_of(event, places)
    if hold is None or hold.halt is None or hold.denied < _ENDING_DENIAL:
        return NEUTRAL
    from gitguard.hooks.halting import denial

    return HookReply(stop=denial(event, abilities, hold.halt, ends=True).stop)


def _refusal_of_call(event: HookEvent, places: UserDirs) -> str:
    """Return why a call does what belongs to a person, empty if it does not.

    A fault of ours lets no call through that names gitguard.
    """
    tool = event.tool
    if tool is None:
        return ""
    try:
        owner = owner_command(tool.command)
        if owner and not only_mentions(tool.command):
            return _refusal_of(owner)
        if tool.paths_written or not is_plainly_harmless(tool.command):
            from gitguard.hooks.own_folders import changed_folder

            if folder := changed_folder(event, places):
                return _FOLDER_REFUSAL.format(folder)
        if "py" in tool.command:
            from gitguard.hooks.shell_commands import owner_call

            if call := owner_call(tool.command, (event.folder, event.project_dir)):
                return _CODE_REFUSAL.format(call)
    except Exception:
        if any("gitguard" in text for text in (tool.command, *tool.paths_written)):
            return _UNREAD_REFUSAL
        raise
    return ""


def _refusal_of(owner: str) -> str:
    if owner == HIDDEN:
        return _HIDDEN_REFUSAL
    if owner == HOOK:
        return _HOOK_REFUSAL
    return _OWNER_REFUSAL.format(owner) + _REPAIR_REFUSAL * (owner == REPAIR)


def answer_without_repository(
    event: HookEvent, abilities: Abilities, places: UserDirs, now: float, *, is_ours: bool
) -> HookReply | None:
    """Return what an event gets where the repository cannot be read; None for nothing.

    A halted conversation's prompt is told of the halt. In a repository of ours a tool call is still
    judged by the pressure that event and transcript tell: who breaks our files escapes no halt.
    """
    hold = _hold_of(event, places)
    if event.sub_agent:
        return None
    if event.kind == events.TOOL_START and is_ours:
        return _judge_alone(event, abilities, places, hold=hold, now=now)
    if event.kind != events.PROMPT or hold is None or hold.halt is None:
        return None
    from gitguard.hooks.halting import pass_prompt, prompt_refusal

    if abilities.ends_turns:
        return HookReply(context=pass_prompt(abilities, hold.halt))
    return prompt_refusal(event, abilities, hold.halt)


def answer_unreachable(
    event: HookEvent, abilities: Abilities, places: UserDirs, now: float, error: MissingState
) -> HookReply:
    """Stop the agent where something else lies in the place of our folders, and tell it so.

    A halt, and critical pressure, come first.
    """
    halted = answer_without_repository(event, abilities, places, now, is_ours=True)
    if halted is not None:
        return halted
    from gitguard.hooks.halting import MENDING, is_exempt, stop_text

    if event.sub_agent:
        return events.NEUTRAL
    if event.kind == events.PROMPT:
        return HookReply(context=stop_text(error))
    if event.kind != events.TOOL_START or is_exempt(event, places, MENDING):
        return events.NEUTRAL
    return HookReply(stop=stop_text(error))


def _judge_alone(
    event: HookEvent, abilities: Abilities, places: UserDirs, hold: Hold | None, now: float
) -> HookReply | None:
    """Deny a call at critical pressure; nothing is recorded, so that it ends with the pressure."""
    from gitguard.errors import GitguardError
    from gitguard.hooks import gate
    from gitguard.hooks.halting import deny, gauge_of, is_exempt
    from gitguard.model.text import timestamp
    from gitguard.pressure.gauge import measure_pressure
    from gitguard.store.session.current import load_user_config
    from gitguard.store.session.host_session import Halt, HostSession

    record = HostSession(started_at=timestamp(now), override=hold.override if hold else None)
    try:
        config = load_user_config(places.config_home, places.state_home)
        pressure = measure_pressure(
            record,
            config,
            pushed=event.reading,
            transcript=event.transcript,
            model=event.model,
            first_turn=True,
        )
    except GitguardError:
        return None  # nothing tells the pressure
    verdict = gate.judge(record, pressure, config)
    if not verdict.halts or pressure is None or is_exempt(event, places):
        return None
    reason, gauge = verdict.reasons[0], gauge_of(pressure)
    halt = Halt(timestamp(now), pressure.share, reason, gauge=gauge, saved=_NOT_SAVED)
    path = host_hold_path(places.state_home, event.host, event.host_session)
    return deny(event, abilities, halt, path=path, now=now)


def _hold_of(event: HookEvent, places: UserDirs) -> Hold | None:
    return read_hold(host_hold_path(places.state_home, event.host, event.host_session))


_TOOL_EVENTS = (events.TOOL_START, events.TOOL_END, events.TOOL_FAILED)


def handle(
    workspace: Workspace,
    config: Config,
    event: HookEvent,
    *,
    abilities: Abilities,
    decide: Callable[[HookReply], None] = lambda _: None,
) -> HookReply:
    """Answer one event; neutral where nobody ran `gitguard init`, or somebody removed the host.

    decide takes a refusal before anything is saved, for a caller whose time may run out. A fault of
    ours is left to the caller, which answers neutrally, and to `MissingState` by
    `refusing.answer_unreachable`: something else lies in the place of our folders.
    """
    if not workspace.is_initialised:
        workspace.refuse_other_users_folder()
        return NEUTRAL
    if is_removed(workspace, event.host):
        return NEUTRAL
    is_tool_event = event.kind in _TOOL_EVENTS
    if event.sub_agent and not is_tool_event:
        return NEUTRAL  # its prompts and compactions are not the conversation's
    conversation = Conversation(workspace, config, event, abilities=abilities, decide=decide)
    if conversation.is_unsettled:
        from gitguard.hooks.settling import settle

        conversation = settle(conversation)
    if conversation.event.sub_agent and not is_tool_event:
        return NEUTRAL
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
