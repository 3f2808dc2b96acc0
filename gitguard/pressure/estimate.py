"""Estimates tokens from characters: for tests and reference only.

It is used nowhere unless the user's configuration sets `reference_mode`.
"""

from __future__ import annotations

_CHARACTERS_PER_TOKEN = 4


def estimate_tokens(characters: int) -> int:
    """Guess tokens from characters; production hosts must report pressure instead."""
    return -(-characters // _CHARACTERS_PER_TOKEN)
