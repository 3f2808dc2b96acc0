"""What an installation changed, kept outside the repository so that it can be given back.

The bytes that stood in a file before may hold a user's secrets, and a status line is a command that
will be run: both belong where no repository can reach, in the user's state directory.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from hashlib import sha256

from gitguard.errors import InvalidDocument
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FORMAT = 1
_LIMIT = 32 << 20


class InstalledFile(Value):
    """A file we changed: what it was, and what we made of it."""

    original: bytes | None
    """None where there was no file."""
    written: str
    """The SHA-256 of the content we wrote."""

    @classmethod
    def of(cls, original: bytes | None, written: bytes) -> InstalledFile:
        """Describe a change of ours."""
        return cls(original, sha256(written).hexdigest())

    def is_unchanged(self, content: bytes) -> bool:
        """Say whether a file still is what we wrote."""
        return sha256(content).hexdigest() == self.written


class InstalledSetting(Value):
    """A setting that a host's own program changed for us, as JSON texts."""

    original: str
    """Empty where nothing was set."""
    written: str
    within: str = ""
    """The object that goes with it when it is taken out, where it was not there before."""


class Installed(Value):
    """What an installation changed in one folder: a worktree, a git directory, a host's own."""

    files: Mapping[str, InstalledFile] = {}
    """By path relative to the folder."""
    folders: tuple[str, ...] = ()
    """Folders we made, relative too, outer ones first."""
    status_line: str = ""
    """The command of the status line that ours stands in for."""
    settings: Mapping[str, InstalledSetting] = {}
    users: tuple[str, ...] = ()
    """The worktrees that need what is here, where it is there for many."""
    executable: str = ""
    """The absolute path that the hooks' commands name; empty for PATH alone."""

    def to_document(self) -> dict[str, Any]:
        """Return it as the ledger's file holds it."""
        return {
            "files": {name: _kept_document(entry) for name, entry in self.files.items()},
            "folders": list(self.folders),
            "status_line": self.status_line,
            "settings": {name: _setting_document(entry) for name, entry in self.settings.items()},
            "users": list(self.users),
            "executable": self.executable,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Installed:
        """Read what `to_document` returns."""
        return cls(
            {name: _kept_from(entry) for name, entry in document["files"].items()},
            tuple(map(str, document["folders"])),
            str(document["status_line"]),
            {n: _setting_from(entry) for n, entry in document.get("settings", {}).items()},
            tuple(map(str, document.get("users", ()))),
            str(document.get("executable", "")),
        )


def _kept_document(entry: InstalledFile) -> dict[str, Any]:
    original = None if entry.original is None else b64encode(entry.original).decode()
    return {"original": original, "written": entry.written}


def _kept_from(document: dict[str, Any]) -> InstalledFile:
    original = document["original"]
    return InstalledFile(
        None if original is None else b64decode(original), str(document["written"])
    )


def _setting_document(entry: InstalledSetting) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in InstalledSetting.field_names}


def _setting_from(document: dict[str, Any]) -> InstalledSetting:
    return InstalledSetting(*(str(document[name]) for name in InstalledSetting.field_names))


class LedgerFile:
    """The ledger of one host: in a repository's part of the state directory, or in its own."""

    def __init__(self, state_folder: str, host: str) -> None:
        """Name the file; session names, which are folders beside it, never begin with `_`."""
        self.path = os.path.join(state_folder, f"_{host}.json")

    def read(self) -> dict[str, Installed]:
        """Return what is installed, by folder; nothing where there is no ledger."""
        data = files.read_bytes(self.path, limit=_LIMIT)
        if data is None:
            return {}
        document = load_json(data, what=f"`{self.path}`", limit=_LIMIT)
        check_format(document, FORMAT, what=f"`{self.path}`")
        try:
            folders = document["installed"]
            return {path: Installed.from_document(item) for path, item in folders.items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidDocument(
                f"`{self.path}` is damaged: {error!r}",
                "Move it away; `gitguard uninstall` then removes what it recognises as ours",
            ) from error

    def write(self, ledger: Mapping[str, Installed]) -> None:
        """Replace the ledger; where nothing is installed there is none."""
        if not ledger:
            files.remove(self.path)
            return
        files.make_folder(os.path.dirname(self.path))
        folders = {path: item.to_document() for path, item in ledger.items()}
        files.write_bytes(self.path, dump_json({"format": FORMAT, "installed": folders}))
