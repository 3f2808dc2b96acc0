"""Objects, written durable.

Git and the libraries for it keep an object that is there already: one that a power cut left empty
under its final name would stay broken for ever. So every object is written aside, synced, and put
in place over whatever is there.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from gitguard.store.git.plumbing import Plumbing

_PREFIX = "gitguard-new-"
"""Not `tmp_`, which somebody's `git prune` takes while we write."""
_MANY, _AT_ONCE = 12, 4
"""Objects from which on several are synced at the same time, and how many that are."""


_LITTLE = 1 << 17
"""Bytes: from there on OpenSSL, which is ten times as fast, is worth its loading."""
_digested = [0]
"""How many bytes this process has digested."""


def id_of(kind: str, data: bytes, id_length: int) -> str:
    """Return the id of an object; id_length is 40 in a SHA-1 repository, 64 in a SHA-256 one."""
    return digest(id_length, b"%s %d\0" % (kind.encode(), len(data)), data)


def digest(id_length: int, *parts: bytes) -> str:
    """Return the digest of all parts, one after the other, by which git names and checks."""
    _digested[0] += sum(map(len, parts))
    try:
        if id_length != 40 or _digested[0] > _LITTLE:
            raise ImportError
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1, sha256

        new = sha1() if id_length == 40 else sha256()
    else:
        new = sha1()
    for part in parts:
        new.update(part)
    return str(new.hexdigest())


class ObjectsGone(GitFailed):
    """Somebody removed objects while we wrote them; writing them again may work."""


class LooseObjects:
    """Writes loose objects aside, then makes all of them durable and gives them their names.

    Their names become durable with the ref that leads to them: its folder is synced after it moved,
    and a journaling file system keeps that order.
    """

    def __init__(self, common_dir: str, clock: Callable[[], float]) -> None:
        """Write for a repository."""
        self._objects = os.path.join(common_dir, "objects")
        self._aside: dict[str, str] = {}
        files.sweep(self._objects, clock(), begins=_PREFIX, ends="")

    def __enter__(self) -> Self:
        return self

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of a kind aside; return its id."""
        import zlib

        header = b"%s %d\0" % (kind.encode(), len(data))
        # Checkpoints are small, and git packs them anew anyway: speed counts, not size.
        name = digest(40, header, data)
        content = zlib.compress(header + data, zlib.Z_BEST_SPEED)
        aside = os.path.join(self._objects, f"{_PREFIX}{os.getpid()}-{name}")
        # A dead process may have had our number. Noted before it is made, so that whatever fails
        # from here on is cleaned up.
        files.remove(aside)
        self._aside[name] = aside
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW, 0o444)
        try:
            files.write_all(handle, content)
            os.fchmod(handle, 0o444)
        finally:
            os.close(handle)
        return name

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if kind is None:
                unsynced = list(self._aside.values())
                if len(unsynced) < _MANY:
                    for aside in unsynced:
                        files.sync_file(aside)
                else:
                    _sync_at_once(unsynced)
                # Only now do objects get their names, in the order in which they were written:
                # blobs, tree, commit. So no object ever names one that is not there yet.
                for name, aside in self._aside.items():
                    folder = os.path.join(self._objects, name[:2])
                    self._make_fanout(folder)
                    os.replace(aside, os.path.join(folder, name[2:]))
        except FileNotFoundError as failure:
            raise ObjectsGone(f"somebody cleaned `{self._objects}` while we wrote") from failure
        except OSError as failure:
            raise files.refused(self._objects, failure) from failure
        finally:
            for aside in self._aside.values():
                files.remove(aside)
        if isinstance(error, OSError):
            raise files.refused(self._objects, error) from error

    def _make_fanout(self, folder: str) -> None:
        # In a shared repository the others write there too; their permissions are the parent's.
        try:
            os.mkdir(folder)
        except FileExistsError:
            files.refuse_link(folder)
            return
        # `mkdir` applied the umask of one user; the folder is for all who share the repository.
        os.chmod(folder, os.stat(self._objects).st_mode & 0o7777)


def _sync_at_once(paths: Sequence[str]) -> None:
    """Make the contents of files durable, several at a time, which shares the disk's work.

    Raises what `files.sync_file` raises for one of them.
    """
    from threading import Thread  # not the pool of `concurrent.futures`: its import takes 10 ms

    failures: list[Exception] = []

    def sync(part: Sequence[str]) -> None:
        for path in part:
            try:
                files.sync_file(path)
            # Whatever it is: in a thread nobody would hear of it. There is no second try, which
            # might succeed, because a system tells only once that bytes are lost.
            except Exception as error:
                failures.append(error)

    threads = []
    for number in range(1, _AT_ONCE):
        part = paths[number::_AT_ONCE]
        thread = Thread(target=sync, args=(part,))
        try:
            thread.start()
        except RuntimeError:  # the system has no room for more
            sync(part)
        else:
            threads.append(thread)
    sync(paths[::_AT_ONCE])
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class GitObjects:
    """Writes objects with git itself, for SHA-256, which `LooseObjects` does not know."""

    def __init__(self, git: Plumbing) -> None:
        """Write through git."""
        self._git = git

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of a kind; return its id."""
        return (
            self._git.run("hash-object", "-w", "-t", kind, "--stdin", stdin=data).decode().strip()
        )
