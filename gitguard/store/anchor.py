"""What this machine wrote last, kept outside the repository, in the user's state directory.

Whoever can write in a repository can build a consistent chain of checkpoints; only a memory outside
it makes a rewritten, truncated or rolled-back one visible (RELIABILITY section 1).
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, NewerFormat
from gitguard.model.codec import dump_json, load_json
from gitguard.model.value import Value
from gitguard.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = 1
_LIMIT = 1 << 20


class Identity(Value):
    """Which git directory a path leads to."""

    device: int
    inode: int
    born: int
    """Birth time in nanoseconds, 0 where the system does not tell."""


class Anchor(Value):
    """The head this machine wrote, and the one it is about to write."""

    committed: str = ""
    sequence: int = 0
    state_sha256: str = ""
    """The hash of the state in the committed checkpoint."""
    pending: str = ""
    pending_sha256: str = ""
    previous: str = ""
    identity: Identity | None = None

    def promoted(self) -> Anchor:
        """Return the anchor once its pending commit has become the head."""
        return self.replace(
            committed=self.pending,
            sequence=self.sequence + 1,
            state_sha256=self.pending_sha256,
            pending="",
            pending_sha256="",
            previous=self.committed,
        )


class Written(Value):
    """The last state gitguard wrote, as text, and how far the journal is folded into it."""

    state: str
    sha256: str
    previous_sha256: str
    journal_id: str = ""
    journal_offset: int = 0


def identity_of(git_dir: str) -> Identity:
    """Ask the system which folder this is; a path or an inode alone is soon used again."""
    found = os.stat(git_dir)
    return Identity(found.st_dev, found.st_ino, _birth_time(git_dir, found))


def _birth_time(path: str, found: os.stat_result) -> int:
    born = getattr(found, "st_birthtime_ns", None) or getattr(found, "st_birthtime", None)
    return int(born) if born is not None else _statx_birth_time(path)


def _statx_birth_time(path: str) -> int:
    # Python's own `os.stat` does not offer the birth time on Linux; the C library does.
    import ctypes

    try:
        statx = ctypes.CDLL(None).statx
    except (OSError, AttributeError):
        return 0
    space = ctypes.create_string_buffer(256)
    wanted, here = 0x800, -100
    if statx(here, os.fsencode(path), 0, wanted, space) != 0:
        return 0
    buffer = bytes(space)
    seconds = int.from_bytes(buffer[80:88], "little", signed=True)
    return seconds * 10**9 + int.from_bytes(buffer[88:92], "little")


def _load(path: str, what: str) -> dict[str, Any] | None:
    data = files.read_bytes(path, limit=_LIMIT)
    if data is None:
        return None
    document = load_json(data, what=f"{what} `{path}`", limit=_LIMIT)
    version = document.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise NewerFormat(f"{what} `{path}` has format {version}", "upgrade gitguard")
    if version != FORMAT:
        raise InvalidDocument(f"{what} `{path}` has no format we know: `{version!r:.40}`")
    return document


class AnchorFile:
    """The anchor of one session and the copy of its state."""

    def __init__(self, folder: str) -> None:
        """Keep both in folder, which is made when something is written."""
        self.folder = folder
        self._anchor_path = os.path.join(folder, "anchor.json")
        self._state_path = os.path.join(folder, "state.json")

    def read(self) -> Anchor | None:
        """Return the anchor, None where this machine never wrote the session."""
        document = _load(self._anchor_path, "the anchor")
        if document is None:
            return None
        try:
            identity = document["identity"]
            plain = {name: document[name] for name in Anchor.field_names if name != "identity"}
            return Anchor(**plain, identity=Identity(**identity) if identity else None)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidDocument(
                f"the anchor `{self._anchor_path}` is damaged: {error!r}",
                "Look at the branch with `gitguard log`, then run `gitguard trust`",
            ) from error

    def write(self, anchor: Anchor) -> None:
        """Replace the anchor, durable."""
        document = {
            name: getattr(anchor, name) for name in anchor.field_names if name != "identity"
        }
        identity = anchor.identity
        document["identity"] = identity and {
            name: getattr(identity, name) for name in identity.field_names
        }
        files.make_folder(self.folder)
        files.write_bytes(self._anchor_path, dump_json({"format": FORMAT, **document}))

    def read_written(self) -> Written | None:
        """Return the last state written, None where there is none."""
        document = _load(self._state_path, "the state's copy")
        if document is None:
            return None
        try:
            return Written(**{name: document[name] for name in Written.field_names})
        except KeyError as error:
            raise InvalidDocument(f"the copy `{self._state_path}` lacks {error}") from error

    def write_written(self, written: Written) -> None:
        """Replace the copy of the state, durable."""
        document = {name: getattr(written, name) for name in written.field_names}
        files.make_folder(self.folder)
        files.write_bytes(self._state_path, dump_json({"format": FORMAT, **document}))

    def archive(self, suffix: str) -> None:
        """Set anchor and copy aside; they are kept, and no longer in force."""
        for path in (self._anchor_path, self._state_path):
            if os.path.exists(path):
                os.replace(path, f"{path}.{suffix}")
        if os.path.isdir(self.folder):
            files.sync_folder(self.folder)
