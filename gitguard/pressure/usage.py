"""A conversation by its transcript: which one is meant, and how full its context is."""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, InvalidInput, NotPermitted
from gitguard.model.events import Transcript, Window
from gitguard.model.value import Value
from gitguard.pressure.gauge import count_compactions, measure, reported_window, resolve_window
from gitguard.store.session.host_session import NEVER, HostSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.model.config.config import Config


UNKNOWN = HostSession(started_at=NEVER)
"""A conversation of which nothing is known."""


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
    """config, host, model or assumed; `raised` and `cap` are added where it was changed."""
    pressure: float | None
    """Used share of the window, 0.0 to 1.0; None where nothing was measured."""
    compactions: int
    """So far."""
    compacted_at: float
    """Unix seconds of the newest compaction, 0 if there was none or it does not tell."""

    @property
    def window_words(self) -> str:
        """Where the window comes from; for an assumed one with the setting that ends that."""
        window = Window(self.window, self.window_source, self.model)
        return f"{window.source}: {window.remedy}" if window.is_assumed else window.source


def find_conversation(path: str, format_name: str = "", conversation: str = "") -> Transcript:
    """Return the transcript at a path, as `recognise` does; what is named wrongly is refused.

    Raises `InvalidInput` for a format that clearly is not what is there, `InvalidDocument` for a
    conversation that is not, and `NotPermitted` where reading is not permitted.
    """
    from gitguard.transcripts import find_format
    from gitguard.transcripts.formats.recognition import recognise, refuse_another

    _refuse_closed(path)
    transcript = recognise(path, format_name, conversation)
    if format_name and transcript.format != format_name:
        raise InvalidInput(
            f"`{path}` is a transcript of {transcript.format}, not of {format_name}",
            "Leave out --format: gitguard recognizes the file by its content",
        )
    if format_name:
        refuse_another(transcript)
    if conversation and not any(find_format(transcript.format).entries(transcript)):
        raise InvalidDocument(
            f"cannot read the transcript `{path}`: it has no session `{conversation:.80}`",
            "Leave --conversation out for the newest one",
        )
    return transcript


def _refuse_closed(path: str) -> None:
    """Raise `NotPermitted` where the system does not let us look, and say what is missing."""
    try:
        if os.path.isdir(path):
            os.scandir(path).close()
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)))
    except PermissionError as error:
        raise NotPermitted(f"cannot read the transcript `{path}`: {error.strerror}") from error
    except FileNotFoundError as error:
        raise InvalidDocument(
            f"cannot read the transcript `{path}`: {error.strerror}",
            "Name a file, database or folder that is there",
        ) from error
    except OSError:
        return  # whatever it is, reading it will tell


def newest_conversation(conversations: Mapping[str, HostSession]) -> Transcript:
    """Return the transcript of the conversation that was used last; raise `InvalidInput` if none.

    Those that a host tells us of by its hooks, and those that were imported.
    """
    with_transcripts = [record for record in conversations.values() if record.transcript]
    if not with_transcripts:
        raise InvalidInput(
            "no conversation of this session has a transcript",
            "Hooks record it in the next conversation; for another, name its file or folder, as in "
            "`gitguard profile PATH`",
        )
    newest = max(with_transcripts, key=lambda record: record.last_use)
    return Transcript(newest.transcript, newest.transcript_format, newest.transcript_session)


def known_conversation(
    conversations: Mapping[str, HostSession], transcript: Transcript
) -> HostSession:
    """Return what is known of a transcript's conversation, an empty record where nothing is."""
    return next((record for record in conversations.values() if is_of(record, transcript)), UNKNOWN)


def is_of(host_session: HostSession, transcript: Transcript) -> bool:
    """Say whether a record is of a transcript: the same place and format, and of many the one."""
    is_it = host_session.transcript_session in ("", transcript.session)
    same_format = host_session.transcript_format == transcript.format
    return is_it and same_format and _same_place(host_session.transcript, transcript.path)


def is_told_of(key: str, host_session: HostSession, transcript: Transcript) -> bool:
    """Say whether a record, kept under a key, is of a transcript as its host or a user names it.

    Of a place of many a host names the folder, and a user perhaps a file or database in it.
    """
    named = host_session.transcript_session or key
    same = host_session.transcript_format == transcript.format and named == transcript.session
    return is_of(host_session, transcript) or (
        same and _is_inside(transcript.path, host_session.transcript)
    )


def _is_inside(path: str, folder: str) -> bool:
    return bool(folder) and os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


def _same_place(path: str, another_path: str) -> bool:
    return path == another_path or (
        bool(path) and os.path.realpath(path) == os.path.realpath(another_path)
    )


def usage_of(
    transcript: Transcript, config: Config, *, host_session: HostSession = UNKNOWN, model: str = ""
) -> Usage:
    """Measure a conversation, from its end backwards.

    Its compactions are counted on from where they were counted last, or from the start. model
    stands in where the transcript names none; what named one before a compaction counts behind it
    as well. Raises `InvalidDocument` when it cannot be read.
    """
    from gitguard.transcripts import find_format

    transcript_format = find_format(transcript.format)
    reading = transcript_format.newest_reading(transcript)
    names = reading if reading and reading.model else None
    names = names or transcript_format.newest_reading(transcript, across=True) or reading
    counted, compacted_at = count_compactions(host_session, transcript)
    named = (names.model if names else "") or model
    reported_in_transcript = (reading.window if reading else 0) or (names.window if names else 0)
    reported, used = (
        reported_in_transcript or reported_window(host_session, named),
        reading.tokens if reading else None,
    )
    window = resolve_window(named, reported, config.window, used)
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
        compactions=counted.compactions,
        compacted_at=compacted_at or host_session.compacted_at,
    )
