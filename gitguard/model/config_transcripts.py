"""Settings of what is done with conversations and what is bundled for them.

They are the user's alone: a repository's file comes with a clone, and must not say how much of a
conversation counts or which files are read.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model.record import Kind, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


class BudgetConfig(Section):
    """How a window is divided, and how much of a conversation counts."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "reserve_tokens": Kind("count", "Tokens that are left to what stands before the history."),
        "history_share": Kind("share", "Share of the window that the history may take."),
        "safety_margin": Kind("number", "By how much estimates may be wrong, 1 to 2."),
        "history_limits": Kind(
            "counts",
            "The last user turns that count: `telegram.dms.123`, `telegram.dms`, `telegram`.",
        ),
    }
    reserve_tokens: int = 20_000
    history_share: float = 0.5
    safety_margin: float = 1.2
    history_limits: Mapping[str, int] = {}
    extra: Mapping[str, Any] = {}

    def check(self, what: str) -> None:
        """Refuse a margin that is none, or that makes up what no estimate is wrong by."""
        if not 1 <= self.safety_margin <= 2:
            raise InvalidConfig(
                f"{what}: `budget.safety_margin` is {self.safety_margin}; it must be 1 to 2"
            )


class PruningConfig(Section):
    """Which results of tools are trimmed or cleared in a transcript."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "idle_seconds": Kind("count", "Nothing is pruned before so long a silence."),
        "keep_exchanges": Kind(
            "count", "The last prompts of the user; all that follows them is kept."
        ),
        "min_characters": Kind("count", "Only longer results are pruned."),
        "head_characters": Kind("count", "What is kept of a result's beginning."),
        "tail_characters": Kind("count", "What is kept of its end."),
        "clear": Kind("flag", "Clear whole results while the history is over its share."),
        "protected_tools": Kind(
            "texts", "Tools or MCP servers whose results stay; `*` for any characters."
        ),
    }
    idle_seconds: int = 300
    keep_exchanges: int = 3
    min_characters: int = 50_000
    head_characters: int = 1_500
    tail_characters: int = 1_500
    clear: bool = True
    protected_tools: tuple[str, ...] = ("browser", "canvas")
    extra: Mapping[str, Any] = {}


class BootstrapConfig(Section):
    """The workspace's context files in `bundle --bootstrap`."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "file_characters": Kind("count", "The most of one; 0 for the host's limit, else 5,000."),
        "total_characters": Kind("count", "The most of all; 0 for the host's limit, else 20,000."),
        "extra_files": Kind("texts", "Further ones, inside the workspace; they come last."),
    }
    file_characters: int = 0
    total_characters: int = 0
    extra_files: tuple[str, ...] = ()
    extra: Mapping[str, Any] = {}


LEAST_CHUNK_TOKENS = 1_000
"""With fewer a summarizer would be asked for every message."""


class CompactionConfig(Section):
    """What `transcript compact` keeps, and what its summary says besides."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "keep_turns": Kind("count", "The last turns, which stay word for word; at least 1."),
        "rules_file": Kind("text", "The workspace's rules, of which sections are repeated."),
        "rules_sections": Kind("texts", "The titles of those sections."),
        "rules_characters": Kind("count", "The most that is repeated of them."),
        "summary_characters": Kind("count", "The most that a summary has in all."),
        "chunk_tokens": Kind(
            "count", "The most that the `summarizer` is given at a time; 0 for 40 % of the window."
        ),
        "timeout_seconds": Kind("count", "How long the `summarizer` may take for all it is asked."),
    }
    keep_turns: int = 3
    rules_file: str = "AGENTS.md"
    rules_sections: tuple[str, ...] = ("Session Startup", "Red Lines")
    rules_characters: int = 2_000
    summary_characters: int = 16_000
    chunk_tokens: int = 0
    timeout_seconds: int = 300
    extra: Mapping[str, Any] = {}

    def check(self, what: str) -> None:
        """Refuse numbers with which nothing would be kept, or said."""
        for name, least in (
            ("keep_turns", 1),
            ("summary_characters", 2_000),
            ("timeout_seconds", 1),
        ):
            value = getattr(self, name)
            if value < least:
                raise InvalidConfig(
                    f"{what}: `compaction.{name}` is {value}; it must be at least {least}"
                )
        if 0 < self.chunk_tokens < LEAST_CHUNK_TOKENS:
            raise InvalidConfig(
                f"{what}: `compaction.chunk_tokens` is {self.chunk_tokens}; it must be 0, or at "
                f"least {LEAST_CHUNK_TOKENS:,}"
            )
