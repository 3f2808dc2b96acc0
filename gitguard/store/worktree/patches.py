"""What a restore would change, as a patch that `git apply` reads."""

from __future__ import annotations

from difflib import unified_diff

from gitguard.store.worktree.restore_record import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_KIND = 0o170000
"""The part of a mode that tells a file from a link."""
_LONGEST = 1 << 20
"""Bytes of a file that is compared line by line."""
_IN_A_LINE = 52
"""Bytes of a binary content that a line of a patch holds."""
_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""By which letter a line begins that holds one byte, two bytes and so on."""
_QUOTED = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def patch_of(path: str, before: Version, after: Version, old: bytes, new: bytes) -> Iterator[str]:
    """Yield the lines of one file's patch; binary and large files are in it whole."""
    if before.mode and after.mode and before.mode & _KIND != after.mode & _KIND:
        # A file that becomes a link, or a link a file, is one that goes and one that comes.
        yield from patch_of(path, before, Version(), old=old, new=b"")
        yield from patch_of(path, Version(), after, old=b"", new=new)
        return
    one, other = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    yield f"diff --git {one} {other}\n"
    if not before.mode:
        yield f"new file mode {after.mode:o}\n"
    elif not after.mode:
        yield f"deleted file mode {before.mode:o}\n"
    elif before.mode != after.mode:
        yield f"old mode {before.mode:o}\nnew mode {after.mode:o}\n"
    if old == new:
        return
    if b"\0" in old + new or len(old) + len(new) > _LONGEST:
        # Git takes a binary patch only with the ids of both sides.
        none = "0" * max(len(before.id), len(after.id))
        yield f"index {before.id or none}..{after.id or none}\n"
        yield "GIT binary patch\n"
        yield from _literal(new)
        yield from _literal(old)
        return
    names = one if before.mode else "/dev/null", other if after.mode else "/dev/null"
    for line in unified_diff(_lines(old), _lines(new), *names):
        # Git says where a last line has no end.
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _literal(data: bytes) -> Iterator[str]:
    """Yield a content as a binary patch has it: deflated, 52 bytes in a line, in base 85."""
    import zlib
    from base64 import b85encode

    yield f"literal {len(data)}\n"
    deflated = zlib.compress(data)
    for start in range(0, len(deflated), _IN_A_LINE):
        part = deflated[start : start + _IN_A_LINE]
        yield f"{_LENGTHS[len(part) - 1]}{b85encode(part, pad=True).decode()}\n"
    yield "\n"


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [t for t in text.split("\n")[-1:] if t]


def _quoted(path: str) -> str:
    if not any(c in _QUOTED or not c.isprintable() for c in path):
        return path
    parts = []
    for c in path:
        byte = c.encode("utf-8", "surrogateescape")
        plain = c.isprintable() and c not in _QUOTED
        parts.append(c if plain else _QUOTED.get(c) or "".join(f"\\{b:03o}" for b in byte))
    return f'"{"".join(parts)}"'
