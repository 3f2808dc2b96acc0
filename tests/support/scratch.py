"""Scratch repositories for tests that type commands, and the check of documented console blocks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.copied_repository import copy_repository
from tests.support.forked import run, simple_command

BIN = str(Path(sys.executable).parent)
"""Where the `gitguard` command of this environment is."""
_NEEDS_ITS_NEIGHBOURS = re.compile(
    r"""^\s*(cd|export|set|umask|trap|exec|for|while|until|if|then|else|do|done|fi|\w+=)\b"""
    r"""|&|\||\$\?|^[^']*'[^']*$|^[^"]*"[^"]*$"""
)
"""A step of a line that changes what follows in it, asks how the one before it ended, or is cut
within quotes."""
_MASKS = (
    (re.compile(r"\b[0-9a-f]{7,64}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),
    (re.compile(r"task-\d{8}T\d{6}Z"), "<task>"),
    (re.compile(r"(?<=, )(\d{4}-\d\d-\d\d )?\d\d:\d\d(?=\)$)", re.MULTILINE), "<hour>"),
    (re.compile(r"(?<=\()\d+ (s|min|h|d)(?= ago\))"), "<age>"),
)


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user's own is seen."""
    return {
        "PATH": os.pathsep.join((BIN, os.environ["PATH"])),
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_EDITOR": "false",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def shell(command: str, root: Path, home: Path) -> str:
    """Run a command as a reader would; return what they see."""
    steps = command.split("; ")
    if len(steps) > 1 and not any(map(_NEEDS_ITS_NEIGHBOURS.search, steps)):
        return "".join(shell(step, root, home) for step in steps)
    if words := simple_command(command):
        return run(words, root, environment(home), together=True).stdout
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=root,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout


def make_repository(root: Path, home: Path) -> None:
    """Make a repository with one commit on `main`."""
    copy_repository(root, author="Ada", email="ada@example.org", message="Start")
    home.mkdir(exist_ok=True)


def console_blocks(page: Path) -> list[tuple[str, str]]:
    """Return the commands of a page's console blocks, each with the output it promises."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = f"{command[:-1]}{more}"
            found.append((command, output))
    return found


def masked(text: str) -> str:
    """Replace what differs from run to run."""
    for pattern, name in _MASKS:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


def is_as_promised(promised: str, seen: str) -> bool:
    """Compare an output with its promise; `…` stands for anything, alone on a line for lines."""
    pattern = ""
    for line in masked(promised).split("\n"):
        elided = line.strip() == "…"
        pattern += r"(?:.*\n)*" if elided else re.escape(line).replace("…", ".*") + r"\n"
    return re.fullmatch(pattern, masked(seen) + "\n") is not None
