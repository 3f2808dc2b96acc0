"""The lock of a transcript, held by whoever rewrites it or adds to it.

    with transcript_lock(path, clock) as lock:
        ...
        lock.check()  # before each write

It keeps three kinds of writers apart. Another gitguard waits for `<transcript>.gitguard-lock`, a
lock of the library `filelock`, which the system releases when its holder dies. (The lock in
`store/disk/lock.py` is for hooks, which cannot afford to import a library.) A host that locks its
files waits for its own lock file. A transcript that another process has open for writing is left
alone.

Nothing here touches a program's signal handlers. One that a signal is to end in order raises an
exception at it, as Python does at SIGINT.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from filelock import FileLock

from gitguard.errors import InvalidDocument, Locked, NotWritable
from gitguard.model.codec import load_json
from gitguard.model.text import exact_timestamp, seconds
from gitguard.store.disk import files, processes
from gitguard.transcripts.entries import unreadable

TIMEOUT, HOLD, WATCH = 10.0, 300.0, 60.0
"""Seconds: to wait for another holder, to hold at most, and between two looks at that."""
_RETRY = 0.05
_AGAIN = "Try again when it is done, or end that process"
_LEFT_BEHIND = r"(\.lock|\.bak-\d+-\d+(-\d+)?)?(\.\d+\.tmp){1,2}"
"""What stands behind a transcript's name in those of our temporary files; others are the user's."""
_held: dict[tuple[int, int, str], TranscriptLock] = {}
"""By process and thread, since neither a fork nor another thread of ours holds what we do."""


@contextmanager
def transcript_lock(
    path: str,
    clock: Callable[[], float],
    *,
    timeout: float = TIMEOUT,
    hold: float = HOLD,
    watch: float = WATCH,
) -> Iterator[TranscriptLock]:
    """Hold a transcript's lock; inside a hold of the same thread, take part in that one.

    timeout is how many seconds to wait for another holder, hold how many to have it at most: past
    that, `check` refuses. Raises `Locked`, naming the holder, `InvalidDocument` where there is no
    such file, and `NotWritable`, also where the file's mode forbids its owner to write.
    """
    key = os.getpid(), threading.get_ident(), os.path.realpath(path)
    lock = _held.get(key)
    if lock is None:
        lock = TranscriptLock(key[2], clock, hold)
        lock.acquire(timeout)
        lock.watch(watch)
        _held[key] = lock
    lock.nested += 1
    try:
        yield lock
    finally:
        lock.nested -= 1
        if not lock.nested:
            _held.pop(key, None)
            lock.let_go()


def refuse_written(path: str) -> None:
    """Raise `Locked` where another process has a file open for writing."""
    writers = processes.writers_of(path).get(path, ())
    if writers:
        named = ", ".join(f"{pid} ({processes.name_of(pid) or 'unnamed'})" for pid in writers)
        raise Locked(
            f"`{path}` is open for writing in process {named}",
            "End that conversation or program first; nothing was changed",
        )


def _refuse_protected(path: str) -> None:
    """Raise `NotWritable` where a file's mode forbids its owner to write, as root as well.

    A rewritten file only takes the place of the old one, so that the system itself would not mind.
    """
    if not os.stat(path).st_mode & stat.S_IWUSR:
        raise NotWritable(
            f"`{path}` is write-protected; it was left as it is",
            f"Permit its owner to write: `chmod u+w {shlex.quote(path)}`",
        )


class TranscriptLock:
    """One hold of a transcript's lock; see `transcript_lock`."""

    def __init__(self, path: str, clock: Callable[[], float], hold: float) -> None:
        """Describe the hold; nothing is locked yet."""
        self.path = path
        self.nested = 0
        self.since = 0.0
        self._clock = clock
        self._hold = hold
        self._host = HostLock(path, clock)
        self._lock_path = f"{path}.gitguard-lock"
        self._file = _file_lock(self._lock_path, self._leave_name)
        self._guard = threading.RLock()
        self._ended = threading.Event()
        self._is_over = False

    def check(self) -> None:
        """Raise `Locked` where nothing may be written any more: call it before each write."""
        if self._is_over or self._is_overdue():
            self._is_over = True
            raise Locked(
                f"the lock of `{self.path}` was held for {self._age():.0f} s, of at most "
                f"{self._hold:.0f} s",
                "Nothing more was written; run the command again",
            )
        if self._ended.is_set():
            raise Locked(f"the lock of `{self.path}` was let go", "Nothing more was written")
        if not self._host.is_ours:
            raise Locked(
                f"`{self._host.path}` was taken away by {self._host.holder()}",
                "Nothing more was written; run the command again",
            )

    def acquire(self, timeout: float) -> None:
        """Lock the transcript against all three kinds of writers, or raise `Locked`."""
        import filelock

        if not os.path.isfile(self.path):
            raise unreadable(self.path, "there is no such file")
        _refuse_protected(self.path)
        deadline = time.monotonic() + timeout
        try:
            self._file.acquire(timeout=timeout)
        except filelock.Timeout as error:
            raise Locked(f"`{self.path}` is locked by {self._holder()}", _AGAIN) from error
        except OSError as error:
            raise files.refused(self._lock_path, error) from error
        try:
            self._take_from_host(deadline)
            refuse_written(self.path)
            self._sweep()
        except BaseException:
            self.let_go()
            raise

    def watch(self, interval: float) -> None:
        """Look at the hold from time to time, until it ends."""
        threading.Thread(target=self._watch, args=(interval,), daemon=True).start()

    def let_go(self) -> None:
        """Give the lock back; whoever still has it in hand can write no more."""
        with self._guard:
            if self._ended.is_set():
                return
            self._ended.set()
            try:
                self._host.give_back()
                files.remove(self._lock_path)  # those who wait for it see that, and make another
            finally:
                with suppress(OSError):  # then the system does, when we end; another file is made
                    self._file.release()

    def _watch(self, interval: float) -> None:
        # A write that began in time has one interval to end before somebody else may begin.
        while not self._ended.wait(interval):
            if self._is_over:
                self.let_go()
            self._is_over = self._is_overdue()

    def _is_overdue(self) -> bool:
        return self._age() > self._hold

    def _age(self) -> float:
        return self._clock() - self.since

    def _take_from_host(self, deadline: float) -> None:
        while not self._host.try_to_take():
            if time.monotonic() >= deadline:
                raise Locked(f"`{self.path}` is locked by {self._host.holder()}", _AGAIN)
            time.sleep(_RETRY)

    def _sweep(self) -> None:
        folder, name = os.path.split(self.path)
        is_ours = re.compile(re.escape(name) + _LEFT_BEHIND).fullmatch
        files.sweep(folder, self._clock(), is_ours=is_ours)

    def _leave_name(self, handle: int) -> None:
        self.since = self._clock()
        try:
            os.pwrite(handle, f"{os.getpid():<10} {self.since:<12.0f}\n".encode(), 0)
        except OSError:
            return  # a full disk: held all the same, only not by name

    def _holder(self) -> str:
        content = (files.read_bytes(self._lock_path, limit=200) or b"").decode("ascii", "replace")
        pid, _, since = content.partition(" ")
        since = since.strip()
        if not (pid.isdigit() and since.isdigit()):
            return "another process"
        return f"process {pid} for {max(self._clock() - int(since), 0):.0f} s"


def _file_lock(path: str, on_acquired: Callable[[int], None]) -> FileLock:
    """Return a lock that every thread of ours may let go, and that is never a mere marker file."""
    from filelock import FileLock

    return FileLock(
        path, mode=0o600, thread_local=False, fallback_to_soft=False, on_acquired=on_acquired
    )


# The lock file that OpenClaw keeps beside a transcript while it writes: `<transcript>.lock`


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
        content = files.read_bytes(self.path, limit=_LIMIT)
        if content is not None:
            if not self._is_left_over(content):
                return False
            if files.read_bytes(self.path, limit=_LIMIT) == content:
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
