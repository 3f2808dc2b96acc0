"""What a test did to a staged folder, the next one does not see."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Git
from tests.support.hostile import tree_of
from tests.support.staged import Stage


def fill(folder: Path) -> None:
    (folder / "repo").mkdir()
    Git(folder / "repo").start()
    (folder / "link").symlink_to("repo")
    (folder / "empty").mkdir()


@pytest.mark.parametrize(
    "change",
    [
        "echo '# Changed' > repo/README.md",
        "chmod +x repo/README.md",
        "rm repo/README.md; mkdir -p repo/README.md/folder",
        "cp -r repo empty; ln -s nowhere empty/link",
        "ln -sfn empty link",
        "rmdir empty; touch empty",
        "git -C repo commit --quiet --allow-empty -m Second",
        "rm -r repo",
    ],
)
def test_a_stage_is_put_back_whatever_happened(tmp_path: Path, change: str) -> None:
    stage = Stage(tmp_path / "stage", fill)
    git = Git(stage.set() / "repo")
    before = tree_of(stage.folder / "repo"), (stage.folder / "link").readlink()
    head = git("rev-parse", "HEAD")
    for _ in range(2):
        subprocess.run(["bash", "-c", change], cwd=stage.folder, check=True)
        stage.set()
        assert git("diff-files") == "", "the index knows the files as they are"
        assert list((stage.folder / "empty").iterdir()) == []
        if git("rev-parse", "HEAD") == head:  # else the folder was filled again
            after = tree_of(stage.folder / "repo"), (stage.folder / "link").readlink()
            assert {**after[0], ".git/index": 0} == {**before[0], ".git/index": 0}
            assert after[1] == before[1]
