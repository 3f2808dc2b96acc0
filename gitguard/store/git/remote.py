"""A remote of the user's: `Remote` for what a person publishes, `LaneRemote` for lanes.

Nothing else talks to a remote. Git uses the user's own configuration and credentials. It runs no
hooks, and the repository's configuration decides neither what it runs nor where it goes.
"""

from __future__ import annotations

import re

from gitguard.errors import GitFailed, InvalidConfig, InvalidInput, RefMoved
from gitguard.model.commit import is_object_id
from gitguard.model.text import one_line, shorten, visible
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
_ANSWER = re.compile(
    r"^(?:remote: |ERROR: |fatal: remote error|fatal: Authentication failed|fatal: protocol error"
    r"|fatal: could not read (?:Username|Password)|fatal: repository '.*' not found"
    r"|.*(?:returned error: \d{3}|Permission denied \(|not valid: ))",
    re.MULTILINE,
)
"""What git and SSH, which speak English here, print of a server that answered."""
_NO_REASON = "fatal: Could not read from remote repository."
"""What git says where the program that connects has said why, in words of its own."""
_LONGEST_COMPLAINT = 600
_ADDRESS = re.compile(r"[\w./~][^\s]*")
"""What is looked up as an address: a path, `host:path` or a URL, never an option."""
_FETCHING = (
    *("--quiet", "--no-tags", "--no-write-fetch-head", "--no-prune", "--no-recurse-submodules"),
    *("--no-auto-maintenance", "--no-filter", "--stdin"),
)
_PUSHING = (
    *("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed"),
    "--recurse-submodules=no",
)
_OBJECTS_CHECKED = ("fetch.fsckObjects=true",)
_NEVER_ASKS = {"GIT_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}
"""With an empty name git starts no program that asks for a password."""


class RefUpdate(Value):
    """A ref of a remote, the commit it is to have, and the one it has now."""

    name: str
    commit: str
    old: str = ""
    """Empty where the remote has no such ref."""


def shown_name(name: str) -> str:
    """Return a remote's name, or its address without a user's name and password."""
    return _USER_INFO.sub("//", name)


class Remote:
    """One remote of a repository."""

    def __init__(self, git: Plumbing, name: str, *, may_be_address: bool = False) -> None:
        """Look a remote up; raise `InvalidInput` for one that is not configured.

        may_be_address is whether the name may be an address instead.
        """
        self._git = git
        self._refuse_settings()
        is_name = _NAME.fullmatch(name) is not None
        outcome = (
            git.attempt_as_user("remote", "get-url", "--push", "--all", name) if is_name else None
        )
        if (outcome is None or outcome.returncode) and may_be_address and _is_address(name):
            self.name, self._address = shown_name(name), name
            return
        if outcome is None or outcome.returncode:
            raise InvalidInput(
                f"there is no remote `{shorten(one_line(name), 80)}` in this repository",
                "See `git remote -v`, and name one with --remote",
            )
        addresses = outcome.stdout.decode("utf-8", "surrogateescape").splitlines()
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

    def for_lanes(self, remaining: Callable[[], float]) -> LaneRemote:
        """Return the same remote for lanes; remaining says how many seconds are left for it."""
        return LaneRemote(self._git, self._address, self._failure, remaining)

    def _refuse_settings(self) -> None:
        """Refuse what the repository's configuration says of a push; anybody could have put it."""
        outcome = self._git.attempt("config", "--null", "--name-only", "--get-regexp", _DECIDING)
        names = sorted(set(outcome.stdout.decode("utf-8", "replace").split("\0")) - {""})
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
        lines = [line.strip() for line in visible(text).splitlines() if line.strip()]
        complaints = [line for line in lines if line.startswith(_SAID)]
        if complaints in ([], [_NO_REASON]):
            complaints = lines
        words = _USER_INFO.sub("//", one_line("; ".join(complaints))).rstrip(".") or "nothing"
        return GitFailed(
            f"{what}; it said: {shorten(words, _LONGEST_COMPLAINT)}",
            f"gitguard cannot ask for a password: check that `git push {self.name}` works without "
            "one being typed, and that you may write there",
        )


class LaneRemote:
    """A remote to which lanes go: nothing is forced there, and nobody is asked."""

    def __init__(
        self,
        git: Plumbing,
        address: str,
        failure: Callable[[str, GitOutcome], GitFailed],
        remaining: Callable[[], float],
    ) -> None:
        """Talk to an address; remaining says how many seconds are left, failure words an error."""
        self._git = git
        self._address = address
        self._failure = failure
        self._remaining = remaining
        self._environment = {**_NEVER_ASKS, **_ssh_without_questions(git)}

    def refs(self, *patterns: str) -> dict[str, str]:
        """Return the remote's refs that match any pattern: name and id."""
        outcome = self._attempt("ls-remote", "--refs", self._address, *patterns)
        if outcome.returncode:
            is_answer = _ANSWER.search(outcome.stderr.decode("utf-8", "replace")) is not None
            what = "the remote did not list its refs" if is_answer else "the remote was not reached"
            raise self._failure(what, outcome)
        rows = (
            line.partition("\t") for line in outcome.stdout.decode("utf-8", "replace").split("\n")
        )
        return {name: commit for commit, _, name in rows if is_object_id(commit)}

    def fetch(self, refs: Mapping[str, str]) -> None:
        """Fetch refs of the remote, each into a ref of ours; objects are checked on the way.

        Ours then is where theirs is, even if that went back.
        """
        lines = "".join(f"+{theirs}:{ours}\n" for theirs, ours in refs.items())
        outcome = self._attempt(
            "fetch", *_FETCHING, self._address, stdin=lines.encode(), settings=_OBJECTS_CHECKED
        )
        if outcome.returncode:
            raise self._failure("nothing was fetched", outcome)

    def push(self, refs: Iterable[RefUpdate]) -> dict[str, str]:
        """Push commits to refs, each if it follows what is there; return why refs were refused."""
        refspecs = [f"{ref.commit}:{ref.name}" for ref in refs]
        outcome = self._attempt("push", *_PUSHING, self._address, *refspecs)
        rows = [line.split("\t") for line in outcome.stdout.decode("utf-8", "replace").split("\n")]
        refused = {
            row[1].partition(":")[2]: one_line(row[2])
            for row in rows
            if len(row) == 3 and row[0] == "!"
        }
        if outcome.returncode and not refused:
            raise self._failure("nothing was pushed", outcome)
        return refused

    def remove(self, ref: RefUpdate) -> bool:
        """Remove a ref of ours that is where it was and has been archived; say whether it is gone.

        Many servers take no such push.
        """
        lease = f"--force-with-lease={ref.name}:{ref.old}"
        return not self._attempt("push", *_PUSHING, lease, self._address, f":{ref.name}").returncode

    def _attempt(
        self, *arguments: str, stdin: bytes = b"", settings: tuple[str, ...] = ()
    ) -> GitOutcome:
        left = self._remaining()
        if left <= 0:
            raise GitFailed("the time for this remote is over")
        return self._git.attempt_as_user(
            *arguments, stdin=stdin, settings=settings, environment=self._environment, limit=left
        )


def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None and ("/" in text or ":" in text)


def _ssh_without_questions(git: Plumbing) -> dict[str, str]:
    """Return the variable by which SSH asks nothing: neither for a password nor about a host."""
    commands = [value for _, value in git.user_settings(r"^core\.sshcommand$")]
    command = git.callers_variable("GIT_SSH_COMMAND") or next(reversed(commands), "")
    if not command and git.callers_variable("GIT_SSH"):
        return {}
    return {"GIT_SSH_COMMAND": f"{command or 'ssh'} -o BatchMode=yes"}
