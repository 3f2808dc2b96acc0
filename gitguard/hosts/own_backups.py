"""Hosts that put a backup of their own in the place of a settings file that they distrust.

OpenClaw 2026.9.6 distrusts a file that has no `meta`, has lost `gateway.mode`, or is less than half
as long as the last one that it knows. Reading it to work with it, as a starting Gateway does, it
takes its backup then, which may be the half of a change. 2026.3.13 does not.
"""

from __future__ import annotations

from gitguard.model.value import Value


class OwnBackup(Value):
    """Where a host keeps its backup, and how to see whether it would take it."""

    suffix: str
    """What follows the file's name."""
    reading: tuple[str, ...]
    """Arguments with which the host's command reads the file to work with it."""


_KEPT = {"openclaw": OwnBackup(".bak", ("models", "list", "--json"))}


def own_backup(host: str) -> OwnBackup | None:
    """Return what is known of a host's backup, None where it has none."""
    return _KEPT.get(host)
