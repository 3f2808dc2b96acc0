"""Warnings: what they say, and which one line of an event reaches the agent."""

from __future__ import annotations

from gitguard.model.text import percent, thousands

HAND_OVER, COMPACT, CRITICAL = 1, 2, 3
"""The warnings, the gravest last; 0 is none. Their levels are the gauge's configuration."""
LEAST_CALLS = 5
"""Fewer calls than this make no average."""


def warning_line(
    warning: int,
    pressure: float,
    used: float,
    window: int,
    left: int | None,
    *,
    saved: bool = False,
    room_commands: str = "",
) -> str:
    """Return a warning's one line.

    used and window are tokens; left is the runway in tool calls, which is not mentioned when it is
    not known. saved says whether the state was saved because of it; room_commands are those of the
    host that make room, empty where no host is known.
    """
    full = f"⚠️ Context: {percent(pressure)} ({thousands(used)}/{thousands(window)})."
    runway = "" if left is None else f" Estimated runway: ~{left} tool calls."
    return f"{full}{runway} {_recommendation(warning, room_commands, saved=saved)}"


def _recommendation(warning: int, room_commands: str, *, saved: bool) -> str:
    if warning == HAND_OVER:
        return "Delegate tool-heavy work, and `gitguard note` what is not saved yet."
    state = "; state saved" if saved else ""
    if warning == COMPACT:
        first = "First `gitguard note` decisions, dead ends and the next step."
        return f"Compact soon{state}. {first}"
    return f"Context nearly full{state}. {make_room(room_commands)}."


def make_room(room_commands: str, begin: str = "Run") -> str:
    """Return what a user does about a full context, without the full stop."""
    if room_commands:
        return f"{begin} {room_commands}"
    return "Compact the context or begin a new conversation"


def spiral_line(reason: str) -> str:
    """Return what is said of a conversation that its own summaries eat up."""
    return f"⚠️ Context: {reason}. A new conversation would keep more than another compaction."


def tokens_per_call(before: float, calls_before: int, now: float, calls_now: int) -> float:
    """Return the average of tokens that a call added between two readings; 0 if it cannot be told.

    A context that a host pruned in between tells nothing, nor do too few calls.
    """
    calls = calls_now - calls_before
    if before < 0 or calls < LEAST_CALLS:
        return 0.0
    return max(now - before, 0.0) / calls


def highest(*lines: str) -> str:
    """Return the first line that says something: at most one of ours is read with an event."""
    return next((line for line in lines if line), "")
