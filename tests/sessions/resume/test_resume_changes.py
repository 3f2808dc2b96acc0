"""The line about what changed since the checkpoint: what it names, its bounds, its harmlessness."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from gitguard import Guard
from gitguard.model.redaction.redactor import Redactor
from gitguard.sessions.resume.building import Drift, changes_since
from gitguard.state.checkpoint import Code
from tests.conftest import Git, OpenGuard, start_guard
from tests.support.conversation import Conversation
from tests.support.staged import staged

TITLE = "Changed since the checkpoint"
OLD, NEW = Code("1" * 40, "main"), Code("2" * 40, "main")


# The line


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (Drift(OLD), ""),
        (Drift(NEW), "HEAD 1111111 → 2222222"),
        (Drift(NEW, 1), "HEAD 1111111 → 2222222 (1 commit)"),
        (Drift(NEW, 3), "HEAD 1111111 → 2222222 (3 commits)"),
        (Drift(Code("1" * 40, "topic")), "branch main → topic"),
        (Drift(Code("1" * 40)), "branch main → none"),
        (Drift(Code("", "main")), "HEAD 1111111 → none"),
        (Drift(OLD, gone=("a.py", "b.py")), "deleted: a.py, b.py"),
        (Drift(OLD, different=("a", "b")), "different from commit 1111111: a, b"),
        (
            Drift(OLD, changed=("a",), unseen=("untracked files (more than 1,000)",)),
            "modified outside the agent's edit tools: a; "
            "not compared: untracked files (more than 1,000)",
        ),
        (
            Drift(OLD, changed=("a", "b", "c", "d", "e")),
            "modified outside the agent's edit tools: a, b, c and 2 more",
        ),
        (
            Drift(OLD, changed=("a",), created=("b",)),
            "modified outside the agent's edit tools: a; created outside the agent's edit tools: b",
        ),
        (
            Drift(Code("2" * 40, "topic"), 2, ("a",), ("b",)),
            "HEAD 1111111 → 2222222 (2 commits); branch main → topic; "
            "modified outside the agent's edit tools: a; deleted: b",
        ),
    ],
)
def test_the_line_says_what_changed(now: Drift, line: str) -> None:
    assert changes_since(OLD, now, Redactor()) == line


def test_the_line_is_one_and_short() -> None:
    names = tuple(f"{i}\n\x1b" + "x" * 300 for i in range(500))
    line = changes_since(OLD, Drift(Code("2" * 40, "b\n" * 200), 50, names, names), Redactor())
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line
    assert len(line) <= 360


# Looking around


def begin(folder: Path) -> None:
    guard = start_guard(folder)
    (folder / "repo" / "own.py").write_text("own\n")
    guard.note({"goal": "g", "next_action": "n", "artifacts": [{"path": "own.py"}]})
    guard.checkpoint("because")


tmp_path = staged(begun=begin)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    """A session whose task touches one file of its own, with a checkpoint."""
    return guard


def line_of(guard: Guard) -> str:
    lines = [line for line in guard.resume().splitlines() if line.startswith(TITLE)]
    return lines[0].removeprefix(f"{TITLE}: ") if lines else ""


def test_where_nothing_changed_there_is_no_line(begun: Guard) -> None:
    assert TITLE not in begun.resume()


def test_commits_since_the_checkpoint_are_counted(begun: Guard, git: Git) -> None:
    old = git("rev-parse", "HEAD")
    for _ in range(3):
        git("commit", "--quiet", "--allow-empty", "--message", "more")
    new = git("rev-parse", "HEAD")
    assert line_of(begun) == f"HEAD {old[:7]} → {new[:7]} (3 commits)"


def test_commits_are_not_counted_where_head_went_elsewhere(begun: Guard, git: Git) -> None:
    old = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--amend", "--allow-empty", "--message", "other")
    assert line_of(begun) == f"HEAD {old[:7]} → {git('rev-parse', 'HEAD')[:7]}"


def test_a_distant_head_is_named_without_a_number(begun: Guard, git: Git) -> None:
    for _ in range(52):
        git("commit", "--quiet", "--allow-empty", "--message", "more")
    assert "commit" not in line_of(begun)


def test_another_branch_is_named(begun: Guard, git: Git) -> None:
    git("switch", "--quiet", "--create", "topic")
    assert line_of(begun) == "branch main → topic"


def test_a_branch_and_a_file_named_after_a_secret_are_shown_without_it(
    guard: Guard, repo: Path, git: Git
) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (repo / f"{token}.txt").write_text("tracked\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "more")
    guard.ensure()
    git("switch", "--quiet", "--create", f"then/{token}")
    guard.note({"goal": "g", "next_action": "n", "artifacts": [{"path": f"{token}.txt"}]})
    guard.checkpoint("because")
    assert TITLE not in guard.resume()
    git("switch", "--quiet", "--create", f"later/{token}")
    (repo / f"{token}.txt").write_text("changed\n")
    block = guard.resume()
    assert "branch then/[REDACTED:github-token] → later/[REDACTED:github-token]" in block
    assert "modified outside the agent's edit tools: [REDACTED:github-token]" in block
    assert "gone" not in line_of(guard)
    assert token not in block


def test_a_file_of_the_task_that_is_gone_is_named(begun: Guard, repo: Path) -> None:
    (repo / "own.py").unlink()
    assert line_of(begun) == "deleted: own.py"


def test_files_that_others_changed_are_named_tracked_or_the_tasks_own(
    begun: Guard, repo: Path
) -> None:
    for name in ("README.md", "own.py", "untracked.txt"):
        (repo / name).write_text("changed\n")
    assert (
        line_of(begun) == "modified outside the agent's edit tools: README.md, own.py; "
        "created outside the agent's edit tools: untracked.txt"
    )


def test_a_fresh_clone_with_a_clean_status_says_nothing(
    repo: Path, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    for number in range(700):
        (repo / f"f{number}.py").write_text(f"{number}\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "many")
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    guard = open_guard(tmp_path / "clone")
    guard.ensure()
    guard.note({"goal": "g", "next_action": "n"})
    guard.checkpoint("because")
    later = time.time() + 60
    for path in (tmp_path / "clone").glob("*.py"):
        os.utime(path, (later, later))
    assert not line_of(guard)


def test_touched_files_are_not_named(begun: Guard, repo: Path) -> None:
    later = time.time() + 60
    for name in ("README.md", "own.py"):
        os.utime(repo / name, (later, later))
    assert not line_of(begun)


def test_a_file_that_was_changed_and_changed_back_is_not_named(begun: Guard, repo: Path) -> None:
    text = (repo / "README.md").read_text()
    (repo / "README.md").write_text("other\n")
    assert line_of(begun)
    (repo / "README.md").write_text(text)
    assert not line_of(begun)


def test_what_was_changed_before_the_checkpoint_is_named_only_when_it_changes_again(
    guard: Guard, repo: Path, git: Git
) -> None:
    for name in ("README.md", "new.txt"):
        (repo / name).write_text("not committed\n")
    guard.ensure()
    guard.note({"goal": "g", "next_action": "n"})
    guard.checkpoint("because")
    later = time.time() + 60
    os.utime(repo / "README.md", (later, later))
    assert not line_of(guard)
    git("add", "--all")
    git("commit", "--quiet", "--message", "as it was")
    assert "changed by" not in line_of(guard)
    (repo / "new.txt").write_text("again\n")
    assert "modified outside the agent's edit tools: new.txt" in line_of(guard)


def test_what_others_commit_is_named(begun: Guard, repo: Path, git: Git) -> None:
    (repo / "README.md").write_text("theirs\n")
    git("add", "README.md")
    git("commit", "--quiet", "--message", "theirs")
    assert line_of(begun).endswith("(1 commit); modified outside the agent's edit tools: README.md")


def test_what_our_own_tools_wrote_is_not_named_committed_or_not(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.guard.note({"goal": "g", "next_action": "n"})
    talk.guard.checkpoint("because")
    (talk.root / "own.py").write_text("by the agent\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(talk.root / "own.py")})
    (talk.root / "theirs.txt").write_text("by a command\n")
    assert line_of(talk.guard) == "created outside the agent's edit tools: theirs.txt"
    talk.git("add", "--all")
    talk.git("commit", "--quiet", "--message", "by the agent")
    expected = "(1 commit); created outside the agent's edit tools: theirs.txt"
    assert line_of(talk.guard).endswith(expected)


def test_tracked_and_untracked_files_that_are_gone_are_named(begun: Guard, repo: Path) -> None:
    (repo / "README.md").unlink()
    (repo / "own.py").unlink()
    assert line_of(begun) == "deleted: README.md, own.py"


def test_a_file_of_the_task_that_never_was_there_is_not_gone(begun: Guard) -> None:
    begun.note({"artifacts": [{"path": "planned.py"}]})
    assert not line_of(begun)


def test_without_a_look_at_the_checkpoint_only_the_commit_is_compared_with(
    begun: Guard, repo: Path, git: Git
) -> None:
    """Another machine's is not here."""
    session = begun.store().session
    (Path(begun.workspace.anchor_folder(session)) / "worktree.json").unlink()
    (repo / "README.md").write_text("other\n")
    head = git("rev-parse", "--short=7", "HEAD")
    assert line_of(begun) == f"different from commit {head}: README.md, own.py"


def test_a_new_checkpoint_ends_the_line(begun: Guard, git: Git) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "more")
    assert line_of(begun)
    begun.checkpoint("now")
    assert not line_of(begun)


def test_addresses_and_impossible_names_are_not_looked_for(begun: Guard) -> None:
    paths = ["https://example.invalid/x", "x\0y", "z" * 5000]
    begun.note({"artifacts": [{"path": path} for path in paths]})
    begun.note({"artifacts": [{"path": "no/folder", "kind": "directory"}]})
    assert TITLE not in begun.resume()


def test_a_broken_index_and_missing_commits_take_nothing_from_the_block(
    begun: Guard, git: Git, repo: Path
) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "more")
    old, new = git("rev-parse", "HEAD~1"), git("rev-parse", "HEAD")
    (repo / ".git" / "index").write_bytes(b"not an index")
    (repo / ".git" / "objects" / new[:2] / new[2:]).unlink()
    assert line_of(begun) == (
        f"HEAD {old[:7]} → {new[:7]}; "
        "not compared: tracked files (git cannot compare them), "
        "untracked files (git cannot list them)"
    )


def test_a_large_index_is_not_looked_through_and_that_is_said(
    begun: Guard, repo: Path, git: Git
) -> None:
    blob = git("hash-object", "-w", "--stdin", stdin="x")
    names = "".join(f"100644 {blob}\t{'deep/' * 30}{i}\n" for i in range(20_000))
    git("update-index", "--index-info", stdin=names)
    git("update-index", "--index-version", "2")
    (repo / "README.md").write_text("other\n")
    assert line_of(begun) == (
        "not compared: tracked files (the index is larger than 4 MiB), untracked files"
    )


def test_looking_around_starts_nothing_of_the_repository(
    begun: Guard, repo: Path, git: Git, tmp_path: Path
) -> None:
    trap = tmp_path / "sprung"
    program = f"sh -c 'touch {trap}; cat'"
    (repo / ".gitattributes").write_text("* filter=trap diff=trap\n")
    (repo / "more.txt").write_text("more\n")
    git("add", ".gitattributes", "more.txt")
    git("commit", "--quiet", "--message", "more")
    for setting in (
        "filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "diff.trap.textconv",
        "diff.trap.command", "core.fsmonitor", "diff.external",
    ):  # fmt: skip
        git("config", setting, program)
    hooks = repo / ".git" / "hooks"
    shutil.rmtree(hooks, ignore_errors=True)
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {trap}\n")
        (hooks / name).chmod(0o755)
    (repo / "more.txt").write_text("other, and not committed\n")
    (repo / "theirs.txt").write_text("new\n")
    before = (repo / ".git" / "index").read_bytes()
    line = line_of(begun)
    assert "theirs.txt" in line
    assert "1 filtered, large or unreadable file" in line
    assert not trap.exists()
    assert (repo / ".git" / "index").read_bytes() == before


def test_only_a_file_of_the_worktree_is_said_to_be_gone(begun: Guard, repo: Path) -> None:
    begun.note({"artifacts": [{"path": "/elsewhere/a.py"}, {"path": "../b.py"}]})
    (repo / "own.py").unlink()
    block = begun.resume()
    assert "own.py (gone)" in block
    assert "a.py (gone)" not in block
    assert "b.py (gone)" not in block
