"""For whom a resume block is built, and how one item reads to them."""

from __future__ import annotations

import re

from gitguard.model.text import late_pattern, one_line, seconds
from gitguard.model.value import Value
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.state.items import FROM_ELSEWHERE, PERSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.state.items import Item, Origin

FENCE = "gitguard-resume"
_IN_DATA = late_pattern(re.escape(FENCE), re.IGNORECASE)
_WORDLESS = late_pattern(r"[\W\d_]+")
_NEWS = 3600
"""Seconds by which something has to be older than the newest to carry its age."""


class BlockReader(Value):
    """For whom a block is built."""

    now: str = ""
    """Empty where ages are not told."""
    conversation: str = ""
    newest: str = ""
    """When the newest of what is shown came up; the block's head says how old that is."""
    gone: frozenset[str] = frozenset()
    """Paths of files that the workspace has no more."""
    moved: tuple[tuple[str, str], ...] = ()
    """Where files were moved to, behind the paths that they had, as far as git tells."""
    may_go_on: bool = False
    """Whether the turn of another conversation goes on, or may."""

    def remark(self, origin: Origin | None) -> str:
        """Return in parentheses how old something is, and whether another machine wrote it."""
        label = FROM_ELSEWHERE if origin is not None and origin.elsewhere else ""
        noted = "noted in a terminal" if origin is not None and origin.by == PERSON else ""
        remarks = ", ".join(filter(None, (noted, label, self._age(origin))))
        return f" ({remarks})" if remarks else ""

    def _age(self, origin: Origin | None) -> str:
        """Return how old something is, empty for what is as new as the newest.

        What is of the reader's own conversation carries no age either.
        """
        if origin is None or not (self.now and origin.when):
            return ""
        if origin.conversation and origin.conversation == self.conversation:
            return ""
        age = seconds(self.now) - seconds(origin.when)
        newest = seconds(self.now) - seconds(self.newest) if self.newest else 0
        return f"{duration(age)} old" if age - newest >= _NEWS else ""


NOBODY = BlockReader()
"""Who reads a summary that is kept, in which ages would go stale."""


def duration(age: float) -> str:
    """Return seconds in the largest unit that fits, such as `3 h`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if age >= length:
            return f"{age / length:.0f} {unit}"
    return f"{max(age, 0):.0f} s"


def safe(text: str) -> str:
    """Return a text in one line in which the fence's own name never stands."""
    return _IN_DATA.sub("gitguard_resume", one_line(text))


# Sections and items


def line(title: str, text: str, share: int, *, is_derived: bool = False) -> BlockSection:
    """Return a section of one text beside its title, none where the text is empty."""
    return single(title, BlockItem(safe(text), is_derived), share)


def single(title: str, item: BlockItem, share: int, *, paragraph: int = 0) -> BlockSection:
    """Return a section of one item beside its title."""
    section = BlockSection(title, present([item]), share, is_list=False)
    return section.replace(paragraph=paragraph) if paragraph else section


def item_of(
    text: str, origin: Origin | None, reader: BlockReader, *, is_derived: bool = False
) -> BlockItem:
    """Return a text as it is shown, with how old it is and who wrote it."""
    return BlockItem(safe(text), is_derived, reader.remark(origin))


def items_of(texts: Iterable[tuple[str, bool]]) -> tuple[BlockItem, ...]:
    """Return what is to be shown of texts, each with whether it was derived."""
    return present(BlockItem(safe(text), is_derived) for text, is_derived in texts)


def present(items: Iterable[BlockItem]) -> tuple[BlockItem, ...]:
    """Return the items that say something; a number or a ruler that nobody noted does not."""
    return tuple(item for item in items if item.text and not _is_wordless(item))


def _is_wordless(item: BlockItem) -> bool:
    return item.is_derived and _WORDLESS.fullmatch(item.text) is not None


def each_line_once(sections: tuple[BlockSection, ...]) -> Iterator[BlockSection]:
    """Yield sections without lines that another one has, what was noted before what was derived.

    What another machine wrote stands beside the same words of this one: it takes nobody's place.
    """
    noted = {
        plain(item.text)
        for section in sections
        for item in section.items
        if not item.is_derived and FROM_ELSEWHERE not in item.remark
    }
    shown: set[str] = set()
    for section in sections:
        items = []
        for item in section.items:
            line = plain(item.text)
            is_double = line in shown or (item.is_derived and line in noted)
            if not is_double or not (section.is_list or item.is_derived):
                items.append(item)
            if FROM_ELSEWHERE not in item.remark:
                shown.add(line)
        yield section.replace(items=tuple(items))


def plain(sentence: str) -> str:
    """Return a sentence without what does not make it another one: its case and its end."""
    return one_line(sentence).strip(" .!").lower()


def with_common_remark(section: BlockSection) -> BlockSection:
    """Return a list that says in its title what would be remarked of each of its items."""
    remarks = {item.remark for item in section.items}
    if len(section.items) < 2 or len(remarks) != 1:
        return section
    remark = remarks.pop().strip(" ()").replace(") (", ", ")
    items = tuple(item.replace(remark="") for item in section.items)
    title = f"{section.title}, {remark}" if remark else section.title
    return section.replace(title=title, items=items)


def label(item: Item) -> str:
    """Return the label of what another machine wrote, where no age is told."""
    return item.origin.machine_label
