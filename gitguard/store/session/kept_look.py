"""What a worktree looked like at the newest checkpoint, in the state directory.

It says what was changed and not committed already then. Who changed a file since is told by it, so
it lies where no command in the worktree removes or changes it.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.store.disk import files
from gitguard.store.git.differences import Differences
from gitguard.store.session.anchor import FORMAT, load_record
from gitguard.store.session.host_session import NEVER
from gitguard.store.worktree.searched import Searched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILE = "worktree.json"
_LIMIT = 16 << 20
"""Bytes of as many files as a snapshot may have that are not as in the commit."""


class KeptLook(Record):
    """A look at the worktree, and the checkpoint at which it was taken."""

    checkpoint: str = fields.text("The checkpoint's commit.")
    git_dir: str = fields.text("The worktree's git directory.")
    look: Differences = fields.record(
        "What was different from the commit checked out.", of=Differences
    )
    journal_id: str = fields.text("The journal as it was then.", default="")
    journal_offset: int = fields.count("Up to where its entries are older.", default=0)
    snapshot: str = fields.text("The snapshot of the files, by its id.", default="")
    looked_at_again: tuple[str, ...] = fields.texts(
        "Paths that the next snapshot takes anew, also where they lie there as before.", default=()
    )
    refusal: str = fields.text("Why no snapshot of the files was taken.", default="")
    was_cut_off: bool = fields.flag(
        "Whether time ran out before the snapshot had every file.", default=False
    )
    searched: tuple[Searched, ...] = fields.records(
        "What the search for secrets came to in large files.", of=Searched, default=()
    )
    at: str = fields.time("When.", default=NEVER)

    @property
    def is_whole(self) -> bool:
        """Whether another snapshot of the same files would have nothing more in it."""
        return bool(self.snapshot) and not self.was_cut_off


def keep_look(path: str, kept: KeptLook) -> None:
    """Keep a look in a file; one that is too large leaves none, so that nothing is taken for it."""
    record = _with_names(kept, _written)
    data = dump_json({"format": FORMAT, **record.to_document()})
    if len(data) > _LIMIT:
        files.remove(path)
    else:
        # The older content is of another checkpoint, and counts for nothing after a crash.
        files.write_bytes(path, data, settled=False)


def kept_look(path: str, checkpoint: str, git_dir: str) -> KeptLook | None:
    """Return the look that was taken in this worktree at a checkpoint, None where there is none."""
    try:
        record = load_record(path, "the look at the worktree", KeptLook, _LIMIT)
    except GitguardError:
        return None
    if record is None or (record.checkpoint, record.git_dir) != (checkpoint, _written(git_dir)):
        return None
    try:
        return _with_names(record, _read)
    except ValueError:
        return None


def _with_names(kept: KeptLook, spell: Callable[[str], str]) -> KeptLook:
    files_seen = tuple(file.replace(path=spell(file.path)) for file in kept.look.files)
    return kept.replace(
        git_dir=spell(kept.git_dir),
        look=kept.look.replace(files=files_seen),
        looked_at_again=tuple(map(spell, kept.looked_at_again)),
    )


def _written(path: str) -> str:
    # A name may be any bytes, and JSON holds text: each byte is written as a character.
    return os.fsencode(path).decode("latin-1")


def _read(name: str) -> str:
    return os.fsdecode(name.encode("latin-1"))
