"""A host's own summary of a conversation that it compacted, read by its shape.

Hosts ask their model for sections in a fixed order, in the language of the conversation. So a
section is told by its number and its place, and English headings only add to that.
"""

from __future__ import annotations

from gitguard.model.text import cut_to, late_pattern
from gitguard.model.value import Value
from gitguard.state.answers import conclusions
from gitguard.state.items import AGENT_KINDS, PASSED
from gitguard.state.sentences import sentences, terms_of, without_code, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gitguard.state.task import TaskState

MOST_KEPT = 16_000
"""Characters that are kept of a whole summary; most have fewer than 14,000."""
_SHORTEST = 200
"""Characters of a line that is a summary; the shortest real one seen has 1,500."""
CURRENT, NEXT, PENDING, DECISIONS, ERRORS, STANDING, OTHER = WORTH = (
    "current",
    "next",
    "pending",
    "decisions",
    "errors",
    "standing",
    "other",
)
"""What a section is about, in the order of its worth to whoever takes over."""
OF_STANDING = frozenset({CURRENT, NEXT, PENDING, DECISIONS, ERRORS})
"""What the short form has, and what a block shows before the rest."""
_PASSES = frozenset({CURRENT, NEXT, PENDING})
"""What time overtakes: what was to be done may be done by now."""
_NINE = (OTHER, OTHER, OTHER, ERRORS, DECISIONS, OTHER, PENDING, CURRENT, NEXT)
"""What forms of nine sections ask for: request, concepts, files, errors, problem solving, messages
of the user, pending tasks, current work and, where there is one, the next step."""
_LAST = (PENDING, CURRENT, NEXT)
"""What the last sections of another form are about, where nothing tells."""
_NAMES = (
    (NEXT, late_pattern(r"\bnext\b")),
    (CURRENT, late_pattern(r"\b(?:current (?:work|state)|in progress|active)\b")),
    (PENDING, late_pattern(r"\b(?:pending|remaining|open|todos?|block(?:ed|ers)|unfinished)\b")),
    (DECISIONS, late_pattern(r"\b(?:decisions?|decided|problem solving)\b")),
    (ERRORS, late_pattern(r"\b(?:errors?|fixes|problems?)\b")),
    (STANDING, late_pattern(r"\b(?:progress|status|state|constraints?|critical|identifiers)\b")),
    (OTHER, late_pattern(r"\b(?:request|intent|goal|concepts?|files?|code|messages?|done)\b")),
)
_LONGEST_TITLE, _LONGEST_PLAIN_TITLE = 100, 60
_FEWEST, _FEWEST_NUMBERED, _MOST_NUMBERED = 2, 3, 15
"""Headings of one shape that make an outline."""
_SHARES = {CURRENT: 30, NEXT: 20, PENDING: 20, DECISIONS: 15, ERRORS: 15}
"""Percent of the short form that a section may have before the others have theirs."""
_LINE = late_pattern(
    r"(?P<marks>#{1,6}[ \t]+)?(?P<outer>\*\*)?(?:(?P<number>\d{1,2})[.)．、][ \t]*)?(?P<bold>\*\*)?"
)
_COLON = late_pattern(r"[:：]")
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
_READ = 4 * MOST_KEPT
"""Characters of a summary that are read."""
_UNSPACED = "\u0e00"
"""From this character on come the scripts whose terms are pairs of characters."""
_SAYS_LITTLE = frozenset({
    "still", "need", "needs", "must", "should", "remaining", "then", "with", "that", "this",
    "will", "have", "from", "into", "after", "before", "been", "were", "they", "them", "also",
    "once", "when", "would", "could", "next", "step", "steps", "task", "tasks",
})  # fmt: skip
"""Words that nearly every step has."""
_SHORTEST_WORD, _SHORTEST_ENDING = 4, 7
"""Letters of a word that tells something, and of one that may have a long ending."""
_MOST_TERMS = 40


class SummarySection(Value):
    """A section of a host's summary."""

    heading: str
    body: str
    about: str = OTHER
    """What it is about, one of `WORTH`."""


class _Heading(Value):
    line: int
    """Where it stands, in lines from the top."""
    title: str
    inline: str
    """What follows the title in its line."""
    level: int
    """The number of its `#`; 0 for none."""
    is_bold: bool
    number: int
    """0 for none."""


def is_summary(text: str) -> bool:
    """Say whether a text can be a summary: an error that a host hands on in its place cannot."""
    return "\n" in text or len(text) >= _SHORTEST


def without_thinking(summary: str) -> str:
    """Return a summary without what the model thought aloud before it wrote it."""
    begin, end = summary.find("<analysis>"), summary.rfind("</analysis>")
    if 0 <= begin < end:
        summary = summary[:begin] + summary[end + len("</analysis>") :]
    thought, _, answer = summary.partition("\nSummary:\n")
    if answer and "Analysis:\n" in thought:
        summary = answer  # as the host writes it into its transcript
    return summary.replace("<summary>", "").replace("</summary>", "").strip()


def kept_whole(summary: str) -> str:
    """Return what is kept of a whole summary: all of it, or its longest sections cut."""
    if len(summary) <= MOST_KEPT:
        return summary
    sections = sections_of(summary)
    room = MOST_KEPT - sum(len(section.heading) + len("## \n\n\n\n") for section in sections)
    if not sections or room <= 0:
        return cut_to(summary, MOST_KEPT)
    longest = room
    for place, length in enumerate(sorted(len(section.body) for section in sections)):
        longest = room // (len(sections) - place)
        if length > longest:
            break
        room -= length
    parts = (f"## {section.heading}\n\n{cut_to(section.body, longest)}\n" for section in sections)
    return "\n".join(parts)


def standing_of(summary: str, limit: int) -> str:
    """Return what a summary says of where the work stands, at most limit characters.

    Each section has a line of its own, what a successor needs first before the others. A summary
    without headings is read as an answer is.
    """
    chosen = [s for s in by_worth(sections_of(summary)) if s.about in OF_STANDING]
    if not chosen:
        return conclusions(summary, limit)
    room = limit - sum(len(section.heading) + len(": \n") for section in chosen)
    lines = []
    for place, section in enumerate(chosen):
        later = sum(min(_SHARES[s.about] * limit // 100, len(s.body)) for s in chosen[place + 1 :])
        stated = conclusions(section.body, max(room - later, 0))
        room -= len(stated)
        if stated:
            lines.append(f"{section.heading}: {stated}")
    return "\n".join(lines)[:limit]


def by_worth(sections: Iterable[SummarySection]) -> list[SummarySection]:
    """Return the sections that say something, what a successor needs first before the others."""
    return sorted((s for s in sections if s.body), key=lambda s: WORTH.index(s.about))


def sections_of(summary: str) -> tuple[SummarySection, ...]:
    """Return a summary's sections in their order, none where no headings are recognized."""
    lines = cut_to(summary, _READ).splitlines()
    headings = _outline(list(_headings(lines)))
    sections = []
    for place, (heading, about) in enumerate(zip(headings, _abouts(headings), strict=True)):
        end = headings[place + 1].line if heading is not headings[-1] else len(lines)
        body = "\n".join((heading.inline, *lines[heading.line + 1 : end])).strip()
        sections.append(SummarySection(heading.title, body, about))
    return tuple(sections)


def stated_sections(standing: str) -> tuple[SummarySection, ...]:
    """Return the sections of a short form, each in its line."""
    sections = []
    for line in standing.splitlines():
        heading, colon, body = line.partition(": ")
        if not colon:
            heading, body = "", line
        sections.append(SummarySection(heading, body, _by_name(heading) or PENDING))
    return tuple(sections)


# Headings


def _headings(lines: Sequence[str]) -> Iterator[_Heading]:
    """Yield the lines that may be headings, outside of code."""
    fences = [place for place, line in enumerate(lines) if line.lstrip().startswith("```")]
    # Where one is left over, the summary was cut, or the last fence is part of a text.
    ends_of_code = frozenset(fences[: len(fences) // 2 * 2])
    is_code = False
    for place, line in enumerate(lines):
        if place in ends_of_code:
            is_code = not is_code
        elif not is_code:
            heading = _heading(place, line.rstrip())
            if heading is not None:
                yield heading


def _heading(place: int, line: str) -> _Heading | None:
    """Return a line as a heading, None where it has the shape of none."""
    match = _LINE.match(line)
    if match is None or line[:1].isspace():
        return None
    level = len((match["marks"] or "").strip())
    is_bold = bool(match["outer"] or match["bold"])
    number = int(match["number"] or 0)
    title_and_text = line[match.end() :]
    if is_bold:
        title, closing, inline = title_and_text.partition("**")
        if not closing:
            return None
    elif level:
        title, inline = title_and_text, ""
    else:
        title, *after = _COLON.split(title_and_text, maxsplit=1)
        inline = after[0] if after else ""
        is_short = len(title) <= _LONGEST_PLAIN_TITLE and not title.endswith(_SENTENCE_ENDS)
        if not is_short or (not number and (inline or not after)):
            return None
    title, inline = title.strip(" \t*:："), inline.strip(" \t*:：")
    if not title or len(title) > _LONGEST_TITLE or not (is_bold or level or title[0].isalnum()):
        return None
    return _Heading(place, title, inline, level, is_bold=is_bold, number=number)


def _outline(headings: list[_Heading]) -> list[_Heading]:
    """Return the headings that divide the text: of one shape, and numbered in order if they are.

    Of a numbered outline and one by `#`, the other lies within the one that begins first.
    """
    numbered = [h for h in headings if h.number]
    shapes = {(h.level, h.is_bold) for h in numbered}
    chains = [
        _in_order([h for h in numbered if (h.level, h.is_bold) == shape])
        for shape in sorted(shapes, reverse=True)
    ]
    # A model may set some of the numbered headings in bold and others not.
    chains += [_in_order([h for h in numbered if not h.level]), _in_order(numbered)]
    longest = max(chains, key=len)
    outlines = [longest, _highest_level(headings)]
    outlines = [outline for outline in outlines if outline]
    if outlines:
        return min(outlines, key=lambda outline: outline[0].line)
    unnumbered = [h for h in headings if not h.number and not h.level]
    for is_bold in (True, False):
        alike = [h for h in unnumbered if h.is_bold == is_bold]
        if len(alike) >= _FEWEST:
            return alike
    # What is left of a summary may be one section.
    return headings if len(headings) == 1 and not headings[0].line else []


def _in_order(headings: list[_Heading]) -> list[_Heading]:
    """Return the headings that count from 1 on without a gap, as far as they go.

    They are looked for from the end: a list within a section counts as well, and seldom so far.
    """
    for last in range(_MOST_NUMBERED, _FEWEST_NUMBERED - 1, -1):
        chain: list[_Heading] = []
        for heading in reversed(headings):
            if heading.number == last - len(chain):
                chain.insert(0, heading)
        if len(chain) == last:
            return chain
    return []


def _highest_level(headings: list[_Heading]) -> list[_Heading]:
    """Return the headings with the fewest `#` of which there are several."""
    for level in range(1, 7):
        alike = [h for h in headings if h.level == level]
        if len(alike) >= _FEWEST:
            return alike
    return []


def _abouts(headings: Sequence[_Heading]) -> list[str]:
    """Return what sections are about: by their names, or, where few tell, by their places."""
    named = [_by_name(heading.title) for heading in headings]
    count = len(headings)
    if count in (len(_NINE), len(_NINE) - 1):
        by_place = _NINE[:count]
    elif 2 * len([about for about in named if about]) >= count:
        by_place = (OTHER,) * count
    else:
        by_place = (*(OTHER,) * (count - len(_LAST)), *_LAST[-count:])
    return [about or place for about, place in zip(named, by_place, strict=True)]


def _by_name(title: str) -> str:
    """Return what a section of an English title is about, empty where that does not tell."""
    for about, name in _NAMES:
        if name.search(title.lower()):
            return about
    return ""


# What has passed since


class Since(Value):
    """What came after a summary."""

    sentence_terms: tuple[frozenset[str], ...]
    """The terms of each sentence of the agent's."""
    checks_and_files: tuple[str, ...]
    """Checks that passed, and files that were written."""


def later_than(state: TaskState, when: str) -> Since:
    """Return what was said and done after a time."""
    later_sentences = [
        sentence
        for exchange in state.exchanges
        if exchange.kind in AGENT_KINDS and exchange.when > when
        for sentence in sentences(exchange.text)
    ]
    passed = [c.command for c in state.commands if c.outcome == PASSED and c.when > when]
    written = [a.path for a in state.artifacts if a.kind == "file" and a.when > when]
    checks_and_files = tuple(text.casefold() for text in (*passed, *written))
    return Since(tuple(map(terms_of, later_sentences)), checks_and_files)


def in_force(section: SummarySection, since: Since) -> str:
    """Return what a section says, without the sentences that something later speaks of."""
    whole = sentences(without_code(section.body))
    if section.about in _PASSES:
        whole = [sentence for sentence in whole if not _is_spoken_of(sentence, since)]
    return " ".join(whole)


def _is_spoken_of(sentence: str, since: Since) -> bool:
    """Whether one sentence, check or file that came later has half of a sentence's terms."""
    stems = [_stem(term) for term in sorted(terms_of(sentence)) if _says_much(term)][:_MOST_TERMS]
    if not stems:
        return False
    enough = (len(stems) + 1) // 2
    return any(_shared(stems, terms) >= enough for terms in since.sentence_terms) or any(
        sum(stem in text for stem in stems) >= enough for text in since.checks_and_files
    )


def _shared(stems: Sequence[str], terms: Iterable[str]) -> int:
    return sum(any(term.startswith(stem) for term in terms) for stem in stems)


def _says_much(term: str) -> bool:
    is_word = term.isalpha() and term < _UNSPACED
    return not (is_word and len(term) < _SHORTEST_WORD) and _SAYS_LITTLE.isdisjoint(words_of(term))


def _stem(term: str) -> str:
    """Return a term without what may be its ending; a name, a number and a pair have none."""
    if not term.isalpha():
        return term
    if len(term) < _SHORTEST_ENDING:
        return term[: max(_SHORTEST_WORD, len(term) - 1)]
    return term[: len(term) * 2 // 3]
