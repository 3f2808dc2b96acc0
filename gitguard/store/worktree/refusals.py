"""Which files a restore leaves alone, because a snapshot cannot vouch for them.

A snapshot says nothing of what git ignored when it was taken, of what was left out, and of what was
not looked at. So a file that it lacks is only removed where it would have had it.
"""

from __future__ import annotations

import os

from gitguard.model.actions import ADDED, REMOVED
from gitguard.store.worktree.manifest import unescaped
from gitguard.store.worktree.restore_record import PlannedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.repository import Repository
    from gitguard.store.git.trees import Trees
    from gitguard.store.worktree.overlays import StoredSnapshot

_IGNORE, _ATTRIBUTES = RULES = (".gitignore", ".gitattributes")
"""Files by which git decides what it looks at, and what it makes of a content."""


class Refusals:
    """Decides for one snapshot and one worktree."""

    def __init__(
        self,
        repository: Repository,
        redactor: Redactor,
        trees: Trees,
        target: StoredSnapshot,
        hidden: Collection[str],
        changed_rules: Collection[str],
    ) -> None:
        """Look at a snapshot that is to be restored.

        hidden are the paths that git is told not to look at; changed_rules are those of `RULES`
        that differ from what the snapshot has, anywhere in the worktree.
        """
        self._hidden = hidden
        self._trees = trees
        self._changed_rules = changed_rules
        self._root = repository.place.worktree
        self._repository = repository
        self._redactor = redactor
        self._target = target
        self._skipped = {unescaped(f.path): f.reason for f in target.manifest.skipped}
        rules_then = target.manifest.ignore_rules
        self._are_rules_changed = rules_then not in ("", repository.ignore_rules())
        self._repositories: dict[str, bool] = {}

    def applied(
        self, planned: tuple[PlannedFile, ...], paths: Sequence[str]
    ) -> tuple[PlannedFile, ...]:
        """Return the files with why each stays; paths are those that a person named."""
        unsure = [
            f.path for f in planned if not f.refusal and (f.action == REMOVED or _may_be_ignored(f))
        ]
        ignored = self._ignored(unsure)
        twins = self._twins(file.path for file in planned)
        refused = []
        for file in planned:
            reason = file.refusal or self._reason(file)
            if not reason and file.path in twins:
                reason = f"the file system takes it for `{twins[file.path]}`"
            if not reason and file.path not in paths:
                reason = self._reason_unless_named(file, ignored)
            if not reason and _ATTRIBUTES in self._changed_rules:
                reason = self._reason_by_attributes(file)
            refused.append(file.replace(refusal=reason))
        leaving = {f.path for f in refused if f.action == REMOVED and not f.refusal}
        return tuple(
            file if file.refusal else file.replace(refusal=self._reason_of_place(file, leaving))
            for file in refused
        )

    def _reason(self, file: PlannedFile) -> str:
        path = file.path.rstrip("/")
        above = _folders_above(path)
        for name in (path, *above):
            if name in self._skipped:
                return f"it was left out of the snapshot: {self._skipped[name]}"
        if self._redactor.text(path) != path:
            return "its name holds a secret, and such files are not kept"
        if any(map(self._is_repository, above)):
            return "it is in a repository of its own"
        if file.before.is_unread:
            return "the current file cannot be read, so it cannot be saved"
        if file.action == ADDED and file.is_committed and file.is_unchanged:
            return "a sparse checkout leaves it out of the worktree"
        if file.before.mode and path in self._hidden:
            return "git ignores changes to it (`assume-unchanged` or `skip-worktree`)"
        return ""

    def _reason_unless_named(self, file: PlannedFile, ignored: frozenset[str]) -> str:
        """Say why a file stays that nobody named: git ignores it by now, or the snapshot lacks it
        and it may have been there all the same.
        """
        if file.action != REMOVED:
            is_ignored = file.path in ignored and _may_be_ignored(file)
            return "git ignores it now; name its path to put it back" if is_ignored else ""
        if file.path in ignored:
            return "git ignores it, so the snapshot says nothing of it"
        if file.is_committed:
            return ""
        if self._target.manifest.unseen:
            return f"the snapshot lacks {self._target.manifest.unseen[0]}"
        if _IGNORE in self._changed_rules or self._are_rules_changed:
            return "it may have been ignored, by other rules than now; name its path to remove it"
        return ""

    def _reason_of_place(self, file: PlannedFile, leaving: Collection[str]) -> str:
        """Say what lies in the place of a file or of its folders, besides what is to leave it."""
        if file.action == REMOVED:
            return ""
        for folder in _folders_above(file.path):
            if os.path.lexists(os.path.join(self._root, folder)) and not self._is_folder(folder):
                if folder in leaving:
                    return ""
                return f"a file is in the place of its folder `{folder}`; name that, too"
        place = os.path.join(self._root, file.path)
        if os.path.islink(place):
            return ""
        for folder, inner, names in os.walk(place):
            links = [name for name in inner if os.path.islink(os.path.join(folder, name))]
            for name in (*names, *links):
                path = os.path.relpath(os.path.join(folder, name), self._root)
                if path not in leaving:
                    return f"a folder is in its place, with `{path}` in it"
        return ""

    def _reason_by_attributes(self, file: PlannedFile) -> str:
        """Say why a content cannot be written yet that git may have converted in another way."""
        is_plain = file.action == REMOVED or file.path in self._target.manifest.raw_paths
        if is_plain or os.path.basename(file.path) in (_ATTRIBUTES, _IGNORE):
            return ""
        return f"the `{_ATTRIBUTES}` differ from the snapshot's; restore them first, by their names"

    def _twins(self, paths: Iterable[str]) -> dict[str, str]:
        """Return by path another one of the snapshot that has the same file here.

        To remove such a path, or to put both, would destroy what was to be put back.
        """
        if not self._repository.place.ignores_case:
            return {}
        spellings: dict[str, list[str]] = {}
        for path, _ in self._trees.files(self._target.tree):
            spellings.setdefault(_caseless(path), []).append(path)
        twins = {}
        for path in paths:
            for spelling in spellings.get(_caseless(path), ()):
                if spelling != path:
                    twins[path] = spelling
        return twins

    def _ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the paths that git ignores by the rules of now, tracked or not."""
        if not paths:
            return frozenset()
        question = ("--no-literal-pathspecs", "check-ignore", "--no-index", "-z", "--stdin")
        request = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git = self._repository.git
        outcome = git.start(*question, settings=git.user_rules()).finish(request)
        if outcome.returncode not in (0, 1):
            raise git.failure("check-ignore", outcome)
        return frozenset(os.fsdecode(path) for path in outcome.stdout.split(b"\0") if path)

    def _is_repository(self, folder: str) -> bool:
        if folder not in self._repositories:
            # What a link leads to is not in the worktree.
            is_here = all(map(self._is_folder, (*_folders_above(folder), folder)))
            has_git = os.path.lexists(os.path.join(self._root, folder, ".git"))
            self._repositories[folder] = is_here and has_git
        return self._repositories[folder]

    def _is_folder(self, path: str) -> bool:
        """Say whether a folder lies at a path, and no link to one."""
        full = os.path.join(self._root, path)
        return os.path.isdir(full) and not os.path.islink(full)


def _may_be_ignored(file: PlannedFile) -> bool:
    """Say whether something lies there that the commit does not have."""
    return file.before.mode != 0 and not file.is_committed


def _caseless(path: str) -> str:
    """Return what is the same for all spellings that such a file system takes for one."""
    # Imported here, because few file systems need it.
    import unicodedata

    return unicodedata.normalize("NFC", path).casefold()


def _folders_above(path: str) -> Iterable[str]:
    """Return the folders that a path lies in, without the worktree's root."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
