"""The process of a host that a hook came from, and whether it still runs.

What cannot be known for sure counts as not known: another machine or container, another system than
Linux, and a program between host and hook that only lives as long as the hook.
"""

from __future__ import annotations

from gitguard.store.disk import processes

_YOUNGEST = 0.3
"""Seconds of age below which a process may have been started for the hook alone."""


def host_process(caller: int) -> str:
    """Return a name that no other process ever has, of the program that called us through shells.

    It is empty where that is not known. Numbers alone are given again, so the name says also when
    the process started, and in which space of the system the number counts.
    """
    pid = processes.program_above(caller)
    space = processes.number_space()
    start = processes.start_of(pid) if pid else 0
    if not (space and start) or processes.age_of(start) < _YOUNGEST:
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
    if not pid or space != processes.number_space():
        return None
    return processes.is_alive(pid) and processes.start_of(pid) == start


def described(name: str) -> str:
    """Return what a person finds a running process by."""
    pid = _parts(name)[0]
    return f"`{processes.name_of(pid)}` (process {pid})"


def _parts(name: str) -> tuple[int, int, str]:
    words = name.split(" ", 2)
    if len(words) < 3 or not (words[0].isdecimal() and words[1].isdecimal()):
        return 0, 0, ""
    return int(words[0]), int(words[1]), words[2]
