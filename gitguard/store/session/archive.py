"""Sessions that are put away: branch, anchor and working files lie aside, and can be brought back.

The branch goes under `refs/gitguard/archive/`, this machine's anchor into a folder beside where it
was, the working files under the workspace's `archive` folder. What is believed stays the same: a
branch is brought back only where it is the anchored one.

A crash leaves a session that is in force, or one that is archived; the same command again goes on.
A session is archived once its anchor lies aside and its branch is gone, whatever else is left.
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import GitguardError, InvalidInput, Tampered
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session.anchor import AnchorFile
from gitguard.store.worktree.consolidating import consolidate
from gitguard.store.worktree.kept import KeptSnapshots
from gitguard.store.worktree.summaries import KeptSummaries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.chain import Chain
    from gitguard.store.session.standing import Head
    from gitguard.store.session.workspace import Session, Workspace


class Archived(Value):
    """One history of a session that was put away."""

    name: str
    """The session's name."""
    commit: str
    ref: str
    """Where its branch is now."""
    folder: str
    """Where its working files are, empty where there are none."""
    problem: str = ""
    """Why its anchor cannot be read; then it cannot be brought back."""


class SessionArchive:
    """Puts one session away and brings it back; the caller holds its lock."""

    def __init__(
        self, workspace: Workspace, repository: Repository, chain: Chain, session: Session
    ) -> None:
        """Describe the archive; nothing is read yet."""
        self._workspace = workspace
        self._repository = repository
        self._chain = chain
        self._session = session

    def all(self) -> list[Archived]:
        """Return the session's archived histories, as this machine archived them.

        The one put away last is the last; those whose anchor cannot be read come first.
        """
        damaged = []
        errors = self._chain.damaged()
        archives = self._chain.archives() if errors else {}
        for short, error in errors.items():
            commit = archives.get(self._chain.archive_of(short), short)
            damaged.append(self._described(commit).replace(problem=error.message))
        return damaged + [self._described(anchor.committed) for anchor in self._chain.archived()]

    def put(self, head: Head) -> Archived:
        """Put the session away at a head of ours, which holds all that is worth keeping."""
        assert head.anchor is not None
        self._chain.refuse_checked_out(head)
        self._chain.archive(head.id, "gitguard: the session is archived")
        anchors = self._chain.anchors
        aside, written = anchors.aside(head.id), anchors.read_copy()
        if written is not None:
            aside.write_copy(written)
        anchor = head.anchor.replace(archived_at=self._workspace.clock())
        aside.write(anchor)
        anchors.write(anchor)  # the very same, so that a crash from here on is understood
        self._workspace.at_step("anchor-kept")
        self._move(self._working_files, self._folder(head.id))
        self._workspace.at_step("files-archived")
        self._drop_ref(self._chain.ref, head.id)
        anchors.forget()
        self._workspace.at_step("anchor-archived")
        return self._described(head.id)

    def bring_back(self, archived: Archived) -> None:
        """Make an archived history the session's own again."""
        anchors = self._chain.anchors
        aside = anchors.aside(archived.commit)
        anchor, written = aside.read(), aside.read_copy()
        assert anchor is not None
        self._refuse_other(archived, anchor)
        if self._chain.ref not in self._repository.refs(self._chain.ref):
            self._chain.point_at(archived.commit, "", "gitguard: the session is brought back")
        if written is not None:
            anchors.write_copy(written)
        anchors.write(anchor)
        self._workspace.at_step("anchor-brought-back")
        if written is not None:  # a state without its copy would be a stranger's
            self._move(archived.folder, self._working_files)
            self._workspace.at_step("files-brought-back")
        self._forget(aside)
        self._drop_ref(archived.ref, archived.commit)

    def delete(self, archived: Archived) -> None:
        """Remove an archived history for good, as far as git lets go of it."""
        if archived.folder:
            try:
                files.remove_tree(archived.folder)
            except OSError as error:
                raise files.refused(archived.folder, error) from error
        archives = self._chain.archives()
        if set(archives) <= {archived.ref} and not self._repository.ref_id(self._chain.ref):
            # Nothing of the session is left that could name a snapshot of files.
            store = self._workspace.file_store(self._repository)
            KeptSnapshots(store, self._session.name).put(())
            summaries = KeptSummaries(store, self._session.name)
            summaries.remove(summaries.list())
            consolidate(store)
        if archives.get(archived.ref) == archived.commit:
            self._drop_ref(archived.ref, archived.commit)
        self._forget(self._chain.anchors.aside(archived.commit))
        anchors = self._chain.anchors
        is_last = not anchors.has_aside and not anchors.is_there
        if is_last and not os.path.isdir(self._working_files):
            with suppress(OSError):  # what stays of it holds no anchor
                files.remove_tree(anchors.folder)

    def follow(self, old: str, new: str, state_sha256: str) -> None:
        """Keep an anchor with an archived head that was written anew without secrets.

        The copy of its state goes, and the state and journal among its files: they may hold them,
        and the branch has the state. An anchor that cannot be read goes with its history, too.
        """
        anchors = self._chain.anchors
        aside, anchor = anchors.aside(old), anchors.all_aside().get(old[:12])
        if isinstance(anchor, GitguardError):
            files.remove(os.path.join(aside.folder, "state.json"))
            aside.forget_index()
            self._move(aside.folder, anchors.aside(new).folder)
        elif anchor is None or anchor.committed != old:
            return
        else:
            moved = anchor.replace(committed=new, state_sha256=state_sha256, previous="")
            anchors.aside(new).write(moved)
        for name in ("state.json", "journal.jsonl"):
            files.remove(os.path.join(self._folder(old), name))
        self._move(self._folder(old), self._folder(new))
        self._forget(aside)

    def _refuse_other(self, archived: Archived, anchor: Anchor) -> None:
        ref, archived_commit = archived.ref, self._chain.archives().get(archived.ref, "")
        in_force = self._repository.refs(self._chain.ref).get(self._chain.ref)
        current = self._chain.anchors.read()
        # A crash while it was put away may leave the same anchor with another time.
        is_same = current is None or current.replace(archived_at=anchor.archived_at) == anchor
        if (in_force and in_force.id != archived.commit) or not is_same:
            raise InvalidInput(
                f"there is a session `{self._session.key:.80}` already",
                f"Put that one away first: `gitguard session close {self._session.key:.80}`",
            )
        if archived_commit != anchor.committed:
            standing = f"at {archived_commit[:12]}" if archived_commit else "gone"
            raise Tampered(
                f"`{ref}` is {standing}; this machine archived {anchor.committed[:12]} there",
                f"Put it back with `git update-ref {ref} {anchor.committed}` if the commit is "
                "still there",
            )

    def _described(self, commit: str) -> Archived:
        folder = self._folder(commit)
        ref = self._chain.archive_of(commit)
        return Archived(self._session.name, commit, ref, folder if os.path.isdir(folder) else "")

    @property
    def _working_files(self) -> str:
        return self._workspace.session_folder(self._session)

    def _folder(self, commit: str) -> str:
        archive = os.path.join(self._workspace.folder, "archive")
        files.refuse_link(archive)
        return os.path.join(archive, f"{self._session.name}-{commit[:12]}")

    def _move(self, folder: str, target: str) -> None:
        self._workspace.refuse_links(self._session)
        if not os.path.isdir(folder) or os.path.lexists(target):
            return
        files.make_folder(os.path.dirname(target))
        try:
            files.rename(folder, target)
        except OSError as error:
            raise files.refused(target, error) from error

    def _drop_ref(self, ref: str, commit: str) -> None:
        self._repository.delete_ref(ref, commit)
        # Git removes the folders that are empty then.
        files.settle_folder(os.path.dirname(os.path.join(self._workspace.place.common_dir, ref)))
        self._workspace.at_step("ref-removed")

    def _forget(self, aside: AnchorFile) -> None:
        aside.forget()
        for folder in (aside.folder, os.path.dirname(aside.folder)):
            with suppress(OSError):  # an empty one says nothing, and others' stay
                files.remove_folder(folder)
