"""Which files git changes on their way to the worktree, and what it makes of them.

Line endings, `ident` and encodings git converts itself. A filter runs a program of the repository's
choice, which is never done here.
"""

from __future__ import annotations

import os

from gitguard.errors import GitFailed
from gitguard.store.git.attributes import UNSET, Attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.store.git.repository import Repository

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
        done = git.attempt(*question, settings=tuple(settings))
        if done.returncode:
            raise git.failure("cat-file", done)
        return done.stdout

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
        done = self._git.start(*arguments).finish(limit=_TIME_LIMIT)
        if done.returncode not in (0, fails_with):
            raise self._git.failure(arguments[0], done)
        return done.stdout
