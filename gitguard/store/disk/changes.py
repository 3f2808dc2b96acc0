"""Changes to other people's files: shown, checked, made and taken back as one piece."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from gitguard.errors import GitguardError, InvalidDocument, NotWritable
from gitguard.model.value import Value
from gitguard.store.disk import files

_LIMIT = 4 << 20


class FileEdit(Value):
    """What a file is, and what it is to be; None is no file."""

    path: str
    name: str
    """How people are told of it."""
    before: bytes | None
    after: bytes | None

    @property
    def what(self) -> str:
        """Created, changed or removed."""
        if self.after is None:
            return "removed"
        return "created" if self.before is None else "changed"

    def diff(self) -> str:
        """Return the change as a unified diff."""
        import difflib

        old, new = (_lines(self.before), _lines(self.after))
        names = (
            "/dev/null" if self.before is None else f"a/{self.name}",
            "/dev/null" if self.after is None else f"b/{self.name}",
        )
        return "".join(difflib.unified_diff(old, new, *names))

    def reversed(self) -> FileEdit:
        """Return the change that takes this one back."""
        return self.replace(before=self.after, after=self.before)

    def refuse_unwritable(self) -> None:
        """Raise `NotWritable` where the change could not be made."""
        folder = os.path.dirname(self.path)
        if not files.is_writable(folder):
            raise NotWritable(
                f"`{self.path}` cannot be written", f"Make `{folder}` writable; nothing was changed"
            )
        # Replacing a file needs no permission on it, so its own wish is asked for here.
        if self.before is not None and not os.stat(self.path).st_mode & stat.S_IWUSR:
            raise NotWritable(
                f"`{self.path}` is read-only", f"Run `chmod u+w {self.path}`; nothing was changed"
            )

    def refuse_hard_link(self) -> None:
        """Raise `InvalidDocument` where the change would not reach all names of the file."""
        if self.before is not None and os.stat(self.path).st_nlink > 1:
            raise InvalidDocument(
                f"`{self.path}` is a hard link, and a change would not reach its other name",
                "Replace it by a copy, or make the changes yourself; nothing was changed",
            )

    def make(self, *, mode: int | None = None, owner: os.stat_result | None = None) -> None:
        """Make the change, and missing folders; without others a file keeps its mode and owner."""
        if self.after is None:
            if not files.remove(self.path) and os.path.lexists(self.path):
                raise NotWritable(f"`{self.path}` cannot be removed", "Check its folder")
            return
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            replaced = os.stat(self.path) if os.path.exists(self.path) else None
            if mode is None:
                mode = stat.S_IMODE(replaced.st_mode) if replaced else 0o666
            files.write_bytes(self.path, self.after, mode=mode, owner=owner or replaced)
        except OSError as error:
            raise files.refused(self.path, error) from error


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


def make_all(changes: tuple[FileEdit, ...]) -> None:
    """Make all changes, or none: when one fails, those before it are taken back."""
    attempted: list[FileEdit] = []
    try:
        for change in changes:
            attempted.append(change)
            change.make()
    except GitguardError:
        # The last one failed and changed nothing. Newest first, as a file may be changed twice.
        for change in reversed(attempted[:-1]):
            with suppress(GitguardError):
                change.reversed().make()
        raise


def content(root: str, name: str) -> bytes | None:
    """Read a file below root, None if there is none; symbolic links on the way are refused."""
    path = root
    for part in name.split("/"):
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise InvalidDocument(
                f"`{path}` is a symbolic link, which is refused",
                "Put a file or folder in its place; nothing was changed",
            )
    return files.read_bytes(path, limit=_LIMIT)


def missing_folders(root: str, name: str) -> tuple[str, ...]:
    """Return the folders above a file that do not exist, outer ones first, relative to root."""
    parts = name.split("/")[:-1]
    above = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    return tuple(folder for folder in above if not os.path.isdir(os.path.join(root, folder)))
