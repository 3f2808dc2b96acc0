"""Images that are too large for a request of many, told by their own headers.

A model takes one of up to 8,000 pixels a side. Where a request holds more than 20 images it refuses
one above 2,000 pixels, and with it every later request of the conversation.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from collections.abc import Iterator
from typing import Any

from gitguard.model.value import Value

LARGEST_SIDE = 2_000
"""Pixels that a side has at most in a request of many images."""
MARK = b'"image"'
"""What a line holds that has an image."""
_HEAD, _MOST = 1 << 8, 1 << 20
"""Bytes in which most formats name their size, and those that are looked through of a JPEG."""
_FRAMES = frozenset(
    (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0))
)
"""The markers of JPEG behind which a picture's size stands."""


class LargeImage(Value):
    """An image above the largest side."""

    at: int
    """Where its entry begins."""
    path: tuple[str | int, ...]
    """Where it stands in the entry: names of members and places in lists."""
    width: int
    height: int

    @property
    def replacement(self) -> dict[str, str]:
        """The block of text that can stand in its place."""
        size = f"{self.width:,} x {self.height:,}"
        return {"type": "text", "text": f"[gitguard: an image of {size} pixels stood here]"}


def large_images(at: int, document: dict[str, Any]) -> Iterator[LargeImage]:
    """Yield the images in an entry that are too large, results' included."""
    message = document.get("message")
    holder, path = (message, ("message",)) if isinstance(message, dict) else (document, ())
    for place, block in _images(holder.get("content"), (*path, "content")):
        size = size_of(_data(block))
        if max(size) > LARGEST_SIDE:
            yield LargeImage(at, place, *size)


def _images(
    content: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    for place, block in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "image":
            yield (*path, place), block
        elif block.get("type") == "tool_result":
            yield from _images(block.get("content"), (*path, place, "content"))


def _data(block: dict[str, Any]) -> str:
    """Return the base64 of an image, as Claude's interface or pi names it."""
    source = block.get("source")
    data = source.get("data") if isinstance(source, dict) else block.get("data")
    return data if isinstance(data, str) else ""


def replaced_at(document: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a document with another value at a place inside it."""
    if not path:
        return value
    first, *others = path
    changed: Any = dict(document) if isinstance(document, dict) else list(document)
    changed[first] = replaced_at(changed[first], tuple(others), value)
    return changed


# Sizes


def size_of(base64: str) -> tuple[int, int]:
    """Return the width and height that an image's header names, 0 and 0 where it names none.

    Reads PNG, JPEG, GIF and WebP.
    """
    head = _decoded(base64, _HEAD)
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        return _number(head[16:20]), _number(head[20:24])
    if head[:6] in (b"GIF87a", b"GIF89a"):
        return _little(head[6:8]), _little(head[8:10])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _size_of_webp(head)
    return _size_of_jpeg(_decoded(base64, _MOST)) if head.startswith(b"\xff\xd8") else (0, 0)


def _decoded(base64: str, most: int) -> bytes:
    _, _, data = base64[:64].rpartition(",")  # a data URL begins with its type
    data += base64[64 : most * 4 // 3]
    try:
        return a2b_base64(data[: len(data) // 4 * 4])
    except (Error, ValueError):
        return b""


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _size_of_webp(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head[24:27]) + 1, _little(head[27:30]) + 1
    if kind == b"VP8L":
        bits = _little(head[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
    return 0, 0


def _size_of_jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return 0, 0
        marker = data[at + 1]
        if marker in _FRAMES:
            return _number(data[at + 7 : at + 9]), _number(data[at + 5 : at + 7])
        if marker == 0xFF or marker == 0x01 or 0xD0 <= marker <= 0xD8:
            at += 1 if marker == 0xFF else 2  # fill bytes, and markers without a length
        else:
            at += 2 + _number(data[at + 2 : at + 4])
    return 0, 0
