"""Conversations as hosts keep them: one model, and one folder a format."""

from __future__ import annotations

from gitguard.transcripts import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from gitguard.model.conversation import Entry
    from gitguard.model.events import Reading, Transcript
    from gitguard.model.transcript import Compactions, Message
    from gitguard.transcripts.jsonl import Tell

    class Format(Protocol):
        """What a format's module offers.

        All of it raises `InvalidDocument` when the transcript does not read. Entries that are torn,
        or that no known version wrote, are skipped.
        """

        def newest_reading(self, transcript: Transcript, *, across: bool = False) -> Reading | None:
            """Find the newest usage since the last compaction, or what that one left.

            None when nothing was measured since. `window` is set where the records tell it. across
            looks behind compactions too: for the model and its window, which outlive them.
            """

        def messages(self, transcript: Transcript, tell: Tell | None = None) -> Iterator[Message]:
            """Yield what was said, oldest first, in constant memory.

            Of a conversation of many megabytes the middle is left out, because a prompt waits for
            it; tell is given a sentence on that.
            Only what the user said and what the agent answered in text; what the host wrote in
            either's name, calls and results of tools, and sub-agents are left out. One API message
            is one of ours, however many entries it is kept in.
            """

        def compactions(self, transcript: Transcript, since: int = 0) -> Compactions:
            """Count compactions behind a cursor that an earlier count returned.

            Counts again from the start when the transcript is shorter than the cursor.
            """

        def entries(self, transcript: Transcript, since: int = 0) -> Iterator[Entry]:
            """Yield every entry behind a position, oldest first, in constant memory.

            Nothing is left out: what no known version wrote is UNKNOWN, what does not parse BROKEN.
            """


def find_format(name: str) -> Format:
    """Import and return a format's module; raise `InvalidDocument` for an unknown name."""
    reading: Format = formats.load(name, formats.READING)
    return reading
