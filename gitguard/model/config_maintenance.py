"""Settings of when sessions are put away, and whether that is done or only said."""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model.record import Kind, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

WARN, ENFORCE = "warn", "enforce"
_BOUNDS = {
    "idle_days": (1, 3_650),
    "most_sessions": (1, 100_000),
    "largest_megabytes": (1, 100_000),
}


class MaintenanceConfig(Section):
    """Which sessions `session maintain` archives."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "mode": Kind(
            "text", "`warn` lists them, `enforce` archives them.", choices=(WARN, ENFORCE)
        ),
        "idle_days": Kind("count", "Those that were not used for longer, in days."),
        "most_sessions": Kind("count", "Of more than so many, those that were not used longest."),
        "largest_megabytes": Kind("count", "Those whose working files are larger."),
    }
    mode: str = WARN
    idle_days: int = 30
    most_sessions: int = 500
    largest_megabytes: int = 10
    extra: Mapping[str, Any] = {}

    def check(self, what: str) -> None:
        """Refuse limits that would put away what is at work, or nothing ever."""
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise InvalidConfig(
                    f"{what}: `maintenance.{name}` is {value:,}; it must be {least:,} to {most:,}"
                )
