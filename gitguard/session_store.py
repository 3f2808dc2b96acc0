"""One session's durable whole: state, journal, summary, snapshot and checkpoints.

Truth is, in this order, the branch tip, `state.json`, the journal. Callers hold the session's lock
for as long as what they read has to stay true.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    EditedState,
    GitguardError,
    HeadAdvanced,
    MissingState,
    NotWritable,
    Pending,
    Tampered,
    Untrusted,
)
from gitguard.model import journal as folding
from gitguard.model.checkpoint import (
    ONLY_IF_CHANGED,
    SNAPSHOT_FILE,
    STATE_FILE,
    SUMMARY_FILE,
    Record,
)
from gitguard.model.codec import check_size, dump_json
from gitguard.model.snapshot import SnapshotMeta, render_snapshot
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.store import checkpoints as chain
from gitguard.store import files, states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.context.gauge import Pressure
    from gitguard.model.checkpoint import Code
    from gitguard.model.config import Config
    from gitguard.model.events import Transcript
    from gitguard.model.session import Session
    from gitguard.model.task import TaskState
    from gitguard.store.checkpoints import Chain, Head
    from gitguard.store.journal import JournalPart
    from gitguard.store.lock import Lock
    from gitguard.store.states import Found
    from gitguard.store.workspace import Workspace

LOCK_TIMEOUT = 10.0
HOOK_LOCK_TIMEOUT = 3.0


class Circumstances(Value):
    """What a checkpoint records beside the state."""

    pressure: Pressure | None = None
    transcript: Transcript | None = None
    compaction_count: int = 0
    forked_from: str = ""


class Saved(Value):
    """What became of a checkpoint."""

    trigger: str
    commit: str = ""
    """The checkpoint's commit, empty when nothing had changed or it is pending."""
    sequence: int = 0
    pending: str = ""
    """Why the commit has to wait for a run that can write."""


class SessionStore:
    """Reads, writes and checkpoints one session."""

    def __init__(self, workspace: Workspace, session: Session, config: Config) -> None:
        """Describe the session; nothing is read yet."""
        self.workspace = workspace
        self.session = session
        self.config = config
        self.clock = workspace.clock
        self.states = states.StateFiles(workspace, session)
        self.journal = workspace.journal(session)
        self._chain: Chain | None = None

    @property
    def chain(self) -> Chain:
        """The session's checkpoints; git is first needed here."""
        if self._chain is None:
            from gitguard.store.repository import Repository

            places = self.workspace.places
            repository = Repository(self.workspace.place, places.environment, self.clock)
            prefix = self.config.store.ref_prefix
            self._chain = chain.Chain(self.workspace, repository, self.session, prefix)
        return self._chain

    @property
    def now(self) -> str:
        """The time, as files carry it."""
        return timestamp(self.clock())

    def lock(self, timeout: float = LOCK_TIMEOUT) -> Lock:
        """Return the session's lock."""
        return self.workspace.lock(self.session, timeout=timeout)

    # State

    def state(self) -> Found:
        """Return the state in force, or raise `MissingState` or `EditedState` with the way out."""
        found = self.states.read()
        diagnosed = diagnose(found)
        if diagnosed is not None:
            raise diagnosed
        if found.standing == states.EDITED:
            raise EditedState(
                f"`{self.states.path}` was changed by somebody other than gitguard",
                "Look at the change and take it with `gitguard accept`, or drop it with "
                "`gitguard recover`",
            )
        if found.needs_rewrite:
            found = self.states.rewrite(found)
        return found

    def save(self, state: TaskState, before: Found) -> Found:
        """Make a state durable."""
        self.workspace.make_folders(self.session)
        return self.states.write(state, before)

    # Checkpoints

    def fold(self, found: Found) -> tuple[Found, JournalPart]:
        """Fold what the journal collected into the state, and make that durable."""
        written = found.written
        part = self.journal.read(
            written.journal_id if written else "", written.journal_offset if written else 0
        )
        assert found.state is not None
        folded = folding.fold(found.state, part.unfolded, self.now)
        moved = written is None or part.end != written.journal_offset
        if folded is found.state and not moved and found.standing == states.OURS:
            return found, part
        self.workspace.make_folders(self.session)
        found = self.states.write(folded, found, journal_id=part.id, journal_offset=part.end)
        return found, part

    def checkpoint(
        self, trigger: str, why: str, circumstances: Circumstances, *, found: Found | None = None
    ) -> Saved:
        """Take a checkpoint of the state in force; where git cannot be written it is pending.

        Raises what `state` raises, and `HeadAdvanced`, `Tampered` or `Untrusted` when the branch
        is not where this machine left it.
        """
        found, part = self.fold(found or self.state())
        assert found.state is not None
        self.write_summary(found.state)
        try:
            if found.standing == states.PENDING:
                raise Pending(found.problem)
            head = self.own_head()
            anchor = head.anchor
            unchanged = anchor is not None and anchor.state_sha256 == found.sha256
            if unchanged and trigger in ONLY_IF_CHANGED:
                return Saved(trigger)
            saved = self._commit(trigger, why, circumstances, found, part, head)
        except Pending as error:
            return Saved(trigger, pending=error.message)
        except NotWritable as error:
            if not files.is_refusal(error):
                raise
            return Saved(trigger, pending=error.message)
        self.journal.rotate(part)
        return saved

    def _commit(
        self,
        trigger: str,
        why: str,
        circumstances: Circumstances,
        found: Found,
        part: JournalPart,
        head: Head,
    ) -> Saved:
        assert found.state is not None
        sequence = (head.anchor.sequence if head.anchor else 0) + 1
        contents = self._contents(found.state, part, sequence, trigger, circumstances)
        files.write_bytes(self.states.snapshot_path, contents[SNAPSHOT_FILE])
        record = self.record(sequence, trigger, why, found.state, head.code, circumstances)
        commit = self.chain.commit(head, record, contents, found.sha256)
        return Saved(trigger, commit, sequence)

    def record(
        self,
        sequence: int,
        trigger: str,
        why: str,
        state: TaskState,
        code: Code,
        circumstances: Circumstances,
    ) -> Record:
        """Return what a checkpoint's commit message says."""
        pressure = circumstances.pressure
        return Record(
            session_key=self.session.key,
            sequence=sequence,
            trigger=trigger,
            phase=state.current_phase,
            next_action=state.next_action,
            why=why,
            pressure=pressure.share if pressure else None,
            code=code,
            forked_from=circumstances.forked_from,
        )

    def _contents(
        self,
        state: TaskState,
        part: JournalPart,
        sequence: int,
        trigger: str,
        circumstances: Circumstances,
    ) -> Mapping[str, bytes]:
        pressure, transcript = circumstances.pressure, circumstances.transcript
        meta = SnapshotMeta(
            sequence=sequence,
            created_at=self.now,
            trigger=trigger,
            session_file=os.path.basename(transcript.path) if transcript else "",
            tokens=pressure.tokens if pressure else None,
            window=pressure.window.tokens if pressure else None,
            pressure=pressure.share if pressure else None,
            journal_id=part.id,
            journal_offset=part.end,
            compaction_count=circumstances.compaction_count,
        )
        contents = {
            STATE_FILE: dump_json(state.to_document()),
            SUMMARY_FILE: render_summary(state).encode(),
            SNAPSHOT_FILE: render_snapshot(state, folding.work_of(part.entries, state), meta),
        }
        for name, data in contents.items():
            check_size(len(data), what=f"`{name}`")
        return contents

    def own_head(self) -> Head:
        """Return the head if it is this machine's, or raise with both sides and the ways out."""
        head = self.chain.head()
        refusal = refuse_head(head, self.chain.ref)
        if refusal is not None:
            raise refusal
        return head

    # Summary

    def write_summary(self, state: TaskState) -> bool:
        """Write the summary rendered from the state if it differs; say whether it did."""
        wanted = render_summary(state)
        if self.states.read_summary() == wanted:
            return False
        files.write_bytes(self.states.summary_path, wanted.encode())
        return True


def render_summary(state: TaskState) -> str:
    """Return the structured summary of a state."""
    from gitguard.rendering import render

    return render("summary.md.j2", state=state)


def diagnose(found: Found) -> MissingState | None:
    """Say whether the state is missing or broken by the contract (seed: startup branch)."""
    if found.standing == states.ABSENT:
        return MissingState(
            "there is no task state and no summary", "Run `gitguard ensure` to begin or restore"
        )
    if found.standing == states.MISSING:
        return MissingState(
            "the summary is there, the durable task state is missing",
            "Run `gitguard recover`: it takes the newest good copy",
        )
    if found.standing == states.BROKEN:
        return MissingState(
            f"the durable task state cannot be used: {found.problem}",
            "Run `gitguard recover`: it archives the bad file and takes the newest good copy",
        )
    state = found.edited or found.state
    if state is not None and not state.next_action.strip():
        return MissingState("`next_action` is empty", "Set it: `gitguard note --next …`")
    if not found.has_summary:
        return MissingState(
            "the summary is missing", "Run `gitguard recover`: it renders the summary again"
        )
    return None


def refuse_head(head: Head, ref: str) -> GitguardError | None:
    """Say why nothing may be committed on top of a head, None when it is ours or there is none."""
    ours = head.anchor.committed[:12] if head.anchor and head.anchor.committed else "nothing"
    theirs = head.id[:12]
    refusals: dict[str, GitguardError] = {
        chain.ADVANCED: HeadAdvanced(
            f"`{ref}` is at {theirs}, ahead of {ours} on which our state is based",
            "Take it with `gitguard recover --take`, or keep ours with "
            "`gitguard session fork NAME`",
        ),
        chain.MOVED: Tampered(
            f"`{ref}` is at {theirs}, this machine wrote {ours}, and the one does not follow from "
            "the other",
            "Put ours back with `gitguard recover`, or look at theirs and take it with "
            f"`gitguard trust --head {theirs}`",
        ),
        chain.DELETED: Tampered(
            f"`{ref}` is gone; this machine wrote {ours} there",
            "Put it back with `gitguard recover`, or drop it with `gitguard trust --forget`",
        ),
        chain.UNTRUSTED: Untrusted(
            f"`{ref}` is at {theirs}, and this machine did not write it",
            "Look at it with `gitguard log` and `gitguard show`, then run `gitguard trust`, or "
            "begin another with `gitguard session use NAME`",
        ),
    }
    if head.standing == chain.REMOTE_ONLY:
        return Pending(
            f"only `{head.remote}` has this session; no second history is begun beside it",
            "Adopt it with `gitguard trust`, or begin another with `gitguard session use NAME`",
        )
    return refusals.get(head.standing)
