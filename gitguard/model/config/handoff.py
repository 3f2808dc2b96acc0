"""The hand-off file's settings: paths that stay inside, limits that something fits into.

The defaults are those of the Context Guard hook. Only a user may change them: a repository's file
comes with a clone, and must neither turn the hand-off on nor say which files are read for it.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import Section
from gitguard.model.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

DATE = "{date}"
"""What stands for the day in the daily log's path."""
_LEAST_SECTION, _LEAST_TOTAL, _MOST_TOTAL = 40, 600, 20_000
_MOST_SHOWN = 50
"""More paths would not fit into the file that is read back."""
_PATTERN_LETTERS = frozenset("*?[]\\")
"""Letters with a meaning of their own where git is told what to ignore."""


_READ = ("plan", "failure_log", "capabilities", "environment", "daily_log")
_WRITTEN = ("file", "recovered", "recovery_file")


class HandoffConfig(Section):
    """The hand-off file; every path is relative to the workspace's root."""

    enabled: bool = fields.flag(
        "Hooks write the file before a compaction, and hand it back in its place.", default=False
    )
    file: str = fields.text("The hand-off file.", default=".context-checkpoint.md")
    recovered: str = fields.text(
        "Its name once it was handed back.", default=".context-checkpoint.recovered.md"
    )
    recovery_file: str = fields.text(
        "The block, for hosts that cannot be handed text.", default="CONTEXT_RECOVERY.md"
    )
    plan: str = fields.text("The plan that the agent keeps.", default=".active-plan.md")
    failure_log: str = fields.text(
        "The agent's log of failures, `---` between its entries.",
        default="skills/failure-recovery/failure-log.md",
    )
    capabilities: str = fields.text(
        "What the agent knows of itself; only its age is told.",
        default="skills/self-model/capabilities.md",
    )
    environment: str = fields.text(
        "What it knows of its surroundings; only its age is told.",
        default="skills/env-model/environment.md",
    )
    daily_log: str = fields.text(
        "The day's log; `{date}` stands for the date.", default="memory/{date}.md"
    )
    max_age_minutes: int = fields.count(
        "The file is handed back only if it is younger.", default=10
    )
    recent_minutes: int = fields.count(
        "Files are listed that changed since the commit checked out so long ago.", default=30
    )
    depth: int = fields.count("Changed files below more folders are counted, not named.", default=3)
    shown_files: int = fields.count(
        "Of changed files so many are named, the rest counted.", default=20
    )
    section_characters: int = fields.count(
        "The most that is handed back of one section.", default=400
    )
    total_characters: int = fields.count("The most that is handed back in all.", default=2000)

    @property
    def own_names(self) -> tuple[str, ...]:
        """The files that gitguard itself writes, renames and removes."""
        return (self.file, self.recovered, self.recovery_file)

    def check(self, what: str) -> None:
        """Refuse paths that leave the workspace or collide, and limits that nothing fits into."""
        for name in (*_WRITTEN, *_READ):
            path = getattr(self, name)
            if not _is_inside(path):
                raise InvalidConfig(
                    f"{what}: `handoff.{name}` is `{visible(path)}`; it must be a path inside the "
                    "workspace"
                )
        for name in _WRITTEN:
            path = getattr(self, name)
            if _PATTERN_LETTERS & set(path):
                raise InvalidConfig(
                    f"{what}: `handoff.{name}` is `{path}`; git could not be told to ignore it"
                )
        if len({*self.own_names, *(getattr(self, name) for name in _READ)}) < 8:
            raise InvalidConfig(f"{what}: two paths of `handoff` are the same")
        if DATE not in self.daily_log:
            raise InvalidConfig(
                f"{what}: `handoff.daily_log` is `{self.daily_log}`, without {DATE}"
            )
        _check_limits(self, what)


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    plain = path == path.strip() and path == visible(path) and not {"\n", "\t"} & set(path)
    return plain and not {"", ".", "..", ".git"} & {part.lower() for part in parts}


def _check_limits(config: HandoffConfig, what: str) -> None:
    for name, least, most in (
        ("shown_files", 0, _MOST_SHOWN),
        ("section_characters", _LEAST_SECTION, _MOST_TOTAL),
        ("total_characters", _LEAST_TOTAL, _MOST_TOTAL),
    ):
        value = getattr(config, name)
        if not least <= value <= most:
            raise InvalidConfig(
                f"{what}: `handoff.{name}` is {value:,}; it must be {least:,} to {most:,}"
            )
