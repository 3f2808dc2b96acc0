"""Objects, loose and in packs, written durable.

Git and the libraries for it keep an object that is there already: one that a power cut left empty
under its final name would stay broken for ever. So every object is written aside, synced, and put
in place over whatever is there.

A pack, and its index, is version 2, as git's `gitformat-pack` manual has it. Nothing in it is
compressed, because git does that when it packs the objects again, and a file of many objects costs
one sync.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed, InvalidDocument
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


_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_PACK = b"PACK\0\0\0\2"
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT = 256
_FAR = 1 << 31
"""The first offset that does not fit among the others."""


class Pack:
    """The objects of one pack, each once, in memory."""

    def __init__(self, id_length: int) -> None:
        """Begin a pack without objects; id_length is that of the repository's ids, 40 or 64."""
        self._id_length = id_length
        self._parts: list[bytes] = []
        self._rows: dict[str, tuple[int, int]] = {}
        """By id: the checksum of an object's part, and where the part begins."""
        self.size = len(_PACK) + 4
        """Bytes of the pack so far, without its own checksum."""

    def __len__(self) -> int:
        return len(self._rows)

    def write(self, kind: str, data: bytes) -> str:
        """Add an object of a kind, unless it is in the pack already; return its id."""
        import zlib

        object_id = id_of(kind, data, self._id_length)
        if object_id not in self._rows:
            part = _header(_KINDS[kind], len(data)) + zlib.compress(data, 0)
            self._rows[object_id] = (zlib.crc32(part), self.size)
            self._parts.append(part)
            self.size += len(part)
        return object_id

    def contents(self) -> tuple[bytes, bytes]:
        """Return the bytes of the pack and of its index."""
        head = _PACK + len(self._rows).to_bytes(4, "big")
        body = b"".join((head, *self._parts))
        checksum = bytes.fromhex(digest(self._id_length, body))
        return body + checksum, self._index(checksum)

    def _index(self, pack_checksum: bytes) -> bytes:
        ids = sorted(self._rows)
        counts = [0] * _FANOUT
        for object_id in ids:
            counts[int(object_id[:2], 16)] += 1
        fanout, total = [], 0
        for count in counts:
            total += count
            fanout.append(total)
        near: list[int] = []
        far: list[int] = []
        for object_id in ids:
            offset = self._rows[object_id][1]
            near.append(offset if offset < _FAR else _FAR + len(far))
            far += [offset] if offset >= _FAR else []
        body = b"".join(
            (
                _INDEX,
                _numbers(fanout),
                b"".join(map(bytes.fromhex, ids)),
                _numbers([self._rows[object_id][0] for object_id in ids]),
                _numbers(near),
                b"".join(offset.to_bytes(8, "big") for offset in far),
                pack_checksum,
            )
        )
        return body + bytes.fromhex(digest(self._id_length, body))


def is_index(data: bytes, id_length: int) -> bool:
    """Say whether bytes are a whole index of a pack, by the checksum that ends it."""
    return data.startswith(_INDEX) and _ends_with_checksum(data, id_length)


def is_pack(data: bytes, id_length: int) -> bool:
    """Say whether bytes are a whole pack, by the checksum that ends it."""
    return data.startswith(_PACK) and _ends_with_checksum(data, id_length)


def only_blob(pack: bytes, blob: str) -> bytes:
    """Return the one blob that a pack of ours holds; raise `InvalidDocument` if it is not there."""
    import zlib

    start = len(_PACK) + 4
    while start < len(pack) and pack[start] & 0x80:
        start += 1  # of the object's header, whose last byte is the first without this bit
    try:
        data = zlib.decompressobj().decompress(pack[start + 1 :], len(pack))
    except zlib.error as error:
        raise InvalidDocument(f"the pack of {blob} is damaged: {error}") from error
    if id_of("blob", data, len(blob)) != blob:
        raise InvalidDocument(f"the pack of {blob} holds something else")
    return data


def _ends_with_checksum(data: bytes, id_length: int) -> bool:
    width = id_length // 2
    return data[-width:].hex() == digest(id_length, data[:-width])


def _numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers of four bytes, the highest byte first."""
    from struct import pack

    return pack(f">{len(numbers)}I", *numbers)


def _header(kind: int, size: int) -> bytes:
    """Return how an object begins: its kind, and its size in groups of bits, the lowest first."""
    byte, size = kind << 4 | size & 15, size >> 4
    header = bytearray()
    while size:
        header.append(byte | 0x80)
        byte, size = size & 0x7F, size >> 7
    header.append(byte)
    return bytes(header)
