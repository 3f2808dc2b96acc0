"""What a restore is to change: one file, and why it may stay as it is."""

from __future__ import annotations

from gitguard.model.value import Value
from gitguard.store.worktree.restore_record import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


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
