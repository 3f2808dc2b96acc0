"""The lock file that OpenClaw keeps beside a transcript while it writes: `<transcript>.lock`.

It says in JSON which process holds it, and since when: `{pid, createdAt, starttime}`. Whoever made
it holds it. We keep to it with every transcript, whichever host's it is: one rule, and a file more
for as long as we write. What a killed process left is known by its number and start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from gitguard.errors import InvalidDocument
from gitguard.model.codec import load_json
from gitguard.model.text import exact_timestamp, seconds
from gitguard.store.disk import files, processes

_LIMIT = 1 << 16
_ABANDONED_AFTER = 1800
"""Seconds after which one that names no process counts as left over; the host waits as long."""


class HostLock:
    """The lock file of one transcript."""

    def __init__(self, transcript: str, clock: Callable[[], float]) -> None:
        """Describe the lock; nothing is read or written yet."""
        self.path = f"{transcript}.lock"
        self._clock = clock
        self._mine = b""

    def try_to_take(self) -> bool:
        """Take the lock unless a living process has it; say whether it is ours now.

        The caller sees to it that no other gitguard tries at the same time.
        """
        there = files.read_bytes(self.path, limit=_LIMIT)
        if there is not None:
            if not self._is_left_over(there):
                return False
            if files.read_bytes(self.path, limit=_LIMIT) == there:
                files.remove(self.path)
        self._mine = self._claim()
        files.create(self.path, self._mine, needs_links=False)
        return self.is_ours

    @property
    def is_ours(self) -> bool:
        """Whether the lock is there and says that it is ours."""
        return bool(self._mine) and files.read_bytes(self.path, limit=_LIMIT) == self._mine

    def give_back(self) -> None:
        """Remove the lock, if it is still ours."""
        if self.is_ours:
            files.remove(self.path)
        self._mine = b""

    def holder(self) -> str:
        """Name who has the lock, and for how long."""
        claim = _read(files.read_bytes(self.path, limit=_LIMIT) or b"")
        pid, since = _pid(claim), _since(claim)
        who = f"process {pid}" if pid else "an unnamed process"
        return f"{who} for {max(self._clock() - since, 0):.0f} s" if since else who

    def _claim(self) -> bytes:
        # The host takes for left over what has no time in this form.
        created = exact_timestamp(self._clock())
        claim: dict[str, Any] = {"pid": os.getpid(), "createdAt": created}
        started = processes.start_of(os.getpid())
        return json.dumps({**claim, "starttime": started} if started else claim, indent=2).encode()

    def _is_left_over(self, data: bytes) -> bool:
        claim = _read(data)
        pid = _pid(claim)
        if not pid:
            return self._clock() - self._written_at() > _ABANDONED_AFTER
        if pid == os.getpid() or not processes.is_alive(pid):
            return True
        started = claim.get("starttime")
        return isinstance(started, int) and started > 0 and started != processes.start_of(pid) > 0

    def _written_at(self) -> float:
        try:
            return os.stat(self.path).st_mtime
        except OSError:
            return self._clock()


def _read(data: bytes) -> dict[str, Any]:
    try:
        return load_json(data, what="a lock")
    except InvalidDocument:
        return {}


def _pid(claim: dict[str, Any]) -> int:
    pid = claim.get("pid")
    return pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else 0


def _since(claim: dict[str, Any]) -> float:
    """Return the Unix seconds at which a lock was taken: versions wrote text, or milliseconds."""
    created = claim.get("createdAt")
    try:
        if isinstance(created, str):
            return seconds(created)
        return created / 1000 if isinstance(created, int | float) else 0
    except (ValueError, OverflowError):
        return 0
