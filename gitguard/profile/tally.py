"""What a conversation adds up to: characters by component and by tool, and what it did when.

Entries are taken one by one and none is kept, so that a long conversation takes little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitguard.model.conversation import (
    AGENT,
    BROKEN,
    CALL,
    COMPACTION,
    IMAGE,
    MESSAGE,
    RESET,
    RESULT,
    THINKING,
    TOOL,
    UNKNOWN,
    USER,
    Block,
    TranscriptEntry,
)
from gitguard.model.value import Value

USER_MESSAGES, ANSWERS, THOUGHTS = "user messages", "answers", "thinking"
TOOL_CALLS, TOOL_RESULTS, HOST_NOTES = "tool calls", "tool results", "notes of the host"
SAID = (USER_MESSAGES, ANSWERS, THOUGHTS, TOOL_CALLS, TOOL_RESULTS, HOST_NOTES)
"""The components whose characters a transcript shows."""
_OF_THE_AGENT = {CALL: TOOL_CALLS, THINKING: THOUGHTS}
QUIET_SECONDS = 1_800
"""Without a message for so long, a conversation rests."""


class Tally(Value):
    """How often something is there, and the characters of all of it."""

    count: int = 0
    characters: int = 0


class Stretch(Value):
    """What was done between two rests."""

    seconds: float
    calls: int


class Opening(Value):
    """The first measured request, which shows what stands before every conversation."""

    tokens: int
    """In the context when it was answered."""
    characters: int
    """That the transcript shows by then, of which the host's notes are a component of their own."""


class Measure(Value):
    """What a host measured with an answer."""

    tokens: int
    """In the context."""
    answered: int
    """Of these, the answer itself."""
    is_timed: bool = True
    """Whether it is known when; what is older than a compaction could not be told otherwise."""


class Story(Value):
    """A conversation from its beginning to its end, or from its last reset on."""

    parts: Mapping[str, Tally]
    stretches: tuple[Stretch, ...]
    """Empty where the transcript tells no times."""
    rest_seconds: float
    """Of all rests together."""
    compactions: int
    compacted_at: int
    """Where in the transcript the newest of them is, -1 where there is none."""
    opening: Opening | None
    newest: Measure | None
    broken: int = 0
    """Entries that do not parse."""

    def count(self, component: str) -> int:
        """Return how often a component is there."""
        return self.parts.get(component, Tally()).count


class _Sums:
    """Numbers and characters by component; files have a hundred thousand entries to add."""

    def __init__(self) -> None:
        self._sums: dict[str, list[int]] = {}

    def add(self, entry: TranscriptEntry) -> None:
        """Add a message; calls and results count one by one, everything else once a message."""
        once: set[str] = set()
        for block in entry.blocks:
            name = component_of(entry, block)
            sums = self._sums.setdefault(name, [0, 0])
            sums[0] += block.kind in (CALL, RESULT) or name not in once
            sums[1] += block.size
            once.add(name)

    def characters(self) -> int:
        """Return the characters of everything."""
        return sum(characters for _, characters in self._sums.values())

    def parts(self) -> dict[str, Tally]:
        """Return the sums so far."""
        return {name: Tally(*sums) for name, sums in self._sums.items()}


class Teller:
    """Takes the entries of a conversation, oldest first, and tells its story."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._begin()

    def _begin(self) -> None:
        self._sums = _Sums()
        self._stretches: list[Stretch] = []
        self._began = self._last = self._rest_seconds = 0.0
        self._calls = self._compactions = 0
        self._compacted_at = -1
        self._opening: Opening | None = None
        self._newest: Measure | None = None
        self._answer = ""
        self._broken = 0

    def take(self, entry: TranscriptEntry) -> None:
        """Go on with the next entry; those of sub-agents are no part of the conversation."""
        if entry.is_aside:
            return
        self._broken += entry.kind == BROKEN
        if entry.kind == RESET:
            self._begin()
        elif entry.kind == COMPACTION:
            self._compactions += 1
            self._compacted_at = entry.at
        elif entry.kind == MESSAGE:
            self._sums.add(entry)
            self._keep_time(entry)
        if is_measured(entry):
            self._newest = Measure(entry.tokens, entry.answered, entry.time > 0)
        self._keep_opening(entry)

    def _keep_time(self, entry: TranscriptEntry) -> None:
        if not entry.time:
            return
        if self._last and entry.time - self._last >= QUIET_SECONDS:
            self._rest_seconds += entry.time - self._last
            self._end_stretch()
        self._began = self._began or entry.time
        self._last = max(self._last, entry.time)
        for block in entry.blocks:
            self._calls += block.kind == CALL

    def _end_stretch(self) -> None:
        self._stretches.append(Stretch(self._last - self._began, self._calls))
        self._began, self._calls = 0.0, 0

    def _keep_opening(self, entry: TranscriptEntry) -> None:
        opening = self._opening
        if opening is not None:
            if entry.message and entry.message == self._answer:
                self._opening = opening.replace(characters=opening.characters + entry.size)
        elif is_measured(entry) and not self._compactions:
            self._opening = Opening(entry.tokens, self._sums.characters())
            self._answer = entry.message

    def story(self) -> Story:
        """Return what was told so far."""
        stretches = tuple(self._stretches)
        if self._last:
            stretches = (*stretches, Stretch(self._last - self._began, self._calls))
        return Story(
            self._sums.parts(),
            stretches,
            self._rest_seconds,
            compactions=self._compactions,
            compacted_at=self._compacted_at,
            opening=self._opening,
            newest=self._newest,
            broken=self._broken,
        )


def is_measured(entry: TranscriptEntry) -> bool:
    """Say whether an entry tells how many tokens were in the context."""
    tells = entry.tokens > 0 and (entry.kind == UNKNOWN or entry.role == AGENT)
    return tells and not (entry.by_host or entry.is_aside)


def tally(entries: Iterable[TranscriptEntry]) -> dict[str, Tally]:
    """Return what entries add up to, by component."""
    sums = _Sums()
    for entry in entries:
        if entry.kind == MESSAGE and not entry.is_aside:
            sums.add(entry)
    return sums.parts()


def component_of(entry: TranscriptEntry, block: Block) -> str:
    """Say to which component a block of a message belongs."""
    if block.kind == RESULT or (entry.role == TOOL and block.kind == IMAGE):
        return TOOL_RESULTS
    if entry.by_host or entry.role == TOOL:
        return HOST_NOTES
    if entry.role == USER:
        return USER_MESSAGES
    return _OF_THE_AGENT.get(block.kind, ANSWERS)


def characters_of_tools(parts: Mapping[str, Tally]) -> int:
    """Return the characters of calls and their results."""
    of_tools = (part for name, part in parts.items() if name in (TOOL_CALLS, TOOL_RESULTS))
    return sum(part.characters for part in of_tools)


def share_of_tools(parts: Mapping[str, Tally]) -> float | None:
    """Return the share of calls and their results in what is said and done, None of nothing."""
    work = characters_of_tools(parts)
    characters = sum(part.characters for name, part in parts.items() if name != HOST_NOTES)
    return work / characters if characters else None


class ToolPart(Value):
    """What the calls of one tool take."""

    tool: str
    """Empty where the results do not tell, and no call of theirs is there."""
    calls: int = 0
    failed: int = 0
    characters: int = 0
    """Of calls and results."""
    largest: int = 0
    """Characters of the largest result."""


def tools_in(entries: Iterable[TranscriptEntry]) -> tuple[ToolPart, ...]:
    """Return what each tool takes, the largest first."""
    by_tool: dict[str, ToolPart] = {}
    for tool, block, _ in named_blocks(entries):
        part = by_tool.get(tool) or ToolPart(tool)
        by_tool[tool] = part.replace(
            calls=part.calls + (block.kind == CALL),
            failed=part.failed + block.is_error,
            characters=part.characters + block.size,
            largest=max(part.largest, block.size if block.kind == RESULT else 0),
        )
    return tuple(sorted(by_tool.values(), key=lambda part: -part.characters))


def named_blocks(entries: Iterable[TranscriptEntry]) -> Iterator[tuple[str, Block, int]]:
    """Yield calls and results, each with the tool's name and where its call is, -1 if nowhere."""
    calls: dict[str, tuple[str, int]] = {}
    for entry in entries:
        for block in entry.blocks:
            if block.kind == CALL:
                if block.id:
                    calls[block.id] = block.name, entry.at
                yield block.name, block, entry.at
            elif block.kind == RESULT:
                name, called_at = calls.get(block.id, ("", -1))
                yield block.name or name, block, called_at
