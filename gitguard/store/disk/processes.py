"""Which processes live, which have a file open for writing, and which work in a folder.

All but the first is asked of `/proc`, which only Linux has; elsewhere nobody is known to write, and
everybody may be at work.

The process of a host that a hook came from has a name here. What cannot be known for sure counts as
not known: another machine or container, another system than Linux, and a program between host and
hook that only lives as long as the hook.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SHELLS = frozenset(
    (
        *("sh", "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "nu", "pwsh"),
        *("tcsh", "xonsh", "zsh", "env", "timeout", "uv", "npx", "npm", "pnpm", "yarn", "mise"),
    )
)
"""Programs that a host runs a hook's command line with."""
_MOST_SHELLS = 8


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


def age_of(start: int) -> float:
    """Return for how many seconds a process has run that started at these ticks."""
    import time

    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


def number_space() -> str:
    """Return the name of the space in which processes have their numbers; empty if unknown.

    A container has its own, and so has another start of the machine.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as opened:
            return opened.read().decode("ascii").strip() + os.readlink("/proc/self/ns/pid")
    except (OSError, UnicodeDecodeError):
        return ""


def program_above(pid: int) -> int:
    """Return the number of a process, or of the first above it that is no shell; 0 for none."""
    for _ in range(_MOST_SHELLS):
        if pid <= 1 or name_of(pid) not in _SHELLS:
            break
        facts = _facts(pid)
        pid = int(facts[1]) if len(facts) > 1 else 0  # field 4 of proc(5), `ppid`
    return pid if pid > 1 else 0


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


def writers_of(*paths: str) -> dict[str, tuple[int, ...]]:
    """Return by path the other processes that have it open for writing, as far as we may see."""
    files: dict[tuple[int, int], str] = {}
    for path in paths:
        try:
            facts = os.stat(path)
        except OSError:
            continue  # nobody writes what is not there
        if stat.S_ISREG(facts.st_mode):
            files[facts.st_dev, facts.st_ino] = path
    writers: dict[str, tuple[int, ...]] = {}
    for pid in _numbers() if files else ():
        if pid != os.getpid():
            for path in _written_by(pid, files):
                writers[path] = (*writers.get(path, ()), pid)
    return writers


def _numbers() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _written_by(pid: int, files: Mapping[tuple[int, int], str]) -> set[str]:
    """Return which of some files, by device and inode, a process has open for writing."""
    try:
        handles = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return set()  # it ended, or belongs to somebody else
    return {path for handle in handles if (path := _written_through(pid, handle, files))}


def _written_through(pid: int, handle: str, files: Mapping[tuple[int, int], str]) -> str:
    try:
        facts = os.stat(f"/proc/{pid}/fd/{handle}")
        path = files.get((facts.st_dev, facts.st_ino), "")
        if not path:
            return ""
        with open(f"/proc/{pid}/fdinfo/{handle}", "rb") as opened:
            lines = dict(line.split(b":", 1) for line in opened.read().splitlines() if b":" in line)
        return path if int(lines[b"flags"], 8) & os.O_ACCMODE != os.O_RDONLY else ""
    except (OSError, ValueError, KeyError):
        return ""


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


_YOUNGEST = 0.3
"""Seconds of age below which a process may have been started for the hook alone."""


def host_process(caller: int) -> str:
    """Return a name that no other process ever has, of the program that called us through shells.

    It is empty where that is not known. Numbers alone are given again, so the name says also when
    the process started, and in which space of the system the number counts.
    """
    pid = program_above(caller)
    space = number_space()
    start = start_of(pid) if pid else 0
    if not (space and start) or age_of(start) < _YOUNGEST:
        return ""
    return f"{pid} {start} {space}"


def believed(name: str, before: str) -> str:
    """Return the process of a turn that begins, empty where nobody can be sure of it.

    before is what the conversation's last hook came from, if there was one. Another one now is a
    host that was started again, or a program that lives as long as one hook: nothing tells which.
    """
    return name if before in ("", name) else ""


def is_running(name: str) -> bool | None:
    """Say whether the process of a name still runs; None where that is not known."""
    pid, start, space = _parts(name)
    if not pid or space != number_space():
        return None
    return is_alive(pid) and start_of(pid) == start


def described(name: str) -> str:
    """Return what a person finds a running process by."""
    pid = _parts(name)[0]
    return f"`{name_of(pid)}` (process {pid})"


def _parts(name: str) -> tuple[int, int, str]:
    words = name.split(" ", 2)
    if len(words) < 3 or not (words[0].isdecimal() and words[1].isdecimal()):
        return 0, 0, ""
    return int(words[0]), int(words[1]), words[2]
