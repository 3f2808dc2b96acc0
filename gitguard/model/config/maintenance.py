"""Settings of when sessions are put away, and whether that is done or only said."""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

WARN, ENFORCE = "warn", "enforce"
_BOUNDS = {
    "idle_days": (1, 3_650),
    "most_sessions": (1, 100_000),
    "largest_megabytes": (1, 100_000),
}


class MaintenanceConfig(Section):
    """Which sessions `session maintain` archives."""

    mode: str = fields.text(
        "`warn` lists them, `enforce` archives them.", choices=(WARN, ENFORCE), default=WARN
    )
    idle_days: int = fields.count("Those that were not used for longer, in days.", default=30)
    most_sessions: int = fields.count(
        "Of more than so many, those that were not used longest.", default=500
    )
    largest_megabytes: int = fields.count("Those whose working files are larger.", default=10)

    def check(self, what: str) -> None:
        """Refuse limits that would put away what is at work, or nothing ever."""
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise InvalidConfig(
                    f"{what}: `maintenance.{name}` is {value:,}; it must be {least:,} to {most:,}"
                )
