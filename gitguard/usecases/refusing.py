"""What is refused whatever the repository holds: halted conversations and the owner's commands.

It is decided first, from the event and the user's state directory alone. So nothing that an agent
writes, removes or replaces in the repository can keep a refusal from it.
"""

from __future__ import annotations

from gitguard.context.actions import owner_command
from gitguard.model import events
from gitguard.model.events import HookReply
from gitguard.store import holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.events import Abilities, HookEvent
    from gitguard.model.host_session import Hold
    from gitguard.store.workspace import Places

_OWNER_REFUSAL = "`gitguard {}` is for a human: ask the user to run it in their own terminal"


def refuse_first(
    event: HookEvent, abilities: Abilities, places: Places, now: float
) -> HookReply | None:
    """Return the refusal of an event, None where nothing outside the repository speaks against it.

    now is in Unix seconds. A sub-agent is never halted, for its pressure is not its parent's.
    """
    if event.kind not in (events.TOOL_START, events.PROMPT):
        return None
    is_call = event.kind == events.TOOL_START and event.tool is not None
    owner = owner_command(event.tool.command) if is_call and event.tool else ""
    if owner:
        return HookReply(refuse=_OWNER_REFUSAL.format(owner))
    if event.sub_agent:
        return None
    path = holds.path_of(places.state_home, event.host, event.host_session)
    hold = holds.read(path)
    if hold is None or hold.halt is None:
        return None
    if not is_call:
        holds.forget_denials(path, hold, now)
        return None
    from gitguard.usecases.halting import deny, is_exempt

    return None if is_exempt(event, places) else deny(event, abilities, hold.halt, path, now)


def answer_without_repository(
    event: HookEvent, abilities: Abilities, places: Places
) -> HookReply | None:
    """Return what a halted conversation's prompt gets where the repository cannot be read."""
    hold = _hold_of(event, places)
    if event.kind != events.PROMPT or event.sub_agent or hold is None or hold.halt is None:
        return None
    from gitguard.usecases.halting import pass_prompt, refuse_prompt

    if abilities.ends_turns:
        return HookReply(context=pass_prompt(abilities, hold.halt))
    return refuse_prompt(event, abilities, hold.halt)


def _hold_of(event: HookEvent, places: Places) -> Hold | None:
    return holds.read(holds.path_of(places.state_home, event.host, event.host_session))
