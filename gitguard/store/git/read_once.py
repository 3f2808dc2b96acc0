"""A door to git for one look at many sessions: refs, disguises and parents are read once.

What it tells is as old as the first question. Whoever finds a fault with it looks again without it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from gitguard.store.git.reader import Disguises, ObjectReader
from gitguard.store.git.repository import Ref, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class RepositoryReadOnce(Repository):
    """A repository whose refs are listed once; to be closed."""

    def refs(self, *patterns: str) -> dict[str, Ref]:
        """List the refs under the given full names or folders, as they were first read."""
        refs = {
            name: self._all_refs[name]
            for pattern in patterns
            for name in sorted(self._names_under(pattern))
        }
        # A name that git passed over is an error, or was made meanwhile.
        return super().refs(*patterns) if self._unread(patterns, refs) else refs

    def _names_under(self, pattern: str) -> Iterator[str]:
        if "*" not in pattern:
            if pattern in self._all_refs:
                yield pattern
            yield from self._names_beginning(pattern.rstrip("/") + "/")
            return
        fits = re.compile(re.escape(pattern).replace(r"\*", "[^/]*")).fullmatch
        last = pattern.rpartition("/")[2]
        beginning = self._names_beginning(pattern.partition("*")[0])
        names = beginning if "*" in last else self._names_by_last_part.get(last, ())
        yield from (name for name in names if fits(name))

    def _names_beginning(self, start: str) -> Iterator[str]:
        names = self._names
        for place in range(bisect_left(names, start), len(names)):
            if not names[place].startswith(start):
                return
            yield names[place]

    @cached_property
    def _all_refs(self) -> dict[str, Ref]:
        return self._list_refs(("refs/",))

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._all_refs)

    @cached_property
    def _names_by_last_part(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for name in self._names:
            names.setdefault(name.rpartition("/")[2], []).append(name)
        return names

    def first_parents(self, commit: str) -> list[str]:
        """Return the ids from a commit back, as far as refs of gitguard's lead to them."""
        parents, ids = self._parents, []
        while commit in parents:
            ids.append(commit)
            commit = parents[commit]
        return ids

    @cached_property
    def _parents(self) -> dict[str, str]:
        """The first parent of each commit that a ref with gitguard in its name leads to."""
        heads = {ref.id for name, ref in self._all_refs.items() if "gitguard" in name}
        question = ("rev-list", "--first-parent", "--parents", "--ignore-missing", "--stdin")
        answer = self.git.attempt(*question, stdin="".join(f"{h}\n" for h in heads).encode())
        words = (line.split() for line in answer.stdout.decode("ascii", "replace").splitlines())
        return {commit: (parents or [""])[0] for commit, *parents in words}

    def reader(self) -> ObjectReader:
        """Return the one reader of objects, which stays open until `close`."""
        return self._reader

    @cached_property
    def _reader(self) -> ObjectReader:
        return _OpenReader(self.place.common_dir, self.git, self.disguises())

    @cached_property
    def _disguises(self) -> Disguises:
        return super().disguises()

    def disguises(self) -> Disguises:
        """Return what git shows as something else than its id names, as it was first read."""
        return self._disguises

    def close(self) -> None:
        """End the git that reads objects."""
        if "_reader" in self.__dict__:
            ObjectReader.__exit__(self._reader)


class _OpenReader(ObjectReader):
    """A reader that several looks share, one after the other."""

    def __exit__(self, *exception: object) -> None:
        pass
