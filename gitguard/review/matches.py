"""Which files of which commits hold a session's work, kept in the state directory once it is found.

Snapshots of files are forgotten after some weeks, and git forgets commits that were rewritten. A
match outlasts both: it says by ids what a commit changed in a file, and in which turns that was
written. It names only contents of commits.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model.codec import decode_json, dump_line
from gitguard.model.value import Value
from gitguard.review.authorship import CERTAINTIES, NOTHING, FileStep
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = "matches.jsonl"
_LIMIT = 16 << 20


class HeldFile(Value):
    """A file of a commit that holds work of a session."""

    commit: str
    path: str
    old: str
    """The id of the parent's content; empty where it has no such file."""
    new: str
    author: str
    certainty: str
    turns: tuple[tuple[str, str], ...]
    """The commits of the checkpoint before each turn of the work, and at its end."""


class Matches:
    """The matches of one session."""

    def __init__(self, folder: str) -> None:
        """Keep them in a folder of the session; nothing is read yet."""
        self._path = os.path.join(folder, FILE)

    def read(self) -> tuple[HeldFile, ...]:
        """Return all that can be read."""
        try:
            data = files.read_bytes(self._path, limit=_LIMIT) or b""
        except GitguardError:
            return ()
        return tuple(match for line in data.splitlines() if (match := _parsed(line)) is not None)

    def add(self, new: Iterable[HeldFile], kept: Iterable[HeldFile]) -> None:
        """Keep what is not kept yet, where that is possible."""
        kept_places = {(match.commit, match.path) for match in kept}
        lines = [
            dump_line({name: getattr(match, name) for name in match.field_names})
            for match in new
            if (match.commit, match.path) not in kept_places
        ]
        try:
            if lines and os.path.isdir(os.path.dirname(self._path)):
                files.append(self._path, b"".join(lines))
        except GitguardError:
            return  # the next question finds it again, while the snapshots are there


def _parsed(line: bytes) -> HeldFile | None:
    try:
        document = decode_json(line.decode())
        turns = tuple((before, after) for before, after in document.pop("turns"))
        match = HeldFile(turns=turns, **document)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    is_text = all(isinstance(text, str) for text in document.values())
    return match if is_text and match.certainty in CERTAINTIES else None


def steps_of(matches: Iterable[HeldFile], places: Mapping[str, int]) -> dict[str, list[FileStep]]:
    """Return matches as steps by their paths; places has those of the checkpoints' commits."""
    by_path: dict[str, list[FileStep]] = {}
    for match in matches:
        turns = tuple((places.get(a, -1), places.get(b, -1)) for a, b in match.turns)
        if not turns or any(-1 in turn for turn in turns):
            continue  # a purge wrote the history anew
        step = FileStep(
            match.path,
            match.old,
            match.new,
            author=match.author,
            before=turns[0][0],
            after=turns[-1][1],
            lines=lambda: NOTHING,
            turns=turns,
            is_of_commit=True,
            certainty=match.certainty,
        )
        by_path.setdefault(match.path, []).append(step)
    return by_path
