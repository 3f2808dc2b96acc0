"""Conversations as hosts keep them: one model, and one folder for each format.

A host writes a conversation to a transcript: a file of JSON lines, or rows of a database. Each line
or row is read as a `TranscriptEntry` of `model.conversation`, whatever its format; what an entry
says is a tuple of blocks. From there on, nothing depends on the host:

- `formats` says which format a file has, and reads it. Each format is a folder of its own.
- `jsonl` and `database` read lines and rows; `entries` and `blocks` are what the formats share.
- `exporting` and `readable` write a conversation for programs and for people.
- `fitting` decides what stays in a context that is too small; it changes no file.
- `rewriting` changes files: it repairs them, shortens them and appends to them.

`references/design/transcripts.md` has the rules that all of this rests on.
"""

from __future__ import annotations

import os

from gitguard.transcripts import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.events import Reading, Transcript
    from gitguard.model.transcript import (
        Compactions,
        Message,
        PromptHistory,
        RecordedCall,
        StoppedCall,
    )
    from gitguard.transcripts.jsonl import Tell

    class Format(Protocol):
        """What the `reading` module of a format offers.

        Every function raises `InvalidDocument` when the transcript cannot be read. All but
        `entries` skip lines that are torn or that no known version wrote.
        """

        def newest_reading(self, transcript: Transcript, *, across: bool = False) -> Reading | None:
            """Find the newest token usage since the last compaction, or what that one left.

            Returns None when nothing was measured since. `window` is set where the transcript
            names it. across also looks before the last compaction, for the model and its window:
            a compaction changes neither.
            """

        def messages(
            self, transcript: Transcript, tell: Tell | None = None, *, since: int = 0
        ) -> Iterator[Message]:
            """Yield what the user and the agent said, oldest first, in constant memory.

            Only text counts. Tool calls, their results, sub-agents and what the host wrote in the
            name of the user or the agent are left out. One API message is one `Message`, however
            many entries hold it.

            A prompt waits for this, so the middle of a very long conversation is skipped; tell is
            then called with a sentence that says so. since is a cursor of `compactions`, behind
            which reading begins, where the format can be read from its middle.
            """

        def compactions(self, transcript: Transcript, since: int = 0) -> Compactions:
            """Count the compactions after a cursor, which is `upto` of an earlier count.

            If the transcript has become shorter than the cursor, it is counted from its start.
            """

        def entries(self, transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
            """Yield every entry from a position on, oldest first, in constant memory.

            Nothing is skipped: an entry that no known version wrote is UNKNOWN, and one that does
            not parse is BROKEN. A position is an offset in a file or the number of a row.
            """


_DATED_WITHIN = 5.0
"""Seconds between a prompt's event and the date that the host gives its line."""


def find_stopped_calls(transcript: Transcript, calls: frozenset[str]) -> tuple[StoppedCall, ...]:
    """Return which of the calls the user stopped, none of a format that does not tell."""
    if not _tells_stops(transcript):
        return ()
    reading = formats.load(transcript.format, formats.READING)
    stopped: tuple[StoppedCall, ...] = reading.stopped_calls(transcript, calls)
    return stopped


def find_ended_calls(transcript: Transcript, calls: frozenset[str]) -> frozenset[str]:
    """Return which of the calls have a result, none of a format that does not tell."""
    if _tells_stops(transcript):
        reading = formats.load(transcript.format, formats.READING)
        ended: frozenset[str] = reading.ended_calls(transcript, calls)
        return ended
    return frozenset(ends_of(transcript, calls))


def ends_of(transcript: Transcript, calls: frozenset[str]) -> dict[str, RecordedCall]:
    """Return how calls ended, by their ids or by those that were invented for them.

    A call is left out whose newest record has no end.
    """
    from gitguard.model.call_ids import invented_id

    sought, ends = set(calls), {}
    for call in recorded_calls(transcript):
        for name in (call.id, invented_id(call.name, call.given or {})):
            if name in sought:
                sought.remove(name)
                if call.has_ended:
                    ends[name] = call
        if not sought:
            break
    return ends


def recorded_calls(transcript: Transcript) -> Iterator[RecordedCall]:
    """Return the calls of the main conversation with their ends, newest first.

    It yields none of a format that does not tell. Raises `InvalidDocument` when the transcript
    cannot be read.
    """
    row = formats.FORMATS.get(transcript.format)
    if row is None or not row.records_calls:
        return iter(())
    reading = formats.load(transcript.format, formats.READING)
    calls: Iterator[RecordedCall] = reading.recorded_calls(transcript)
    return calls


def prompts_since(transcript: Transcript, since: float) -> list[str]:
    """Return what the user said since a time in Unix seconds, also what they typed during a turn.

    A host dates a prompt when it was typed, and tells its hooks of it a moment later or earlier.
    """
    if not os.path.exists(transcript.path):
        return []
    from gitguard.model.transcript import USER

    reading = formats.load(transcript.format, formats.READING)
    messages = [message for message in reading.messages(transcript) if message.role == USER]
    if _tells_stops(transcript):
        messages += reading.queued_prompts(transcript)
    oldest = since - _DATED_WITHIN
    return [message.text for message in messages if not message.at or message.at > oldest]


def prompt_history(transcript: Transcript, read_upto: int) -> PromptHistory:
    """Return what the user said and took back; nothing of a format that does not tell.

    read_upto is the cursor of `compactions` up to which the transcript was read. What was taken
    back before that is not looked for, and none of the prompts is returned if nothing was since.
    Some hosts remove what is taken back, and their transcript then ends before that.
    """
    from gitguard.model.transcript import USER, PromptHistory

    row = formats.FORMATS.get(transcript.format)
    if row is None or not row.tells_taken_back or not os.path.exists(transcript.path):
        return PromptHistory()
    reading = formats.load(transcript.format, formats.READING)
    if row.tells_taken_back == formats.KEPT:
        return PromptHistory(tuple(reading.prompts(transcript, read_upto)))
    if reading.compactions(transcript, read_upto).upto >= read_upto:
        return PromptHistory()
    messages = tuple(reading.messages(transcript))
    newest_at = max((message.at for message in messages), default=0)
    prompts = tuple(message for message in messages if message.role == USER)
    return PromptHistory(prompts, removed_since=int(newest_at))


def original_of(transcript: Transcript) -> tuple[str, PromptHistory]:
    """Return the conversation of which this one is a copy, and what the user said there.

    What the copy leaves out is marked as taken back. Both are empty for a conversation that is no
    copy, and for a format that does not tell.
    """
    from gitguard.model.transcript import PromptHistory

    row = formats.FORMATS.get(transcript.format)
    if row is None or not row.tells_copies or not os.path.exists(transcript.path):
        return "", PromptHistory()
    name, prompts = formats.load(transcript.format, formats.READING).original(transcript)
    return name, PromptHistory(tuple(prompts))


def interrupted_at(transcript: Transcript) -> float:
    """Return when the user or an error of the model cut the newest turn off, in Unix seconds.

    It is 0 if none did, if a turn followed, and for a format that does not tell.
    """
    if not _tells_stops(transcript):
        return 0
    at: float = formats.load(transcript.format, formats.READING).interrupted_at(transcript)
    return at


def is_hosts_own(transcript: Transcript | None, text: str) -> bool:
    """Say whether the host said a text in the agent's name, and the agent nothing since.

    It is false for a format that does not tell.
    """
    if transcript is None or not _tells_stops(transcript) or not os.path.exists(transcript.path):
        return False
    reading = formats.load(transcript.format, formats.READING)
    words: str = reading.last_words_of_host(transcript)
    return bool(words) and words == text.strip()


def summary_since(transcript: Transcript, since: float) -> str:
    """Return the host's summary of a compaction since a time in Unix seconds, empty if none.

    It is empty also for a format whose host hands its summary to a hook.
    """
    row = formats.FORMATS.get(transcript.format)
    if row is None or not row.tells_summaries or not os.path.exists(transcript.path):
        return ""
    summary: str = formats.load(transcript.format, formats.READING).newest_summary(
        transcript, since
    )
    return summary


def _tells_stops(transcript: Transcript) -> bool:
    row = formats.FORMATS.get(transcript.format)
    return row is not None and row.tells_stops


def find_format(name: str) -> Format:
    """Import and return a format's module; raise `InvalidDocument` for an unknown name."""
    reading: Format = formats.load(name, formats.READING)
    return reading
