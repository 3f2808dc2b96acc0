"""The gauge: which reading counts, how large the window is, and how full that makes it.

Readings are host-owned: nothing here is guessed from characters
(references/design/contract.md, "Pressure").
"""

from __future__ import annotations

import os

from gitguard.model.config.config import DEFAULT_WINDOW, SMALL_WINDOW, Config, WindowConfig
from gitguard.model.events import (
    FIRST_TURN,
    MOST_TOKENS,
    Pressure,
    Reading,
    Transcript,
    Window,
    is_token_count,
)
from gitguard.store.session.host_session import HostReading, HostSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


LARGER_WINDOWS = (400_000, 1_000_000, 2_000_000)
"""Sizes that windows have; one that a reading proves too small is taken for the next."""
_LONGEST_NAME = 80
_SEPARATORS = "-[@:"
"""What stands behind a model's name in a longer one."""
_ABOVE_KNOWN = 1.05
_LONGEST_READ = 1 << 23
"""Bytes of a transcript behind a cursor; to read more keeps a prompt waiting."""


def measure_pressure(
    host_session: HostSession,
    config: Config,
    *,
    given: Reading | None = None,
    pushed: Reading | None = None,
    transcript: Transcript | None = None,
    model: str = "",
    first_turn: bool,
) -> Pressure | None:
    """Return the pressure by the newest valid reading; None when it is missing.

    A given reading counts for this one question: later it would only hide that there is none. A
    pushed one came with the event itself, and the transcript knows nothing newer then.
    Raises `InvalidDocument` when the transcript should tell and cannot be read.
    """
    reading = given or _newest_of(host_session, pushed, transcript)
    return _pressure_by(reading, host_session, config, model, first_turn=first_turn)


def newest_pressure(host_session: HostSession, config: Config) -> Pressure | None:
    """Return the pressure by the newest reading of all; None where there is none.

    What the gate was told is one of them, so this is for advice and never for the gate. Raises
    `InvalidDocument` as `measure_pressure` does.
    """
    measured = _newest_of(host_session, None, None)
    answer_given = _stored(host_session.given) if host_session.given else None
    reading = newest((measured, answer_given), void_before=host_session.compacted_at)
    return _pressure_by(reading, host_session, config, first_turn=False)


def may_open_gate(
    reading: Reading, host_session: HostSession, config: Config, transcript: Transcript | None
) -> bool:
    """Say whether a pushed reading makes the pressure less than without it, or proves a window.

    A window that it proves would make later readings less. Raises `InvalidDocument` as
    `measure_pressure` does.
    """
    after = _pressure_by(reading, host_session, config, first_turn=False)
    if after is None or "raised" in after.window.source:
        return True
    newest_before = _newest_of(host_session, None, transcript)
    before = _pressure_by(newest_before, host_session, config, first_turn=False)
    return before is not None and after.share < before.share


def has_reading(host_session: HostSession) -> bool:
    """Say whether there is anything that tells how full a conversation is."""
    is_kept = host_session.reading is not None or host_session.given is not None
    return is_kept or transcript_of(host_session) is not None


def _pressure_by(
    reading: Reading | None,
    host_session: HostSession,
    config: Config,
    model: str = "",
    *,
    first_turn: bool,
) -> Pressure | None:
    named = (reading.model if reading else "") or model
    reported, used = 0, 0
    if reading is not None:
        reported, used = reading.window or 0, reading.tokens or 0
    if host_session.window and not reported:
        reported = reported_window(host_session, named)
    if host_session.proven_tokens > used:
        used = max(used, _proven(host_session, named))
    window = resolve_window(named, reported, config.window, used)
    return measure(reading, window, first_turn=first_turn)


def _proven(host_session: HostSession, named: str) -> int:
    """Return how many tokens were once in use with a model, so that its window holds them."""
    is_same = not named or _is_same(named, host_session.proven_model)
    return host_session.proven_tokens if is_same else 0


def with_proof(host_session: HostSession, pressure: Pressure | None, model: str) -> HostSession:
    """Remember that more was in use than a window was taken to hold: a compaction erases it."""
    if pressure is None or "raised" not in pressure.window.source:
        return host_session
    used = min(int(pressure.used), MOST_TOKENS)
    if used <= _proven(host_session, model):
        return host_session
    return host_session.replace(proven_tokens=used, proven_model=model)


def reported_window(host_session: HostSession, named: str) -> int:
    """Return the window the host reported, if it was for the model that is measured now."""
    before = host_session.window_model
    return host_session.window if not (named and before) or _is_same(named, before) else 0


def _is_same(model: str, another_model: str) -> bool:
    # A host may say its own name for a model in one place and the dated one in another.
    short, long = sorted((model.rpartition("/")[2], another_model.rpartition("/")[2]), key=len)
    suffix = long.removeprefix(short) if long.startswith(short) else "another"
    return (
        not suffix
        or suffix[0] == "["
        or (suffix[0] == "-" and len(suffix) == 9 and suffix[1:].isdigit())
    )


def _newest_of(
    host_session: HostSession, pushed: Reading | None, transcript: Transcript | None
) -> Reading | None:
    stored = _stored(host_session.reading) if host_session.reading else None
    void_before = host_session.compacted_at
    if pushed is not None:
        stored_or_pushed = newest((stored, pushed), void_before=void_before)
        if stored_or_pushed is not None:
            return stored_or_pushed
    return newest((stored, _from_transcript(host_session, transcript)), void_before=void_before)


def count_compactions(
    host_session: HostSession, transcript: Transcript | None
) -> tuple[HostSession, float]:
    """Go on counting the compactions that the transcript tells of; also say when the newest was.

    Raises `InvalidDocument` when the transcript cannot be read.
    """
    transcript = transcript_of(host_session, transcript)
    if transcript is None:
        return host_session, 0.0
    from gitguard.transcripts import find_format

    compactions = find_format(transcript.format).compactions(transcript, host_session.counted_upto)
    before = 0 if compactions.anew else host_session.compactions
    counted = host_session.replace(
        compactions=before + compactions.count, counted_upto=compactions.upto
    )
    return counted, compactions.newest_at


def summary_tokens(host_session: HostSession, transcript: Transcript | None) -> int:
    """Estimate what the newest summary takes that was written since compactions were counted.

    0 where there is none, or where so much was written that reading it would keep a prompt waiting.
    Raises `InvalidDocument` when the transcript cannot be read.
    """
    transcript = transcript_of(host_session, transcript)
    if transcript is None:
        return 0
    since = host_session.counted_upto
    if os.path.isfile(transcript.path):
        size = os.path.getsize(transcript.path)
        since = since if since <= size else 0  # somebody wrote it anew, as counting sees too
        if size - since > _LONGEST_READ:
            return 0
    from gitguard.transcripts import find_format
    from gitguard.transcripts.fitting.context import context_of
    from gitguard.transcripts.fitting.tokens import estimate

    written = find_format(transcript.format).entries(transcript, since)
    return estimate(len(context_of(written).summary))


def measure_compaction(
    host_session: HostSession,
    config: Config,
    pushed: Reading | None,
    transcript: Transcript | None,
    model: str = "",
) -> tuple[Reading, Pressure] | None:
    """Return what the compaction that just ended has left, None when nothing tells.

    Its mark in the transcript may be older than the event that tells us of it, so it counts if it
    is newer than the compaction before. Raises `InvalidDocument` if the transcript cannot be read.
    """
    for reading in (pushed, _from_transcript(host_session, transcript)):
        if reading is None:
            continue
        if reading.after_compaction and reading.at > host_session.compacted_at:
            pressure = _pressure_by(reading, host_session, config, model, first_turn=False)
            return (reading, pressure) if pressure is not None else None
    return None


def transcript_of(host_session: HostSession, named: Transcript | None = None) -> Transcript | None:
    """Return a conversation's transcript, or the given one; None where it is not there."""
    named = named or host_session.host_transcript
    return named if named is not None and os.path.exists(named.path) else None


def _stored(stored: HostReading) -> Reading:
    return Reading(
        source=stored.source,
        at=stored.at,
        tokens=int(stored.tokens) if stored.tokens >= 0 else None,
        share=stored.share if stored.share >= 0 else None,
        model=stored.model,
        window=stored.window,
    )


def _from_transcript(host_session: HostSession, named: Transcript | None) -> Reading | None:
    """Return the newest reading in a conversation's transcript; None where neither is there."""
    transcript = transcript_of(host_session, named)
    if transcript is None:
        return None
    from gitguard.transcripts.formats import READING, load

    reading: Reading | None = load(transcript.format, READING).newest_reading(transcript)
    return reading


def with_reading(host_session: HostSession, reading: Reading) -> HostSession:
    """Store a pushed reading and the window it came with."""
    window, window_model = host_session.window, host_session.window_model
    if is_token_count(reading.window):
        window, window_model = reading.window or 0, reading.model
    stored = _kept(reading)
    return host_session.replace(reading=stored, window=window, window_model=window_model)


def with_given(host_session: HostSession, reading: Reading, at: float) -> HostSession:
    """Store what the gate was told."""
    return host_session.replace(given=_kept(reading.replace(at=at)))


def _kept(reading: Reading) -> HostReading:
    return HostReading(
        source=reading.source,
        at=reading.at,
        tokens=-1 if reading.tokens is None else min(reading.tokens, MOST_TOKENS),
        share=-1 if reading.share is None else min(reading.share, 1.0),
        model=reading.model,
        window=(reading.window or 0) if is_token_count(reading.window) else 0,
    )


def newest(readings: Iterable[Reading | None], *, void_before: float) -> Reading | None:
    """Return the newest reading that a compaction has not made void, of those that there are."""
    valid = [reading for reading in readings if reading and reading.at >= void_before]
    return max(valid, key=lambda reading: reading.at, default=None)


def resolve_window(
    model: str, reported: int, config: WindowConfig, used: float | None = None
) -> Window:
    """Say how large the window is: user, host, table, else the default; a cap only lowers.

    More tokens in use than the table or the default has prove it too small; then it is raised, and
    assumed.
    """
    window = _uncapped(model, reported, config)
    # What an answer adds may end a little above a window that is known.
    most = window.tokens * (_ABOVE_KNOWN if window.source == "model" else 1)
    if used and used > most and window.source in ("model", "assumed"):
        used = int(min(used, MOST_TOKENS))
        tokens = next((size for size in LARGER_WINDOWS if size >= used), used)
        window = _assumed(tokens, model, "assumed, raised")
    if config.cap and config.cap < window.tokens:
        window = Window(config.cap, f"{window.source}, cap")
    return window


def _uncapped(model: str, reported: int, config: WindowConfig) -> Window:
    bare = model.rpartition("/")[2]
    for name in (model, bare):
        if name in config.models:
            return Window(config.models[name], "config")
    for name, tokens in config.models.items():
        if model == bare and bare and name.rpartition("/")[2] == bare:
            return Window(tokens, "config")
    if reported:
        return Window(reported, "host")
    tokens, is_agreed = published_window(model)
    if tokens:  # that hosts publish; assumed where they do not agree
        return Window(tokens, "model") if is_agreed else _assumed(tokens, model)
    if config.default:
        return Window(config.default, "config")
    return _assumed(DEFAULT_WINDOW, model)


def published_window(model: str) -> tuple[int, bool]:
    """Return the published window and whether the hosts agree on it; 0 where none is published."""
    from gitguard.pressure.models import DISPUTED, MAKERS, MODEL_WINDOWS

    provider, _, name = model.lower().rpartition("/")
    provider = provider.rpartition("/")[2]
    name = name.rpartition("anthropic.")[2]  # as Bedrock names them
    if name.endswith("[1m]"):
        return 1_000_000, True  # how its host names a model with its long window
    for each in (provider,) if provider in MODEL_WINDOWS else MAKERS:
        # The longest name of the table with which the model's begins.
        for end in range(len(name), 0, -1):
            prefix = name[:end]
            is_end = end == len(name) or name[end] in _SEPARATORS
            if is_end and prefix in MODEL_WINDOWS[each]:
                return MODEL_WINDOWS[each][prefix], f"{each}/{prefix}" not in DISPUTED
    return 0, False


def _assumed(tokens: int, model: str, source: str = "assumed") -> Window:
    # The name comes from a host's files and is shown to the agent: one that is no name is left out.
    is_name = len(model) <= _LONGEST_NAME and all(c.isalnum() or c in "-._/:@[]" for c in model)
    return Window(tokens, source, model if is_name and model.isascii() else "")


def window_warning(window: Window) -> str:
    """Return a warning for a window that is usable but small, else nothing."""
    if window.tokens >= SMALL_WINDOW:
        return ""
    return f"the context window is only {window.tokens:,} tokens; expect frequent compactions"


def measure(reading: Reading | None, window: Window, *, first_turn: bool) -> Pressure | None:
    """Turn a reading into pressure; on the first turn a missing one is 0.0, later it is missing."""
    if reading is None:
        return Pressure(0.0, None, window, FIRST_TURN) if first_turn else None
    share, is_assumed = reading.share, False
    if share is None:
        share = min(reading.tokens or 0, MOST_TOKENS) / window.tokens
        is_assumed = window.is_assumed
    return Pressure(
        min(max(share, 0.0), 1.0),
        reading.tokens,
        window,
        source=reading.source,
        is_assumed=is_assumed,
    )


def crosses_checkpoint(pressure: Pressure, last_tokens: float, *, at: float, step: float) -> bool:
    """Say whether pressure has risen far enough for the next `auto-80pct` checkpoint.

    last_tokens is the usage at the one before, negative when there was none since the rise began.
    """
    if pressure.share < at:
        return False
    moved, needed = abs(pressure.used - last_tokens), step * pressure.window.tokens
    return last_tokens < 0 or round(moved, 3) >= round(needed, 3)  # shares are decimal to people
