"""What lies in the store of file snapshots, byte by byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import Git


def store_of(git: Git) -> Path:
    """Return the folder of a repository's store."""
    common_dir = git("rev-parse", "--path-format=absolute", "--git-common-dir")
    return Path(common_dir) / "gitguard" / "files.git"


def packs_of(git: Git) -> list[str]:
    """Return the names of all files beside packs."""
    return sorted(path.name for path in (store_of(git) / "objects" / "pack").iterdir())


def size_of(git: Git) -> int:
    """Return the bytes of all files of the store."""
    return sum(path.stat().st_size for path in store_of(git).rglob("*") if path.is_file())


def has_bytes(git: Git, data: bytes) -> bool:
    """Say whether bytes are anywhere in the store, as they are or in an object."""
    store = store_of(git)
    if any(data in path.read_bytes() for path in store.rglob("*") if path.is_file()):
        return True
    return data in all_objects(store)


def all_objects(git_dir: Path) -> bytes:
    """Return the contents of all objects of a repository, one after the other."""
    command = ["git", f"--git-dir={git_dir}", "cat-file", "--batch-all-objects", "--batch"]
    return subprocess.run(command, capture_output=True, check=True).stdout
