"""What a window is divided into: a reserve, the history, and space to work in.

    window 200,000 = reserve 20,000 + history 100,000 + working space 80,000

The reserve is for what stands before the history: system prompt, tools, context files. History
above its share is what compactions are for.
"""

from __future__ import annotations

from gitguard.model.codec import parse_json
from gitguard.model.config.transcripts import BudgetConfig
from gitguard.model.conversation import HEADER, TranscriptEntry
from gitguard.model.value import Value

_CAPPED_FROM = 4
"""The version of a session's entries from which OpenClaw (2026.8) caps the reserve."""
_FOURTH = 4
"""Such a version reserves at most the window's fourth part; in any, a reserve may be that large."""


class Budget(Value):
    """A window's parts in tokens; reserve, history and working space add up to the window."""

    window: int
    reserve: int
    history: int
    working: int
    safeguard: int
    """What the history is cut down to before a summary is made of the rest."""


def divide(window: int, config: BudgetConfig, *, capped: bool = False) -> Budget:
    """Divide a window, whose size and bounds the gauge has found; capped is the newer reserve.

    The safeguard budget is `window * history_share * safety_margin`, 120,000 of 200,000 tokens. The
    margin is for estimates, which may be a fifth too high, and it is applied here and nowhere
    else: estimates that are held against this budget must not be multiplied by it again, because
    the same factor on both sides of a comparison is none. Neither part is ever larger than what
    the reserve leaves.

    In a small window the reserve gives way to the history's share: it is a fixed number of tokens,
    and would leave a window of 20,000 no history at all.
    """
    share, fourth = round(window * config.history_share), window // _FOURTH
    reserve = min(config.reserve_tokens, fourth if capped else max(window - share, fourth))
    left = window - reserve
    history = min(share, left)
    safeguard = min(round(window * config.history_share * config.safety_margin), left)
    return Budget(window, reserve, history, working=left - history, safeguard=safeguard)


def caps_reserve(first: TranscriptEntry | None) -> bool:
    """Say by a conversation's first entry whether its host caps the reserve."""
    if first is None or first.kind != HEADER:
        return False
    try:
        version = parse_json(first.raw.decode()).get("version")
    except (ValueError, AttributeError, RecursionError):
        return False
    return type(version) is int and version >= _CAPPED_FROM
