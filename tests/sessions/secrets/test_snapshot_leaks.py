"""A secret that a snapshot of files holds is found, and the snapshot is forgotten."""

from __future__ import annotations

from gitguard.guard import Guard
from tests.conftest import Git, OpenGuard
from tests.support.leaked_secrets import TOKEN, Blind, holders


def test_a_snapshot_with_a_secret_is_found_and_forgotten(
    begun: Guard, open_guard: OpenGuard, git: Git
) -> None:
    blind = open_guard()
    blind.workspace.redactor = Blind()
    (git.root / "settings.py").write_text(f"token = '{TOKEN}'\n")
    (git.root / "other.py").write_text("1\n")
    blind.checkpoint("Before there was a rule")
    begun.checkpoint("Once more, with the same files")
    name = begun.log(1)[0].name
    leaks = list(begun.secrets.scan())
    assert {leak.path for leak in leaks} == {"settings.py"}
    begun.secrets.purge("1", reason="It got into a file")
    assert list(begun.secrets.scan()) == []
    git("gc", "--quiet", "--prune=now")
    assert holders(git, TOKEN) == []
    assert begun.log(1)[0].name != name
    assert "settings.py" in {f.path for f in begun.files.status().gaps.left_out}
