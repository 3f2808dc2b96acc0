"""Runs git: a short list of commands, with a scrubbed environment.

Only plumbing is run, because porcelain runs the repository's hooks, filters and drivers; and
nothing that the caller's environment says of git reaches it (references/design/integrity.md, "How
git is run").
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import ForeignRepository, GitFailed, GitguardError
from gitguard.model.text import shell_word, visible
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.git.place import Place

TIME_LIMIT = 30
"""Seconds after which a git command has failed."""
KEY_TIME_LIMIT = 4
"""The same where a key is used: what waits for a passphrase or a touch must not hold up a hook."""
_NARROW, _WIDE = 1 << 16, 1 << 20
"""Bytes that a pipe holds, and is to hold where much is read; git waits while it is full."""
_GRACE = 0.5
"""Seconds in which a git that is told to end may remove its lock files."""
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.fsync=loose-object,reference",  # git's default leaves both out
    "core.filesRefLockTimeout=2000",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",  # a folder that looks like a bare repository is not used
    "advice.graftFileDeprecated=false",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",  # older gits would fetch a missing object of a partial clone
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",  # reading never writes the user's index
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",  # some messages are told apart by their words
}
_LOOK = "Look at the repository with `git fsck`"
_PASSED_ON = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
_KEYS = ("GNUPGHOME", "SSH_AUTH_SOCK")
"""Where the user's keys are. No terminal or display is named, so that nothing asks there."""
NETWORK_TIME_LIMIT = 300
"""Seconds for a command that a person gave and that talks to a remote."""
_USERS_OWN = ("GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH")
"""Variables of git's by which a user reaches a remote."""
_NOT_FOR_REMOTES = frozenset({"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_ALLOW_PROTOCOL"})
_CONFIG_LIMIT = 1 << 20
_USERS = ("system", "global")
"""The scopes of settings that no repository can make."""


class GitOutcome(Value):
    """How a git command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes


class Plumbing:
    """The one way to a git command, for one worktree."""

    def __init__(self, place: Place, environment: Mapping[str, str]) -> None:
        """Find git; environment is the caller's, of which only a few names are kept.

        Raises `ForeignRepository` for one of another user: with the git directory named, git
        itself would not ask whose it is.
        """
        basics = {name: environment[name] for name in _PASSED_ON if name in environment}
        folders = basics.get("PATH", os.defpath).split(os.pathsep)
        basics["PATH"] = os.pathsep.join(f for f in folders if _is_outside(f, place))
        keys = {name: environment[name] for name in _KEYS if name in environment}
        self._place = place
        self._environment = {**basics, **_ENVIRONMENT}
        self._key_environment = {**self._environment, **keys, "SSH_ASKPASS_REQUIRE": "never"}
        self._plain_environment = basics
        self._callers = environment
        self._user_rules: tuple[str, ...] | None = None
        self._git = _find_git(basics["PATH"], place)
        if not self._is_own(environment) and not self._is_trusted_by_user():
            word = shell_word(place.worktree)
            raise ForeignRepository(
                f"`{place.worktree}` belongs to another user",
                f"If you trust it, run `git config --global --add safe.directory {word}`",
            )

    def of_store(self, git_dir: str) -> Plumbing:
        """Return the way to git for a git directory of ours, which has no worktree of its own."""
        same = self._copy()
        same._place = self._place.replace(git_dir=git_dir, common_dir=git_dir)
        return same

    def with_objects(self, folder: str) -> Plumbing:
        """Return the way to a git that finds the objects of another folder as well."""
        same = self._copy()
        # Quoted as git reads it, because the list of folders is divided by colons.
        quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
        more = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}
        same._environment = {**self._environment, **more}
        return same

    def _copy(self) -> Plumbing:
        same = Plumbing.__new__(Plumbing)
        same.__dict__.update(self.__dict__)
        return same

    def command(self, *arguments: str, settings: tuple[str, ...] = ()) -> list[str]:
        """Return the command line of a git command, with settings on top of ours."""
        options = [word for s in (*_SETTINGS, *settings) for word in ("-c", s)]
        # Both are named, because a repository's own settings may say anything of its worktree.
        where = (f"--git-dir={self._place.git_dir}", f"--work-tree={self._place.worktree}")
        return [self._git, *options, *where, *arguments]

    def attempt(
        self, *arguments: str, stdin: bytes = b"", settings: tuple[str, ...] = ()
    ) -> GitOutcome:
        """Run a git command and return its outcome; raise `GitFailed` if it does not run."""
        command = self.command(*arguments, settings=settings)
        return GitProcess(command, self._environment, self._place.worktree).finish(stdin)

    def attempt_with_keys(
        self,
        *arguments: str,
        settings: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: bytes = b"",
    ) -> GitOutcome:
        """Run a git command that signs or checks a signature, within a shorter time.

        The settings have to name every program that it may start, for otherwise the repository's
        own configuration would.
        """
        command = self.command(*arguments, settings=settings)
        with_keys = {**self._key_environment, **environment}
        # No ref moves here, and an agent that is started for the key may stay for ever.
        process = GitProcess(command, with_keys, os.path.abspath(os.sep), keeps_lock=False)
        return process.finish(stdin, limit=KEY_TIME_LIMIT)

    def attempt_key_program(self, program: str, *arguments: str, stdin: bytes = b"") -> GitOutcome:
        """Run the user's own program for keys, within the time that a key has; as above."""
        folder = os.path.abspath(os.sep)
        process = GitProcess([program, *arguments], self._key_environment, folder, keeps_lock=False)
        return process.finish(stdin, limit=KEY_TIME_LIMIT)

    def attempt_as_user(
        self,
        *arguments: str,
        stdin: bytes = b"",
        settings: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
        limit: float = NETWORK_TIME_LIMIT,
    ) -> GitOutcome:
        """Run a git command that talks to a remote, with the user's configuration and credentials.

        Only for what a person asked for. Hooks stay off; the caller refuses what else the
        repository's configuration may run. environment is on top of the user's, and limit is in
        seconds.
        """
        kept = {name: value for name, value in _ENVIRONMENT.items() if name not in _NOT_FOR_REMOTES}
        users = {
            name: value
            for name, value in self._callers.items()
            if not name.startswith("GIT_") or name in _USERS_OWN
        }
        own = {**kept, "PATH": self._environment["PATH"], **(environment or {})}
        # A remote's address can be a path from the worktree.
        command = self.command(*arguments, settings=settings)
        process = GitProcess(command, {**users, **own}, self._place.worktree)
        return process.finish(stdin, limit=limit)

    def callers_variable(self, name: str) -> str:
        """Return what the caller's environment says of git, empty where it says nothing."""
        return self._callers.get(name, "")

    @property
    def user_folder(self) -> str:
        """The folder in which git has a folder of the user's settings."""
        home = self._plain_environment.get("HOME", "")
        # Git takes an empty value for none.
        return self._plain_environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")

    def user_settings(self, pattern: str) -> list[tuple[str, str]]:
        """Return the settings whose names match, from the user's files alone, in their order."""
        return [(name, value) for scope, name, value in self._scoped(pattern) if scope in _USERS]

    def _scoped(self, pattern: str) -> list[tuple[str, str, str]]:
        """Return scope, name and value of the settings whose names match."""
        question = ("config", "--null", "--show-scope", "--get-regexp", pattern)
        command = [self._git, f"--git-dir={self._place.git_dir}", *question]
        outcome = GitProcess(command, self._plain_environment, os.path.abspath(os.sep)).finish()
        if outcome.returncode > 1:
            raise self.failure("config", outcome)
        words = outcome.stdout.decode("utf-8", "surrogateescape").split("\0")
        # A setting without `=` has no line feed and no value, which git takes for true.
        settings = (setting.partition("\n") for setting in words[1::2])
        return [
            (scope, name, value)
            for scope, (name, _, value) in zip(words[::2], settings, strict=False)
        ]

    def user_rules(self) -> tuple[str, ...]:
        """Return the settings that name the user's own files of ignore rules and of attributes.

        Git is only asked where one of the user's files can have them, and once.
        """
        if self._user_rules is None:
            self._user_rules = self._read_user_rules()
        return self._user_rules

    def _read_user_rules(self) -> tuple[str, ...]:
        home = self._plain_environment.get("HOME", "")
        paths = (
            os.path.join(home, ".gitconfig"),
            os.path.join(self.user_folder, "git", "config"),
            "/etc/gitconfig",
        )
        try:
            texts = [(files.read_bytes(p, limit=_CONFIG_LIMIT) or b"").lower() for p in paths]
        except GitguardError:
            texts = [b"include"]
        words = (b"excludesfile", b"attributesfile", b"include")
        if not any(word in text for text in texts for word in words):
            return ()
        named = {
            name: (scope, path)
            for scope, name, path in self._scoped(r"^core\.(excludesfile|attributesfile)$")
        }
        # The last one counts, and one of the repository's git reads by itself.
        return tuple(f"{name}={path}" for name, (scope, path) in named.items() if scope in _USERS)

    def may_be_configured(self, *words: bytes) -> bool:
        """Say whether the repository's own configuration has a word, in small letters.

        This asks no git. A file that cannot be read may have any word.
        """
        place = self._place
        paths = (
            os.path.join(place.common_dir, "config"),
            os.path.join(place.git_dir, "config.worktree"),
        )
        try:
            texts = [(files.read_bytes(p, limit=_CONFIG_LIMIT) or b"").lower() for p in paths]
        except GitguardError:
            return True
        return any(word in text for text in texts for word in words)

    def is_users_own(self, path: str) -> bool:
        """Say whether a path in the user's settings leads to one place, outside of the worktree."""
        return _is_outside(self._expanded(path), self._place)

    @property
    def user_ignore_file(self) -> str:
        """The file of the user's own ignore rules, which may not be there."""
        setting = "core.excludesfile="
        for rule in self.user_rules():
            if rule.startswith(setting):
                return self._expanded(rule.removeprefix(setting))
        return os.path.join(self.user_folder, "git", "ignore")

    def _expanded(self, path: str) -> str:
        home = self._plain_environment.get("HOME", "")
        return home + path[1:] if path.startswith("~/") else path

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run a git command and return what it says; raise `GitFailed` if it fails."""
        outcome = self.attempt(*arguments, stdin=stdin)
        if outcome.returncode:
            raise self.failure(arguments[0], outcome)
        return outcome.stdout

    def start(self, *arguments: str, settings: tuple[str, ...] = ()) -> GitProcess:
        """Start a git command that takes requests on its standard input."""
        command = self.command(*arguments, settings=settings)
        return GitProcess(command, self._environment, os.path.abspath(os.sep))

    def failure(self, command: str, outcome: GitOutcome) -> GitFailed:
        """Return the error of a command that failed, with what git complained about."""
        complaint = self.complaint(outcome) or "nothing"
        return GitFailed(
            f"`git {command}` ended with {outcome.returncode} and said: {complaint}", _LOOK
        )

    def complaint(self, outcome: GitOutcome, allowed: tuple[str, ...] = ()) -> str:
        """Return what git complained about, without what it read in files; perhaps empty.

        allowed is what may stay besides names in the repository.
        """
        from gitguard.store.git.complaints import git_words  # git seldom complains

        place = self._place
        places = (place.worktree, place.git_dir, place.common_dir, "refs/", *allowed)
        return git_words(visible(outcome.stderr.decode("utf-8", "replace")), *places)

    def _is_own(self, environment: Mapping[str, str]) -> bool:
        """Say whether worktree and git directory are this user's, by git's own rule."""
        if not hasattr(os, "geteuid"):
            return True
        owners = {os.stat(path).st_uid for path in (self._place.worktree, self._place.git_dir)}
        user = os.geteuid()
        # As in git: under sudo the worktree belongs to whoever called it.
        behind_sudo = environment.get("SUDO_UID", "") if user == 0 else ""
        return owners <= {user, int(behind_sudo) if behind_sudo.isdecimal() else user}

    def _is_trusted_by_user(self) -> bool:
        # Our environment hides the user's own safe.directory, so ask with theirs.
        command = [self._git, "config", "--get-all", "safe.directory"]
        outcome = GitProcess(command, self._plain_environment, os.path.abspath(os.sep)).finish()
        allowed = outcome.stdout.decode("utf-8", "replace").split("\n")
        return any(place in allowed for place in (self._place.worktree, self._place.git_dir, "*"))


class GitProcess:
    """A git command that runs while it is asked."""

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        folder: str,
        *,
        keeps_lock: bool = True,
    ) -> None:
        """Start the command in a folder; raise `GitFailed` if it does not run.

        keeps_lock is whether our locks are held until it has ended, even where we end before.
        """
        from gitguard.store.disk import child

        self._name = _subcommand(command)
        self._unread = bytearray()
        self._was_killed = False
        try:
            self._process = child.start(
                command, environment=environment, folder=folder, keeps_lock=keeps_lock
            )
        except OSError as error:
            raise GitFailed(f"`git {self._name}` did not run: {error}") from error

    def ask(self, request: str) -> list[str]:
        """Send a line and return the words of the line that answers it."""
        self.send([request])
        return next(iter(self.answers(1)), [])

    def answers(self, count: int) -> list[list[str]]:
        """Return the words of the next lines that git says; fewer where it ends before."""
        while self._unread.count(b"\n") < count and self._take_more():
            continue
        *lines, self._unread = self._unread.split(b"\n", count)
        return [line.decode("utf-8", "replace").split() for line in lines]

    def send(self, requests: list[str]) -> None:
        """Send lines, at most as many as fit into a pipe."""
        assert self._process.stdin is not None
        data = "".join(f"{line}\n" for line in requests).encode()
        try:
            files.write_all(self._process.stdin.fileno(), data)
        except OSError as error:
            raise GitFailed(f"`git {self._name}` ended early", _LOOK) from error

    def read_until(self, end: bytes, limit: int) -> tuple[bytes, bool]:
        """Return what follows up to an end that git was asked to say, and whether it said it.

        Git is ended where it says more than limit bytes without it.
        """
        if limit > _NARROW:
            self._widen()
        while not self._unread.endswith(end) and self._take_more():
            if len(self._unread) > limit + len(end):
                self.kill()
                break
        data, self._unread = self._unread, bytearray()
        return bytes(data.removesuffix(end)), data.endswith(end)

    def _widen(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ImportError, AttributeError):  # not everywhere, and only so much
            import fcntl

            fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _WIDE)

    def _take_more(self) -> bool:
        part = self._receive()
        self._unread += part
        return bool(part)

    def _receive(self) -> bytes:
        """Return what git says next, empty at its end; it has to say something in time."""
        import select

        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        try:
            # `select` itself refuses handles above 1023. Without `poll`, git is trusted to answer.
            if hasattr(select, "poll"):
                waiting = select.poll()
                waiting.register(handle, select.POLLIN)
                if not waiting.poll(TIME_LIMIT * 1000):
                    raise GitFailed(f"`git {self._name}` did not answer within {TIME_LIMIT} s")
            return os.read(handle, _WIDE)
        except OSError as error:
            raise self._cut_off(error) from error
        except BaseException:
            self.kill()
            raise

    def finish(self, request: bytes = b"", *, limit: float = 0) -> GitOutcome:
        """Send a last request and wait for the end, by default as long as for any command."""
        from gitguard.store.disk.child import TimeoutExpired

        limit = limit or TIME_LIMIT
        if self._was_killed:
            return GitOutcome(self._process.returncode or -1, b"", b"it was ended by us")
        try:
            stdout, stderr = self._process.communicate(request, timeout=limit)
        except TimeoutExpired as error:
            self.kill()
            raise GitFailed(f"`git {self._name}` did not end within {limit} s") from error
        except OSError as error:
            raise self._cut_off(error) from error
        except BaseException:
            self.kill()
            raise
        return GitOutcome(self._process.returncode, stdout, stderr)

    def _cut_off(self, error: OSError) -> GitFailed:
        self.kill()
        return GitFailed(f"cannot speak with `git {self._name}`: {error.strerror}", _LOOK)

    def kill(self) -> None:
        """End git and all that it started, and wait for nobody who still holds a pipe."""
        self._was_killed = True
        self._process.end(grace=_GRACE, patience=_GRACE)

    @property
    def has_ended(self) -> bool:
        """Whether the end was waited for."""
        return self._was_killed or self._process.returncode is not None


def _is_outside(path: str, place: Place) -> bool:
    """Say whether a path is a full one that leads out of the repository."""
    real = os.path.realpath(path) + os.sep
    inner = (place.worktree + os.sep, place.common_dir + os.sep)
    return os.path.isabs(path) and not real.startswith(inner)


def _find_git(path: str, place: Place) -> str:
    # A relative entry of PATH, or one inside the worktree, would run the repository's own `git`.
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, "git")
        runs = os.path.isfile(candidate) and os.access(candidate, os.X_OK)
        if runs and _is_outside(candidate, place):
            return candidate
    raise GitFailed("there is no `git` on PATH", "Install git 2.36 or newer")


def _subcommand(command: list[str]) -> str:
    """Return which of git's commands a command line runs: the first word that is no option."""
    words = iter(command[1:])
    for word in words:
        if word == "-c":
            next(words)
        elif not word.startswith("-"):
            return word
    return ""
