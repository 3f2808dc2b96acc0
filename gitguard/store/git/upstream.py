"""What a branch of the user's is pushed to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.git.plumbing import Plumbing


def upstream_of(git: Plumbing, branch: str) -> str:
    """Return a branch's upstream and how far apart they are, as in `origin/main, ahead 1`.

    Empty for a branch without one, and where git does not tell.
    """
    fields = "--format=%(upstream:short)%00%(upstream:track,nobracket)"
    outcome = git.attempt("for-each-ref", fields, f"refs/heads/{branch}")
    name, _, track = outcome.stdout.decode("utf-8", "replace").strip().partition("\0")
    return f"{name}, {track}" if track else name
