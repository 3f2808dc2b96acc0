"""Files to which a host only appends, one document a line: what their formats have in common.

Hooks ask for these during a turn, so what is read of a whole file is imported only then.
"""

from __future__ import annotations

from gitguard.model.value import Value
from gitguard.transcripts.entries import backwards, parse, summary_since

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Transcript
    from gitguard.model.transcript import Compactions, Message, RecordedCall
    from gitguard.transcripts.jsonl import Tell


class EventLog(Value):
    """How a format's lines are told apart; its methods are functions of the format.

    Only lines that contain one of the marks need be parsed. The format's folder has a module
    `entries` with `entries_of` and `fields_of`.
    """

    format: str
    message_marks: tuple[bytes, ...]
    """Marks of lines in which somebody speaks."""
    turning: tuple[bytes, ...]
    """Marks of turning points, of a compaction first."""
    calls: tuple[bytes, ...]
    """Marks of calls and results."""
    message_of: Callable[[dict[str, Any]], Message | None]
    """Returns what a line says, None where neither the user nor the agent speaks."""
    turning_point: Callable[[bytes], tuple[str, str, float]]
    """Describes a line for `jsonl.turning_points`."""
    summary_of: Callable[[dict[str, Any]], str]
    """Returns a compaction's summary, empty for another line."""
    moment_of: Callable[[dict[str, Any]], float]
    """Returns when a line was written, in Unix seconds."""
    answer_of: Callable[[dict[str, Any]], str] | None = None
    """Names the answer of which a line is a part; None where each line is one message."""

    def messages(
        self, transcript: Transcript, tell: Tell | None = None, *, since: int = 0
    ) -> Iterator[Message]:
        """Yield what was said, oldest first; the parts of one answer are put together."""
        from gitguard.transcripts import jsonl

        newest: Message | None = None
        newest_answer = ""
        for text in jsonl.forwards(transcript.path, since, tell):
            line = parse(text) if any(mark in text for mark in self.message_marks) else {}
            message = self.message_of(line)
            if message is None:
                continue
            answer = self.answer_of(line) if self.answer_of is not None else ""
            if newest is not None and answer and answer == newest_answer:
                newest = newest.replace(text=f"{newest.text}\n{message.text}")
                continue
            if newest is not None:
                yield newest
            newest, newest_answer = message, answer
        if newest is not None:
            yield newest

    def compactions(self, transcript: Transcript, since: int = 0) -> Compactions:
        """Count the compactions; the cursor is a byte offset."""
        from gitguard.transcripts import jsonl

        return jsonl.count_compactions(transcript.path, since, self.turning, self.turning_point)

    def entries(self, transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
        """Yield every line; a position is a byte offset."""
        entries: Iterator[TranscriptEntry] = self._module().entries_of(transcript.path, since)
        return entries

    def recorded_calls(self, transcript: Transcript) -> Iterator[RecordedCall]:
        """Yield the newest calls and how they ended."""
        from gitguard.transcripts.newest_calls import newest_calls

        return newest_calls(transcript.path, self.calls, self._module().fields_of)

    def newest_summary(self, transcript: Transcript, since: float) -> str:
        """Return the summary of a compaction since a time in Unix seconds, empty if none."""
        lines = backwards(transcript.path)
        return summary_since(
            lines, self.turning[0], since, self.summary_of, moment_of=self.moment_of
        )

    def _module(self) -> Any:
        from gitguard.transcripts import formats

        return formats.load(self.format, "entries")
