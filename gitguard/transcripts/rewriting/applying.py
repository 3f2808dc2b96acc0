"""Rewriting a transcript's file: edits are applied, and every other line is copied as it is.

The file is read once from end to end, in constant memory but for the places of its entries, which
are only needed where entries go or come. `replacing` puts the outcome in its place.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidInput, Locked
from gitguard.model.codec import json_encoder
from gitguard.model.value import Value
from gitguard.transcripts.entries import OpenTranscript, Unread, open_file, read_line
from gitguard.transcripts.rewriting.edits import (
    START,
    Add,
    AddResult,
    Change,
    Cut,
    Edit,
    End,
    Move,
    Put,
    Reissue,
    Relink,
    Rename,
    Replace,
    Shift,
    Unsign,
    replaced,
    taken_out,
)
from gitguard.transcripts.rewriting.replacing import FileIdentity, Replacing, identity_of
from gitguard.transcripts.rewriting.signatures import unsigned
from gitguard.transcripts.rewriting.tree import EntryLink, Mended, Mending, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from gitguard.transcripts.rewriting.tree import Writable

_BLOCK = 1 << 20
_write = json_encoder(members=",", colon=":", allow_nan=False)


class Rewritten(Value):
    """What became of a file."""

    path: str
    backup: str = ""
    """Where its original is kept; empty where it was not touched, or is not to be kept."""
    size: int = 0


def rewrite(
    path: str,
    edits: Sequence[Edit],
    writable: Writable,
    *,
    now: float,
    seen: FileIdentity | None = None,
    tree: Tree | None = None,
    keep: bool = True,
    at_step: Callable[[str], object] = str,
    still_ours: Callable[[], object] = bool,
) -> Rewritten:
    """Apply edits to a file, whole or not at all; without edits it is not touched.

    `seen` is how the file stood when the edits were decided: `Locked` is raised where it changed
    since, or where another process has it open for writing. `tree` saves reading it for its
    places. The original stays as `<path>.bak-<pid>-<now>`, if it is to be kept. at_step hears of
    each step, still_ours raises when a lock ran out.
    """
    seen = seen or identity_of(path)
    if not edits:
        return Rewritten(path, size=seen.size)
    with OpenTranscript(path) as handle:
        plan = _RewritePlan(handle, seen.size, edits, writable=writable, tree=tree)
        writing = Replacing(path, seen, now=now, at_step=at_step, still_ours=still_ours, keep=keep)
        size = 0
        with writing as out:
            for piece in plan.pieces():
                if isinstance(piece, range):
                    out.copy(handle, piece.start, piece.stop)
                else:
                    out.write(piece)
                size += len(piece)
        return Rewritten(path, writing.backup, size)


def parse(raw: bytes) -> dict[str, Any] | None:
    """Return the document that a line is, None for what is none; bad bytes survive in it."""
    document = read_line(raw, "surrogateescape", to_write=True)
    return None if isinstance(document, Unread) else document


def line_of(document: dict[str, Any]) -> bytes:
    """Return the line that a document is, without its end; bad bytes are what they were."""
    from gitguard.transcripts.odd_lines import restored

    text = _write(document)
    try:
        line = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # half a character that was spelled out
        import json

        line = json.dumps(document, separators=(",", ":")).encode()
    return restored(line)


def line_at(path: str, at: int) -> dict[str, Any]:
    """Return the document that begins somewhere in a file."""
    handle = open_file(path)
    try:
        document = parse(_raw(handle, at, os.fstat(handle).st_size))
    finally:
        os.close(handle)
    if document is None:
        raise _no_entry(at)
    return document


def _no_entry(at: int) -> InvalidInput:
    return InvalidInput(f"no entry begins at byte {at:,} of the transcript; nothing was written")


def _raw(handle: int, at: int, size: int) -> bytes:
    """Return the line that begins somewhere, without its end."""
    parts: list[bytes] = []
    while at < size and (data := os.pread(handle, 1 << 16, at)):
        end = data.find(b"\n")
        if end >= 0:
            parts.append(data[:end])
            break
        parts.append(data)
        at += len(data)
    return b"".join(parts)


def _tree(handle: int, size: int, writable: Writable) -> Tree:
    links, pointers = [], []
    for at, raw in _lines(handle, size):
        document = parse(raw)
        if document is None:
            continue
        if not writable.POINTERS.isdisjoint(document):
            pointers.append(at)
        if place := writable.link(document):
            links.append(EntryLink(at, *place))
    return Tree(links, pointers)


def _lines(handle: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield where each line begins, and the line."""
    at, remainder = 0, b""
    while at + len(remainder) < size:
        data = os.pread(handle, _BLOCK, at + len(remainder))
        if not data:
            break
        *lines, remainder = (remainder + data).split(b"\n")
        for line in lines:
            yield at, line
            at += len(line) + 1
    if remainder:
        yield at, remainder


class _New(Value):
    """A line that comes."""

    line: bytes = b""
    source: int = START
    """Where the entry begins that it is made of, if it is not given as it is."""
    block: int = 0
    answer: str | None = None
    """What the result says that it is."""
    id: str = ""
    parent: str = ""
    is_whole: bool = False
    """Whether it is its source itself, at another place."""


class _RewritePlan:
    """What is done at which place of a file."""

    def __init__(
        self, handle: int, size: int, edits: Sequence[Edit], writable: Writable, tree: Tree | None
    ) -> None:
        self._handle, self._size, self._writable = handle, size, writable
        self._edits: dict[int, list[Edit]] = {}
        self._new: dict[int, list[_New]] = {}
        self._gone: set[int] = set()
        self._relinks: dict[int, str] = {}
        self._mended = Mended({}, {}, {})
        self._pointers: frozenset[int] = frozenset()
        for edit in edits:
            if not isinstance(edit, (Add, AddResult, End)):
                self._edits.setdefault(edit.at, []).append(edit)
        self._is_ended = any(isinstance(edit, End) for edit in edits)
        self._take_out()
        self._bring_in(edits)
        self._shifted: set[int] = set()
        self._shifted_behind: dict[int, list[int]] = {}
        for edit in edits:
            if isinstance(edit, Shift):
                self._shifted.add(edit.at)
                self._shifted_behind.setdefault(edit.behind, []).append(edit.at)
        self._relinks = {edit.at: edit.parent for edit in edits if isinstance(edit, Relink)}
        if self._gone or any(isinstance(edit, (Move, AddResult)) for edit in edits):
            parsed_tree = tree if tree is not None else _tree(handle, size, writable)
            self._mend(parsed_tree.relinked(self._relinks))

    def _take_out(self) -> None:
        """Find the entries that nothing is left of."""
        for at, edits in self._edits.items():
            out = taken_out(edits)
            if out is None or (out and not self._without(at, out)):
                self._gone.add(at)

    def _without(self, at: int, blocks: frozenset[int]) -> dict[str, Any]:
        return self._writable.without(self._document(at), blocks)

    def _bring_in(self, edits: Sequence[Edit]) -> None:
        whole: set[int] = set()
        for edit in edits:
            if isinstance(edit, Add):
                new, behind = _New(edit.line), edit.behind
            elif isinstance(edit, AddResult):
                new, behind = _New(source=edit.at, block=edit.block, answer=edit.text), edit.behind
            elif isinstance(edit, Move):
                is_whole = edit.at in self._gone and edit.at not in whole
                whole |= {edit.at}
                new = _New(source=edit.at, block=edit.block, is_whole=is_whole)
                behind = edit.behind
            else:
                continue
            self._new.setdefault(behind, []).append(new)

    def _mend(self, tree: Tree) -> None:
        moved = {new.source for made in self._new.values() for new in made if new.is_whole}
        ids = {at: tree.at[at].id for at in self._gone if at in tree.at}
        elsewhere = {ids[at] for at in moved if at in ids}
        # Of several lines of one id the last one is what hosts know.
        gone_ids = {id_ for id_ in ids.values() if tree.by_id[id_].at in self._gone} - elsewhere
        mending = Mending(tree, gone_ids, elsewhere)
        for behind, made in self._new.items():
            if behind not in tree.at:
                continue
            anchor = tree.at[behind].id
            self._new[behind] = [self._placed(new, anchor, tree, mending) for new in made]
        self._keep_leaf(tree, mending)
        self._relinks |= mending.relinks()
        self._mended = mending.mended()
        self._pointers = frozenset(tree.pointers)

    def _keep_leaf(self, tree: Tree, mending: Mending) -> None:
        """Let the conversation go on from where it did, though its newest entry is gone."""
        if not (lost := mending.lost_leaf()):
            return
        at, parent = lost
        free_id = self._free_id(_New(source=at), parent, tree)
        made = self._writable.with_id(self._writable.mark(self._document(at)), free_id, parent)
        self._new.setdefault(at, []).append(_New(line_of(made)))

    def _placed(self, new: _New, anchor: str, tree: Tree, mending: Mending) -> _New:
        if new.line:
            return new
        new_id = tree.at[new.source].id if new.is_whole else self._free_id(new, anchor, tree)
        return new.replace(id=new_id, parent=mending.put_behind(anchor, new_id))

    def _free_id(self, new: _New, anchor: str, tree: Tree) -> str:
        number = 0
        while True:
            candidate = self._writable.new_id(f"{anchor} {new.source} {new.block} {number}")
            if candidate not in tree.by_id:
                tree.by_id[candidate] = EntryLink(new.source, candidate, anchor)
                return candidate
            number += 1

    def pieces(self) -> Iterator[bytes | range]:
        """Yield the new file: lines, and which parts of the old one stay as they are."""
        is_ended = True
        for piece in self._parts():
            yield piece
            if piece:
                is_ended = self._ends_a_line(piece)
        if self._is_ended and not is_ended:
            yield b"\n"

    def _ends_a_line(self, piece: bytes | range) -> bool:
        end = os.pread(self._handle, 1, piece.stop - 1) if isinstance(piece, range) else piece[-1:]
        return end == b"\n"

    def _parts(self) -> Iterator[bytes | range]:
        yield from (self._line(new) + b"\n" for new in self._new.get(START, ()))
        yield from self._shifted_here(START)
        touched = {*self._edits, *self._new, *self._relinks, *self._pointers}
        touched = {*touched, *self._shifted_behind} - {START}
        position = 0
        for at in sorted(touched):
            yield range(position, at)
            raw = self._raw(at)
            position = min(at + len(raw) + 1, self._size)
            if at not in self._shifted:
                yield from self._touched(at, raw, b"\n" * (position > at + len(raw)))
        yield range(position, self._size)

    def _shifted_here(self, anchor: int) -> Iterator[bytes]:
        """Yield the entries that stand behind another one now, and what comes behind each."""
        waiting = self._shifted_behind.get(anchor, [])[::-1]
        while waiting:  # and not by recursion: thousands may stand behind one another
            at = waiting.pop()
            yield from self._touched(at, self._raw(at), b"\n", with_shifted=False)
            waiting += self._shifted_behind.get(at, [])[::-1]

    def _touched(
        self, at: int, raw: bytes, end: bytes, *, with_shifted: bool = True
    ) -> Iterator[bytes]:
        if at not in self._gone:
            yield self._changed(at, raw) + end
        new_lines, has_shifted = self._new.get(at, ()), with_shifted and at in self._shifted_behind
        if (new_lines or has_shifted) and not end and at not in self._gone:
            yield b"\n"
        returned = b"\r" if raw.endswith(b"\r") else b""
        for new in new_lines:
            yield self._line(new) + returned + b"\n"
        if has_shifted:
            yield from self._shifted_here(at)

    def _changed(self, at: int, raw: bytes) -> bytes:
        edits = self._edits.get(at, [])
        raw = replaced(raw, edits)
        document = parse(raw)
        if document is None:
            if at in self._relinks or not all(isinstance(edit, Replace) for edit in edits):
                raise _no_entry(at)
            return raw
        changed = self._edited(document, edits)
        if at in self._relinks:
            changed = self._writable.relinked(changed, self._relinks[at])
        if at in self._pointers:
            changed = self._writable.repointed(changed, self._mended)
        if changed == document:
            return raw
        return line_of(changed) + (b"\r" if raw.endswith(b"\r") else b"")

    def _edited(self, document: dict[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
        for edit in edits:
            if isinstance(edit, Rename):
                document = self._writable.renamed(document, edit.block, edit.name)
            elif isinstance(edit, Reissue):
                document = self._writable.reissued(document, edit.block, edit.id)
            elif isinstance(edit, Cut):
                document = self._writable.cut(document, edit.block, edit.text)
            elif isinstance(edit, Put):
                document = self._writable.put(document, edit.path, edit.value)
            elif isinstance(edit, Unsign):
                document = unsigned(document, edit.path)
        out = taken_out(edits)
        return self._writable.without(document, out) if out else document

    def _line(self, new: _New) -> bytes:
        if new.source == START:
            return new.line
        edits = self._edits.get(new.source, [])
        changes = [edit for edit in edits if isinstance(edit, Change)]
        document = self._edited(self._document(new.source), changes)
        if new.answer is not None:
            made = self._writable.answer(document, new.block, new.answer)
        else:
            made = self._writable.alone(document, new.block)
        if new.is_whole and not new.id:
            return line_of(made)
        return line_of(self._writable.with_id(made, new.id, new.parent))

    def _document(self, at: int) -> dict[str, Any]:
        document = parse(replaced(self._raw(at), self._edits.get(at, ())))
        if document is None and os.fstat(self._handle).st_size < self._size:
            raise Locked("the transcript became shorter while it was read; nothing was written")
        if document is None:
            raise _no_entry(at)
        return document

    def _raw(self, at: int) -> bytes:
        return _raw(self._handle, at, self._size)
