"""Links, pipes, devices and folders where our files belong: nothing outside changes, nothing hangs.

Whoever packs a repository, `.git` and `.gitguard` included, may put anything anywhere in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Git
from tests.support.hostile import answer, gitguard, inside, payload, tree_of

SESSION = ".gitguard/sessions/main"
HOOKS = ("PreToolUse.Bash", "UserPromptSubmit", "PostToolUse.Bash", "Stop")
DAILY = (
    ("note", "--goal", "On"), ("status",), ("checkpoint",), ("repair", "--local"),
    ("note", "--goal", "B"),
)  # fmt: skip
SETTING_UP = (("init",), ("ensure",), ("uninstall",))
HANDING_ON = (("handoff", "write"), ("handoff", "take", "--to-file"), ("handoff", "clear"))
FILES = {
    **{f"{SESSION}/{name}": DAILY for name in ("state.json", "summary.md", "snapshot.yaml")},
    **{f"{SESSION}/{name}": DAILY for name in ("journal.jsonl", "session.json", "pending.json")},
    **{f"{SESSION}/{name}": DAILY for name in ("waiting", "starting")},
    **{f".gitguard/{name}": DAILY for name in ("config.yaml", "config.json", "faults.jsonl")},
    **{f".gitguard/{name}": (("ensure",), *DAILY) for name in ("current", ".gitignore")},
    ".git/gitguard/main.lock": DAILY,
    ".git/commondir": DAILY,
    ".git/info/exclude": SETTING_UP,
    ".claude/settings.local.json": SETTING_UP,
    ".context-checkpoint.md": HANDING_ON,
    "CONTEXT_RECOVERY.md": HANDING_ON,
}
"""Every file of ours, and the commands that have to do with it."""
OF_GIT = (".git/refs/heads/gitguard/main", ".git/logs/refs/heads/gitguard/main")
FOLDERS = (
    ".gitguard", ".gitguard/sessions", SESSION, ".gitguard/archive", ".git/gitguard",
    ".git/refs/heads/gitguard", ".git/logs/refs/heads/gitguard", ".claude",
)  # fmt: skip
EVERYTHING = (
    ("ensure",),
    *DAILY,
    *SETTING_UP,
    *HANDING_ON,
    ("repair", "--archive-theirs", "--yes"),
)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder outside the repository, with a file in it."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "file").write_text("Do not touch.\n")
    return folder


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim / "file")


def _dangling(path: Path, victim: Path) -> None:
    path.symlink_to(victim / "new")


def _hard_link(path: Path, victim: Path) -> None:
    path.hardlink_to(victim / "file")


def _pipe(path: Path, victim: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path, victim: Path) -> None:
    (path / "in it").mkdir(parents=True)


KINDS = (_link, _dangling, _hard_link, _pipe, _folder)
CASES = [
    *((name, kind) for name in FILES for kind in KINDS),
    # What git itself opens: of a pipe there git waits, for no longer than we let it.
    *((name, kind) for name in OF_GIT for kind in (_link, _dangling, _folder)),
]


def use_it(root: Path, commands: tuple[tuple[str, ...], ...]) -> None:
    """Run what hosts and people run."""
    with inside(root, CLAUDE_PROJECT_DIR=str(root)):
        for name in HOOKS:
            answer("claude-code", payload(name, root))
        for arguments in commands:
            gitguard(*arguments)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_stands_in_the_place_of_a_file_changes_nothing_outside(
    git: Git, victim: Path, name: str, kind: Callable[[Path, Path], None]
) -> None:
    with inside(git.root):
        gitguard("ensure")
    path = git.root / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind(path, victim)
    before = tree_of(victim)
    use_it(git.root, FILES.get(name, DAILY))
    assert tree_of(victim) == before


@pytest.mark.parametrize("begun", [True, False])
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_leads_elsewhere_is_not_followed(
    git: Git, victim: Path, name: str, begun: bool
) -> None:
    with inside(git.root):
        gitguard("ensure") if begun else None
    path = git.root / name
    if path.exists():
        shutil.move(path, victim / "moved")
    else:
        (victim / "moved").mkdir()
        path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(victim / "moved")
    before = tree_of(victim)
    use_it(git.root, EVERYTHING)
    assert tree_of(victim) == before


def test_a_folder_of_objects_that_leads_elsewhere_gets_none_of_ours(git: Git, victim: Path) -> None:
    for number in range(256):
        folder = git.root / ".git" / "objects" / f"{number:02x}"
        if not folder.exists():
            folder.symlink_to(victim)
    before = tree_of(victim)
    use_it(git.root, EVERYTHING)
    assert tree_of(victim) == before
