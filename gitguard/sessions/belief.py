"""Whose lanes are believed: of writers that the user trusts, and of keys that the user named.

A key vouches for a lane's head, and so for all before it. What a signature is worth is checked once
for each head, as it is fetched, and remembered in the state directory; the user's keys are asked
anew each time, so that a key that is no longer trusted counts for nothing from then on.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, Locked
from gitguard.model.text import counted, one_line, timestamp
from gitguard.model.value import Value
from gitguard.sessions.last_event import time_since
from gitguard.sessions.sync_record import LaneGoneBack, OtherLane, SignedHead, SyncFile
from gitguard.sessions.trusted_keys import KeyFile
from gitguard.state.checkpoint import lane_author
from gitguard.store.disk.lock import Lock
from gitguard.store.session.lane_memory import leaving
from gitguard.store.session.lane_state import KnownLane, read_lane_state
from gitguard.store.session.lanes import (
    WriterFile,
    kept_lanes,
    lane_checkpoints,
    lanes_of_others,
    newest_of,
    verify_lane,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.sessions.sync_record import SyncRecord
    from gitguard.state.joining import LaneState
    from gitguard.state.task import TaskState
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.lanes import Lane
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace

MOST_CHECKED = 100
"""Signatures that one sync checks; each takes some 10 ms."""
_MOST_READ, _MOST_CHECKPOINTS = 20, 200
"""Lanes, and checkpoints of each, that are read for who wrote a file."""


class Belief(Value):
    """Whose lanes are believed here, and by what."""

    writers: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    """The fingerprints of the keys that the user named."""
    heads: Mapping[str, SignedHead] = {}
    """What the signatures of lanes' heads are worth, by the lane's ref."""
    problem: str = ""
    """Why no key is believed, where the record of keys cannot be read."""

    def key_of(self, lane: Lane) -> str:
        """Return the key that signed exactly this head, believed or not; empty for none."""
        head = self.heads.get(lane.ref)
        return head.key if head is not None and head.commit == lane.commit else ""

    def doubt_of(self, lane: Lane) -> str:
        """Return what is wrong with the signature of this head; empty for nothing, or for none."""
        head = self.heads.get(lane.ref)
        return head.doubt if head is not None and head.commit == lane.commit else ""

    def holds_for(self, lane: Lane) -> bool:
        """Say whether a lane is believed as it is now."""
        if lane.writer in self.writers:
            return True
        head = self.heads.get(lane.ref)
        is_good = head is not None and head.commit == lane.commit and head.is_good
        return is_good and self.key_of(lane) in self.keys


def belief_of(workspace: Workspace, record: SyncRecord | None = None) -> Belief:
    """Return whose lanes are believed in a repository; without its record, that is read."""
    record = record or SyncFile(workspace).read()
    problem, keys = "", frozenset[str]()
    try:
        keys = KeyFile(workspace.places.config_home).read().fingerprints
    except InvalidDocument as error:
        problem = error.message
    heads = {head.ref: head for head in record.signed}
    return Belief(frozenset(record.trusted), keys, heads, problem)


def check_heads(
    workspace: Workspace, repository: Repository, lanes: Iterable[Lane], belief: Belief
) -> tuple[SignedHead, ...]:
    """Return what the signatures of lanes' heads are worth, checking those that are news."""
    from gitguard.store.git.signing import NamedKeyCheck

    lanes = tuple(lanes)
    signers_file = KeyFile(workspace.places.config_home).signers_path
    check = NamedKeyCheck(repository.git, belief.keys, signers_file)
    heads = {lane.ref: head for lane in lanes if (head := _checked_head(lane, belief)) is not None}
    new = [lane for lane in lanes if lane.ref not in heads]
    checkpoints = newest_of(repository, new)
    signed = [lane for lane in new if lane.ref in checkpoints and checkpoints[lane.ref].signature]
    for lane in signed[:MOST_CHECKED]:
        verdict = check.verdict(lane.commit, checkpoints[lane.ref].signature)
        heads[lane.ref] = SignedHead(
            lane.ref, lane.commit, verdict.key, is_good=verdict.is_good, doubt=verdict.reason
        )
    return tuple(heads[ref] for ref in sorted(heads))


def named_signer(workspace: Workspace, repository: Repository, lane: Lane) -> str:
    """Return what the user's key is called that signed a lane's head; empty for no such key."""
    belief = belief_of(workspace)
    heads = check_heads(workspace, repository, (lane,), belief)
    signed = {head.key for head in heads if head.is_good and head.key in belief.keys}
    if not signed:
        return ""
    keys = KeyFile(workspace.places.config_home).read().keys
    return next((k.comment or k.fingerprint for k in keys if k.fingerprint in signed), "")


def _checked_head(lane: Lane, belief: Belief) -> SignedHead | None:
    """Return the verdict on a head that still holds: a key may have been named since."""
    head = belief.heads.get(lane.ref)
    if head is None or head.commit != lane.commit:
        return None
    return head if head.is_good or head.key not in belief.keys else None


def other_lanes(workspace: Workspace, repository: Repository) -> tuple[OtherLane, ...]:
    """Return the lanes that are kept here and that no worktree of this machine writes."""
    belief = belief_of(workspace)
    kept = lanes_of_others(workspace, kept_lanes(repository), belief.writers)
    lanes = {lane.ref: lane for lane in kept}
    return tuple(
        OtherLane(
            lanes[ref].session,
            lanes[ref].writer,
            checkpoint.name,
            timestamp(checkpoint.at),
            is_trusted=belief.holds_for(lanes[ref]),
            key=belief.key_of(lanes[ref]),
            doubt=belief.doubt_of(lanes[ref]),
            machine=checkpoint.lane.machine if checkpoint.lane is not None else "",
            branch=checkpoint.code.branch,
            session_key=checkpoint.session_key,
            age=time_since(timestamp(checkpoint.at), workspace.clock()),
            is_signed=bool(checkpoint.signature),
        )
        for ref, checkpoint in sorted(newest_of(repository, lanes.values()).items())
    )


def written_in_lanes(store: SessionStore) -> dict[tuple[str, str], str]:
    """Return whose agent wrote a content, by its path and id, as far as believed lanes tell.

    A lane's newest checkpoints tell of files that git tracked there.
    """
    workspace, repository = store.workspace, store.repository()
    belief = belief_of(workspace)
    lanes = lanes_of_others(workspace, kept_lanes(repository), belief.writers)
    written: dict[tuple[str, str], str] = {}
    with repository.reader() as reader:
        for lane in [lane for lane in lanes if belief.holds_for(lane)][:_MOST_READ]:
            for checkpoint in lane_checkpoints(
                reader, lane.commit, lane.writer, most=_MOST_CHECKPOINTS
            ):
                machine = checkpoint.lane.machine if checkpoint.lane is not None else ""
                author = lane_author(lane.writer, workspace.redactor.text(one_line(machine)))
                for file in checkpoint.written:
                    written.setdefault((file.path, file.new), author)
    return written


def lane_gone_back(
    workspace: Workspace, repository: Repository, lane: Lane, kept: str
) -> LaneGoneBack:
    """Describe a lane whose head does not continue the commit that this machine has of it."""
    newest = newest_of(repository, [lane]).get(lane.ref)
    machine = newest.lane.machine if newest is not None and newest.lane is not None else ""
    return LaneGoneBack(
        lane.session,
        lane_author(lane.writer, workspace.redactor.text(one_line(machine))),
        kept,
        lane.commit,
        is_replaced=not repository.is_ancestor(lane.commit, kept),
    )


def writer_named(workspace: Workspace, repository: Repository, beginning: str) -> str:
    """Return the id of a writer whose lanes are kept here, named by the id's beginning.

    Raises `InvalidInput` for one that is not known here, or not the only one.
    """
    writers = sorted({lane.writer for lane in other_lanes(workspace, repository)})
    named = [writer for writer in writers if beginning and writer.startswith(beginning)]
    if len(named) != 1:
        raise InvalidInput(
            f"`{beginning[:40]}` names {counted(len(named), 'writer')} whose lanes are kept here",
            "`gitguard sync` lists them",
        )
    return named[0]


def trust_writer(workspace: Workspace, repository: Repository, beginning: str) -> str:
    """Believe a writer from now on, named as in `writer_named`; return the id."""
    writer = writer_named(workspace, repository, beginning)
    file = SyncFile(workspace)
    file.write(file.read().trusting(writer))
    return writer


def believe_writers_at(store: SessionStore, commit: str, state: TaskState) -> None:
    """Believe the writers whose lanes end with a checkpoint that a person took over, as it is.

    What a lane says of itself is not enough: it has to hold the state that was taken. That state
    goes on as its writers made it. The session's lock is held. Where a sync runs now, nobody is
    believed.
    """
    workspace, repository, file = store.workspace, store.repository(), SyncFile(store.workspace)
    if not file.is_there:
        return
    try:
        with Lock(workspace.lanes_lock, timeout=0, clock=workspace.clock):
            for lane in kept_lanes(repository):
                if lane.session != store.session.name:
                    continue
                theirs = _ending_with(repository, lane, commit)
                if theirs is None or theirs.state != leaving(state):
                    continue
                KnownLane(store).take_over(theirs, WriterFile(workspace).read().id)
                file.write(file.read().trusting(lane.writer))
    except Locked:
        return


def _ending_with(repository: Repository, lane: Lane, commit: str) -> LaneState | None:
    """Return what a lane's writer knows, None for a lane that ends with another checkpoint."""
    try:
        newest = verify_lane(repository, lane)
        mark = newest.checkpoint.lane
        is_same = mark is not None and mark.checkpoint == commit
        return read_lane_state(lane.writer, newest.contents) if is_same else None
    except GitguardError:
        return None  # nor is it joined
