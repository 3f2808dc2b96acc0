"""The patterns of work that a conversation shows, and the evidence for them.

Shares say what the context went to, timing says whether there were bursts. Between two patterns it
is mixed, and a few messages show none (references/guides/profile.md, "Patterns").
"""

from __future__ import annotations

from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.profile.tally import (
    ANSWERS,
    TOOL_CALLS,
    USER_MESSAGES,
    Story,
    Stretch,
    share_of_tools,
)

TOOL_HEAVY, CONVERSATIONAL, MIXED, BURSTY = "tool-heavy", "conversational", "mixed", "bursty"
UNKNOWN = "unknown"
"""Where there is too little to say."""
PATTERNS = (TOOL_HEAVY, CONVERSATIONAL, MIXED, BURSTY)

LEAST_SAID, LEAST_CHARACTERS = 10, 4_000
"""Messages, answers and calls, and characters of them: fewer are too little to say."""
MOSTLY = 2 / 3
"""A share from here on is most of it."""
MANY_CALLS = 2
"""Calls for each of the user's messages that are many."""
LEAST_BURSTS, CALLS_OF_A_BURST = 3, 5
SECONDS_PER_CALL = 120
"""In a burst a call takes no longer than this on the average."""
RESTING = 0.75
"""The share of its time that a bursty conversation rests, at least."""
IN_BURSTS = 0.8
"""The share of its calls that fall into bursts, at least."""
NEAR = 0.05
"""So close to a border another pattern would be as good."""


class Pattern(Value):
    """What a conversation's way of working is called, and why."""

    name: str
    evidence: tuple[str, ...]
    """In words, with the numbers."""
    near: str = ""
    """The other pattern that it nearly is, empty where it is clear."""


def classify(story: Story) -> Pattern:
    """Say which pattern a conversation shows."""
    turns, answers, calls = map(story.count, (USER_MESSAGES, ANSWERS, TOOL_CALLS))
    counts = f"{counted(turns, 'user message')}, {counted(answers, 'answer')}"
    counts = f"{counts}, {counted(calls, 'tool call')}"
    characters = sum(part.characters for part in story.parts.values())
    share = share_of_tools(story.parts)
    if share is None or turns + answers + calls < LEAST_SAID or characters < LEAST_CHARACTERS:
        return Pattern(UNKNOWN, (f"not enough to tell: {counts}",))
    share_in_words = f"{share:.0%} of the conversation is tool calls and their results"
    if bursts := _bursts(story):
        return Pattern(BURSTY, (bursts, share_in_words, counts))
    name, why = _by_share(share, calls, turns)
    return Pattern(
        name, (share_in_words, *why, counts, *_timing(story)), _near(share, calls, turns, name)
    )


def _by_share(share: float, calls: int, turns: int) -> tuple[str, tuple[str, ...]]:
    many = calls >= MANY_CALLS * max(turns, 1)
    rate = f"{calls / max(turns, 1):.1f} calls for each message of the user"
    if share >= MOSTLY:
        return (TOOL_HEAVY, (rate,)) if many else (MIXED, (f"but only {rate}",))
    if share <= 1 - MOSTLY:
        return (MIXED, (f"but {rate}",)) if many else (CONVERSATIONAL, (rate,))
    return MIXED, (rate,)


def _near(share: float, calls: int, turns: int, name: str) -> str:
    others = (_by_share(share + step, calls, turns)[0] for step in (NEAR, -NEAR))
    return next((other for other in others if other != name), "")


def _bursts(story: Story) -> str:
    """Return the evidence for bursts between long rests, empty where there are none."""
    bursts = [stretch for stretch in story.stretches if _is_burst(stretch)]
    calls = sum(stretch.calls for stretch in story.stretches)
    time = story.rest_seconds + sum(stretch.seconds for stretch in story.stretches)
    if len(bursts) < LEAST_BURSTS or story.rest_seconds < RESTING * time:
        return ""
    within = sum(stretch.calls for stretch in bursts)
    if within < IN_BURSTS * calls:
        return ""
    return (
        f"{counted(len(bursts), 'burst')} with {within:,} of {counted(calls, 'tool call')}, and "
        f"{story.rest_seconds / time:.0%} of {_hours(time)} at rest"
    )


def _is_burst(stretch: Stretch) -> bool:
    pace = stretch.seconds / max(stretch.calls, 1)
    return stretch.calls >= CALLS_OF_A_BURST and pace <= SECONDS_PER_CALL


def _timing(story: Story) -> tuple[str, ...]:
    if not story.stretches:
        return ("the transcript tells no times, so bursts cannot be seen",)
    return ()


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} hours"
