"""What a reader without the session's lock sees, as it was at one moment.

A writer replaces several files and a ref, one after the other. Whoever reads them one by one in the
meantime may hold the new one against the old one, and take gitguard's own work for a stranger's. So
nobody is accused before the files were read again while nobody wrote.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from gitguard.errors import GitguardError, Locked
from gitguard.store.disk import lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from gitguard.store.disk.lock import Lock

    T = TypeVar("T")
    Mark = tuple[int, ...]

PATIENCE = 6.0
"""Seconds that a reader waits for a writer; hosts end hooks after ten."""
_TRIES = 3
"""How often is read without the lock what changes meanwhile."""


class Unsettled(GitguardError):
    """What was read seems foreign, and somebody may be writing it; it never leaves a moment."""


class ConsistentRead:
    """Reads one session's files, so that what is compared belongs together."""

    def __init__(
        self, open_lock: Callable[[], Lock], lock_paths: Sequence[str], paths: Sequence[str]
    ) -> None:
        """Watch the files that a writer replaces; one of the lock's paths is held by who writes."""
        self._open_lock = open_lock
        self._lock_paths = lock_paths
        self._paths = paths
        self._believes = False
        self._is_looking = False

    @property
    def is_settled(self) -> bool:
        """Whether nobody else can be writing: we hold the lock, or it cannot be had."""
        return self._believes or any(lock.is_ours(path) for path in self._lock_paths)

    def read(
        self,
        look: Callable[[], T],
        *,
        recheck_if: Callable[[T], bool] = lambda _: False,
        takes_long: bool = False,
    ) -> T:
        """Return what look returns when nothing changes meanwhile.

        What accuses somebody, as every error may, is read again under the lock, if somebody holds
        it or anything changed since. A look that takes long and accuses nobody counts whatever
        changed. Raises what look raises then, and `Locked`.
        """
        if self._is_looking or self.is_settled:
            return look()  # whoever looks at more than this looks again where it accuses
        self._is_looking = True
        try:
            return self._read(look, recheck_if, takes_long=takes_long)
        finally:
            self._is_looking = False

    def _read(
        self, look: Callable[[], T], recheck_if: Callable[[T], bool], *, takes_long: bool
    ) -> T:
        for _ in range(_TRIES):
            before = self._marks()
            try:
                seen = look()
            except GitguardError as error:
                if isinstance(error, Unsettled) or not self._is_quiet(before):
                    return self.settled(look)
                raise
            if recheck_if(seen):
                return seen if self._is_quiet(before) else self.settled(look)
            if takes_long or self._marks() == before:
                return seen
        return self.settled(look)

    def settled(self, look: Callable[[], T]) -> T:
        """Return what look returns under the lock, which is waited for; `Locked` if in vain."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._open_lock())
            except Locked:
                raise
            except GitguardError:  # where no lock can be taken, nobody writes either
                return self._believing(look)
            return look()

    def _believing(self, look: Callable[[], T]) -> T:
        before, self._believes = self._believes, True
        try:
            return look()
        finally:
            self._believes = before

    def _is_quiet(self, before: Sequence[Mark]) -> bool:
        """Say whether nobody holds the lock, and all is still as it was before."""
        return not any(map(lock.is_held, self._lock_paths)) and self._marks() == before

    def _marks(self) -> list[Mark]:
        return [_mark(path) for path in self._paths]


def _mark(path: str) -> Mark:
    try:
        status = os.lstat(path)
    except OSError:
        return ()
    if path.endswith(".jsonl"):  # it grows with every tool call, which changes nothing else
        return (status.st_ino,)
    return status.st_ino, status.st_size, status.st_mtime_ns
