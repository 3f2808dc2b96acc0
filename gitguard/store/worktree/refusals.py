"""Which files a restore leaves alone, because a snapshot cannot vouch for them.

A snapshot says nothing of what git ignored when it was taken, of what was left out, and of what was
not looked at. So a file that it lacks is only removed where it would have had it.
"""

from __future__ import annotations

import os

from gitguard.model.actions import ADDED, REMOVED
from gitguard.store.worktree.manifest import unescaped
from gitguard.store.worktree.planned import PlannedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.repository import Repository
    from gitguard.store.worktree.snapshot import Snapshot

_IGNORE, _ATTRIBUTES = RULES = (".gitignore", ".gitattributes")
"""Files by which git decides what it looks at, and what it makes of a content."""


class Refusals:
    """Decides for one snapshot and one worktree."""

    def __init__(
        self,
        root: str,
        repository: Repository,
        redactor: Redactor,
        target: Snapshot,
        changed_rules: Collection[str],
    ) -> None:
        """Look at a snapshot that is to be restored; changed_rules are those of `RULES` that differ
        from what it has, anywhere in the worktree.
        """
        self._changed_rules = changed_rules
        self._root = root
        self._repository = repository
        self._redactor = redactor
        self._target = target
        self._skipped = {unescaped(f.path): f.reason for f in target.manifest.skipped}
        self._repositories: dict[str, bool] = {}
        self._hidden: frozenset[str] | None = None

    def applied(
        self, planned: tuple[PlannedFile, ...], paths: Sequence[str]
    ) -> tuple[PlannedFile, ...]:
        """Return the files with why each stays; paths are those that a person named."""
        deleted = [f.path for f in planned if f.action == REMOVED and not f.refusal]
        ignored = self._ignored(deleted)
        refused = []
        for file in planned:
            reason = file.refusal or self._reason(file)
            if not reason and file.action == REMOVED and file.path not in paths:
                reason = self._reason_to_keep(file, ignored)
            if not reason and _ATTRIBUTES in self._changed_rules:
                reason = self._reason_by_attributes(file)
            refused.append(file.replace(refusal=reason))
        return tuple(refused)

    def _reason(self, file: PlannedFile) -> str:
        path = file.path.rstrip("/")
        above = _folders_above(path)
        for name in (path, *above):
            if name in self._skipped:
                return f"it was left out of the snapshot: {self._skipped[name]}"
        if self._redactor.text(path) != path:
            return "its name holds a secret, and such files are not kept"
        if any(map(self._is_repository, above)):
            return "it lies in a repository of its own"
        if file.before.is_unread:
            return "what lies there cannot be read, and so cannot be kept"
        if file.action == ADDED and file.is_committed and file.is_unchanged:
            return "git is told to leave it out of the worktree, as in a sparse checkout"
        if file.before.mode and path in self._hidden_paths():
            return "git is told not to look at it (`assume-unchanged` or `skip-worktree`)"
        return ""

    def _reason_to_keep(self, file: PlannedFile, ignored: frozenset[str]) -> str:
        """Say why a file that the snapshot lacks may have been there all the same."""
        if file.path in ignored:
            return "git ignores it, so the snapshot says nothing of it"
        if file.is_committed:
            return ""
        if self._target.manifest.unseen:
            return f"the snapshot lacks {self._target.manifest.unseen[0]}"
        if _IGNORE in self._changed_rules:
            return "it may have been ignored, by other rules than now; name its path to remove it"
        return ""

    def _reason_by_attributes(self, file: PlannedFile) -> str:
        """Say why a content cannot be written yet that git may have converted in another way."""
        is_plain = file.action == REMOVED or file.path in self._target.manifest.raw_paths
        if is_plain or os.path.basename(file.path) in (_ATTRIBUTES, _IGNORE):
            return ""
        return f"the `{_ATTRIBUTES}` differ from the snapshot's; restore them first, by their names"

    def _ignored(self, paths: Sequence[str]) -> frozenset[str]:
        """Return the paths that git ignores by the rules of now, tracked or not."""
        if not paths:
            return frozenset()
        question = ("--no-literal-pathspecs", "check-ignore", "--no-index", "-z", "--stdin")
        request = b"".join(os.fsencode(path) + b"\0" for path in paths)
        git = self._repository.git
        done = git.start(*question, settings=git.user_rules()).finish(request)
        if done.returncode not in (0, 1):
            raise git.failure("check-ignore", done)
        return frozenset(os.fsdecode(path) for path in done.stdout.split(b"\0") if path)

    def _hidden_paths(self) -> frozenset[str]:
        """Return the paths that git is told not to look at: what lies there is in no snapshot."""
        if self._hidden is None:
            listed = self._repository.git.run("ls-files", "-z", "-v", "--cached").split(b"\0")
            # A small letter stands for `assume-unchanged`, the letter S for `skip-worktree`.
            self._hidden = frozenset(
                os.fsdecode(line[2:]) for line in listed if line[:1] == b"S" or line[:1].islower()
            )
        return self._hidden

    def _is_repository(self, folder: str) -> bool:
        if folder not in self._repositories:
            there = os.path.lexists(os.path.join(self._root, folder, ".git"))
            self._repositories[folder] = there
        return self._repositories[folder]


def _folders_above(path: str) -> Iterable[str]:
    """Return the folders that a path lies in, without the worktree's root."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
