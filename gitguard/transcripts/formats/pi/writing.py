"""Writing the lines of pi's sessions."""

from __future__ import annotations

from gitguard.transcripts.rewriting.session_writing import (
    HAS_HEADER,
    NOTES_BETWEEN,
    POINTERS,
    RESULTS_NAME_TOOLS,
    alone,
    answer,
    cut,
    file_of,
    header,
    link,
    mark,
    new_id,
    refuse_newer,
    reissued,
    relinked,
    renamed,
    repointed,
    sketch,
    with_id,
    without,
)
from gitguard.transcripts.session_entries import fields_of

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
    "link",
    "mark",
    "new_id",
    "refuse_newer",
    "reissued",
    "relinked",
    "renamed",
    "repointed",
    "sketch",
    "with_id",
    "without",
]
