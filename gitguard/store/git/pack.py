"""Packs that are written in process: a pack and its index, version 2 each, as git reads them.

Nothing is compressed, because git does that when it packs the objects again, and a file of many
objects costs one sync. The formats are in git's `gitformat-pack` manual.
"""

from __future__ import annotations

from struct import pack

from gitguard.store.git.objects import digest, id_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
        checksum = self._digest(body)
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
        return body + self._digest(body)

    def _digest(self, data: bytes) -> bytes:
        return bytes.fromhex(digest(self._id_length, data))


def is_index(data: bytes, id_length: int) -> bool:
    """Say whether bytes are a whole index of a pack, by the checksum that ends it."""
    return data.startswith(_INDEX) and _ends_with_checksum(data, id_length)


def is_pack(data: bytes, id_length: int) -> bool:
    """Say whether bytes are a whole pack, by the checksum that ends it."""
    return data.startswith(_PACK) and _ends_with_checksum(data, id_length)


def _ends_with_checksum(data: bytes, id_length: int) -> bool:
    width = id_length // 2
    return data[-width:].hex() == digest(id_length, data[:-width])


def _numbers(numbers: Sequence[int]) -> bytes:
    """Return numbers of four bytes, the highest byte first."""
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
