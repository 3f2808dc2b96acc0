"""The index of one history: two files, which are searched without reading them as a whole.

One has the texts of all entries as they are compared, a line each. The other has for each of them,
in the same order, the rest as a JSON list. There, a line that begins with a tab is no entry: the
head of the file, what became of an entry since, a turn to another code commit, or the checkpoint up
to which all of it goes. The last one of these ends the file, with a checksum of all before it and
of the texts, so that a file which is cut off or changed is noticed.

An index holds nothing that the history does not hold. It can be thrown away at any time.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from gitguard.model.codec import decode_json, encode_json
from gitguard.model.value import Value
from gitguard.review.entries import (
    FIELDS,
    KEY_LENGTH,
    MESSAGE,
    Before,
    Change,
    Collected,
    IndexedItem,
    Turn,
)
from gitguard.review.words import folded

FORMAT = 2
_BEGIN, _CHANGE, _TURN, _END = "begin", "change", "turn", "end"
_END_MARK = b'\t["end",'
_MOST_CHANGES = 1000
"""Changes that are kept beside their entries, which is what an appended file has."""
_FIRST = ("key", "field", "removed")
"""What is looked at without reading a line stands first in it."""
_NAMES = (*_FIRST, *(name for name in IndexedItem.field_names if name not in (*_FIRST, "parts")))
_KEY = slice(2, 2 + KEY_LENGTH)
"""Where the key stands in a line, behind a bracket and a quotation mark."""
_STANDING = tuple(f'", "{field}", 0, '.encode() for field in FIELDS if field != MESSAGE)
"""How the line of an entry goes on behind its key while it stands."""


class Label(Value):
    """What an index is of."""

    session: str
    """The session's key."""
    rules: str
    """By which rules secrets were taken out of it."""


class Index(Value):
    """An index as it was read."""

    texts: bytes
    """The content of one file."""
    records: bytes
    """The content of the other."""
    label: Label
    head: str
    """The commit of the newest checkpoint in it."""
    sequence: int
    """Its number; 0 where there is none."""
    changes: dict[str, Change]
    """What became of entries since they were written, by their keys."""
    turns: tuple[Turn, ...]

    @cached_property
    def lines(self) -> list[bytes]:
        """The entries without their texts, oldest first; most searches need few or none."""
        return [line for line in self.records.split(b"\n") if line and line[:1] != b"\t"]

    def entries(self, numbers: Iterable[int]) -> Iterator[IndexedItem]:
        """Yield entries, by their numbers, as they stand now."""
        texts: list[bytes] = []
        for number in numbers:
            texts = texts or self.texts.split(b"\n")
            entry = _read_entry(texts[number], self.lines[number])
            change = self.changes.get(entry.key)
            if change is not None:
                entry = entry.replace(removed=change.removed, fixed_at=change.fixed_at)
            yield entry

    def before(self) -> Before:
        """Return what later checkpoints are held against."""
        keys = frozenset(line[_KEY].decode() for line in self.lines)
        standing = {line[_KEY].decode() for line in self.lines if _stands(line)}
        standing -= self.changes.keys()
        standing |= {key for key, change in self.changes.items() if not change.removed}
        code = self.turns[-1].code if self.turns else None
        return Before(keys, frozenset(standing), code)


def new_index(label: Label, collected: Collected, head: str, sequence: int) -> Index:
    """Make an index of a whole history."""
    texts, records = _lines_of(collected)
    return _ended(texts, _begin(label) + records, head, sequence)


def extended(index: Index, collected: Collected, head: str, sequence: int) -> Index:
    """Return an index with what later checkpoints add; its files begin with those of the old one.

    Only where entries changed very often are they all written again.
    """
    texts, records = _lines_of(collected)
    grown = _ended(index.texts + texts, index.records + records, head, sequence)
    return _rewritten(grown) if len(grown.changes) > _MOST_CHANGES else grown


def read_index(texts: bytes, records: bytes) -> Index | None:
    """Read an index; None where it is damaged, or another program or version wrote it."""
    end = records.rfind(b"\n", 0, -1) + 1
    if not records.endswith(b"\n") or not records.startswith(_END_MARK, end):
        return None
    try:
        _, head, sequence, *checksums = decode_json(records[end + 1 :].decode())
        if checksums != _checksums(texts, memoryview(records)[:end]):
            return None
        return _read(texts, records, str(head), int(sequence))
    except (ValueError, TypeError, LookupError):
        return None


def _checksums(texts: bytes, records: bytes | memoryview) -> list[int]:
    return [zlib.crc32(texts), zlib.crc32(records)]


def _ended(texts: bytes, records: bytes, head: str, sequence: int) -> Index:
    records += _line(_END, head, sequence, *_checksums(texts, records))
    return _read(texts, records, head, sequence)


def _read(texts: bytes, records: bytes, head: str, sequence: int) -> Index:
    others = [decode_json(line.decode()) for line in _tabbed(records)]
    begin, version, session, rules = others[0]
    if (begin, version) != (_BEGIN, FORMAT):
        raise ValueError(f"it begins with `{begin!r:.20}` {version!r:.20}")
    changes = (Change(*other[1:]) for other in others if other[0] == _CHANGE)
    turns = tuple(Turn(*other[1:]) for other in others if other[0] == _TURN)
    by_key = {change.key: change for change in changes}
    return Index(
        texts=texts,
        records=records,
        label=Label(session, rules),
        head=head,
        sequence=sequence,
        changes=by_key,
        turns=turns,
    )


def _tabbed(records: bytes) -> Iterator[bytes]:
    """Yield the lines that are no entries, without their tabs."""
    start = 0
    while True:
        if not records.startswith(b"\t", start):
            start = records.find(b"\n\t", start) + 1
            if start == 0:
                return
        end = records.index(b"\n", start)
        yield records[start + 1 : end]
        start = end + 1


def _rewritten(index: Index) -> Index:
    """Return an index with what became of its entries in their own lines."""
    changed = [n for n, line in enumerate(index.lines) if line[_KEY].decode() in index.changes]
    lines = list(index.lines)
    for number, entry in zip(changed, index.entries(changed), strict=True):
        lines[number] = _entry_lines(entry)[1].rstrip(b"\n")
    lines_of_file = [
        _begin(index.label),
        *(line + b"\n" for line in lines),
        *map(_turn_line, index.turns),
    ]
    return _ended(index.texts, b"".join(lines_of_file), index.head, index.sequence)


# Lines


def _begin(label: Label) -> bytes:
    return _line(_BEGIN, FORMAT, label.session, label.rules)


def _lines_of(collected: Collected) -> tuple[bytes, bytes]:
    pairs = [_entry_lines(entry) for entry in collected.entries]
    lines = [line for _, line in pairs]
    lines += [_line(_CHANGE, c.key, c.removed, c.fixed_at) for c in collected.changes]
    lines += map(_turn_line, collected.turns)
    return b"".join(text for text, _ in pairs), b"".join(lines)


def _turn_line(turn: Turn) -> bytes:
    return _line(_TURN, turn.sequence, turn.commit, turn.code)


def _line(*values: Any) -> bytes:
    return f"\t{encode_json(values)}\n".encode("utf-8", "replace")


def _entry_lines(entry: IndexedItem) -> tuple[bytes, bytes]:
    text = " ".join(entry.parts)
    compared = folded(text)
    # Most texts are plain: then they stand there once, and their parts are told by their lengths.
    is_plain = text.isascii() and text.lower() == compared
    parts = [len(part) for part in entry.parts] if is_plain else list(entry.parts)
    values = [getattr(entry, name) for name in _NAMES]
    shown = f"{text if is_plain else compared}\n"
    lines = (shown, f"{encode_json([*values, parts])}\n")
    shown_line, line = (line.encode("utf-8", "replace") for line in lines)
    return shown_line, line


def _read_entry(text: bytes, line: bytes) -> IndexedItem:
    *values, parts = decode_json(line.decode())
    if parts and isinstance(parts[0], int):
        parts = _cut(text.decode(), parts)
    return IndexedItem(**dict(zip(_NAMES, values, strict=True)), parts=tuple(parts))


def _cut(text: str, lengths: list[int]) -> Iterator[str]:
    start = 0
    for length in lengths:
        yield text[start : start + length]
        start += length + 1  # a blank lies between two parts


def is_of_field(line: bytes, fields: tuple[str, ...]) -> bool:
    """Say whether the line of an entry is of one of the fields."""
    marks = tuple(f'", "{field}"'.encode() for field in fields)
    return line.startswith(marks, _KEY.stop)


def _stands(line: bytes) -> bool:
    """Say whether an entry stood when its line was written; what was said does not stand."""
    return line.startswith(_STANDING, _KEY.stop)
