"""What git says about a worktree's files: asked by commands that people run, never by hooks."""

from __future__ import annotations

from gitguard.store.git.repository import Repository


class Worktree(Repository):
    """The door to git, for questions about files and remotes."""

    def tracked(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return those of the names, relative to the worktree, that the index tracks."""
        return _names(self.git.run("ls-files", "-z", "--cached", "--full-name", "--", *names))

    def ignored(self, names: tuple[str, ...]) -> frozenset[str]:
        """Return those of the names that git ignores; they need not exist."""
        # The command refuses to run with the literal path names that the door asks for.
        options = ("--no-literal-pathspecs", "check-ignore", "-z", "--stdin")
        outcome = self.git.attempt(*options, stdin="\0".join(names).encode())
        if outcome.returncode not in (0, 1):
            raise self.git.failure("check-ignore", outcome)
        return _names(outcome.stdout)

    def remotes(self) -> tuple[str, ...]:
        """Return the names of the repository's remotes."""
        outcome = self.git.attempt(
            "config", "-z", "--name-only", "--get-regexp", r"^remote\..*\.url$"
        )
        keys = _names(outcome.stdout)
        return tuple(sorted(n.removeprefix("remote.").removesuffix(".url") for n in keys))


def _names(listed: bytes) -> frozenset[str]:
    return frozenset(name.decode("utf-8", "replace") for name in listed.split(b"\0") if name)
