"""An ordinary day of 50 turns: reads, edits, commands, talk, two compactions, two conversations.

What is said and done stands here once, for the real host and for the library. The context fills up
to 81 % before each compaction, and the agent never takes a note, so that gitguard says all that it
has to say on such a day.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

TURNS = 50
COMPACTED_BEFORE = (17, 34)
"""Turns before which the user compacts."""
LEFT_BEFORE = 43
"""The turn before which the user begins a new conversation."""
MOST_CHARACTERS = 1_500
"""Of gitguard's in the agent's context on such a day, besides the resume blocks."""
MOST_LINES = 3
"""Of gitguard's on the person's screen on such a day."""
READ, WRITE, BASH = "Read", "Write", "Bash"

_FIRST_TOKENS = 22_000
_MOST_TOKENS = 162_000
_BEGINS = (0, *COMPACTED_BEFORE, LEFT_BEFORE)
_COMMIT = "git add -A && git -c user.name=x -c user.email=x@localhost commit -qm 'Save the part'"


class Call(NamedTuple):
    """A tool call of the agent's."""

    tool: str
    subject: str
    """The file, relative to the repository, or the command."""
    content: str = ""
    """What is written into the file."""
    fails: bool = False


class Turn(NamedTuple):
    """What the user says, and what the agent does and answers."""

    prompt: str
    calls: tuple[Call, ...]
    answer: str
    tokens: int
    """Used of a window of 200,000 from the turn's first call on."""


def ordinary_turns() -> tuple[Turn, ...]:
    """Return the turns of the day."""
    return tuple(
        Turn(*_KINDS[number % len(_KINDS)](number), f"Turn {number} is done.", _tokens(number))
        for number in range(TURNS)
    )


def _tokens(number: int) -> int:
    """Return how full the context is; it rises by the same with each turn."""
    begins = max(first for first in _BEGINS if first <= number)
    step = (_MOST_TOKENS - _FIRST_TOKENS) // (COMPACTED_BEFORE[0] - 1)
    return _FIRST_TOKENS + step * (number - begins)


def _module(number: int) -> str:
    return f"part_{number % 7}.py"


def _test(number: int, *, fails: bool = False) -> Call:
    return Call(BASH, f"python3 {_module(number)}", fails=fails)


def _write(number: int, line: str) -> Call:
    return Call(WRITE, _module(number), f"# page {number}\n{line}\n")


def _adds(number: int) -> tuple[str, tuple[Call, ...]]:
    calls = (Call(READ, "README.md"), Call(BASH, "ls"), _write(number, "pass"), _test(number))
    return f"Write part {number % 7} of the importer, with what page {number} asks for", calls


def _looks(number: int) -> tuple[str, tuple[Call, ...]]:
    commands = ("grep -c . README.md", "wc -l README.md", "git log --oneline -3")
    calls = (Call(READ, "README.md"), *(Call(BASH, command) for command in commands))
    return f"How does step {number} of the README work?", calls


def _mends(number: int) -> tuple[str, tuple[Call, ...]]:
    calls = (
        _write(number, "raise SystemExit(1)"),
        _test(number, fails=True),
        _write(number, "print('mended')"),
        _test(number),
    )
    return f"Rows of table {number} are lost, mend that", calls


def _thanks(_number: int) -> tuple[str, tuple[Call, ...]]:
    return "thanks", ()


def _commits(_number: int) -> tuple[str, tuple[Call, ...]]:
    commands = ("git status --short", "git diff --stat", _COMMIT)
    return "commit that", tuple(Call(BASH, command) for command in commands)


def _reports(number: int) -> tuple[str, tuple[Call, ...]]:
    commands = ("git log --oneline -5", "git show --stat", "ls")
    calls = tuple(Call(BASH, command) for command in commands)
    return f"What changed in part {number % 7} this week?", calls


def _reworks(number: int) -> tuple[str, tuple[Call, ...]]:
    calls = (
        Call(READ, "README.md"),
        _write(number, "total = 1"),
        _test(number),
        _write(number, "total = 2"),
        Call(BASH, "rm -rf build && mkdir build"),
        _test(number),
    )
    return f"Rework part {number % 7}: the total of page {number} belongs into a variable", calls


def _asks_why(number: int) -> tuple[str, tuple[Call, ...]]:
    return f"Why is figure {number} the larger one?", ()


_KINDS: tuple[Callable[[int], tuple[str, tuple[Call, ...]]], ...] = (
    _adds,
    _looks,
    _mends,
    _thanks,
    _commits,
    _reports,
    _reworks,
    _asks_why,
)


def empty_checkpoints(git: Callable[..., str], ref: str) -> list[str]:
    """Return the messages of checkpoints that say nothing that their parents do not say.

    A checkpoint says something if the state, apart from the time at which it was written, or the
    snapshot of the files is new. A compaction is a reason of its own, once for each.
    """
    commits = git("log", "--reverse", "--format=%H", ref).split()
    contents = [_content(git, commit) for commit in commits]
    empty = []
    for number, commit in enumerate(commits[1:], 1):
        state, files, trigger = contents[number]
        before = contents[number - 1]
        is_compaction = trigger == "compaction" and before[2] != "compaction"
        if not is_compaction and (state, files) == before[:2]:
            empty.append(git("log", "-1", "--format=%B", commit))
    return empty


def _content(git: Callable[..., str], commit: str) -> tuple[dict[str, Any], str, str]:
    state = json.loads(git("show", f"{commit}:state.json"))
    del state["updated_at"]
    keys = ("Gitguard-Files", "Gitguard-Trigger")
    files, trigger = (
        git("log", "-1", f"--format=%(trailers:key={key},valueonly)", commit).strip()
        for key in keys
    )
    return state, files, trigger
