"""A worktree whose files are kept and put back, while what is git's stays byte by byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gitguard.guard import Guard
from gitguard.sessions.file_restore import FilePlan
from gitguard.store.git.trees import SUBMODULE, Trees
from gitguard.store.worktree.overlays import StoredSnapshot
from tests.conftest import Git

Files = dict[str, tuple[int, bytes]]
_LARGEST = 1 << 20
_OF_GIT = ("HEAD", "index", "config", "config.worktree")
_SHARED_INDEX = "sharedindex."


def snapshot_of(guard: Guard) -> StoredSnapshot:
    """Return the snapshot of the newest checkpoint."""
    with guard.store().worktree.reader() as reader:
        return reader.snapshot(guard.log(1)[0].files)


def files_of(guard: Guard) -> Files:
    """Return mode and bytes of every file of the newest snapshot."""
    with guard.store().worktree.reader() as reader:
        snapshot = reader.snapshot(guard.log(1)[0].files)
        return {
            path: (entry.mode, reader.read(entry.id, "blob", limit=_LARGEST))
            for path, entry in Trees(reader).files(snapshot.tree)
            if entry.mode != SUBMODULE
        }


def left_out(guard: Guard) -> dict[str, str]:
    """Return what the newest snapshot does not have, and why."""
    return {file.path: file.reason for file in snapshot_of(guard).manifest.skipped}


def tree_of(root: Path) -> Files:
    """Return every file of a worktree that is not git's or gitguard's, with its mode.

    Of files that are larger than any test writes, and of what is no file, the size stands for the
    bytes.
    """
    tree = {}
    for folder, names, file_names in os.walk(root):
        names[:] = [name for name in names if name not in (".git", ".gitguard")]
        links = [name for name in names if os.path.islink(os.path.join(folder, name))]
        for name in (*file_names, *links):
            path = Path(folder, name)
            facts = path.lstat()
            if path.is_symlink():
                data = os.fsencode(os.readlink(path))
            elif stat.S_ISREG(facts.st_mode) and facts.st_size <= _LARGEST:
                data = path.read_bytes()
            else:
                data = b"%d bytes" % facts.st_size
            tree[str(path.relative_to(root))] = (facts.st_mode, data)
    return tree


class KeptFiles:
    """One worktree with a session; each act fails where it changed anything of git's."""

    def __init__(self, guard: Guard, git: Git) -> None:
        """Begin the session."""
        self.guard = guard
        self.git = git
        self.root = git.root
        with self.untouched():
            guard.ensure()

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Fail unless HEAD, index, settings and the user's refs are what they were before."""
        before = self._of_git()
        yield
        assert self._of_git() == before
        assert self.guard.workspace.faults() == []

    def _of_git(self) -> Mapping[str, object]:
        place = self.guard.workspace.place
        folders = {Path(place.git_dir), Path(place.common_dir)}
        paths = [path for folder in folders for path in folder.iterdir()]
        ours = [p for p in paths if p.name in _OF_GIT or p.name.startswith(_SHARED_INDEX)]
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {
            "refs": [ref for ref in refs if "/gitguard/" not in ref],
            "sockets": [path for path in paths if path.is_socket()],
            **{str(path): path.read_bytes() for path in ours},
        }

    def snapshot(self) -> str:
        """Take a checkpoint with a snapshot; return its name."""
        with self.untouched():
            self.guard.checkpoint("Here")
        newest = self.guard.log(1)[0]
        assert newest.files, self.guard.files.status().gaps.refusal
        return newest.name

    def plan(self, name: str, *paths: str) -> FilePlan:
        """Return what a restore would change, also what somebody else wrote."""
        with self.untouched():
            return self.guard.files.plan(name, paths, theirs_too=True)

    def put_back(self, name: str, *paths: str) -> dict[str, str]:
        """Restore what may be restored; return what is refused, and why."""
        plan = self.plan(name, *paths)
        if plan.chosen:
            with self.untouched():
                assert self.guard.files.restore(plan).stayed == {}
        return {file.path: file.refusal for file in plan.refused}

    def undo(self) -> None:
        """Undo the newest restore."""
        with self.untouched():
            assert self.guard.files.restore(self.guard.files.plan_undo()).stayed == {}

    def goes_back_and_forth(self, name: str, then: Files, *paths: str) -> None:
        """Restore, and undo it: the files are what they were then, and what they were before."""
        before = tree_of(self.root)
        assert self.put_back(name, *paths) == {}
        assert tree_of(self.root) == then
        self.undo()
        assert tree_of(self.root) == before
