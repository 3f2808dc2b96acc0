"""Which processes live, which have a file open for writing, and which work in a folder.

All but the first is asked of `/proc`, which only Linux has; elsewhere nobody is known to write, and
everybody may be at work.
"""

from __future__ import annotations

import os
import stat


def is_alive(pid: int) -> bool:
    """Say whether a process with this number lives."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # somebody else's
    except (ProcessLookupError, OverflowError):
        return False
    return _facts(pid)[:1] != [b"Z"]  # one that only waits to be buried writes nothing any more


def start_of(pid: int) -> int:
    """Return when a process started, in the system's ticks; 0 where that cannot be known.

    With its number it names one process for good: numbers are given again.
    """
    facts = _facts(pid)
    # Field 22 of proc(5), `starttime`; the first two fields are cut off.
    return int(facts[19]) if len(facts) > 19 else 0


def _facts(pid: int) -> list[bytes]:
    """Return what the system says of a process from its state on, nothing where it does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as opened:
            # The second field is the program's name in brackets, and may hold both of them and
            # spaces; only after the last bracket are the fields what they look like.
            return opened.read().rpartition(b")")[2].split()
    except OSError:
        return []


def name_of(pid: int) -> str:
    """Return the name of a process, empty where it is not known."""
    try:
        with open(f"/proc/{pid}/comm", "rb") as opened:
            return opened.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""


def writers_of(path: str) -> tuple[int, ...]:
    """Return the other processes that have a file open for writing, as far as we may see them."""
    try:
        file = os.stat(path)
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return ()
    return tuple(pid for pid in pids if pid != os.getpid() and _writes(pid, file))


def _writes(pid: int, file: os.stat_result) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        handles = os.listdir(folder)
    except OSError:
        return False  # it ended, or belongs to somebody else
    return any(_is_written(pid, handle, file) for handle in handles)


def _is_written(pid: int, handle: str, file: os.stat_result) -> bool:
    try:
        open_file = os.stat(f"/proc/{pid}/fd/{handle}")
        if not stat.S_ISREG(open_file.st_mode) or not os.path.samestat(open_file, file):
            return False
        with open(f"/proc/{pid}/fdinfo/{handle}", "rb") as opened:
            facts = dict(line.split(b":", 1) for line in opened.read().splitlines() if b":" in line)
        return int(facts[b"flags"], 8) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, ValueError, KeyError):
        return False


def may_work_in(program: str, folders: tuple[str, ...]) -> bool:
    """Say whether a process of this name may be at work in one of the folders."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return True
    return any(name_of(pid) == program and _is_about(pid, folders) for pid in pids)


def _is_about(pid: int, folders: tuple[str, ...]) -> bool:
    try:
        place = os.readlink(f"/proc/{pid}/cwd")
        with open(f"/proc/{pid}/cmdline", "rb") as opened:
            command = os.fsdecode(opened.read())
    except FileNotFoundError:
        return False  # it ended
    except OSError:
        return True  # somebody else's
    return any(f"{place}/".startswith(f"{folder}/") or folder in command for folder in folders)
