"""What sealing a real host takes: a place for its pinned copy, and ending all it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path


class NotInstallable(RuntimeError):
    """This machine cannot run the pinned host."""


# Looked up once, when tests are collected: each test has a home of its own, and a host that was
# fetched into that would be fetched again by the next.
HOSTS_DIR = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gitguard" / "hosts"
"""Where pinned hosts are kept between runs: in the user's cache."""


def publish(staging: Path, target: Path) -> None:
    """Give a complete installation its name, at once."""
    try:
        staging.rename(target)
    except OSError:
        # Another run published the same version first; its copy is as good as this one.
        if not target.is_dir():
            raise


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


def processes_with(variable: str) -> Iterator[int]:
    """Ids of the processes whose environment has `variable` (NAME=value)."""
    for environ in Path("/proc").glob("[0-9]*/environ"):
        # Processes come and go while the listing is read, and some belong to others.
        with contextlib.suppress(OSError):
            if variable.encode() in environ.read_bytes().split(b"\0"):
                yield int(environ.parent.name)
