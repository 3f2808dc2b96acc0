"""Which files git changes on their way to the worktree, and what it makes of them.

Line endings, `ident` and encodings git converts itself. A filter runs a program of the repository's
choice, which is never done here. Git is only asked for attributes where one of the files is there
in which they stand: each question costs a start of git, and a look through the whole index.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed, GitguardError
from gitguard.store.disk.files import names_in, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.store.git.repository import Repository


FILTERING = ("filter", "working-tree-encoding", "ident")
"""What changes a content in a way that only git knows, or a program."""
CONVERTING = ("text", "eol", "crlf")
"""What decides on line endings."""
UNSET = ("unspecified", "unset")
FILE = ".gitattributes"
_TIME_LIMIT = 3
"""Seconds for git's answer."""
_INDEX_LIMIT = 64 << 20
_USERS_FILE = "core.attributesfile="
_SETTINGS = (b"attr", b"include", b"sparse")
"""Words in the configuration by which attributes may stand anywhere, or in the index alone."""
_SIMPLE_VERSIONS = (2, 3)
"""Versions of an index that spell every name out."""
_REST_OF_INDEX = "sharedindex."
"""How the files begin in which git keeps most of an index that is split."""


class Attributes:
    """The attributes in force in one worktree."""

    def __init__(self, repository: Repository) -> None:
        """Describe the worktree; nothing is read yet."""
        self._git = repository.git
        self._place = repository.place

    def of(
        self, paths: Iterable[str], user_rules: tuple[str, ...]
    ) -> Mapping[str, Mapping[str, str]]:
        """Return values by path and by name of `FILTERING` and `CONVERTING`.

        user_rules are the settings that may name the user's own file of attributes. A path without
        any attribute may be missing. Raises `GitFailed` where git does not say.
        """
        names = list(dict.fromkeys(paths))
        has_users_file = any(rule.startswith(_USERS_FILE) for rule in user_rules)
        if not names or not (has_users_file or self._may_have_any(names)):
            return {}
        question = ("check-attr", "-z", "--stdin", *FILTERING, *CONVERTING)
        request = b"".join(os.fsencode(name) + b"\0" for name in names)
        outcome = self._git.start(*question, settings=user_rules).finish(request, limit=_TIME_LIMIT)
        if outcome.returncode:
            raise self._git.failure("check-attr", outcome)
        words = [os.fsdecode(word) for word in outcome.stdout.split(b"\0")[:-1]]
        attributes: dict[str, dict[str, str]] = {}
        for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=True):
            attributes.setdefault(path, {})[name] = value
        return attributes

    def _may_have_any(self, paths: Iterable[str]) -> bool:
        """Say whether attributes stand, or may stand, anywhere that counts for some paths."""
        folders = {""}
        for path in paths:
            while path := path.rpartition("/")[0]:
                folders.add(path)
        root = self._place.worktree
        if any(os.path.lexists(os.path.join(root, folder, FILE)) for folder in folders):
            return True
        outside = (
            os.path.join(self._place.common_dir, "info", "attributes"),
            os.path.join(self._git.user_folder, "git", "attributes"),
        )
        if any(map(os.path.lexists, outside)) or self._git.may_be_configured(*_SETTINGS):
            return True
        # A file of attributes in the index counts where none lies in the worktree.
        git_dir = self._place.git_dir
        try:
            if any(name.startswith(_REST_OF_INDEX) for name in names_in(git_dir)):
                return True
            index = read_bytes(os.path.join(git_dir, "index"), limit=_INDEX_LIMIT)
        except GitguardError:
            return True
        if index is None:
            return False
        is_simple = int.from_bytes(index[4:8], "big") in _SIMPLE_VERSIONS
        return not is_simple or FILE.encode() in index


FILTERED, CONVERTED, UNCHANGED = "filtered", "converted", "unchanged"
_FILTER = "filter"
_TIME_LIMIT = 3
"""Seconds for each of git's answers."""
_MOST_FILTERS = 100
CRLF = ("true", "yes", "on", "1")
"""Values of `core.autocrlf` by which git writes CRLF; with `input` it only takes it away."""
_FALSE = ("false", "no", "off", "0")


class Conversions:
    """What stands between the contents of one repository and the files of its worktree."""

    def __init__(self, repository: Repository, objects: str = "") -> None:
        """Describe the repository; what is asked of its configuration is asked once.

        objects is a folder of objects in which contents lie as well.
        """
        self._objects = objects
        self._attributes = Attributes(repository)
        self._git = repository.git
        self._filters_off: tuple[str, ...] | None = None
        self._values: dict[str, str] = {}

    def attributes(self, paths: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
        """Return the attributes that decide what git stores, by path and name."""
        return self._attributes.of(paths, self.user_rules())

    def of(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return for each path whether git filters or converts it, or leaves it unchanged."""
        names = tuple(paths)
        attributes = self.attributes(names)
        # Without attributes the user's own settings may say that line endings are converted.
        by_default = CONVERTED if names and self.autocrlf() in CRLF else UNCHANGED
        kinds = dict.fromkeys(names, by_default)
        for path, values in attributes.items():
            is_set = {name for name, value in values.items() if value not in UNSET}
            if is_set:
                kinds[path] = FILTERED if _FILTER in is_set else CONVERTED
        return kinds

    def converted(self, path: str, blob: str) -> bytes:
        """Return a content as git writes it into the worktree at a path without a filter."""
        settings = [f"core.autocrlf={self.autocrlf()}"] if self.autocrlf() in CRLF else []
        if self._setting("eol"):
            settings.append(f"core.eol={self._setting('eol')}")
        question = ("cat-file", "--filters", f"--path={path}", blob)
        # Git finds the attributes of this question by the folder that it runs in.
        settings += [*self.filters_off(), *self.user_rules()]
        git = self._git.with_objects(self._objects) if self._objects else self._git
        outcome = git.attempt(*question, settings=tuple(settings))
        if outcome.returncode:
            raise git.failure("cat-file", outcome)
        return outcome.stdout

    def filters_off(self) -> tuple[str, ...]:
        """Return the settings that switch off each filter that the repository defines."""
        if self._filters_off is None:
            self._filters_off = self._settings_without_filters()
        return self._filters_off

    def user_rules(self) -> tuple[str, ...]:
        """Return the settings that name the user's own files of ignore rules and of attributes."""
        return self._git.user_rules()

    def _settings_without_filters(self) -> tuple[str, ...]:
        if not self._git.may_be_configured(b"filter", b"include"):
            return ()
        listed = self._asked(
            "config", "-z", "--name-only", "--get-regexp", r"^filter\.", fails_with=1
        )
        keys = (os.fsdecode(key) for key in listed.split(b"\0") if key)
        # The name between `filter.` and the last dot may hold dots itself.
        names = {key.partition(".")[2].rpartition(".")[0] for key in keys}
        if len(names) > _MOST_FILTERS or any("=" in name for name in names):
            raise GitFailed("the repository's filters cannot be switched off")
        off = ("clean=", "smudge=", "process=", "required=false")
        return tuple(f"filter.{name}.{setting}" for name in sorted(names) for setting in off)

    def autocrlf(self) -> str:
        """Return how git converts line ends of files without attributes: one of `CRLF`, or else."""
        return self._setting("autocrlf")

    def writes_links_as_files(self) -> bool:
        """Say whether git writes a symbolic link as a file that holds its target."""
        return self._setting("symlinks") in _FALSE

    def _setting(self, name: str) -> str:
        """Return a setting of the section `core`; the repository's own counts before the user's."""
        if name not in self._values:
            pattern = rf"^core\.{name}$"
            local = self._asked("config", "-z", "--get-regexp", pattern, fails_with=1)
            value = local.rstrip(b"\0").rpartition(b"\n")[2].decode("latin-1")
            values = [value for _, value in self._git.user_settings(pattern)]
            self._values[name] = (value if local else (values or [""])[-1]).lower()
        return self._values[name]

    def _asked(self, *arguments: str, fails_with: int = 0) -> bytes:
        outcome = self._git.start(*arguments).finish(limit=_TIME_LIMIT)
        if outcome.returncode not in (0, fails_with):
            raise self._git.failure(arguments[0], outcome)
        return outcome.stdout
