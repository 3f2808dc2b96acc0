"""A piece of work: the code commits of a range, and the checkpoints that led to each of them."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.checkpoint import Checkpoint

EXACT, PATCH, TRAILER, SQUASHED, LIKELY = CERTAINTIES = (
    "exact",
    "same patch",
    "trailer",
    "squashed",
    "likely",
)
"""How a code commit was tied to checkpoints, the surest way first: a checkpoint names the commit;
it names one with the same patch; the commit's own trailer names the checkpoint; the commit has the
patch of several that checkpoints name; files and times agree."""


class ChangedPath(Value):
    """A file that a code commit changed."""

    path: str
    added: int | None = None
    """Lines; None for a binary file."""
    removed: int | None = None


class CodeChange(Value):
    """A commit of the user's code, and what it changed against its first parent."""

    id: str
    parents: tuple[str, ...]
    subject: str
    """In one printable line, without secrets."""
    authored_at: int
    """Unix seconds; a rebase and an amend keep it."""
    paths: tuple[ChangedPath, ...] = ()


class Link(Value):
    """A code commit and the checkpoints of one session that stand around it."""

    commit: CodeChange
    session: str
    """The session's key."""
    certainty: str
    reason: str
    """One sentence on how the link was made."""
    before: Checkpoint | None
    """The last one before work on the commit began; None where the session began with it, or where
    that one cannot be read."""
    after: Checkpoint
    """The one that knows all that became known while the commit was made."""
    between: tuple[Checkpoint, ...] = ()
    """Those taken after `before`, up to and with `after`, oldest first."""
    is_ours: bool = True
    """Whether this machine wrote the session's history, or trusts it."""
    is_cut: bool = False
    """Whether earlier checkpoints cannot be read, so that nobody can say what was new in it."""
    is_past_ours: bool = False
    """Whether it leads to what somebody put on a branch of ours, or in its place."""


class Piece(Value):
    """The commits of a range, oldest first, and how each is tied to checkpoints."""

    base: str
    """A commit id; empty for everything up to the head."""
    head: str
    commits: tuple[CodeChange, ...]
    links: tuple[Link, ...]
    unlinked: tuple[CodeChange, ...] = ()
    """Commits that no checkpoint could be tied to."""
    notes: tuple[str, ...] = ()
    """What a reviewer has to know of the links, such as that the clone is shallow."""

    def up_to_ours(self) -> Piece:
        """Return the piece without what lies past the heads that this machine wrote."""
        links = tuple(link for link in self.links if not link.is_past_ours)
        tied = {link.commit.id for link in links}
        unlinked = tuple(commit for commit in self.commits if commit.id not in tied)
        return self.replace(links=links, unlinked=unlinked)
