"""Compacts a conversation in its transcript: what is old is summarized, the last turns stay.

The order: lock, repair, read, decide, tell the hooks, summarize, append, tell the hooks, let go of
the lock. Only the repair and the last step but two write to the transcript, each whole or not at
all; whatever goes wrong leaves a sound one. A rehearsal reads, decides and summarizes.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from gitguard.compaction.summary import SummaryDraft
from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.conversation import BROKEN, TranscriptEntry
from gitguard.model.text import counted
from gitguard.model.value import Value
from gitguard.pressure.usage import UNKNOWN, Usage, usage_of
from gitguard.store.disk.artifacts import read_start
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.budget import divide
from gitguard.transcripts.fitting.chunks import by_size
from gitguard.transcripts.fitting.compaction import CompactionPlan, Written, plan
from gitguard.transcripts.fitting.context import VisibleContext, context_of
from gitguard.transcripts.fitting.facts import rules_in
from gitguard.transcripts.fitting.limits import (
    TurnLimit,
    first_within_limit,
    history_limit,
    is_turn,
)
from gitguard.transcripts.fitting.summarizing import Summarized, summarize
from gitguard.transcripts.fitting.tokens import CHARACTERS_PER_TOKEN, estimate
from gitguard.transcripts.formats.writable import writer_of
from gitguard.transcripts.rewriting.appending import append
from gitguard.transcripts.rewriting.locks import transcript_lock
from gitguard.transcripts.rewriting.repair import RepairReport, copied, repair
from gitguard.transcripts.rewriting.replacing import identity_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Protocol

    from gitguard.compaction.extraction import TouchedFiles
    from gitguard.model.config.config import Config
    from gitguard.model.events import Transcript
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.model.transcript import Answer
    from gitguard.sessions.resume.filling import BlockSection
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import Saved

    class CompactionHooks(Protocol):
        """What is called around a compaction; what it raises before ends it."""

        def before(self, plan: CompactionPlan) -> None:
            """Be told that a compaction begins."""

        def after(self, compacted: Compacted) -> None:
            """Be told what became of it."""

        def sections(self) -> tuple[BlockSection, ...]:
            """Return what the summary has to say of the session's own state."""


GRACE = 120.0
"""Seconds that the lock is held longer than a summarizer may take."""
_CHUNK_SHARE = 0.4
"""Of the window, what a summarizer is given at a time."""
_LEAST_SHARE = 0.1
"""Of the window, what the last turns get in any case, and what a summary gets at most."""
_RULES_LIMIT = 1 << 18
"""Bytes that are read of the file of rules."""


class Compacted(Value):
    """What became of a conversation."""

    transcript: Transcript
    messages_before: int
    messages_after: int
    tokens_before: int
    """By our own guess, as is the next: what the host measures, it says itself."""
    tokens_after: int
    measured: int | None
    """Tokens before, as the host measured them last; None where it did not."""
    window: int
    budget: int
    """The tokens that the safeguard leaves to the history."""
    splits_turn: bool
    summarized_by: str
    """command, in part, or mechanical."""
    complaints: tuple[str, ...]
    """Why the command did not summarize."""
    summary: str
    added: int
    """Bytes that were appended; 0 for a dry run."""
    repaired: Mapping[str, int] = {}
    """What was repaired first, and how often; for a dry run what would be."""
    left_out: int = 0
    """Older turns that are not even summarized, for they lie beyond the history limit."""
    limit: TurnLimit | None = None
    """The history limit in force."""
    backup: str = ""
    """Where the file is kept as it was before the repair."""
    session: str = ""
    """The key of the session that was checkpointed around it; empty where it is none's."""
    checkpoints: tuple[Saved, ...] = ()
    notes: tuple[str, ...] = ()
    """What went wrong with the session, which stops nothing."""


class Tools(Value):
    """What compacting needs of the world around; none of it is looked up."""

    clock: Callable[[], float]
    random: Callable[[int], bytes]
    redactor: Redactor
    ask: Callable[[str], Answer] | None = None
    """The summarizer; without one, it is mechanical."""
    tell: Callable[[int, int], object] = max
    """Told how many parts are summarized, of how many."""
    tell_read: Callable[[int, int], object] = max
    """Told how many bytes are looked through, of how many."""
    folder: str = ""
    """The workspace, in which the rules are looked for and from which files are named."""
    session_key: str = ""
    """Whose history limit counts: what lies beyond it is not even summarized."""
    host_session: HostSession = UNKNOWN
    """What the conversation's session knows of it, as its window."""
    hooks: tuple[CompactionHooks, ...] = ()
    at_step: Callable[[str], object] = str


def compact(
    transcript: Transcript,
    config: Config,
    tools: Tools,
    *,
    keep_turns: int = 0,
    window: int = 0,
    dry_run: bool = False,
) -> Compacted:
    """Compact a conversation, or say what would become of it, for which it is only read.

    keep_turns and window take the place of what is configured and found. Raises `InvalidInput`
    where nothing is to be summarized, or the format is only read or not the file's, and `Locked`.
    """
    writer = writer_of(transcript)
    if dry_run:
        return _rehearse(
            transcript, writer.path, config, tools=tools, keep_turns=keep_turns, window=window
        )
    hold = config.compaction.timeout_seconds + GRACE
    with transcript_lock(writer.path, tools.clock, hold=hold) as lock:
        began = tools.clock()
        repaired = repair(transcript, tools.clock, tell=tools.tell_read, at_step=tools.at_step)
        with _telling_of(repaired):
            seen = identity_of(writer.path)
            job = _decide(
                transcript, transcript, config, tools=tools, keep_turns=keep_turns, window=window
            )
            for hooks in tools.hooks:
                hooks.before(job.plan)
            summary = job.summary()
            lines = writer.lines(job.plan, job.written(summary, began), writer.path, tools.random)
            append(writer.path, lines, seen, at_step=tools.at_step, still_ours=lock.check)
            added = os.stat(writer.path).st_size - seen.size
            compacted = job.outcome(summary, repaired, added=added)
            for hooks in tools.hooks:
                hooks.after(compacted)
            return compacted


def _rehearse(
    transcript: Transcript, path: str, config: Config, tools: Tools, keep_turns: int, window: int
) -> Compacted:
    """Say what would become of a conversation once it is repaired."""
    repaired = repair(transcript, tools.clock, rehearse=True, tell=tools.tell_read)
    with _telling_of(repaired), _as_repaired(transcript, path, repaired, tools) as stands:
        job = _decide(transcript, stands, config, tools=tools, keep_turns=keep_turns, window=window)
        return job.outcome(job.summary(), repaired)


@contextmanager
def _as_repaired(
    transcript: Transcript, path: str, repaired: RepairReport, tools: Tools
) -> Iterator[Transcript]:
    """Yield a transcript that needs no repair: itself, or else a copy until the context ends."""
    if repaired.needs_nothing:
        yield transcript
        return
    with copied(path) as copy:
        stands = transcript.replace(path=copy)
        repair(stands, tools.clock)
        yield stands


@contextmanager
def _telling_of(repaired: RepairReport) -> Iterator[None]:
    """Let an error that comes after a repair tell of it: the file is not what it was."""
    try:
        yield
    except GitguardError as error:
        what = ", ".join(f"{kind} {count:,}" for kind, count in repaired.counts.items())
        if repaired.is_rehearsed and what:
            error.message += f"; the file would be repaired before ({what})"
        elif what:
            error.message += f"; the file was repaired before ({what}), and the original is "
            error.message += f"`{repaired.backup}`"
        error.args = (error.message,)
        raise


class _Summary(Value):
    """A summary that is ready to be written."""

    text: str
    files: TouchedFiles
    summarized: Summarized


class _Job(Value):
    """One compaction: what is known and what was decided."""

    transcript: Transcript
    config: Config
    tools: Tools
    usage: Usage
    window: int
    budget: int
    plan: CompactionPlan

    def summary(self) -> _Summary:
        """Summarize what is old; what the session says of itself comes after what was said."""
        tools = self.tools
        most = self.config.compaction.chunk_tokens or max(int(self.window * _CHUNK_SHARE), 1)
        chunks = by_size(self.plan.old, most)
        summarized = summarize(
            chunks, tools.redactor, most_tokens=most, ask=tools.ask, tell=tools.tell
        )
        length = _most_characters(self.config, self.window)
        draft = SummaryDraft(self.plan, tools.redactor, most=length, folder=tools.folder)
        state = tuple(section for hooks in tools.hooks for section in hooks.sections())
        return _Summary(
            draft.text(summarized, state=state, rules=self._rules()), draft.files, summarized
        )

    def _rules(self) -> str:
        """Return the rules that must not be forgotten; a file that cannot be read has none."""
        config = self.config.compaction
        if not self.tools.folder or not config.rules_file:
            return ""
        try:
            text = read_start(self.tools.folder, config.rules_file, limit=_RULES_LIMIT)
        except InvalidDocument:
            return ""
        return rules_in(text or "", config.rules_sections, config.rules_characters)

    def written(self, summary: _Summary, began: float) -> Written:
        """Return what the transcript is to say."""
        now = self.tools.clock()
        return Written(
            summary.text,
            now,
            self.usage.tokens or self.plan.tokens_before,
            milliseconds=max(int((now - began) * 1000), 0),
            read_files=summary.files.read,
            modified_files=summary.files.modified,
        )

    def outcome(self, summary: _Summary, repaired: RepairReport, added: int = 0) -> Compacted:
        """Return what became of the conversation, or would become."""
        return Compacted(
            transcript=self.transcript,
            messages_before=self.plan.messages_before,
            messages_after=self.plan.messages_after,
            tokens_before=self.plan.tokens_before,
            tokens_after=self.plan.tokens_after(summary.text),
            measured=self.usage.tokens,
            window=self.window,
            budget=self.budget,
            splits_turn=self.plan.splits_turn,
            summarized_by=_author(summary.summarized),
            complaints=summary.summarized.complaints,
            summary=summary.text,
            added=added,
            repaired=repaired.counts,
            left_out=self.plan.left_out,
            limit=self.plan.limit,
            backup=repaired.backup,
        )


def _decide(
    transcript: Transcript,
    stands: Transcript,
    config: Config,
    tools: Tools,
    keep_turns: int,
    window: int,
) -> _Job:
    """Decide on a conversation as it stands in another place once it is repaired."""
    usage = usage_of(transcript, config, host_session=tools.host_session)
    window = window or usage.window
    budget = divide(window, config.budget).safeguard
    keep_turns = keep_turns or config.compaction.keep_turns
    entries = find_format(stands.format).entries(stands)
    before = context_of(_each_read(entries, transcript.path))
    limit = history_limit(tools.session_key, config.budget.history_limits)
    begin = first_within_limit(before.entries, limit.turns if limit else 0)
    left_out = sum(map(is_turn, before.entries[:begin]))
    before = before.replace(entries=before.entries[begin:])
    most = _most_characters(config, window)
    room = max(budget - estimate(most), int(window * _LEAST_SHARE))
    decided = plan(before, budget=room, keep_turns=keep_turns)
    if decided is None:
        raise _too_little(transcript, before, keep_turns, left_out)
    if not decided.has_anchor:
        raise InvalidInput(
            f"`{transcript.path}` cannot be compacted: no entry that would stay has an id, and a "
            "compaction names by their ids the entries that stay",
            "Continue the conversation in its host, which gives ids to what it writes",
        )
    decided = decided.replace(left_out=left_out, limit=limit)
    return _Job(transcript, config, tools, usage=usage, window=window, budget=budget, plan=decided)


def _each_read(entries: Iterable[TranscriptEntry], path: str) -> Iterator[TranscriptEntry]:
    """Yield entries; refuse one that cannot be read, as what stands before it may hang on it."""
    for entry in entries:
        if entry.kind == BROKEN:
            raise InvalidInput(
                f"`{path}` cannot be compacted: what is at byte {entry.at:,} is not read, since "
                f"{entry.problem}",
                "Compact the conversation in its host",
            )
        yield entry


def _too_little(
    transcript: Transcript, before: VisibleContext, keep_turns: int, left_out: int
) -> InvalidInput:
    turns = sum(map(is_turn, before.entries))
    stay = "the last one stays" if keep_turns == 1 else f"the last {keep_turns:,} stay"
    limited = f" within its history limit, {left_out:,} beyond it" if left_out else ""
    return InvalidInput(
        f"there is nothing to summarize in `{transcript.path}`: its context holds "
        f"{counted(turns, 'turn')}{limited}, and {stay} word for word",
        "Keep fewer of them with --keep-turns" if turns > 1 else "",
    )


def _most_characters(config: Config, window: int) -> int:
    """Return how long a summary may be: as configured, and less where the window is small."""
    share = int(window * _LEAST_SHARE) * CHARACTERS_PER_TOKEN
    return min(config.compaction.summary_characters, share)


def _author(summary: Summarized) -> str:
    if summary.by_plug:
        return "command"
    return "in part" if summary.in_part else "mechanical"
