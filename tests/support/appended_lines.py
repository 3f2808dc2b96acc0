"""A transcript with lines added at its end."""

from __future__ import annotations

from gitguard.model.transcript import Compactions


def added(earlier: Compactions, later: Compactions) -> Compactions:
    """Return the whole count, as its readers add it up, of one that went on from another."""
    if later.anew:
        return later
    newest_at = later.newest_at or earlier.newest_at
    return Compactions(earlier.count + later.count, newest_at, later.upto, earlier.anew)
