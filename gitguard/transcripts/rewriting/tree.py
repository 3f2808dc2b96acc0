"""The tree that a transcript's entries form, and how it is mended around those that go or come."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from gitguard.model.events import Transcript

    class Placed(Protocol):
        """What has a place in a tree: a link, or an entry itself."""

        @property
        def at(self) -> int:
            """Where it begins."""

        @property
        def id(self) -> str:
            """Its own."""

        @property
        def parent(self) -> str:
            """The id of what it follows."""

        @property
        def is_aside(self) -> bool:
            """Whether it is a sub-agent's."""

    class Writable(Protocol):
        """What a format's module offers that can be written; documents are parsed lines."""

        HAS_HEADER: bool
        """Whether the first entry has to be a header."""
        NOTES_BETWEEN: bool
        """Whether what the host says in the user's name may stand between a call and its result."""
        RESULTS_NAME_TOOLS: bool
        """Whether a result repeats its tool's name."""
        POINTERS: frozenset[str]
        """The members of entries that name others than the one they follow."""

        def file_of(self, transcript: Transcript) -> str:
            """Return the file that a transcript's lines are in, empty where none can be written."""

        def refuse_newer(self, path: str, /) -> None:
            """Raise `InvalidInput` for a file of a version that is only read."""

        def fields_of(self, document: dict[str, Any]) -> dict[str, Any]:
            """Return an entry's fields, as `Entry` has them."""

        def sketch(self, document: dict[str, Any]) -> dict[str, Any]:
            """Return those fields of an entry by which it is repaired."""

        def sketch_in(self, path: str, /) -> Callable[[dict[str, Any]], dict[str, Any]]:
            """Return `sketch` for one file: in a sub-agent's own nothing is a sub-agent's."""

        def is_record(self, document: dict[str, Any]) -> bool:
            """Say whether a document is a line of the format's, and no part of one."""

        def header(self, path: str, first: dict[str, Any], /) -> dict[str, Any]:
            """Return a header for a file that lost its own, whose first entry is this."""

        def link(self, document: dict[str, Any]) -> tuple[str, str, bool] | None:
            """Return an entry's id, the id it follows, and whether it is a sub-agent's.

            None for an entry that has no place in the tree.
            """

        def new_id(self, seed: str) -> str:
            """Return an id as the host makes them, the same for the same seed."""

        def relinked(self, document: dict[str, Any], parent: str) -> dict[str, Any]:
            """Return an entry that follows another one, or none."""

        def without(self, document: dict[str, Any], blocks: frozenset[int]) -> dict[str, Any]:
            """Return an entry without some blocks, an empty one when none are left."""

        def alone(self, document: dict[str, Any], block: int) -> dict[str, Any]:
            """Return an entry with one of its blocks only."""

        def with_id(self, document: dict[str, Any], id_: str, parent: str) -> dict[str, Any]:
            """Return an entry under another id, where it has one."""

        def renamed(self, document: dict[str, Any], block: int, name: str) -> dict[str, Any]:
            """Return an entry in which a call or a result names another tool."""

        def reissued(self, document: dict[str, Any], block: int, id_: str) -> dict[str, Any]:
            """Return an entry in which a call, or its result, has another id."""

        def cut(self, document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
            """Return an entry in which a text or a result says something else."""

        def put(
            self, document: dict[str, Any], path: tuple[str | int, ...], value: Any
        ) -> dict[str, Any]:
            """Return an entry with another value at a place inside it."""

        def answer(self, document: dict[str, Any], block: int, text: str) -> dict[str, Any]:
            """Return an entry with an error as the result of a call, still to be given an id."""

        def mark(self, document: dict[str, Any]) -> dict[str, Any]:
            """Return an entry that the model never sees, to stand where another one stood."""

        def repointed(self, document: dict[str, Any], mended: Mended) -> dict[str, Any]:
            """Return an entry that names what is there in the place of what is not any more."""


class EntryLink(Value):
    """An entry's place in the tree."""

    at: int
    id: str
    parent: str
    is_aside: bool = False


class Tree:
    """The links of a transcript, in the order of the file."""

    def __init__(self, links: Iterable[Placed], pointers: Iterable[int] = ()) -> None:
        """Take the links, and where the lines begin that name other entries."""
        self.links = list(links)
        self.pointers = tuple(pointers)
        self.by_id = {link.id: link for link in self.links}
        self.at = {link.at: link for link in self.links}

    def relinked(self, parents: Mapping[int, str]) -> Tree:
        """Return the tree in which some entries follow others, by where they begin."""
        if all(at not in self.at or self.at[at].parent == parent for at, parent in parents.items()):
            return self
        return Tree((_relinked(link, parents) for link in self.links), self.pointers)

    def chain(self) -> list[str]:
        """Return the ids from the newest entry back to the first one that it follows from.

        The newest is the last in the file that is the conversation's own.
        """
        on_chain = (link for link in reversed(self.links) if not link.is_aside)
        leaf = next(on_chain, self.links[-1] if self.links else None)
        ids: dict[str, None] = {}
        while leaf and leaf.id not in ids:
            ids[leaf.id] = None
            leaf = self.by_id.get(leaf.parent)
        return list(ids)


def _relinked(link: Placed, parents: Mapping[int, str]) -> Placed:
    if link.at not in parents:
        return link
    return EntryLink(link.at, link.id, parents[link.at], link.is_aside)


class Mended(Value):
    """What became of a tree's entries."""

    instead: Mapping[str, str]
    """For each entry that is gone the one before it, empty where there is none."""
    after: Mapping[str, str]
    """For each entry that is gone the next one on the chain, empty where there is none."""
    added: Mapping[str, tuple[str, ...]]
    """For an entry the new ones right behind it."""


class Mending:
    """Works out what follows what once some entries are gone and others have come."""

    def __init__(self, tree: Tree, gone: Iterable[str], moved: Iterable[str]) -> None:
        """Take what is left out, and what stands elsewhere from now on."""
        self._tree = tree
        self._gone = frozenset(gone)
        self._lifted = self._gone | frozenset(moved)
        self._chain = tree.chain()
        self._newest_id: dict[str, str] = {}
        self._added: dict[str, tuple[str, ...]] = {}

    def put_behind(self, anchor: str, id_: str) -> str:
        """Put an entry behind another one, after those put there before; return what it follows."""
        follows = self._newest_id.get(anchor, anchor)
        self._newest_id[anchor] = id_
        self._added[anchor] = (*self._added.get(anchor, ()), id_)
        return follows

    def relinks(self) -> dict[int, str]:
        """Return what other entries follow now, by where they begin."""
        on_chain = set(self._chain)
        parents = {}
        for link in self._tree.links:
            if link.id in self._lifted:
                continue
            parent = self._standing(link.parent)
            if link.id in on_chain:
                parent = self._newest_id.get(parent, parent)
            if parent != link.parent:
                parents[link.at] = parent
        return parents

    def lost_leaf(self) -> tuple[int, str] | None:
        """Return where the newest entry was, and what an inert one there has to follow.

        None where none is needed: hosts take the last line for what they go on from, and with it
        gone that may be the end of a branch that was left.
        """
        if not self._chain or self._chain[0] not in self._lifted:
            return None
        last_id = next((id_ for id_ in self._chain if id_ not in self._lifted), "")
        on_chain = [x for x in self._tree.links if not x.is_aside and x.id not in self._lifted]
        if not on_chain or on_chain[-1].id == last_id:
            return None
        return self._tree.by_id[self._chain[0]].at, self._newest_id.get(last_id, last_id)

    def mended(self) -> Mended:
        """Return what became of the entries."""
        after, newest = {}, ""
        for id_ in self._chain:
            if id_ in self._gone:
                after[id_] = newest
            else:
                newest = id_
        instead = {id_: self._before(id_) for id_ in self._gone}
        return Mended(instead, after, self._added)

    def _standing(self, id_: str) -> str:
        return self._follow(id_, self._lifted)

    def _before(self, id_: str) -> str:
        return self._follow(id_, self._gone)

    def _follow(self, id_: str, lifted: frozenset[str]) -> str:
        seen = set()
        while id_ in lifted and id_ not in seen:
            seen.add(id_)
            id_ = self._tree.by_id[id_].parent if id_ in self._tree.by_id else ""
            if id_ not in self._tree.by_id:
                return ""  # it lies in no line, and would be missed from now on
        return id_


def ids_with(ids: Sequence[Any], mended: Mended) -> list[Any]:
    """Return a list of ids without those that are gone, and with those put there behind theirs."""
    placed = {id_ for added in mended.added.values() for id_ in added}
    in_order: list[Any] = []
    for id_ in ids:
        if not isinstance(id_, str):
            in_order.append(id_)
            continue
        if id_ not in mended.instead and id_ not in placed:
            in_order.append(id_)
        in_order += mended.added.get(id_, ())
    return in_order
