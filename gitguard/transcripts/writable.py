"""Which transcripts can be written: files of lines, of hosts that read them back as they are."""

from __future__ import annotations

from gitguard.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.conversation import Entry
    from gitguard.model.events import Transcript
    from gitguard.transcripts.tree import Writable


def writable_of(transcript: Transcript) -> tuple[str, Writable]:
    """Return a transcript's file, and how its lines are written.

    Raises `InvalidInput` for a format that is read only.
    """
    from gitguard.transcripts import claude_code_writing, session_writing
    from gitguard.transcripts.openclaw import file_of

    if transcript.format == "claude-code":
        return transcript.path, claude_code_writing
    path = file_of(transcript) if transcript.format == "openclaw" else transcript.path
    if transcript.format in ("openclaw", "pi") and path:
        return path, session_writing
    raise InvalidInput(
        f"`{transcript.path}` is of {transcript.format}, and such transcripts are read only",
        "The files of claude-code and pi, and openclaw's of before 2026.8, can be written",
    )


def entry_at(transcript: Transcript, path: str, at: int, end: int) -> Entry:
    """Return one entry of a transcript's file, whole, by where it and the next one begin."""
    from gitguard.transcripts import claude_code_entries, jsonl, session_entries

    is_claude_code = transcript.format == "claude-code"
    translate = claude_code_entries.fields_of if is_claude_code else session_entries.fields_of
    return jsonl.entry_at(path, at, end, translate)
