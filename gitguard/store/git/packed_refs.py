"""The lock on packed refs: whose it is, and when it may be cleared."""

from __future__ import annotations

import os
from contextlib import contextmanager

from gitguard.errors import OtherUser
from gitguard.store.disk import files, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.store.git.place import Place

REF_LOCK_AGE = 60
"""Seconds after which a ref's lock that did not change was left by a dead process."""
_REMOVING = ".removing"
"""How the mark is called that a process leaves while it removes a ref."""


class PackedRefs:
    """The lock on packed refs, which git takes to remove any ref and a killed git leaves behind.

    As long as it is there, nobody removes a ref in the repository or packs its refs. It may be the
    user's own git that holds it; so it is cleared only where we were removing a ref ourselves when
    it was made, it is old, and no git is at work there any more.
    """

    def __init__(self, place: Place, clock: Callable[[], float]) -> None:
        """Describe the lock; nothing is looked at yet."""
        self.lock = os.path.join(place.common_dir, "packed-refs.lock")
        self._folder = os.path.join(place.common_dir, "gitguard")
        self._place = place
        self._clock = clock

    @contextmanager
    def deleting(self) -> Iterator[None]:
        """Leave a mark while we remove a ref, so that a lock that stays is known to be ours."""
        self.clear()
        mark = os.path.join(self._folder, f"{os.getpid()}{_REMOVING}")
        try:
            files.make_folder(self._folder)
            if not os.path.lexists(mark):  # an older one says whose a lock is that is still there
                files.write_bytes(mark, b"")
        except OtherUser:
            mark = ""  # where users share a repository; a lock that stays is nobody's then
        # Without `finally`: where the removal fails or we die, the mark has to stay.
        yield
        if mark and not os.path.lexists(self.lock):
            files.remove(mark)

    def clear(self) -> None:
        """Clear the lock if a git of ours has left it, and the marks of those that are dead."""
        locked_at = files.changed_at(self.lock)
        if not locked_at:
            files.sweep(self._folder, self._clock(), ends=_REMOVING)
            return
        marks = [name for name in files.names_in(self._folder) if name.endswith(_REMOVING)]
        # A mark older than the lock: the lock was taken while one of ours was removing a ref.
        is_ours = any(
            files.changed_at(os.path.join(self._folder, name)) <= locked_at for name in marks
        )
        folders = (self._place.worktree, self._place.git_dir, self._place.common_dir)
        is_old = self._clock() - locked_at > REF_LOCK_AGE
        if is_ours and is_old and not processes.may_work_in("git", folders):
            files.remove(self.lock)
