"""How changes are told of on a terminal: sentences, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.paging import Line
from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.text import one_line, shorten, timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.review.looking import CheckpointChange
    from gitguard.review.sentences import Sentence

_LONGEST = 500
SIGNS = {ADDED: ("+", "green"), CHANGED: ("~", "yellow"), REMOVED: ("-", "red")}
"""By what happened, the sign in front of a line, and its colour."""


def change_lines(change: CheckpointChange, code: str, wanted: str) -> list[Line]:
    """Return what a checkpoint changed, and the commands that print what it holds."""
    checkpoint = change.checkpoint
    taken = timestamp(checkpoint.at)
    since = f" since {change.previous}" if change.previous else ""
    heading = f"Checkpoint {checkpoint.sequence}, commit {checkpoint.id[:12]}, taken {taken}"
    lines = [
        Line(heading, "yellow"),
        Line(f"Reason: {one_line(f'{checkpoint.why} ({checkpoint.trigger})')}"),
        Line(code),
        Line(""),
    ]
    if change.note:
        lines += [Line(one_line(change.note)), Line("")]
    lines += sentence_lines(change.sentences, taken)
    if not change.sentences:
        lines.append(Line(f"Nothing in the state changed{since}."))
    lines += cut_hint(change.sentences, f"gitguard show state {wanted}")
    commands = (f"{what} {wanted}" for what in ("state", "summary", "snapshot"))
    return [*lines, Line(""), *(Line(f"  gitguard show {command}") for command in commands)]


def difference_lines(sentences: Sequence[Sentence], now: float, whole: str) -> list[Line]:
    """Return sentences behind `+`, `~` or `-`; whole is the command that cuts nothing."""
    lines = [
        Line(f"{SIGNS[sentence.action][0]} {line.text}", line.colour)
        for sentence, line in zip(sentences, sentence_lines(sentences, timestamp(now)), strict=True)
    ]
    return [*(lines or [Line("No difference.")]), *cut_hint(sentences, whole)]


def sentence_lines(sentences: Sequence[Sentence], at: str) -> list[Line]:
    """Return sentences as lines; of a time on the day of at, only the hour is said."""
    day = at.partition("T")[0]
    return [Line(shorten(s.line(day), _LONGEST), SIGNS[s.action][1]) for s in sentences]


def cut_hint(sentences: Sequence[Sentence], command: str) -> list[Line]:
    """Return the line that says how to see what was cut, if anything was."""
    is_cut = any(len(sentence.line()) > _LONGEST for sentence in sentences)
    return [Line(f"… marks where a long text is cut; `{command}` prints it whole.")] * is_cut
