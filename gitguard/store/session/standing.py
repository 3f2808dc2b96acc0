"""How the head of a session's branch stands to what this machine wrote, and what that refuses."""

from __future__ import annotations

from gitguard.errors import EditedState, GitguardError, HeadAdvanced, Pending, Tampered, Untrusted
from gitguard.model.value import Value
from gitguard.store.session.checkpoint import Code

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


class Head(Value):
    """Where the session's ref points, and how that stands to what this machine wrote."""

    standing: str
    """none, ours, advanced, moved, deleted, untrusted or remote-only."""
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


def refuse_head(head: Head, ref: str) -> GitguardError | None:
    """Say why nothing may be committed on top of a head, None when it is ours or there is none."""
    if head.replaced_repository and head.standing != UNTRUSTED:
        return Tampered(
            f"another git directory lies here now: the checkpoint {head.lost[:12]} that this "
            f"machine wrote to `{ref}` is not in it",
            "If that is meant, `gitguard repair --accept` goes on with the state here in a new "
            "history, and where there is none `gitguard ensure` begins; else put the old git "
            "directory back",
        )
    if head.standing == REMOTE_ONLY:
        return Pending(
            f"this session exists only on `{head.remote}`",
            "Continue it with `gitguard repair --trust`, or start another with `gitguard session "
            "use NAME`",
        )
    return _refuse_by_standing(head, ref)


def _refuse_by_standing(head: Head, ref: str) -> GitguardError | None:
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
    if head.standing == DELETED:
        return Tampered(
            f"`{ref}` is gone; this machine wrote {ours} there",
            "Put the branch back with `gitguard repair --archive-theirs`, or forget it with "
            "`gitguard repair --forget`",
        )
    if head.standing == UNTRUSTED:
        return Untrusted(
            f"`{ref}` is at {theirs}, and this machine did not write it",
            "Look at it with `gitguard log --untrusted` and `gitguard show --untrusted`, then run "
            "`gitguard repair --trust`, or begin another session with `gitguard session use NAME`",
        )
    return None


def refuse_reading(head: Head, ref: str) -> GitguardError | None:
    """Say why nothing of a branch may be shown as ours, None when all of it is."""
    if head.standing == REMOTE_ONLY:
        return Untrusted(
            f"only `{head.remote}` has this session, at {head.id[:12]}, and this machine did not "
            "write it",
            "Look at it with `gitguard log --untrusted`, then adopt it with `gitguard repair "
            "--trust`",
        )
    return refuse_head(head, ref)


def refuse_foreign_head(head: Head, ref: str) -> None:
    """Raise why our state may not stand beside a head; a commit that only has to wait may."""
    refusal = refuse_head(head, ref)
    if refusal is not None and not isinstance(refusal, Pending):
        raise refusal


def weightier(error: GitguardError | None, head: Head, ref: str) -> GitguardError | None:
    """Return what is to be said of a head and of an error of the working files.

    Edited files say less than a branch that was moved: both come with a backup that is put back.
    """
    refusal = refuse_head(head, ref)
    is_moved = head.standing in (MOVED, DELETED)
    return refusal if error is None or (is_moved and isinstance(error, EditedState)) else error
