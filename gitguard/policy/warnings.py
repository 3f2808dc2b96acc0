"""Warnings: what they say, and which one line of an event reaches the agent.

Source: Context Management, "Proactive Warning Template".
"""

from __future__ import annotations

from gitguard.model.text import percent, thousands

HAND_OVER, COMPACT, CRITICAL = 1, 2, 3
"""The warnings, the gravest last; 0 is none. Their levels are the gauge's configuration."""
RECOMMENDATIONS = {
    HAND_OVER: "Spawning sub-agents for remaining tool-heavy work.",
    COMPACT: "Recommend compacting soon. Writing checkpoint.",
    CRITICAL: "Context critical. Writing checkpoint now. Suggest /compact or /new.",
}
LEAST_CALLS = 5
"""Fewer calls than this make no average."""


def warning_line(warning: int, pressure: float, used: float, window: int, left: int | None) -> str:
    """Return a warning's one line.

    used and window are tokens; left is the runway in tool calls, which is not mentioned when it is
    not known.
    """
    full = f"⚠️ Context: {percent(pressure)} ({thousands(used)}/{thousands(window)})."
    runway = "" if left is None else f" Estimated runway: ~{left} tool calls."
    return f"{full}{runway} {RECOMMENDATIONS[warning]}"


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
