"""Files that survive a crash: one atomic writer, one appender, bounded reads.

Paths are plain strings here, because `pathlib` costs a third of a bare Python start in every hook.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from gitguard.errors import (
    GitguardError,
    InvalidDocument,
    NotPermitted,
    NotReadable,
    NotWritable,
    OtherUser,
)
from gitguard.store.disk import folders
from gitguard.store.disk.folders import At

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    class InFolder(Protocol):
        """A name, and the opened folder in which it stands; None for a whole path."""

        name: str
        folder: int | None


NO_FOLLOW = os.O_NOFOLLOW | os.O_CLOEXEC if hasattr(os, "O_NOFOLLOW") else 0
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""A named pipe in a file's place must not make us wait for its writer."""
_LARGEST_SHARED = 1 << 26
"""The largest file, in bytes, that is copied to be appended to; ours are far smaller."""
_DEAD_AFTER = 60
"""Seconds after which a temporary file that did not change was left by a dead process."""
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""What systems without hard links answer."""
_REFUSALS = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})


_UNFIT = frozenset({errno.ENOTDIR, errno.EISDIR, errno.ENXIO})
"""What the system answers when something else than a file lies there."""


def read_bytes(path: str, *, limit: int) -> bytes | None:
    """Read a regular file of at most limit bytes; None when there is none."""
    try:
        with At(path) as at:
            handle = os.open(at.name, os.O_RDONLY | NO_FOLLOW | _NO_WAIT, dir_fd=at.folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        facts = os.fstat(handle)
        size = facts.st_size
        if not stat.S_ISREG(facts.st_mode):
            raise InvalidDocument(f"`{path}` is not a regular file")
        if size > limit:
            raise InvalidDocument(f"`{path}` has {size:,} bytes; the limit is {limit:,}")
        parts = []
        # One byte more than the size, so that one read usually shows the end; `/proc` says 0.
        while chunk := os.read(handle, max(size, 1) + 1):
            parts.append(chunk)
        return b"".join(parts)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(handle)


def unreadable(path: str, error: OSError) -> GitguardError:
    """Return the error for a file or folder that the system fails to read."""
    if error.errno == errno.ELOOP:
        return InvalidDocument(f"`{path}` is a symbolic link, which is refused")
    if isinstance(error, PermissionError):
        if (other := _other_user(path)) is not None:
            return other
        return NotPermitted(f"cannot read `{path}`: {error.strerror}")
    if error.errno in _UNFIT:
        return InvalidDocument(f"cannot read `{path}`: {error.strerror}")
    return NotReadable(
        f"cannot read `{path}`: {error.strerror}",
        "Run the command again; if that does not help, check the disk",
    )


def names_in(folder: str) -> list[str]:
    """Return the names in a folder, none where there is no folder."""
    try:
        handle = folders.opened(folder)
        try:
            return os.listdir(handle)
        finally:
            os.close(handle)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(folder, error) from error


def write_bytes(
    path: str,
    data: bytes,
    *,
    mode: int = 0o600,
    settled: bool = True,
    synced: bool = True,
    owner: os.stat_result | None = None,
) -> None:
    """Replace a file: temporary beside it, fsync, rename, fsync of the folder.

    The last fsync is left out when not settled, for a file whose older content says as much, and
    the first one when not synced, for a file that can be made again from others. With an owner the
    mode is exactly that, and the owner too where root asks.
    """
    try:
        with At(path) as at:
            temporary = f"{at.name}.{os.getpid()}.tmp"
            replace_at(at, data, mode, owner=owner, temporary=temporary, synced=synced)
            if settled:
                _sync_folder_of(at)
    except OSError as error:
        raise refused(path, error) from error


def replace_at(
    at: InFolder,
    data: bytes,
    mode: int,
    owner: os.stat_result | None,
    temporary: str,
    *,
    synced: bool = True,
) -> None:
    """Replace a file in an opened folder; temporary is a name for its content until then."""
    _remove(temporary, at.folder)  # whatever lies there is not of this process
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
        handle = os.open(temporary, flags, mode, dir_fd=at.folder)
        try:
            if owner is not None:
                # Before the content is there: at no moment may others read what they may not.
                _permit(handle, mode, owner)
            write_all(handle, data)
            # The content has to be durable before the name: after a power cut a name that came
            # first leads to an empty file, and the older content is lost as well.
            if synced:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder)
    except OSError:
        _remove(temporary, at.folder)
        raise


def _sync_folder_of(at: At) -> None:
    if at.folder is None:
        sync_folder(os.path.dirname(at.name))
    else:
        os.fsync(at.folder)


def write_all(handle: int, data: bytes) -> None:
    """Write all of data, however little the system takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def copy(path: str, target: str) -> None:
    """Copy a large file whole and durable, for the same eyes only.

    Until it is, it has a temporary's name.
    """
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(path, "rb") as source, open(temporary, "xb", opener=_open_private) as out:
            permit_as(out.fileno(), os.fstat(source.fileno()))
            while data := source.read(1 << 20):
                out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, target)
    except OSError as error:
        remove(temporary)
        raise refused(target, error) from error


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | NO_FOLLOW, 0o600)


def permit_as(handle: int, facts: os.stat_result) -> None:
    """Give an open file the mode of another one, and its owner, which only root can give."""
    _permit(handle, stat.S_IMODE(facts.st_mode), facts)


def _permit(handle: int, mode: int, owner: os.stat_result) -> None:
    # The owner comes first, because `fchown` clears the set-user-ID bits that `fchmod` may set.
    if os.geteuid() == 0:
        os.fchown(handle, owner.st_uid, owner.st_gid)
    os.fchmod(handle, mode)


def copy_part(source: int, target: int, begin: int, count: int) -> int:
    """Copy a part of an open file behind what another one has; return how much at least was."""
    # macOS has a `sendfile` too, but one that writes to sockets alone.
    if hasattr(os, "sendfile") and sys.platform == "linux":
        return os.sendfile(target, source, begin, count)
    data = os.pread(source, min(count, 1 << 20), begin)
    write_all(target, data)
    return len(data)


def create(path: str, data: bytes, *, needs_links: bool = True) -> None:
    """Make a file whole and durable, unless somebody else made it first.

    One that need not be whole after a crash is made also where the system has no hard links.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    # A link to a file that is whole either appears or fails, where `rename` would replace what
    # somebody else made and `O_EXCL` would show a file that is still empty.
    write_bytes(temporary, data)
    try:
        with At(path) as at:
            try:
                _link(temporary, at)
            except OSError as error:
                if needs_links or error.errno not in NO_LINKS:
                    raise
                _write_new(at, data)
            _sync_folder_of(at)
    except FileExistsError:
        return
    except OSError as error:
        raise refused(path, error) from error
    finally:
        remove(temporary)


def _link(path: str, at: At) -> None:
    name = path if at.folder is None else os.path.basename(path)
    os.link(name, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder, follow_symlinks=False)


def write_in_place(path: str, data: bytes) -> None:
    """Write a file under its final name and make its content durable.

    For a file that counts for nothing while it is not whole. Whatever lies there is removed first.
    """
    try:
        with At(path) as at:
            _remove(at.name, at.folder)
            _write_new(at, data)
    except OSError as error:
        raise refused(path, error) from error


def _write_new(at: At, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW
    handle = os.open(at.name, flags, 0o600, dir_fd=at.folder)
    try:
        write_all(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)


def rename(path: str, target: str) -> None:
    """Move a file or folder, durable; raise `OSError` where the system refuses."""
    with At(path) as at, At(target) as to:
        os.replace(at.name, to.name, src_dir_fd=at.folder, dst_dir_fd=to.folder)
        # The target folder first: after a crash between the two a file has both names, never none.
        _sync_folder_of(to)
        if os.path.dirname(path) != os.path.dirname(target):
            _sync_folder_of(at)


def link(path: str, target: str) -> None:
    """Give a file a second name; raise `OSError` where the system refuses."""
    with At(path) as at, At(target) as to:
        ends = {"src_dir_fd": at.folder, "dst_dir_fd": to.folder}
        os.link(at.name, to.name, **ends, follow_symlinks=False)


def remove_folder(path: str) -> None:
    """Remove an empty folder; raise `OSError` where the system refuses."""
    with At(path) as at:
        os.rmdir(at.name, dir_fd=at.folder)


def remove_tree(path: str) -> None:
    """Remove a folder with all that is in it; raise `OSError` where the system refuses."""
    from shutil import rmtree

    with At(path) as at:
        rmtree(at.name, dir_fd=at.folder)


def append(path: str, line: bytes | Callable[[int], bytes]) -> None:
    """Append one line in one write; the caller holds the lock of the file.

    A function is asked for the line with the offset at which it will stand.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | NO_FOLLOW | _NO_WAIT
    try:
        with At(path) as at:
            handle = os.open(at.name, flags, 0o600, dir_fd=at.folder)
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            os.close(handle)
            # A second name of a file may lie anywhere, and what it names stays as it is.
            write_bytes(path, read_bytes(path, limit=_LARGEST_SHARED) or b"")
            with At(path) as at:
                handle = os.open(at.name, flags, 0o600, dir_fd=at.folder)
        try:
            size = os.fstat(handle).st_size
            # A crash may have left half a line. It gets an end of its own, so that readers skip
            # that half and not the line that is written now.
            torn = size and os.pread(handle, 1, size - 1) != b"\n"
            end = b"\n" if torn else b""
            write_all(handle, end + (line if isinstance(line, bytes) else line(size + len(end))))
        finally:
            os.close(handle)
    except OSError as error:
        raise refused(path, error) from error


def sync_file(path: str) -> None:
    """Make a file's content durable."""
    with At(path) as at:
        _sync(os.open(at.name, os.O_RDONLY | NO_FOLLOW | _NO_WAIT, dir_fd=at.folder))


def sync_folder(path: str) -> None:
    """Make a folder's names durable, where the system can."""
    if os.name == "posix":
        _sync(folders.opened(path))


def settle_folder(path: str) -> None:
    """Make durable that names are gone from a folder, which may be gone itself."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    try:
        sync_folder(path)
    except OSError as error:
        raise refused(path, error) from error


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def take_time_of(path: str, model: str) -> None:
    """Give a file the time at which another one was modified, where that can be done."""
    try:
        moment = os.stat(model).st_mtime_ns
        if os.stat(path).st_mtime_ns != moment:
            os.utime(path, ns=(moment, moment))
    except OSError:
        return


def remove(path: str) -> bool:
    """Remove a file if it is there; say whether it was."""
    try:
        with At(path) as at:
            return _remove(at.name, at.folder)
    except (OSError, InvalidDocument):
        return False


def remove_for_sure(path: str) -> None:
    """Remove a file if it is there; raise `NotWritable` where it stays."""
    try:
        with At(path) as at:
            os.unlink(at.name, dir_fd=at.folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise refused(path, error) from error


def _remove(name: str, folder: int | None) -> bool:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True


def changed_at(path: str) -> float:
    """Return when a file was last written, in Unix seconds; 0 where that cannot be told."""
    try:
        with At(path) as at:
            return os.stat(at.name, dir_fd=at.folder).st_mtime
    except (OSError, InvalidDocument):
        return 0


def sweep(
    folder: str,
    now: float,
    *,
    begins: str = "",
    ends: str = ".tmp",
    is_ours: Callable[[str], object] = bool,
) -> None:
    """Remove the temporary files that dead processes left in a folder, those with names of ours."""

    def is_dead(entry: os.DirEntry[str]) -> bool:
        ours = entry.name.startswith(begins) and entry.name.endswith(ends) and is_ours(entry.name)
        return bool(ours) and _is_old(entry.stat(follow_symlinks=False), now)

    try:
        handle = folders.opened(folder)
    except (OSError, GitguardError):
        return
    try:
        with os.scandir(handle) as entries:
            # The names are collected first: a folder that changes while it is listed may leave
            # entries out.
            for name in [entry.name for entry in entries if is_dead(entry)]:
                _remove(name, handle)
    except OSError:
        return
    finally:
        os.close(handle)


def _is_old(facts: os.stat_result, now: float) -> bool:
    return now - facts.st_mtime > _DEAD_AFTER


def free_name(path: str, ending: str = "") -> str:
    """Return path and ending, with a number between them where something lies there already."""
    names = (f"{path}-{number}{ending}" if number else path + ending for number in range(1000))
    return next(name for name in names if not os.path.lexists(name))


def make_folder(path: str) -> None:
    """Create a folder and its parents; a symbolic link in its place is refused."""
    try:
        folders.make(path)
    except OSError as error:
        raise refused(path, error) from error
    refuse_link(path)


def refuse_link(path: str) -> None:
    """Refuse a symbolic link where a folder of ours belongs."""
    if os.path.islink(path):
        raise InvalidDocument(f"`{path}` is a symbolic link, which is refused", "Remove the link")


def is_writable(path: str) -> bool:
    """Say whether the nearest existing folder of a path takes new files."""
    while not os.path.isdir(path):
        parent = os.path.dirname(path)
        if parent == path:
            return False
        path = parent
    return os.access(path, os.W_OK | os.X_OK)


def refused(path: str, error: OSError) -> NotWritable:
    """Turn an operating system's refusal into our error, naming path and reason."""
    if isinstance(error, PermissionError) and (other := _other_user(path)) is not None:
        return other
    hints = {
        errno.ENOSPC: "Free some space; what was written before is kept, see `gitguard status`",
        errno.EROFS: "The file system is read-only; see `gitguard status` for what is kept",
        errno.EPERM: "It may belong to somebody else; run the command as its owner",
    }
    return NotWritable(
        f"cannot write `{path}`: {error.strerror}",
        hints.get(error.errno or 0, "Check the permissions of the folder"),
    )


def _other_user(path: str) -> OtherUser | None:
    """Return the error for a path in a folder of ours that belongs to another user, if it does."""
    folder, owner = folders.stranger(path)
    if not folder:
        return None
    return OtherUser(
        f"`{folder}` belongs to {_name_of(owner)}, and gitguard keeps each user's sessions private",
        "In this worktree you can use git, but no gitguard command or hook. Work in a worktree of "
        "your own, where your sessions, checkpoints and hooks work: `git worktree add ../PATH`, "
        "then `gitguard ensure` there",
    )


def _name_of(user: int) -> str:
    import pwd

    try:
        return f"the user `{pwd.getpwuid(user).pw_name}`"
    except KeyError:
        return f"the user {user}"


def is_refusal(error: NotWritable) -> bool:
    """Say whether the place refuses writing, as read-only systems and full disks do."""
    if isinstance(error, OtherUser):
        return False
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in _REFUSALS


def complete_lines(path: str, *, offset: int, limit: int) -> tuple[list[bytes], int]:
    """Return the whole lines after offset and the offset behind the last of them."""
    try:
        with At(path) as at:
            handle = os.open(at.name, os.O_RDONLY | NO_FOLLOW | _NO_WAIT, dir_fd=at.folder)
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        data = os.pread(handle, limit, offset)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(handle)
    end = data.rfind(b"\n") + 1
    return data[:end].split(b"\n")[:-1], offset + end


def lines_backwards(
    path: str, *, block: int = 1 << 16, limit: int = 1 << 26, most: int = 100_000
) -> Iterator[bytes]:
    """Yield a file's lines from the last to the first, block by block; blank ones are left out.

    The walk ends after limit bytes and after about so many lines, so that neither memory nor time
    grows with the file. What was read of the line in which it ends is left out.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        position = os.fstat(handle).st_size
        end = max(position - limit, 0)
        parts: list[bytes] = []
        while position > end and most > 0:
            start = max(position - block, end)
            # What stands before the first line end belongs to a line that begins in an earlier
            # block; it waits in `parts`, last part first, until that block is read.
            head, *tail = os.pread(handle, position - start, start).split(b"\n")
            position = start
            if not tail:
                parts.append(head)
                continue
            if line := tail.pop() + b"".join(reversed(parts)):
                yield line
            yield from filter(None, reversed(tail))
            most -= len(tail) + 1
            parts = [head]
        if not position:
            yield b"".join(reversed(parts))
    finally:
        os.close(handle)
