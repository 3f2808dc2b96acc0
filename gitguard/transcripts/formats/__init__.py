"""The table of transcript formats: how each is known, and what can be done with it.

A format is a folder of this package. Its `reading` module reads it; where its files are lines that
the host reads back as they are, `writing` repairs them and `compaction` adds summaries.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READING, MARKS, WRITING, COMPACTION = "reading", "marks", "writing", "compaction"
"""Modules of a format: what `transcripts.Format` asks for, by what its lines are known, and where
it is written what `rewriting.tree.Writable` asks for, and how a summary is added."""


class FormatRow(Value):
    """One format."""

    place: str = ""
    """A part of the path of the host's files, by which those are known whose lines tell nothing."""
    tables: frozenset[str] = frozenset()
    """What a database has in which the host keeps many conversations, empty where it has none."""
    is_written: bool = False
    """Whether its files can be written."""
    alike: str = ""
    """The format whose lines are the same; only their place tells them apart."""
    in_folders: bool = False
    """Whether a folder of the host may be named for one of its conversations."""


FORMATS: dict[str, FormatRow] = {
    "codex": FormatRow("/.codex/sessions/"),
    "gemini": FormatRow("/.gemini/tmp/"),
    "openclaw": FormatRow(
        "/.openclaw/agents/",
        frozenset({"transcript_events"}),
        is_written=True,
        alike="pi",
        in_folders=True,
    ),
    "pi": FormatRow("/.pi/agent/sessions/", is_written=True),
    "opencode": FormatRow(tables=frozenset({"message", "part", "session"})),
    "claude-code": FormatRow("/.claude/projects/", is_written=True),
}
"""The formats, in the order in which they are asked whether a line is theirs: weak marks last."""
NAMES = tuple(FORMATS)


def load(name: str, module: str) -> Any:
    """Import a module of a format, and none of another one.

    Raises `InvalidDocument` for an unknown format.
    """
    if name not in FORMATS:
        raise InvalidDocument(
            f"no known transcript format is named `{name:.80}`", "Known: " + ", ".join(NAMES)
        )
    folder = name.replace("-", "_")
    return __import__(f"gitguard.transcripts.formats.{folder}.{module}", fromlist=[module])
