"""Packs objects as `git gc` does, durable, and our checkpoints where nobody runs `git gc`.

A checkpoint is up to five files in the object store. On a machine where only agents work nobody
may ever pack them, so they would grow without end, and with them what each git looks through.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.model.commit import is_object_id
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.store.git.plumbing import Plumbing
    from gitguard.store.git.repository import Repository

_DURABLE = ("core.fsync=pack,pack-metadata", "pack.threads=1", "pack.writeReverseIndex=false")
MANY = 5_000
"""Loose objects that are too many; `git gc --auto` begins at 6,700."""
_FOLDERS = 256
_SAMPLE = "17"
"""The one of the folders of loose objects that git counts to estimate them all."""


def write_pack(git: Plumbing, folder: str, tips: Iterable[str], limit: float, *options: str) -> str:
    """Write a pack into a folder, durable, with all that some objects lead to; return its id.

    The id is empty where the options leave nothing to pack. limit is in seconds. Raises `GitFailed`
    where something is missing, or time runs out.
    """
    request = "".join(f"{tip}\n" for tip in tips).encode()
    question = ("pack-objects", "--revs", "--quiet", *options, os.path.join(folder, "pack"))
    outcome = git.start(*question, settings=_DURABLE).finish(request, limit=limit)
    if outcome.returncode:
        raise git.failure("pack-objects", outcome)
    pack = outcome.stdout.decode("ascii", "replace").strip()
    if pack and not is_object_id(pack):
        raise GitFailed("`git pack-objects` named no pack")
    files.settle_folder(folder)
    return pack


def loose_objects(repository: Repository) -> int:
    """Estimate how many loose objects a repository has, as git does."""
    sample = os.path.join(_objects_of(repository), _SAMPLE)
    return len(tuple(files.names_in(sample))) * _FOLDERS


def pack_checkpoints(
    repository: Repository,
    prefix: str,
    *,
    limit: float,
    at_step: Callable[[str], object] = str,
) -> bool:
    """Pack the loose objects of all checkpoints, and remove what is loose and packed.

    prefix is that of sessions' refs. limit is in seconds. No ref moves, and an object is removed
    only while a pack has it, so whoever dies in between leaves some twice. Returns whether there
    was anything to pack; raises `GitFailed` where git cannot.
    """
    refs = repository.refs(prefix.rstrip("/"), "refs/gitguard")
    tips = dict.fromkeys(ref.id for ref in refs.values())
    folder = os.path.join(_objects_of(repository), "pack")
    if not write_pack(repository.git, folder, tips, limit, "--unpacked", "--non-empty"):
        return False
    at_step("checkpoints-packed")
    outcome = repository.git.start("prune-packed", "--quiet").finish(limit=limit)
    if outcome.returncode:
        raise repository.git.failure("prune-packed", outcome)
    return True


def _objects_of(repository: Repository) -> str:
    return os.path.join(repository.place.common_dir, "objects")
