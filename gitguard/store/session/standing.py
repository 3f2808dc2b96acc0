"""How the head of a session's branch stands to what this machine wrote, and what follows from it.

`judge` is the one decision: hooks, `gate`, `bundle`, `resume`, `ensure` and `status` all ask it, so
they answer alike.
"""

from __future__ import annotations

from gitguard.errors import (
    EditedState,
    GitguardError,
    HeadAdvanced,
    MissingState,
    Pending,
    Tampered,
    Untrusted,
)
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.state.checkpoint import Code, checkpoint_name
from gitguard.store.session.anchor import RETURN_NOTED, RETURNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.session.anchor import Anchor

NONE = "none"
OURS = "ours"
ADVANCED = "advanced"
MOVED = "moved"
DELETED = "deleted"
UNTRUSTED = "untrusted"
REMOTE_ONLY = "remote-only"
SYMBOLIC = "symbolic"
OF_OTHERS = "of-others"
"""Another writer's lane, which nobody here trusts."""
GONE = "gone"
"""Git no longer finds every object of the anchored checkpoint: it is gone, or damaged in a pack."""

GO_ON = "go-on"
"""The head is ours, or there is none yet."""
PUT_BACK = "put-back"
"""Somebody deleted the branch: whoever holds the lock puts it back."""
WAIT = "wait"
"""Our state goes on, and is committed once the branch can be moved."""
HOLD = "hold"
"""Our state goes on beside a head that is not ours; nothing is committed until a person decides."""
STOP = "stop"
"""The branch is gone for good, and with it the durable state: `MISSING_STATE`."""
REFUSE = "refuse"
"""Nothing of ours may be used here."""


class Head(Value):
    """Where the session's ref points, and how that stands to what this machine wrote."""

    standing: str
    """none, ours, advanced, moved, deleted, gone, symbolic, untrusted, remote-only or of-others."""
    id: str = ""
    anchor: Anchor | None = None
    code: Code = Code()
    checked_out_in: str = ""
    remote: str = ""
    """The remote-tracking ref of the session, when there is nothing else."""
    replaced_repository: bool = False
    """Whether the anchor belongs to another repository, which lay at the same path before."""
    lost: str = ""
    """Our newest checkpoint's commit in that one."""
    was_archived: bool = False
    """Whether the session was being archived, and died between its branch and its anchor."""
    points_to: str = ""
    """The ref that a symbolic one stands for."""
    doubt: str = ""
    """Why a head ahead of ours was not taken for its signatures, where those count."""

    @property
    def committed(self) -> str:
        """The newest checkpoint of ours, empty before the first."""
        return self.anchor.committed if self.anchor else ""

    @property
    def own_anchor(self) -> Anchor:
        """The anchor of a head that has one; `ValueError` for one that this machine never wrote."""
        if self.anchor is None:
            raise ValueError(f"a head that is {self.standing} has no anchor")
        return self.anchor


class HeadVerdict(Value):
    """What may be done with a session beside its head, and why."""

    action: str
    """go-on, put-back, wait, hold, stop or refuse."""
    problem: GitguardError | None = None
    """Why nothing is committed now, with the way out; None where it is."""
    notice: str = ""
    """What is to be said once of a head that is ours again."""

    @property
    def goes_on(self) -> bool:
        """Whether our state may be handed out and changed, committed or not."""
        return self.action not in (STOP, REFUSE)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the resume block has to know of it, a sentence without its stop each."""
        if self.problem is None:
            return (self.notice,) if self.notice else ()
        return (f"no checkpoint is taken: {self.problem.message}; see `gitguard repair --dry-run`",)

    @property
    def line(self) -> str:
        """The line that tells an agent of it, empty where there is nothing to tell."""
        if self.problem is None:
            return f"[gitguard: {one_line(self.notice)}]" if self.notice else ""
        return paused_line(self.problem)


def paused_line(problem: GitguardError) -> str:
    """Return the line that tells an agent that no checkpoint is taken, and why."""
    return (
        f"[gitguard: no checkpoint is taken: {one_line(problem.message)}. Tell the user; `gitguard "
        "repair --dry-run` lists the ways out.]"
    )


def judge(head: Head, ref: str) -> HeadVerdict:
    """Decide what may be done beside a head, from anchor, branch tip and objects alone."""
    problem = head_problem(head, ref)
    if problem is None and head.checked_out_in:
        return HeadVerdict(WAIT, checked_out(head, ref))
    if problem is None:
        return HeadVerdict(GO_ON, notice=returned_notice(head, ref))
    if isinstance(problem, MissingState):
        return HeadVerdict(STOP, problem)
    if head.replaced_repository and head.standing != UNTRUSTED:
        return HeadVerdict(REFUSE, problem)
    action = {DELETED: PUT_BACK, REMOTE_ONLY: WAIT}.get(head.standing, HOLD)
    return HeadVerdict(action, problem)


def returned_notice(head: Head, ref: str) -> str:
    """Say that a deleted branch was put back, empty where that was said."""
    anchor = head.anchor
    if anchor is None or anchor.branch_return != RETURNED:
        return ""
    return (
        f"somebody deleted `{ref}`; gitguard put it back at {checkpoint_name(anchor.sequence)}. To "
        "forget it, delete it again and run `gitguard repair --forget`"
    )


def checked_out(head: Head, ref: str) -> Pending:
    """Return why a branch that a worktree has checked out is not moved."""
    return Pending(
        f"`{ref}` is checked out in `{head.checked_out_in}` and is not moved",
        "Check out another branch there; the next checkpoint then commits",
    )


def symbolic(head: Head, ref: str) -> Tampered:
    """Return why a symbolic ref is not used as a branch."""
    return Tampered(
        f"`{ref}` is a symbolic ref to `{head.points_to}`, which is refused",
        f"Remove it with `git symbolic-ref -d {ref}` and run `gitguard repair --archive-theirs`",
    )


def head_problem(head: Head, ref: str) -> GitguardError | None:
    """Say why nothing may be committed on top of a head, None when it is ours or there is none."""
    if head.replaced_repository and head.standing != UNTRUSTED:
        return Tampered(
            f"another git directory is here now: the checkpoint {head.lost[:12]} that this "
            f"machine wrote to `{ref}` is not in it",
            "If that is intended, run `gitguard repair --accept` to continue the state here in a "
            "new history, or `gitguard ensure` without a state here; otherwise restore the old git "
            "directory",
        )
    if head.standing == REMOTE_ONLY:
        return Pending(
            f"the remote already has a session `{head.remote.rpartition('/gitguard/')[2]}`",
            "Continue it with `gitguard repair --trust`, or start another with `gitguard session "
            "use NAME`",
        )
    return _standing_problem(head, ref)


def _standing_problem(head: Head, ref: str) -> GitguardError | None:
    ours = head.committed[:12] or "nothing"
    theirs = head.id[:12]
    if head.standing == ADVANCED:
        doubt = f"; it is not taken unasked: {head.doubt}" if head.doubt else ""
        return HeadAdvanced(
            f"`{ref}` is at {theirs}, ahead of {ours} on which our state is based{doubt}",
            "Look at it with `gitguard log --untrusted`, then take it with `gitguard repair "
            f"--take-theirs --head {theirs}`, or keep ours with `gitguard session fork NAME`",
        )
    if head.standing == MOVED:
        return Tampered(
            f"`{ref}` is at {theirs}, which does not follow from {ours}, the last commit that this "
            "machine wrote there",
            "Put ours back with `gitguard repair --archive-theirs`, or look at theirs with "
            f"`gitguard log --untrusted` and take it with `gitguard repair --take-theirs --head "
            f"{theirs}`",
        )
    if head.standing == SYMBOLIC:
        return symbolic(head, ref)
    if head.standing in (DELETED, GONE):
        return _absence_problem(head, ref)
    if head.standing == OF_OTHERS:
        writer = ref.rpartition("/")[2]
        return Untrusted(
            f"`{ref}` is the lane of another writer, whom nobody here trusts",
            f"Look at it with --untrusted; if it is yours, run `gitguard sync --trust {writer}`",
        )
    if head.standing == UNTRUSTED:
        return Untrusted(
            f"`{ref}` is at {theirs}, and this machine has no record of writing it",
            "Look at it with `gitguard log --untrusted` and `gitguard show --untrusted`, then run "
            "`gitguard repair --trust`, or begin another session with `gitguard session use NAME`",
        )
    return None


def _absence_problem(head: Head, ref: str) -> GitguardError:
    """Say why a branch that is deleted, or whose objects are, is not built on."""
    ours = head.committed[:12]
    forget = "or forget it with `gitguard repair --forget`"
    if head.standing == GONE:
        begin = "" if head.id else f"; {forget}, then run `gitguard ensure`"
        return MissingState(
            f"git no longer finds all of the anchored checkpoint {ours} in the repository",
            "Continue from this machine's copy of the state: `gitguard session fork NAME` starts a "
            f"new history and leaves this one as it is{begin}",
        )
    if head.own_anchor.branch_return not in ("", RETURN_NOTED):
        return MissingState(
            f"`{ref}` is gone again: gitguard put it back once, and somebody deleted it since",
            f"Put the branch back with `gitguard repair --archive-theirs`, {forget}, then run "
            "`gitguard ensure`",
        )
    return Tampered(
        f"`{ref}` is gone; this machine wrote {ours} there",
        f"Put the branch back with `gitguard ensure`, {forget}",
    )


def reading_problem(head: Head, ref: str) -> GitguardError | None:
    """Say why nothing of a branch may be shown as ours, None when all of it is."""
    if head.standing == REMOTE_ONLY:
        return Untrusted(
            f"only `{head.remote}` has this session, at {head.id[:12]}, and this machine has no "
            "record of writing it",
            "Look at it with `gitguard log --untrusted`, then adopt it with `gitguard repair "
            "--trust`",
        )
    return head_problem(head, ref)


def require_no_foreign_head(head: Head, ref: str) -> None:
    """Raise why our state may not stand beside a head; a commit that only has to wait may."""
    refusal = head_problem(head, ref)
    if refusal is not None and not isinstance(refusal, Pending):
        raise refusal


def weightier(error: GitguardError | None, head: Head, ref: str) -> GitguardError | None:
    """Return what is to be said of a head and of an error of the working files.

    Edited files say less than a branch that was moved: both come with a backup that is put back.
    """
    refusal = head_problem(head, ref)
    is_moved = head.standing in (MOVED, DELETED, GONE, SYMBOLIC)
    return refusal if error is None or (is_moved and isinstance(error, EditedState)) else error
