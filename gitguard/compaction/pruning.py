"""Prunes old, oversized results of tools in a transcript; its original is kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitguard.model.config.config import Config
from gitguard.model.conversation import TranscriptEntry
from gitguard.model.events import Transcript
from gitguard.model.value import Value
from gitguard.pressure.usage import UNKNOWN, usage_of
from gitguard.store.session.host_session import HostSession
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.budget import caps_reserve, divide
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.fitting.limits import lightened
from gitguard.transcripts.fitting.pruning import KEEP, PruningVerdict, judge, pictured_among, pruned
from gitguard.transcripts.fitting.tokens import estimate, tokens_of
from gitguard.transcripts.formats.recognition import refuse_another
from gitguard.transcripts.formats.writable import entry_at, writable_of
from gitguard.transcripts.rewriting.applying import parse, rewrite
from gitguard.transcripts.rewriting.edits import Cut, Edit, Put
from gitguard.transcripts.rewriting.images import MARK, LargeImage, large_images
from gitguard.transcripts.rewriting.locks import transcript_lock
from gitguard.transcripts.rewriting.replacing import identity_of


class Pruned(Value):
    """What became of a transcript, or would."""

    transcript: Transcript
    verdicts: tuple[PruningVerdict, ...]
    """On each result that is large enough to be looked at, oldest first."""
    history: int
    """Tokens of the history before, by our own guess."""
    room: int
    """Tokens that it may take before whole results are cleared."""
    images: tuple[LargeImage, ...] = ()
    """Images in the context that are too large for a request of many."""
    are_images_replaced: bool = False
    """Whether a line of text stands in their place, or would."""
    backup: str = ""
    """Where the original is kept; empty where nothing was changed."""

    @property
    def changed(self) -> tuple[PruningVerdict, ...]:
        """The verdicts on results that do not stay as they are."""
        return tuple(verdict for verdict in self.verdicts if verdict.action != KEEP)

    @property
    def tokens_saved(self) -> int:
        """Tokens, by our own guess."""
        return sum(verdict.tokens_saved for verdict in self.changed)


def plan(
    transcript: Transcript,
    config: Config,
    now: float,
    *,
    host_session: HostSession = UNKNOWN,
    model: str = "",
    seen: Callable[[TranscriptEntry], object] = bool,
) -> Pruned:
    """Say what is to be pruned; any format will do. seen is shown each entry as it is read.

    host_session is what the conversation's session knows of it, from which its window may be told.
    Raises `InvalidInput` where a file clearly is of another format than it is named.
    """
    refuse_another(transcript)
    pictured: set[tuple[int, int]] = set()
    images: list[LargeImage] = []
    capped = False

    def read() -> Iterator[TranscriptEntry]:
        nonlocal capped
        for number, entry in enumerate(find_format(transcript.format).entries(transcript)):
            capped = capped or (not number and caps_reserve(entry))
            seen(entry)
            pictured.update(pictured_among(entry))
            if MARK in entry.raw:
                images.extend(large_images(entry.at, parse(entry.raw) or {}))
            yield entry

    context = context_of(lightened(read()))
    window = usage_of(transcript, config, host_session=host_session, model=model).window
    summary = estimate(len(context.summary))
    room = divide(window, config.budget, capped=capped).history
    verdicts = judge(
        context.entries, config.pruning, now=now, room=room - summary, pictured=frozenset(pictured)
    )
    seen_by_model = {entry.at for entry in context.entries}
    return Pruned(
        transcript,
        verdicts,
        summary + tokens_of(context.entries),
        room,
        images=tuple(image for image in images if image.at in seen_by_model),
    )


def prune(
    transcript: Transcript,
    config: Config,
    clock: Callable[[], float],
    clean: Callable[[str], str],
    *,
    host_session: HostSession = UNKNOWN,
    model: str = "",
    replace_images: bool = False,
    seen: Callable[[TranscriptEntry], object] = bool,
    at_step: Callable[[str], object] = str,
) -> Pruned:
    """Prune a transcript's file; one that needs nothing is not touched.

    clean takes secrets out of a text before it is cut. Raises `InvalidInput` for a format that is
    read only, or clearly not the file's, and `Locked` where somebody is writing to the file.
    """
    path, writable = writable_of(transcript)
    with transcript_lock(path, clock) as lock:
        identity = identity_of(path)
        planned = plan(
            transcript, config, clock(), host_session=host_session, model=model, seen=seen
        )
        edits: list[Edit] = []
        if replace_images:
            edits += [Put(image.at, image.path, image.replacement) for image in planned.images]
        for verdict in planned.changed:
            text = _text(transcript, path, verdict)
            replacement = pruned(verdict, text, config.pruning, clean)
            edits.append(Cut(verdict.at, verdict.block, replacement))
        rewritten = rewrite(
            path,
            edits,
            writable,
            now=clock(),
            seen=identity,
            at_step=at_step,
            still_ours=lock.check,
        )
        return planned.replace(
            backup=rewritten.backup, are_images_replaced=replace_images and bool(planned.images)
        )


def _text(transcript: Transcript, path: str, verdict: PruningVerdict) -> str:
    """Return what a result says; the file is locked, so that it is still there."""
    entry = entry_at(transcript, path, verdict.at, verdict.end)
    return next(block.text for block in entry.blocks if block.at == verdict.block)
