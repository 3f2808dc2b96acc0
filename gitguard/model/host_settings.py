"""What is said of a host's settings: the figures a way of working asks for, and one setting each.

The figures are the same for all hosts; each host says which of its settings stand for them.
"""

from __future__ import annotations

from gitguard.model.value import Value


class Figures(Value):
    """What a way of working asks of a host, in units of no host."""

    pattern: str
    window: int = 0
    """Tokens; 0 where nobody knows it, and then all that depends on it is 0 too."""
    free: int = 0
    """Tokens that stay free: the host is to compress when fewer are."""
    keep_recent: int = 0
    """Tokens of the newest messages that a compaction leaves as they are."""
    clear_after: str = ""
    """How long a conversation rests before old tool output goes, as `2m`."""
    protect: int = 0
    """The newest exchanges whose tool output stays."""
    trim_above: int = 0
    """Characters from which on tool output may go."""
    spared: tuple[str, ...] = ()
    """Tools whose output is never to go."""
    calls_in_rows: bool = False
    """Whether one tool call follows another for long."""
    is_long: bool = False
    """Whether the conversations go on for hours."""
    halts_at: float = 0.0
    """The share of the window at which gitguard halts the agent; 0 where it does not."""
    why_free: str = ""
    """What decided about `free` besides the way of working, in words."""

    @property
    def because(self) -> str:
        """What decided about `free` besides the way of working, to follow what is said of it."""
        return f"; {self.why_free}" if self.why_free else ""

    @property
    def compress_at(self) -> float:
        """The share of the window from which on the host is to compress."""
        return 1 - self.free / self.window

    @property
    def protected(self) -> str:
        """Which exchanges stay, for people."""
        many = self.protect != 1
        return f"the newest {self.protect} exchanges stay" if many else "the newest exchange stays"


_LEAST_BEFORE_HALT = 0.025
"""Share of the window by which a host compacts before a halt that comes ahead of a checkpoint."""


def compaction_share(checkpoint_at: float, critical: float) -> float:
    """Return the share of the window at which a host is to compact by itself.

    That is midway between the checkpoint that pressure brings and the halt: after the one, so that
    the state is saved, and before the other, which would stop the agent first. A halt configured
    at or below the checkpoint leaves no room between them; then the compaction only goes first.
    """
    if critical > checkpoint_at:
        return (checkpoint_at + critical) / 2
    return max(critical - _LEAST_BEFORE_HALT, critical / 2)


class Setting(Value):
    """One setting of a host: what stands there, and what is advised. Values are JSON texts."""

    key: str
    """As the host names it, with dots between its parts."""
    title: str
    """What it decides, in words that need no knowledge of the host."""
    before: str
    """Empty where nothing is set."""
    after: str
    practice: str
    """What the advised value does in practice, as a sentence without its full stop."""
    default: str = ""
    """What counts where nothing is set; empty where that differs or is not known."""

    @property
    def is_right(self) -> bool:
        """Whether what counts now is what is advised."""
        return (self.before or self.default) == self.after

    @property
    def now(self) -> str:
        """What counts now, for people."""
        if self.before:
            return self.before
        return f"{self.default} (default)" if self.default else "not set"
