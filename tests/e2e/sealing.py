"""What sealing a real host takes: an environment of its own, and ending all it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

# Nothing listens on the discard port: whatever does not go to the loopback dies there at once.
_DEAD_END_PROXY = "http://127.0.0.1:9"
_SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Run(NamedTuple):
    """A finished command."""

    returncode: int
    stdout: str
    stderr: str


def environment(home: Path, *first_on_path: Path) -> dict[str, str]:
    """Return an environment with nothing of the user's, and no address to reach but 127.0.0.1."""
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join((*map(str, first_on_path), *_SYSTEM_PATH)),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": _DEAD_END_PROXY,
        "HTTP_PROXY": _DEAD_END_PROXY,
        "NO_PROXY": "127.0.0.1",
        "TMPDIR": str(home / "tmp"),
    }


def start(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, which `kill_group` ends."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str], timeout: float) -> Run:
    """Wait for a started command, and end what is left of its process group."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    finally:
        kill_group(process)
    return Run(process.returncode, stdout, stderr)


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a started host and its process group at once, as a crash would.

    The shells of its tools may have process groups of their own and survive.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def leftovers(home: Path) -> list[int]:
    """Processes still running inside the seal, known by its HOME."""
    return sorted(_processes_with(f"HOME={home}"))


def end_leftovers(home: Path) -> None:
    """Kill whatever is still running inside the seal."""
    for pid in leftovers(home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _processes_with(variable: str) -> Iterator[int]:
    """Ids of the processes whose environment has `variable` (NAME=value)."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        # Processes come and go while the listing is read, and some belong to others.
        with contextlib.suppress(OSError):
            if variable.encode() in environ.read_bytes().split(b"\0"):
                yield int(environ.parent.name)
