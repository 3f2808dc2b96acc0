"""Fills a budget of tokens with the items of titled sections, what is needed most first.

Every text can be shown in steps: a few words of it, a fact's length, a paragraph, all of it. The
steps of all sections stand in one order that does not depend on the budget, and as many of them are
taken as fit; the next ones are cut to what is left. So a larger budget never shows fewer items.

All lengths are in quarters of a token, of which a plain ASCII character takes one.

The order: the first item of each required section; what was noted in required sections; the first
notes of each of the others; what was derived in required sections, and the notes that are left; the
rest of long texts; then what was derived in the other sections. Inside each of these rounds
sections take turns by their shares, so that one which needs little leaves its share to the others.
"""

from __future__ import annotations

from gitguard.model.tokens import fit, quarters_of
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Step = tuple[int, float, int, int, int]
    """The round, the turn in it, the section's place; the item, and the quarters to show."""

_FEW_WORDS = 20
_HALF_A_LINE = 40
_FACT = 60
_PARAGRAPH, _LEAST_OF_A_NOTE = 240, 140
_ABSENT = len("Not shown: \n")
_BULLET = len("- \n")
_LONGEST_NUMBERS = len(" (1,000 of 1,000)")
_FIRST_NOTES = 400
"""Quarters of an optional section's notes that come before all that was derived: three of them, as
agents note them, in 40 to 160 characters."""


class BlockItem(Value):
    """One thing to show."""

    text: str
    is_derived: bool = False
    """Whether gitguard derived it and the agent did not write it."""
    remark: str = ""
    """How old it is and who wrote it, which stands behind the text however short that is cut."""
    names: int = 1
    """How many things it names, as a line of several paths does."""
    rank: int = 0
    """Its place among the derived items of its section when room is given, the lowest first."""
    paragraph: int = 0
    """Quarters that are shown before anything is shown whole, if not the section's."""
    lines: str = ""
    """The text with its lines, where the section's cut reads them."""
    part: int = 0
    """Which part of its section it is, where the section joins its items."""

    @property
    def length(self) -> int:
        """Quarters of a token that all of it takes."""
        return quarters_of(self.text) + quarters_of(self.remark)


class JoinedLines(Value):
    """The lines that items are joined to, and how many things these name."""

    texts: tuple[str, ...] = ()
    named: int = 0


class BlockSection(Value):
    """A titled list of items, the most wanted first."""

    title: str
    items: tuple[BlockItem, ...]
    share: int
    """Its part of the budget, in relation to the other shares."""
    is_required: bool = True
    is_list: bool = True
    """Whether it can have many items; otherwise its one item stands beside the title."""
    has_stub: bool = True
    """Whether a required section shows a few words before others show whole items."""
    paragraph: int = _PARAGRAPH
    """Quarters of each derived item, and the least of each note, that are shown before any is shown
    whole."""
    paragraph_percent: int = 0
    """The percent of the room that such a paragraph has, where that is more."""
    most_items: int = 0
    """The most items that are shown, however large the room; 0 for any number."""
    most: int = 0
    """The most percent of the room that it takes; 0 for any."""
    least: int = _FEW_WORDS
    """Quarters of an item below which it is not worth a line."""
    cut: Callable[[str, int], str] | None = None
    """How the text of an item is brought to so many quarters, if not by leaving out its end."""
    is_whole: bool = False
    """Whether an item is of no use when it is cut, as a path is."""
    joined: Callable[[Iterable[BlockItem]], JoinedLines] | None = None
    """How the items that are shown become lines, if not each one; none of them is cut then."""


class Filled(Value):
    """What of a section is shown, in the section's order."""

    title: str
    texts: tuple[str, ...]
    named: int
    """How many things the shown items name."""
    total: int
    """How many all items name, shown or not."""
    is_list: bool

    @property
    def heading(self) -> str:
        """The title, with the numbers where something is left out."""
        return _heading(self, self.named)

    @property
    def absence(self) -> str:
        """What stands for the section when nothing of it is shown."""
        return _absence(self)


def fill(sections: tuple[BlockSection, ...], room: int) -> tuple[Filled, ...]:
    """Choose what is shown of each section that has items; `length` of it is at most room.

    Each required section shows something once room is enough for the title and a few words of all.
    """
    sections = tuple(section for section in sections if section.items)
    room -= _ABSENT
    steps = _steps(sections, room)
    parts = [_SectionFilling(section) for section in sections]
    taken = _longest_fitting(steps, parts, room)
    parts = [_SectionFilling(section) for section in sections]
    for _, _, place, item, limit in steps[:taken]:
        parts[place].take(item, limit)
    unfitting = [step for step in steps[taken:] if not sections[step[2]].is_whole]
    _use_up(room, unfitting, parts)
    return tuple(part.filled() for part in parts)


def _use_up(room: int, unfitting: list[Step], parts: list[_SectionFilling]) -> None:
    """Show of steps that do not fit what there is room for: more of shown items, and of one other.

    A text may be cut to far less than its room, as one that says a thing again and again is. Were
    several items added that a step before them kept out, a larger budget could show fewer.
    """
    is_added = False
    for _, _, place, item, _ in unfitting:
        spare = room - sum(part.size for part in parts)
        if spare < _FEW_WORDS:
            return
        part = parts[place]
        is_new = not part.shows(item)
        if not (is_new and is_added):
            part.squeeze(item, spare)
            is_added = is_added or (is_new and part.shows(item))


def length(filled: tuple[Filled, ...]) -> int:
    """Return the most quarters that the sections take, line ends counted."""
    return _ABSENT + sum(
        _size(f, len(f.texts), f.named, sum(map(quarters_of, f.texts))) for f in filled
    )


def _longest_fitting(steps: list[Step], parts: list[_SectionFilling], room: int) -> int:
    # A step can make the whole shorter: a section that is complete needs no numbers. So the
    # longest run that fits is looked for, and not the first step that does not.
    size = sum(part.size for part in parts)
    longest = 0
    for taken, (_, _, place, item, limit) in enumerate(steps, start=1):
        before = parts[place].size
        parts[place].take(item, limit)
        size += parts[place].size - before
        if size <= room:
            longest = taken
        elif size > room + len(parts) * _LONGEST_NUMBERS:
            break
    return longest


def _steps(sections: tuple[BlockSection, ...], room: int) -> list[Step]:
    """Return all steps in the order in which they are taken."""
    steps: list[Step] = []
    for place, section in enumerate(sections):
        used = 0
        shown: dict[int, int] = {}
        for order, item, limit in _own_steps(section, room):
            length, shown_length = min(section.items[item].length, limit), shown.get(item, 0)
            if item in shown and length <= shown_length:
                continue
            added = length - shown_length + (0 if item in shown else _BULLET)
            if section.most and (used + added) * 100 > room * section.most:
                continue
            used += added
            shown[item] = length
            steps.append((order, used / section.share, place, item, limit))
    return sorted(steps)


def _own_steps(section: BlockSection, room: int) -> Iterator[tuple[int, int, int]]:
    """Yield round, item and quarters for one section, in the order of its wishes."""
    items = section.items
    wishes = sorted(range(len(items)), key=lambda i: (items[i].is_derived, items[i].rank, i))
    fitting = max(room // (_BULLET + 1), 1)  # more lines than that fit nowhere
    wishes = wishes[: min(fitting, section.most_items or fitting)]
    if section.is_required and section.has_stub and not section.is_whole:
        yield 0, wishes[0], _FEW_WORDS
        is_derived = items[wishes[0]].is_derived
        yield (4, wishes[0], _HALF_A_LINE) if is_derived else (1, wishes[0], _FACT)
    used = 0
    for item in wishes:
        limit = items[item].length if section.is_whole else _paragraph(section, items[item], room)
        used += min(items[item].length, limit)
        yield _round_of(section, items[item], used), item, limit
    for item in wishes:
        yield 6 if section.is_required else 8, item, items[item].length


def _paragraph(section: BlockSection, item: BlockItem, room: int) -> int:
    paragraph = item.paragraph or section.paragraph
    paragraph = max(paragraph, room * section.paragraph_percent // 100)
    return paragraph if item.is_derived else max(paragraph, _LEAST_OF_A_NOTE)


def _round_of(section: BlockSection, item: BlockItem, used: int) -> int:
    """Return in which round an item is shown with which its section has used so many quarters."""
    if section.is_required:
        return 5 if item.is_derived else 2
    if item.is_derived:
        return 7
    return 3 if used <= _FIRST_NOTES else 5


class _SectionFilling:
    """A section while it is filled."""

    def __init__(self, section: BlockSection) -> None:
        self._section = section
        self._shown: dict[int, str] = {}
        self._named = 0
        self._joined = JoinedLines()
        self._empty = Filled(
            title=section.title,
            texts=(),
            named=0,
            total=section.joined(section.items).named
            if section.joined
            else sum(item.names for item in section.items),
            is_list=section.is_list,
        )
        self._length = 0
        self.size = _size(self._empty, 0, 0, 0)

    def shows(self, item: int) -> bool:
        """Say whether anything of an item is shown."""
        return item in self._shown

    def take(self, item: int, limit: int) -> None:
        """Show an item up to limit quarters."""
        whole = self._section.items[item]
        text = self._cut_to(whole, limit)
        self._length += quarters_of(text) - quarters_of(self._shown.get(item, ""))
        if item not in self._shown:
            self._named += whole.names
        self._shown[item] = text
        if self._section.joined is None:
            self.size = _size(self._empty, len(self._shown), self._named, self._length)
            return
        self._joined = self._section.joined(self._section.items[i] for i in sorted(self._shown))
        lines = self._joined.texts
        self.size = _size(self._empty, len(lines), self._joined.named, sum(map(quarters_of, lines)))

    def squeeze(self, item: int, spare: int) -> None:
        """Show of an item, or more of it, what spare quarters beyond the present size allow."""
        shown, whole = self._shown.get(item, ""), self._section.items[item]
        lines, named = len(self._shown), self._named
        if item not in self._shown:
            lines, named = lines + 1, named + whole.names
        overhead = _size(self._empty, lines, named, self._length) - self.size
        limit = spare - overhead + quarters_of(shown)
        text = self._cut_to(whole, limit)
        least = min(self._section.least, whole.length)
        if limit >= least and quarters_of(text) > quarters_of(shown):
            self.take(item, limit)

    def _cut_to(self, item: BlockItem, limit: int) -> str:
        if item.length > limit and self._section.is_whole:
            return ""
        room = limit - quarters_of(item.remark)
        if room < _FEW_WORDS <= quarters_of(item.text):
            return fit(item.text, limit)
        if quarters_of(item.text) <= room:
            text = item.text
        elif self._section.cut is not None:
            text = self._section.cut(item.lines or item.text, room)
        else:
            text = fit(item.text, room)
        return text + item.remark

    def filled(self) -> Filled:
        if self._section.joined:
            return self._empty.replace(texts=self._joined.texts, named=self._joined.named)
        texts = tuple(self._shown[item] for item in sorted(self._shown))
        return self._empty.replace(texts=texts, named=self._named)


def _size(section: Filled, lines: int, named: int, text: int) -> int:
    if not lines:
        return quarters_of(_absence(section)) + len("; ")
    heading = quarters_of(_heading(section, named))
    return heading + text + (1 + lines * _BULLET if section.is_list else len(" \n"))


def _absence(section: Filled) -> str:
    return f"{section.title} {section.total:,}" if section.is_list else section.title


def _heading(section: Filled, named: int) -> str:
    if named == section.total:
        return f"{section.title}:"
    return f"{section.title} ({named:,} of {section.total:,}):"
