"""Objects as they are read: from their own files in process, else through git; hashed either way.

Git does not check that a loose object has the content of its id, so nothing is taken from it
unhashed. Sizes are looked at before anything is expanded.
"""

from __future__ import annotations

import os
from functools import cached_property

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.model.commit import is_object_id
from gitguard.store.disk import files
from gitguard.store.git.objects import id_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from gitguard.store.git.plumbing import GitProcess, Plumbing

    Contents = dict[str, bytes | InvalidDocument]

TREE_LIMIT = 4096
_MISSING = ["missing"]
_HEADER = 64
"""Bytes in which kind and size of a loose object stand."""
_END = f"end-{os.urandom(12).hex()}"
"""Asked for behind contents, so that the answer ends there, however long git says they are."""
_AT_ONCE = 512
"""Objects asked for in one go; the questions have to fit into a pipe."""
_MANY = 64
_ROOM = 1 << 20
"""Bytes of content asked for in one go."""
_REFS_LIMIT = 1 << 26
_REPLACED = "refs/replace"
_LONGEST_ID = 64


class ObjectReader:
    """Reads the objects of one repository and refuses what is not what its id names."""

    def __init__(self, common_dir: str, git: Plumbing, disguises: Disguises) -> None:
        """Describe the repository; git starts with the first object that has no file of its own."""
        self.disguises = disguises
        self._objects = os.path.join(common_dir, "objects")
        self._git = git
        self._process: GitProcess | None = None
        self._folders: dict[str, frozenset[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def exists(self, object_id: str) -> bool:
        """Say whether the repository has the object."""
        if not is_object_id(object_id):
            return False
        return os.path.isfile(self._path(object_id)) or self._ask([object_id]) != [_MISSING]

    def read(self, object_id: str, kind: str, *, limit: int) -> bytes:
        """Return an object's content, or raise when it is missing, too large or not its id."""
        content = self.read_all([object_id], kind, limit=limit)[object_id]
        if isinstance(content, InvalidDocument):
            raise content
        return content

    def read_all(self, ids: Iterable[str], kind: str, *, limit: int) -> Contents:
        """Return what `read` returns or raises for each of many objects."""
        contents: Contents = {}
        elsewhere: list[str] = []
        unique_ids = dict.fromkeys(ids)
        is_loose = self._is_listed if len(unique_ids) > _MANY else lambda _: True
        for object_id in unique_ids:
            try:
                if not is_object_id(object_id):
                    raise InvalidDocument(f"`{object_id[:80]}` is not an object id")
                self.disguises.refuse(object_id)
                data = self._read_loose(object_id, kind, limit) if is_loose(object_id) else None
            except InvalidDocument as error:
                contents[object_id] = error
                continue
            if data is None:
                elsewhere.append(object_id)
            else:
                contents[object_id] = data
        for start in range(0, len(elsewhere), _AT_ONCE):
            self._read_through_git(elsewhere[start : start + _AT_ONCE], kind, limit, contents)
        return contents

    def entries(self, tree: str) -> Iterator[tuple[str, str]]:
        """Yield name and blob id of a flat tree of plain files; anything else is refused."""
        return entries_of(tree, self.read(tree, "tree", limit=TREE_LIMIT))

    # Loose objects

    def _path(self, object_id: str) -> str:
        return f"{self._objects}/{object_id[:2]}/{object_id[2:]}"

    def _is_listed(self, object_id: str) -> bool:
        """Say whether an object may have a file of its own; for many, listing is faster."""
        folder = object_id[:2]
        if folder not in self._folders:
            try:
                self._folders[folder] = frozenset(os.listdir(f"{self._objects}/{folder}"))
            except OSError:
                self._folders[folder] = frozenset()
        return object_id[2:] in self._folders[folder]

    def _read_loose(self, object_id: str, kind: str, limit: int) -> bytes | None:
        """Read an object's own file; None where it has none, or a sound one may be in a pack."""
        packed = files.read_bytes(self._path(object_id), limit=2 * limit + _HEADER)
        if packed is None:
            return None
        data = _expand(packed, kind, limit)
        is_whole = data is not None and id_of(kind, data, len(object_id)) == object_id
        return data if is_whole else None

    # Through git

    def _read_through_git(self, ids: list[str], kind: str, limit: int, contents: Contents) -> None:
        sizes: dict[str, int] = {}
        for object_id, header in zip(ids, self._ask(ids), strict=True):
            if header == _MISSING and os.path.lexists(self._path(object_id)):
                contents[object_id] = _damaged(object_id)
            elif header[0] != kind or int(header[1]) > limit:
                contents[object_id] = _refusal(object_id, header, kind, limit)
            else:
                sizes[object_id] = int(header[1])
        for group in _groups(sizes):
            self._read_contents(group, sizes, kind, contents)

    def _read_contents(
        self, ids: list[str], sizes: dict[str, int], kind: str, contents: Contents
    ) -> None:
        # Positions are computed from the sizes that git named; each header is compared, because a
        # content may hold anything, also what looks like the next header.
        answer, has_ended = self._contents(ids, sum(sizes[i] + _HEADER + len(i) for i in ids))
        start = 0
        for object_id in ids:
            head = f"{object_id} {kind} {sizes[object_id]}\n".encode()
            begin, end = start + len(head), start + len(head) + sizes[object_id]
            data = answer[begin:end]
            if answer[start:begin] != head or answer[end : end + 1] != b"\n":
                break
            is_whole = id_of(kind, data, len(object_id)) == object_id
            contents[object_id] = data if is_whole else _damaged(object_id)
            start = end + 1
        if start == len(answer) and not has_ended:
            return
        # One of them is not as long as git says, or git gave up over it: find out which.
        for object_id in ids if len(ids) > 1 else ():
            self._read_contents([object_id], sizes, kind, contents)
        if len(ids) == 1:
            contents[ids[0]] = _damaged(ids[0])

    def _contents(self, ids: list[str], limit: int) -> tuple[bytes, bool]:
        """Return what git says of objects, and whether it ended over them."""
        process = self._running()
        process.send([*(f"contents {object_id}" for object_id in ids), f"info {_END}", "flush"])
        answer, is_whole = process.read_until(f"{_END} missing\n".encode(), limit)
        if is_whole:
            return answer, False
        was_killed = process.has_ended
        # It gave up over a broken object, or we ended it: the next question starts another one.
        self._process = None
        if process.finish().returncode <= 0 and not was_killed:
            raise GitFailed(f"`git cat-file` ended while it read {ids[0]}", "Look with `git fsck`")
        return answer, True

    def _ask(self, ids: list[str]) -> list[list[str]]:
        """Return kind and size of each object as git says them."""
        process = self._running()
        process.send([*(f"info {object_id}" for object_id in ids), "flush"])
        answers = process.answers(len(ids))
        for number, object_id in enumerate(ids):
            if answers[number : number + 1] == [] or len(answers[number]) < 2:
                self._end()
                raise GitFailed(f"`git cat-file` cannot read {object_id}", "Look with `git fsck`")
        return [answer[1:] for answer in answers]

    def _running(self) -> GitProcess:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch-command", "--buffer")
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.finish()


def entries_of(tree: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and blob id of a flat tree of plain files; anything else is refused."""
    width = len(tree) // 2
    start = 0
    while start < len(data):
        end = data.find(b"\0", start)
        mode, _, name = data[start:end].partition(b" ")
        if mode != b"100644" or end < 0:
            raise InvalidDocument(
                f"tree {tree} has an entry of mode {mode[:16].decode('utf-8', 'replace')}"
            )
        start = end + 1 + width
        yield name.decode("utf-8", "replace"), data[end + 1 : start].hex()


def _expand(packed: bytes, kind: str, limit: int) -> bytes | None:
    """Return the content of a loose object's file, None where it is not a sound one of its kind."""
    import zlib

    expander = zlib.decompressobj()
    try:
        # The header first, and only so much as it promises: a few bytes can expand to gigabytes.
        head, _, data = expander.decompress(packed, _HEADER).partition(b"\0")
        named, _, digits = head.partition(b" ")
        if named != kind.encode() or not digits.isdigit() or int(digits) > limit:
            return None
        # One byte more than promised shows a content that is too long; 0 would mean without limit.
        room = max(int(digits) - len(data), 0) + 1
        data += expander.decompress(expander.unconsumed_tail, room)
    except zlib.error:
        return None
    return data if expander.eof and len(data) == int(digits) else None


def _refusal(object_id: str, header: list[str], kind: str, limit: int) -> InvalidDocument:
    """Say why an object is not read, from its kind and size."""
    if header[0] != kind:
        what = "missing" if header == _MISSING else f"a {header[0]}, not a {kind}"
        return InvalidDocument(f"object {object_id} is {what}")
    return InvalidDocument(
        f"object {object_id} has {int(header[1]):,} bytes; the limit is {limit:,}"
    )


def _damaged(object_id: str) -> InvalidDocument:
    return InvalidDocument(f"object {object_id} does not have the content of its id")


def _groups(sizes: dict[str, int]) -> Iterator[list[str]]:
    """Divide objects so that the contents of a group fit into our memory."""
    group: list[str] = []
    room = _ROOM
    for object_id, size in sizes.items():
        if group and room < size:
            yield group
            group, room = [], _ROOM
        group.append(object_id)
        room -= size
    if group:
        yield group


class Disguises:
    """What makes git show something else than an id names: replacements, grafts and cuts.

    Git itself is told to overlook the first two. Whoever looks with plain git is not, so an object
    that has one is refused: a person would be shown another history than the one gitguard hands
    out. It is looked up once, and absent where nothing is disguised.
    """

    def __init__(self, common_dir: str, git: Plumbing) -> None:
        """Describe the repository; nothing is read yet."""
        self._common_dir = common_dir
        self._git = git

    def refuse(self, object_id: str) -> None:
        """Raise where git shows an object as another, or a commit with other parents."""
        if object_id in self.replaced:
            ref = self.replaced[object_id]
            usual = ref == f"{_REPLACED}/{object_id}"
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
        folder = os.path.join(self._common_dir, _REPLACED)
        for place, _, names in os.walk(folder):
            inside = os.path.relpath(place, self._common_dir)
            yield from (f"{inside}/{name}" for name in names)

    def _listed_by_git(self) -> list[str]:
        listed = self._git.run("for-each-ref", "--format=%(refname)", _REPLACED)
        return listed.decode("utf-8", "surrogateescape").split()

    def _read(self, name: str) -> bytes:
        """Return a file as git reads it, through links; empty where there is none."""
        path = os.path.join(self._common_dir, name)
        if not os.path.exists(path):
            return b""
        return files.read_bytes(os.path.realpath(path), limit=_REFS_LIMIT) or b""

    def _first_words(self, name: str) -> Iterator[str]:
        for line in self._read(name).split(b"\n"):
            yield from line[:_LONGEST_ID].decode("ascii", "replace").lower().split()[:1]
