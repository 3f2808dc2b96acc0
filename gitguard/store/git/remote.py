"""A remote of the user's, for commands by which a person pushes to it.

Nothing else talks to a remote. The push uses the user's own configuration and credentials. It runs
no hooks, and the repository's configuration decides neither what it runs nor where it goes.
"""

from __future__ import annotations

import re

from gitguard.errors import GitFailed, InvalidConfig, InvalidInput, RefMoved
from gitguard.model.commit import is_object_id
from gitguard.model.text import one_line, shorten, visible
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.store.git.plumbing import GitOutcome, Plumbing

PUBLISHED_REFS = "refs/gitguard/published/"
"""Where this machine remembers what it published: by remote, then by session."""
_NAME = re.compile(r"[\w][\w./-]*")
_USER_INFO = re.compile(r"//[^/@\s]*@")
_DECIDING = (
    r"^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper"
    r"|url\..*\.(insteadof|pushinsteadof))$"
)
"""Settings that name a program by which git reaches a remote, or put another address in place."""
_SAID = ("!", "remote:", "fatal:", "error:", "ERROR:", "ssh:")
"""How lines begin that say why a remote was not reached, or did not take something."""
_LONGEST_COMPLAINT = 600


class RefUpdate(Value):
    """A ref of a remote, the commit it is to have, and the one it has now."""

    name: str
    commit: str
    old: str = ""
    """Empty where the remote has no such ref."""


class Remote:
    """One remote of a repository."""

    def __init__(self, git: Plumbing, name: str) -> None:
        """Look a remote up; raise `InvalidInput` for one that is not configured."""
        self._git = git
        self._refuse_settings()
        is_name = _NAME.fullmatch(name) is not None
        found = (
            git.attempt_as_user("remote", "get-url", "--push", "--all", name) if is_name else None
        )
        if found is None or found.returncode:
            raise InvalidInput(
                f"there is no remote `{shorten(one_line(name), 80)}` in this repository",
                "See `git remote -v`, and name one with --remote",
            )
        addresses = found.stdout.decode("utf-8", "surrogateescape").splitlines()
        if len(addresses) != 1 or addresses[0].startswith("-"):
            raise InvalidInput(
                f"the remote `{name}` has {len(addresses)} addresses to push to, or one that git "
                "would read as an option",
                f"See `git remote get-url --push --all {name}`, and name a remote with one address",
            )
        self.name = name
        self._address = addresses[0]

    @property
    def address(self) -> str:
        """Where a push goes, without a user's name and password."""
        return _USER_INFO.sub("//", one_line(self._address))

    def refs(self, pattern: str) -> dict[str, str]:
        """Return the remote's refs that match: name and id."""
        outcome = self._git.attempt_as_user("ls-remote", "--refs", self._address, pattern)
        if outcome.returncode:
            raise self._failure(f"`git ls-remote {self.name}` failed", outcome)
        lines = outcome.stdout.decode("utf-8", "replace").splitlines()
        rows = (line.partition("\t") for line in lines)
        return {name: commit for commit, _, name in rows if is_object_id(commit)}

    def push(self, updates: Sequence[RefUpdate]) -> None:
        """Point refs of the remote at commits, all or none, if each still is where it was."""
        leases = [f"--force-with-lease={update.name}:{update.old}" for update in updates]
        refspecs = [f"{update.commit}:{update.name}" for update in updates]
        options = ("--porcelain", "--no-verify", "--atomic", "--no-follow-tags", "--no-signed")
        outcome = self._git.attempt_as_user(
            "push", *options, "--recurse-submodules=no", *leases, self._address, *refspecs
        )
        if b"(stale info)" in outcome.stdout:
            raise RefMoved(
                f"nothing was pushed: somebody else changed a ref on `{self.name}` meanwhile",
                "Run the command again, which shows what is there now",
            )
        if outcome.returncode:
            raise self._failure(f"`{self.name}` did not take the push", outcome)

    def _refuse_settings(self) -> None:
        """Refuse what the repository's configuration says of a push; anybody could have put it."""
        found = self._git.attempt("config", "--null", "--name-only", "--get-regexp", _DECIDING)
        names = sorted(set(found.stdout.decode("utf-8", "replace").split("\0")) - {""})
        if names:
            raise InvalidConfig(
                f"the repository's own configuration sets `{one_line(names[0])}`, which would "
                "decide what a push runs or where it goes",
                "Remove it with `git config --unset-all`; if you want it, set it with "
                "`git config --global`",
            )

    def _failure(self, what: str, outcome: GitOutcome) -> GitFailed:
        text = f"{outcome.stdout.decode('utf-8', 'replace')}\n"
        text += outcome.stderr.decode("utf-8", "replace")
        lines = [line.strip() for line in visible(text).splitlines()]
        said = [line for line in lines if line.startswith(_SAID)] or [
            line for line in lines if line
        ]
        words = _USER_INFO.sub("//", one_line("; ".join(said))) or "nothing"
        return GitFailed(
            f"{what}; it said: {shorten(words, _LONGEST_COMPLAINT)}",
            f"gitguard cannot ask for a password: check that `git push {self.name}` works without "
            "one being typed, and that you may write there",
        )
