"""The chain of checkpoints of one session: one ref, held against the anchor at every use."""

from __future__ import annotations

from gitguard.errors import (
    GitFailed,
    GitguardError,
    InvalidDocument,
    InvalidInput,
    NotWritable,
    Pending,
    RefMoved,
    Tampered,
)
from gitguard.state.checkpoint import Checkpoint, CheckpointRecord, Code, format_message
from gitguard.store.disk import files
from gitguard.store.git.objects import ObjectsGone
from gitguard.store.session import identity
from gitguard.store.session.anchor import (
    RETURN_NOTED,
    RETURNED,
    Anchor,
    AnchorFile,
    identity_of,
)
from gitguard.store.session.chain_check import (
    GO_ON,
    LEAVE,
    MOST_COMMITS,
    VERIFIED,
    Verification,
    has_checkpoint,
    refuse,
)
from gitguard.store.session.standing import (
    ADVANCED,
    DELETED,
    GONE,
    MOVED,
    NONE,
    OURS,
    REMOTE_ONLY,
    SYMBOLIC,
    UNTRUSTED,
    Head,
    checked_out,
    symbolic,
)
from gitguard.store.session.workspace import is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Ref, Repository
    from gitguard.store.session.chain_check import ChainLink, Verified
    from gitguard.store.session.workspace import Session, Workspace

_SHORTEST_ID = 4
_NEAR = 200
"""Checkpoints up to which reading one by one costs less than asking git for the ids of all."""
_ATTEMPTS = 3
"""How often objects are written again that somebody else's clean-up took away."""


class Chain:
    """Reads and extends the checkpoints of one session."""

    def __init__(
        self, workspace: Workspace, repository: Repository, session: Session, prefix: str
    ) -> None:
        """Describe the chain; nothing is read yet."""
        self.ref = prefix + session.name
        self.anchors = AnchorFile(workspace.anchor_folder(session))
        self._workspace = workspace
        self._repository = repository
        self._session = session
        self._complete: set[str] = set()
        """Anchored checkpoints whose objects were all there."""
        self.doubt = ""

    # Standing

    def head(self, *, settle: bool = False) -> Head:
        """Compare the ref with the anchor; a pending commit that became the head counts as ours.

        A caller that holds the lock may settle that on disk; others only look, and never call a
        head foreign that somebody is moving.
        """
        moment = self._workspace.moment(self._session)
        head = moment.read(self._compare, recheck_if=_is_foreign).replace(doubt=self.doubt)
        if settle and head.was_archived:
            self.anchors.forget()
        elif settle and head.anchor is not None and head.anchor != self.anchors.read():
            self._write_anchor(head.anchor)
        return head

    def _compare(self) -> Head:
        anchor = self.anchors.read()
        if anchor is not None and not self._is_another_repository(anchor):
            identity.refuse_changed(self._workspace)
        current = self._repository.checked_out()
        patterns = [self.ref, *([current] if current.startswith("refs/") else [])]
        if anchor is None:
            patterns.append(f"refs/remotes/*/gitguard/{self._session.name}")
        refs = self._repository.refs(*patterns)
        code = Code(head=current)
        if current.startswith("refs/"):
            tip = refs[current].id if current in refs else ""
            branch = self._workspace.redactor.text(current.removeprefix("refs/heads/"))
            code = Code(tip, branch)
        head = self._head_at(refs.get(self.ref), anchor, code, refs)
        if not head.id and current == self.ref:
            head = head.replace(checked_out_in=self._workspace.place.worktree)
        lacks = head.anchor is not None and not self._has_objects(head.anchor)
        return head.replace(standing=GONE) if lacks else head

    def _head_at(
        self, ref: Ref | None, anchor: Anchor | None, code: Code, refs: Mapping[str, Ref]
    ) -> Head:
        if ref is None:
            return self._without_ref(anchor, code, refs)
        if ref.points_to:
            head = Head(SYMBOLIC, ref.id, anchor, code, points_to=ref.points_to)
            if head.committed:
                return head
            raise symbolic(head, self.ref)
        try:
            self._repository.disguises().refuse(ref.id)
        except InvalidDocument as error:
            raise Tampered(error.message, error.hint) from error
        return self._against(
            Head(UNTRUSTED, ref.id, anchor, code=code, checked_out_in=ref.checked_out_in), anchor
        )

    def _has_objects(self, anchor: Anchor) -> bool:
        """Say whether the anchored checkpoint's objects are there; whoever reads them hashes them.

        What is damaged is there: it is refused with what is wrong with it.
        """
        commit = anchor.committed
        if not commit or commit in self._complete:
            return True
        with self._repository.reader() as reader:
            try:
                if not has_checkpoint(reader, commit):
                    return False
            except InvalidDocument:
                return True
        self._complete.add(commit)
        return True

    def _against(self, head: Head, anchor: Anchor | None) -> Head:
        if anchor is None:
            return head
        # A writer died between moving the ref and noting that it did: the commit is ours.
        if anchor.pending and head.id == anchor.pending:
            anchor = anchor.promoted()
        if head.id == anchor.committed:
            if anchor.branch_return == RETURN_NOTED:  # and died before it noted that it did
                anchor = anchor.replace(branch_return=RETURNED)
            return head.replace(standing=OURS, anchor=anchor)
        if self._is_another_repository(anchor):
            return head.replace(anchor=None, replaced_repository=True, lost=anchor.committed)
        standing = ADVANCED if self._descends(head.id, anchor.committed) else MOVED
        return head.replace(standing=standing, anchor=anchor)

    def _without_ref(self, anchor: Anchor | None, code: Code, refs: Mapping[str, Ref]) -> Head:
        if anchor is not None and anchor.committed:
            # Archiving copies the anchor aside, removes the ref and then forgets the anchor. With
            # an equal one aside, a crash came before the last step, and nobody deleted the ref.
            if self.anchors.aside(anchor.committed).read() == anchor:
                return Head(NONE, "", None, code, was_archived=True)
            if not self._is_another_repository(anchor):
                return Head(DELETED, "", anchor, code)
            return Head(NONE, "", None, code, replaced_repository=True, lost=anchor.committed)
        remote = next((name for name in refs if name.startswith("refs/remotes/")), "")
        if remote and anchor is None:
            return Head(REMOTE_ONLY, refs[remote].id, None, code, remote=remote)
        return Head(NONE, "", anchor, code)

    def _is_another_repository(self, anchor: Anchor) -> bool:
        if anchor.identity == identity_of(self._workspace.place.common_dir):
            return False
        common_dir = self._workspace.place.common_dir
        if anchor.repository and anchor.repository == identity.carried(common_dir):
            return False  # an older copy of the same one was put back
        with self._repository.reader() as reader:
            return not reader.exists(anchor.committed)

    def _write_anchor(self, anchor: Anchor) -> None:
        try:
            # The ref becomes durable before the anchor says that it is there: otherwise a power
            # cut would leave an anchor ahead of the branch, which looks like a rollback.
            self._repository.settle(self.ref)
            self.anchors.write(anchor)
        except NotWritable as error:
            if not files.is_refusal(error):
                raise
            # Reading goes on without; the next run that can write promotes it again.

    def put_identity_back(self) -> str:
        """Put a changed identity of the repository back; say so, empty where nothing was to do."""
        anchor = self.anchors.read()
        if anchor is None or self._is_another_repository(anchor):
            return ""
        return identity.restore(self._workspace)

    def set_aside(self) -> None:
        """Set aside what belonged to another repository at this path; the caller holds the lock."""
        identity.set_aside(self._workspace)
        self.anchors.archive(f"{self._workspace.clock():.0f}")

    def _descends(self, commit: str, ancestor: str) -> bool:
        try:
            return any(c.id == ancestor for c in self.history(commit))
        except (InvalidDocument, Tampered):
            return False

    def diverged_remote(self, head: Head) -> tuple[str, str]:
        """Return a remote-tracking branch of the session that our history lacks, and its head."""
        refs = self._repository.refs(f"refs/remotes/*/gitguard/{self._session.name}")
        for name, ref in sorted(refs.items()):
            if not self._descends(head.id, ref.id):
                return name, ref.id
        return "", ""

    # Writing

    def commit(
        self, head: Head, record: CheckpointRecord, contents: Mapping[str, bytes], state_sha256: str
    ) -> str:
        """Add a checkpoint on top of our head: objects, anchor, ref, anchor.

        references/design/integrity.md, "The order of writing", says why.

        The head is verified first, so that nothing damaged or exchanged is built on.
        """
        self.refuse_checked_out(head)
        self.verify(head, most=1)
        repository_id = identity.establish(self._workspace)
        anchor = head.anchor or Anchor(identity=identity_of(self._workspace.place.common_dir))
        anchor = anchor.replace(repository=repository_id)
        for _ in range(_ATTEMPTS):
            try:
                return self._commit_on(anchor, record, contents, state_sha256)
            except ObjectsGone:
                continue
        return self._commit_on(anchor, record, contents, state_sha256)

    def refuse_checked_out(self, head: Head) -> None:
        """Refuse to move the branch under a worktree that has it checked out."""
        if head.checked_out_in:
            raise checked_out(head, self.ref)

    def put_back(self, head: Head) -> Head:
        """Put a deleted branch back where the anchor says, and return the head; the lock is held.

        A ref that somebody makes meanwhile stays, and is what is returned. Like a checkpoint, it is
        noted before the ref moves, so that a crash leaves no branch that counts as deleted twice.
        """
        self.refuse_checked_out(head)
        anchor = self._newest_whole(head.own_anchor)
        self.anchors.write(anchor.replace(branch_return=RETURN_NOTED))
        self._workspace.at_step("return-noted")
        try:
            self.point_at(anchor.committed, "", "gitguard: the deleted branch is put back")
        except RefMoved:
            return self.head()
        except (GitFailed, Pending) as error:
            raise self._blocked(error) from error
        self.anchors.write(anchor.replace(branch_return=RETURNED))
        self._workspace.at_step("branch-returned")
        return self.head()

    def _newest_whole(self, anchor: Anchor) -> Anchor:
        """Return the anchor at its pending commit, where that is whole: a crash left it so."""
        if not anchor.pending:
            return anchor
        promoted = anchor.promoted()
        return promoted if self._has_objects(promoted) else anchor

    def note_return(self, head: Head, branch_return: str) -> None:
        """Note in the anchor how far a deleted branch was put back; the lock is held."""
        anchor = head.anchor
        if anchor is not None and anchor.branch_return != branch_return:
            self._write_anchor(anchor.replace(branch_return=branch_return))

    def _commit_on(
        self,
        anchor: Anchor,
        record: CheckpointRecord,
        contents: Mapping[str, bytes],
        state_sha256: str,
    ) -> str:
        why = f"gitguard: {record.trigger} checkpoint {record.sequence}"
        with self._repository.ref_move(self.ref, why) as move:
            message = format_message(record)
            commit = self._repository.write_commit(contents, anchor.committed, message)
            self._workspace.at_step("objects-written")
            # Noted before the ref moves: a head that the anchor has never heard of is somebody
            # else's. A purge that was cut off may have left the number of what it was to write.
            anchor = anchor.replace(
                pending=commit, pending_sha256=state_sha256, pending_sequence=record.sequence
            )
            self.anchors.write(anchor)
            self._workspace.at_step("anchor-pending")
            try:
                move.to(commit, anchor.committed or "0" * len(commit))
            except (GitFailed, Pending) as error:
                raise self._blocked(error) from error
        self._workspace.at_step("ref-moved")
        # The anchor on disk says `pending` durably, which reads as well once the ref is there.
        self.anchors.write(anchor.promoted(), settled=False)
        self._workspace.at_step("anchor-committed")
        return commit

    def _blocked(self, error: GitguardError) -> GitguardError:
        blocking = self.ref.rpartition("/")[0]
        if blocking in self._repository.refs(blocking):
            return GitFailed(
                f"the branch `{blocking.removeprefix('refs/heads/')}` takes the name that gitguard "
                f"needs for `{self.ref}`",
                "Rename the branch, or set `store.ref_prefix: refs/gitguard/` in your config.yaml",
            )
        return error

    def adopt(self, head: Head, checkpoint: Checkpoint, state_sha256: str) -> Anchor:
        """Make a head that somebody else wrote the anchored one."""
        repository_id = identity.establish(self._workspace)
        anchor = Anchor(
            repository=repository_id,
            committed=head.id,
            sequence=checkpoint.sequence,
            state_sha256=state_sha256,
            previous=head.committed,
            identity=identity_of(self._workspace.place.common_dir),
        )
        self.anchors.write(anchor)
        self._workspace.at_step("anchor-adopted")
        return anchor

    def point_at(self, new: str, old: str, why: str, *, ref: str = "") -> None:
        """Move or create a ref of ours by compare-and-swap; an empty old creates it."""
        self._repository.move_ref(ref or self.ref, new, old or "0" * len(new), why)
        self._workspace.at_step("archive-written" if ref else "ref-put")

    @property
    def archive_folder(self) -> str:
        """Where the session's refs lie that were set aside."""
        return f"refs/gitguard/archive/{self._session.name}"

    def archive_of(self, commit: str) -> str:
        """Return the ref under which a commit is set aside."""
        return f"{self.archive_folder}/{commit[:12]}"

    def sweep(self) -> None:
        """Clear what dead processes left in the archive, where no ref is moved a second time."""
        self._repository.sweep(self.archive_folder)
        self.anchors.sweep_aside(self._workspace.clock())

    def archive(self, commit: str, why: str) -> str:
        """Keep a commit reachable under `refs/gitguard/archive/`; return the ref's name."""
        name = self.archive_of(commit)
        if name not in self._repository.refs(name):
            self.point_at(commit, "", why, ref=name)
        return name

    def store_aside(
        self, record: CheckpointRecord, contents: Mapping[str, bytes], parent: str
    ) -> str:
        """Commit contents under the archive, without touching the session's ref."""
        message = format_message(record)
        commit = self._repository.write_commit(contents, parent, message, aside=True)
        return self.archive(commit, f"gitguard: {record.why}")

    # Reading

    def verify(self, head: Head, *, most: int = VERIFIED) -> Verified | None:
        """Return the newest checkpoint of ours, with its files; None before the first.

        It and those before it, at most so many in all, are verified object by object; raises
        `Tampered` for what is not as this machine wrote it. The whole history is what
        `gitguard verify` looks at.
        """
        if not head.committed:
            return None
        with self._repository.reader() as reader:
            links = self._walk(reader).links(head.committed, head.anchor, most=most)
            return [refuse(link) for link in links][0]

    def verify_foreign(self, commit: str) -> Verified:
        """Return a checkpoint that somebody else wrote, verified like our own newest one."""
        with self._repository.reader() as reader:
            walk = self._walk(reader, LEAVE)
            return [refuse(link) for link in walk.links(commit, None, most=VERIFIED)][0]

    def links(
        self,
        commit: str,
        anchor: Anchor | None,
        *,
        end_at: Container[str] = (),
        way_out: str = GO_ON,
    ) -> Iterator[ChainLink]:
        """Yield the checkpoints of a whole history, newest first, each with what is wrong."""
        with self._reading() as reader:
            walk = self._walk(reader, way_out)
            order = self._order(commit)
            yield from walk.links(commit, anchor, most=MOST_COMMITS, end_at=end_at, order=order)

    def _reading(self) -> AbstractContextManager[ObjectReader]:
        """Return a context in which objects are read."""
        return self._repository.reader()

    def _order(self, commit: str) -> Sequence[str]:
        """Guess the ids of a whole history, so that many are read at once."""
        return self._repository.first_parents(commit)

    def _walk(self, reader: ObjectReader, way_out: str = GO_ON) -> Verification:
        """Return what walks over the checkpoints; way_out is what to do about a damaged object."""
        return Verification(reader, self._session, way_out=way_out)

    def archives(self) -> dict[str, str]:
        """Return what is kept of this session aside: full ref and commit."""
        refs = self._repository.refs(self.archive_folder)
        return {name: ref.id for name, ref in refs.items()}

    def archived(self) -> list[Anchor]:
        """Return the anchors of the session's histories that were put away in this repository."""
        return [
            anchor
            for anchor in self.anchors.all_aside().values()
            if not isinstance(anchor, GitguardError) and not self._is_another_repository(anchor)
        ]

    def damaged(self) -> dict[str, GitguardError]:
        """Return why anchors of archived histories cannot be read, by the start of their ids."""
        anchors = self.anchors.all_aside().items()
        return {short: error for short, error in anchors if isinstance(error, GitguardError)}

    def shadows(self) -> tuple[str, ...]:
        """Return the refs that git finds by the short name of ours as well."""
        short = self.ref.removeprefix("refs/heads/").removeprefix("refs/")
        names = (f"refs/{short}", f"refs/tags/{short}", f"refs/heads/{short}")
        refs = self._repository.refs(*names)
        return tuple(name for name in names if name in refs and name != self.ref)

    def read(self, commit: str) -> Verified:
        """Read and verify a checkpoint and its three files."""
        with self._repository.reader() as reader:
            (link,) = self._walk(reader).links(commit, None, most=1)
        return refuse(link)

    def history(self, commit: str, *, whole: bool = False) -> Iterator[Checkpoint]:
        """Yield checkpoints from commit to the root, or to where a shallow repository ends.

        Each is hashed again; whether they fit together is what verifying looks at. whole is whether
        the caller wants all of them, which are then read many at once.
        """
        if not commit:
            return
        order = self._order(commit) if whole else ()
        with self._reading() as reader:
            for link in self._walk(reader).commits(commit, order=order):
                yield link.checkpoint or refuse(link).checkpoint

    def commits(self, commit: str) -> Iterator[ChainLink]:
        """Yield the checkpoints of a long history, newest first, without their files.

        The walk ends with the first that cannot be read as one; its link says why.
        """
        order = self._order(commit)
        with self._reading() as reader:
            yield from self._walk(reader).commits(commit, order=order)

    def before_in_reflog(self, commit: str) -> str:
        """Return where the branch was before it came to a commit, by its reflog; a guess."""
        return self._repository.before_in_reflog(self.ref, commit)

    def find(self, head: str, asked_for: str) -> Checkpoint:
        """Find a checkpoint of the chain by number, `cp_` name or (short) commit id.

        What was set aside is found by its ref or commit id.
        """
        name = asked_for.strip().lower()
        number = name.removeprefix("cp_").lstrip("0") or "0"
        for checkpoint in self._every(head):
            # Thirteen digits or more are the beginning of a commit's id without letters.
            by_number = number.isdigit() and str(checkpoint.sequence) == number
            if (by_number and len(name) < len("cp_") + 10) or (
                len(name) >= _SHORTEST_ID and checkpoint.id.startswith(name)
            ):
                return checkpoint
        for ref, commit in self.archives().items():
            if asked_for == ref or (len(name) >= _SHORTEST_ID and commit.startswith(name)):
                return self.read(commit).checkpoint
        raise InvalidInput(
            f"there is no checkpoint `{asked_for[:80]}` in `{self.ref}`", "See `gitguard log`"
        )

    def _every(self, head: str) -> Iterator[Checkpoint]:
        """Yield a history's checkpoints, one by one while they are new, then many at once."""
        checkpoint = None
        for age, checkpoint in enumerate(self.history(head), 1):
            yield checkpoint
            if age == _NEAR:
                break
        else:
            return
        if checkpoint.parent and self.owns_objects(checkpoint.parent):
            yield from self.history(checkpoint.parent, whole=True)

    def doubt_of(self, head: Head, checkpoint: Checkpoint) -> str:
        """Say why a checkpoint that is kept aside is not known to be ours, empty if it is."""
        if checkpoint.id not in self.archives().values():
            return ""
        ours = {anchor.committed for anchor in self.archived()}
        if head.anchor is not None:
            ours |= {head.anchor.committed, head.anchor.previous}
        if checkpoint.id in ours or any(checkpoint.id == c.id for c in self.history(head.id)):
            return ""
        return (
            f"commit {checkpoint.id[:12]} is not on the branch, and this machine cannot verify it"
        )

    def owns_objects(self, commit: str) -> bool:
        """Say whether the repository still has a commit."""
        with self._repository.reader() as reader:
            return reader.exists(commit)


def _is_foreign(head: Head) -> bool:
    return head.standing not in (NONE, OURS) or head.replaced_repository


def own_sessions(repository: Repository, prefix: str) -> dict[str, str]:
    """Return the repository's session branches: name and head id."""
    refs = repository.refs(prefix.rstrip("/"))
    heads = {name.removeprefix(prefix): ref.id for name, ref in refs.items()}
    return {name: commit for name, commit in heads.items() if is_session_name(name)}


def remote_sessions(repository: Repository) -> dict[str, str]:
    """Return the sessions that remote-tracking branches have: name and head id."""
    refs = repository.refs("refs/remotes/*/gitguard/*")
    heads = {name.rpartition("/gitguard/")[2]: ref.id for name, ref in refs.items()}
    return {name: commit for name, commit in heads.items() if is_session_name(name)}
