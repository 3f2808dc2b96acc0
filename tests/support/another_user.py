"""Runs gitguard as another user, which takes root; elsewhere such a test is left out by name."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import gitguard
from gitguard import cli
from tests.support.needed import cannot_run

ALICE, BOB, GROUP = 41_001, 41_002, 41_000
"""Users without an entry in the password file, and the group that they share."""


def run_as(
    user: int, root: Path, *arguments: str, stdin: Path = Path(os.devnull), **environment: str
) -> tuple[int, str]:
    """Run gitguard in a folder; return its exit code and all that it says."""
    if os.geteuid() != 0:
        cannot_run("another user's commands take root")
    _import_all()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        _become(user, root, writing, environment)
        _run(arguments)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), text


def open_the_way(path: Path) -> None:
    """Let other users reach a folder of pytest's."""
    for folder in (path, *path.parents):
        if folder.stat().st_mode & 0o055 != 0o055:
            folder.chmod(folder.stat().st_mode | 0o055)


def _import_all() -> None:
    """Import what the other user may not be able to read."""
    package = Path(gitguard.__file__).parent
    for path in package.rglob("*.py"):
        if path.stem != "__main__":
            parts = path.relative_to(package.parent).with_suffix("").parts
            importlib.import_module(".".join(parts).removesuffix(".__init__"))
    for name in ("pwd", "jinja2", "ruamel.yaml", "shutil", "difflib", "base64", "sqlite3", "json"):
        importlib.import_module(name)


def _become(user: int, root: Path, writing: int, environment: dict[str, str]) -> None:
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    os.chdir(root)
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin",
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_NAME="x",
        GIT_AUTHOR_EMAIL="x@example.invalid",
        GIT_COMMITTER_NAME="x",
        GIT_COMMITTER_EMAIL="x@example.invalid",
        **environment,
    )
    os.umask(0o002)
    os.setgroups([])
    os.setgid(GROUP)
    os.setuid(user)


def _run(arguments: tuple[str, ...]) -> None:
    code: object = 70
    try:
        sys.argv = ["gitguard", *arguments]
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        cli.main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code if isinstance(code, int) else 70)
