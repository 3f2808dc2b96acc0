"""What a restore leaves alone, what it keeps for an undo, and where it never writes."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NothingFound
from gitguard.guard import Guard
from gitguard.sessions.file_restore import FilePlan
from gitguard.store.git.trees import PLAIN, TreeEntry, Trees, is_plain_name
from tests.conftest import Git, OpenGuard
from tests.support.kept_files import left_out


@pytest.fixture
def begun_here(guard: Guard, git: Git) -> Guard:
    (git.root / ".gitignore").write_text("*.log\n")
    (git.root / "tracked").write_text("1\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Files")
    guard.ensure()
    return guard


def checkpoint(guard: Guard) -> str:
    guard.checkpoint("Here")
    return guard.log(1)[0].name


def planned(guard: Guard, name: str, *paths: str) -> FilePlan:
    return guard.files.plan(name, paths, theirs_too=True)


def refusals(plan: FilePlan) -> dict[str, str]:
    return {file.path: file.refusal for file in plan.refused}


# What was kept


def test_what_was_kept_outside_of_git_outlives_later_restores(begun_here: Guard, git: Git) -> None:
    name = checkpoint(begun_here)
    (git.root / ".env").write_text("TOKEN=1\n")
    (git.root / "x").write_text("x\n")
    begun_here.files.restore(planned(begun_here, name, ".env"))
    begun_here.files.restore(planned(begun_here, name, "x"))
    folder = Path(begun_here.workspace.anchor_folder(begun_here.store().session)) / "restored"
    kept = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert "TOKEN=1\n" in kept
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")} == {0o700, 0o600}


def test_each_worktree_undoes_its_own_restore(
    begun_here: Guard, git: Git, open_guard: OpenGuard
) -> None:
    name = checkpoint(begun_here)
    (git.root / "x").write_text("x\n")
    begun_here.files.restore(planned(begun_here, name))
    linked = git.root.parent / "linked"
    git("worktree", "add", "--quiet", "--detach", str(linked))
    other = open_guard(linked, session="main")
    other.ensure()
    there = checkpoint(other)
    (linked / "y").write_text("y\n")
    other.files.restore(planned(other, there))
    begun_here.files.restore(begun_here.files.plan_undo())
    assert (git.root / "x").read_text() == "x\n"
    assert not (linked / "y").exists()


def test_a_file_with_an_odd_name_beside_the_restored_one_stays(begun_here: Guard, git: Git) -> None:
    name = checkpoint(begun_here)
    (git.root / ".gitguard-restoring.tmp").write_text("precious\n")
    (git.root / "tracked").write_text("2\n")
    begun_here.files.restore(planned(begun_here, name, "tracked"))
    assert (git.root / ".gitguard-restoring.tmp").read_text() == "precious\n"


def test_permissions_stay_and_come_back(begun_here: Guard, git: Git) -> None:
    name = checkpoint(begun_here)
    (git.root / "tracked").write_text("2\n")
    (git.root / "tracked").chmod(0o600)
    (git.root / "new").write_text("private\n")
    (git.root / "new").chmod(0o600)
    begun_here.files.restore(planned(begun_here, name))
    assert stat.S_IMODE((git.root / "tracked").stat().st_mode) == 0o600
    begun_here.files.restore(begun_here.files.plan_undo())
    assert stat.S_IMODE((git.root / "new").stat().st_mode) == 0o600
    assert (git.root / "tracked").read_text() == "2\n"


# What is left alone


def test_what_was_ignored_is_not_deleted_when_the_rule_is_gone(begun_here: Guard, git: Git) -> None:
    (git.root / "keep.log").write_text("kept\n")
    name = checkpoint(begun_here)
    (git.root / ".gitignore").unlink()
    plan = planned(begun_here, name)
    assert "may have been ignored" in refusals(plan)["keep.log"]
    assert [file.path for file in plan.chosen] == [".gitignore"]


def test_what_is_ignored_now_is_not_deleted_though_it_is_committed(
    begun_here: Guard, git: Git
) -> None:
    (git.root / "forced.log").write_text("kept\n")
    name = checkpoint(begun_here)
    git("add", "--force", "forced.log")
    git("commit", "--quiet", "--message", "Force it")
    assert "git ignores it" in refusals(planned(begun_here, name))["forced.log"]


def test_what_is_ignored_by_now_is_only_put_back_by_its_name(begun_here: Guard, git: Git) -> None:
    (git.root / "local.conf").write_text("1\n")
    name = checkpoint(begun_here)
    (git.root / ".git" / "info" / "exclude").write_text("local.conf\n")
    (git.root / "local.conf").write_text("precious\n")
    refused = refusals(planned(begun_here, name))
    assert refused == {"local.conf": "git ignores it now; name its path to put it back"}
    [file] = planned(begun_here, name, "local.conf").chosen
    assert (file.path, file.action) == ("local.conf", "changed")


def test_what_git_is_told_to_pass_over_is_named_by_number(begun_here: Guard, git: Git) -> None:
    name = checkpoint(begun_here)
    git("update-index", "--assume-unchanged", "tracked")
    (git.root / "tracked").write_text("2\n")
    plan = planned(begun_here, name)
    assert plan.files == ()
    assert plan.unseen == ("1 file that git is set to ignore",)


def test_what_the_user_ignores_everywhere_is_neither_kept_nor_deleted(
    begun_here: Guard, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (home / "ignored").write_text("*.swp\n")
    monkeypatch.setenv("HOME", str(home))
    places = begun_here.workspace.places.replace(environment=dict(os.environ))
    guard = Guard(str(git.root), places, begun_here.clock)
    name = checkpoint(guard)
    (git.root / "a.swp").write_text("1\n")
    assert planned(guard, name).files == ()


def test_a_snapshot_that_did_not_look_at_untracked_files_deletes_none(
    begun_here: Guard, git: Git
) -> None:
    (git.root / "many").mkdir()
    for number in range(20_001):
        (git.root / "many" / str(number)).touch()
    name = checkpoint(begun_here)
    for path in (git.root / "many").iterdir():
        if path.name != "1":
            path.unlink()
    assert "the snapshot lacks" in refusals(planned(begun_here, name))["many/1"]


def test_a_repository_inside_is_left_alone_whatever_became_of_it(
    begun_here: Guard, git: Git
) -> None:
    nested = Git(git.root / "nested")
    nested.root.mkdir()
    nested.start()
    (nested.root / "x").write_text("x\n")
    (git.root / "plain").mkdir()
    (git.root / "plain" / "y").write_text("y\n")
    name = checkpoint(begun_here)
    (git.root / "nested" / ".git").rename(git.root.parent / "moved")
    (git.root / "plain" / "y").write_text("changed\n")
    Git(git.root / "plain").start()
    reasons = refusals(planned(begun_here, name))
    assert "left out of the snapshot" in reasons["nested/x"]
    assert "a repository of its own" in reasons["plain/y"]


def test_a_file_whose_name_holds_a_secret_stays_as_it_is(begun_here: Guard, git: Git) -> None:
    token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (git.root / token).write_text("0\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "v0")
    (git.root / token).write_text("1\n")
    name = checkpoint(begun_here)
    (git.root / token).write_text("2\n")
    git("commit", "--quiet", "--all", "--message", "v2")
    assert "its name holds a secret" in refusals(planned(begun_here, name))[token]


def test_where_attributes_differ_they_have_to_be_put_back_first(
    begun_here: Guard, git: Git
) -> None:
    (git.root / ".gitattributes").write_text("*.txt eol=crlf\n")
    (git.root / "t.txt").write_bytes(b"one\r\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "CRLF")
    name = checkpoint(begun_here)
    (git.root / ".gitattributes").write_text("")
    (git.root / "t.txt").write_bytes(b"two\r\n")
    plan = planned(begun_here, name)
    assert "differ from the snapshot's" in refusals(plan)["t.txt"]
    begun_here.files.restore(plan)
    begun_here.files.restore(planned(begun_here, name))
    assert (git.root / "t.txt").read_bytes() == b"one\r\n"


def test_what_a_sparse_checkout_leaves_out_is_not_made(begun_here: Guard, git: Git) -> None:
    for folder in ("in", "out"):
        (git.root / folder).mkdir()
        (git.root / folder / "f").write_text("1\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Folders")
    name = checkpoint(begun_here)
    (git.root / "out" / "f").write_text("2\n")
    git("commit", "--quiet", "--all", "--message", "Change it")
    git("sparse-checkout", "set", "in")
    assert "sparse checkout" in refusals(planned(begun_here, name))["out/f"]


def test_where_capital_letters_make_no_other_name_a_file_is_not_removed_for_its_spelling(
    begun_here: Guard, git: Git
) -> None:
    name = checkpoint(begun_here)
    (git.root / ".git" / "CoNfIg").touch()  # as on a file system that ignores case
    (git.root / "tracked").rename(git.root / "TRACKED")
    (git.root / "new").touch()
    plan = planned(begun_here, name)
    assert refusals(plan) == {"TRACKED": "the file system takes it for `tracked`"}
    assert {file.path: file.action for file in plan.chosen} == {
        "new": "removed",
        "tracked": "added",
    }


def test_of_two_files_that_only_differ_in_capital_letters_neither_replaces_the_other(
    begun_here: Guard, git: Git
) -> None:
    (git.root / "TRACKED").write_text("2\n")
    name = checkpoint(begun_here)
    (git.root / ".git" / "CoNfIg").touch()
    (git.root / "TRACKED").unlink()
    assert planned(begun_here, name).chosen == ()


def test_a_name_that_stands_for_nothing_is_refused(begun_here: Guard) -> None:
    with pytest.raises(InvalidInput, match="there is no `nosuch`"):
        planned(begun_here, checkpoint(begun_here), "nosuch")


# Names that lead elsewhere

LEADING = (
    "",
    ".",
    "..",
    "a/b",
    ".git",
    ".GIT",
    ".git.",
    ".git ",
    "git~1",
    ".g\u200cit",
    ".git::x",
)


@pytest.mark.parametrize("name", LEADING)
def test_a_name_that_leads_elsewhere_is_none_of_a_worktree(name: str) -> None:
    assert not is_plain_name(name)


@pytest.mark.parametrize(
    "name", ["a", ".gitignore", ".github", "git", "...", "größe", "a:b", "a\\b"]
)
def test_a_plain_name_is_one(name: str) -> None:
    assert is_plain_name(name)


def test_nothing_is_written_of_a_commit_with_a_git_folder_in_it(
    begun_here: Guard, git: Git, tmp_path: Path
) -> None:
    store = begun_here.store()
    repository = store.repository()
    with repository.reader() as reader, repository.object_writer() as writer:
        blob = writer.write("blob", b"[core]\n\tfsmonitor = touch pwned\n")
        inner = Trees(reader).changed("", {"config": TreeEntry(PLAIN, blob)}, writer.write)
        evil = writer.write("tree", b"40000 .git\0" + bytes.fromhex(inner))
    leads_elsewhere = pytest.raises(InvalidDocument, match="no worktree may have")
    with repository.reader() as reader, leads_elsewhere:
        list(Trees(reader).files(evil))
    commit = git("commit-tree", "-m", "evil", evil)
    git("update-ref", "HEAD", commit)
    begun_here.checkpoint("On an evil commit")
    config = (git.root / ".git" / "config").read_bytes()
    newest, *_, oldest = (c.name for c in begun_here.log(10) if c.files)
    for name in (newest, oldest):
        with pytest.raises(GitguardError):
            begun_here.files.restore(planned(begun_here, name))
    assert (git.root / ".git" / "config").read_bytes() == config


def test_a_snapshot_that_is_not_in_this_repository_is_said_to_be_elsewhere(
    begun_here: Guard, git: Git
) -> None:
    name = checkpoint(begun_here)
    (git.root / "tracked").write_text("2\n")
    begun_here.checkpoint("Later")
    shutil.rmtree(git.root / ".git" / "gitguard" / "files.git")
    with pytest.raises(NothingFound, match="is not here"):
        planned(begun_here, name)
    with pytest.raises(NothingFound, match="is not here"):
        begun_here.history.files(name)


def test_a_file_behind_a_filter_is_left_to_git_and_the_command_is_named(
    begun_here: Guard, git: Git
) -> None:
    git("config", "filter.upper.clean", "tr a-z A-Z")
    git("config", "filter.upper.smudge", "touch pwned; cat")
    (git.root / ".gitattributes").write_text("*.bin filter=upper\n")
    (git.root / "m.bin").write_text("content\n")
    os.utime(git.root / "m.bin", (1_700_000_000, 1_700_000_000))  # so git need not read it again
    git("add", "--all")
    git("commit", "--quiet", "--message", "Filtered")
    name = checkpoint(begun_here)
    (git.root / "m.bin").unlink()
    reason = refusals(planned(begun_here, name))["m.bin"]
    commit = git("rev-parse", "HEAD").strip()
    assert f"`git restore --source={commit} --worktree -- m.bin` runs it" in reason
    assert not (git.root / "pwned").exists()


@pytest.mark.parametrize("rules", [".git/info/exclude", "../home/.config/git/ignore", "../rules"])
def test_what_may_have_been_ignored_by_rules_outside_of_the_worktree_is_not_deleted(
    begun_here: Guard, git: Git, tmp_path: Path, rules: str
) -> None:
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    if rules == "../rules":
        (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {git.root / rules}\n")
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    places = begun_here.workspace.places.replace(environment=environment)

    def opened() -> Guard:
        return Guard(str(git.root), places, begun_here.clock)

    path = git.root / rules
    before = path.read_text() if path.exists() else ""
    path.write_text(f"{before}data/\n")
    (git.root / "data").mkdir()
    (git.root / "data" / "precious").write_text("1\n")
    name = checkpoint(opened())
    path.write_text(before)
    reason = "it may have been ignored, by other rules than now; name its path to remove it"
    assert refusals(planned(opened(), name)) == {"data/precious": reason}
    (chosen,) = planned(opened(), name, "data/precious").chosen
    assert chosen.path == "data/precious"


@pytest.mark.parametrize("is_repository", [True, False])
def test_what_a_link_in_a_folders_place_leads_to_stands_in_no_files_way(
    begun_here: Guard, git: Git, is_repository: bool
) -> None:
    """It may be a repository, or have a folder with files where a file belongs."""
    (git.root / "src").mkdir()
    (git.root / "src" / "file").write_text("1\n")
    name = checkpoint(begun_here)
    elsewhere = git.root.parent / "elsewhere"
    (elsewhere / "file").mkdir(parents=True)
    (elsewhere / "file" / "other").write_text("2\n")
    if is_repository:
        git("init", "--quiet", str(elsewhere))
    (git.root / "src" / "file").unlink()
    (git.root / "src").rmdir()
    (git.root / "src").symlink_to(elsewhere)
    plan = planned(begun_here, name)
    assert refusals(plan) == {}
    begun_here.files.restore(plan)
    assert (git.root / "src" / "file").read_text() == "1\n"
    assert (elsewhere / "file" / "other").read_text() == "2\n"


@pytest.mark.parametrize("name", ["id_rsa.old", "#.env#", ".env copy", ".aws/credentials.old"])
def test_a_copy_of_a_secret_file_is_one(begun_here: Guard, git: Git, name: str) -> None:
    (git.root / name).parent.mkdir(exist_ok=True)
    (git.root / name).write_text("1\n")
    checkpoint(begun_here)
    assert left_out(begun_here) == {name: "its name says that it holds secrets"}
