"""The record of a restore: what each file was and is to be, to finish it or to undo it."""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model import fields
from gitguard.model.codec import decode_json, dump_json
from gitguard.model.record import Record
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 1
_LIMIT = 64 << 20


class Version(Record):
    """What lies, or is to lie, at a path."""

    mode: int = fields.count("As git has modes; 0 for nothing.", default=0)
    id: str = fields.text("Of the bytes as they lie there, as git names a blob.", default="")
    source: str = fields.text(
        "Where the bytes are kept: `blob:` and an id, `converted:` and the id of what git "
        "converts, or `aside:` and a path from the folder of all records.",
        default="",
    )

    permissions: int = fields.count(
        "Of a file, as the system had them; 0 where only the mode counts.", default=0, sparse=True
    )

    @property
    def is_unread(self) -> bool:
        """Whether something lies there whose content is not known."""
        return self.mode != 0 and not self.id

    def is_unlike(self, other: Version) -> bool:
        """Say whether another content or mode lies there."""
        return (self.mode, self.id) != (other.mode, other.id)


class FileRecord(Record):
    """One file of a restore."""

    path: str = fields.text("From the worktree's root; bytes that are no UTF-8, and `%`, as `%XX`.")
    before: Version = fields.record("What it was.", of=Version)
    after: Version = fields.record("What it is to be.", of=Version)


class RestoreRecord(Record):
    """One restore."""

    at: str = fields.time("When it began.")
    source: str = fields.text("What was restored: a checkpoint's name, or the time of a restore.")
    snapshot: str = fields.text("The snapshot that keeps what was there before, by its id.")
    git_dir: str = fields.text("The worktree's git directory, in which it was begun.")
    suffix: str = fields.text("The end of the names of unfinished files, which nobody else uses.")
    is_done: bool = fields.flag("Whether every file was put in place.", default=False)
    files: tuple[FileRecord, ...] = fields.records("The files.", of=FileRecord, default=())


def read_record(path: str) -> RestoreRecord | None:
    """Read a record, None where there is none; raise `InvalidDocument` for one that is damaged."""
    data = files.read_bytes(path, limit=_LIMIT)
    if data is None:
        return None
    try:
        document = decode_json(data.decode())
        if not isinstance(document, dict) or document.pop("format", None) != FORMAT:
            raise ValueError("it has another format")
        return RestoreRecord.from_document(document)
    except (ValueError, InvalidInput) as error:
        raise InvalidDocument(
            f"the record of a restore at `{path}` cannot be read: {error}"
        ) from error


def write_record(path: str, record: RestoreRecord) -> None:
    """Write a record, durable."""
    files.write_bytes(path, dump_json({"format": FORMAT, **record.to_document()}))


# What a restore is to change: one file, and why it may stay as it is


BY_OTHERS = "somebody else changed it"
"""How a refusal begins that a person may overrule."""


class PlannedFile(Value):
    """A file that is not what a snapshot has."""

    path: str
    action: str
    """added, changed or removed."""
    before: Version
    """What lies there now."""
    after: Version
    """What the snapshot has."""
    refusal: str = ""
    """Why it stays as it is; empty where it is put back."""
    is_committed: bool = True
    """Whether the checked-out commit has it."""
    is_unchanged: bool = False
    """Whether git takes it for unchanged, also where it lies nowhere."""


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Say whether a path is one of some files or lies in one of some folders; all do in none."""
    names = [folder.rstrip("/") for folder in folders]
    return not names or any(path == name or path.startswith(f"{name}/") for name in names)
