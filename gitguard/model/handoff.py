"""Checks the hand-off file's settings: paths that stay inside, limits that something fits into.

The defaults are those of the Context Guard hook. Only a user may change them: a repository's file
comes with a clone, and must neither turn the hand-off on nor say which files are read for it.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config import HandoffConfig

DATE = "{date}"
"""What stands for the day in the daily log's path."""
_LEAST_SECTION, _LEAST_TOTAL, _MOST_TOTAL = 40, 600, 20_000
_MOST_SHOWN = 50
"""More paths would not fit into the file that is read back."""
_PATTERN_LETTERS = frozenset("*?[]\\")
"""Letters with a meaning of their own where git is told what to ignore."""


_READ = ("plan", "failure_log", "capabilities", "environment", "daily_log")
_WRITTEN = ("file", "recovered", "recovery_file")


def check_handoff(config: HandoffConfig, *, what: str) -> None:
    """Refuse paths that leave the workspace or collide, and limits that nothing fits into."""
    for name in (*_WRITTEN, *_READ):
        path = getattr(config, name)
        if not _is_inside(path):
            raise InvalidConfig(
                f"{what}: `handoff.{name}` is `{visible(path)}`; it must be a path inside the "
                "workspace"
            )
    for name in _WRITTEN:
        path = getattr(config, name)
        if _PATTERN_LETTERS & set(path):
            raise InvalidConfig(
                f"{what}: `handoff.{name}` is `{path}`; git could not be told to ignore it"
            )
    if len({*config.own_names, *(getattr(config, name) for name in _READ)}) < 8:
        raise InvalidConfig(f"{what}: two paths of `handoff` are the same")
    if DATE not in config.daily_log:
        raise InvalidConfig(f"{what}: `handoff.daily_log` is `{config.daily_log}`, without {DATE}")
    _check_limits(config, what)


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
