"""How full a context is: the values that a reading comes to."""

from __future__ import annotations

from gitguard.model.text import percent, thousands
from gitguard.model.value import Value

FIRST_TURN = "first-turn"
"""The source of a pressure that nobody measured yet."""


class Window(Value):
    """A context window, and where its size comes from."""

    tokens: int
    source: str
    """config, host, model or assumed; `raised` is added where a reading proved it too small, and
    `cap` where the user lowered it."""
    model: str = ""
    """The model whose window is assumed, where it has a name."""

    @property
    def is_assumed(self) -> bool:
        """Whether nobody named this size: neither the user, as with a cap, nor host or table."""
        return self.source.startswith("assumed") and not self.source.endswith("cap")

    @property
    def assumption(self) -> str:
        """Say that the window is assumed, and the setting that ends it; empty where it is not."""
        if not self.is_assumed:
            return ""
        size = f"the window of {self.tokens:,} tokens is assumed"
        if "raised" in self.source:
            size += ", raised as more than before is in use"
        return f"{size}: {self.remedy}"

    @property
    def remedy(self) -> str:
        """Say which setting names the window."""
        setting = "window.default" if not self.model else f"window.models.{self.model}"
        return f"set `{setting}` in your config.yaml"


class Pressure(Value):
    """How full the context is."""

    share: float
    """Used share of the window, 0.0 to 1.0."""
    tokens: int | None
    window: Window
    source: str
    """given, status-line, hook, transcript, estimate or first-turn."""
    is_assumed: bool = False
    """Whether the share was reckoned from tokens and a window that is assumed."""

    @property
    def is_known(self) -> bool:
        """Whether anybody measured it; else it only counts as 0.0, on the first turn."""
        return self.source != FIRST_TURN

    @property
    def used(self) -> float:
        """Tokens in the context; more than the window holds, where a cap lowered that."""
        return self.share * self.window.tokens if self.tokens is None else self.tokens

    def gauge_line(self, *, saved: bool = False) -> str:
        """Return the one line of the gauge."""
        if not self.is_known:
            return "[Context: unknown]"
        assumed = f" ({self.window.assumption})" if self.window.is_assumed else ""
        parts = [
            f"Context: {percent(self.share)}",
            f"{thousands(self.used)}/{thousands(self.window.tokens)} tokens{assumed}",
        ]
        return "[" + " | ".join(parts + ["Checkpoint saved"] * saved) + "]"
