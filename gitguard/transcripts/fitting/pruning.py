"""Decides which results of tools are trimmed or cleared, because they are old and far too long.

Tool output is most of what fills a context, and old output is what the model needs least: a file
can be read again. What was said, and calls themselves, always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gitguard.model.config.transcripts import PruningConfig
from gitguard.model.conversation import AGENT, CALL, RESULT, Block, TranscriptEntry
from gitguard.model.text import counted, cut_middle, left_out
from gitguard.model.value import Value
from gitguard.transcripts.fitting.limits import is_turn
from gitguard.transcripts.fitting.tokens import estimate, tokens_of

KEEP, TRIM, CLEAR = "keep", "trim", "clear"
_MARKER_ROOM = 250
"""Characters that a marker takes at most, with the tool's name in it."""
_LONGEST_NAME = 128


class PruningVerdict(Value):
    """What becomes of one result that is large enough to be looked at."""

    action: str
    """keep, trim or clear."""
    reason: str
    at: int
    """Where its entry begins."""
    end: int
    """Where the next one begins."""
    block: int
    """Its place in the content of its message."""
    tool: str
    """The tool's name, empty where nothing tells it."""
    characters: int
    left: int
    """Characters that stay."""

    @property
    def tokens_saved(self) -> int:
        """Tokens, by our own guess."""
        return estimate(self.characters) - estimate(self.left)


class _Large(Value):
    """A large result as it stands in the context."""

    place: int
    """Of its entry among those in the context."""
    entry: TranscriptEntry
    block: Block
    tool: str


def judge(
    entries: Sequence[TranscriptEntry],
    config: PruningConfig,
    *,
    now: float,
    room: int,
    pictured: frozenset[tuple[int, int]] = frozenset(),
) -> tuple[PruningVerdict, ...]:
    """Judge the large results among the entries in the context, oldest first.

    room is how many tokens the history may take: while it takes more, whole results are cleared,
    the oldest first; all others are trimmed. now is in Unix seconds. pictured names the results
    with images in them, by entry and block; entries need no texts.
    """
    large_results = list(_large(entries, config))
    if not large_results:
        return ()
    silence = now - max(entry.time for entry in entries)
    protected = _protected_from(entries, config.keep_exchanges)
    over = tokens_of(entries) - room
    verdicts = []
    for large in large_results:
        if silence < config.idle_seconds:
            reason = f"something was said {max(silence, 0):,.0f} s ago"
        elif is_protected(large.tool, config.protected_tools):
            reason = f"`{large.tool[:_LONGEST_NAME]}` is protected"
        elif large.place >= protected:
            reason = f"it belongs to the last {counted(config.keep_exchanges, 'exchange')}"
        elif (large.entry.at, large.block.at) in pictured:
            reason = "it holds images"
        else:
            reason = ""
        verdict = _keep(large, reason) if reason else _trim(large, config)
        over -= verdict.tokens_saved
        verdicts.append(verdict)
    return tuple(_clear_while_over(verdicts, over) if config.clear else verdicts)


def longest_kept(config: PruningConfig) -> int:
    """Return from how many characters on a result is never looked at again once it is pruned."""
    trimmed = config.head_characters + config.tail_characters + _MARKER_ROOM
    return max(config.min_characters, trimmed)


def _large(entries: Sequence[TranscriptEntry], config: PruningConfig) -> Iterator[_Large]:
    smallest = longest_kept(config)
    named: dict[str, str] = {}
    for place, entry in enumerate(entries):
        for block in entry.blocks:
            if block.kind == CALL:
                named[block.id] = block.name
            elif block.kind == RESULT and block.size > smallest:
                tool = block.name or named.get(block.id, "")
                yield _Large(place, entry, block, tool)


def pictured_among(entry: TranscriptEntry) -> Iterator[tuple[int, int]]:
    """Yield the results with images in an entry, as `judge` takes them; texts must be there."""
    for block in entry.blocks:
        if block.kind == RESULT and block.size > len(block.text):
            yield entry.at, block.at


def is_protected(tool: str, patterns: Iterable[str]) -> bool:
    """Say whether a tool's results stay; upper and lower case are the same.

    A tool of an MCP server is known as `mcp__server__tool`; a pattern may also match the server or
    the tool alone.
    """
    from fnmatch import fnmatchcase

    name = tool.lower()
    names = {name, *name.split("__")}
    return any(fnmatchcase(each, pattern.lower()) for pattern in patterns for each in names)


def _protected_from(entries: Sequence[TranscriptEntry], exchanges: int) -> int:
    """Return the place from which on all stays: where the last exchanges begin, 0 if too few.

    An exchange is what the user says, in one message or several, and all that follows it.
    """
    if exchanges <= 0:
        return len(entries)
    begins = []
    is_answered = True
    for place, entry in enumerate(entries):
        if not is_turn(entry):
            is_answered = is_answered or entry.role == AGENT
            continue
        if is_answered:
            begins.append(place)
        is_answered = False
    return begins[-exchanges] if len(begins) >= exchanges else 0


def _keep(large: _Large, reason: str) -> PruningVerdict:
    return _verdict(KEEP, reason, large, large.block.size)


def _trim(large: _Large, config: PruningConfig) -> PruningVerdict:
    remaining = config.head_characters + config.tail_characters
    return _verdict(
        TRIM, "it is old and large", large, remaining + len(left_out(large.block.size - remaining))
    )


def _verdict(action: str, reason: str, large: _Large, left: int) -> PruningVerdict:
    entry, block = large.entry, large.block
    return PruningVerdict(
        action,
        reason,
        entry.at,
        end=entry.end,
        block=block.at,
        tool=large.tool,
        characters=block.size,
        left=left,
    )


def _clear_while_over(verdicts: list[PruningVerdict], over: int) -> Iterator[PruningVerdict]:
    for verdict in verdicts:
        if verdict.action == TRIM and over > 0:
            left = len(placeholder(verdict.tool, verdict.characters))
            over -= estimate(verdict.left) - estimate(left)
            verdict = verdict.replace(
                action=CLEAR, left=left, reason="it is old, and the history is over its share"
            )
        yield verdict


# What stands there instead


def pruned(
    verdict: PruningVerdict, text: str, config: PruningConfig, clean: Callable[[str], str]
) -> str:
    """Return what a result says from now on.

    clean takes secrets out of the whole text first: half a secret would match no rule any more.
    """
    if verdict.action == CLEAR:
        return placeholder(verdict.tool, len(text))
    return cut_middle(clean(text), config.head_characters, config.tail_characters)


def placeholder(tool: str, characters: int) -> str:
    """Return what stands in the place of a whole result."""
    of = f" of `{tool[:_LONGEST_NAME]}`" if tool else ""
    return f"[gitguard: {characters:,} characters{of} cleared; run the tool again to see them]"
