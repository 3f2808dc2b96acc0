"""Writing the lines of OpenClaw's sessions: as pi's, but more blocks are calls and results."""

from __future__ import annotations

from gitguard.transcripts.formats.openclaw import reading
from gitguard.transcripts.formats.pi import writing as pi_writing
from gitguard.transcripts.session_entries import OPENCLAW, fields_of_openclaw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

fields_of = fields_of_openclaw
file_of = reading.file_of


def sketch(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of one of OpenClaw's entries that repair needs."""
    return pi_writing.sketched_by(document, OPENCLAW)


def sketch_in(_path: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return `sketch`: sub-agents have no part in a file."""
    return sketch


def __getattr__(name: str) -> Any:
    """Return what is the same in pi's sessions."""
    return getattr(pi_writing, name)
