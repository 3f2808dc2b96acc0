"""What an installation changed, kept outside the repository so that it can be given back.

The bytes that stood in a file before may hold a user's secrets, and a status line is a command that
will be run: both belong where no repository can reach, in the user's state directory.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode

from gitguard.errors import InvalidDocument
from gitguard.hosts.base import HostSetting
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    Kept = TypeVar("Kept")

FORMAT = 1
_LIMIT = 32 << 20


class EditedFile(Value):
    """A file we edited: what it was, and what we made of it."""

    original: bytes | None
    """None where there was no file."""
    written: bytes
    format: str
    """`hosts.base.WHOLE` for a file of ours, or the format of settings."""

    def is_unchanged(self, content: bytes) -> bool:
        """Say whether a file still is what we wrote."""
        return content == self.written

    def to_document(self) -> dict[str, Any]:
        """Return it as the ledger's file holds it."""
        original = None if self.original is None else b64encode(self.original).decode()
        written = b64encode(self.written).decode()
        return {"original": original, "written": written, "format": self.format}

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> EditedFile:
        """Read what `to_document` returns."""
        original = document["original"]
        before = None if original is None else b64decode(original)
        return cls(before, b64decode(document["written"]), str(document["format"]))


class Installed(Value):
    """What an installation changed in one folder: a worktree, a git directory, a host's own."""

    files: Mapping[str, EditedFile] = {}
    """By path relative to the folder."""
    folders: tuple[str, ...] = ()
    """Folders we made, relative too, outer ones first."""
    status_line: str = ""
    """The command of the status line that ours stands in for."""
    settings: Mapping[str, HostSetting] = {}
    """What a host's own program set for us, by name, with what stood there before us."""
    users: tuple[str, ...] = ()
    """The worktrees that need what is here, where it is there for many."""
    executable: str = ""
    """The absolute path that the hooks' commands name; empty for PATH alone."""
    status_line_file: str = ""
    """The file of the worktree that the other status line stands in, empty where in another."""

    def to_document(self) -> dict[str, Any]:
        """Return it as the ledger's file holds it."""
        return {
            **{name: getattr(self, name) for name in self.field_names},
            "files": {name: entry.to_document() for name, entry in self.files.items()},
            "settings": {name: vars(setting) for name, setting in self.settings.items()},
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Installed:
        """Read what `to_document` returns."""
        edited, made = document["files"].items(), document["settings"].items()
        values: dict[str, Any] = {
            "files": {name: EditedFile.from_document(entry) for name, entry in edited},
            "settings": {name: HostSetting(**setting) for name, setting in made},
            "folders": tuple(map(str, document["folders"])),
            "users": tuple(map(str, document["users"])),
        }
        return cls(**{**document, **values})


class RecordFile:
    """A file that remembers edits of somebody's files; where there are none, it is not there."""

    def __init__(self, path: str, key: str, if_damaged: str) -> None:
        """Name the file, what it holds, and what to do where it is damaged."""
        self.path = path
        self._key = key
        self._if_damaged = if_damaged

    def load(self, read: Callable[[Any], Kept]) -> Kept | None:
        """Return what read makes of the file's content, None where there is no file.

        Raises `InvalidDocument` for a file that is damaged.
        """
        data = files.read_bytes(self.path, limit=_LIMIT)
        if data is None:
            return None
        document = load_json(data, what=f"`{self.path}`", limit=_LIMIT)
        check_format(document, FORMAT, what=f"`{self.path}`")
        try:
            return read(document[self._key])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidDocument(
                f"`{self.path}` is damaged: {error!r}", self._if_damaged
            ) from error

    def save(self, content: Any) -> None:
        """Replace what the file holds, a JSON value."""
        if not content:
            files.remove(self.path)
            return
        files.make_folder(os.path.dirname(self.path))
        files.write_bytes(self.path, dump_json({"format": FORMAT, self._key: content}))


class LedgerFile(RecordFile):
    """The ledger of one host: in a repository's part of the state directory, or in its own."""

    def __init__(self, state_folder: str, host: str) -> None:
        """Name the file; session names, which are folders beside it, never begin with `_`."""
        super().__init__(
            os.path.join(state_folder, f"_{host}.json"),
            "installed",
            "Move it away; `gitguard uninstall` then removes what it recognises as ours",
        )

    def read(self) -> dict[str, Installed]:
        """Return what is installed, by folder; nothing where there is no ledger."""
        read = Installed.from_document
        return self.load(lambda parts: {path: read(part) for path, part in parts.items()}) or {}

    def write(self, ledger: Mapping[str, Installed]) -> None:
        """Replace the ledger."""
        self.save({path: part.to_document() for path, part in ledger.items()})
