"""Git as the tests use it, apart from the user's own configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(root: Path, *args: str) -> str:
    """Run git without the user's configuration."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        ["git", *args], cwd=root, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout
