"""Settings of what is kept of the worktree's files, and for how long."""

from __future__ import annotations

from gitguard.model import fields
from gitguard.model.record import ConfigSection

_BOUNDS = {
    "file_megabytes": (1, 1_000),
    "day_megabytes": (1, 100_000),
    "seconds": (1, 60),
    "most": (1, 10_000),
    "days": (1, 3_650),
}


class FilesConfig(ConfigSection):
    """Snapshots of the worktree's files, which checkpoints name."""

    enabled: bool = fields.flag("Whether snapshots are taken at all.", default=True)
    file_megabytes: int = fields.count(
        "Size of a file, in MB, above which it is left out.", default=20
    )
    day_megabytes: int = fields.count(
        "New content, in MB, that the snapshots of a session may store in 24 hours.", default=200
    )
    seconds: int = fields.count("Time that one snapshot may take; the rest is left out.", default=2)
    most: int = fields.count("How many snapshots of a session are kept.", default=200)
    days: int = fields.count("Days for which a snapshot is kept.", default=30)

    def check(self, what: str) -> None:
        """Refuse limits under which nothing would be kept, or no limit would be left."""
        self.refuse_beyond(_BOUNDS, what, "files")
