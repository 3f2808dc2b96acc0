"""Which lanes were joined into a session since its last checkpoint, for the next one to say so."""

from __future__ import annotations

import os

from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, load_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.workspace import Session, Workspace


class JoinedLanes(Record):
    """Which lanes a session's state holds, until its next checkpoint says so."""

    lanes: tuple[str, ...] = fields.texts("Writers and commits, as in `Gitguard-Seen`.")


def joined_path(workspace: Workspace, session: Session) -> str:
    """Return where is noted which lanes were joined since the last checkpoint."""
    return os.path.join(workspace.anchor_folder(session), "joined.json")


def read_joined(path: str) -> dict[str, str]:
    """Return the lanes that were joined since the last checkpoint, with all before: by writer."""
    seen = load_record(path, "what was joined", JoinedLanes)
    pairs = (text.partition("=") for text in (seen.lanes if seen is not None else ()))
    return {writer: commit for writer, _, commit in pairs}


def write_joined(path: str, seen: Mapping[str, str]) -> None:
    """Note for the next checkpoint which lanes the state holds, durable."""
    lanes = tuple(f"{writer}={commit}" for writer, commit in sorted(seen.items()))
    files.make_folder(os.path.dirname(path))
    files.write_bytes(path, dump_json({"format": FORMAT, **JoinedLanes(lanes).to_document()}))
