"""Settings of when sessions are put away, and whether that is done or only said."""

from __future__ import annotations

from gitguard.model import fields
from gitguard.model.record import ConfigSection

WARN, ENFORCE = "warn", "enforce"
_BOUNDS = {
    "idle_days": (1, 3_650),
    "most_sessions": (1, 100_000),
    "largest_megabytes": (1, 100_000),
}


class MaintenanceConfig(ConfigSection):
    """Which sessions `session maintain` archives."""

    mode: str = fields.text(
        "`warn` lists the sessions to archive, `enforce` archives them.",
        choices=(WARN, ENFORCE),
        default=WARN,
    )
    idle_days: int = fields.count("Days without use after which a session is archived.", default=30)
    most_sessions: int = fields.count(
        "How many sessions stay; the least recently used are archived.", default=500
    )
    largest_megabytes: int = fields.count(
        "Size of working files, in MB, above which a session is archived.", default=10
    )

    def check(self, what: str) -> None:
        """Refuse limits that would put away what is at work, or nothing ever."""
        self.refuse_beyond(_BOUNDS, what, "maintenance")
