"""Planted facts, and the work of a scripted agent that plants them.

A fact is a text that occurs nowhere else, so that finding it whole is finding it: 60 characters,
or, where notes are as long as agents write them, 40 to 160. Whatever plants one is what an agent
has: a shell in which it runs `gitguard note`, its host's tools, and what the user says to it.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from tests.e2e.repository import git
from tests.e2e.scripted_model import Step, ToolCall

T = TypeVar("T")

LENGTH = 60
NATURAL = (40, 160)
"""Characters of a note as agents write them, drawn evenly between the two."""
TURNS = 3
"""Turns over which the facts are spread."""

SUMMARY = (
    "1. Primary Request and Intent: the user wants the old parser ported to the new tokenizer "
    "without changing what it accepts, and asked for small steps.\n2. What was done: several "
    "modules were read and rewritten, checks were run and some of them failed, notes were taken "
    "on the way.\n3. Problem solving: two approaches did not work and were given up.\n4. Current "
    "work: the port is going on, and the checks of the last modules have to be run again."
)
"""What every compaction leaves: an honest summary of such work that quotes no fact."""
SUMMARY_MARK = "the old parser ported to the new tokenizer"


class Kind(StrEnum):
    """What a fact is; each stands in one list or field of the state."""

    GOAL = "goal"
    PHASE = "phase"
    NEXT = "next action"
    DECISION = "decision"
    REASON = "reason"
    CONSTRAINT = "constraint"
    INVARIANT = "invariant"
    FAILURE = "failure"
    ERROR = "error"
    BLOCKER = "blocker"
    ISSUE = "open issue"
    PLAN = "plan item"
    FILE = "file"
    DONE = "done step"
    ASSUMPTION = "assumption"
    LEARNING = "learned number"
    LIMIT = "the user's limit"
    CORRECTION = "the user's correction"


ALWAYS = (Kind.GOAL, Kind.PHASE, Kind.NEXT)
"""What every block shows whole, however small it is."""
_OPTIONS = {
    Kind.GOAL: "goal",
    Kind.PHASE: "phase",
    Kind.NEXT: "next",
    Kind.DECISION: "decision",
    Kind.REASON: "why",
    Kind.CONSTRAINT: "constraint",
    Kind.INVARIANT: "invariant",
    Kind.FAILURE: "failure",
    Kind.ERROR: "error",
    Kind.BLOCKER: "blocker",
    Kind.ISSUE: "issue",
    Kind.DONE: "done",
    Kind.ASSUMPTION: "assumption",
    Kind.LEARNING: "learning",
}
SAID = {Kind.LIMIT: "Never {}.", Kind.CORRECTION: "No, {} instead."}
"""What the user says, which nobody notes."""
_ONCE = {Kind.GOAL, Kind.PHASE, Kind.NEXT, Kind.DECISION, Kind.FAILURE}
"""Kinds that one command takes once."""


@dataclass(frozen=True)
class Fact:
    """One planted fact; `by_work` says that nobody noted it: the agent's work tells it."""

    number: int
    kind: Kind
    text: str
    by_work: bool = False

    @property
    def list_name(self) -> str:
        """The list it stands in; what was noted goes before what only the work tells."""
        return f"{self.kind}{' (from the work)' if self.by_work else ''}"

    def is_in(self, text: str) -> bool:
        """Whether a text has it whole; a block may name the folder of several paths once."""
        return self.text.rpartition("/")[2] in text


Unit = tuple[Fact, ...]
"""Facts that are planted together, such as a decision and its reason."""

_CYCLE: tuple[tuple[tuple[Kind, ...], bool], ...] = (
    ((Kind.DECISION, Kind.REASON), False),
    ((Kind.CONSTRAINT,), False),
    ((Kind.INVARIANT,), False),
    ((Kind.FAILURE, Kind.ERROR), False),
    ((Kind.FILE,), True),
    ((Kind.BLOCKER,), False),
    ((Kind.ISSUE,), False),
    ((Kind.DECISION, Kind.REASON), False),
    ((Kind.FAILURE, Kind.ERROR), True),
    ((Kind.FILE,), True),
    ((Kind.CONSTRAINT,), False),
    ((Kind.PLAN,), True),
    ((Kind.INVARIANT,), False),
    ((Kind.ISSUE,), False),
    ((Kind.DECISION, Kind.REASON), False),
    ((Kind.FILE,), True),
    ((Kind.BLOCKER,), False),
    ((Kind.CONSTRAINT,), False),
    ((Kind.PLAN,), True),
    ((Kind.INVARIANT,), False),
    ((Kind.FILE,), True),
    ((Kind.ISSUE,), False),
)
"""What a long task knows, in the proportions of one: 27 facts."""
_NATURAL_CYCLE: tuple[tuple[tuple[Kind, ...], bool], ...] = (
    ((Kind.DECISION, Kind.REASON), False),
    ((Kind.CONSTRAINT,), False),
    ((Kind.LIMIT,), True),
    ((Kind.FILE,), True),
    ((Kind.DONE,), False),
    ((Kind.FAILURE, Kind.ERROR), False),
    ((Kind.FILE,), True),
    ((Kind.ASSUMPTION,), False),
    ((Kind.BLOCKER,), False),
    ((Kind.CORRECTION,), True),
    ((Kind.FAILURE, Kind.ERROR), True),
    ((Kind.LEARNING,), False),
    ((Kind.FILE,), True),
    ((Kind.INVARIANT,), False),
    ((Kind.DECISION, Kind.REASON), False),
    ((Kind.FILE,), True),
    ((Kind.PLAN,), True),
    ((Kind.ISSUE,), False),
    ((Kind.FAILURE, Kind.ERROR), True),
    ((Kind.FILE,), True),
    ((Kind.FILE,), True),
)
"""What an agent notes in sentences, and the user says: 27 facts, 13 of them noted."""

_PROSE = (
    "a an in of on to at by is so up as the and for one two its has old new may not any tree "
    "node rule line file name each with from that must when keep only test code read loop "
    "list token state scope quote chars cache stage index never until again other after "
    "before parser module writer symbol nested string buffer output unused ascii comment "
    "grammar literal escapes newline between wrapper fallback operator position encoding "
    "register traverse delimiter recovered statement construct expression lookahead "
    "assignment"
)
_WORDS = _PROSE.split()


def facts_for(count: int, *, has_plan: bool, is_natural: bool = False) -> list[Unit]:
    """Return units with so many facts in all, goal, phase and next action first."""
    numbers = iter(range(1, count + 1))
    units: list[Unit] = [(_fact(next(numbers), kind, is_natural),) for kind in ALWAYS]
    left = count - len(ALWAYS)
    while left > 0:
        for kinds, by_work in _NATURAL_CYCLE if is_natural else _CYCLE:
            if len(kinds) <= left:
                shown = [Kind.ISSUE] if kinds == (Kind.PLAN,) and not has_plan else kinds
                is_of_work = by_work and Kind.ISSUE not in shown
                units.append(
                    tuple(_fact(next(numbers), k, is_natural, by_work=is_of_work) for k in shown)
                )
                left -= len(kinds)
    return units


def renewed(round_: int) -> Unit:
    """Return the phase and next action that replace the earlier ones as the work goes on."""
    return tuple(_fact(900 + 10 * round_ + i, kind, False) for i, kind in enumerate(ALWAYS[1:]))


def _fact(number: int, kind: Kind, is_natural: bool, *, by_work: bool = False) -> Fact:
    if kind is Kind.FILE:
        return Fact(number, kind, _path(number), by_work)
    is_note = is_natural and not by_work and kind not in ALWAYS
    length = random.Random(f"length {number}").randint(*NATURAL) if is_note else LENGTH
    return Fact(number, kind, _text(f"F{number:03} {kind}", number, length), by_work)


def _path(number: int) -> str:
    end = ".py"
    start = f"src/parser/F{number:03}"
    return _text(start, number, LENGTH - len(end)).replace(" ", "_") + end


def _text(start: str, number: int, length: int) -> str:
    """Return start with words behind it that fill the length to the character."""
    chosen, by_length = random.Random(number), {len(word): word for word in _WORDS}
    text = start
    while (left := length - len(text) - 1) not in by_length:
        fitting = [w for w in _WORDS if left - len(w) - 1 >= 1]
        text += f" {chosen.choice(fitting)}"
    return f"{text} {by_length[left]}"


# The work


@dataclass(frozen=True)
class Tools:
    """A host's tools as its model calls them; `plan` is None where a host keeps no plan."""

    shell: Callable[[str], ToolCall]
    write: Callable[[str], ToolCall]
    read: Callable[[str], ToolCall]
    plan: Callable[[str], ToolCall] | None = None


@dataclass(frozen=True)
class Turn:
    """What the user says, and what the model answers to it."""

    prompt: str
    steps: tuple[Step, ...]


_PROMPTS = (
    "Port the old parser to the new tokenizer. It must accept what it accepts now; go in small "
    "steps, and tell me whenever you have to choose between ways that differ for callers.",
    "Yes, the first way.",
    "Fine, go on with the writer.",
)
"""The short ones answer a long answer, which looks like a decision of the user's."""
_LONG_ANSWER = (
    "I went through the modules of this part one by one and ran their checks. Most of them pass "
    "with the new tokenizer as they are; some relied on how the old one joined lines, and I "
    "rewrote these. There are two ways to go on from here. The first is to port the writer next, "
    "which keeps the public names and costs a second pass over the input. The second is to change "
    "the order of the passes, which is faster, but callers that look at positions would see other "
    "numbers than before. Both can be done in the same number of steps, and neither changes the "
    "grammar. I would take the first one and measure it afterwards. Which one do you want?"
)
_MOST_COMMANDS = 4
"""Commands in one call of the shell; a host may leave a longer one running in the background."""
_MOST_OPTIONS = 8

CHECK = """#!/bin/sh
# Fails as the check of that name fails: with its own words.
grep -F "$1	" .checks | cut -f 2 >&2
exit 1
"""


def lay_out(root: Path, units: Sequence[Unit]) -> None:
    """Write the repository that the agent works in: modules to read, and checks that fail."""
    root.mkdir()
    (root / "src/parser").mkdir(parents=True)
    for turn in range(TURNS):
        for name in ("reader", "tables"):
            (root / f"src/{name}_{turn}.py").write_text(f'"""The {name}."""\n' * 20)
    failing = [unit for unit in units if unit[0].kind is Kind.FAILURE and unit[0].by_work]
    lines = [f"{what.text}\t{error.text}\n" for what, error in failing]
    (root / ".checks").write_text("".join(lines))
    (root / "check").write_text(CHECK)
    (root / "check").chmod(0o755)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "config", "user.name", "Test Author")
    git(root, "config", "user.email", "author@example.invalid")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "First commit")


def turns_of(
    units: Sequence[Unit], tools: Tools, tokens: Sequence[tuple[int, int]]
) -> Iterator[Turn]:
    """Yield the turns that plant the units; tokens are those used in each, and at its end."""
    size = -(-len(units) // TURNS)
    facts = [fact for unit in units for fact in unit if fact.kind in SAID]
    said = ((), facts[::2], facts[1::2])  # first he says what he wants
    for number, (during, at_end) in zip(range(TURNS), tokens, strict=True):
        own = units[number * size : (number + 1) * size]
        calls = [*_distracting(number, tools), *_planting(own, tools)]
        steps = [Step(text, tuple(group), input_tokens=during) for text, group in calls]
        answer = Step(_LONG_ANSWER, input_tokens=at_end)
        words = [SAID[fact.kind].format(fact.text) for fact in said[number]]
        yield Turn(" ".join((_PROMPTS[number], *words)), (*steps, answer))


Calls = tuple[str, Sequence[ToolCall]]
"""What the model says, and the tools it calls with it."""


def _planting(units: Sequence[Unit], tools: Tools) -> Iterator[Calls]:
    noted = [unit for unit in units if not unit[0].by_work]
    commands = list(note_commands(noted))
    for some in _chunks(commands, _MOST_COMMANDS):
        yield "I note what I know now", [tools.shell(" && ".join(some))]
    for what, *_ in (unit for unit in units if unit[0].by_work):
        # One by one: of calls side by side, any may end first, and so be the older one.
        yield from _working(what, tools)


def _working(fact: Fact, tools: Tools) -> Iterator[Calls]:
    if fact.kind is Kind.FILE:
        yield "I write this module", [tools.write(fact.text)]
    elif fact.kind in SAID:
        return
    elif fact.kind is Kind.PLAN:
        assert tools.plan is not None
        yield "I plan what is left", [tools.plan(fact.text)]
    else:
        yield "I run a check", [tools.shell(f"./check {shlex.quote(fact.text)}")]


def _distracting(turn: int, tools: Tools) -> Iterator[Calls]:
    """Yield the work before there is something to note: no fact, but it takes room in the block."""
    yield "I read on", [tools.read(f"src/{name}_{turn}.py") for name in ("reader", "tables")]
    yield "I look at all of the output", [tools.shell("seq 1 2000")]
    yield "I try something", [tools.shell(f"ls src/missing_{turn}")]
    yield "I write a draft", [tools.write(f"src/draft_{turn}.py")]
    note = (
        f"gitguard note --done 'Read part {turn} of the parser' --learning 'Part {turn} is small'"
    )
    yield "I note that this part is read", [tools.shell(note)]


def renewing(unit: Unit, tools: Tools, tokens: int) -> Step:
    """Return the step in which the agent notes that it has come further."""
    (command,) = note_commands([unit])
    return Step("I note where I am", (tools.shell(command),), input_tokens=tokens)


def note_commands(units: Iterable[Unit]) -> Iterator[str]:
    """Yield `gitguard note` commands, each with as many of the facts as it takes."""
    options: list[str] = []
    given: set[Kind] = set()
    for unit in units:
        kinds = {fact.kind for fact in unit}
        if kinds & given & _ONCE or len(options) >= _MOST_OPTIONS:
            yield " ".join(["gitguard note", *options])
            options, given = [], set()
        options += [f"--{_OPTIONS[fact.kind]} {shlex.quote(fact.text)}" for fact in unit]
        given |= kinds
    if options:
        yield " ".join(["gitguard note", *options])


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
