"""Prompts in a transcript whose lines name the line that they follow.

Who goes back to an older line and goes on from there leaves a branch behind, with its prompts.
"""

from __future__ import annotations

from gitguard.model.transcript import USER
from gitguard.transcripts.entries import bytes_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.model.transcript import Message

    Follower = tuple[str, str, Message | None]
    """A line's id, the id of the line that it follows, and what is said in it; empty for none."""

_BEFORE = 1 << 17
"""Bytes before an offset in which the newest line with an id is looked for."""


def prompts_on_branches(lines: Iterable[Follower]) -> tuple[Message, ...]:
    """Return the prompts in the order of the lines, those that were taken back marked.

    The newest line tells which branch stands. A branch was left if all of it was written before
    that one began: two processes at one conversation write theirs by turns. What follows a line
    that is not among these counts as standing.
    """
    parents: dict[str, str] = {}
    places: dict[str, int] = {}
    prompts: list[tuple[str, Message]] = []
    newest = ""
    for place, (name, parent, message) in enumerate(lines):
        if not name:
            continue
        parents[name], places[name] = parent, place
        newest = name
        if message is not None and message.role == USER:
            prompts.append((name, message))
    standing = _way_back(newest, parents)
    if all(name in standing for name, _ in prompts):
        return tuple(message for _, message in prompts)  # as in nearly every transcript
    branches = _branches(parents, standing)
    ends: dict[str, int] = {}
    for name, begin in branches.items():
        ends[begin] = max(ends.get(begin, 0), places[name])
    next_on_the_way = {parents[name]: name for name in standing}

    def is_left(name: str) -> bool:
        begin = branches.get(name, "")
        went_on = next_on_the_way.get(parents[begin]) if begin else None
        return went_on is not None and ends[begin] < places[went_on]

    return tuple(message.replace(is_taken_back=is_left(name)) for name, message in prompts)


def goes_straight_on(path: str, since: int, follower_of: Callable[[bytes], Follower]) -> bool:
    """Say whether each prompt behind an offset follows the line before that or one behind it.

    Then no branch was left since, and the rest of the file need not be read.
    """
    from gitguard.transcripts import jsonl

    if not since:
        return False
    before = reversed(bytes_at(path, max(since - _BEFORE, 0), min(since, _BEFORE)).split(b"\n"))
    names = {next(filter(None, (follower_of(line)[0] for line in before)), None)}
    for line in jsonl.forwards(path, since):
        name, parent, message = follower_of(line)
        if message is not None and message.role == USER and parent not in names:
            return False
        names.add(name or None)
    return True


def _way_back(newest: str, parents: dict[str, str]) -> set[str]:
    """Return the lines on the way from the newest one to the root."""
    way: set[str] = set()
    name = newest
    while name in parents and name not in way:
        way.add(name)
        name = parents[name]
    return way


def _branches(parents: dict[str, str], standing: set[str]) -> dict[str, str]:
    """Return of each line beside the way that stands with which line its branch begins.

    It is empty where the branch begins at a line that is not there.
    """
    begins: dict[str, str] = {}
    for name in parents:
        path: list[str] = []
        at = name
        while at in parents and at not in standing and at not in begins:
            begins[at] = ""  # until it is known, which ends a circle
            path.append(at)
            at = parents[at]
        if not path:
            continue
        begin = path[-1] if at in standing or not at else begins.get(at, "")
        begins.update(dict.fromkeys(path, begin))
    return begins
