"""Pressure bands: what a conversation had better do with the work that remains.

Advice and nothing else: the gate stops, and the spawn policy answers for one task.
"""

from __future__ import annotations

from gitguard.model.value import Value


class Band(Value):
    """A range of pressure, and what it asks for."""

    name: str
    """continue, hand-over-heavy, hand-over-any or checkpoint."""
    begins: float
    """The pressure from which it holds, up to where the next one begins."""
    most_calls: int | None
    """Work of more tool calls than this goes to a sub-agent; None where the band asks for none."""
    advice: str
    """What the agent had better do, empty where it just goes on."""


BANDS = (
    Band("continue", 0.0, None, ""),
    Band("hand-over-heavy", 0.50, 3, "Hand work of more than 3 tool calls to a sub-agent."),
    Band(
        "hand-over-any",
        0.70,
        1,
        "Hand work of more than 1 tool call to a sub-agent, and tell the user how full it is.",
    ),
    Band(
        "checkpoint",
        0.85,
        None,
        "Save with `gitguard checkpoint`, and suggest /compact or a new conversation.",
    ),
)
"""Lowest first."""


def band_of(pressure: float) -> Band:
    """Return the band of a pressure, the used share of the window."""
    return next((band for band in reversed(BANDS) if pressure >= band.begins), BANDS[0])
