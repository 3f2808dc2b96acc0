"""Repairs a transcript's file: lines that do not parse go, calls and results become pairs.

What needs nothing stays byte for byte, and a file that needs nothing at all is not touched. Before
one is, the original gets a second name; `replacing` says how a crash leaves it.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from gitguard.errors import InvalidDocument
from gitguard.model.conversation import CALL, COMPACTION, MESSAGE, TOOL, UNKNOWN, TranscriptEntry
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.transcripts.entries import no_collections
from gitguard.transcripts.fitting.context import context_of, lost_parents
from gitguard.transcripts.formats.writable import writable_of
from gitguard.transcripts.rewriting.applying import line_at, line_of, parse, rewrite
from gitguard.transcripts.rewriting.displaced import InOrder, in_order
from gitguard.transcripts.rewriting.edits import (
    START,
    Add,
    Drop,
    Edit,
    End,
    Move,
    Put,
    Relink,
    Replace,
    Unsign,
)
from gitguard.transcripts.rewriting.locks import transcript_lock
from gitguard.transcripts.rewriting.pairing import UNSIGNED, Finding, Pairing, pair
from gitguard.transcripts.rewriting.replacing import FileIdentity, Replacing, identity_of
from gitguard.transcripts.rewriting.scanning import Broken, Scan, Split, scan
from gitguard.transcripts.rewriting.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from gitguard.model.events import Transcript
    from gitguard.transcripts.rewriting.images import LargeImage
    from gitguard.transcripts.rewriting.tree import Writable

SOUND, MADE, PUT_FIRST = "sound", "made anew", "put first"
"""What there was to do about a header; `sound` also where the format has none."""
_MOST_PASSES = 16
"""More are needed by no file; each takes as long as the first."""


class RepairReport(Value):
    """What a transcript needed, and what was done about it."""

    path: str
    format: str
    lines: int
    broken: tuple[Broken, ...] = ()
    """Lines that did not parse, and were dropped."""
    splits: tuple[Split, ...] = ()
    """Lines that held several records, or one behind a torn one; each is a line of its own now."""
    findings: tuple[Finding, ...] = ()
    """What was wrong with calls and results, and was put right."""
    header: str = SOUND
    cleaned: int = 0
    """Lines that parse since a byte-order mark or NULs around them are gone."""
    displaced: int = 0
    """Last entries that stood behind what follows them: before it now, gone if they were copies."""
    relinked: int = 0
    """Entries that followed one which is lost, and follow the one before it in the file now."""
    ended: bool = False
    """Whether the last line got the end that it lacked."""
    bad_text: int = 0
    """Lines with bytes that are no UTF-8, which were kept: hosts read them."""
    unjudged: int = 0
    """Lines too long to be parsed, which were kept; so is all that may depend on them."""
    images: tuple[LargeImage, ...] = ()
    """Images that the model sees and that are too large for a request of many."""
    are_images_replaced: bool = False
    """Whether a line of text stands in their place now."""
    messages_before: int = 0
    """Messages that a host finds when it goes back from the last line; 0 for a sound file."""
    messages_after: int = 0
    """Those that it finds since."""
    resettable: bool = False
    """Whether the agent never answered, so that nothing is lost when the host begins anew."""
    was_reset: bool = False
    backup: str = ""
    """Where the original is; empty where the file was not touched."""
    is_rehearsed: bool = False
    """Whether only what would be done is told."""

    @property
    def counts(self) -> dict[str, int]:
        """What was found, and how often; empty for a sound file."""
        counts = {"broken": len(self.broken), "split": len(self.splits), "cleaned": self.cleaned}
        counts |= {"relinked": self.relinked, "displaced": self.displaced}
        counts |= {"header": int(self.header != SOUND), "ended": int(self.ended)}
        counts["images"] = len(self.images) if self.are_images_replaced else 0
        for finding in self.findings:
            counts[finding.kind] = counts.get(finding.kind, 0) + 1
        return {kind: count for kind, count in counts.items() if count}

    @property
    def needs_nothing(self) -> bool:
        """Whether the file is sound."""
        return not self.counts


def repair(
    transcript: Transcript,
    clock: Callable[[], float],
    *,
    reset: bool = False,
    everything: bool = False,
    replace_images: bool = False,
    rehearse: bool = False,
    tell: Callable[[int, int], object] = max,
    at_step: Callable[[str], object] = str,
) -> RepairReport:
    """Repair a transcript's file, or tell what would be done.

    reset: a conversation in which the agent never answered begins anew, as an empty file.
    everything: also look at what the last compaction left behind. replace_images: put a line of
    text in the place of images that are too large for a request of many. tell hears how many bytes
    of how many were looked at. Raises `InvalidInput` for a format that is only read, or clearly not
    the file's, `InvalidDocument` for a file in which nothing parses, `Locked` and `NotWritable`;
    nothing was changed then.
    """
    with no_collections():
        return _repaired(
            transcript,
            clock,
            wishes=_Wishes(reset=reset, everything=everything, replace_images=replace_images),
            rehearse=rehearse,
            tell=tell,
            at_step=at_step,
        )


def _repaired(
    transcript: Transcript,
    clock: Callable[[], float],
    *,
    wishes: _Wishes,
    rehearse: bool,
    tell: Callable[[int, int], object],
    at_step: Callable[[str], object],
) -> RepairReport:
    path, writable = writable_of(transcript)
    passes = _Passes(transcript, path, writable, tell=tell, wishes=wishes)
    if rehearse:
        report = passes.examine().report(transcript.format)
        if not (report.needs_nothing or report.was_reset):
            with copied(path) as copy:
                report = passes.carry_out(copy, clock, at_step, bool).replace(path=path, backup="")
        return report.replace(is_rehearsed=True)
    with transcript_lock(path, clock) as lock:
        return passes.carry_out(path, clock, at_step, lock.check)


class _Wishes(Value):
    """What a user wants of a repair besides."""

    reset: bool
    everything: bool
    replace_images: bool


@contextmanager
def copied(path: str) -> Iterator[str]:
    """Yield the path of a copy of a transcript, which is there until the context ends.

    It may be far too long for the memory. The copy lies in a folder of ours alone, wherever the
    system has those, because nobody has to permit us to write where the transcript is.
    """
    try:
        temporary = TemporaryDirectory(prefix="gitguard-rehearsal-")
    except OSError as error:
        raise files.refused("a temporary folder", error) from error
    with temporary as folder:
        copy = os.path.join(folder, os.path.basename(path))
        files.copy(path, copy)
        os.chmod(copy, 0o600)  # to be repaired, even where the original is write-protected
        yield copy


class _Passes:
    """The repair of one file, again until there is nothing left to do: one may bring up another.

    Each pass leaves a whole file. The backup is of the original.
    """

    def __init__(
        self,
        transcript: Transcript,
        path: str,
        writable: Writable,
        *,
        tell: Callable[[int, int], object],
        wishes: _Wishes,
    ) -> None:
        self._name, self._path, self._writable = transcript.format, path, writable
        self._tell, self._wishes = tell, wishes

    def examine(self, path: str = "") -> _FileRepair:
        path = path or self._path
        return _FileRepair(
            path,
            self._writable,
            identity_of(path),
            self._tell,
            wishes=self._wishes,
            home=self._path,
        )

    def carry_out(
        self,
        path: str,
        clock: Callable[[], float],
        at_step: Callable[[str], object],
        still_ours: Callable[[], object],
    ) -> RepairReport:
        work = self.examine(path)
        report = total = work.report(self._name)
        if not (report.counts or report.was_reset):
            return report
        before = work.messages
        for number in range(_MOST_PASSES):
            if not (report.counts or report.was_reset):
                break
            repaired = work.carry_out(report, clock(), at_step, still_ours, keep=not number)
            total = _joined(total, repaired) if number else repaired
            if report.was_reset:
                return total
            work = self.examine(path)
            report = work.report(self._name)
        return total.replace(messages_before=before, messages_after=work.messages)


def _joined(total: RepairReport, report: RepairReport) -> RepairReport:
    """Return the report of several passes: all that was done, and the file as it is now."""
    return total.replace(
        broken=(*total.broken, *report.broken),
        findings=(*total.findings, *report.findings),
        splits=(*total.splits, *report.splits),
        images=total.images or report.images,
        are_images_replaced=total.are_images_replaced or report.are_images_replaced,
        header=total.header if total.header != SOUND else report.header,
        cleaned=total.cleaned + report.cleaned,
        displaced=total.displaced + report.displaced,
        relinked=total.relinked + report.relinked,
        ended=total.ended or report.ended,
        bad_text=report.bad_text,
        unjudged=report.unjudged,
        resettable=report.resettable,
    )


class _FileRepair:
    """The repair of one file as it stands."""

    def __init__(
        self,
        path: str,
        writable: Writable,
        seen: FileIdentity,
        tell: Callable[[int, int], object],
        *,
        wishes: _Wishes,
        home: str,
    ) -> None:
        self._path, self._writable, self._seen = path, writable, seen
        self._home, self._wishes = home, wishes
        self._scan = scan(path, seen, writable, tell)
        self._order, self._parents = InOrder(self._scan.entries), dict[int, str]()
        self._entries: Sequence[TranscriptEntry] = self._scan.entries
        self._pairing = Pairing()
        self._images = tuple(self._scan.images)
        self._unsigned = tuple(self._scan.unsigned)
        # What a line holds that is split is known when it is. Of a line too long to be read nobody
        # knows what it says, follows or answers.
        if not (self._scan.splits or self._scan.unjudged):
            self._judge()

    def _judge(self) -> None:
        self._order = self._in_order()
        is_plain = self._scan.is_plain and not _has_copies(self._order.entries)
        self._parents = _new_parents(self._scan, self._order.entries, is_plain=is_plain)
        entries = self._entries = _relinked(self._order.entries, self._parents)
        if not is_plain:
            seen_by_model = conversation(entries, everything=self._wishes.everything)
            places = {entry.at for entry in seen_by_model}
            self._images = tuple(image for image in self._images if image.at in places)
            self._unsigned = tuple(where for where in self._unsigned if where[0] in places)
            entries = (*seen_by_model, *_strays(entries, seen_by_model, self._parents))
        # What stands beside the way is found by its place, which is another one after a move.
        self._pairing = pair(
            () if self._order.edits else entries,
            notes_between=self._writable.NOTES_BETWEEN,
            results_name_tools=self._writable.RESULTS_NAME_TOOLS,
        )

    @property
    def messages(self) -> int:
        """Messages that a host finds when it goes back from the last line."""
        if not self._scan.entries:
            return self._scan.messages
        active = conversation(self._scan.entries)
        return sum(entry.kind == MESSAGE for entry in active)

    def report(self, name: str) -> RepairReport:
        scan = self._scan
        resettable = bool(scan.lines and not (scan.has_answer or scan.unjudged or scan.splits))
        if scan.splits:
            return RepairReport(self._path, name, scan.lines, splits=tuple(scan.splits))
        if scan.broken and scan.first < 0 and not (self._wishes.reset and resettable):
            raise InvalidDocument(
                f"not one line of `{self._path}` parses; it was left as it is",
                "Repair it with --reset to let the conversation begin anew",
            )
        return RepairReport(
            self._path,
            name,
            scan.lines,
            broken=tuple(scan.broken),
            findings=(*self._pairing.findings, *self._of_signatures()),
            header=self._header(),
            cleaned=len(scan.cleaned),
            displaced=len(self._order.edits),
            relinked=len(self._parents),
            ended=not scan.is_ended and self._ends_with_an_entry(),
            bad_text=scan.bad_text,
            unjudged=scan.unjudged,
            resettable=resettable,
            was_reset=self._wishes.reset and resettable,
            images=self._images,
            are_images_replaced=self._wishes.replace_images and bool(self._images),
        )

    def carry_out(
        self,
        report: RepairReport,
        now: float,
        at_step: Callable[[str], object],
        still_ours: Callable[[], object],
        *,
        keep: bool,
    ) -> RepairReport:
        if report.was_reset:
            with Replacing(
                self._path, self._seen, now=now, at_step=at_step, still_ours=still_ours, keep=keep
            ) as writing:
                writing.write(b"")
            return report.replace(backup=writing.backup)
        edits: tuple[Edit, ...]
        edits = tuple(Replace(split.at, split.line) for split in report.splits)
        if not edits:
            edits = (*self._of_the_file(report), *self._pairing.edits, *self._copies())
        if report.are_images_replaced:
            edits += tuple(Put(image.at, image.path, image.replacement) for image in report.images)
        repaired = rewrite(
            self._path,
            edits,
            self._writable,
            now=now,
            seen=self._seen,
            tree=self._tree() if self._pairing.edits else Tree(()),
            keep=keep,
            at_step=at_step,
            still_ours=still_ours,
        )
        return report.replace(backup=repaired.backup)

    def _tree(self) -> Tree:
        return Tree((entry for entry in self._entries if entry.id), self._scan.pointers)

    def _in_order(self) -> InOrder:
        scan = self._scan
        if scan.is_plain:
            return InOrder(scan.entries)
        return in_order(scan.entries, scan.headers[0].at if scan.headers else START)

    def _header(self) -> str:
        scan = self._scan
        if not self._writable.HAS_HEADER or scan.first < 0:
            return SOUND
        sound = [header for header in scan.headers if header.id]
        if not sound:
            return MADE
        return SOUND if sound[0].at == scan.first else PUT_FIRST

    def _ends_with_an_entry(self) -> bool:
        return (
            not self._scan.broken
            or self._scan.broken[-1].at + (self._scan.broken[-1].size) < self._seen.size
        )

    def _of_the_file(self, report: RepairReport) -> Iterator[Edit]:
        scan = self._scan
        if report.header == MADE:
            first = self._document(scan.first)
            yield Add(START, line_of(self._writable.header(self._home, first)))
        elif report.header == PUT_FIRST:
            at = next(header.at for header in scan.headers if header.id)
            yield Add(START, line_of(self._document(at)))
            yield Drop(at)
        yield from (Drop(line.at) for line in scan.broken)
        yield from (Replace(at, line) for at, line in scan.cleaned.items())
        yield from self._order.edits
        yield from (Relink(at, parent) for at, parent in self._parents.items())
        yield from (Unsign(at, path) for at, path, _ in self._unsigned)
        if report.ended:
            yield End()

    def _of_signatures(self) -> Iterator[Finding]:
        for at, _, call in self._unsigned:
            yield Finding(UNSIGNED, at, call, "no API takes its signature")

    def _copies(self) -> Iterator[Edit]:
        """Drop the older copies of what is changed or moved, or they would come back."""
        changed = {edit.at for edit in self._pairing.edits if isinstance(edit, (Drop, Move))}
        ids = {entry.id for entry in self._entries if entry.at in changed and entry.id}
        for entry in self._entries if ids else ():
            if entry.id in ids and entry.at not in changed:
                yield Drop(entry.at)

    def _document(self, at: int) -> dict[str, Any]:
        cleaned = parse(self._scan.cleaned.get(at, b""))
        return line_at(self._path, at) if cleaned is None else cleaned


def conversation(
    entries: Sequence[TranscriptEntry], *, everything: bool = False
) -> tuple[TranscriptEntry, ...]:
    """Return what the model sees of a conversation, in the order in which it does.

    A file in which all was said by one sub-agent is that one's conversation.
    """
    if all(entry.is_aside for entry in entries if entry.kind == MESSAGE):
        entries = [entry.replace(is_aside=False) for entry in entries]
    if everything:
        entries = list(_without_turns(entries))
    return context_of(entries).entries


def _without_turns(entries: Sequence[TranscriptEntry]) -> Iterator[TranscriptEntry]:
    """Yield entries as if nothing had ever been summarized."""
    newest = ""
    for entry in entries:
        if entry.kind == COMPACTION:
            yield entry.replace(kind=UNKNOWN, parent=entry.parent or newest)
        else:
            yield entry
        newest = newest if entry.is_aside else entry.id or newest


def _new_parents(
    scan: Scan, entries: Sequence[TranscriptEntry], *, is_plain: bool
) -> dict[int, str]:
    """Return for entries that follow one which is not there what they follow from now on.

    Hosts go back from the last entry: they would find nothing of what stands before the gap, and
    never come to an end in a ring. is_plain: whether each follows the one before it.
    """
    if is_plain:
        return {}
    followed = [entry for entry in entries if entry.id and not entry.is_aside]
    ids = {entry.id for entry in entries}
    parents, passed, may_ring = lost_parents(entries), set(), False
    for entry in followed:
        may_ring = may_ring or entry.id in passed
        may_ring = may_ring or (entry.parent in ids and entry.parent not in passed)
        passed.add(entry.id)
    if may_ring:
        _break_rings(followed, parents)
    return parents


def _break_rings(entries: Sequence[TranscriptEntry], parents: dict[int, str]) -> None:
    """Let the first entry of each ring follow the newest before it that goes back to its start.

    A link of the active branch is not broken for one that closes the gap before another entry.
    """
    active = _links_of_branch(entries) - parents.keys()
    entries_by_id = {entry.id: entry for entry in entries}
    rooted: set[str] = set()
    for entry in entries:
        way: dict[str, TranscriptEntry] = {}
        ancestor: TranscriptEntry | None = entries_by_id[entry.id]
        while ancestor is not None and ancestor.id not in rooted and ancestor.id not in way:
            way[ancestor.id] = ancestor
            ancestor = entries_by_id.get(parents.get(ancestor.at, ancestor.parent))
        if ancestor is not None and ancestor.id in way:
            ring = list(way)[list(way).index(ancestor.id) :]
            first = min((way[id_] for id_ in ring), key=lambda e: (e.at in active, e.at))
            before = [entry.id for entry in entries if entry.at < first.at]
            parents[first.at] = next((id_ for id_ in reversed(before) if id_ in rooted), "")
        rooted |= way.keys()


def _links_of_branch(entries: Sequence[TranscriptEntry]) -> set[int]:
    """Return where the entries begin that a host meets when it goes back from the last one."""
    entries_by_id = {entry.id: entry for entry in entries}
    links: set[int] = set()
    ancestor = entries_by_id.get(entries[-1].id) if entries else None
    while ancestor is not None and ancestor.at not in links:
        links.add(ancestor.at)
        ancestor = entries_by_id.get(ancestor.parent)
    return links


def _has_copies(entries: Sequence[TranscriptEntry]) -> bool:
    """Say whether lines have the same id: hosts take the last one for all."""
    ids = [entry.id for entry in entries if entry.id]
    return len(set(ids)) < len(ids)


def _strays(
    entries: Sequence[TranscriptEntry],
    seen_by_model: Sequence[TranscriptEntry],
    parents: Mapping[int, str],
) -> Iterator[TranscriptEntry]:
    """Yield the results of lost calls that now follow an entry the model sees, off its branch.

    Of several calls at once, each a line, one may be lost; its result came to follow another's.
    """
    if not parents:
        return
    ids, places = {entry.id for entry in seen_by_model}, {entry.at for entry in seen_by_model}
    called = {block.id for entry in entries for block in entry.blocks if block.kind == CALL}
    for entry in entries:
        is_beside = entry.at in parents and entry.at not in places and entry.parent in ids
        if is_beside and entry.role == TOOL and called.isdisjoint(b.id for b in entry.blocks):
            yield entry


def _relinked(
    entries: Sequence[TranscriptEntry], parents: dict[int, str]
) -> Sequence[TranscriptEntry]:
    if not parents:
        return entries
    return [
        entry.replace(parent=parents[entry.at]) if entry.at in parents else entry
        for entry in entries
    ]
