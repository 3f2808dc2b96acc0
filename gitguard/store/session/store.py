"""One session's durable whole: state, journal, summary, snapshot and checkpoints.

Truth is, in this order, the branch tip, `state.json`, the journal. Callers hold the session's lock
for as long as what they read has to stay true.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    NOT_OURS,
    EditedState,
    GitguardError,
    MissingState,
    NotWritable,
    Pending,
    Untrusted,
)
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session import state_file
from gitguard.store.session.journal import OwnJournal, make_session_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from gitguard.model.config.config import Config
    from gitguard.state.circumstances import Circumstances
    from gitguard.state.items import Origin
    from gitguard.state.task import TaskState
    from gitguard.store.disk.lock import Lock
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.repository import Repository
    from gitguard.store.git.signing import SignatureCheck
    from gitguard.store.session.chain import Chain
    from gitguard.store.session.journal import JournalPart
    from gitguard.store.session.session_worktree import KeptLook, Seen, SessionWorktree
    from gitguard.store.session.standing import Head, HeadVerdict
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.workspace import Session, Workspace

    T = TypeVar("T")

LOCK_TIMEOUT = 10.0
HOOK_LOCK_TIMEOUT = 6.0


class Saved(Value):
    """What became of a checkpoint."""

    trigger: str
    commit: str = ""
    """The checkpoint's commit, empty when nothing had changed or it is pending."""
    sequence: int = 0
    pending: str = ""
    """Why the commit has to wait for a run that can write."""
    way_out: str = ""
    """What ends the waiting, where it is more than time."""
    left: str = ""
    """The code commit that HEAD left since the checkpoint before; empty where it stayed."""


class SessionStore:
    """Reads, writes and checkpoints one session."""

    has_working_files = True
    """Whether there can be a state that is newer than the newest checkpoint."""

    def __init__(
        self,
        workspace: Workspace,
        session: Session,
        config: Config,
        *,
        patience: float = LOCK_TIMEOUT,
    ) -> None:
        """Describe the session; nothing is read yet.

        patience is for how many seconds its lock is waited for.
        """
        self._patience = patience
        self.workspace = workspace
        self.session = session
        self.config = config
        self.clock = workspace.clock
        self.states = state_file.StateFiles(workspace, session)
        self.journal = OwnJournal(workspace, session, words=config.capture.words)
        self._repository: Repository | None = None
        self._chain: Chain | None = None
        self._worktree: SessionWorktree | None = None

    @property
    def chain(self) -> Chain:
        """The session's checkpoints; git is first needed here."""
        if self._chain is None:
            from gitguard.store.session.chain import Chain

            prefix = self.config.store.ref_prefix
            self._chain = Chain(self.workspace, self.repository(), self.session, prefix)
        return self._chain

    def repository(self) -> Repository:
        """Return the door to git."""
        if self.workspace.read_once is not None:
            return self.workspace.read_once
        if self._repository is None:
            self._repository = self.workspace.repository(signs=self.config.sign)
        return self._repository

    def signatures(self) -> SignatureCheck:
        """Return what says whose signatures are on checkpoints."""
        from gitguard.store.git.signing import SignatureCheck

        return SignatureCheck(self.repository().git, self.config.signers)

    @property
    def now(self) -> str:
        """The time, as files carry it."""
        return timestamp(self.clock())

    def lock(self, timeout: float | None = None) -> Lock:
        """Return the session's lock."""
        timeout = self._patience if timeout is None else timeout
        return self.workspace.lock(self.session, timeout=timeout)

    # State

    def state(self) -> OwnState:
        """Return the state in force, or raise `MissingState` or `EditedState` with the way out.

        The caller holds the lock: a working file that a crash left behind is written again.
        """
        return self._rewritten(self.states.read())

    def _rewritten(self, reading: OwnState | UnusableState) -> OwnState:
        ready = self._in_force(reading)
        return self.states.rewrite(ready) if ready.needs_rewrite else ready

    def state_or_copy(self) -> OwnState:
        """Return the state in force; beside a file that is not ours, this machine's copy of it.

        The copy then goes on alone, and the file stays as it lies, broken or edited. Raises as
        `state` does where there is no copy.
        """
        reading = self.states.read()
        copy = reading.copy if isinstance(reading, state_file.UnusableState) else None
        if copy is not None and reading.standing != state_file.ABSENT:
            return copy.replace(keeps_file=True)
        return self._rewritten(reading)

    @property
    def is_edited(self) -> bool:
        """Whether somebody other than gitguard edited the working file."""
        return self.states.read().standing == state_file.EDITED

    def read_unlocked(self) -> OwnState:
        """Return the state in force to a reader without the lock; nothing is written."""
        return self.at_one_moment(lambda: self._in_force(self.states.read()))

    def read(self) -> OwnState | UnusableState:
        """Read the working state without the lock."""
        return self.at_one_moment(
            self.states.read,
            recheck_if=lambda reading: isinstance(reading, state_file.UnusableState),
        )

    def at_one_moment(
        self,
        read: Callable[[], T],
        *,
        recheck_if: Callable[[T], bool] = lambda _: False,
        takes_long: bool = False,
    ) -> T:
        """Return what read returns to a reader without the lock, of files that belong together.

        What accuses somebody is looked at again while nobody writes; raises `Locked` where a writer
        does not end.
        """
        moment = self.workspace.moment(self.session)
        return moment.read(read, recheck_if=recheck_if, takes_long=takes_long)

    def _in_force(self, reading: OwnState | UnusableState) -> OwnState:
        missing = state_file.diagnose(reading)
        if missing is not None:
            raise missing
        if isinstance(reading, state_file.OwnState):
            return reading
        if reading.copy is None and not reading.problem:
            raise Untrusted(
                f"this machine has no record of `{self.states.path}`. Was the repository moved or "
                f"copied? Looked in `{self.workspace.places.state_home}` (GITGUARD_STATE_DIR)",
                "Review the session's branch with `gitguard log --untrusted`, then take it with "
                "`gitguard repair --trust`, which archives this state. Without a branch, review "
                "and take this state with `gitguard repair --accept`",
            )
        raise EditedState(
            f"somebody other than gitguard edited `{self.states.path}`",
            "Review the change with `gitguard repair --accept --dry-run`. Take it with `gitguard "
            "repair --accept`, or drop it with `gitguard repair --local`",
        )

    def save(self, state: TaskState, before: OwnState | None) -> OwnState:
        """Make a state durable; before is the newest one of ours, None for the first."""
        make_session_files(self.workspace, self.session)
        return self.states.write(state, before)

    # Checkpoints

    def fold(self, ready: OwnState) -> tuple[OwnState, JournalPart]:
        """Fold what the journal collected into the state, and make that durable."""
        folded, part = self.folded(ready)
        _, leaks = folded.redacted(self.workspace.redactor)
        moved = (part.id, part.end) != (ready.journal_id, ready.journal_offset)
        unchanged = folded is ready.state and not moved and not leaks
        if unchanged and ready.standing == state_file.OURS:
            return ready, part
        make_session_files(self.workspace, self.session)
        # The state is about to say how far the journal is folded into it, so the journal has to be
        # durable up to there: calls are appended to it without waiting for the disk.
        if moved:
            self.journal.settle()
            self.workspace.at_step("journal-settled")
        ready = self.states.write(folded, ready, journal_id=part.id, journal_offset=part.end)
        return ready, part

    def folded(self, ready: OwnState) -> tuple[TaskState, JournalPart]:
        """Return the state with what the journal adds to it, and what of the journal counts."""
        from gitguard.state.capture import fold

        part = self.journal.read(ready.journal_id, ready.journal_offset)
        code = self.repository().checked_out_commit() if part.unfolded else ""
        return fold(ready.state, part.unfolded, self.now, code=code), part

    def origin(self, conversation: str = "", turn: int = 0) -> Origin:
        """Return where what the agent notes now comes from."""
        # Imported here, because a hook that only captures makes no item.
        from gitguard.state.items import Origin

        origin = Origin(when=self.now, conversation=conversation, turn=turn)
        return origin.at_commit(self.repository().checked_out_commit())

    def checkpoint(
        self,
        trigger: str,
        why: str,
        circumstances: Circumstances,
        *,
        ready: OwnState | None = None,
        if_changed: bool = False,
        look: Differences | None = None,
        restored: Callable[[], frozenset[str]] | None = None,
    ) -> Saved:
        """Take a checkpoint of the state in force; where git cannot be written it is pending.

        look is one at the files that was taken just now. restored tells which files were put back
        since the last one, and were not changed again; it is asked once they were looked at.
        if_changed takes none when the newest one holds the state already, as some triggers always
        do. Beside a branch that is not where this machine left it, a checkpoint is pending until a
        person decides. Raises what `state` raises, `MissingState` where the branch is gone, and
        `HeadAdvanced`, `Tampered` or `Untrusted` for the trigger `manual` and where another
        repository lies at this path.
        """
        ready = ready or self.state()
        before = self.last_look()
        newer_look, by_shell = self.worktree.take_in_shell_edits(before)
        self.worktree.take_in_commit(before)
        look = newer_look or look
        ready, part = self.fold(ready)
        self.write_summary(ready.state)
        from gitguard.model.triggers import ONLY_IF_CHANGED

        try:
            if ready.standing == state_file.PENDING:
                raise Pending(ready.problem)
            head = self.own_head(returns_branch=True)
            anchor = head.anchor
            is_held = anchor is not None and anchor.state_sha256 == ready.sha256
            if is_held and (if_changed or trigger in ONLY_IF_CHANGED):
                look = self._look_before_loss(trigger, head, before, look)
                if look is None:
                    return Saved(trigger)
            seen = self.worktree.see(
                head.code.head, before, look, by_shell=by_shell, restored=restored
            )
            if seen is not None:
                seen = self.worktree.with_writings(seen, before, _next_number(head))
            saved = self._commit(
                trigger, why, circumstances, ready=ready, part=part, head=head, seen=seen
            )
        except (Pending, NotWritable, *NOT_OURS) as error:
            if self._is_raised(trigger, error):
                raise
            return self._waiting(trigger, error)
        if seen is not None:
            self.worktree.keep(seen, saved.commit, part)
        self.workspace.at_step("look-kept")
        files.remove(self._waiting_path)
        self.workspace.at_step("waiting-removed")
        self._begin_journal(ready, part)
        self.sweep()
        self.worktree.tidy(before, seen, trigger)
        left = before.look.commit if before is not None else ""
        return saved.replace(left=left) if left != head.code.head else saved

    def _look_before_loss(
        self, trigger: str, head: Head, before: KeptLook | None, look: Differences | None
    ) -> Differences | None:
        """Return a look at files that a command is about to destroy; None without any new ones.

        The state is in a checkpoint already, but somebody else may have changed files since.
        """
        from gitguard.model.triggers import BEFORE_DESTRUCTIVE

        if trigger != BEFORE_DESTRUCTIVE or not self.config.files.enabled:
            return None
        look = self.worktree.compare_again(head.code.head, look)
        return None if before is not None and before.look == look else look

    def _is_raised(self, trigger: str, error: GitguardError) -> bool:
        """Say whether an error ends a command, which else goes on and leaves a pending checkpoint.

        Whoever asks for a checkpoint is told why there is none.
        """
        from gitguard.model.triggers import MANUAL

        if isinstance(error, NOT_OURS):
            return trigger == MANUAL or self._is_refused()
        return isinstance(error, NotWritable) and not files.is_refusal(error)

    def _begin_journal(self, ready: OwnState, part: JournalPart) -> None:
        """Begin a new journal where the old one has to end; a checkpoint has all that it held."""
        anew = self.journal.rotate(part)
        if anew is not None:
            self.workspace.at_step("journal-rotated")
            self.states.write(ready.state, ready, journal_id=anew.id, journal_offset=anew.end)

    def _is_refused(self) -> bool:
        """Say whether nothing of ours may be used here: another repository lies at this path."""
        from gitguard.store.session.standing import REFUSE, judge

        return judge(self.chain.head(), self.chain.ref).action == REFUSE

    @property
    def waits(self) -> bool:
        """Whether a checkpoint is pending, for the next run that can write."""
        return os.path.exists(self._waiting_path)

    @property
    def _waiting_path(self) -> str:
        return self.workspace.working_file(self.session, "waiting")

    def _waiting(self, trigger: str, error: GitguardError) -> Saved:
        saved = Saved(trigger, pending=error.message, way_out=error.hint)
        try:
            reason = self.workspace.redactor.text(error.message)
            files.write_bytes(self._waiting_path, f"{reason}\n".encode())
        except NotWritable:
            return saved  # the state itself is safe; only the mark is not there
        self.workspace.at_step("waiting-marked")
        return saved

    def sweep(self) -> None:
        """Remove what processes that died left unfinished in the folders of this session."""
        from gitguard.store.session.restore_records import RestoreRecords

        workspace = self.workspace
        folders = (
            workspace.folder,
            workspace.state_folder,
            workspace.places.state_home,
            workspace.session_folder(self.session),
            workspace.anchor_folder(self.session),
        )
        for folder in folders:
            files.sweep(folder, self.clock())
        RestoreRecords(workspace, self.session).sweep()
        self.worktree.file_store.sweep()
        self.chain.sweep()

    def _commit(
        self,
        trigger: str,
        why: str,
        circumstances: Circumstances,
        ready: OwnState,
        part: JournalPart,
        head: Head,
        seen: Seen | None,
    ) -> Saved:
        from gitguard.state.checkpoint import SNAPSHOT_FILE
        from gitguard.store.session.composing import compose
        from gitguard.store.session.joined_lanes import joined_path, read_joined

        sequence = _next_number(head)
        record, contents = compose(
            ready.state,
            part,
            sequence,
            trigger=trigger,
            why=why,
            code=head.code,
            circumstances=circumstances,
            now=self.clock(),
            redactor=self.workspace.redactor,
            written=ready.document,
        )
        if seen is not None:
            record = record.replace(files=seen.snapshot, written=seen.written)
        joined = joined_path(self.workspace, self.session)
        record = record.replace(seen=read_joined(joined))
        self.write_snapshot(contents[SNAPSHOT_FILE])
        commit = self.chain.commit(head, record, contents, ready.sha256)
        files.remove(joined)
        return Saved(trigger, commit, sequence)

    # The worktree

    @property
    def worktree(self) -> SessionWorktree:
        """What the session keeps of the user's files."""
        if self._worktree is None:
            from gitguard.store.session.session_worktree import SessionWorktree

            self._worktree = SessionWorktree(
                self.workspace,
                self.session,
                self.repository(),
                journal=self.journal,
                config=self.config.files,
            )
        return self._worktree

    def last_look(self) -> KeptLook | None:
        """Return what the worktree looked like at the newest checkpoint, None if nobody knows."""
        try:
            anchor = self.chain.anchors.read()
        except GitguardError:
            return None  # whoever commits on it says what is wrong with it
        return self.worktree.kept_at(anchor.committed) if anchor is not None else None

    def changes_since_snapshot(self) -> Differences | None:
        """Look at the files; return None if they are as in the last snapshot, or there is none."""
        before = self.last_look()
        if before is None or not before.is_whole:
            return None
        commit = self.repository().checked_out_commit() or self.own_head().code.head
        look = self.worktree.compare_again(commit, None)
        return look if look != before.look else None

    def write_snapshot(self, data: bytes) -> None:
        """Replace the working copy of the newest snapshot by one without secrets."""
        from gitguard.state.checkpoint import SNAPSHOT_FILE

        files.write_bytes(self.workspace.working_file(self.session, SNAPSHOT_FILE), data)
        self.workspace.at_step("snapshot-written")

    def own_head(self, *, returns_branch: bool = False) -> Head:
        """Return a head that may be committed on, or raise with both sides and the ways out.

        returns_branch is whether a deleted branch is put back first; then the lock is held.
        """
        from gitguard.store.session.standing import PUT_BACK, head_problem, judge

        head = self.chain.head(settle=True)
        if returns_branch and judge(head, self.chain.ref).action == PUT_BACK:
            head = self.chain.put_back(head)
        refusal = head_problem(head, self.chain.ref)
        if refusal is not None:
            raise refusal
        return head

    def readable_head(self) -> Head:
        """Return a head beside which our state may be handed out, committed or not.

        Raises `MissingState` where the branch is gone for good, and why nothing may be used.
        """
        return self.judged_head()[0]

    def judged_head(self) -> tuple[Head, HeadVerdict]:
        """Return the same head with what is to be said of it; raises as `readable_head` does."""
        return self._usable(self.chain.head())

    def usable_head(self, head: Head | None = None) -> tuple[Head, HeadVerdict]:
        """Return the same after a deleted branch was put back, once; the lock is held.

        head is one that was looked at just now. Where the branch cannot be put back, our state goes
        on, and the verdict says why.
        """
        from gitguard.store.session.standing import PUT_BACK, judge

        head = head or self.chain.head(settle=True)
        if judge(head, self.chain.ref).action != PUT_BACK:
            return self._usable(head)
        try:
            return self._usable(self.chain.put_back(head))
        except MissingState:
            raise
        except GitguardError as error:
            head, verdict = self._usable(head)
            return head, verdict.replace(problem=error)

    def _usable(self, head: Head) -> tuple[Head, HeadVerdict]:
        from gitguard.store.session.standing import judge

        verdict = judge(head, self.chain.ref)
        if verdict.problem is not None and not verdict.goes_on:
            raise verdict.problem
        return head, verdict

    def about_branch(self, *, is_locked: bool) -> str:
        """Return why no checkpoint is taken, or what became of the branch; empty where all is well.

        is_locked is whether the lock is held, so that a deleted branch is put back and what is said
        once counts as said. Raises as `readable_head` does.
        """
        head, verdict = self.usable_head() if is_locked else self.judged_head()
        if verdict.problem is not None:
            return verdict.problem.message
        return self.take_notice(head, verdict) if is_locked else verdict.notice

    def take_notice(self, head: Head, verdict: HeadVerdict) -> str:
        """Return what is to be said once of a head that is ours again; the lock is held."""
        from gitguard.store.session.anchor import RETURN_SAID

        if verdict.notice:
            self.chain.note_return(head, RETURN_SAID)
        return verdict.notice

    def refuse_moved(self) -> None:
        """Raise what is to be said first where working files are edited and the branch moved."""
        from gitguard.store.session.standing import weightier

        refusal = weightier(EditedState(""), self.chain.head(), self.chain.ref)
        if not isinstance(refusal, EditedState) and refusal is not None:
            raise refusal

    # Summary

    def mend_summary(self, state: TaskState) -> str:
        """Write the summary if it conflicts with the state; return how, as a unified diff."""
        conflict = self.summary_conflict(state, sets_aside=True)
        self.write_summary(state)
        return conflict

    def summary_conflict(self, state: TaskState, *, sets_aside: bool = False) -> str:
        """Return how the summary differs from the state as a unified diff, empty if it does not."""
        from gitguard.model.text import diff_texts

        before = self.states.read_summary(sets_aside=sets_aside) or ""
        after = self._summary_of(state)
        if before == after:
            return ""
        return diff_texts(before, after, names=("summary.md", "rendered from the state"))

    def write_summary(self, state: TaskState) -> bool:
        """Write the summary rendered from the state if it differs; say whether it did."""
        summary = self._summary_of(state)
        if self.states.read_summary() == summary:
            files.take_time_of(self.states.summary_path, self.states.path)
            return False
        files.write_bytes(self.states.summary_path, summary.encode())
        files.take_time_of(self.states.summary_path, self.states.path)
        self.workspace.at_step("summary-written")
        return True

    def _summary_of(self, state: TaskState) -> str:
        from gitguard.store.session.composing import render_summary

        return render_summary(state.redacted(self.workspace.redactor)[0])


def _next_number(head: Head) -> int:
    return (head.anchor.sequence if head.anchor else 0) + 1
