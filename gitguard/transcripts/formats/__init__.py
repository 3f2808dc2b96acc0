"""The table of transcript formats: how each is recognised, and what can be done with it.

A format is a folder of this package. Its `reading` module reads it, and `marks` recognises its
lines. If the host reads its files back as they are, `writing` repairs them and `compaction` adds
summaries.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READING, MARKS, WRITING, COMPACTION = "reading", "marks", "writing", "compaction"
"""Modules of a format. `reading` offers `transcripts.Format`, and `writing`, where there is one,
`rewriting.tree.Writable`."""


KEPT, REMOVED = "kept", "removed"
"""What a host does with turns that the user takes back: it keeps them in the transcript and says so
there, or it removes them."""


class FormatRow(Value):
    """One format."""

    place: str = ""
    """A part of the path of the host's files, which tells where their lines do not, as if empty."""
    tables: frozenset[str] = frozenset()
    """Tables of the host's database, by which it is recognised; empty if it has no database."""
    is_written: bool = False
    """Whether its files can be written."""
    file: str = ""
    """How the path of a conversation's file ends, from the folder on that has its name; empty where
    the file itself has it."""
    alike: str = ""
    """The format that has the same lines; only the path tells them apart."""
    tells_stops: bool = False
    """Whether its lines say what the user refused or interrupted and what the host said in the
    agent's name; then `reading` offers `stopped_calls`, `interrupted_at` and
    `last_words_of_host`."""
    records_calls: bool = False
    """Whether `reading` offers `recorded_calls`: the newest calls and how they ended."""
    tells_summaries: bool = False
    """Whether a summary is read in its lines, because no hook brings it; then `reading` offers
    `newest_summary`."""
    tells_taken_back: str = ""
    """`KEPT` or `REMOVED`, empty where it is not known; with `KEPT`, `reading` offers `prompts`:
    what the user said, what they took back marked."""
    tells_copies: bool = False
    """Whether a conversation may be a copy of another one that leaves its end out; then `reading`
    offers `original`."""
    is_unpacked: bool = False
    """Whether its files are read also when they are compressed with zstd."""
    in_folders: bool = False
    """Whether a folder of the host may be named for one of its conversations."""


FORMATS: dict[str, FormatRow] = {
    "copilot": FormatRow(
        "/.copilot/session-state/",
        file="/events.jsonl",
        tells_taken_back=REMOVED,
        records_calls=True,
        tells_summaries=True,
    ),
    "qwen": FormatRow("/.qwen/projects/", records_calls=True, tells_taken_back=KEPT),
    "droid": FormatRow(
        "/.factory/sessions/", records_calls=True, tells_summaries=True, tells_copies=True
    ),
    "kimi": FormatRow(
        "/.kimi-code/sessions/",
        file="/agents/main/wire.jsonl",
        tells_taken_back=KEPT,
        records_calls=True,
        tells_summaries=True,
    ),
    "codex": FormatRow(
        "/.codex/sessions/",
        is_unpacked=True,
        records_calls=True,
        tells_taken_back=KEPT,
    ),
    "gemini": FormatRow("/.gemini/tmp/"),
    "openclaw": FormatRow(
        "/.openclaw/agents/",
        frozenset({"transcript_events"}),
        is_written=True,
        alike="pi",
        tells_summaries=True,
        in_folders=True,
    ),
    "pi": FormatRow("/.pi/agent/sessions/", is_written=True, tells_taken_back=KEPT),
    "opencode": FormatRow(
        tables=frozenset({"message", "part", "session"}), tells_taken_back=REMOVED
    ),
    "claude-code": FormatRow(
        "/.claude/projects/", is_written=True, tells_stops=True, tells_taken_back=KEPT
    ),
}
"""The formats. The order matters: the first that claims a line has it, so weak marks come last, and
OpenClaw comes before pi, whose lines are the same. Qwen's lines have Claude's envelope, and Droid's
have pi's."""
NAMES = tuple(FORMATS)


def load(name: str, module: str) -> Any:
    """Import a module of a format, and none of another one.

    Raises `InvalidDocument` for an unknown format.
    """
    if name not in FORMATS:
        raise InvalidDocument(
            f"no known transcript format is named `{name:.80}`", "Known: " + ", ".join(NAMES)
        )
    # By name, so that a hook of one host imports nothing of the others.
    folder = name.replace("-", "_")
    return __import__(f"gitguard.transcripts.formats.{folder}.{module}", fromlist=[module])
