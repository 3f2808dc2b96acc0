"""Which host's transcript is this? The first lines of a file tell, else the place it lies in.

A line tells by what no other host's lines have.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.conversation import MESSAGE
from gitguard.model.events import Transcript
from gitguard.model.text import shell_word
from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import bytes_at
from gitguard.transcripts.formats import FORMATS, MARKS, NAMES, READING, load
from gitguard.transcripts.plain_lines import as_lines, is_compressed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SQLITE = b"SQLite format 3\0"


def recognise(path: str, name: str = "", conversation: str = "") -> Transcript:
    """Return the transcript at a path: its format, unless named, and which conversation it is.

    A database keeps many conversations; the newest one counts where none is named. Raises
    `InvalidDocument` when the path cannot be read, or nobody's conversation is there, and
    `InvalidInput` when a file of one conversation is asked for another.
    """
    path = os.path.abspath(path)
    if name:
        load(name, READING)
    if os.path.isdir(path):
        kept_in_folders = next(key for key, row in FORMATS.items() if row.in_folders)
        return _in_a_place_of_many(path, kept_in_folders, conversation)
    if is_database(path):
        return _in_a_place_of_many(path, name or _by_tables(path), conversation)
    format_name = name or _by_lines(path) or _by_place(path)
    if not format_name:
        raise _nobodys(path)
    if is_compressed(path) and not FORMATS[format_name].is_unpacked:
        raise InvalidDocument(
            f"`{path}` is compressed; of {format_name} only plain files are read",
            f"Unpack it: `zstd -d {shell_word(path)}`",
        )
    name_of_it = _conversation_of(path, format_name)
    if conversation and conversation != name_of_it:
        raise InvalidInput(
            f"`{path}` holds one conversation, and it is not `{conversation}`",
            "Leave out --conversation: it is for a database or folder with several",
        )
    return Transcript(path, format_name, name_of_it)


def refuse_another(transcript: Transcript) -> None:
    """Raise `InvalidInput` if a file is clearly of another format than the one it is named.

    It clearly is if some of its first lines are another format's, and none is of the named one. If
    no line is recognised, the file's place decides. A file too damaged for either is taken to be
    what its owner says.
    """
    path, named = transcript.path, transcript.format
    if os.path.isdir(path) or is_database(path):
        return  # their tables were recognised, and no database is ever written
    alike = _lines_of(named)
    another = ""
    with as_lines(path) as lines_path:
        for name in _formats_shown(path, lines_path):
            if _lines_of(name) == alike:
                return
            another = another or name
    another = another or _by_place(path)
    if another and _lines_of(another) != alike:
        raise InvalidInput(
            f"`{path}` is a transcript of {another}, not of {named}; it was left as it is",
            "Leave out --format: gitguard recognizes the file by its content",
        )


def require_messages(transcript: Transcript) -> None:
    """Raise `InvalidDocument` if not one message is read in a transcript."""
    reading = load(transcript.format, READING)
    if any(True for _ in reading.messages(transcript)):
        return  # this looks at little of a long file
    if any(entry.kind == MESSAGE for entry in reading.entries(transcript)):
        return
    empty = (
        ": it is empty"
        if os.path.isfile(transcript.path) and not bytes_at(transcript.path, 0, 1)
        else ""
    )
    raise InvalidDocument(
        f"no message of {transcript.format} is in `{transcript.path}`{empty}",
        "If it is of another host, name its format with --format: " + ", ".join(NAMES),
    )


def _lines_of(name: str) -> str:
    """Return the format that a format shares its lines with, most often itself."""
    return FORMATS[name].alike or name


def is_database(path: str) -> bool:
    """Say whether a file is a database; raise `InvalidDocument` when it cannot be read."""
    return bytes_at(path, 0, len(_SQLITE)).startswith(_SQLITE)


def _nobodys(path: str) -> InvalidDocument:
    empty = "" if bytes_at(path, 0, 1) else ": it is empty"
    return InvalidDocument(
        f"`{path}` is in no transcript format that gitguard recognizes{empty}",
        "Name its format with --format: " + ", ".join(NAMES),
    )


def _conversation_of(path: str, format_name: str) -> str:
    """Return the name of the conversation that a file holds: its folder's, or its own."""
    end, place = FORMATS[format_name].file, path.replace(os.sep, "/")
    if end and place.endswith(end):
        return os.path.basename(place.removesuffix(end))
    return os.path.splitext(os.path.basename(path).removesuffix(".zst"))[0]


def _by_tables(path: str) -> str:
    from gitguard.transcripts.database import open_database

    with open_database(path) as database:
        tables = database.tables()
    for name, row in FORMATS.items():
        if row.tables and row.tables <= tables:
            return name
    raise _nobodys(path)


def _in_a_place_of_many(path: str, name: str, conversation: str) -> Transcript:
    if not FORMATS[name].tables:
        raise InvalidDocument(f"`{path}` is not a transcript of the format `{name}`")
    session = conversation or load(name, READING).newest_session(path)
    if not session:
        raise InvalidDocument(
            f"there is no conversation in `{path}`", "Name a transcript's file instead"
        )
    return Transcript(path, name, session)


def _by_lines(path: str) -> str:
    """Return the format that the first lines show, empty where none of them does."""
    with as_lines(path) as lines_path:
        return next(_formats_shown(path, lines_path), "")


def _formats_shown(path: str, lines_path: str) -> Iterator[str]:
    """Yield the format of each of the first lines that shows one.

    The lines may stand in another file than the one that is named.
    """
    for line in jsonl.first_documents(lines_path):
        name = _by_line(path, line)
        del line  # it may be long, and is not to be held while the next one is read
        if name:
            yield name


def _by_line(path: str, line: dict[str, Any]) -> str:
    """Return the format that a line shows; the first in the table that claims it."""
    for name in NAMES:
        if load(name, MARKS).shows(path, line):
            return name
    return ""


def _by_place(path: str) -> str:
    place = path.replace(os.sep, "/")
    for name, row in FORMATS.items():
        if row.place and row.place in place:
            return name
    return ""
