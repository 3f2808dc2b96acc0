"""Which prompts a later event confirms that came while a tool call ran. Pure decisions.

A prompt that the host sends then looks like one that the call sends in the host's name. What the
host does next tells them apart: it goes on with the turn that the prompt began, or with the one in
which the call ran.
"""

from __future__ import annotations

from gitguard.model import events
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.model.events import HookEvent
    from gitguard.store.session.host_session import UnconfirmedPrompt


class Settled(Value):
    """What an event makes of the prompts that nothing has confirmed, each group oldest first."""

    confirmed: tuple[UnconfirmedPrompt, ...] = ()
    """The user's: the host goes on with their turn."""
    discarded: tuple[UnconfirmedPrompt, ...] = ()
    """Nobody's words, unless the host's own transcript has them."""
    waiting: tuple[UnconfirmedPrompt, ...] = ()


def settle_prompts(prompts: Iterable[UnconfirmedPrompt], event: HookEvent) -> Settled:
    """Decide by an event that shows which turn goes on."""
    groups: dict[str, list[UnconfirmedPrompt]] = {"confirmed": [], "discarded": [], "waiting": []}
    for prompt in prompts:
        groups[_group(prompt, event)].append(prompt)
    return Settled(**{name: tuple(group) for name, group in groups.items()})


def _group(prompt: UnconfirmedPrompt, event: HookEvent) -> str:
    if not prompt.turn_id:
        is_end_of_its_call = event.tool is not None and event.tool.id in prompt.calls
        is_end = event.kind in (events.TOOL_END, events.TOOL_FAILED)
        return "waiting" if is_end and is_end_of_its_call else "confirmed"
    if not event.turn_id:
        return "waiting"
    if event.turn_id != prompt.turn_id:
        return "discarded"
    # A call can know the id of its own turn, so that id says nothing.
    return "waiting" if prompt.of_known_turn else "confirmed"
