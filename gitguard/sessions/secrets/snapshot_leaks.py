"""The snapshots of files in which a secret is found, and taking them out of the list.

A snapshot is searched before it is written; one may hold what only a later rule knows. It is not
written anew: a snapshot that lacks a file is none.
"""

from __future__ import annotations

from contextlib import suppress

from gitguard.errors import GitguardError
from gitguard.sessions.secrets.leaks import NAMED_VALUE, UNREAD, Leak
from gitguard.store.git.trees import LINK, PLAIN, PROGRAM
from gitguard.store.session.restore_records import RestoreRecords
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.kept import with_newest
from gitguard.store.worktree.manifest import escaped, unescaped
from gitguard.store.worktree.overlays import without
from gitguard.store.worktree.secret_search import is_binary, parts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.kept import KeptSnapshot
    from gitguard.store.worktree.overlays import SnapshotReader

PLACE = "gitguard/files.git"
"""How findings call the place where snapshots are."""
SUMMARY = "host-summary"
"""How they call a host's summary there."""
_FILE_LIMIT = 1 << 30
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")
"""How a binary file may have a value."""


class SnapshotSecrets:
    """What the kept snapshots of one session hold, beyond what the user committed."""

    def __init__(self, store: SessionStore, redactor: Redactor, value: str = "") -> None:
        """Look by a redactor, and for one value also where a binary file has no string of it."""
        self._values = [value.encode(e, "replace") for e in _ENCODINGS] if value else []
        self._store = store
        self._redactor = redactor
        self._rules: dict[str, tuple[str, ...]] = {}
        """The rules that a content matches, by its id: snapshots share most of theirs."""

    def leaks(self) -> Iterator[Leak]:
        """Yield what the snapshots hold, and which of them could not be read.

        What is forgotten and still on the disk counts: a purge may have been cut off.
        """
        text = self._redactor.text
        return (leak.replace(path=text(leak.path)) for leak in self._leaks())

    def _leaks(self) -> Iterator[Leak]:
        """Yield the same with the paths as they are, which may hold a secret themselves."""
        snapshots = self._store.worktree.kept_snapshots()
        with self._store.worktree.reader() as reader:
            for snapshot in snapshots.list():
                try:
                    yield from self._of(reader, snapshot)
                except GitguardError:
                    yield Leak(PLACE, "", snapshot.id, rule=UNREAD, path=snapshot.name)
            for snapshot in snapshots.forgotten():
                with suppress(GitguardError):  # a part of it may be off the disk already
                    yield from self._of(reader, snapshot)
        yield from self._in_summaries()

    def _in_summaries(self) -> Iterator[Leak]:
        """Yield what the whole summaries of hosts hold, which are kept beside the snapshots."""
        summaries = self._store.worktree.kept_summaries()
        for kept in summaries.list():
            try:
                findings = self._redactor.find(summaries.read(kept.id) or "")
            except GitguardError:
                yield Leak(PLACE, "", kept.id, rule=UNREAD, path=SUMMARY)
                continue
            for finding in findings:
                yield Leak(PLACE, "", kept.id, rule=finding.rule, path=SUMMARY)

    def forget(self) -> None:
        """Take the snapshots with a finding out of the list, and the look that names the newest.

        What a restore replaced is kept for its undo file by file: there only the files with a
        finding go.
        """
        leaking: dict[str, list[str]] = {}
        unread = set()
        for leak in self._leaks():
            leaking.setdefault(leak.commit, []).append(leak.path)
            if leak.rule == UNREAD:
                unread.add(leak.commit)
        if leaking:
            self._forget(leaking, unread)
            summaries = self._store.worktree.kept_summaries()
            leaked = tuple(kept for kept in summaries.list() if kept.id in leaking)
            summaries.remove(leaked)
            self._store.worktree.forget()
        # Also what a purge that was cut off has forgotten already has to leave the disk.
        consolidate(self._store.worktree.file_store)

    def _forget(self, leaking: Mapping[str, list[str]], unread: set[str]) -> None:
        records = RestoreRecords(self._store.workspace, self._store.session)
        for_undo = (records.snapshots() - unread) & leaking.keys()
        snapshots = self._store.worktree.kept_snapshots()
        with snapshots.lock(), self._store.worktree.reader() as reader:
            listed = snapshots.list()
            stay = tuple(snapshot for snapshot in listed if snapshot.id not in leaking)
            written_anew = {}
            for snapshot in listed:
                if snapshot.id in for_undo:
                    writer = snapshots.writer(len(snapshot.id))
                    paths = map(unescaped, leaking[snapshot.id])
                    new = without(reader.snapshot(snapshot.id), paths, writer.write)
                    *older, replaced = with_newest(stay, snapshot.replace(id=new, root=""))
                    if not replaced.root:
                        replaced = snapshots.keep(replaced, writer)
                    stay = (*older, replaced)
                    written_anew[snapshot.id] = new
            # At no moment does a record name a snapshot that is not in the list.
            snapshots.write((*listed, *(s for s in stay if s not in listed)))
            records.exchange_snapshots(written_anew)
            snapshots.write(stay)

    def _of(self, reader: SnapshotReader, snapshot: KeptSnapshot) -> Iterator[Leak]:
        stored = reader.of_root(snapshot.id, snapshot.root)
        for path, entry in stored.overlay.items():
            if entry.mode in (PLAIN, PROGRAM, LINK):
                for rule in self._found_in(reader, entry.id):
                    yield Leak(PLACE, "", snapshot.id, rule=rule, path=escaped(path))
        names = {*map(escaped, stored.overlay), *stored.manifest.names, *stored.removed_beneath}
        for name in sorted(names):
            for finding in self._redactor.find(name):
                yield Leak(PLACE, "", snapshot.id, rule=finding.rule, path=name)

    def _found_in(self, reader: SnapshotReader, blob: str) -> tuple[str, ...]:
        if blob not in self._rules:
            data = reader.read(blob, "blob", limit=_FILE_LIMIT)
            rules: dict[str, None] = {}
            for part in parts_of(data):
                rules |= dict.fromkeys(finding.rule for finding in self._redactor.find(part))
                if is_binary(data):
                    rules |= dict.fromkeys(self._redactor.rules_of_glued(part))
            if any(value in data for value in self._values):
                rules[NAMED_VALUE] = None
            self._rules[blob] = tuple(rules)
        return self._rules[blob]
