"""Writing the lines of OpenClaw's sessions: as pi's, but more blocks are calls and results."""

from __future__ import annotations

from gitguard.transcripts.formats.openclaw.reading import file_of
from gitguard.transcripts.formats.pi.writing import (
    HAS_HEADER,
    NOTES_BETWEEN,
    POINTERS,
    RESULTS_NAME_TOOLS,
    alone,
    answer,
    cut,
    header,
    is_record,
    link,
    mark,
    new_id,
    put,
    refuse_newer,
    reissued,
    relinked,
    renamed,
    repointed,
    sketched_by,
    with_id,
    without,
)
from gitguard.transcripts.session_entries import OPENCLAW
from gitguard.transcripts.session_entries import fields_of_openclaw as fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "HAS_HEADER",
    "NOTES_BETWEEN",
    "POINTERS",
    "RESULTS_NAME_TOOLS",
    "alone",
    "answer",
    "cut",
    "fields_of",
    "file_of",
    "header",
    "is_record",
    "link",
    "mark",
    "new_id",
    "put",
    "refuse_newer",
    "reissued",
    "relinked",
    "renamed",
    "repointed",
    "sketch",
    "sketch_in",
    "with_id",
    "without",
]


def sketch(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of one of OpenClaw's entries that repair needs."""
    return sketched_by(document, OPENCLAW)


def sketch_in(_path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return `sketch`: sub-agents have no part in a file."""
    return sketch
