"""How changes are told of on a terminal: sentences, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.paging import PageLine
from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.text import local_times, one_line, shorten, timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.review.comparing import CheckpointChange
    from gitguard.review.sentences import Sentence

_LONGEST = 500
SIGNS = {ADDED: ("+", "green"), CHANGED: ("~", "yellow"), REMOVED: ("-", "red")}
"""By what happened, the sign in front of a line, and its colour."""


def change_lines(change: CheckpointChange, code: str, checkpoint_name: str) -> list[PageLine]:
    """Return what a checkpoint changed, and the commands that print what it holds."""
    checkpoint = change.checkpoint
    taken = timestamp(checkpoint.at)
    since = f" since {change.previous}" if change.previous else ""
    heading = (
        f"Checkpoint {checkpoint.sequence}, commit {checkpoint.id[:12]}, taken {local_times(taken)}"
    )
    lines = [
        PageLine(heading, "yellow"),
        PageLine(f"Reason: {one_line(f'{checkpoint.why} ({checkpoint.trigger})')}"),
        PageLine(code),
        PageLine(""),
    ]
    if change.note:
        lines += [PageLine(one_line(change.note)), PageLine("")]
    lines += sentence_lines(change.sentences, taken)
    if not change.sentences:
        lines.append(PageLine(f"Nothing in the state changed{since}."))
    lines += cut_hint(change.sentences, f"gitguard show state {checkpoint_name}")
    commands = (f"{what} {checkpoint_name}" for what in ("state", "summary", "snapshot"))
    return [*lines, PageLine(""), *(PageLine(f"  gitguard show {command}") for command in commands)]


def difference_lines(sentences: Sequence[Sentence], now: float, whole: str) -> list[PageLine]:
    """Return sentences behind `+`, `~` or `-`; whole is the command that cuts nothing."""
    lines = [
        PageLine(f"{SIGNS[sentence.action][0]} {line.text}", line.colour)
        for sentence, line in zip(sentences, sentence_lines(sentences, timestamp(now)), strict=True)
    ]
    return [*(lines or [PageLine("No difference.")]), *cut_hint(sentences, whole)]


def sentence_lines(sentences: Sequence[Sentence], at: str) -> list[PageLine]:
    """Return sentences as lines; of a time on the day of at, only the hour is said."""
    day = local_times(at).partition("T")[0]
    local = [sentence.replace(when=local_times(sentence.when)) for sentence in sentences]
    return [PageLine(shorten(s.line(day), _LONGEST), SIGNS[s.action][1]) for s in local]


def cut_hint(sentences: Sequence[Sentence], command: str) -> list[PageLine]:
    """Return the line that says how to see what was cut, if anything was."""
    is_cut = any(len(sentence.line()) > _LONGEST for sentence in sentences)
    return [PageLine(f"… marks where a long text is cut; `{command}` prints it whole.")] * is_cut
