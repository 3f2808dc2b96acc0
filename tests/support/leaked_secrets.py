"""A session that a secret was written into, and who may still hold it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.model.redaction.redactor import Redactor
from tests.conftest import Git, OpenGuard, start_guard
from tests.support.staged import staged

NOW = "2026-01-31T09:30:00Z"
TOKEN = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
UNKNOWN = "correct horse battery staple"
"""A secret that no rule can know."""


class Blind(Redactor):
    """Lets everything through, as gitguard did before it knew a rule."""

    rules_id = "none"

    def text(self, text: str, name: str = "") -> str:
        return text

    def holds_secret(self, part: str) -> bool:
        return False

    def document(self, value: object, path: str = "") -> tuple[object, tuple[()]]:
        return value, ()

    def find(self, value: object, path: str = "") -> tuple[()]:
        return ()


def leak(folder: Path) -> None:
    blind = start_guard(folder, goal="Ours")
    blind.workspace.redactor = Blind()
    blind.note({"goal": f"Deploy with {TOKEN}", "learnings": [f"pass phrase: {UNKNOWN}"]})
    blind.note({"current_phase": "later"})
    blind.checkpoint(f"Because of {TOKEN}.")


tmp_path = staged(leaked=leak)


@pytest.fixture
def leaked(open_guard: OpenGuard) -> Guard:
    """A session whose third checkpoint holds a token, as do the two after it."""
    return open_guard()


def contents(git: Git) -> Iterator[tuple[str, bytes]]:
    """Yield every object of the repository."""
    listed = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    for object_id, kind, _ in (line.split() for line in listed):
        done = subprocess.run(
            ["git", "cat-file", kind, object_id], cwd=git.root, capture_output=True, check=True
        )
        yield object_id, done.stdout


def holders(git: Git, text: str) -> list[str]:
    return [object_id for object_id, data in contents(git) if text.encode() in data]


def files_with(text: str, *roots: Path) -> list[Path]:
    found = (path for root in roots for path in root.rglob("*") if path.is_file())
    return [path for path in found if text.encode() in path.read_bytes()]
