"""What makes git show something else than an id names: replacements, grafts and cuts.

Git itself is told to overlook the first two. Whoever looks with plain git is not, so an object that
has one is refused: a person would be shown another history than the one gitguard hands out.
"""

from __future__ import annotations

import os
from functools import cached_property

from gitguard.errors import InvalidDocument
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.store.git.plumbing import Plumbing

_LIMIT = 1 << 26
_FOLDER = "refs/replace"
_LONGEST_ID = 64


class Disguises:
    """What is disguised in one repository, looked up once; absent where nothing is."""

    def __init__(self, common_dir: str, git: Plumbing) -> None:
        """Describe the repository; nothing is read yet."""
        self._common_dir = common_dir
        self._git = git

    def refuse(self, object_id: str) -> None:
        """Raise where git shows an object as another, or a commit with other parents."""
        if object_id in self.replaced:
            ref = self.replaced[object_id]
            usual = ref == f"{_FOLDER}/{object_id}"
            command = f"replace -d {object_id}" if usual else f"update-ref -d {ref}"
            raise InvalidDocument(
                f"object {object_id} is replaced by `{ref}`, which is refused",
                f"Remove it with `git {command}`",
            )
        if object_id in self.grafted:
            raise InvalidDocument(
                f"commit {object_id} is given other parents by `info/grafts`, which is refused",
                f"Remove its line from `{os.path.join(self._common_dir, 'info', 'grafts')}`",
            )

    @cached_property
    def replaced(self) -> dict[str, str]:
        """The objects that are replaced, each with the ref that does it."""
        # Git goes by the last part of the name alone, in upper or lower case.
        return {name.rpartition("/")[2].lower(): name for name in self._replacing()}

    @cached_property
    def grafted(self) -> frozenset[str]:
        """The commits that are given other parents."""
        return frozenset(self._first_words(os.path.join("info", "grafts")))

    @cached_property
    def cut(self) -> frozenset[str]:
        """The commits at which a shallow repository ends."""
        return frozenset(self._first_words("shallow"))

    def _replacing(self) -> Iterator[str]:
        try:
            packed = self._read("packed-refs")
        except InvalidDocument:
            packed = None  # too many to look through
        # Reftables keep refs in a format of their own, which only git reads.
        if packed is None or os.path.isdir(os.path.join(self._common_dir, "reftable")):
            yield from self._listed_by_git()
            return
        for line in packed.split(b"\n") if b" refs/replace/" in packed else ():
            name = line.partition(b" ")[2]
            if name.startswith(b"refs/replace/"):
                yield os.fsdecode(name)
        folder = os.path.join(self._common_dir, _FOLDER)
        for place, _, names in os.walk(folder):
            inside = os.path.relpath(place, self._common_dir)
            yield from (f"{inside}/{name}" for name in names)

    def _listed_by_git(self) -> list[str]:
        listed = self._git.run("for-each-ref", "--format=%(refname)", _FOLDER)
        return listed.decode("utf-8", "surrogateescape").split()

    def _read(self, name: str) -> bytes:
        """Return a file as git reads it, through links; empty where there is none."""
        path = os.path.join(self._common_dir, name)
        if not os.path.exists(path):
            return b""
        return files.read_bytes(os.path.realpath(path), limit=_LIMIT) or b""

    def _first_words(self, name: str) -> Iterator[str]:
        for line in self._read(name).split(b"\n"):
            yield from line[:_LONGEST_ID].decode("ascii", "replace").lower().split()[:1]
