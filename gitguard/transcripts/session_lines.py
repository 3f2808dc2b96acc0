"""Usage and messages in the lines and rows of pi's and OpenClaw's sessions.

Hooks ask for these during a turn, so this imports little; `session_entries` reads everything else.
"""

from __future__ import annotations

from gitguard.model.events import Reading
from gitguard.model.transcript import AGENT, USER, Message
from gitguard.transcripts.entries import (
    COMPACTION,
    RESET,
    parse,
    pis_tokens,
    summary_since,
    texts,
    time_of,
    tokens,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_MARKS = (b'"usage"', b'"compaction"', b'"reset"')
THE_HOST = "openclaw"
"""The provider of what the host itself says in the agent's name."""
_NOT_THE_USERS = (
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    "A new session was started via /new or /reset.",
    "Pre-compaction memory flush",
    "Read HEARTBEAT.md if it exists",
)
"""How prompts begin that the host writes in the user's name."""
_STAMP = r"(?:^|\n)\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d \d\d:\d\d [^\]\n]{1,12}\] "
"""What 2026.3.13 puts before a user's words, behind whatever plugins put before them."""


def newest(rows: Iterable[bytes], *, across: bool = False) -> Reading | None:
    """Return the reading of the first entry that has a usage; rows come newest first.

    A turning point ends the search, unless across: None then, or what a compaction left.
    """
    for row in rows:
        if not any(mark in row for mark in _MARKS):
            continue
        entry = parse(row)
        kind = entry.get("type")
        if kind in (COMPACTION, RESET) and not across:
            return _after_compaction(entry)
        if kind == "message" and (reading := _reading(entry)):
            return reading
    return None


def _after_compaction(entry: dict[str, Any]) -> Reading | None:
    left, at = tokens(entry, ("tokensAfter",)), time_of(entry)
    if left <= 0 or not at:
        return None
    return Reading("transcript", at, tokens=left, after_compaction=True)


def newest_summary(rows: Iterable[bytes], since: float) -> str:
    """Return the summary of a compaction since a time, empty if none is among the newest rows.

    Rows come newest first; since is in Unix seconds.
    """
    return summary_since(rows, b'"compaction"', since, _summary_of)


def _summary_of(entry: dict[str, Any]) -> str:
    summary = entry.get("summary")
    return summary if entry.get("type") == COMPACTION and isinstance(summary, str) else ""


def _reading(entry: dict[str, Any]) -> Reading | None:
    message, at = entry.get("message"), time_of(entry)
    if not isinstance(message, dict) or message.get("role") != "assistant" or not at:
        return None
    used = pis_tokens(message.get("usage"))
    if used <= 0 or message.get("provider") == THE_HOST:
        return None
    named = (str(message[name]) for name in ("provider", "model") if message.get(name))
    return Reading("transcript", at, tokens=used, model="/".join(named))


def message_of(entry: dict[str, Any]) -> Message | None:
    """Return what an entry says, None if neither the user nor the agent speaks in it."""
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict):
        return None
    role = {"user": USER, "assistant": AGENT}.get(str(message.get("role")))
    paragraphs = [text for text in texts(message.get("content")) if text.strip()]
    if role == USER:
        paragraphs = _of_the_user(message, paragraphs)
    if not role or not paragraphs or message.get("provider") == THE_HOST:
        return None
    return Message(role, "\n".join(paragraphs), time_of(entry))


def _of_the_user(message: dict[str, Any], paragraphs: list[str]) -> list[str]:
    import re

    provenance = message.get("provenance")
    if isinstance(provenance, dict) and provenance.get("kind") not in (None, "external_user"):
        return []
    # A plugin's notes and a time stamp precede the words; without a stamp the whole text is theirs.
    words = (re.split(_STAMP, text, maxsplit=1)[-1] for text in paragraphs)
    return [text for text in words if text.strip() and not text.startswith(_NOT_THE_USERS)]
