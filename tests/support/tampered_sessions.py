"""Histories that somebody else wrote or changed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from gitguard.errors import NewerFormat, Tampered
from tests.conftest import Git

BRANCH = "refs/heads/gitguard/main"
OURS = {"commit": "", "tree": "^{tree}", "state": ":state.json", "snapshot": ":snapshot.yaml"}


def file_of(root: Path, object_id: str) -> Path:
    return root / ".git" / "objects" / object_id[:2] / object_id[2:]


def overwrite(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


def content_of(data: bytes) -> bytes | None:
    """Return what the bytes of a loose object inflate to; None if they do not."""
    try:
        return zlib.decompress(data)
    except zlib.error:
        return None


def flip(path: Path) -> None:
    """Flip a bit near the middle.

    Some flips change nothing: a repetition is then copied from another place that holds the same
    text. The first flip is used that changes the content.
    """
    whole = path.read_bytes()
    for at in range(len(whole) // 2, len(whole)):
        flipped = whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]
        if content_of(flipped) != content_of(whole):
            overwrite(path, flipped)
            return
    raise AssertionError(f"no flip of a bit changes the content of {path}")


def exchange(path: Path) -> None:
    """Put another content of the same length under the same name."""
    head, _, data = zlib.decompress(path.read_bytes()).partition(b"\0")
    changed = data.replace(b"Goal", b"Evil")
    if changed == data:
        changed = data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]
    overwrite(path, zlib.compress(head + b"\0" + changed))


EDITS: dict[str, Callable[[Path], None]] = {
    "emptied": lambda path: overwrite(path, b""),
    "truncated": lambda path: overwrite(path, path.read_bytes()[:-8]),
    "flipped": flip,
    "exchanged": exchange,
    "deleted": lambda path: path.unlink(),
}


def rewritten(git: Git, commit: str, change: Callable[[str], str]) -> str:
    """Write a commit again with a change, and all its descendants on the branch on top."""
    old = forged = ""
    for new in git("rev-list", "--reverse", f"{commit}~1..{BRANCH}").split():
        body = git("cat-file", "commit", new) + "\n"
        body = body.replace(f"parent {old}\n", f"parent {forged}\n") if old else change(body)
        old = new
        forged = git("hash-object", "-t", "commit", "-w", "--stdin", stdin=body)
    return forged


def trailer(name: str, value: str) -> Callable[[str], str]:
    def change(body: str) -> str:
        lines = body.split("\n")
        wanted = f"Gitguard-{name}: "
        return "\n".join(wanted + value if line.startswith(wanted) else line for line in lines)

    return change


def with_second_parent(body: str) -> str:
    return body.replace("\nauthor ", f"\nparent {'1' * 40}\nauthor ", 1)


def without_parent(body: str) -> str:
    return "\n".join(line for line in body.split("\n") if not line.startswith("parent "))


UNFIT = {
    "a gap in the numbers": (trailer("Sequence", "77"), Tampered, "where number"),
    "another session": (trailer("Session", "other"), Tampered, "belongs to the session `other`"),
    "two parents": (with_second_parent, Tampered, "has 2 parents"),
    "a cut root": (without_parent, Tampered, "what came before is cut off"),
    "no checkpoint": (lambda body: body.replace("Gitguard-", "Other-"), Tampered, "no trailer"),
    "an old format": (trailer("Format", "0"), Tampered, "the format `0`"),
    "a newer format": (trailer("Format", "2"), NewerFormat, "has format 2"),
}
