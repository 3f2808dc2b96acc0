"""What is eating a conversation's context, and how it works, by its transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from itertools import takewhile

from gitguard.model.config.config import Config
from gitguard.model.conversation import CALL, RESULT, TranscriptEntry
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.pressure.usage import UNKNOWN, Usage, usage_of
from gitguard.profile.patterns import Pattern, classify
from gitguard.profile.profile import Facts, Growth, LargeResult, Profile, Scale, profile
from gitguard.profile.tally import Story, Tally, Teller, is_measured, named_blocks, tally, tools_in
from gitguard.store.session.host_session import HostSession
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import context_of, lost_parents
from gitguard.transcripts.fitting.facts import parameters
from gitguard.transcripts.fitting.thinning import thinned
from gitguard.transcripts.fitting.tokens import CHARACTERS_PER_TOKEN

_MOST_LISTED = 10
"""Single results that are named."""
_LONGEST_GIVEN = 80


class Profiled(Value):
    """A conversation's context taken apart, and the pattern of its work."""

    usage: Usage
    profile: Profile
    pattern: Pattern
    hours: float = 0.0
    """How long the conversation has gone on; 0 where the transcript tells no times."""


def profile_of(
    transcript: Transcript,
    config: Config,
    redactor: Redactor,
    *,
    host_session: HostSession = UNKNOWN,
    model: str = "",
    seen: Callable[[TranscriptEntry], object] = bool,
) -> Profiled:
    """Take a conversation's context apart; nothing is changed.

    The context is what stands in it now, the pattern of the whole conversation. host_session and
    model are as for `usage_of`; seen is shown each entry as it is read. Raises `InvalidDocument`
    where the transcript cannot be read, and `InvalidConfig` for a window that is too small.
    """
    usage = usage_of(transcript, config, host_session=host_session, model=model)
    teller = Teller()
    read = find_format(transcript.format).entries
    thin = thinned(_shown(read(transcript), teller, seen))
    story = teller.story()
    context = context_of(_bridged(thin.entries) if story.broken else thin.entries)
    measured = context.entries[: _measured_upto(context.entries, usage)]
    scale = Scale(CHARACTERS_PER_TOKEN, config.budget.safety_margin)
    facts = Facts(
        window=usage.window,
        used=usage.tokens,
        answered=_answered(story, usage),
        parts=tally(measured),
        later=sum(entry.size for entry in context.entries[len(measured) :]),
        summaries=Tally(max(usage.compactions, story.compactions), len(context.summary)),
        opening=story.opening,
        growth=_growth(measured, story.compacted_at),
        tools=tools_in(measured),
        largest=_largest(transcript, measured, scale, redactor),
        left_out=thin.left_out,
        halt_at=config.thresholds.critical,
        scale=scale,
        broken=story.broken,
        is_untimed=story.newest is not None and not story.newest.is_timed,
    )
    hours = (story.rest_seconds + sum(s.seconds for s in story.stretches)) / 3600
    return Profiled(usage, profile(facts), classify(story), hours)


def _shown(
    entries: Iterator[TranscriptEntry], teller: Teller, seen: Callable[[TranscriptEntry], object]
) -> Iterator[TranscriptEntry]:
    for entry in entries:
        seen(entry)
        teller.take(entry)
        yield entry


def _bridged(entries: Sequence[TranscriptEntry]) -> Iterator[TranscriptEntry]:
    """Yield entries as if none were lost: the host that measured had what does not parse here."""
    lost = lost_parents(entries)
    return (entry.replace(parent=lost.get(entry.at, entry.parent)) for entry in entries)


def _measured_upto(entries: Sequence[TranscriptEntry], usage: Usage) -> int:
    """Return how many of the entries were there when the context was measured."""
    if usage.tokens is None:
        return len(entries)
    if usage.source != "compaction":
        upto = max((i for i, entry in enumerate(entries, 1) if is_measured(entry)), default=0)
        if upto:
            return upto
    return sum(entry.time <= usage.at for entry in entries)


def _answered(story: Story, usage: Usage) -> int:
    """Return the tokens of the last answer, where the measure is that of it."""
    newest = story.newest if usage.source == "transcript" else None
    return newest.answered if newest is not None and newest.tokens == usage.tokens else 0


def _growth(entries: Sequence[TranscriptEntry], since: int) -> Growth:
    """Say by how much the context grew from the first measured answer behind a place to the last.

    An answer that a compaction keeps was measured with all that the compaction took away.
    """
    places = [i for i, entry in enumerate(entries) if entry.at > since and is_measured(entry)]
    if not places:
        return Growth()
    between = entries[places[0] : places[-1] + 1]
    calls = sum(block.kind == RESULT for entry in between for block in entry.blocks)
    return Growth(calls, entries[places[-1]].tokens - entries[places[0]].tokens)


def _largest(
    transcript: Transcript, entries: Sequence[TranscriptEntry], scale: Scale, redactor: Redactor
) -> tuple[LargeResult, ...]:
    """Name the largest results; what was given to their calls is looked up in the transcript."""
    results = (each for each in named_blocks(entries) if each[1].kind == RESULT and each[1].size)
    return tuple(
        LargeResult(
            tool,
            _given(transcript, called_at, block.id, redactor),
            block.size,
            scale.tokens(block.size),
        )
        for tool, block, called_at in nlargest(_MOST_LISTED, results, key=lambda each: each[1].size)
    )


def _given(transcript: Transcript, at: int, call: str, redactor: Redactor) -> str:
    """Read again what was given to a call in the entry at a place, nothing where that is none."""
    entries = find_format(transcript.format).entries(transcript, at) if at >= 0 else ()
    for entry in takewhile(lambda entry: entry.at == at, entries):
        for block in entry.blocks:
            if block.kind == CALL and block.id == call:
                return redactor.shorten(one_line(parameters(block)), _LONGEST_GIVEN)
    return ""
