"""The folders that are gitguard's own, opened one by one, so that no link in their way is followed.

Whoever can write in a repository can put a link in a folder's place at any moment, also between a
look at the folder and its use. So a path below one of ours is never handed to the system whole: its
folders are opened downwards from one that is trusted, and the last name is used relative to the
folder that is open then.

They are private as well. A member of the user's group who can rename in the state directory could
replace the anchors, so what others may do there is taken away whenever a folder is opened.
"""

from __future__ import annotations

import errno
import os
import stat

from gitguard.errors import InvalidDocument, NotPermitted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

PRIVATE, READABLE = 0o700, 0o755
_CAN = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd
_OPEN = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BELOW = _OPEN | getattr(os, "O_NOFOLLOW", 0)
_OTHERS_WRITE = 0o022

_ours: dict[str, tuple[str, int]] = {}
"""By path: the folder above that is trusted, or the folder itself; and the mode."""


def claim(folder: str, trusted: str, mode: int = PRIVATE) -> None:
    """Declare that a folder, and all below it, is gitguard's; none of it may be a link.

    trusted is the folder itself or lies above it, and is opened by its path. What lies below the
    folder is private, whatever its mode.
    """
    _ours[folder] = (trusted, mode)


class At:
    """A context manager: the opened folder of a path, and the name to use relative to it.

    For a path that is not ours there is no folder, and the name is the whole path. Raises
    `InvalidDocument` where a link stands in the way, and `OSError` as opening a folder does.
    """

    __slots__ = ("_path", "folder", "name")

    def __init__(self, path: str) -> None:
        """Name the path; nothing is opened yet."""
        self._path = path
        self.folder: int | None = None
        self.name = path

    def __enter__(self) -> Self:
        our_folder = _our_folder_of(self._path)
        if our_folder and self._path != _ours[our_folder][0]:
            above, self.name = os.path.split(self._path)
            self.folder = _opened(above, our_folder)
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            os.close(self.folder)


def opened(path: str) -> int:
    """Open a folder and return its handle, which the caller closes; raise as `At` does."""
    our_folder = _our_folder_of(path)
    return _opened(path, our_folder) if our_folder else os.open(path, _OPEN)


def make(path: str) -> None:
    """Create a folder and those above it, each for nobody but the user; raise as `At` does."""
    our_folder = _our_folder_of(path)
    if our_folder:
        _make_plain(_ours[our_folder][0])
        os.close(_opened(path, our_folder, make=True))
    else:
        _make_plain(path)


def stranger(path: str) -> tuple[str, int]:
    """Return the folder of ours on the way to a path that belongs to another user, and to whom.

    An empty path where there is none.
    """
    our_folder = _our_folder_of(path)
    # Root may write in every user's folders, so none of them is a stranger's to it.
    if not our_folder or not hasattr(os, "geteuid") or os.geteuid() == 0:
        return "", 0
    folder = our_folder
    while True:
        try:
            owner = os.lstat(folder).st_uid
        except OSError:
            return "", 0
        if owner != os.geteuid():
            return folder, owner
        name = path[len(folder) + 1 :].partition(os.sep)[0]
        if not name:
            return "", 0
        folder = os.path.join(folder, name)


def _our_folder_of(path: str) -> str:
    """Return the folder of ours that a path is or lies in, empty if it is not ours."""
    if not _CAN:
        return ""
    while path not in _ours:
        above = path.rpartition(os.sep)[0]
        if not above:
            return ""
        path = above
    return path


def _opened(path: str, our_folder: str, *, make: bool = False) -> int:
    trusted, mode = _ours[our_folder]
    folder = trusted
    handle = os.open(trusted, _OPEN)
    try:
        if folder == our_folder:
            _keep_private(handle, folder, mode, refuse=True)
        for name in path[len(trusted) :].split(os.sep):
            if not name:
                continue
            folder = os.path.join(folder, name)
            mine = mode if folder == our_folder else PRIVATE
            is_new = make and _make_below(handle, name)
            # If opening fails, `handle` still is the folder above, which the `except` below closes.
            try:
                above, handle = handle, os.open(name, _BELOW, dir_fd=handle)
            except OSError as error:
                # With `O_DIRECTORY` and `O_NOFOLLOW` together, Linux answers ENOTDIR for a link,
                # others ELOOP; ENOTDIR is also the answer for a file.
                is_in_the_way = error.errno in (errno.ELOOP, errno.ENOTDIR)
                if is_in_the_way and _is_link(handle, name):
                    raise InvalidDocument(
                        f"`{folder}` is a symbolic link, which is refused", "Remove the link"
                    ) from error
                raise
            os.close(above)
            # `mkdir` was given the private mode, so that nobody can write there before this line.
            if is_new and mine != PRIVATE:
                os.fchmod(handle, stat.S_IMODE(os.fstat(handle).st_mode) | mine)
            if len(folder) >= len(our_folder):
                # In a repository links are refused anyway; anchors have nothing but their folder.
                _keep_private(handle, folder, mine, refuse=trusted == our_folder)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _make_below(above: int, name: str) -> bool:
    try:
        os.mkdir(name, PRIVATE, dir_fd=above)
    except FileExistsError:
        return False
    return True


def _is_link(above: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _keep_private(handle: int, path: str, mode: int, *, refuse: bool) -> None:
    """Take away what others may do in a folder beyond its mode; refuse where that cannot be."""
    facts = os.fstat(handle)
    if not facts.st_mode & 0o777 & ~mode:
        return
    try:
        os.fchmod(handle, stat.S_IMODE(facts.st_mode) & (0o7000 | mode))
    except OSError as error:
        is_harmless = error.errno == errno.EROFS or not facts.st_mode & _OTHERS_WRITE
        if is_harmless or facts.st_uid == os.geteuid() or not refuse:
            return  # nobody else can write there, or the file system knows no modes
        raise NotPermitted(
            f"other users can write in `{path}`, which belongs to the user {facts.st_uid}",
            f"Make it private as its owner: `chmod 700 '{path}'`; or let GITGUARD_STATE_DIR name "
            "a folder of your own",
        ) from error


def _make_plain(path: str) -> None:
    """Create a folder by its path; those that are missing above it are private too."""
    if os.path.isdir(path):
        return
    _make_plain(os.path.dirname(path))
    try:
        os.mkdir(path, PRIVATE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
