"""The one line of ours that an event tells the agent, picked by what the line is about.

Whatever answers an event offers its lines to the conversation (`Conversation.offer`). The gravest
is told, and `status` shows the others until the next turn. The resume block is no such line.
"""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

STATUS = "status"
"""A signal of the runtime contract, such as `STATUS:COMPLETE`, with its sentence."""
MISSING_HOOKS = "missing-hooks"
CONVERSATION = "conversation"
"""Another conversation, or another repository or machine that the session came from."""
BRANCH = "branch"
"""The checked-out branch, or the session branch's head."""
PRESSURE = "pressure"
NOTES = "notes"
"""A request for notes."""
PRECEDENCE = (STATUS, MISSING_HOOKS, CONVERSATION, BRANCH, PRESSURE, NOTES)
"""The kinds of lines, the gravest first."""


class ToldLine(Value):
    """A line that an event could tell the agent."""

    kind: str
    """One of `PRECEDENCE`."""
    text: str


def pick_line(lines: Sequence[ToldLine]) -> tuple[str, tuple[str, ...]]:
    """Return the line that is told, and those that are not, the gravest first.

    Of two of a kind the one that was offered first is told. A line without text is none.
    """
    ranked = sorted((line for line in lines if line.text), key=_rank)
    texts = tuple(dict.fromkeys(line.text for line in ranked))
    return (texts[0], texts[1:]) if texts else ("", ())


def outranks(lines: Sequence[ToldLine], kind: str) -> bool:
    """Say whether a graver line than any of a kind was offered.

    Who says something only once asks this first, and says it at the next event then.
    """
    return any(line.text and _rank(line) < PRECEDENCE.index(kind) for line in lines)


def _rank(line: ToldLine) -> int:
    return PRECEDENCE.index(line.kind)
