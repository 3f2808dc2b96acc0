"""What a snapshot says of itself: what it was taken of, and what is not in it and why."""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model import fields
from gitguard.model.codec import decode_json, dump_json
from gitguard.model.record import Record
from gitguard.model.value import Value

FORMAT = 1
REPOSITORY = "a repository of its own"
"""Why a folder is left out that has a git directory."""
_ESCAPED = range(0xDC80, 0xDD00)
"""How Python spells bytes of a name that are no UTF-8."""


class Authors(Value):
    """Which files changed by whose hand since the snapshot before."""

    shell: frozenset[str] = frozenset()
    """Those that changed while a shell command of the agent ran."""
    restore: frozenset[str] = frozenset()
    """Those that a restore of files put back."""


NOBODY = Authors()


class SkippedFile(Record):
    """A path whose content is not in the snapshot."""

    path: str = fields.text("From the worktree's root; bytes that are no UTF-8, and `%`, as `%XX`.")
    reason: str = fields.text("Why.")


class Manifest(Record):
    """What a snapshot of files was taken of, and what is not in it."""

    commit: str = fields.text("The code commit that was checked out; empty before the first.")
    removed: tuple[str, ...] = fields.texts(
        "Paths that the commit has, and at which nothing lay.", default=()
    )
    skipped: tuple[SkippedFile, ...] = fields.records(
        "Files that changed and are not in it.", of=SkippedFile, default=()
    )
    raw: tuple[str, ...] = fields.texts(
        "Paths of links, and of files that git would have filtered or converted; these have the "
        "bytes as they lay there.",
        default=(),
    )
    unseen: tuple[str, ...] = fields.texts("What was not looked at, in words.", default=())
    ignore_rules: str = fields.text(
        "A digest of the ignore rules outside of the worktree; empty where it is not known.",
        default="",
    )
    by_shell: tuple[str, ...] = fields.texts(
        "Paths that changed since the session's snapshot before while a shell command of the agent "
        "ran, also those that are gone.",
        default=(),
    )
    by_restore: tuple[str, ...] = fields.texts(
        "Paths that a restore of files put back since then.", default=()
    )

    @property
    def skipped_paths(self) -> frozenset[str]:
        """The paths that it says nothing about."""
        return frozenset(unescaped(file.path) for file in self.skipped)

    @property
    def raw_paths(self) -> frozenset[str]:
        """The paths whose content is to be written as it is."""
        return frozenset(map(unescaped, self.raw))

    @property
    def removed_paths(self) -> frozenset[str]:
        """The paths at which nothing lay."""
        return frozenset(map(unescaped, self.removed))

    @property
    def names(self) -> frozenset[str]:
        """All paths that stand in it, as they are escaped."""
        skipped = (file.path for file in self.skipped)
        return frozenset((*self.removed, *skipped, *self.raw, *self.by_shell, *self.by_restore))

    @property
    def authors(self) -> Authors:
        """Who changed files, as far as no tool of the agent did."""
        shell, restore = frozenset(map(unescaped, self.by_shell)), map(unescaped, self.by_restore)
        return Authors(shell, frozenset(restore))


def dump_manifest(manifest: Manifest) -> bytes:
    """Write a manifest."""
    return dump_json({"format": FORMAT, **manifest.to_document()})


def read_manifest(data: bytes) -> Manifest:
    """Read a manifest; raise `InvalidDocument` for one that is none."""
    try:
        document = decode_json(data.decode())
        if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
            raise ValueError("it has another format")
        document.pop("seal", None)
        return Manifest.from_document(document)
    except (ValueError, InvalidInput) as error:
        raise InvalidDocument(f"the snapshot's manifest cannot be read: {error}") from error


def escaped(path: str) -> str:
    """Return a path as text that any program reads: `%` and bytes that are no UTF-8 as `%XX`."""
    return "".join(
        f"%{ord(c) - 0xDC00:02X}" if ord(c) in _ESCAPED else "%25" if c == "%" else c for c in path
    )


def unescaped(text: str) -> str:
    """Return the path that `escaped` wrote."""
    first, *others = text.split("%")
    parts = [first]
    for other in others:
        number = int(other[:2], 16)
        parts.append((chr(number) if number < 0x80 else chr(number + 0xDC00)) + other[2:])
    return "".join(parts)
