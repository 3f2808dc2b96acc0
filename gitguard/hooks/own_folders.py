"""Whether a tool call changes the user's configuration or state of gitguard.

Whoever writes there switches the gate off, so an agent's tools may read there and no more. It is
decided from the event and the user's folders alone. What text does not tell is no part of it
(references/guides/security.md, "What an agent may do").
"""

from __future__ import annotations

import os

from gitguard.hooks.shell_commands import is_plainly_harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.events import HookEvent
    from gitguard.model.shell.writes import ShellWrites
    from gitguard.store.session.workspace import UserDirs

_GLOBS = frozenset("*?[{")
_COPYING = frozenset(("cp", "install", "rsync", "scp", "ditto", ""))
"""What may read in our folders and write elsewhere; the last is a redirection."""
_MOST_PATHS, _MOST_FOLDERS, _MOST_BASES = 500, 8, 2
"""Of a line that are looked at one by one; of one with more, any word counts."""
_NAMES = ("config_home", "state_home", "GITGUARD_STATE_DIR")
"""How code may call our folders."""
_LONGEST_SCRIPT = 4096
"""Characters of a word that may be a path."""


def changed_folder(event: HookEvent, places: UserDirs) -> str:
    """Return which folder of ours a tool call changes, empty if it changes none."""
    tool = event.tool
    if tool is None:
        return ""
    our_folders = _OurFolders(places, event)
    for path in tool.paths_written:
        if folder := our_folders.holding(path):
            return folder
    if is_plainly_harmless(tool.command):
        return ""
    from gitguard.hooks.shell_commands import code_that_writes
    from gitguard.model.shell.writes import writes_of

    folder = _changed_by_line(writes_of(tool.command), our_folders)
    codes = () if folder else code_that_writes(tool.command)
    return folder or next(filter(None, map(our_folders.named_in, codes)), "")


def own_folders(places: UserDirs) -> tuple[str, ...]:
    """Return the folders that only the user may change: those in force, and the usual ones."""
    usual = (".config", os.path.join(".local", "state"))
    folders = [places.config_home, places.state_home]
    if places.home:
        folders += [os.path.join(places.home, folder, "gitguard") for folder in usual]
    return tuple(dict.fromkeys(map(os.path.normpath, filter(None, folders))))


def _changed_by_line(writes: ShellWrites, our_folders: _OurFolders) -> str:
    our_folders.assign(writes.mentioned)
    our_folders.enter(writes.folders[:_MOST_FOLDERS])
    too_many = len(writes.folders) > _MOST_FOLDERS or len(writes.paths) > _MOST_PATHS
    is_hidden = writes.is_hidden or too_many
    for written in writes.paths[:_MOST_PATHS]:
        path = our_folders.with_variables(written.path)
        # What copies from our folders may go anywhere else.
        is_hidden |= path[:1] == "$" and written.by not in _COPYING
        if folder := our_folders.holding(path, moves=written.moves):
            return folder
    if not is_hidden:
        return ""
    # Any word may be what the line does not show.
    words = {our_folders.with_variables(_value(word)) for word in writes.mentioned}
    if len(words) > _MOST_PATHS:
        our_folders.leave()
    return next(filter(None, map(our_folders.holding, words)), "")


def _value(word: str) -> str:
    name, equals, value = word.partition("=")
    return value if equals and name.isidentifier() else word


class _OurFolders:
    """Our folders, and what a call's paths are: its variables, and where it stands."""

    def __init__(self, places: UserDirs, event: HookEvent) -> None:
        self._home = places.home
        self._folders = own_folders(places)
        spellings = {folder: {folder, os.path.realpath(folder)} for folder in self._folders}
        self._spellings = [
            (f, path.split(os.sep)) for f, paths in spellings.items() for path in paths
        ]
        self._bases = tuple(dict.fromkeys(filter(None, (event.folder, event.project_dir))))
        self._real: dict[str, str] = {}
        """Real paths of folders, since many files of a call lie in the same."""
        self._variables = {
            "XDG_CONFIG_HOME": os.path.dirname(places.config_home),
            "XDG_STATE_HOME": os.path.dirname(places.state_home),
            "GITGUARD_STATE_DIR": places.state_home,
            **places.environment,
            "HOME": places.home,
            "PWD": ".",
        }

    def assign(self, words: Iterable[str]) -> None:
        """Take in the variables that words assign; a loop's has several values, and ours counts."""
        names: set[str] = set()
        for word in words:
            name, equals, value = word.partition("=")
            if equals and name.isidentifier() and name not in names:
                value = self._home + value[1:] if self._home and value[:2] == "~/" else value
                self._variables[name] = value = self.with_variables(value)[:_LONGEST_SCRIPT]
                names.update([name] * bool(self.holding(value)))

    def enter(self, folders: Iterable[str]) -> None:
        """Work in folders as well, one after the other."""
        bases = self._bases
        for folder in folders:
            bases = tuple(self._places_of(self.with_variables(folder), bases))[:_MOST_BASES]
            self._bases += bases

    def leave(self) -> None:
        """Work only in the folder in which the call began."""
        self._bases = self._bases[:1]

    def with_variables(self, word: str) -> str:
        """Put the values of variables into a word; one that nobody knows stays as it is written."""
        if "$" not in word or len(word) > _LONGEST_SCRIPT:
            return word
        text, *parts = word.split("$")
        for part in parts:
            ends = (at for at, c in enumerate(part) if not (c.isalnum() or c == "_"))
            end = next(ends, len(part))
            text += self._variables.get(part[:end], f"${part[:end]}") + part[end:]
        return text[:_LONGEST_SCRIPT]

    def holding(self, path: str, *, moves: bool = False) -> str:
        """Return which folder a path is or lies in; with moves also one that lies below it."""
        for place in self._places_of(path, self._bases):
            for spelling in {place, self._real_path(place, follow=not moves)}:
                parts = spelling.rstrip(os.sep).split(os.sep)
                for folder, names in self._spellings:
                    if (moves or len(parts) >= len(names)) and _covers(parts, names):
                        return folder
        return ""

    def _real_path(self, place: str, *, follow: bool) -> str:
        above, name = os.path.split(place)
        if above not in self._real:
            self._real[above] = os.path.realpath(above)
        path = os.path.join(self._real[above], name)
        return os.path.realpath(path) if follow and os.path.islink(path) else path

    def named_in(self, code: str) -> str:
        """Return which folder code names, in one text or in parts that it joins."""
        squeezed = _squeezed(code)
        for folder in self._folders:
            tail = os.path.relpath(folder, self._home) if self._home else folder
            if _squeezed(folder if tail.startswith("..") else tail) in squeezed:
                return folder
        is_of_gitguard = "gitguard" in code.lower()
        return self._folders[0] if is_of_gitguard and any(n in code for n in _NAMES) else ""

    def _places_of(self, path: str, bases: tuple[str, ...]) -> Iterator[str]:
        """Yield the absolute paths that a path may stand for."""
        if not path or len(path) > _LONGEST_SCRIPT or "\0" in path:
            return
        # Some hosts put the workspace before every path that does not begin with `/`.
        before, tilde, behind = path.partition("~")
        if tilde and (not before or before[-1] == "/"):
            user, _, tail = behind.partition("/")
            if self._home and user in ("", os.path.basename(self._home)):
                yield os.path.normpath(os.path.join(self._home, tail))
        for base in bases[:1] if os.path.isabs(path) else bases:
            yield os.path.normpath(os.path.join(base, path))


def _squeezed(text: str) -> str:
    return "".join(c for c in text if c.isalnum() or c in "._-")


def _covers(parts: list[str], names: list[str]) -> bool:
    return all(_may_be(part, name) for part, name in zip(parts, names, strict=False))


def _may_be(part: str, name: str) -> bool:
    """Say whether a part of a path is a folder's name, or a pattern that stands for it."""
    if part == name or _GLOBS.isdisjoint(part):
        return part == name
    if name.startswith(".") and not part.startswith("."):
        return False  # a shell's pattern passes such names over
    from fnmatch import fnmatchcase

    head, brace, _ = part.partition("{")
    return fnmatchcase(name, f"{head}*" if brace else part)
