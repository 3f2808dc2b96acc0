"""A secret that a snapshot of files holds is found, and the snapshot is forgotten."""

from __future__ import annotations

import pytest

from gitguard.guard import Guard
from tests.conftest import Git, OpenGuard
from tests.support.file_stores import has_bytes
from tests.support.kept_sessions import at, close_it
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


@pytest.mark.parametrize("kind", ["name", "link", "removed", "raw name"])
def test_a_purge_finds_a_value_in_names_and_links(begun: Guard, git: Git, kind: str) -> None:
    value = "correcthorse"
    path = git.root / (f"{value}.txt" if kind != "link" else "link")
    if kind in ("link", "raw name"):
        path.symlink_to(f"/nowhere/{value}" if kind == "link" else "/nowhere")
    else:
        path.write_text("clean\n")
    if kind == "removed":
        git("add", "--all")
        git("commit", "--quiet", "--message", "A file")
        path.unlink()
    begun.checkpoint("With it")
    if kind != "removed":
        path.unlink()
    (git.root / "later").write_text("later\n")
    if kind == "removed":
        git("reset", "--quiet", "--hard", "HEAD~1")
    begun.checkpoint("Without it")
    assert has_bytes(git, value.encode())
    done = begun.secrets.purge("1", value=value, reason="It got into a name")
    assert not has_bytes(git, value.encode())
    assert all(value not in leak.path for leak in done.leaks)


def test_a_purge_that_died_before_the_disk_was_given_back_is_ended_by_the_next(
    begun: Guard, open_guard: OpenGuard, git: Git
) -> None:
    value = "correcthorse"
    (git.root / "settings.py").write_text(f"the word is {value}\n")
    begun.checkpoint("With it")
    (git.root / "settings.py").unlink()
    begun.checkpoint("Without it")
    snapshots = begun.store().worktree.kept_snapshots()
    with begun.store().worktree.reader() as reader:
        clean = [s for s in snapshots.list() if "settings.py" not in reader.snapshot(s.id).overlay]
    snapshots.put(clean)
    again = open_guard()
    assert has_bytes(git, value.encode())
    again.secrets.purge("1", value=value, reason="It got into a file")
    assert not has_bytes(git, value.encode())


def test_a_purge_names_the_files_of_an_archived_session_that_hold_the_value(
    begun: Guard, git: Git
) -> None:
    (git.root / "settings.py").write_text("the word is correcthorse\n")
    begun.checkpoint("Here")
    other = at(begun, "other")
    other.checkpoint("There")
    close_it(other, "other")
    done = begun.secrets.purge("1", value="correcthorse", reason="It got into a file")
    assert [leak.path for leak in done.elsewhere] == ["settings.py"]


@pytest.mark.parametrize("value", ["ab12cd", "пароль-кит"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_purge_finds_any_value_in_a_binary_file(
    begun: Guard, git: Git, value: str, encoding: str
) -> None:
    data = value.encode(encoding)
    (git.root / "file.bin").write_bytes(b"\0\1" + data + b"\1\0")
    begun.checkpoint("With it")
    (git.root / "file.bin").unlink()
    begun.checkpoint("Without it")
    assert has_bytes(git, data)
    begun.secrets.purge("1", value=value, reason="It got into a file")
    assert not has_bytes(git, data)
