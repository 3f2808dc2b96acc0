"""Whether another branch is checked out than the one on which the session was chosen.

Every prompt asks this, so it starts no git and imports little; `following` does the rest.
"""

from __future__ import annotations

from gitguard.model.text import encodable
from gitguard.model.value import Value
from gitguard.store.session.current import ChosenBranch, choose_branch, chosen_branch
from gitguard.store.session.host_session import read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.workspace import Session, Workspace

_BRANCHES = "refs/heads/"


class BranchChange(Value):
    """A branch that is checked out in place of the one on which the session was chosen."""

    branch: str
    before: str
    """The branch or detached commit on which the current session was chosen; empty if unknown."""
    was_refused: bool = False
    """Whether the branch's session could not be used before, as the agent was told."""


def branch_change(
    workspace: Workspace, repository: Repository, session: Session, ref_prefix: str
) -> BranchChange | None:
    """Return the change of branch that the current session has not followed yet.

    A detached HEAD is no branch, a checkpoint branch holds no code, and in the middle of a rebase,
    bisect or merge the branch will be back.
    """
    checked_out = repository.checked_out()
    if not checked_out.startswith(_BRANCHES) or checked_out.startswith(ref_prefix):
        return None
    branch = encodable(checked_out.removeprefix(_BRANCHES))
    chosen = chosen_branch(workspace, session)
    before = chosen.branch if chosen else read_record(workspace, session).own_branch
    if branch == before or workspace.redactor.text(branch) != branch:
        return None
    if workspace.place.operation:
        return None
    was_refused = chosen is not None and chosen.refused == branch
    return BranchChange(branch, before, was_refused)


def refuse(workspace: Workspace, session: Session, change: BranchChange) -> None:
    """Note that a branch's session could not be used, so that it is said only once."""
    choose_branch(workspace, ChosenBranch(session.name, change.before, change.branch))
