"""What is eating a conversation's context: components, tools and single results.

A host tells how much is used in all; of what, nobody tells. So every number but that one is a
range, and says where it comes from: measured by the host, counted in characters, or a rule of thumb
(references/guides/profile.md, "Read the numbers").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitguard.model.value import Value
from gitguard.pressure.runway import runway, spiral_reason
from gitguard.profile.tally import (
    ANSWERS,
    HOST_NOTES,
    SAID,
    THOUGHTS,
    TOOL_RESULTS,
    USER_MESSAGES,
    Opening,
    Tally,
    ToolPart,
    characters_of_tools,
    share_of_tools,
)

MEASURED, COUNTED, RULE = "measured", "counted", "rule of thumb"
DEDUCED, HIDDEN = "measured less counted", "hidden by the host"
"""Where a number comes from."""
BASELINE, SUMMARIES, UNEXPLAINED = "baseline", "summaries", "not in the transcript"
BASELINE_SHARE = (0.05, 0.15)
"""Of the window: system prompt, tools, context files and skills, before anything is said."""
USUAL = {
    USER_MESSAGES: (100, 500),
    ANSWERS: (200, 1_000),
    TOOL_RESULTS: (500, 5_000),
    SUMMARIES: (2_000, 5_000),
}
"""Tokens that one of them usually takes."""
LEAST_CALLS = 10
"""Fewer calls than this tell no runway."""


class Range(Value):
    """From so many tokens to so many."""

    low: int
    high: int

    def plus(self, other: Range) -> Range:
        """Return the sum."""
        return Range(self.low + other.low, self.high + other.high)


class Scale(Value):
    """How characters are turned into tokens."""

    characters_per_token: int
    margin: float
    """By which factor the guess may be wrong, either way."""

    def tokens(self, characters: int) -> Range:
        """Return the tokens that a text of so many characters may have."""
        middle = characters / self.characters_per_token
        return Range(int(middle / self.margin), -int(-middle * self.margin // 1))


class Component(Value):
    """One of the things that take room in the context."""

    name: str
    tokens: Range
    source: str
    count: int = 0
    usual: Range | None = None
    """What so many of them usually take; None where no rule says so."""


class ToolShare(Value):
    """What one tool's calls and results take."""

    tool: str
    calls: int
    failed: int
    tokens: Range
    largest: Range
    """Of its largest result."""


class LargeResult(Value):
    """One result among the largest."""

    tool: str
    given: str
    """To its call, cut short and without secrets."""
    characters: int
    tokens: Range


class Runway(Value):
    """Tool calls until the halt, at what they cost in this conversation so far."""

    calls: Range
    per_call: Range
    """Tokens: from the least that a call with its result may have, to the most that was added
    beside it as well."""
    from_calls: int
    """The calls of this conversation that the averages are of, at least."""
    halt_at: float


class Growth(Value):
    """By how much the context grew between two answers that were measured, over how many calls."""

    calls: int = 0
    tokens: int = 0


class Facts(Value):
    """What is known of a conversation before anything is estimated."""

    window: int
    used: int | None
    """Tokens in the context as its host measured them; None where nothing was measured."""
    answered: int
    """Of these, the tokens of the last answer itself; 0 where it does not tell."""
    parts: Mapping[str, Tally]
    """What stood in the context at that measure; all that stands in it where there is none."""
    later: int
    """Characters of what came after the measure."""
    summaries: Tally
    """Compactions so far, and the characters of the summary that stands; 0 where it is hidden."""
    opening: Opening | None
    growth: Growth
    tools: tuple[ToolPart, ...]
    largest: tuple[LargeResult, ...]
    left_out: int
    """Older entries that were too many to be looked at."""
    halt_at: float
    scale: Scale
    broken: int = 0
    """Entries that do not parse, and so are in no number."""
    is_untimed: bool = False
    """Whether the transcript tells usage, but not when it was measured."""


class Profile(Value):
    """A conversation's context, taken apart."""

    used: Range
    used_source: str
    answered: int
    """Of what is used, the tokens of the last answer itself; the rest is what the model was sent,
    which some hosts call the size of the context."""
    since: Range
    """Tokens of what came after the measure; they are not in `used`."""
    components: tuple[Component, ...]
    """The largest first; what nothing accounts for is the last."""
    tools: tuple[ToolShare, ...]
    largest: tuple[LargeResult, ...]
    share_of_tools: float | None
    """Of what is said and done, calls with results; None where nothing is. Usual is 0.6."""
    runway: Runway | None
    spiral: str
    """Why a new conversation keeps more than a compaction, empty where it does not."""
    notes: tuple[str, ...]
    """What the numbers show about themselves."""


def profile(facts: Facts) -> Profile:
    """Take a context apart by what is known of it."""
    components = tuple(_bounded(component, facts.used) for component in _components(facts))
    total = Range(0, 0)
    for component in components:
        total = total.plus(component.tokens)
    used = total if facts.used is None else Range(facts.used, facts.used)
    since = facts.scale.tokens(facts.later if facts.used is not None else 0)
    ordered = sorted(components, key=lambda component: -component.tokens.high)
    return Profile(
        used=used,
        used_source=_sources(ordered) if facts.used is None else MEASURED,
        answered=facts.answered,
        since=since,
        components=(*ordered, *_unexplained(facts.used, total)),
        tools=tuple(_tool(part, facts.scale) for part in facts.tools),
        largest=facts.largest,
        share_of_tools=share_of_tools(facts.parts),
        runway=_runway(facts, used.plus(since)),
        spiral=_spiral(facts),
        notes=tuple(_notes(facts, total)),
    )


def _components(facts: Facts) -> Iterator[Component]:
    yield _baseline(facts)
    if facts.summaries.count:
        usual = _times(SUMMARIES, facts.summaries.count)
        characters = facts.summaries.characters
        tokens = facts.scale.tokens(characters) if characters else usual or Range(0, 0)
        source = COUNTED if characters else RULE
        yield Component(SUMMARIES, tokens, source, count=facts.summaries.count, usual=usual)
    for name in SAID:
        part = facts.parts.get(name, Tally())
        if part.count or name != HOST_NOTES:
            tokens = facts.scale.tokens(part.characters)
            is_hidden = name == THOUGHTS and part.count and not part.characters
            source = HIDDEN if is_hidden else COUNTED
            yield Component(name, tokens, source, count=part.count, usual=_times(name, part.count))


def _sources(components: Iterable[Component]) -> str:
    return ", ".join(dict.fromkeys(part.source for part in components if part.tokens.high))


def _bounded(component: Component, used: int | None) -> Component:
    """Return a component that, where it is a rule of thumb, takes no more than what is used."""
    if used is None or component.source != RULE:
        return component
    low, high = component.tokens.low, min(component.tokens.high, used)
    return component.replace(tokens=Range(low if low < high else 0, high))


def _baseline(facts: Facts) -> Component:
    if facts.opening is not None:
        opening = facts.scale.tokens(facts.opening.characters)
        high = facts.opening.tokens - opening.low
        if high > 0 and (facts.used is None or high <= facts.used):
            low = max(facts.opening.tokens - opening.high, 0)
            return Component(BASELINE, Range(low, high), DEDUCED)
    low, high = (round(share * facts.window) for share in BASELINE_SHARE)
    return Component(BASELINE, Range(low, high), RULE)


def _times(name: str, count: int) -> Range | None:
    usual = USUAL.get(name)
    return Range(usual[0] * count, usual[1] * count) if usual else None


def _unexplained(used: int | None, total: Range) -> tuple[Component, ...]:
    if used is None or used <= total.high:
        return ()
    return (Component(UNEXPLAINED, Range(used - total.high, used - total.low), DEDUCED),)


def _notes(facts: Facts, total: Range) -> Iterator[str]:
    if facts.broken:
        is_skipped = "entry is" if facts.broken == 1 else "entries are"
        yield f"{facts.broken:,} broken {is_skipped} skipped"
    if facts.used is None and facts.is_untimed:
        yield (
            "the transcript tells usage but no times, so what it measured may be from before a "
            "compaction and is not used"
        )
    if facts.used is not None and facts.used > facts.window:
        yield (
            "more is used than the window holds, so the window is wrong: set `window.models` in "
            "your configuration"
        )
    if facts.left_out:
        yield f"{facts.left_out:,} older entries were not read; they would not fit in a window"
    elif facts.used is not None and facts.used < total.low:
        yield (
            "the transcript holds more than its host measured, so something in it no longer "
            "reaches the model; the components say what is in the transcript"
        )


def _tool(part: ToolPart, scale: Scale) -> ToolShare:
    return ToolShare(
        part.tool,
        part.calls,
        part.failed,
        tokens=scale.tokens(part.characters),
        largest=scale.tokens(part.largest),
    )


def _runway(facts: Facts, used: Range) -> Runway | None:
    calls = facts.parts.get(TOOL_RESULTS, Tally()).count
    if calls < LEAST_CALLS:
        return None
    alone, grown = facts.scale.tokens(characters_of_tools(facts.parts)), _grown(facts, calls)
    low = min(alone.low / calls, grown.tokens / grown.calls)
    high = max(alone.high / calls, grown.tokens / grown.calls)
    at_least = runway(used.high, facts.window, high, facts.halt_at)
    at_most = runway(used.low, facts.window, low, facts.halt_at)
    if at_least is None or at_most is None:
        return None
    per_call = Range(int(low), -int(-high // 1))
    return Runway(Range(at_least, at_most), per_call, min(calls, grown.calls), facts.halt_at)


def _grown(facts: Facts, calls: int) -> Growth:
    """Return the growth that was measured, else all that the transcript shows beside the calls."""
    if facts.growth.calls and facts.growth.tokens > 0:
        return facts.growth
    everything = sum(part.characters for part in facts.parts.values())
    return Growth(calls, facts.scale.tokens(everything).high)


def _spiral(facts: Facts) -> str:
    summaries = facts.summaries.characters // facts.scale.characters_per_token
    return spiral_reason(facts.summaries.count, summaries, facts.window)
