"""How changes are told of on a terminal: sentences, one a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.model.text import one_line, timestamp

if TYPE_CHECKING:
    from gitguard.review.looking import CheckpointChange


def change_lines(change: CheckpointChange, code: str, wanted: str) -> list[str]:
    """Return what a checkpoint changed, and the commands that print what it holds."""
    checkpoint = change.checkpoint
    taken = timestamp(checkpoint.at)
    since = f" since {change.previous}" if change.previous else ""
    lines = [
        f"Checkpoint {checkpoint.sequence}, commit {checkpoint.id[:12]}, taken {taken}",
        f"Reason: {one_line(f'{checkpoint.why} ({checkpoint.trigger})')}",
        code,
        "",
    ]
    if change.note:
        lines += [one_line(change.note), ""]
    day = taken.partition("T")[0]
    lines += [sentence.line(day) for sentence in change.sentences]
    if not change.sentences:
        lines.append(f"Nothing in the state changed{since}.")
    commands = (f"{what} {wanted}" for what in ("state", "summary", "snapshot"))
    return [*lines, "", *(f"  gitguard show {command}" for command in commands)]
