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
_QUOTED = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def patch_of(path: str, before: Version, after: Version, old: bytes, new: bytes) -> Iterator[str]:
    """Yield the lines of one file's patch; of binary and large files only that they differ."""
    if before.mode and after.mode and before.mode & _KIND != after.mode & _KIND:
        # A file that becomes a link, or a link a file, is one that goes and one that comes.
        yield from patch_of(path, before, Version(), old, b"")
        yield from patch_of(path, Version(), after, b"", new)
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
    names = one if before.mode else "/dev/null", other if after.mode else "/dev/null"
    if b"\0" in old + new or len(old) + len(new) > _LONGEST:
        yield f"Binary files {names[0]} and {names[1]} differ\n"
        return
    for line in unified_diff(_lines(old), _lines(new), *names):
        # Git says where a last line has no end.
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


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
