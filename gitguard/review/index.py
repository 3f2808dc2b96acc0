"""The index of one history: a file of lines that is searched without reading it as a whole.

A line is an entry: the text as it is compared, a tab, and the rest as a JSON list. A line that
begins with the tab is no entry: the head of the file, what became of an entry since, a turn to
another code commit, or the checkpoint up to which the lines before it go. The last one of these ends
the file and has a checksum of all before it, so that a file which is cut off or changed is noticed.

An index holds nothing that the history does not hold. It can be thrown away at any time.
"""

from __future__ import annotations

import zlib

from gitguard.model.codec import decode_json
from gitguard.model.json_text import encode
from gitguard.model.value import Value
from gitguard.review.entries import KEY_LENGTH, MESSAGE, Before, Change, Entry, Turn
from gitguard.review.words import folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.review.entries import Collected

FORMAT = 1
_BEGIN, _CHANGE, _TURN, _END = "begin", "change", "turn", "end"
_END_MARK = b'\t["end",'
_MOST_CHANGES = 1000
"""Changes that are kept beside their entries, which is what an appended file has."""
_NAMES = ("key", "field", "removed")
_NAMES += tuple(name for name in Entry.field_names if name not in (*_NAMES, "parts"))
"""The values of an entry in the order of its line; what is looked at without reading it is first."""
_BEHIND_TAB = 3
"""From the tab to the key: the tab, a bracket and a quotation mark."""


class Label(Value):
    """What an index is of."""

    session: str
    """The session's key."""
    rules: str
    """By which rules secrets were taken out of it."""


class Index(Value):
    """An index as it was read."""

    data: bytes
    label: Label
    head: str
    """The commit of the newest checkpoint in it."""
    sequence: int
    """Its number; 0 where there is none."""
    lines: tuple[bytes, ...]
    """The entries, oldest first."""
    changes: dict[str, Change]
    """What became of entries since they were written, by their keys."""
    turns: tuple[Turn, ...]

    def entry(self, number: int) -> Entry:
        """Return an entry as it stands now."""
        entry = _read_entry(self.lines[number])
        change = self.changes.get(entry.key)
        return entry.replace(removed=change.removed, fixed_at=change.fixed_at) if change else entry

    def before(self) -> Before:
        """Return what later checkpoints are held against."""
        entries = {_key_of(line): line for line in self.lines}
        gone = {key for key, change in self.changes.items() if change.removed}
        standing = {
            key for key, line in entries.items() if key not in self.changes and _stands(line)
        }
        standing |= self.changes.keys() - gone
        code = self.turns[-1].code if self.turns else None
        return Before(frozenset(entries), frozenset(standing), code)


def new_index(label: Label, collected: Collected, head: str, sequence: int) -> Index:
    """Make an index of a whole history."""
    data = _line(_BEGIN, FORMAT, label.session, label.rules)
    return _whole(data + _body(collected), head, sequence)


def extended(index: Index, collected: Collected, head: str, sequence: int) -> Index:
    """Return an index with what later checkpoints add; its data begins with that of the old one.

    Only where entries changed very often are they all written again.
    """
    grown = _whole(index.data + _body(collected), head, sequence)
    return _rewritten(grown) if len(grown.changes) > _MOST_CHANGES else grown


def read_index(data: bytes) -> Index | None:
    """Read an index; None where it is damaged, or another program or version wrote it."""
    end = data.rfind(b"\n", 0, -1) + 1
    if not data.endswith(b"\n") or not data.startswith(_END_MARK, end):
        return None
    try:
        _, head, sequence, checksum = decode_json(data[end + 1 :].decode())
        if checksum != zlib.crc32(memoryview(data)[:end]):
            return None
        return _read(data, str(head), int(sequence))
    except (ValueError, TypeError):
        return None


def _whole(data: bytes, head: str, sequence: int) -> Index:
    data += _line(_END, head, sequence, zlib.crc32(data))
    return _read(data, head, sequence)


def _read(data: bytes, head: str, sequence: int) -> Index:
    lines = data.split(b"\n")
    lines.pop()
    entries = tuple([line for line in lines if line[:1] != b"\t"])
    others = [decode_json(line[1:].decode()) for line in lines if line[:1] == b"\t"]
    begin, version, session, rules = others[0]
    if (begin, version) != (_BEGIN, FORMAT):
        raise ValueError(f"it begins with `{begin!r:.20}` {version!r:.20}")
    changes = (Change(*other[1:]) for other in others if other[0] == _CHANGE)
    turns = tuple(Turn(*other[1:]) for other in others if other[0] == _TURN)
    by_key = {change.key: change for change in changes}
    return Index(data, Label(session, rules), head, sequence, entries, by_key, turns)


def _rewritten(index: Index) -> Index:
    numbers = range(len(index.lines))
    lines = [
        _entry_line(index.entry(n)) if _key_of(index.lines[n]) in index.changes else line
        for n, line in zip(numbers, (line + b"\n" for line in index.lines), strict=True)
    ]
    begin = _line(_BEGIN, FORMAT, index.label.session, index.label.rules)
    data = begin + b"".join(lines) + b"".join(map(_turn_line, index.turns))
    return _whole(data, index.head, index.sequence)


# Lines


def _body(collected: Collected) -> bytes:
    return b"".join(_body_lines(collected))


def _body_lines(collected: Collected) -> Iterator[bytes]:
    yield from map(_entry_line, collected.entries)
    for change in collected.changes:
        yield _line(_CHANGE, change.key, change.removed, change.fixed_at)
    yield from map(_turn_line, collected.turns)


def _turn_line(turn: Turn) -> bytes:
    return _line(_TURN, turn.sequence, turn.commit, turn.code)


def _line(*values: Any) -> bytes:
    return f"\t{encode(values)}\n".encode("utf-8", "replace")


def _entry_line(entry: Entry) -> bytes:
    text = " ".join(entry.parts)
    compared = folded(text)
    # Most texts are plain: then they stand there once, and their parts are told by their lengths.
    is_plain = text.isascii() and text.lower() == compared
    parts = [len(part) for part in entry.parts] if is_plain else entry.parts
    values = [getattr(entry, name) for name in _NAMES]
    shown = text if is_plain else compared
    return f"{shown}\t{encode([*values, parts])}\n".encode("utf-8", "replace")


def _read_entry(line: bytes) -> Entry:
    shown, _, rest = line.partition(b"\t")
    *values, parts = decode_json(rest.decode())
    if parts and isinstance(parts[0], int):
        parts = _cut(shown.decode(), parts)
    return Entry(**dict(zip(_NAMES, values, strict=True)), parts=tuple(parts))


def _cut(text: str, lengths: list[int]) -> Iterator[str]:
    start = 0
    for length in lengths:
        yield text[start : start + length]
        start += length + 1  # a blank lies between two parts


def field_mark(field: str) -> bytes:
    """Return how an entry of a field goes on behind its key."""
    return f'", "{field}"'.encode()


def field_place(line: bytes) -> int:
    """Return where in a line that stands."""
    return line.index(b"\t") + _BEHIND_TAB + KEY_LENGTH


def _key_of(line: bytes) -> str:
    start = line.index(b"\t") + _BEHIND_TAB
    return line[start : start + KEY_LENGTH].decode()


def _stands(line: bytes) -> bool:
    """Say whether an entry stood when its line was written; what was said does not stand."""
    field, _, rest = line[field_place(line) :].partition(b", ")[2].partition(b", ")
    return field != f'"{MESSAGE}"'.encode() and rest.startswith(b"0, ")
