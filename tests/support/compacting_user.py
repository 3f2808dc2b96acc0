"""A user who compacts a conversation by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.events import Transcript
from tests.support import forked, spoken
from tests.support.spoken import Said

COMMAND = str(Path(sys.executable).with_name("gitguard"))


class User:
    """A user in a repository: home, configuration, and the command line."""

    def __init__(self, home: Path, root: Path) -> None:
        self.home, self.root = home, root
        self.config = home / ".config" / "gitguard" / "config.yaml"
        self.config.parent.mkdir(parents=True)

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(
        self, *args: str, cwd: Path | None = None, check: bool = True, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        done = forked.run(["gitguard", *args], cwd or self.root, {**self.environment, **variables})
        assert not check or done.returncode == 0, (args, done.stdout, done.stderr)
        return done

    def json(self, *args: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*args, "--json").stdout)
        return found

    def summarizer(self, program: str) -> None:
        """Set a shell program up as the summarizer."""
        self.config.write_text(f"summarizer: {json.dumps(['sh', '-c', program])}\n")


@pytest.fixture
def user(tmp_path: Path, repo: Path) -> User:
    return User(tmp_path / "person", repo)


def conversation(folder: Path, root: Path, said: list[Said]) -> Transcript:
    """A conversation of pi's, held in a folder."""
    transcript = spoken.pi(folder / "talk.jsonl", said)
    path = Path(transcript.path)
    path.write_text(path.read_text().replace('"cwd": "/repo"', f'"cwd": {json.dumps(str(root))}'))
    return transcript
