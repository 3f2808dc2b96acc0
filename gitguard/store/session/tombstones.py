"""What `gitguard purge` took out here, so that no lane of another machine brings it back.

Only marks are kept, made with the repository's key: they tell whether a text is one of those that
were taken out, and give none of them away.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model import fields
from gitguard.model.codec import decode_json, dump_json, load_json
from gitguard.model.record import Record
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, load_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gitguard.store.session.workspace import Workspace

_NAME = "_purged.json"
_SHORTEST = 6
"""Characters; shorter texts stand everywhere."""
_LIMIT = 4 << 20


class PurgedTexts(Record):
    """What was taken out of the sessions of a repository."""

    marks: tuple[str, ...] = fields.texts("A mark of each text.", default=())


class Tombstones:
    """The marks of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        """Keep them in the state directory."""
        self._seal = workspace.seal
        self._path = os.path.join(workspace.state_folder, _NAME)

    def remember(self, before: Iterable[bytes], after: Iterable[bytes]) -> None:
        """Remember the texts of documents, as JSON, that are not in what became of them; durable.

        Raises `InvalidDocument` where an earlier record is damaged.
        """
        gone = {text for data in before for text in _texts_of(data)}
        gone -= {text for data in after for text in _texts_of(data)}
        marks = {self._seal.mark(text) for text in gone} - {""}
        recorded = self._read()
        if marks - recorded:
            record = PurgedTexts(tuple(sorted(recorded | marks)))
            files.make_folder(os.path.dirname(self._path))
            files.write_bytes(self._path, dump_json({"format": FORMAT, **record.to_document()}))

    def are_held(self, documents: Iterable[bytes]) -> bool:
        """Say whether any of some documents, as JSON, has a text that was taken out."""
        recorded = self._read()
        return bool(recorded) and any(
            self._seal.mark(text) in recorded for data in documents for text in _texts_of(data)
        )

    def _read(self) -> set[str]:
        record = load_record(self._path, "the record of what was purged", PurgedTexts)
        return set(record.marks) if record is not None else set()


def _texts_of(data: bytes) -> set[str]:
    try:
        return set(_leaves(load_json(data, what="a document", limit=_LIMIT)))
    except InvalidDocument:
        return set()


def _leaves(value: Any) -> Iterator[str]:
    """Yield the texts of a document, and those of JSON that stands in a text."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, str) and len(value) >= _SHORTEST:
        yield value
        if value.startswith("{"):
            try:
                yield from _leaves(decode_json(value))
            except InvalidInput:
                return
