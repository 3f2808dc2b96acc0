"""The hand-off file's settings: paths that stay inside, limits that something fits into.

The defaults are those of the Context Guard hook. Only a user may change them: a repository's file
comes with a clone, and must neither turn the hand-off on nor say which files are read for it.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import ConfigSection
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


class HandoffConfig(ConfigSection):
    """The hand-off file; every path is relative to the workspace's root."""

    enabled: bool = fields.flag(
        "Hooks write the hand-off file, and return it in place of the resume block.", default=False
    )
    file: str = fields.text("Name of the hand-off file.", default=".context-checkpoint.md")
    recovered: str = fields.text(
        "Its name after it was returned.", default=".context-checkpoint.recovered.md"
    )
    recovery_file: str = fields.text(
        "File for the block, for hosts that cannot be given text.", default="CONTEXT_RECOVERY.md"
    )
    plan: str = fields.text("File with the agent's plan.", default=".active-plan.md")
    failure_log: str = fields.text(
        "File with the agent's failures, with `---` between entries.",
        default="skills/failure-recovery/failure-log.md",
    )
    capabilities: str = fields.text(
        "File with what the agent knows about itself; only its age is used.",
        default="skills/self-model/capabilities.md",
    )
    environment: str = fields.text(
        "File with what the agent knows about its environment; only its age is used.",
        default="skills/env-model/environment.md",
    )
    daily_log: str = fields.text(
        "File with the day's log; `{date}` is the date.", default="memory/{date}.md"
    )
    max_age_minutes: int = fields.count(
        "Age in minutes up to which the file is returned.", default=10
    )
    recent_minutes: int = fields.count("Files Changed covers this many minutes.", default=30)
    depth: int = fields.count(
        "Folder depth up to which changed files are named; deeper ones are counted.", default=3
    )
    shown_files: int = fields.count(
        "How many changed files are named; the others are counted.", default=20
    )
    section_characters: int = fields.count(
        "Longest part of a section that is returned.", default=400
    )
    total_characters: int = fields.count("Longest block that is returned.", default=2000)

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
