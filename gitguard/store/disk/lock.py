"""The lock of a session: held by a process, released by the system when that process dies.

Every git that it starts in the meantime holds it too. One that is about to move a ref can outlive
us, and must not do so behind the back of whoever comes next.

A lock library would do, but the smallest one takes three times as long to import as the calm hook
may take altogether.
"""

from __future__ import annotations

import os
import time
from _thread import get_ident

from gitguard.errors import GitguardError, Locked
from gitguard.store.disk import files
from gitguard.store.disk.folders import At

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

try:
    import fcntl
except ImportError:  # Windows: untested, `gitguard status` says so
    fcntl = None  # type: ignore[assignment]

_RETRY = 0.01
"""Seconds between two tries; `flock` itself can wait, but not with a time limit."""
_held: dict[int, tuple[str, int]] = {}
"""The handles of this process's locks: of which file, and held by which thread."""


def held() -> tuple[int, ...]:
    """Return the handles of this process's locks, for the processes that it starts."""
    return tuple(_held)


def is_ours(path: str) -> bool:
    """Say whether this thread holds the lock of a file."""
    return (path, get_ident()) in _held.values()


def is_held(path: str) -> bool:
    """Say whether anybody holds the lock of a file, which is not made for that."""
    try:
        handle = os.open(path, os.O_RDONLY | files.NO_FOLLOW)
    except OSError:
        return False
    try:
        if fcntl is not None:
            # Shared, so that two who only ask do not take each other for holders.
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


class Lock:
    """A context manager around `flock`."""

    def __init__(
        self,
        path: str,
        *,
        timeout: float,
        clock: Callable[[], float],
        at_step: Callable[[str], object] = str,
        is_shared: bool = False,
    ) -> None:
        """Lock the file at path, waiting at most timeout seconds for another holder.

        at_step is called once with `lock-awaited` where there is one. Many may hold a lock that is
        shared, and nobody holds it alone at the same time.
        """
        self.path = path
        self._is_shared = is_shared
        self._at_step = at_step
        self._clock = clock
        self._timeout = timeout
        self._handle = -1
        self._is_first = False

    def __enter__(self) -> Self:
        files.refuse_link(os.path.dirname(self.path))
        deadline = time.monotonic() + self._timeout
        is_awaited = False
        while True:
            # Opened anew in each round: the holder may remove the file when it is done, and a lock
            # on a file without a name excludes nobody.
            handle = self._open()
            if self._holds(handle):
                break
            os.close(handle)
            if not is_awaited:
                is_awaited = True
                self._at_step("lock-awaited")
            if time.monotonic() >= deadline:
                raise Locked(f"`{self.path}` is held by {self._holder()}", "Try again in a moment")
            time.sleep(_RETRY)
        self._handle = handle
        if fcntl is not None:
            _held[handle] = self.path, get_ident()
        if os.fstat(handle).st_nlink > 1:
            return self  # also a file of somebody else's, which stays as it is
        # What others hold as well is not ours to remove.
        self._is_first = os.fstat(handle).st_size == 0 and not self._is_shared
        try:  # noqa: SIM105 - contextlib costs more to import than the whole lock
            # Of a fixed width, so that no rest of a longer line before it stays.
            os.pwrite(handle, f"{os.getpid():<10} {self._clock():<12.0f}\n".encode(), 0)
        except OSError:
            pass  # a full disk or a read-only lock file: held all the same, only not by name
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Before the lock is released: a child started after this line must not inherit it.
        _held.pop(self._handle, None)
        if self._is_first and isinstance(error, GitguardError):
            # Nothing came of it, as with a session's name that is mistyped. Who waits for this
            # file sees that it is not the one at its path any more, and makes another.
            files.remove(self.path)
        try:
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_UN)  # also for those who have it from us
        except OSError:
            pass  # then it is released when they end
        finally:
            os.close(self._handle)

    def _open(self) -> int:
        try:
            with At(self.path) as at:
                flags = os.O_RDWR | os.O_CREAT | files.NO_FOLLOW
                return os.open(at.name, flags, 0o600, dir_fd=at.folder)
        except FileNotFoundError:
            files.make_folder(os.path.dirname(self.path))
            return self._open()
        except OSError as error:
            return self._open_to_read(error)

    def _open_to_read(self, refusal: OSError) -> int:
        # A sandbox sees the lock file on a read-only mount; a lock can be held on it even there.
        try:
            with At(self.path) as at:
                return os.open(at.name, os.O_RDONLY | files.NO_FOLLOW, dir_fd=at.folder)
        except OSError:
            raise files.refused(self.path, refusal) from refusal

    def _holds(self, handle: int) -> bool:
        """Try to lock an open file; say whether it is locked, and still the one at the path."""
        try:
            if fcntl is not None:
                kind = fcntl.LOCK_SH if self._is_shared else fcntl.LOCK_EX
                fcntl.flock(handle, kind | fcntl.LOCK_NB)
            # The last holder's folder may have been removed while we waited for its lock.
            with At(self.path) as at:
                at_path = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
        except (BlockingIOError, FileNotFoundError):
            return False
        except OSError as error:
            os.close(handle)
            raise files.refused(self.path, error) from error
        return os.path.samestat(at_path, os.fstat(handle))

    def _holder(self) -> str:
        data = files.read_bytes(self.path, limit=200) or b""
        pid, _, since = data.decode("ascii", "replace").partition(" ")
        since = since.strip()
        if not (pid.isdigit() and since.isdigit()):
            return "another process"
        return f"process {pid} for {max(self._clock() - int(since), 0):.0f} s"
