"""A repository of one empty commit, made by git once a process and copied for each test."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


@cache
def _template(author: str, email: str, message: str) -> TemporaryDirectory[str]:
    folder: TemporaryDirectory[str] = TemporaryDirectory(prefix="gitguard-template-")
    environment = {"PATH": os.environ["PATH"], "HOME": folder.name, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": author, f"GIT_{role}_EMAIL": email}
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["commit", "--quiet", "--allow-empty", "--message", message],
    ):
        subprocess.run(["git", *command], cwd=folder.name, env=environment, check=True)
    return folder


def copy_repository(root: Path, *, author: str, email: str, message: str) -> None:
    """Make root a repository with one commit on `main`; it has no files, so no index to refresh."""
    shutil.copytree(_template(author, email, message).name, root)
