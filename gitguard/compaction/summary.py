"""What stands in the place of the turns that a compaction summarizes."""

from __future__ import annotations

import re
from textwrap import wrap

from gitguard.compaction.earlier import CALLS, RULES, EarlierLists, earlier_in
from gitguard.compaction.extraction import TouchedFiles, extract
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import counted, one_line, shorten, timestamp
from gitguard.sessions.resume.filling import BlockSection, Filled, fill
from gitguard.state.subjects import Subjects
from gitguard.state.thread import KEY_GIST
from gitguard.transcripts.fitting.chunks import Unit
from gitguard.transcripts.fitting.compaction import CompactionPlan
from gitguard.transcripts.fitting.facts import SAID_BY_USER, entries_of, said_in
from gitguard.transcripts.fitting.summarizing import Summarized

TITLE = "# Where this conversation stands"
HAPPENED = "## What happened"
_BEFORE = "## Before that"
_LEFT_OUT = "[… {} left out …]"
_WERE_LEFT_OUT = re.compile(
    r"^Older than that, ([0-9][0-9,]{0,20}) turns? \w+ left out by .*$", re.MULTILINE
)
_SHARE_BEFORE = 4
"""Of the room, what an earlier summary may take at most: a fourth."""
_LONG = 200
"""Characters beyond which a line of a story is cut in its middle, and not left out whole."""
_LEAST_COMPARED = 40
"""Characters from which on a text that stands twice is left out once."""
_AS_READ = (
    f"The user's words under {HAPPENED.removeprefix('## ')!r} were read in the transcript; no hook "
    "heard them."
)
_SHARED = 2
"""Terms that two prompts share which speak of the same subject."""
_HEADING = len("## \n\n\n\n")
_COMMAND = "a command that its user set up"


class SummaryDraft:
    """The summary of one compaction, within so many characters and without secrets."""

    def __init__(
        self, plan: CompactionPlan, redactor: Redactor, *, most: int, folder: str = ""
    ) -> None:
        """Write about a plan; files that lie in the folder are named relative to it."""
        self._plan = plan
        self._redactor = redactor
        self._most = most
        earlier = earlier_in(self._earlier) if self._is_ours else EarlierLists()
        self._extraction = extract(plan.old, redactor, folder, earlier)
        self.files: TouchedFiles = self._extraction.files

    @property
    def _earlier(self) -> str:
        return self._plan.before.summary.strip()

    @property
    def _is_ours(self) -> bool:
        """Whether the earlier summary is one of gitguard's."""
        return self._earlier.startswith(TITLE)

    def text(
        self, happened: Summarized, *, state: tuple[BlockSection, ...] = (), rules: str = ""
    ) -> str:
        """Put the summary together: what happened, what the state says, and what must not go."""
        origin = f"{TITLE}\n\n{self._origin(happened)}"
        rules = shorten(self._redactor.text(rules), self._most // 2)
        rules = f"{RULES}\n\n{rules}" if rules else ""
        room = self._most - _length(origin, rules)
        before = self._before(min(self._most // _SHARE_BEFORE, room // 3))
        before = f"{_BEFORE}\n\n{before}" if before else ""
        room -= _length(before) + len(HAPPENED) + 4
        text = _taken_up_first(happened.text) if _is_mechanical(happened) else happened.text
        least = max(min(len(text), self._most // 2, room), 0)
        facts = self._facts(state, _middle_left_out(text, least), room - least)
        # What the facts leave free is the story's, which may be long where they are few.
        story = f"{HAPPENED}\n\n{_middle_left_out(text, max(room - _length(facts), 0))}"
        whole = "\n\n".join(filter(None, (origin, before, story, facts, rules)))
        return shorten(self._redactor.text(whole), self._most)

    def _facts(self, state: tuple[BlockSection, ...], story: str, room: int) -> str:
        """Return what the session's state says, then what the calls add up to; nothing twice.

        story is what of it stands in the summary at least.
        """
        state = tuple(_without(section, story) for section in state)
        mentioned = tuple(item.text for section in state for item in section.items)
        state = tuple(section for section in state if section.items)
        calls = tuple(s for s in self._extraction.sections(mentioned) if s.items)
        # A heading is longer here than in a resume block, for which the room is filled.
        headings = _HEADING * len((*state, *calls)) + (_length(CALLS) if calls else 0)
        filled = fill((*state, *calls), max(room - headings, 0))
        lists = [_shown(section) for section in filled[: len(state)] if section.texts]
        called = [_shown(section) for section in filled[len(state) :] if section.texts]
        return "\n\n".join([*lists, *([CALLS] if called else []), *called])

    def _origin(self, happened: Summarized) -> str:
        who = "gitguard, without a model"
        if happened.by_plug:
            who = _COMMAND
        elif happened.in_part:
            who = f"{_COMMAND} in part, and in part by gitguard, without a model"
        lines = [
            f"What was said up to here was summarized by {who}: "
            f"{self._span()}. What follows is kept word for word."
        ]
        if _is_mechanical(happened):
            lines.append(_AS_READ)
        if left_out := self._left_out():
            lines.append(left_out)
        if self._plan.splits_turn:
            request = said_in(self._beginning(), self._redactor).partition("\n")[0]
            began = (
                f" It began with: {shorten(request.removeprefix('- '), KEY_GIST)}"
                if request
                else ""
            )
            lines.append(
                f"The turn that goes on below was split: its beginning is summarized.{began}"
            )
        return "\n".join(lines)

    def _left_out(self) -> str:
        """Return how many turns limits left out so far, in compactions before this one as well."""
        head = self._earlier.partition("\n## ")[0] if self._is_ours else ""
        told_before = _WERE_LEFT_OUT.search(head)
        before = int(told_before[1].replace(",", "")) if told_before else 0
        limit = self._plan.limit
        if not (self._plan.left_out and limit):
            return told_before[0] if told_before else ""
        were = counted(before + self._plan.left_out, "turn was", "turns were")
        return (
            f"Older than that, {were} left out by the history limit{', now' if before else ''} of "
            f"{counted(limit.turns, 'turn')} ({one_line(limit.source)})."
        )

    def _span(self) -> str:
        entries = list(entries_of(self._plan.old))
        times = [entry.time for entry in entries if entry.time]
        messages = counted(self._plan.messages_before - self._plan.messages_after + 1, "message")
        return f"{messages}, {timestamp(times[0])} to {timestamp(times[-1])}" if times else messages

    def _beginning(self) -> tuple[Unit, ...]:
        """Return what is summarized of the turn that is split."""
        old = self._plan.old
        begins = [place for place, unit in enumerate(old) if unit.begins_turn]
        return old[begins[-1] :] if begins else ()

    def _before(self, most: int) -> str:
        """Return what an earlier summary said; of one of ours, what was not new with it."""
        earlier = self._earlier
        if self._is_ours:
            _, _, after_heading = earlier.partition(f"{HAPPENED}\n")
            _, _, older = earlier.partition(f"{_BEFORE}\n")
            older = older.partition(f"\n{HAPPENED}")[0].strip() if _BEFORE in earlier else ""
            story = after_heading.partition("\n\n## ")[0].partition(f"\n\n{CALLS}\n")[0].strip()
            earlier = "\n".join(filter(None, (older, story)))
        return _middle_left_out(self._redactor.text(earlier), most)


def _is_mechanical(happened: Summarized) -> bool:
    return not (happened.by_plug or happened.in_part)


def _taken_up_first(story: str) -> str:
    """Return a story's lines, those in front of the user's to which the user came back later.

    What comes first is left out last. It gives the words no more weight: they stand in the
    transcript as the user's anyway.
    """
    lines = list(dict.fromkeys(story.splitlines()))
    subjects = Subjects(lines)
    later: set[str] = set()
    taken_up: set[str] = set()
    for line in reversed(lines):
        if line.startswith(SAID_BY_USER):
            own = subjects.of(line.removeprefix(SAID_BY_USER))
            if len(own & later) >= _SHARED:
                taken_up.add(line)
            later |= own
    return "\n".join(sorted(lines, key=lambda line: line not in taken_up))


def _without(section: BlockSection, story: str) -> BlockSection:
    """Return a list without the items that the story has as well."""
    if not section.is_list:
        return section
    items = tuple(
        item for item in section.items if len(item.text) < _LEAST_COMPARED or item.text not in story
    )
    return section.replace(items=items)


def _middle_left_out(text: str, most: int) -> str:
    """Return at most so many characters of lines: a fourth from the first on, then the newest."""
    if len(text) <= most:
        return text
    lines = [part for line in text.splitlines() for part in _broken(line)]
    room = max(most - len(_LEFT_OUT) - 10, 0)
    first = _fitting(lines, room // 4)
    last = _fitting(lines[:first:-1], room - room // 4)
    left = len(lines) - first - last
    remaining = [
        *lines[:first],
        _LEFT_OUT.format(counted(left, "line")),
        *lines[len(lines) - last :],
    ]
    return shorten("\n".join(remaining), most)


def _broken(line: str) -> list[str]:
    """Return a line in parts, of which some fit where the whole does not."""
    return [line] if len(line) <= _LONG else wrap(line, _LONG, drop_whitespace=False)


def _length(*parts: str) -> int:
    """Return how many characters parts take with what stands between them."""
    return sum(len(part) + 2 for part in parts)


def _fitting(lines: list[str], room: int) -> int:
    """Return how many of the lines fit."""
    for number, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return number
    return len(lines)


def _shown(section: Filled) -> str:
    heading = f"## {section.heading.removesuffix(':')}"
    if not section.is_list:
        return f"{heading}\n\n{section.texts[0]}"
    return "\n".join([heading, "", *(f"- {text}" for text in section.texts)])
