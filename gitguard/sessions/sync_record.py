"""What this machine knows of syncing: what waits, what a person agreed to, and whom it believes."""

from __future__ import annotations

import os
import shlex

from gitguard.errors import InvalidDocument, NewerFormat, NotReadable
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.sessions.last_event import time_since
from gitguard.state.checkpoint import lane_author
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock
from gitguard.store.session.anchor import FORMAT, load_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitguard.store.session.workspace import Workspace


_SHORT = 12
_LOCK_TIMEOUT = 10.0
_ENDS = "; it is dropped once `gitguard sync` without --remote succeeds"
_DROP = ". Drop it with `gitguard status --clear`"


class LaneGoneBack(Record):
    """A lane that did not continue on a remote what this machine has of it."""

    session: str = fields.text("The session's name.")
    author: str = fields.text("Whose lane it is.")
    kept_commit: str = fields.text("The commit that this machine has.")
    remote_commit: str = fields.text("The commit that the remote had.")
    is_replaced: bool = fields.flag(
        "Whether it went on from something else; else it lost its newest checkpoints.",
        default=False,
    )

    def sentence(self, remote: str) -> str:
        """Say what happened, and what this machine does about it."""
        what = "was replaced" if self.is_replaced else "went back"
        return (
            f"the lane of session {self.session} of {self.author} {what} on {remote}, from "
            f"{self.kept_commit[:_SHORT]} to {self.remote_commit[:_SHORT]}; "
            "this machine keeps what it had"
        )


class RemoteRecord(Record):
    """What is known of syncing with one remote."""

    address: str = fields.text("Where it is, without a password.")
    name: str = fields.text("As it was named.", default="")
    is_agreed: bool = fields.flag("Whether a person agreed that sessions go there.", default=False)
    queued_at: str = fields.time(
        "Since when something waits; left out if nothing does.", default="", sparse=True
    )
    reason: str = fields.text("Why it waits.", default="")
    is_named_once: bool = fields.flag(
        "Whether a person named it for one sync, and no session is synced with it by default.",
        default=False,
        sparse=True,
    )

    gone_back: tuple[LaneGoneBack, ...] = fields.records(
        "The lanes that had gone back at the last sync that fetched.",
        of=LaneGoneBack,
        default=(),
        sparse=True,
    )

    @property
    def settled(self) -> RemoteRecord:
        """The same, with nothing that waits."""
        return self.replace(queued_at="", reason="")


class SignedHead(Record):
    """What the signature of a lane's head is worth."""

    ref: str = fields.text("The lane's ref.")
    commit: str = fields.text("The head that was checked.")
    key: str = fields.text("The key that signed it; empty where none did.", default="")
    is_good: bool = fields.flag("Whether a trusted key signed exactly this.", default=False)
    doubt: str = fields.text("Why not.", default="")


class SyncRecord(Record):
    """What is known of syncing."""

    remotes: tuple[RemoteRecord, ...] = fields.records("By address.", of=RemoteRecord, default=())
    trusted: tuple[str, ...] = fields.texts("Writers whose lanes are joined.", default=())
    asked: tuple[str, ...] = fields.texts(
        "Writers about whom a person was asked on a terminal.", default=()
    )

    signed: tuple[SignedHead, ...] = fields.records(
        "What the signatures of lanes' heads are worth.", of=SignedHead, default=()
    )

    def trusting(self, writer: str) -> SyncRecord:
        """Return the same with one more writer whose lanes are joined."""
        if writer in self.trusted:
            return self
        return self.replace(trusted=(*self.trusted, writer))

    def of(self, address: str, name: str) -> RemoteRecord:
        """Return what is known of a remote."""
        records = (remote for remote in self.remotes if remote.address == address)
        return next(records, RemoteRecord(address)).replace(name=name)

    def after_sync(self, name: str, defaults: Collection[str]) -> SyncRecord:
        """Return the same once a sync with a remote succeeded, by its name.

        Nothing waits for an address that the remote had before. Once a remote is synced with by
        default, nor does anything for one that is not.
        """
        is_default = name in defaults
        remotes = tuple(
            r.settled if r.name == name or (is_default and r.name not in defaults) else r
            for r in self.remotes
        )
        return self.replace(remotes=remotes)

    def having(self, remote: RemoteRecord) -> SyncRecord:
        """Return the same with what is known of one remote now."""
        others = (other for other in self.remotes if other.address != remote.address)
        return self.replace(remotes=(*others, remote))


class SyncFile:
    """The record in the repository's folder of the state directory."""

    def __init__(self, workspace: Workspace) -> None:
        """Describe the file."""
        self._path = workspace.sync_path

    def read(self) -> SyncRecord:
        """Return the record; a damaged one is empty, so that a person is asked again."""
        try:
            record = load_record(self._path, "the record of syncing", SyncRecord)
        except (NewerFormat, NotReadable):
            raise
        except InvalidDocument:
            record = None
        return record or SyncRecord()

    def write(self, record: SyncRecord) -> None:
        """Replace the record, durable."""
        files.make_folder(os.path.dirname(self._path))
        files.write_bytes(self._path, dump_json({"format": FORMAT, **record.to_document()}))

    @property
    def is_there(self) -> bool:
        """Whether anything was ever synced here."""
        return os.path.exists(self._path)


class OtherLane(Value):
    """A lane of a writer that is not this machine's."""

    session: str
    """The session's name."""
    writer: str
    checkpoint: str
    at: str
    """When its newest checkpoint was made, as it says."""
    is_trusted: bool
    """Whether it is joined: its writer is trusted, or a trusted key signed it."""
    key: str = ""
    """The fingerprint of the key that signed it; empty if none did, as far as was checked."""
    doubt: str = ""
    """What is wrong with its signature; empty for nothing, and for none."""
    machine: str = ""
    """What the writer's machine calls itself; empty where it does not say."""
    branch: str = ""
    """The branch that was checked out there; empty for none."""
    session_key: str = ""
    """The session's key, by which a command names it."""
    age: str = ""
    """How old its newest checkpoint is by its own account, such as `4 min`."""
    is_signed: bool = False
    """Whether its newest commit has a signature, whatever that is worth."""

    @property
    def author(self) -> str:
        """Who wrote it, as people tell writers apart."""
        return lane_author(self.writer, self.machine)

    @property
    def saved(self) -> str:
        """Its newest checkpoint, how old that is, and when it was saved."""
        return f"{self.checkpoint}, saved {self.age} ago at {self.at}"

    @property
    def signature(self) -> str:
        """What is known of the signature of its newest commit."""
        if self.doubt:
            key = f" of key {self.key}" if self.key else ""
            return f"signature{key} not verified: {self.doubt}"
        if self.key:
            return f"signed by {self.key}"
        return "signed, not checked yet" if self.is_signed else "not signed"

    @property
    def use_command(self) -> str:
        """The command that begins or continues the session here, for a shell."""
        return f"gitguard session use {shlex.quote(one_line(self.session_key))}"


def forget_queued(workspace: Workspace) -> tuple[str, ...]:
    """Forget which syncs wait, and return the remotes with which; raises `Locked` during a sync."""
    file = SyncFile(workspace)
    if not file.is_there:
        return ()
    with Lock(workspace.lanes_lock, timeout=_LOCK_TIMEOUT, clock=workspace.clock):
        record = file.read()
        queued = tuple(remote.name for remote in record.remotes if remote.queued_at)
        if queued:
            file.write(record.replace(remotes=tuple(r.settled for r in record.remotes)))
    return queued


def lanes_gone_back(workspace: Workspace) -> tuple[str, ...]:
    """Say which lanes had gone back on a remote at the last sync."""
    return tuple(
        f"at the last sync, {lane.sentence(one_line(remote.name))}"
        for remote in SyncFile(workspace).read().remotes
        for lane in remote.gone_back
    )


def waiting_to_sync(workspace: Workspace) -> tuple[str, ...]:
    """Say which syncs are queued, why, and for how long."""
    now = workspace.clock()
    return tuple(
        f"`gitguard sync` with {one_line(remote.name)} is queued since "
        f"{time_since(remote.queued_at, now)} ago: {one_line(remote.reason)}"
        + (_ENDS if remote.is_named_once else _DROP)
        for remote in SyncFile(workspace).read().remotes
        if remote.queued_at
    )
