"""Pressure bands: what a conversation had better do with the work that remains.

Advice and nothing else: the gate stops, and the spawn policy answers for one task.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config


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


def bands(config: Config) -> tuple[Band, ...]:
    """Return the bands, lowest first.

    The last one begins where the gate halts; a halt configured below the ones before hides them.
    """
    return (
        Band("continue", 0.0, None, ""),
        Band(
            "hand-over-heavy",
            config.gauge.hand_over_heavy,
            3,
            "Hand work of more than 3 tool calls to a sub-agent.",
        ),
        Band(
            "hand-over-any",
            config.gauge.hand_over_any,
            1,
            "Hand work of more than 1 tool call to a sub-agent, and tell the user how full it is.",
        ),
        Band(
            "checkpoint",
            config.thresholds.critical,
            None,
            "Save with `gitguard checkpoint`, and suggest a compaction or a new conversation.",
        ),
    )


def band_of(pressure: float, config: Config) -> Band:
    """Return the band of a pressure, the used share of the window."""
    # From the last one down: with a low halt, `checkpoint` begins before the two above it.
    rising = bands(config)
    return next((band for band in reversed(rising) if pressure >= band.begins), rising[0])
