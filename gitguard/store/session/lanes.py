"""Lanes: what each worktree of each machine shows others of a session, under a ref of its own.

A worktree is a *writer* with an id that no other has, so nobody else ever writes its refs
`refs/gitguard/lanes/<session>/<writer>`, and none has to be forced. A lane holds a copy of each
checkpoint, without the host's own summary and without the snapshot of files that it names.

A machine that was copied, or restored from a backup, would go on under an id that is in use. So the
state directory counts the commits of each lane, as the lane's newest commit does; where the two
disagree, or a remote has more of a lane than its writer, the worktree becomes a new writer.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, NewerFormat, NotReadable, Pending
from gitguard.model import fields
from gitguard.model.codec import STATE_FILE, dump_json, load_json, sha256
from gitguard.model.commit import flat_tree, parse_commit
from gitguard.model.record import Record
from gitguard.model.value import Value
from gitguard.state.checkpoint import LaneMark, is_writer, lane_message, read_checkpoint
from gitguard.state.task import read_state
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, load_record
from gitguard.store.session.chain_check import LEAVE, MOST_COMMITS, Verification, refuse
from gitguard.store.session.joined_lanes import joined_path, read_joined
from gitguard.store.session.lane_state import VERSIONS_FILE, KnownLane, versions_of
from gitguard.store.session.workspace import Session, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.objects import GitObjects, LooseObjects
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.chain_check import ChainLink, Verified
    from gitguard.store.session.standing import Head
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace

LANES = "refs/gitguard/lanes/"
ARCHIVED = "refs/gitguard/archived-lanes/"
"""Where the lanes of closed sessions lie, so that there never are many lanes to look at."""
FETCHED = "refs/gitguard/remotes/"
"""Where lanes lie as a remote has them, until they are kept under `LANES`."""
MOST_LANES = 1_000
"""Of a remote or a repository, how many are looked at."""
_ID_BYTES = 8
_COMMIT_LIMIT = 64 * 1024
_HOST_SUMMARY = "host_summary"


class Lane(Value):
    """One writer's lane of one session."""

    session: str
    """The session's name."""
    writer: str
    commit: str
    """Its newest commit."""

    @property
    def ref(self) -> str:
        """Where it lies, here and on every remote."""
        return f"{LANES}{self.session}/{self.writer}"

    @property
    def archived_ref(self) -> str:
        """Where it lies once its session is closed."""
        return f"{ARCHIVED}{self.session}/{self.writer}"


class LaneCount(Record):
    """How far a lane is written, so that a copy of its writer is noticed."""

    session: str = fields.text("The session's name.")
    counter: int = fields.count("How many commits it has.")
    commit: str = fields.text("The newest of them; empty before the first.", default="")
    pending: str = fields.text("The one that it is about to have.", default="")
    pending_counter: int = fields.count("How many they are then.", default=0)


class LaneWriter(Record):
    """What a worktree is called among those that write lanes."""

    id: str = fields.text("The id that no other worktree has, on any machine.")
    earlier: tuple[str, ...] = fields.texts("The ids that it had before.", default=())
    lanes: tuple[LaneCount, ...] = fields.records("Its lanes.", of=LaneCount, default=())

    def count_of(self, session: str) -> LaneCount:
        """Return how far the lane of a session is written."""
        counts = (count for count in self.lanes if count.session == session)
        return next(counts, LaneCount(session, 0))

    def counting(self, count: LaneCount) -> LaneWriter:
        """Return the same with another count of one lane."""
        others = tuple(lane for lane in self.lanes if lane.session != count.session)
        return self.replace(lanes=(*others, count))


class WriterFile:
    """The memory of a worktree's writer, in the state directory."""

    def __init__(self, workspace: Workspace) -> None:
        """Keep it beside the sessions, whose names never begin with `_`."""
        place = workspace.place
        # By its place in the repository, because that stays when the repository is moved.
        inside = os.path.relpath(place.git_dir, place.common_dir)
        name = sha256(os.fsencode(inside))[:16]
        self._path = os.path.join(workspace.state_folder, f"{WRITER}{name}.json")

    def read(self) -> LaneWriter:
        """Return the writer, a new one where none is known."""
        try:
            writer = load_record(self._path, "the writer", LaneWriter)
        except (NewerFormat, NotReadable):
            raise
        except InvalidDocument:
            writer = None
        return writer if writer is not None and is_writer(writer.id) else new_writer()

    def write(self, writer: LaneWriter) -> None:
        """Replace it, durable."""
        files.make_folder(os.path.dirname(self._path))
        files.write_bytes(self._path, dump_json({"format": FORMAT, **writer.to_document()}))


WRITER = "_writer-"
"""How the file of a writer begins, which no copy of a repository may keep."""


def writers_here(workspace: Workspace) -> frozenset[str]:
    """Return the ids that worktrees of this repository have here, or had."""
    ids: set[str] = set()
    for name in files.names_in(workspace.state_folder):
        if name.startswith(WRITER) and name.endswith(".json"):
            path = os.path.join(workspace.state_folder, name)
            writer = load_record(path, "the writer", LaneWriter)
            ids.update((writer.id, *writer.earlier) if writer is not None else ())
    return frozenset(ids)


def lanes_of_others(
    workspace: Workspace, lanes: Iterable[Lane], trusted: Container[str]
) -> list[Lane]:
    """Return the lanes that no worktree of this machine writes.

    A writer that the user trusts counts as another one, even if a worktree here had its id before.
    """
    own = writers_here(workspace)
    return [lane for lane in lanes if lane.writer in trusted or lane.writer not in own]


def new_writer(before: LaneWriter | None = None) -> LaneWriter:
    """Return a writer with an id that no other has."""
    earlier = (*before.earlier, before.id) if before is not None else ()
    return LaneWriter(os.urandom(_ID_BYTES).hex(), earlier)


def lanes_of(refs: Mapping[str, str], folder: str = LANES) -> list[Lane]:
    """Return the lanes among refs, full name and commit; what is no lane's name is passed over."""
    lanes = []
    for name, commit in sorted(refs.items()):
        session, _, writer = name.removeprefix(folder).partition("/")
        if name.startswith(folder) and is_session_name(session) and is_writer(writer):
            lanes.append(Lane(session, writer, commit))
    return lanes


def kept_lanes(repository: Repository) -> list[Lane]:
    """Return the lanes that are kept here, ours and others'."""
    refs = repository.refs(LANES.rstrip("/"))
    return lanes_of({name: ref.id for name, ref in refs.items() if not ref.points_to})


def fold_lane(repository: Repository, lane: Lane) -> None:
    """Let a lane lie among those of closed sessions."""
    old = repository.ref_id(lane.archived_ref) or "0" * len(lane.commit)
    repository.move_ref(lane.archived_ref, lane.commit, old, "gitguard: lane archived")
    repository.delete_ref(lane.ref, lane.commit)


# Others' lanes


def seen_by(store: SessionStore) -> dict[str, str]:
    """Return the commits of others' lanes that a session's state holds, by writer."""
    noted = read_joined(joined_path(store.workspace, store.session))
    if noted:
        return noted
    head = store.chain.head()
    checkpoints = store.chain.history(head.committed)
    return dict(next((c.seen for c in checkpoints if c.seen), {}))


def verify_lane(repository: Repository, lane: Lane, since: str = "") -> Verified:
    """Return a lane's newest checkpoint, verified with all before it back to a commit.

    since is a commit of the lane that was verified before. Raises `Tampered` for what is damaged,
    another session's or another writer's.
    """
    session = Session(lane.session, lane.session)
    with repository.reader() as reader:
        walk = Verification(reader, session, way_out=LEAVE, may_have=VERSIONS_FILE)
        order = repository.first_parents(lane.commit)
        links = walk.links(lane.commit, None, most=MOST_COMMITS, end_at={since}, order=order)
        newest = None
        for link in links:
            verified = refuse(link)
            mark = verified.checkpoint.lane
            if mark is None or mark.writer != lane.writer:
                raise InvalidDocument(f"commit {link.id[:12]} is not of the lane `{lane.ref}`")
            newest = newest or verified
    assert newest is not None  # a walk yields what it begins with, or says why not
    return newest


def read_lane(repository: Repository, lane: Lane) -> Verified:
    """Return a lane's newest checkpoint; only that one is verified."""
    with repository.reader() as reader:
        session = Session(lane.session, lane.session)
        walk = Verification(reader, session, way_out=LEAVE, may_have=VERSIONS_FILE)
        (link,) = walk.links(lane.commit, None, most=1)
    return refuse(link)


def lane_checkpoints(
    reader: ObjectReader, commit: str, writer: str, *, most: int
) -> Iterator[Checkpoint]:
    """Yield the checkpoints of a writer's lane down from a commit that was verified before."""
    for _ in range(most):
        if not commit:
            return
        body = reader.read(commit, "commit", limit=_COMMIT_LIMIT)
        checkpoint, _tree = read_checkpoint(commit, body)
        if checkpoint.lane is None or checkpoint.lane.writer != writer:
            return
        yield checkpoint
        commit = checkpoint.parent


def newest_of(repository: Repository, lanes: Iterable[Lane]) -> dict[str, Checkpoint]:
    """Return the newest commit of each lane, by the lane's ref; what is no lane's is left out.

    Nothing beyond these commits is read, so all of them take one git.
    """
    lanes = tuple(lanes)
    with repository.reader() as reader:
        commits = [lane.commit for lane in lanes]
        bodies = reader.read_all(commits, "commit", limit=_COMMIT_LIMIT)
    newest = {}
    for lane in lanes:
        body = bodies[lane.commit]
        try:
            if isinstance(body, InvalidDocument):
                continue
            checkpoint, _ = read_checkpoint(lane.commit, body)
        except InvalidDocument:
            continue
        if checkpoint.lane is not None and checkpoint.lane.writer == lane.writer:
            newest[lane.ref] = checkpoint
    return newest


# Our own


class Extended(Value):
    """Our lane of a session, and what a dry run left out of it."""

    lane: Lane
    messages: int
    """How many messages of conversations the newest state holds."""
    unsigned: str = ""
    """Why its newest commit is not signed, where the user signs commits."""
    lacking: int = 0
    """How many checkpoints it would get."""
    size: int = 0
    """Bytes of the files in these, each content counted once."""


class OwnLane:
    """The lane that this worktree writes of one session; the caller holds the lock of lanes."""

    def __init__(
        self, store: SessionStore, file: WriterFile, remote_refs: Mapping[str, str]
    ) -> None:
        """Describe the lane of a session; remote_refs are the remote's: full name and commit."""
        self._store = store
        self._file = file
        self._remote_refs = remote_refs
        self._workspace = store.workspace
        self._repository = store.repository()
        self._unsigned = ""
        """Why the newest commit was not signed, though it should be."""

    def writer(self) -> LaneWriter:
        """Return whose lane it is: this worktree, with a new id where the old one is in use.

        Only then may anything of the session's state be given a version.
        """
        return self._settled()[0]

    def extend(
        self,
        look: Callable[[Checkpoint, Mapping[str, bytes], str], object],
        *,
        dry_run: bool = False,
        head: Head | None = None,
    ) -> Extended | None:
        """Add our checkpoints that the lane lacks, or say how many; None if there are none at all.

        look is handed each checkpoint that is added, with the files that no other had before and
        its message, and raises for what may not leave. head is that of a closed session. Raises
        what verifying the session's history raises.
        """
        head = head or self._store.chain.head()
        if not head.committed:
            return None
        writer, newest = self._settled()
        links = self._missing(newest, head)
        if links is None:
            writer, newest = self._renewed(writer)
            links = self._missing(newest, head) or []
        contents = links[0].contents if links else read_lane(self._repository, newest).contents
        state = read_state(load_json(contents[STATE_FILE], what="the newest state"))
        extended = Extended(newest, len(state.exchanges))
        if dry_run:
            size = sum(len(data) for link in links for data in link.contents.values())
            return extended.replace(lacking=len(links), size=size)
        if links:
            lane = self._write(writer, newest, links, state=state, look=look)
            return extended.replace(lane=lane, unsigned=self._unsigned)
        return extended

    def _renewed(self, writer: LaneWriter) -> tuple[LaneWriter, Lane]:
        """Become a new writer, whose lane is empty."""
        writer = new_writer(writer)
        self._file.write(writer)
        return writer, Lane(self._store.session.name, writer.id, "")

    def _settled(self) -> tuple[LaneWriter, Lane]:
        """Return the writer and its lane, anew where a copy of it is or was at work."""
        writer = self._file.read()
        count, lane = self._counted(writer)
        if lane is None or not self._holds(lane, self._remote_refs.get(lane.ref, "")):
            return self._renewed(writer)
        writer = writer.counting(count)
        self._file.write(writer)
        return writer, lane

    def _counted(self, writer: LaneWriter) -> tuple[LaneCount, Lane | None]:
        """Return how far the writer's lane is, and the lane; None where the counts disagree."""
        name = self._store.session.name
        count, lane = writer.count_of(name), Lane(name, writer.id, "")
        commit = self._repository.ref_id(lane.ref)
        if count.pending and commit == count.pending:
            count = LaneCount(name, count.pending_counter, commit)
        if not commit and count.commit:
            with self._repository.reader() as reader:
                if not reader.exists(count.commit):
                    return count, None
            commit, nothing = count.commit, "0" * len(count.commit)
            self._repository.move_ref(lane.ref, commit, nothing, "gitguard: lane put back")
        lane = lane.replace(commit=commit)
        is_ours = commit == count.commit and self._counter_of(lane) == count.counter
        return count, lane if is_ours else None

    def _counter_of(self, lane: Lane) -> int:
        if not lane.commit:
            return 0
        mark = read_lane(self._repository, lane).checkpoint.lane
        return mark.counter if mark is not None and mark.writer == lane.writer else -1

    def _holds(self, lane: Lane, remote_commit: str) -> bool:
        """Say whether our lane has all that the remote has of it."""
        if remote_commit in ("", lane.commit):
            return True
        return self._repository.is_ancestor(remote_commit, lane.commit)

    def _missing(self, lane: Lane, head: Head) -> list[ChainLink] | None:
        """Return our checkpoints that a lane lacks, newest first; None if it has others."""
        source = ""
        if lane.commit:
            mark = read_lane(self._repository, lane).checkpoint.lane
            source = mark.checkpoint if mark is not None else ""
        links: list[ChainLink] = []
        for link in self._store.chain.links(head.committed, head.anchor, end_at={source}):
            if link.id == source:
                return links
            refuse(link)
            links.append(link)
        return None if source else links

    def _write(
        self,
        writer: LaneWriter,
        newest: Lane,
        links: list[ChainLink],
        *,
        state: TaskState,
        look: Callable[[Checkpoint, Mapping[str, bytes], str], object],
    ) -> Lane:
        count = writer.count_of(newest.session)
        messages = self._messages(links)
        for link in links:
            assert link.checkpoint is not None  # it was refused otherwise
            look(link.checkpoint, link.contents, messages[link.id])
        known_lane, counter, parent = KnownLane(self._store), count.counter, newest.commit
        machine = self._workspace.redactor.text(self._workspace.places.machine)
        lane_state = known_lane.advanced(writer.id, writer.earlier, state)
        known_lane.write(lane_state)
        self._workspace.at_step("lane-known")
        copies = _Copies(links, versions_of(lane_state))
        with self._repository.object_writer(links[0].id) as objects:
            trees = {link.id: copies.tree(link, objects) for link in links}
            for link in reversed(links):
                counter += 1
                mark = LaneMark(writer.id, counter, link.id, machine)
                message, at = lane_message(messages[link.id], mark), _time_of(link)
                if link is not links[0]:
                    body = self._repository.commit_body(trees[link.id], parent, message, at)
                    parent = objects.write("commit", body)
        # The lane's head alone is signed, because its hash vouches for all before it.
        commit = self._write_head(trees[links[0].id], parent, message, at)
        self._workspace.at_step("lane-written")
        pending = count.replace(commit=newest.commit, pending=commit, pending_counter=counter)
        self._file.write(writer.counting(pending))
        self._workspace.at_step("lane-pending")
        lane = newest.replace(commit=commit)
        old = newest.commit or "0" * len(commit)
        self._repository.move_ref(lane.ref, commit, old, "gitguard: lane extended")
        self._workspace.at_step("lane-moved")
        self._file.write(writer.counting(LaneCount(newest.session, counter, commit)))
        self._workspace.at_step("lane-counted")
        return lane

    def _write_head(self, tree: str, parent: str, message: str, at: int) -> str:
        """Write the lane's head, signed where checkpoints or the user's own commits are.

        A key that only the user's own commits are signed with may need a person; the lane leaves
        without its signature then.
        """
        from gitguard.store.git.signing import SigningSettings

        signs = SigningSettings(self._repository.git).signs_commits
        try:
            return self._repository.write_signed(tree, parent, message, at, signs=signs)
        except Pending as error:
            if self._store.config.sign:
                raise
            self._unsigned = error.message
        return self._repository.write_signed(tree, parent, message, at)

    def _messages(self, links: Iterable[ChainLink]) -> dict[str, str]:
        with self._repository.reader() as reader:
            bodies = reader.read_all([link.id for link in links], "commit", limit=_COMMIT_LIMIT)
        messages = {}
        for commit, body in bodies.items():
            if isinstance(body, InvalidDocument):
                raise body
            messages[commit] = parse_commit(body).message
        return messages


def forget_own_lane(store: SessionStore) -> None:
    """Forget our lane of a session, which would keep what a purge took out of it.

    The next sync writes it anew, as another writer where a remote has the old one.
    """
    file, name = WriterFile(store.workspace), store.session.name
    own, repository = writers_here(store.workspace), store.repository()
    if not own:
        return
    KnownLane(store).forget()
    file.write(file.read().counting(LaneCount(name, 0)))
    archived = repository.refs(ARCHIVED.rstrip("/"))
    refs = {ref.name: ref.id for ref in archived.values()}
    refs |= {lane.ref: lane.commit for lane in kept_lanes(repository)}
    for folder in (ARCHIVED, LANES):
        for lane in lanes_of(refs, folder):
            if lane.session == name and lane.writer in own:
                ref = lane.ref if folder == LANES else lane.archived_ref
                repository.expire_reflog(ref)
                repository.delete_ref(ref, lane.commit)


class _Copies:
    """The trees of a lane's commits: those of the checkpoints, without what never leaves."""

    def __init__(self, links: Sequence[ChainLink], versions: bytes) -> None:
        self._changed: dict[str, bytes] = {}
        self._newest, self._versions = links[0], versions
        for link in links:
            # A walk hands out each content once, with the first checkpoint that has it.
            for name, data in link.contents.items():
                copy = _without_host_summary(data) if name == STATE_FILE else data
                if copy is not data:
                    self._changed[link.files[name]] = copy

    def tree(self, link: ChainLink, objects: LooseObjects | GitObjects) -> str:
        blobs = {
            name: objects.write("blob", self._changed[blob]) if blob in self._changed else blob
            for name, blob in link.files.items()
        }
        if link is self._newest:
            blobs[VERSIONS_FILE] = objects.write("blob", self._versions)
        return objects.write("tree", flat_tree(blobs)) if blobs != link.files else link.tree


def _without_host_summary(data: bytes) -> bytes:
    if f'"{_HOST_SUMMARY}"'.encode() not in data:
        return data
    document = load_json(data, what="a state")
    if document.get(_HOST_SUMMARY) is None:
        return data
    return dump_json({**document, _HOST_SUMMARY: None})


def _time_of(link: ChainLink) -> int:
    assert link.checkpoint is not None
    return link.checkpoint.at
