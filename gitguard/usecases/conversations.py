"""A conversation by its transcript: which one is meant, and how full its context is."""

from __future__ import annotations

from gitguard.context.gauge import measure, resolve_window
from gitguard.errors import InvalidInput
from gitguard.model.events import Transcript
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.model.config import Config
    from gitguard.model.host_session import HostSession


class Usage(Value):
    """How much of the window a conversation takes, by its transcript."""

    transcript: Transcript
    tokens: int | None
    """In the context when they were last measured; None where nothing was since a compaction."""
    source: str
    """transcript, or compaction for what that left; empty where nothing was measured."""
    at: float
    """Unix seconds of the measure, 0 where there is none."""
    model: str
    window: int
    window_source: str
    """config, host, model or assumed; `cap` is added where it was lowered."""
    pressure: float | None
    """Used share of the window, 0.0 to 1.0; None where nothing was measured."""
    compactions: int
    """So far."""
    compacted_at: float
    """Unix seconds of the newest compaction, 0 if there was none or it does not tell."""


def newest_conversation(conversations: Mapping[str, HostSession]) -> Transcript:
    """Return the transcript of the conversation that was used last; raise `InvalidInput` if none.

    Those that a host tells us of by its hooks, and those that were imported.
    """
    told = [known for known in conversations.values() if known.transcript]
    if not told:
        raise InvalidInput(
            "no conversation of this session has a transcript", "Name a transcript's file or folder"
        )
    newest = max(told, key=lambda known: known.last_use)
    return Transcript(newest.transcript, newest.transcript_format, newest.transcript_session)


def usage_of(transcript: Transcript, config: Config, *, model: str = "") -> Usage:
    """Measure a conversation: tokens from its end backwards, its compactions from the start.

    model stands in where the transcript names none. Raises `InvalidDocument` when it does not read.
    """
    from gitguard.transcripts import find_format

    kept = find_format(transcript.format)
    reading = kept.newest_reading(transcript)
    counted = kept.compactions(transcript)
    named = (reading.model if reading else "") or model
    window = resolve_window(named, (reading.window if reading else 0) or 0, config.window)
    pressure = measure(reading, window, first_turn=False)
    left = "compaction" if reading and reading.after_compaction else "transcript"
    return Usage(
        transcript=transcript,
        tokens=reading.tokens if reading else None,
        source=left if reading else "",
        at=reading.at if reading else 0,
        model=named,
        window=window.tokens,
        window_source=window.source,
        pressure=pressure.share if pressure else None,
        compactions=counted.count,
        compacted_at=counted.newest_at,
    )
