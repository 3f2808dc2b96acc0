"""What a message's row of opencode's tells of itself (recorded with 1.18.33)."""

from __future__ import annotations

from gitguard.transcripts.entries import added, tokens, unix_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_summary(message: dict[str, Any]) -> bool:
    """Say whether a message is a compaction's summary; one that failed compacts nothing."""
    is_complete = message.get("summary") is True and message.get("finish")
    return bool(is_complete and not message.get("error"))


def moment(message: dict[str, Any]) -> float:
    """Return the Unix seconds at which a message was complete, else those at which it began."""
    times = message.get("time")
    return unix_seconds(added(times, ("completed",)) or added(times, ("created",)))


def used(message: dict[str, Any]) -> int:
    """Return the tokens in the context when an answer was given, as the host itself counts them."""
    usage = message.get("tokens")
    cache = usage.get("cache") if isinstance(usage, dict) else None
    total = tokens(usage, ("total",))
    # An answer without a total is added up from its parts; its input excludes what was cached.
    return total or tokens(usage, ("input", "output")) + tokens(cache, ("read", "write"))


def model_of(message: dict[str, Any]) -> str:
    """Return the model that answered."""
    named = (message.get(name) for name in ("providerID", "modelID"))
    return "/".join(str(name) for name in named if name)
