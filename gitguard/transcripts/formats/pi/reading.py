"""pi's session files, version 3 (recorded with 0.73.1), and version 1, which has no tree.

Entries form a tree: who goes back and goes on from there leaves a branch behind. The last line is
the newest of the branch that counts, and every other one of it is named by the one that follows.
"""

from __future__ import annotations

import os

from gitguard.model.events import Reading, Transcript, is_token_count
from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import count, inner, parse, settings_in
from gitguard.transcripts.formats.openclaw.file import SessionFile
from gitguard.transcripts.session_lines import message_of, newest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message
    from gitguard.transcripts.jsonl import Tell


_PARENT, _MESSAGE = b'"parentId"', b'"message"'


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compaction, from the end backwards."""
    reading = newest(_on_the_branch(_file(transcript).backwards()), across=across)
    if reading is None:
        return None
    return reading.replace(window=_window(transcript.path, reading.model) or None)


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said on the branch that stands.

    It is found from its end, so the lines are held while it is looked for: 3 MB of them at most.
    Where the middle is left out, the beginning is told along the branch that ends before it.
    """
    for stretch in jsonl.stretches(_file(transcript).path, since, tell):
        lines = [line for line in stretch if _PARENT in line or _MESSAGE in line]
        # Only the newest entry tells which branch counts, so follow it back, then turn it round.
        branch = reversed([*_on_the_branch(reversed(lines))])
        spoken = (message_of(parse(line)) for line in branch if _MESSAGE in line)
        yield from filter(None, spoken)


def prompts(transcript: Transcript, since: int = 0) -> tuple[Message, ...]:
    """Return what the user said; who goes back to an older entry leaves a branch behind.

    Nothing is returned if nobody went back behind an offset.
    """
    from gitguard.transcripts.branches import goes_straight_on, prompts_on_branches

    path = _file(transcript).path
    if goes_straight_on(path, since, _follower_of):
        return ()
    return prompts_on_branches(map(_follower_of, jsonl.forwards(path)))


def _follower_of(text: bytes) -> tuple[str, str, Message | None]:
    line = parse(text) if _PARENT in text else {}
    return str(line.get("id") or ""), str(line.get("parentId") or ""), message_of(line)


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the compactions; the cursor is a byte offset."""
    file = _file(transcript)
    begin = file.cursor(since)
    return count(file.turning_points(begin), begin)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line; a position is a byte offset."""
    from gitguard.transcripts.session_entries import fields_of

    return jsonl.entries(_file(transcript).path, since, fields_of)


def _file(transcript: Transcript) -> SessionFile:
    jsonl.cursor(transcript.path, 0)  # a file that is not there is an error, and no empty one
    return SessionFile(transcript.path, transcript.session)


def _window(path: str, model: str) -> int:
    """Return the window that a user's own model is given in pi's settings, 0 where none is.

    Those of the models that pi knows by itself are told in no file.
    """
    agent, sessions = os.path.split(os.path.dirname(os.path.dirname(path)))
    if sessions != "sessions":
        return 0
    settings = settings_in(os.path.join(agent, "models.json"))
    provider, _, name = model.partition("/")
    models = inner(inner(settings, "providers"), provider).get("models")
    for entry in models if isinstance(models, list) else ():
        if isinstance(entry, dict) and entry.get("id") == name:
            window = entry.get("contextWindow")
            return window if isinstance(window, int) and is_token_count(window) else 0
    return 0


def _on_the_branch(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield those of the lines, newest first, that lie between the last one and the root.

    Lines of version 1 have neither ids nor parents: each follows the one before it.
    """
    next_id = None
    for line in lines:
        if _PARENT not in line and next_id is not None:
            continue
        entry = parse(line)
        name, parent = entry.get("id"), entry.get("parentId")
        if next_id is None and "type" in entry and not entry.keys() & {"id", "parentId"}:
            yield line
        elif isinstance(name, str) and "parentId" in entry and next_id in (None, name):
            # At the root it is empty, which no entry is named: all before is another branch.
            next_id = parent if isinstance(parent, str) else ""
            yield line
