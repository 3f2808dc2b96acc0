"""How many tokens a conversation takes, guessed from its characters.

The guess decides what is kept and what is summarized. How full a context is, is never guessed: that
only the host's own figures tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitguard.model.conversation import TranscriptEntry

CHARACTERS_PER_TOKEN = 4


def estimate(characters: int) -> int:
    """Guess the tokens of a text of so many characters."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def tokens_of(entries: Iterable[TranscriptEntry]) -> int:
    """Guess the tokens of entries, of which each is a message of its own or a part of one."""
    return sum(estimate(entry.size) for entry in entries)
