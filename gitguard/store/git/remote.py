"""A remote of the user's, for commands by which a person pushes to it.

Nothing else talks to a remote. The push uses the user's own configuration and credentials, no hooks,
and no program that the repository's configuration names.
"""

from __future__ import annotations

import re

from gitguard.errors import GitFailed, InvalidConfig, InvalidInput, RefMoved
from gitguard.model.text import one_line, shorten, visible
from gitguard.model.value import Value
from gitguard.store.git.objects import is_object_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitguard.store.git.plumbing import GitOutcome, Plumbing

_NAME = re.compile(r"[\w][\w./-]*")
_USER_INFO = re.compile(r"//[^/@\s]*@")
_PROGRAMS = (
    r"^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper"
    r"|remote\..*\.(receivepack|uploadpack|vcs))$"
)
"""Settings that name a program which git runs to reach a remote."""
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
        found = git.attempt("config", "--get-all", f"remote.{name}.url")
        if not _NAME.fullmatch(name) or found.returncode or not found.stdout.strip():
            raise InvalidInput(
                f"there is no remote `{shorten(one_line(name), 80)}` in this repository",
                "See `git remote -v`, and name one with --remote",
            )
        pushed = git.attempt("config", "--get-all", f"remote.{name}.pushurl").stdout.strip()
        url = (pushed or found.stdout).decode("utf-8", "replace").strip()
        self.name = name
        self.address = _USER_INFO.sub("//", one_line(url))
        """Where it is, without a user's name and password."""
        self._git = git

    def refs(self, pattern: str) -> dict[str, str]:
        """Return the remote's refs that match: name and id."""
        self._refuse_programs()
        outcome = self._git.attempt_as_user("ls-remote", "--refs", self.name, pattern)
        if outcome.returncode:
            raise self._failure(f"`git ls-remote {self.name}` failed", outcome)
        lines = outcome.stdout.decode("utf-8", "replace").splitlines()
        rows = (line.partition("\t") for line in lines)
        return {name: commit for commit, _, name in rows if is_object_id(commit)}

    def push(self, updates: Sequence[RefUpdate]) -> None:
        """Point refs of the remote at commits, all or none, if each still is where it was."""
        self._refuse_programs()
        leases = [f"--force-with-lease={update.name}:{update.old}" for update in updates]
        refspecs = [f"{update.commit}:{update.name}" for update in updates]
        options = ("--porcelain", "--no-verify", "--atomic", "--no-follow-tags", "--no-signed")
        outcome = self._git.attempt_as_user(
            "push", *options, "--recurse-submodules=no", *leases, self.name, *refspecs
        )
        if b"(stale info)" in outcome.stdout:
            raise RefMoved(
                f"nothing was pushed: somebody else changed a ref on `{self.name}` meanwhile",
                "Run the command again, which shows what is there now",
            )
        if outcome.returncode:
            raise self._failure(f"`{self.name}` did not take the push", outcome)

    def _refuse_programs(self) -> None:
        """Refuse settings of the repository that name programs; anybody could have put them."""
        found = self._git.attempt("config", "--null", "--name-only", "--get-regexp", _PROGRAMS)
        names = sorted(set(found.stdout.decode("utf-8", "replace").split("\0")) - {""})
        if names:
            raise InvalidConfig(
                f"the repository's own configuration names a program in `{one_line(names[0])}`, "
                "which a push would run",
                "Set it with `git config --global` if you want it, and remove it here with "
                f"`git config --unset-all {one_line(names[0])}`",
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
