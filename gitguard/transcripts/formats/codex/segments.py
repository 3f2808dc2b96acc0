"""The files of one of Codex's conversations: reverting it begins another (recorded with 0.171.0).

Its first line names the conversation whose history it goes on with, itself or the one that it was
forked from, and the number of the line before which that ends.
"""

from __future__ import annotations

import os

from gitguard.model.value import Value
from gitguard.transcripts.entries import bytes_at, inner, parse
from gitguard.transcripts.plain_lines import as_lines

_FIRST_LINE = 1 << 20
"""Bytes within which the first line ends, with all that the model is told at the beginning."""


class HistoryBase(Value):
    """What of a conversation a file goes on with."""

    own_thread: str
    thread: str
    end: int
    """The number of the first line that does not count."""

    @property
    def is_reverted(self) -> bool:
        """Whether the conversation goes on itself, and is no fork of another one."""
        return self.thread == self.own_thread


def base_of(path: str) -> HistoryBase | None:
    """Return what a file goes on with, None for one that begins a conversation."""
    with as_lines(path) as lines:
        first = bytes_at(lines, 0, _FIRST_LINE).partition(b"\n")[0]
    if b'"history_base"' not in first:
        return None
    payload = inner(parse(first), "payload")
    base = inner(payload, "history_base")
    end = base.get("end_ordinal_exclusive")
    if not isinstance(end, int):
        return None
    return HistoryBase(str(payload.get("id")), str(base.get("thread_id")), end)


def rollouts_of(thread: str, before: str) -> tuple[str, ...]:
    """Return the files of a conversation that were begun before another file, the oldest first."""
    days = os.path.dirname(before)
    root = os.path.dirname(os.path.dirname(os.path.dirname(days)))
    paths = {
        name: os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.startswith("rollout-") and f"-{thread}" in name
    }
    newest = os.path.basename(before)
    return tuple(path for name, path in sorted(paths.items()) if name < newest)
