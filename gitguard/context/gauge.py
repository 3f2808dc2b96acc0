"""The gauge: which reading counts, how large the window is, and how full that makes it.

Readings are host-owned; nothing here is guessed from characters (seed: pressure fallback rule).
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model.config import SMALL_WINDOW, SMALLEST_WINDOW
from gitguard.model.events import MOST_TOKENS
from gitguard.model.text import percent, thousands
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.model.config import WindowConfig
    from gitguard.model.events import Reading, Transcript

MODEL_WINDOWS = {
    "claude-haiku-4-5": 200_000,
    "claude-sonnet-4-5": 200_000,
    "claude-opus-4-5": 200_000,
    "claude-opus-5-5": 1_000_000,
}
"""Windows by model (claude-haiku-4-5 and claude-opus-5-5: as Claude Code 2.1.330 reports them)."""


FIRST_TURN = "first-turn"
"""The source of a pressure that nobody measured yet."""


class Window(Value):
    """A context window, and where its size comes from."""

    tokens: int
    source: str
    """config, host, model or assumed; `cap` is added where it was lowered."""


class Pressure(Value):
    """How full the context is."""

    share: float
    """Used share of the window, 0.0 to 1.0."""
    tokens: int | None
    window: Window
    source: str
    """given, status-line, hook, transcript, estimate or first-turn."""

    @property
    def used(self) -> float:
        """Tokens in the context; more than the window holds, where a cap lowered that."""
        return self.share * self.window.tokens if self.tokens is None else self.tokens

    def gauge_line(self, *, saved: bool = False) -> str:
        """Return the one line of the gauge (seed: Context Manager v1, section 6.4)."""
        assumed = " assumed" if self.window.source.startswith("assumed") else ""
        parts = [
            f"Context: {percent(self.share)}",
            f"{thousands(self.used)}/{thousands(self.window.tokens)} tokens{assumed}",
        ]
        return "[" + " | ".join(parts + ["Checkpoint saved"] * saved) + "]"


class Circumstances(Value):
    """What a checkpoint records beside the state."""

    pressure: Pressure | None = None
    transcript: Transcript | None = None
    compaction_count: int = 0
    forked_from: str = ""
    channel: str = ""
    agent: str = ""


def newest(readings: Iterable[Reading], *, void_before: float) -> Reading | None:
    """Return the newest reading that a compaction has not made void."""
    valid = [reading for reading in readings if reading.at >= void_before]
    return max(valid, key=lambda reading: reading.at, default=None)


def resolve_window(model: str, reported: int, config: WindowConfig) -> Window:
    """Say how large the window is: user, host, table, else the default; a cap only lowers."""
    found = _uncapped(model, reported, config)
    if config.cap and config.cap < found.tokens:
        found = Window(config.cap, f"{found.source}, cap")
    if found.tokens < SMALLEST_WINDOW:
        raise InvalidConfig(
            f"the context window is {found.tokens:,} tokens ({found.source}); "
            f"the smallest usable one is {SMALLEST_WINDOW:,}",
            "Choose another model, or set `window.models` in your config.yaml",
        )
    return found


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
    for name, tokens in MODEL_WINDOWS.items():
        if bare == name or bare.startswith(name + "-"):
            return Window(tokens, "model")
    return Window(config.default, "assumed")


def window_warning(window: Window) -> str:
    """Return a warning for a window that is usable but small, else nothing."""
    if window.tokens >= SMALL_WINDOW:
        return ""
    return f"the context window is only {window.tokens:,} tokens; expect frequent compactions"


def measure(reading: Reading | None, window: Window, *, first_turn: bool) -> Pressure | None:
    """Turn a reading into pressure; on the first turn a missing one is 0.0, later it is missing."""
    if reading is None:
        return Pressure(0.0, None, window, FIRST_TURN) if first_turn else None
    share = reading.share
    if share is None:
        share = min(reading.tokens or 0, MOST_TOKENS) / window.tokens
    return Pressure(min(max(share, 0.0), 1.0), reading.tokens, window, reading.source)


def crosses_checkpoint(pressure: Pressure, last_tokens: float, *, at: float, step: float) -> bool:
    """Say whether pressure has risen far enough for the next `auto-80pct` checkpoint.

    last_tokens is the usage at the one before, negative when there was none since the rise began.
    """
    if pressure.share < at:
        return False
    moved, needed = abs(pressure.used - last_tokens), step * pressure.window.tokens
    return last_tokens < 0 or round(moved, 3) >= round(needed, 3)  # shares are decimal to people
