"""The snapshots of files in which a secret is found, and taking them out of the list.

A snapshot is searched before it is written; one may hold what only a later rule knows. It is not
written anew: a snapshot that lacks a file is none.
"""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.sessions.secrets.leaks import UNREAD, Leak
from gitguard.store.git.trees import PLAIN, PROGRAM, Trees
from gitguard.store.session.restore_records import RestoreRecords
from gitguard.store.worktree.manifest import escaped, unescaped
from gitguard.store.worktree.secret_search import is_binary, parts_of
from gitguard.store.worktree.snapshot import read_snapshot, without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.store import SessionStore
    from gitguard.store.worktree.kept import KeptSnapshot

_FILE_LIMIT = 1 << 30


class SnapshotSecrets:
    """What the kept snapshots of one session hold, beyond what the user committed."""

    def __init__(self, store: SessionStore, redactor: Redactor) -> None:
        """Look by a redactor."""
        self._store = store
        self._redactor = redactor
        self._rules: dict[str, tuple[str, ...]] = {}
        """The rules that a content matches, by its id: snapshots share most of theirs."""

    def leaks(self) -> Iterator[Leak]:
        """Yield what the snapshots hold, and which of them could not be read."""
        snapshots = self._store.worktree.kept_snapshots()
        with self._store.repository().reader() as reader:
            for kept in snapshots.list():
                try:
                    yield from self._of(reader, snapshots.ref, kept)
                except GitguardError:
                    yield Leak(snapshots.ref, "", kept.id, UNREAD, kept.name)

    def forget(self) -> None:
        """Take the snapshots with a finding out of the list, and the look that names the newest.

        What a restore replaced is kept for its undo file by file: there only the files with a
        finding go.
        """
        leaking: dict[str, list[str]] = {}
        unread = set()
        for leak in self.leaks():
            leaking.setdefault(leak.commit, []).append(leak.path)
            if leak.rule == UNREAD:
                unread.add(leak.commit)
        if not leaking:
            return
        records = RestoreRecords(self._store.workspace, self._store.session)
        for_undo = records.snapshots() - unread
        repository, snapshots = self._store.repository(), self._store.worktree.kept_snapshots()
        stay, written_anew = [], {}
        with repository.object_writer() as writer, repository.reader() as reader:
            for snapshot in snapshots.list():
                if snapshot.id not in leaking:
                    stay.append(snapshot)
                elif snapshot.id in for_undo:
                    paths = map(unescaped, leaking[snapshot.id])
                    rest = without(reader, snapshot.id, paths, writer.write)
                    stay.append(snapshot.replace(id=rest))
                    written_anew[snapshot.id] = rest
        snapshots.put(stay, "secrets were found in snapshots of files")
        records.exchange_snapshots(written_anew)
        self._store.worktree.forget()

    def _of(self, reader: ObjectReader, ref: str, kept: KeptSnapshot) -> Iterator[Leak]:
        trees = Trees(reader)
        snapshot = read_snapshot(reader, kept.id)
        commit = snapshot.manifest.commit
        base = trees.of_commit(commit) if commit else ""
        for path in trees.differences(base, snapshot.tree):
            entry = trees.at(snapshot.tree, path)
            if entry is not None and entry.mode in (PLAIN, PROGRAM):
                for rule in self._found_in(reader, entry.id):
                    yield Leak(ref, "", kept.id, rule, escaped(path))

    def _found_in(self, reader: ObjectReader, blob: str) -> tuple[str, ...]:
        if blob not in self._rules:
            data = reader.read(blob, "blob", limit=_FILE_LIMIT)
            rules: dict[str, None] = {}
            for part in parts_of(data):
                rules |= dict.fromkeys(finding.rule for finding in self._redactor.find(part))
                if is_binary(data):
                    rules |= dict.fromkeys(self._redactor.rules_of_glued(part))
            self._rules[blob] = tuple(rules)
        return self._rules[blob]
