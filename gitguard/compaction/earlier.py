"""What calls added up to by an earlier summary of ours, read back for the next one.

Once a conversation is compacted, its older calls are in no context any more. What they added up to
stands only in the summary, so the next extraction starts from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gitguard.model.checks import only_check
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.state.items import (
    COMMAND_OUTCOMES,
    HOOK,
    Artifact,
    Command,
    Failure,
    Origin,
    PlanStep,
)
from gitguard.state.task import TaskState

CALLS = "# What the tool calls did"
"""Stands before the lists of calls: the session's state has lists with the same headings."""
RULES = "## Rules of this workspace"
CHECKS, COMMANDS, WRITTEN, COMMITS, FAILURES, PLAN, READ = (
    "Checks, as last run",
    "Commands",
    "Files written",
    "Commits",
    "Open failures",
    "Plan",
    "Files read",
)
_NUMBERS = re.compile(r" \([0-9][^()]{0,80}\)$")
"""What a heading says of items that are cut or left out."""
_TIMES = re.compile(r" \(([0-9][0-9,]{0,20}) times\)$")
_RAN = re.compile(rf": ({'|'.join(COMMAND_OUTCOMES)})(?: — (.*))?$")
_NUMBERED = re.compile(r"#(\S{1,200}) (.+)")
_MOST_LINES = 1_000
"""Lines of a list that are read: more than a summary has room for."""
_CUT = "…"


class EarlierLists(Value):
    """The lists of calls in an earlier summary, as lines, each list with its newest last."""

    checks: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    def added_to(self, state: TaskState, is_attempt: Callable[[str], bool]) -> TaskState:
        """Return a state that knows what the lists say, as older than every call.

        is_attempt says whether a call since then tried just what a text says.
        """
        origin = Origin(HOOK, timestamp(0))
        files = (_counted(line) for line in self.written if not line.endswith(_CUT))
        commits = (line.partition(" — ") for line in self.commits)
        steps = filter(None, map(_NUMBERED.fullmatch, self.plan))
        return state.replace(
            commands=tuple(_checks(self.checks, origin)),
            artifacts=(
                *(Artifact(path, writes=writes, origin=origin) for path, writes in files),
                *(Artifact(id_, "commit", subject, origin=origin) for id_, _, subject in commits),
            ),
            failed_attempts=tuple(
                Failure(*split(line, is_attempt), origin=origin) for line in self.failures
            ),
            plan=tuple(PlanStep(step[1], step[2], origin=origin) for step in steps),
            files_read=tuple(path for path in self.read if not path.endswith(_CUT)),
        )


def earlier_in(summary: str) -> EarlierLists:
    """Read the lists of calls in a summary; one without them has none."""
    _, mark, text = summary.partition(f"\n{RULES}\n")[0].rpartition(f"\n{CALLS}\n")
    lists: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines() if mark else ():
        if line.startswith("## "):
            lines = lists.setdefault(_NUMBERS.sub("", line.removeprefix("## ")), [])
        elif line.startswith("- ") and len(lines) < _MOST_LINES:
            lines.append(line.removeprefix("- "))

    def newest_last(title: str) -> tuple[str, ...]:
        return tuple(reversed(lists.get(title, ())))

    return EarlierLists(
        checks=newest_last(CHECKS),
        commands=newest_last(COMMANDS),
        written=newest_last(WRITTEN),
        commits=newest_last(COMMITS),
        failures=newest_last(FAILURES),
        plan=tuple(lists.get(PLAN, ())),
        read=newest_last(READ),
    )


def split(line: str, is_key: Callable[[str], bool]) -> tuple[str, str]:
    """Return what a line is about, and what it says of that; all of it where no key is known.

    Commands and what they print hold colons as well, so only a key tells where one ends.
    """
    places = [colon.start() for colon in re.finditer(": ", line)]
    place = next((place for place in reversed(places) if is_key(line[:place])), -1)
    return (line[:place], line[place + 2 :]) if place >= 0 else (line, "")


def check_in(attempt: str) -> str:
    """Return the check that an attempt is, which is named after its tool.

    It is empty if the attempt did more: what failed may then be something else.
    """
    return only_check(attempt.partition(": ")[2])


def _counted(line: str) -> tuple[str, int]:
    times = _TIMES.search(line)
    return (line[: times.start()], int(times[1].replace(",", ""))) if times else (line, 1)


def _checks(lines: tuple[str, ...], origin: Origin) -> Iterator[Command]:
    for line in lines:
        ran = _RAN.search(line)
        if ran is not None:  # cut before its outcome, it would say nothing
            command, runs = _counted(line[: ran.start()])
            yield Command(command, ran[1], ran[2] or "", runs, origin=origin)
