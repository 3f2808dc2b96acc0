"""Git's attributes of files, as far as they decide what git stores of a content.

Git is only asked where one of the files is there in which attributes stand: each question costs a
start of git, and a look through the whole index.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
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
        done = self._git.start(*question, settings=user_rules).finish(request, limit=_TIME_LIMIT)
        if done.returncode:
            raise self._git.failure("check-attr", done)
        words = [os.fsdecode(word) for word in done.stdout.split(b"\0")[:-1]]
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
