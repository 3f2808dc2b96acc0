"""Which files of a worktree have another content than a commit has.

Content decides, never a time. What git's index knows by its stat data to be unchanged has the id
that stands there, by git's own rules (where a file is as new as the index, its content counts);
everything else is read and hashed. Git writes nothing for it, not even the index.

Git would run a clean filter where it has to compare content, so the repository's filters are
switched off. What a filter changes can then only be compared with bytes that were read as they lie.

What the user told git not to look at (`assume-unchanged`, `skip-worktree`) counts as unchanged. Of
a submodule only the commit checked out in it counts; nothing else looks into it.
"""

from __future__ import annotations

import os
import stat

from gitguard.errors import GitFailed
from gitguard.model import fields
from gitguard.model.commit import is_object_id
from gitguard.model.record import Record
from gitguard.model.value import Value
from gitguard.store.disk.users_files import is_temporary
from gitguard.store.git.conversions import CONVERTING, CRLF, FILTERING, UNSET, Conversions
from gitguard.store.git.trees import SUBMODULE
from gitguard.store.git.worktree_files import FileReading, ReadLimits, WorktreeFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Self

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.plumbing import GitProcess, Plumbing
    from gitguard.store.git.repository import Repository

    _Entries = dict[str, "_ListedEntry"]

_TIME_LIMIT = 3
"""Seconds for each of git's answers."""
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_LIMITS = ReadLimits()
_RAW = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
_COMPARE = ("diff-index", *_RAW, "--ignore-submodules=dirty")
_LIST_NEW = ("ls-files", "-z", "--others", "--exclude-standard")


class ChangedFile(Record):
    """A path whose content is not the one that the commit has."""

    path: str = fields.text("From the worktree's root, escaped as Python's `os` does.")
    mode: int = fields.count("As git has modes; 0 where nothing lies there.")
    id: str = fields.text(
        "Of the content as git would store it; empty if it was not read.", default=""
    )
    is_new: bool = fields.flag("Whether the commit has no such path.", default=False)
    is_raw: bool = fields.flag(
        "Whether a filter stands between git and the bytes of the id.", default=False
    )

    @property
    def is_known(self) -> bool:
        """Whether the content could be read, where there is one."""
        return bool(self.id) or not stat.S_ISREG(self.mode)


class Changes(Value):
    """What changed between two looks, or since a commit."""

    changed: tuple[str, ...] = ()
    """Paths with another content, new ones too."""
    gone: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    """What could not be compared, in words."""
    created: tuple[str, ...] = ()
    """Those of the changed where nothing was before."""


class Differences(Record):
    """What one look at the worktree saw."""

    commit: str = fields.text("What it was compared with; empty for no files at all.")
    files: tuple[ChangedFile, ...] = fields.records(
        "What is different, by path.", of=ChangedFile, default=()
    )
    tracked_unseen: str = fields.text("Which tracked files were not compared, and why.", default="")
    new_unseen: str = fields.text("Which untracked files were not looked for, and why.", default="")
    ignore_rules: str = fields.text(
        "A digest of the ignore rules outside of the worktree; empty where it is not known.",
        default="",
    )

    @property
    def new_files(self) -> tuple[str, ...]:
        """The paths that the commit does not have."""
        return tuple(file.path for file in self.files if file.is_new)

    def changes(self) -> Changes:
        """Return what is different from the commit."""
        return self.since(Differences(self.commit))

    def since(self, earlier: Differences) -> Changes:
        """Return what changed between an earlier look and this one, both at the same commit."""
        tracked_unseen = self.tracked_unseen or earlier.tracked_unseen
        new_unseen = self.new_unseen or earlier.new_unseen
        before = {file.path: file for file in earlier.files}
        after = {file.path: file for file in self.files}
        changed, gone, created, unread = [], [], [], 0
        for path in sorted({*before, *after}):
            old, new = before.get(path), after.get(path)
            is_new = any(file is not None and file.is_new for file in (old, new))
            if new_unseen if is_new else tracked_unseen:
                continue
            if not _are_comparable(old, new):
                unread += 1
            elif _content(old, is_new=is_new) == _content(new, is_new=is_new):
                continue
            elif _content(new, is_new=is_new)[0] == 0:
                gone.append(path)
            else:
                changed.append(path)
                if _content(old, is_new=is_new)[0] == 0:
                    created.append(path)
        why_unread = f"{unread:,} filtered, large or unreadable file{'' if unread == 1 else 's'}"
        unseen = (tracked_unseen, new_unseen, why_unread if unread else "")
        seen = tuple(changed), tuple(gone), tuple(why for why in unseen if why)
        return Changes(*seen, created=tuple(created))


def _are_comparable(old: ChangedFile | None, new: ChangedFile | None) -> bool:
    if not all(file is None or file.is_known for file in (old, new)):
        return False
    if old is None or new is None:
        # The commit's own content is as git stores it, and a filter's result is not known to us.
        present = new or old
        return present is None or present.is_new or not present.is_raw
    return old.is_raw == new.is_raw or 0 in (old.mode, new.mode)


def _content(file: ChangedFile | None, *, is_new: bool) -> tuple[int, str]:
    """Return what lies there, as mode and id; -1 stands for what the commit has."""
    if file is None:
        return (0, "") if is_new else (-1, "")
    return file.mode, file.id


class _ListedEntry(Value):
    """A line of git's: a path as the commit has it, and as it is now."""

    old_mode: int
    mode: int
    old_id: str
    id: str
    """Zeros where git would have to read the file."""

    @property
    def has_to_be_read(self) -> bool:
        """Whether only the worktree tells; a path may be gone from the index alone."""
        return not self.id.strip("0") and self.mode != SUBMODULE


class WorktreeComparer:
    """Compares one worktree with commits of its repository."""

    def __init__(
        self,
        repository: Repository,
        redactor: Redactor,
        limits: ReadLimits = _LIMITS,
        unfinished: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        """Describe the repository; nothing is read yet.

        redactor takes secrets out of names, because they are kept and told. unfinished returns the
        names of files that a restore was putting in place, which are passed over; it is asked only
        where a name looks like one.
        """
        self._unfinished = unfinished
        self._limits = limits
        self._redactor = redactor
        self._conversions = Conversions(repository)
        self._place = repository.place
        self._git = repository.git
        self._object_format = repository.object_format
        self._commit_of_submodule = repository.commit_of_submodule
        self._ignore_rules = repository.ignore_rules

    def compare(self, commit: str, also: Iterable[str] = ()) -> Differences:
        """Compare the files with a commit's, or with no files where it is empty.

        also names paths that the commit does not have, to be looked at even where git ignores
        them. Raises nothing: what cannot be looked at is named in what is returned.
        """
        try:
            base = commit or _EMPTY_TREES[self._object_format()]
            if not is_object_id(base):  # it may be anybody's text, an option of git's as well
                raise GitFailed(f"`{base[:80]}` is not an object id")
            # Started first and asked last, so that both gits work at the same time.
            with _PendingGit(self._git, *_LIST_NEW, settings=self._conversions.user_rules()) as new:
                tracked, tracked_unseen = self._tracked(base)
                names, new_unseen = _new(new, self._limits.new)
                if any(map(is_temporary, names)):
                    # What a restore that was cut off left may hold a secret of any file.
                    unfinished = self._unfinished()
                    names = tuple(n for n in names if n.rpartition("/")[2] not in unfinished)
            if tracked_unseen:
                # What the commit has cannot be told from what is new.
                return Differences(commit, (), tracked_unseen, new_unseen or "untracked files")
            files = WorktreeFiles(self._place.worktree, len(base), self._limits)
            compared = self._without_secrets(self._compare(tracked, (*names, *also), files))
        except (GitFailed, KeyError, ValueError):
            return Differences(commit, (), "tracked files", "untracked files")
        return Differences(
            commit,
            compared,
            tracked_unseen,
            new_unseen=new_unseen,
            ignore_rules=self._ignore_rules(),
        )

    # What git says

    def _tracked(self, base: str) -> tuple[_Entries, str]:
        """Return what is not as in the commit, or may be; or why that is not known."""
        try:
            size = os.path.getsize(os.path.join(self._place.git_dir, "index"))
        except FileNotFoundError:
            size = 0
        except OSError:
            return {}, "tracked files (the index cannot be read)"
        if size > self._limits.index:
            return {}, f"tracked files (the index is larger than {self._limits.index >> 20} MiB)"
        try:
            settings = (*self._conversions.filters_off(), *self._conversions.user_rules())
            with _PendingGit(self._git, *_COMPARE, base, "--", settings=settings) as compared:
                words = compared.answer().split(b"\0")[:-1]
        except GitFailed:
            return {}, "tracked files (git cannot compare them)"
        entries = {}
        for facts, path in zip(words[::2], words[1::2], strict=True):
            old_mode, mode, old_id, new_id, _ = facts.removeprefix(b":").decode("ascii").split(" ")
            entry = _ListedEntry(int(old_mode, 8), int(mode, 8), old_id, new_id)
            entries[os.fsdecode(path)] = entry
        return entries, ""

    def _converts_all(self) -> bool:
        """Say whether line endings are converted in files without attributes."""
        return self._conversions.autocrlf() in (*CRLF, "input")

    # What lies there

    def _compare(
        self, tracked: _Entries, new: tuple[str, ...], files: WorktreeFiles
    ) -> tuple[ChangedFile, ...]:
        """Return what is different, of paths that git listed and of new ones."""
        unhashed = [path for path, entry in tracked.items() if entry.has_to_be_read]
        readings = {path: files.read(path) for path in (*unhashed, *new)}
        doubtful = {
            path
            for path, reading in readings.items()
            if reading.id and (path not in tracked or reading.id != tracked[path].old_id)
        }
        attributes = self._conversions.attributes(doubtful)
        converts_all = any(readings[path].unix_id for path in doubtful) and self._converts_all()
        present: dict[str, ChangedFile] = {}
        for path, entry in tracked.items():
            commit = entry.id
            if entry.mode == SUBMODULE and not commit.strip("0"):
                commit = self._commit_of_submodule(path) or commit
            present[path] = ChangedFile(path, entry.mode, commit)
        for path, reading in readings.items():
            # What lies there byte by byte as in the commit is unchanged, converted or not.
            is_converted = converts_all and path in doubtful
            stored = _as_stored(path, reading, attributes.get(path, {}), converts_all=is_converted)
            listed = tracked.get(path)
            if listed is not None and stat.S_ISREG(listed.mode) and stat.S_ISREG(stored.mode):
                stored = stored.replace(mode=listed.mode)  # the file system may make one up
            present[path] = stored
        different = []
        for path, file in sorted(present.items()):
            base = tracked.get(path)
            if base is None or not base.old_mode:
                different += [file.replace(is_new=True)] if file.mode else []
            elif (file.mode, file.id) != (base.old_mode, base.old_id):
                different.append(file)
        return tuple(different)

    def _without_secrets(self, compared: tuple[ChangedFile, ...]) -> tuple[ChangedFile, ...]:
        names = "\n".join(file.path for file in compared)
        if self._redactor.text(names) == names:
            return compared
        return tuple(file.replace(path=self._redactor.text(file.path)) for file in compared)


class _PendingGit:
    """A context manager: a git command that was asked and answers later, within our time."""

    def __init__(self, git: Plumbing, *arguments: str, settings: tuple[str, ...] = ()) -> None:
        self._git = git
        self._arguments = arguments
        self._settings = settings

    def __enter__(self) -> Self:
        self._process: GitProcess = self._git.start(*self._arguments, settings=self._settings)
        return self

    def __exit__(self, *exception: object) -> None:
        if not self._process.has_ended:
            self._process.kill()

    def answer(self) -> bytes:
        """Return what git says."""
        outcome = self._process.finish(limit=_TIME_LIMIT)
        if outcome.returncode:
            raise self._git.failure(self._arguments[0], outcome)
        return outcome.stdout


def _new(listing: _PendingGit, most: int) -> tuple[tuple[str, ...], str]:
    """Return the untracked paths, or why they are not known."""
    try:
        names = listing.answer().split(b"\0")[:-1]
    except GitFailed:
        return (), "untracked files (git cannot list them)"
    if len(names) > most:
        return (), f"untracked files (more than {most:,})"
    return tuple(os.fsdecode(name) for name in names), ""


def _as_stored(
    path: str, reading: FileReading, attributes: Mapping[str, str], *, converts_all: bool
) -> ChangedFile:
    """Return what git would store of a file, as far as no filter decides that."""
    if any(attributes.get(name, "unset") not in UNSET for name in FILTERING):
        return ChangedFile(path, reading.mode, reading.id, is_raw=True)
    is_converted = reading.unix_id and _converts(attributes, converts_all=converts_all)
    return ChangedFile(path, reading.mode, reading.unix_id if is_converted else reading.id)


def _converts(attributes: Mapping[str, str], *, converts_all: bool) -> bool:
    """Say whether git stores a text file with LF."""
    values = [attributes.get(name, "unspecified") for name in CONVERTING]
    if "unset" in values:
        return False
    return converts_all or any(value != "unspecified" for value in values)
