"""Settings of what is done with conversations and what is bundled for them.

They are the user's alone: a repository's file comes with a clone, and must not say how much of a
conversation counts or which files are read.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import ConfigSection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class BudgetConfig(ConfigSection):
    """How a window is divided, and how much of a conversation counts."""

    reserve_tokens: int = fields.count(
        "Tokens reserved for system prompt, tools and context files.", default=20_000
    )
    history_share: float = fields.share("Share of the window for the history.", default=0.5)
    safety_margin: float = fields.number(
        "Factor by which estimates may be wrong, from 1 to 2.", default=1.2
    )
    history_limits: Mapping[str, int] = fields.counts(
        "User turns that count, by chat: `telegram.dms.123`, `telegram.dms`, `telegram`.",
        default={},
    )

    def check(self, what: str) -> None:
        """Refuse a margin that is none, or that makes up what no estimate is wrong by."""
        if not 1 <= self.safety_margin <= 2:
            raise InvalidConfig(
                f"{what}: `budget.safety_margin` is {self.safety_margin}; it must be 1 to 2"
            )


class PruningConfig(ConfigSection):
    """Which results of tools are trimmed or cleared in a transcript."""

    idle_seconds: int = fields.count(
        "Seconds without activity before anything is pruned.", default=300
    )
    keep_exchanges: int = fields.count(
        "How many of the last prompts are protected, with everything after them.", default=3
    )
    min_characters: int = fields.count(
        "Results up to this length are never pruned.", default=50_000
    )
    head_characters: int = fields.count(
        "Characters kept from the start of a pruned result.", default=1_500
    )
    tail_characters: int = fields.count(
        "Characters kept from the end of a pruned result.", default=1_500
    )
    clear: bool = fields.flag(
        "Clear whole results while the history exceeds its share.", default=True
    )
    protected_tools: tuple[str, ...] = fields.texts(
        "Tools or MCP servers whose results are never pruned; `*` is any text.",
        default=("browser", "canvas"),
    )


class BootstrapConfig(ConfigSection):
    """The workspace's context files in `bundle --bootstrap`."""

    file_characters: int = fields.count(
        "Longest context file; 0 for the host's limit, or else 5,000.", default=0
    )
    total_characters: int = fields.count(
        "Size of all context files; 0 for the host's limit, or else 20,000.", default=0
    )
    extra_files: tuple[str, ...] = fields.texts(
        "Your own context files, inside the workspace; they come last.", default=()
    )


LEAST_CHUNK_TOKENS = 1_000
"""With fewer a summarizer would be asked for every message."""


class CompactionConfig(ConfigSection):
    """What `transcript compact` keeps, and what its summary says besides."""

    keep_turns: int = fields.count(
        "How many of the last turns stay word for word; at least 1.", default=3
    )
    rules_file: str = fields.text("File with the workspace's rules.", default="AGENTS.md")
    rules_sections: tuple[str, ...] = fields.texts(
        "Titles of the sections of that file that a summary repeats.",
        default=("Session Startup", "Red Lines"),
    )
    rules_characters: int = fields.count(
        "Longest part of these sections that a summary repeats.", default=2_000
    )
    summary_characters: int = fields.count("Longest summary.", default=16_000)
    chunk_tokens: int = fields.count(
        "Size of one request to the `summarizer`; 0 for 40 % of the window.", default=0
    )
    timeout_seconds: int = fields.count(
        "Seconds that the `summarizer` may take for all requests.", default=300
    )

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
