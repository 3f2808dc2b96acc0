"""The gauge: which reading counts, how large the window is, and how full that makes it.

Readings are host-owned: nothing here is guessed from characters
(references/design/contract.md, "Pressure").
"""

from __future__ import annotations

from gitguard.model.config.config import DEFAULT_WINDOW, SMALL_WINDOW
from gitguard.model.events import MOST_TOKENS
from gitguard.model.pressure import FIRST_TURN, Pressure, Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.model.config.config import WindowConfig
    from gitguard.model.events import Reading

LARGER_WINDOWS = (400_000, 1_000_000, 2_000_000)
"""Sizes that windows have; one that a reading proves too small is taken for the next."""
_LONGEST_NAME = 80
_ABOVE_KNOWN = 1.05


def newest(readings: Iterable[Reading | None], *, void_before: float) -> Reading | None:
    """Return the newest reading that a compaction has not made void, of those that there are."""
    valid = [reading for reading in readings if reading and reading.at >= void_before]
    return max(valid, key=lambda reading: reading.at, default=None)


def resolve_window(
    model: str, reported: int, config: WindowConfig, used: float | None = None
) -> Window:
    """Say how large the window is: user, host, table, else the default; a cap only lowers.

    More tokens in use than the table or the default has prove it too small; then it is raised, and
    assumed.
    """
    window = _uncapped(model, reported, config)
    # What an answer adds may end a little above a window that is known.
    most = window.tokens * (_ABOVE_KNOWN if window.source == "model" else 1)
    if used and used > most and window.source in ("model", "assumed"):
        used = int(min(used, MOST_TOKENS))
        tokens = next((size for size in LARGER_WINDOWS if size >= used), used)
        window = _assumed(tokens, model, "assumed, raised")
    if config.cap and config.cap < window.tokens:
        window = Window(config.cap, f"{window.source}, cap")
    return window


def _uncapped(model: str, reported: int, config: WindowConfig) -> Window:
    bare = model.rpartition("/")[2]
    for name in (model, bare):
        if name in config.models:
            return Window(config.models[name], "config")
    for name, tokens in config.models.items():
        if model == bare and bare and name.rpartition("/")[2] == bare:
            return Window(tokens, "config")
    if reported:
        return Window(reported, "host")
    from gitguard.pressure.models import published_window

    tokens, is_agreed = published_window(model)
    if tokens:  # that hosts publish; assumed where they do not agree
        return Window(tokens, "model") if is_agreed else _assumed(tokens, model)
    if config.default:
        return Window(config.default, "config")
    return _assumed(DEFAULT_WINDOW, model)


def _assumed(tokens: int, model: str, source: str = "assumed") -> Window:
    # The name comes from a host's files and is shown to the agent: one that is no name is left out.
    is_name = len(model) <= _LONGEST_NAME and all(c.isalnum() or c in "-._/:@[]" for c in model)
    return Window(tokens, source, model if is_name and model.isascii() else "")


def window_warning(window: Window) -> str:
    """Return a warning for a window that is usable but small, else nothing."""
    if window.tokens >= SMALL_WINDOW:
        return ""
    return f"the context window is only {window.tokens:,} tokens; expect frequent compactions"


def measure(reading: Reading | None, window: Window, *, first_turn: bool) -> Pressure | None:
    """Turn a reading into pressure; on the first turn a missing one is 0.0, later it is missing."""
    if reading is None:
        return Pressure(0.0, None, window, FIRST_TURN) if first_turn else None
    share, is_assumed = reading.share, False
    if share is None:
        share = min(reading.tokens or 0, MOST_TOKENS) / window.tokens
        is_assumed = window.is_assumed
    return Pressure(min(max(share, 0.0), 1.0), reading.tokens, window, reading.source, is_assumed)


def crosses_checkpoint(pressure: Pressure, last_tokens: float, *, at: float, step: float) -> bool:
    """Say whether pressure has risen far enough for the next `auto-80pct` checkpoint.

    last_tokens is the usage at the one before, negative when there was none since the rise began.
    """
    if pressure.share < at:
        return False
    moved, needed = abs(pressure.used - last_tokens), step * pressure.window.tokens
    return last_tokens < 0 or round(moved, 3) >= round(needed, 3)  # shares are decimal to people
