"""How full a conversation is: every reading there is, held against what we know of it."""

from __future__ import annotations

from gitguard.context.gauge import Pressure, measure, newest, resolve_window
from gitguard.model.events import Reading
from gitguard.model.host_session import HostReading, HostSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config import Config
    from gitguard.model.events import Transcript


def measure_pressure(
    host_session: HostSession,
    config: Config,
    *,
    transcript: Transcript | None = None,
    model: str = "",
    first_turn: bool,
) -> Pressure | None:
    """Return the pressure by the newest valid reading; None when it is missing.

    Raises `InvalidDocument` when the transcript should tell and cannot be read.
    """
    readings = [_stored(host_session.reading)] if host_session.reading else []
    if transcript is not None:
        readings += _from_transcript(transcript)
    reading = newest(readings, void_before=host_session.compacted_at)
    named = (reading.model if reading else "") or model
    window = resolve_window(named, host_session.window, config.window)
    return measure(reading, window, first_turn=first_turn)


def _stored(stored: HostReading) -> Reading:
    return Reading(
        source=stored.source,
        at=stored.at,
        tokens=int(stored.tokens) if stored.tokens >= 0 else None,
        share=stored.share if stored.share >= 0 else None,
        model=stored.model,
    )


def _from_transcript(transcript: Transcript) -> list[Reading]:
    from gitguard.transcripts import USAGE_READERS

    usage = USAGE_READERS[transcript.format](transcript.path)
    if usage.tokens is None:
        return []
    return [Reading("transcript", usage.at, tokens=usage.tokens, model=usage.model)]


def with_reading(host_session: HostSession, reading: Reading) -> HostSession:
    """Store a pushed reading and the window it came with, unless it is from before a compaction.

    A status line may repeat the old figure after a compaction, so the very same number of tokens
    as before it is not a new reading.
    """
    window = reading.window or host_session.window
    if reading.tokens is not None and reading.tokens == host_session.stale_tokens:
        return host_session.replace(window=window)
    stored = HostReading(
        source=reading.source,
        at=reading.at,
        tokens=-1 if reading.tokens is None else reading.tokens,
        share=-1 if reading.share is None else reading.share,
        model=reading.model,
    )
    return host_session.replace(reading=stored, window=window, stale_tokens=-1)
