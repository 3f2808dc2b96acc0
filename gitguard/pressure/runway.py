"""How far a conversation can still go: tool calls left, and whether compactions eat it up."""

from __future__ import annotations

from gitguard.model.text import percent

MANY_COMPACTIONS = 3
"""From the third on, a new conversation keeps more than another compaction."""
MOST_SUMMARIES = 0.3
"""So it does once summaries fill more than this share of the window."""
_FURTHEST = 1_000_000
"""More calls than this are no runway; a number that large comes from costs near nothing."""


def runway(used: int, window: int, per_call: float, halt_at: float) -> int | None:
    """Return the tool calls left before the halt; 0 when that is reached.

    used and window are tokens, per_call is this conversation's own average of tokens for a call,
    and halt_at the share of the window at which the gate halts. None when it cannot be told.
    """
    if used < 0 or window <= 0 or not per_call > 0 or not halt_at > 0:
        return None
    left = min(halt_at, 1.0) * window - used
    return int(min(max(left, 0) / per_call, _FURTHEST))


def spiral_reason(compactions: int, summaries: int, window: int) -> str:
    """Say why a new conversation keeps more than a compaction, empty when it does not.

    Each compaction raises the floor on which the next begins. summaries is the tokens that those
    in the context take; 0 when that is not known.
    """
    if compactions >= MANY_COMPACTIONS:
        return f"{compactions:,} compactions"
    if window > 0 and summaries > MOST_SUMMARIES * window:
        return f"summaries fill {percent(summaries / window)} of the window"
    return ""
