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


def test_a_purge_takes_from_the_undo_of_a_restore_only_the_files_with_the_secret(
    begun: Guard, git: Git
) -> None:
    (git.root / "clean.py").write_text("one\n")
    begun.checkpoint("Before")
    name = begun.log(1)[0].name
    (git.root / "clean.py").write_text("my own work\n")
    (git.root / "leaking.py").write_text("the word is correcthorse\n")
    (git.root / "leaking_too.py").write_text("the word is batterystaple\n")
    begun.files.restore(begun.files.plan(name, theirs_too=True))
    for value in ("correcthorse", "batterystaple"):
        begun.secrets.purge("1", value=value, reason="It got into a file")
        git("gc", "--quiet", "--prune=now")
        assert holders(git, value) == []
    plan = begun.files.plan_undo()
    begun.files.restore(plan.replace(files=tuple(f for f in plan.files if f.path == "clean.py")))
    assert (git.root / "clean.py").read_text() == "my own work\n"


def test_the_record_of_a_restore_is_no_secret(begun: Guard, git: Git) -> None:
    name = begun.log(1)[0].name
    (git.root / "file.py").write_text("1\n")
    begun.files.restore(begun.files.plan(name, theirs_too=True))
    assert list(begun.secrets.scan()) == []
