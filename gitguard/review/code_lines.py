"""A line of a file in the worktree, and the line of the committed file that it is."""

from __future__ import annotations

from gitguard.errors import InvalidInput

_MOST_COMPARED = 20_000
"""Lines that differ in one go; comparing takes time by their square."""


def committed_line(committed: bytes, current: bytes | None, line: int, path: str) -> int:
    """Return the number in the committed file of a line of the current one.

    current is None where the worktree has no such file. Raises `InvalidInput` for a line that is
    not there, or not committed.
    """
    before = _lines(committed)
    after = before if current is None else _lines(current)
    if not 1 <= line <= len(after):
        raise InvalidInput(
            f"`{path}` has no line {line}: it has {len(after):,}", "Name one of its lines"
        )
    place = _place_of(before, after, line - 1)
    if place is None:
        raise InvalidInput(
            f"line {line} of `{path}` is not committed yet",
            "Commit it, or name another line; `gitguard show` says what the agent works at",
        )
    return place + 1


def _lines(content: bytes) -> list[bytes]:
    # What git does with line ends when it checks a file out is no change of a line.
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _place_of(before: list[bytes], after: list[bytes], index: int) -> int | None:
    """Return where a line of after stands in before, None where it does not."""
    shortest = min(len(before), len(after))
    start = next((n for n in range(shortest) if before[n] != after[n]), shortest)
    if index < start:
        return index
    rest = shortest - start
    end = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    if index >= len(after) - end:
        return index + len(before) - len(after)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) + len(new) > _MOST_COMPARED:
        return None
    import difflib

    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for from_old, from_new, size in matcher.get_matching_blocks():
        if from_new <= index - start < from_new + size:
            return start + from_old + index - start - from_new
    return None
