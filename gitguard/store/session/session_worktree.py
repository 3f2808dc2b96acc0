"""What a session keeps of the worktree at its checkpoints: a look, and a snapshot of the files.

The look, in the state directory, says what was changed and not committed already then. Who changed
a file since is told by it, so it lies where no command in the worktree removes or changes it.

A checkpoint is as good without either, so nothing here stops one: our own faults are marked.
"""

from __future__ import annotations

import os
from math import inf

from gitguard.errors import GitguardError, InvalidDocument, Locked, NotWritable
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.model.text import counted, timestamp
from gitguard.model.triggers import WITHOUT_HASTE
from gitguard.model.value import Value
from gitguard.state.checkpoint import UNSEEN, WrittenFile
from gitguard.state.entries import COMMITTED, cut_off_calls
from gitguard.store.disk import files
from gitguard.store.git.differences import Differences
from gitguard.store.session.anchor import FORMAT, load_record
from gitguard.store.session.host_session import NEVER, read_record
from gitguard.store.worktree.file_store import MANY
from gitguard.store.worktree.manifest import Authors
from gitguard.store.worktree.searched import Searched
from gitguard.store.worktree.snapshot import EarlierSnapshot, SnapshotLimits, Taken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.model.config.files import FilesConfig
    from gitguard.state.entries import JournalEntry
    from gitguard.store.git.differences import WorktreeComparer
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.journal import JournalPart, OwnJournal
    from gitguard.store.session.shell_edits import ShellEdits
    from gitguard.store.session.workspace import Session, Workspace
    from gitguard.store.worktree.file_store import FileStore
    from gitguard.store.worktree.kept import KeptSnapshot, KeptSnapshots, Retention
    from gitguard.store.worktree.overlays import SnapshotReader
    from gitguard.store.worktree.summaries import KeptSummaries

    Paths = frozenset[str]

FILE = "worktree.json"
_LIMIT = 16 << 20
"""Bytes of as many files as a snapshot may have that are not as in the commit."""


class KeptLook(Record):
    """A look at the worktree, and the checkpoint at which it was taken."""

    checkpoint: str = fields.text("The checkpoint's commit.")
    git_dir: str = fields.text("The worktree's git directory.")
    look: Differences = fields.record(
        "What was different from the commit checked out.", of=Differences
    )
    journal_id: str = fields.text("The journal as it was then.", default="")
    journal_offset: int = fields.count("Up to where its entries are older.", default=0)
    snapshot: str = fields.text("The snapshot of the files, by its id.", default="")
    looked_at_again: tuple[str, ...] = fields.texts(
        "Paths that the next snapshot takes anew, also where they lie there as before.", default=()
    )
    refusal: str = fields.text("Why no snapshot of the files was taken.", default="")
    was_cut_off: bool = fields.flag(
        "Whether time ran out before the snapshot had every file.", default=False
    )
    searched: tuple[Searched, ...] = fields.records(
        "What the search for secrets came to in large files.", of=Searched, default=()
    )
    at: str = fields.time("When.", default=NEVER)
    waiting: tuple[WrittenFile, ...] = fields.records(
        "What the agent wrote into files that no commit holds yet.", of=WrittenFile, default=()
    )

    @property
    def is_whole(self) -> bool:
        """Whether another snapshot of the same files would have nothing more in it."""
        return bool(self.snapshot) and not self.was_cut_off


def keep_look(path: str, kept: KeptLook) -> None:
    """Keep a look in a file; one that is too large leaves none, so that nothing is taken for it."""
    record = _with_names(kept, _written)
    data = dump_json({"format": FORMAT, **record.to_document()})
    if len(data) > _LIMIT:
        files.remove(path)
    else:
        # The older content is of another checkpoint, and counts for nothing after a crash.
        files.write_bytes(path, data, settled=False)


def kept_look(path: str, checkpoint: str, git_dir: str) -> KeptLook | None:
    """Return the look that was taken in this worktree at a checkpoint, None where there is none."""
    try:
        record = load_record(path, "the look at the worktree", KeptLook, _LIMIT)
    except GitguardError:
        return None
    if record is None or (record.checkpoint, record.git_dir) != (checkpoint, _written(git_dir)):
        return None
    try:
        return _with_names(record, _read)
    except ValueError:
        return None


def _with_names(kept: KeptLook, spell: Callable[[str], str]) -> KeptLook:
    files_seen = tuple(file.replace(path=spell(file.path)) for file in kept.look.files)
    return kept.replace(
        git_dir=spell(kept.git_dir),
        look=kept.look.replace(files=files_seen),
        looked_at_again=tuple(map(spell, kept.looked_at_again)),
        waiting=tuple(file.replace(path=spell(file.path)) for file in kept.waiting),
    )


def _written(path: str) -> str:
    # A name may be any bytes, and JSON holds text: each byte is written as a character.
    return os.fsencode(path).decode("latin-1")


def _read(name: str) -> str:
    return os.fsdecode(name.encode("latin-1"))


_MOST_UNIGNORED = 1_000
"""Untracked files that a worktree without ignore rules may have."""
_MEGABYTE = 1 << 20
_MUCH = 1 << 20
"""Bytes of forgotten contents whose disk is given back at once."""
_PACKING_LIMIT = 3.0
"""Seconds for packing snapshots together at the end of a turn."""


class Seen(Value):
    """What the worktree looked like at a moment, and the snapshot of it."""

    look: Differences
    snapshot: str = ""
    """The snapshot's id; empty where none was taken."""
    refusal: str = ""
    """Why none was taken."""
    was_cut_off: bool = False
    """Whether time ran out before it had every file."""
    searched: tuple[Searched, ...] = ()
    """What the search for secrets came to in large files."""
    looked_at_again: frozenset[str] = frozenset()
    """As in `Taken`."""
    written: tuple[WrittenFile, ...] = ()
    """What the agent wrote since the last look into files that git tracks."""
    waiting: tuple[WrittenFile, ...] = ()
    """The same of files that no commit holds yet."""


class SessionWorktree:
    """Looks at the worktree for one session."""

    def __init__(
        self,
        workspace: Workspace,
        session: Session,
        repository: Repository,
        journal: OwnJournal,
        config: FilesConfig,
    ) -> None:
        """Describe the worktree; nothing is looked at yet."""
        self._workspace = workspace
        self._session = session
        self._repository = repository
        self._journal = journal
        self._config = config
        self._is_disk_due = False
        """Whether so much was forgotten that its disk is to be given back soon."""

    @property
    def _path(self) -> str:
        return os.path.join(self._workspace.anchor_folder(self._session), FILE)

    def kept_at(self, checkpoint: str) -> KeptLook | None:
        """Return the look that was kept at a checkpoint, None where that is not known."""
        return kept_look(self._path, checkpoint, self._workspace.place.git_dir)

    def kept_snapshots(self) -> KeptSnapshots:
        """Return the list of the session's snapshots."""
        from gitguard.store.worktree.kept import KeptSnapshots

        return KeptSnapshots(self.file_store, self._session.name)

    def kept_summaries(self) -> KeptSummaries:
        """Return the hosts' summaries of the session, whole."""
        from gitguard.store.worktree.summaries import KeptSummaries

        return KeptSummaries(self.file_store, self._session.name)

    @property
    def file_store(self) -> FileStore:
        """The store of the file snapshots of all sessions."""
        return self._workspace.file_store(self._repository)

    def reader(self) -> SnapshotReader:
        """Return a context manager that reads snapshots and the user's commits."""
        from gitguard.store.worktree.overlays import SnapshotReader

        return SnapshotReader(self._repository, self.file_store, self._session.name)

    @property
    def retention(self) -> Retention:
        """How long snapshots are kept."""
        from gitguard.store.worktree.kept import Retention

        return Retention(self._config.most, self._config.days)

    def take_in_shell_edits(self, before: KeptLook | None) -> tuple[Differences | None, Paths]:
        """Journal which files shell commands edited since the last look.

        Returns the new look, and all that changed under these commands. A turn without any needs no
        look.
        """
        try:
            look, edits = self._shell_edits(before)
            for entry in edits.entries:
                self._journal.append(entry)
        except GitguardError as error:
            self._workspace.note_fault("looking at what shell commands changed", error)
            return None, frozenset()
        return look, edits.paths

    def take_in_commit(self, before: KeptLook | None) -> None:
        """Journal the commit that is checked out, if a shell command made it since the last look.

        What `git commit` prints tells the same, unless it was quiet.
        """
        head = self._repository.checked_out_commit() if before is not None else ""
        if before is None or not head or head == before.look.commit:
            return
        from gitguard.store.session.shell_commits import commit_by
        from gitguard.store.session.shell_edits import shell_runs

        since = self._journal.read(before.journal_id, before.journal_offset)
        if any(e.event == COMMITTED and e.summary.startswith(head) for e in since.unfolded):
            return
        try:
            runs = shell_runs(since, frozenset())
            entry = commit_by(runs, self._repository, head) if runs else None
        except GitguardError as error:
            self._workspace.note_fault("looking at what was committed", error)
            return
        if entry is not None:
            self._journal.append(entry)

    def shell_edits(
        self, before: KeptLook | None, unwritten: tuple[JournalEntry, ...]
    ) -> ShellEdits:
        """Return what shell commands changed since the last look, and journal nothing.

        unwritten is what happened as well, and is not in the journal yet.
        """
        return self._shell_edits(before, unwritten)[1]

    def _shell_edits(
        self, before: KeptLook | None, unwritten: tuple[JournalEntry, ...] = ()
    ) -> tuple[Differences | None, ShellEdits]:
        from gitguard.store.session.shell_edits import (
            ShellEdits,
            changed_files,
            edits_of,
            shell_runs,
        )

        if before is None:
            return None, ShellEdits()
        since = self._journal.read(before.journal_id, before.journal_offset)
        since = since.replace(
            entries=since.entries + unwritten, unfolded=since.unfolded + unwritten
        )
        runs = shell_runs(since, self.gone_conversations(since))
        if not runs:
            return None, ShellEdits()
        look = self._comparer().compare(before.look.commit, also=before.look.new_files)
        changed = changed_files(self._workspace.place.worktree, before.look, look)
        return look, edits_of(runs, since.entries, changed, before.at)

    def gone_conversations(self, part: JournalPart) -> frozenset[str]:
        """Return the conversations with cut-off calls whose host's process is known to be gone."""
        keys = {call.host_session for call in cut_off_calls(part.entries)}
        if not keys:
            return frozenset()
        from gitguard.store.session.at_work import process_runs

        records = read_record(self._workspace, self._session).host_sessions
        recorded = ((key, records[key]) for key in keys & records.keys())
        return frozenset(
            key
            for key, record in recorded
            if process_runs(record.process, record.last_process) is False
        )

    def lies_at(self, path: str) -> bool:
        """Say whether anything lies at a path."""
        return os.path.lexists(os.path.join(self._workspace.place.worktree, path))

    def id_of(self, path: str) -> str:
        """Return the id of the bytes that lie at a path, as git names a blob; empty for none."""
        from gitguard.store.git.worktree_files import ReadLimits, WorktreeFiles

        width = self._repository.id_length()
        return WorktreeFiles(self._workspace.place.worktree, width, ReadLimits()).read(path).id

    def see(
        self,
        commit: str,
        before: KeptLook | None,
        look: Differences | None,
        by_shell: Paths = frozenset(),
        restored: Callable[[], Paths] | None = None,
    ) -> Seen | None:
        """Take a snapshot of the files as they differ from a commit; None where no look works.

        before is the last look that was kept; look is one that was taken just now, if any; by_shell
        are files that changed under shell commands in between, and restored is as in
        `SessionStore.checkpoint`.
        """
        try:
            look = self.compare_again(commit, look)
            # Only now: what somebody wrote over a restored file before the look is theirs.
            authors = Authors(by_shell, restored() if restored is not None else frozenset())
            return self._snapshot(look, before, authors)
        except GitguardError as error:
            self._workspace.note_fault("looking at the worktree", error)
            return None

    def compare(self, commit: str) -> Differences:
        """Return how the files differ now from a commit, for a person who waits for it.

        Raises `GitguardError` where they cannot be compared.
        """
        from gitguard.store.git.differences import WorktreeComparer
        from gitguard.store.git.worktree_files import UNLIMITED

        looker = WorktreeComparer(
            self._repository, self._workspace.redactor, UNLIMITED, self._unfinished
        )
        look = looker.compare(commit)
        if look.tracked_unseen:
            raise GitguardError(f"the worktree cannot be compared: {look.tracked_unseen}")
        return look

    def compare_again(self, commit: str, look: Differences | None) -> Differences:
        """Return a look that was taken just now at what differs from a commit, or take one."""
        if look is None or look.commit != commit:
            return self._comparer().compare(commit)
        return look

    def tidy(self, before: KeptLook | None, seen: Seen | None, trigger: str) -> None:
        """Look after the store of snapshots, once a checkpoint is taken.

        Where HEAD left a commit, snapshots are laid on another one. What is packed together is so
        only where nobody waits for it.
        """
        if seen is None or not seen.snapshot:
            return
        try:
            left, head = before.look.commit if before is not None else "", seen.look.commit
            if left not in ("", head) and not self._repository.is_ancestor(left, head):
                self.move_snapshots(self._config.seconds)
            if trigger in WITHOUT_HASTE and (self._is_disk_due or self.file_store.young >= MANY):
                from gitguard.store.worktree.consolidating import consolidate

                consolidate(self.file_store, patience=0, limit=_PACKING_LIMIT)
        except Locked:
            return  # the next one tries again
        except GitguardError as error:
            self._workspace.note_fault("packing the snapshots of files", error)

    def move_snapshots(self, seconds: float = inf) -> int:
        """Lay snapshots on HEAD whose commits no ref reaches any more; return how many.

        It ends after some seconds; what is not done by then, the next one does.
        """
        from gitguard.store.worktree.bases import move_from_unreachable

        clock, snapshots = self._workspace.clock, self.kept_snapshots()
        ends_at = clock() + seconds
        return move_from_unreachable(
            self._repository, self.reader, snapshots, lambda: clock() < ends_at
        )

    def with_writings(self, seen: Seen, before: KeptLook | None, sequence: int) -> Seen:
        """Return what was seen with what the agent wrote since the last look.

        sequence is the number of the checkpoint that is taken.
        """
        if before is None:
            return seen
        if before.look == seen.look:
            return seen.replace(waiting=before.waiting)
        from gitguard.store.session.written import authors_of, changed_paths, writings

        since = self._journal.read(before.journal_id, before.journal_offset)
        authors = authors_of(since.unfolded)
        # What was captured came from hooks; only without that the record has to be asked.
        has_hooks = bool(since.unfolded) or bool(
            read_record(self._workspace, self._session).host_sessions
        )
        if has_hooks and not (authors or before.waiting):
            return seen.replace(waiting=before.waiting)
        try:
            with self._repository.reader() as reader:
                if not has_hooks and self._is_onward(before.look.commit, seen.look.commit):
                    changed = changed_paths(reader, before.look, seen.look)
                    authors = dict.fromkeys(sorted(changed), UNSEEN)
                written, waiting = writings(
                    reader,
                    before.look,
                    seen.look,
                    authors,
                    waiting=before.waiting,
                    turn=str(sequence),
                    redactor=self._workspace.redactor,
                )
        except GitguardError as error:
            self._workspace.note_fault("looking at what the agent wrote", error)
            return seen
        return seen.replace(written=written, waiting=waiting)

    def _is_onward(self, older: str, newer: str) -> bool:
        """Say whether a commit descends from another; else it may only have been checked out."""
        return older in ("", newer) or self._repository.is_ancestor(older, newer)

    def keep(self, seen: Seen, checkpoint: str, part: JournalPart) -> None:
        """Keep what was seen, for the next look to be compared with."""
        git_dir = self._workspace.place.git_dir
        kept = KeptLook(
            checkpoint,
            git_dir,
            seen.look,
            journal_id=part.id,
            journal_offset=part.end,
            snapshot=seen.snapshot,
            looked_at_again=tuple(sorted(seen.looked_at_again)),
            refusal=seen.refusal,
            was_cut_off=seen.was_cut_off,
            searched=seen.searched,
            at=timestamp(self._workspace.clock()),
            waiting=seen.waiting,
        )
        try:
            keep_look(self._path, kept)
        except GitguardError as error:
            self._workspace.note_fault("keeping the look at the worktree", error)

    def forget(self) -> None:
        """Forget the last look, so that the next snapshot is taken of every file anew."""
        files.remove(self._path)

    def _comparer(self) -> WorktreeComparer:
        from gitguard.store.git.differences import WorktreeComparer

        limits = self._limits(self._config.day_megabytes * _MEGABYTE).of_look
        return WorktreeComparer(
            self._repository, self._workspace.redactor, limits, self._unfinished
        )

    def _unfinished(self) -> frozenset[str]:
        """Return the names of files that restores in this repository were putting in place."""
        from gitguard.store.session.restore_records import unfinished_names

        return unfinished_names(self._workspace)

    def _limits(self, bytes_left: int) -> SnapshotLimits:
        largest = self._config.file_megabytes * _MEGABYTE
        return SnapshotLimits(largest, bytes_left, self._config.seconds)

    def _snapshot(self, look: Differences, before: KeptLook | None, authors: Authors) -> Seen:
        refusal = self._refusal(look)
        if refusal:
            return Seen(look, refusal=refusal)
        is_stored = before is not None and before.is_whole and self.file_store.is_there
        if before is not None and is_stored and before.look == look:
            again = frozenset(before.looked_at_again)
            return Seen(look, before.snapshot, searched=before.searched, looked_at_again=again)
        try:
            taken = self._store(look, before, authors)
            return Seen(
                look,
                taken.id,
                was_cut_off=taken.was_cut_off,
                searched=taken.searched,
                looked_at_again=taken.looked_at_again,
            )
        except (NotWritable, InvalidDocument, Locked) as error:
            # No fault of ours: a sandbox, where the checkpoint itself waits for a run that can
            # write, a list that cannot be read, or somebody who removes packs.
            return Seen(look, refusal=error.message)
        except GitguardError as error:
            self._workspace.note_fault("taking a snapshot of the files", error)
            return Seen(look, refusal=f"it failed: {error.message}")

    def _store(self, look: Differences, before: KeptLook | None, authors: Authors) -> Taken:
        from gitguard.store.worktree import kept as keeping
        from gitguard.store.worktree.snapshot import take

        snapshots = self.kept_snapshots()
        now = self._workspace.clock()
        with snapshots.lock():
            listed = snapshots.list()
            bytes_left = self._config.day_megabytes * _MEGABYTE - keeping.bytes_of_day(listed, now)
            writer = snapshots.writer(self._repository.id_length(look.commit))
            taken = take(
                self._repository,
                self._workspace.redactor,
                look,
                limits=self._limits(max(bytes_left, 0)),
                clock=self._workspace.clock,
                write=writer.write,
                earlier=_earlier(before, listed),
                authors=authors,
            )
            new = keeping.KeptSnapshot(int(now), taken.new_bytes, taken.id, look.commit)
            *older, new = keeping.with_newest(listed, new)
            if not new.root:
                new = snapshots.keep(new, writer)
            self._workspace.at_step("files-written")
            stay = keeping.retained((*older, new), self.retention, now)
            snapshots.add(listed, stay)
        ids = {snapshot.id for snapshot in stay}
        gone = [snapshot for snapshot in listed if snapshot.id not in ids]
        # One small one after the other is worth no packing of all the others.
        self._is_disk_due = len(gone) > 1 or sum(s.new_bytes for s in gone) > _MUCH
        self._workspace.at_step("files-kept")
        return taken

    def _refusal(self, look: Differences) -> str:
        """Say why no snapshot is taken of a worktree; empty where one is."""
        root = self._workspace.place.worktree
        if not self._config.enabled:
            return "`files.enabled` is off"
        if look.tracked_unseen:
            return f"{look.tracked_unseen} could not be compared"
        home = self._workspace.places.home
        if home and os.path.realpath(home) == os.path.realpath(root):
            return "the worktree is a home folder"
        number = sum(file.is_new for file in look.files)
        if number > _MOST_UNIGNORED and not os.path.exists(os.path.join(root, ".gitignore")):
            new = counted(number, "untracked file")
            return f"the worktree has {new} and no `.gitignore`; add one"
        return ""


def _earlier(before: KeptLook | None, listed: Iterable[KeptSnapshot]) -> EarlierSnapshot | None:
    """Return the last snapshot, None where it is not kept any more."""
    if before is None or not any(snapshot.id == before.snapshot for snapshot in listed):
        return None
    return EarlierSnapshot(before.look, frozenset(before.looked_at_again), before.searched)
