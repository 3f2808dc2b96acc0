"""Which settings suit a way of working, and which of a host's are already right.

The token figures of the table were chosen for a window of 200,000, so they are scaled to the window
there is (references/design/host-settings.md).
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.host_settings import Figures, Setting, compaction_share
from gitguard.model.value import Value
from gitguard.profile.patterns import BURSTY, CONVERSATIONAL, MIXED, PATTERNS, TOOL_HEAVY

_TABLE_WINDOW = 200_000
_MOST_FREE = 2
"""Never more than the window divided by this stays free: the rest would be too small to work in."""
_MUCH_FREE = 4
"""More than the window divided by this is advised with the reason, and with what else would do."""
_LEVELS = (30_000, 50_000, 60_000, 70_000)
"""Tokens to keep free at 200,000, from one level to the next for long conversations."""
_MOST_RECENT = 20_000
"""Tokens of the newest messages that are kept at most, however large the window is."""
LONG = 2.0
"""Hours from which on a conversation is long."""


class _Style(Value):
    free: int
    clear_after: str
    protect: int
    trim_above: int
    recent_share: float


_STYLES = {
    TOOL_HEAVY: _Style(60_000, "1m", 1, trim_above=10_000, recent_share=0.05),
    CONVERSATIONAL: _Style(30_000, "5m", 3, trim_above=50_000, recent_share=0.1),
    MIXED: _Style(50_000, "2m", 2, trim_above=10_000, recent_share=0.1),
    BURSTY: _Style(50_000, "2m", 1, trim_above=10_000, recent_share=0.05),
}
"""Tokens to keep free at 200,000, rest before clearing, exchanges kept, characters, share kept."""


class Halting(Value):
    """Where gitguard writes its checkpoint and where it halts the agent, as shares of a window."""

    checkpoint_at: float
    critical: float


class SortedSettings(Value):
    """What a host's settings are worth for a way of working."""

    right: tuple[Setting, ...]
    changes: tuple[Setting, ...]


def figures_for(
    pattern: str,
    window: int,
    *,
    halting: Halting | None = None,
    hours: float = 0.0,
    spared: tuple[str, ...] = (),
) -> Figures:
    """Return what a way of working asks for in a window of so many tokens.

    window is 0 where it is not known; halting is given where gitguard halts the host's agent, which
    then has to compress before that. Raises `InvalidInput` for another pattern.
    """
    if pattern not in _STYLES:
        raise InvalidInput(f"`{pattern[:80]}` is not a pattern", "Patterns: " + ", ".join(PATTERNS))
    style, is_long = _STYLES[pattern], hours > LONG
    free, why = _free(style, window, halting, is_long=is_long) if window else (0, "")
    return Figures(
        pattern=pattern,
        window=window,
        free=free,
        keep_recent=min(round(style.recent_share * window), _MOST_RECENT),
        clear_after=style.clear_after,
        protect=style.protect,
        trim_above=style.trim_above,
        spared=tuple(dict.fromkeys(spared)),
        calls_in_rows=pattern in (TOOL_HEAVY, BURSTY),
        is_long=is_long,
        halts_at=halting.critical if halting else 0.0,
        why_free=why,
    )


def _free(style: _Style, window: int, halting: Halting | None, *, is_long: bool) -> tuple[int, str]:
    level = min(each for each in _LEVELS if each > style.free) if is_long else style.free
    scaled, why = level * window // _TABLE_WINDOW, ""
    if is_long:
        why = "conversations that last hours go through fewer compactions with more free room"
    least = _free_before_halt(halting, window)
    if scaled < least:
        scaled, why = least, "if the host compacted later, gitguard would halt the agent first"
    if scaled > window // _MOST_FREE:
        scaled, why = window // _MOST_FREE, "at most half of the window is kept free"
    return scaled, "; ".join(filter(None, (why, _too_much(scaled, window))))


def _too_much(free: int, window: int) -> str:
    """Say that much is kept free, and what would do; empty where it is not much."""
    enough = window // _MUCH_FREE
    if free <= enough:
        return ""
    return (
        "that is more than a quarter of the window: if the conversation is compacted too often, "
        f"{enough:,} tokens are enough"
    )


def _free_before_halt(halting: Halting | None, window: int) -> int:
    """Return what has to be free so that the host compresses before gitguard halts."""
    if halting is None:
        return 0
    return round(window * (1 - compaction_share(halting.checkpoint_at, halting.critical)))


def judge(settings: tuple[Setting, ...]) -> SortedSettings:
    """Tell the settings that are right from those that are to change."""
    return SortedSettings(
        tuple(setting for setting in settings if setting.is_right),
        tuple(setting for setting in settings if not setting.is_right),
    )
