"""What a halted conversation is told: the agent by a denial, the user by a refusal.

A halt is for tools, not for words. The first tool call after a prompt is denied with its reason, so
that the agent can still answer; the next one ends the turn. A host that cannot end a turn refuses
prompts in its place.
"""

from __future__ import annotations

from gitguard.hooks.gate import HALT_STATUS, halt_reason
from gitguard.hooks.shell_commands import own_command
from gitguard.model.events import HookReply
from gitguard.model.text import one_line, shorten
from gitguard.store.session.conversations import add_denial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.errors import MissingState
    from gitguard.model.events import Abilities, HookEvent, Pressure
    from gitguard.store.session.host_session import Halt
    from gitguard.store.session.workspace import UserDirs

LEAST_ROOM = 8_000
"""Tokens that have to be left in the window for a prompt and its answer in words."""
ALLOWED = ("note", "update", "checkpoint", "status")
"""Commands of ours that save what is only in the agent's head; a halt denies every other call."""
_ALLOWED_TEXT = "`gitguard note`, `update`, `checkpoint` and `status`"


MENDING = frozenset({"repair", "status", "note", "ensure"})
"""Commands of ours that mend a state that is missing, or say what is wrong with it."""


def is_exempt(
    event: HookEvent, places: UserDirs, allowed: frozenset[str] = frozenset(ALLOWED)
) -> bool:
    """Say whether a call is one simple command of ours that a stopped agent may still run."""
    tool = event.tool
    if tool is None or not tool.is_shell:
        return False
    path = places.environment.get("PATH", "")
    return own_command(tool.command, places.program, path) in allowed


def deny(event: HookEvent, abilities: Abilities, halt: Halt, path: str, now: float) -> HookReply:
    """Deny a tool call of a halted conversation, whose record lies at path; count it there."""
    return denial(event, abilities, halt, ends=count_denial(event, abilities, path, now))


def count_denial(event: HookEvent, abilities: Abilities, path: str, now: float) -> bool:
    """Count a denial; say whether the turn ends with it, also where it cannot be counted."""
    if not abilities.ends_turns:
        return False
    call = event.mark or (event.tool.id if event.tool is not None else "")
    return add_denial(path, now, call, is_unique=bool(event.mark)) != 1


def denial(event: HookEvent, abilities: Abilities, halt: Halt, *, ends: bool) -> HookReply:
    """Return what the agent is told of a call that is denied, and the person if the turn ends."""
    agent = "\n".join((*_opening(halt), _denied(abilities, halt, ends=ends)))
    if not ends:
        return HookReply(refuse=agent)
    ways = f"You can still ask questions. {_ways_out(event, abilities, begin='Run')}"
    person = (
        f"The agent went on to call tools, so gitguard ended its turn: {halt_reason(halt)}. "
        f"{_saved(halt)}{ways}"
    )
    return HookReply(refuse=agent, stop="\n".join((HALT_STATUS, *_gauge(halt), person)))


def compaction_refusal(event: HookEvent, abilities: Abilities, halt: Halt) -> str:
    """Tell the person why the turn of a halted conversation ends in place of a compaction."""
    ended = (
        f"gitguard ended the agent's turn where it would have compacted and gone on: "
        f"{halt_reason(halt)}. {_saved(halt)}{_ways_out(event, abilities, begin='Run')}"
    )
    return "\n".join((HALT_STATUS, *_gauge(halt), ended))


def _denied(abilities: Abilities, halt: Halt, *, ends: bool) -> str:
    next_call = "Your turn ends here." if ends else "The next call that is denied ends your turn."
    return (
        f"This tool call is denied: {halt_reason(halt)}. {_saved(halt)}Answer the user in words: "
        f"say what you found and what is open, and suggest {_room(abilities)}. Of your tools only "
        f"{_ALLOWED_TEXT} still run, each as a command of its own."
        + (f" {next_call}" if abilities.ends_turns else "")
    )


def pass_prompt(abilities: Abilities, halt: Halt, pressure: Pressure | None = None) -> str:
    """Return what a halted agent is told with a prompt that it may answer in words."""
    words = (
        f"Answer in words; tool calls are denied: {halt_reason(halt)}. Only {_ALLOWED_TEXT} still "
        f"run, each as a command of its own. Suggest {_room(abilities)}."
    )
    return "\n".join((*_opening(halt, pressure), words))


def prompt_refusal(
    event: HookEvent, abilities: Abilities, halt: Halt, pressure: Pressure | None = None
) -> HookReply:
    """Refuse a prompt of a halted conversation, and tell the user how to go on.

    A host that runs the turn all the same hands the context to the agent.
    """
    # A host that can end turns passes prompts on until no room is left for an answer in words.
    too_full = f"fewer than {LEAST_ROOM:,} tokens are left"
    room = too_full if abilities.ends_turns else halt_reason(halt)
    # What is typed behind a prompt that stays there would be refused with it.
    begin = "Clear the input line, then run" if abilities.keeps_refused_prompts else "Run"
    ways = _ways_out(event, abilities, begin=begin)
    refusal = f"Your prompt was not sent: {room}. {_saved(halt)}{ways}"
    person = "\n".join((*_opening(halt, pressure), refusal))
    return HookReply(context=pass_prompt(abilities, halt, pressure), refuse=person)


def has_room(pressure: Pressure | None) -> bool:
    """Say whether a prompt and an answer in words still fit; without a figure nobody can tell."""
    return pressure is not None and pressure.window.tokens - pressure.used >= LEAST_ROOM


def gauge_of(pressure: Pressure | None) -> str:
    """Return how full the context is, such as `86% (172k/200k)`; empty where it is not known."""
    from gitguard.model.text import percent, thousands

    if pressure is None or not pressure.is_known:
        return ""
    used, window = thousands(pressure.used), thousands(pressure.window.tokens)
    assumed = f"; {pressure.window.assumption}" * pressure.window.is_assumed
    return f"{percent(pressure.share)} ({used}/{window}{assumed})"


def _opening(halt: Halt, pressure: Pressure | None = None) -> tuple[str, ...]:
    return (HALT_STATUS, *_gauge(halt, pressure))


def _gauge(halt: Halt, pressure: Pressure | None = None) -> tuple[str, ...]:
    gauge = halt.gauge and (gauge_of(pressure) or halt.gauge)
    return (f"⚠️ Context: {gauge}.",) if gauge else ()


def _saved(halt: Halt) -> str:
    return f"{halt.saved} " if halt.saved else ""


def _ways_out(event: HookEvent, abilities: Abilities, *, begin: str) -> str:
    from gitguard.hooks.warnings import make_room

    key = shorten(one_line(event.session), 200)
    named = f" --session '{key}'" if key else ""
    return (
        f"{make_room(abilities.room_commands, begin)}. To continue anyway, run "
        f"`gitguard{named} override --reason …` in a terminal."
    )


def _room(abilities: Abilities) -> str:
    return abilities.room_commands or "a compaction or a new conversation"


def stop_text(error: MissingState) -> str:
    """Return what stops an agent whose state is missing or broken."""
    return f"{error.status}\n{error.message}. {error.hint}"
