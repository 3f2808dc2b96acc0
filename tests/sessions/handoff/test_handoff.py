"""The hand-off file on disk: written, handed back once, hidden from git, and never in the way."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitguard.errors import GitguardError, InvalidDocument, NotConfirmed, NotWritable
from gitguard.guard import Guard
from gitguard.model.config.handoff import HandoffConfig
from gitguard.sessions.handoff.handoff_file import (
    FILE_LIMIT,
    Handoff,
    Recovered,
    current_work,
    recover_handoff,
    write_handoff,
)
from gitguard.sessions.resume.building import resume_block
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.store import SessionStore
from tests.conftest import Git, OpenGuard, new_guard
from tests.faults.change_faults import crashes
from tests.support import forked
from tests.support.scratch import environment, make_repository
from tests.support.staged import staged

NAME = ".context-checkpoint.md"
RECOVERED = ".context-checkpoint.recovered.md"
BLOCK = "CONTEXT_RECOVERY.md"
ON = HandoffConfig(enabled=True)
NOW = float(int(time.time()))
"""The time of every test, which stands still."""


@pytest.fixture
def clock() -> Callable[[], float]:
    return lambda: NOW


def begin(folder: Path) -> None:
    guard = new_guard(folder, lambda: NOW)
    guard.ensure()
    guard.note({"goal": "Port the parser", "next_action": "Run the golden tests"})


tmp_path = staged(store=begin)


@pytest.fixture
def store(guard: Guard) -> SessionStore:
    return guard.store()


def put(root: Path, name: str, text: str | bytes = "", *, age: float = 0) -> Path:
    """Write a file that was modified so many seconds ago."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return aged(path, age)


def aged(path: Path, seconds: float) -> Path:
    os.utime(path, (NOW - seconds, NOW - seconds))
    return path


def written(store: SessionStore, config: HandoffConfig = ON) -> str:
    """Write the file as a hook would, let a moment pass, and return its text."""
    assert write_handoff(store, config), store.workspace.faults()
    path = Path(store.workspace.place.worktree, config.file)
    return aged(path, 5).read_text()


def metacognitive(text: str) -> list[str]:
    body = text.partition("## Plan and Assumptions\n\n")[2]
    return [line for line in body.splitlines() if line.startswith("- ")]


def faults(store: SessionStore) -> list[str]:
    return [str(fault["error"]) for fault in store.workspace.faults()]


# Writing


def test_a_hook_writes_the_file_only_where_it_is_enabled(store: SessionStore, repo: Path) -> None:
    assert not write_handoff(store, HandoffConfig())
    assert not (repo / NAME).exists()
    assert "- Goal: Port the parser" in written(store)
    assert faults(store) == []


def test_the_file_is_written_from_the_state_of_the_checkpoint(
    guard: Guard, store: SessionStore
) -> None:
    guard.note({"decisions": [{"what": "Write it by hand", "why": "no dependency"}]})
    text = written(store)
    assert "1. Write it by hand — because no dependency" in text
    state, _ = current_work(store)
    assert state == guard.state()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(NOW))
    assert text.startswith(f"# Context checkpoint — {stamp}\n")


def test_the_file_says_what_the_agents_own_files_say(store: SessionStore, repo: Path) -> None:
    put(repo, ".active-plan.md", "**Goal**: Ship\n\n1. [done] Read\n2. [in-progress] Write\n")
    put(
        repo, "skills/failure-recovery/failure-log.md", "before\n---\nnew\nits cause\nits cure\n5\n"
    )
    put(repo, "skills/self-model/capabilities.md", age=12 * 60)
    put(repo, "skills/env-model/environment.md", age=3 * 3600)
    assert metacognitive(written(store)) == [
        "- Plan: Goal: Ship; In progress: Write",
        "- Last failure: new its cause its cure",
        "- Pending assumptions: none",
        "- Self-model: 12m ago",
        "- Env-model: 3h ago",
    ]


def test_without_a_log_the_last_failure_is_the_states(guard: Guard, store: SessionStore) -> None:
    guard.note({"failed_attempts": [{"what": "make", "error": "no rule"}]})
    assert "- Last failure: make: no rule" in written(store)


def test_only_the_end_of_a_long_log_and_the_start_of_a_long_plan_are_read(
    store: SessionStore, repo: Path
) -> None:
    put(repo, "skills/failure-recovery/failure-log.md", "x\n" * 500_000 + "---\nnewest\n")
    put(repo, ".active-plan.md", "**Goal**: Ship\n" + "x\n" * 500_000)
    said = metacognitive(written(store))
    assert said[:2] == ["- Plan: Goal: Ship", "- Last failure: newest"]


def test_paths_come_from_the_configuration(store: SessionStore, repo: Path, git: Git) -> None:
    put(repo, "notes/plan.md", "**Goal**: Ship\n")
    config = ON.replace(plan="notes/plan.md", file="notes/hand-off.md", recovered="notes/old.md")
    assert "- Plan: Goal: Ship" in written(store, config)
    assert recover_handoff(store, config)
    assert (repo / "notes/old.md").exists()
    assert git("status", "--porcelain", "--untracked-files=all") == "?? notes/plan.md"


def test_todays_log_is_named_when_there_is_one(store: SessionStore, repo: Path) -> None:
    assert "Today's log" not in written(store)
    yesterday = time.strftime("memory/%Y-%m-%d.md", time.localtime(NOW - 86_400))
    put(repo, yesterday, age=3600)
    assert "Today's log" not in written(store)
    today = put(repo, time.strftime("memory/%Y-%m-%d.md", time.localtime(NOW)), age=3600)
    assert f"- Today's log: memory/{today.name}" in written(store)


def test_nothing_unreadable_keeps_the_file_from_being_written(
    store: SessionStore, repo: Path, tmp_path: Path
) -> None:
    secret = put(tmp_path, "outside/secret.md", "**Goal**: hunter2\n---\nhunter2\n")
    os.mkfifo(repo / ".active-plan.md")
    log = repo / "skills/failure-recovery/failure-log.md"
    log.mkdir(parents=True)
    (repo / "skills/self-model").symlink_to(secret.parent)
    (repo / "skills/env-model").mkdir()
    (repo / "skills/env-model/environment.md").symlink_to(secret)
    (repo / "memory").write_text("not a folder")
    said = metacognitive(written(store))
    assert said[0] == "- Plan: unreadable: `.active-plan.md` is not a regular file"
    assert said[1].startswith("- Last failure: unreadable: ")
    assert said[3:] == []
    os.remove(repo / ".active-plan.md")
    (repo / ".active-plan.md").symlink_to(secret)
    text = written(store)
    assert "leads out of the workspace" in text
    assert "hunter2" not in text
    assert faults(store) == []


def test_a_plan_that_cannot_be_read_is_said_and_stops_nothing(
    store: SessionStore, repo: Path
) -> None:
    # A path longer than any file system takes is refused to everybody, to root as well.
    config = ON.replace(plan="p" * 300)
    assert "- Plan: unreadable: " in written(store, config)


def test_binary_files_in_place_of_text_stop_nothing(store: SessionStore, repo: Path) -> None:
    noise = bytes(range(256)) * 40
    put(repo, ".active-plan.md", noise)
    put(repo, "skills/failure-recovery/failure-log.md", noise)
    text = written(store)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert recover_handoff(store, ON)


def test_a_state_as_large_as_notes_may_be_is_read_back(
    guard: Guard, store: SessionStore, repo: Path
) -> None:
    guard.update({"constraints": ["\N{ROCKET}" * 1000] * 45})
    assert len(written(store).encode()) < FILE_LIMIT
    assert len(recover_handoff(store, ON)) <= 2000


# Changed files


def files_changed(store: SessionStore, config: HandoffConfig = ON) -> list[str]:
    body = written(store, config).partition("## Files Changed\n\n")[2]
    return [line for line in body.partition("\n\n")[0].splitlines() if line]


def test_in_a_fresh_clone_no_file_is_listed_as_changed(
    repo: Path, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    for number in range(50):
        put(repo, f"src/f{number}.py", f"{number}\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "many")
    git("clone", "--quiet", ".", str(tmp_path / "clone"))
    guard = open_guard(tmp_path / "clone")
    guard.ensure()
    assert files_changed(guard.store()) == ["none found"]


def test_files_are_listed_whose_content_changed_and_not_those_that_were_touched(
    store: SessionStore, repo: Path, git: Git
) -> None:
    for name in ("touched", "edited", "deleted", "committed"):
        put(repo, name, "a\n", age=86_400)
    git("add", "--all")
    git("commit", "--quiet", "--message", "files")
    put(repo, "committed", "b\n")
    git("commit", "--quiet", "--all", "--message", "more")
    ids = ("0" * 40, git("rev-parse", "HEAD~1"), git("rev-parse", "HEAD"))
    checked_out = ((*ids[:2], NOW - 86_400), (*ids[1:], NOW - 3600))
    lines = [f"{old} {new} A <a@b> {at:.0f} +0000\tcommit: c\n" for old, new, at in checked_out]
    (repo / ".git" / "logs" / "HEAD").write_text("".join(lines))
    put(repo, "edited", "longer\n", age=86_400)
    put(repo, "new", "b\n", age=86_400)
    aged(repo / "touched", 5)
    (repo / "deleted").unlink()
    uncommitted = ["- deleted (deleted)", "- edited", "- new"]
    assert files_changed(store) == uncommitted
    config = ON.replace(recent_minutes=120)
    assert files_changed(store, config) == ["- committed", *uncommitted]


def test_files_below_more_folders_are_counted(store: SessionStore, repo: Path) -> None:
    for name in ("f", "a/b/c/f", "a/b/c/d/f", "a/b/c/d/g"):
        put(repo, name, "new")
    assert files_changed(store) == ["- a/b/c/f", "- f", "- … and 2 more"]


def test_node_modules_and_hidden_files_of_tools_are_in_no_list_of_changed_files(
    store: SessionStore, repo: Path, git: Git
) -> None:
    put(repo, ".github/workflows/ci.yml", "old")
    put(repo, "out/f", "old")
    git("add", ".")
    git("commit", "--quiet", "--message", "ci")
    store.checkpoint("manual", "Here", Circumstances())
    put(repo, ".gitignore", "out/\n")
    for name in ("node_modules/a.js", "web/node_modules/b.js", ".cache/c", "web/.venv/d", ".env"):
        put(repo, name, "new")
    put(repo, ".github/workflows/ci.yml", "changed")
    put(repo, "parser.py", "new")
    listed = ["- .github/workflows/ci.yml", "- parser.py"]
    shown = [line for line in files_changed(store) if "out/f" not in line]
    assert shown == listed
    block = resume_block(store)
    assert "modified outside the agent's edit tools: .github/workflows/ci.yml; created" in block
    assert "created outside the agent's edit tools: parser.py" in block
    for name in ("node_modules", ".cache", ".venv", ".env", ".gitignore"):
        assert name not in block


def test_the_plan_and_the_failure_log_are_in_the_block_though_the_hand_off_is_off(
    store: SessionStore, repo: Path
) -> None:
    assert not store.config.handoff.enabled
    assert "plan file" not in resume_block(store)
    put(repo, ".active-plan.md", "Goal: Port it\n1. Read\n2. [in progress] Write the tokenizer\n")
    put(repo, "skills/failure-recovery/failure-log.md", "before\n---\nmake: no rule for `x`\n")
    block = resume_block(store)
    assert "The plan file .active-plan.md: Goal: Port it; In progress: Write the tokenizer" in block
    assert "failure-log.md: make: no rule for `x`" in block
    assert "before" not in block.rpartition("failure-log.md")[2]


def test_what_could_not_be_compared_is_said(store: SessionStore, repo: Path) -> None:
    for number in range(1001):
        put(repo, f"f{number}")
    assert files_changed(store) == [
        "none found",
        "- Not compared: untracked files (more than 1,000)",
    ]


def test_20_files_are_shown_and_the_rest_is_counted(store: SessionStore, repo: Path) -> None:
    for number in range(25):
        put(repo, f"src/f{number:02}.py", "new")
    lines = files_changed(store)
    assert lines[0] == "- src/f00.py"
    assert lines[19:] == ["- src/f19.py", "- … and 5 more"]


def test_our_own_files_are_not_listed_as_changed(store: SessionStore, repo: Path) -> None:
    written(store)
    assert Handoff(store, ON).take(to_file=True).block
    aged(repo / BLOCK, 5)
    assert "none found" in written(store)


def test_an_odd_name_is_listed_in_one_line(store: SessionStore, repo: Path) -> None:
    put(repo, "a\n## Next Steps\nb\udcff\u202e")
    assert "\n- a ## Next Steps b\n" in written(store)


# Handing back


@pytest.mark.parametrize(("age", "comes"), [(599, True), (601, False), (-1, False)])
def test_a_file_is_handed_back_only_while_it_is_younger_than_10_minutes(
    store: SessionStore, repo: Path, age: float, comes: bool
) -> None:
    written(store)
    aged(repo / NAME, age)
    block = recover_handoff(store, ON)
    assert ("- Goal: Port the parser" in block) == comes
    assert (repo / RECOVERED).exists() == comes
    assert (repo / NAME).exists() != comes
    assert faults(store) == []


def test_a_file_is_handed_back_once(store: SessionStore, repo: Path) -> None:
    text = written(store)
    assert recover_handoff(store, ON)
    assert recover_handoff(store, ON) == ""
    assert (repo / RECOVERED).read_text() == text
    text = written(store)
    assert recover_handoff(store, ON)
    assert (repo / RECOVERED).read_text() == text


def test_of_many_at_once_one_gets_the_file(store: SessionStore) -> None:
    written(store)
    with ThreadPoolExecutor(8) as pool:
        blocks = list(pool.map(lambda _: recover_handoff(store, ON), range(16)))
    assert len([block for block in blocks if block]) == 1
    assert faults(store) == []


def test_nothing_is_handed_back_where_hooks_are_not_to(store: SessionStore, repo: Path) -> None:
    written(store)
    assert recover_handoff(store, HandoffConfig()) == ""
    assert (repo / NAME).exists()


def test_reading_says_why_there_is_nothing(store: SessionStore, repo: Path) -> None:
    handoff = Handoff(store, ON)
    assert handoff.read() == Recovered(reason=f"there is no `{NAME}`")
    put(repo, NAME, "## A\nb\n", age=720)
    assert handoff.read().reason == (
        f"`{NAME}` is too old: it is 12 minutes old, and the limit is 10"
    )
    put(repo, NAME, " \n")
    assert handoff.read().reason == f"`{NAME}` is empty"
    assert (repo / NAME).exists()


def test_reading_changes_nothing(store: SessionStore, repo: Path) -> None:
    written(store)
    handoff = Handoff(store, ON)
    first = handoff.read()
    assert f"`{NAME}`" in first.block
    assert handoff.read() == first
    assert not (repo / RECOVERED).exists()


def test_a_host_without_injection_gets_the_block_in_a_file(
    store: SessionStore, repo: Path, git: Git
) -> None:
    written(store)
    assert Handoff(store, ON).take(to_file=True).block
    assert (repo / BLOCK).read_text().startswith("<gitguard-handoff ")
    assert (repo / RECOVERED).exists()
    written(store)
    assert Handoff(store, ON).take(to_file=True).block
    assert git("status", "--porcelain") == ""


def test_a_recovery_file_of_somebody_else_stays(store: SessionStore, repo: Path) -> None:
    put(repo, BLOCK, "How we recover\n")
    written(store)
    with pytest.raises(InvalidDocument, match="gitguard did not write"):
        Handoff(store, ON).take(to_file=True)
    assert (repo / BLOCK).read_text() == "How we recover\n"
    assert (repo / NAME).exists()
    assert Handoff(store, ON).clear() == (NAME,)
    assert (repo / BLOCK).exists()


def test_limits_come_from_the_configuration(store: SessionStore, repo: Path) -> None:
    put(repo, NAME, "## A\n" + "word " * 500, age=700)
    config = ON.replace(max_age_minutes=60, section_characters=1000, total_characters=900)
    block = recover_handoff(store, config)
    assert 800 < len(block) <= 900


def test_a_file_of_another_session_is_left_to_it(
    store: SessionStore, open_guard: OpenGuard, repo: Path
) -> None:
    written(store)
    other = open_guard(session="other")
    other.ensure()
    assert recover_handoff(other.store(), ON) == ""
    said = Handoff(other.store(), ON).read().reason
    assert said == f"`{NAME}` belongs to the session `main`; this is `other`"
    assert "Port the parser" in recover_handoff(store, ON)


def test_hooks_hand_nobodys_file_to_no_one_of_several_sessions(
    store: SessionStore, open_guard: OpenGuard, repo: Path
) -> None:
    put(repo, NAME, "## Notes\nhello\n")
    other = open_guard(session="other")
    other.ensure()
    assert recover_handoff(other.store(), ON) == ""
    assert "hello" in Handoff(other.store(), ON).read().block
    assert "hello" in recover_handoff(store, ON)


# What somebody else wrote


def test_a_file_of_somebody_else_is_replaced_only_by_force(store: SessionStore, repo: Path) -> None:
    handoff = Handoff(store, ON)
    handoff.write_current()
    handoff.write_current()
    with (repo / NAME).open("a") as file:
        file.write("- and one thing more\n")
    with pytest.raises(NotConfirmed, match="was edited or written by somebody else"):
        handoff.write_current()
    handoff.write_current(force=True)
    (kept,) = (repo / ".gitguard/archive").iterdir()
    assert kept.read_text().endswith("- and one thing more\n")
    assert "one thing more" not in (repo / NAME).read_text()


def test_hooks_leave_a_fresh_file_written_by_hand_and_keep_an_old_one(
    store: SessionStore, repo: Path
) -> None:
    put(repo, NAME, "# Context Checkpoint\n\n## Next Steps\nby hand\n", age=60)
    assert not write_handoff(store, ON)
    assert "by hand" in recover_handoff(store, ON)
    put(repo, NAME, "## Next Steps\nby hand\n", age=3600)
    assert "Port the parser" in written(store)
    (kept,) = (repo / ".gitguard/archive").iterdir()
    assert "by hand" in kept.read_text()
    assert faults(store) == []


def test_a_file_that_came_with_the_repository_is_not_ours(
    store: SessionStore, repo: Path, git: Git
) -> None:
    put(repo, NAME, "## Next Steps\nrun this\n")
    git("add", NAME)
    assert recover_handoff(store, ON) == ""
    assert not write_handoff(store, ON.replace(max_age_minutes=0))
    for act in (
        Handoff(store, ON).read,
        Handoff(store, ON).clear,
        Handoff(store, ON).write_current,
    ):
        with pytest.raises(InvalidDocument, match="git tracks"):
            act()
    assert (repo / NAME).read_text() == "## Next Steps\nrun this\n"
    assert all("git tracks" in fault for fault in faults(store))


# Never in the way


def make_link(path: Path) -> None:
    path.with_name("target.md").write_text("## A\nsecret\n")
    path.symlink_to("target.md")


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(FILE_LIMIT + 1)


OBSTACLES: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a link": make_link,
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a pipe": lambda path: os.mkfifo(path),
    "a huge file": make_large,
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_stands_in_the_files_place_stops_no_hook(
    store: SessionStore, repo: Path, obstacle: str
) -> None:
    path = repo / NAME
    OBSTACLES[obstacle](path)
    os.utime(path, (NOW - 5, NOW - 5), follow_symlinks=False)
    assert not write_handoff(store, ON)
    assert recover_handoff(store, ON) == ""
    assert os.path.lexists(path)
    assert len(faults(store)) == 2
    with pytest.raises(InvalidDocument, match=NAME) as caught:
        Handoff(store, ON).write_current(force=True)
    assert "Move it away" in caught.value.hint


def test_a_folder_in_the_recovered_files_place_hands_nothing_back(
    store: SessionStore, repo: Path
) -> None:
    written(store)
    (repo / RECOVERED).mkdir()
    assert recover_handoff(store, ON) == ""
    assert (repo / NAME).exists()
    assert "cannot write" in faults(store)[0]


def test_binary_content_is_handed_back_as_text(store: SessionStore, repo: Path) -> None:
    put(repo, NAME, b"## A\n" + bytes(range(256)) * 100)
    block = recover_handoff(store, ON)
    assert len(block) <= 2000
    assert all(c.isprintable() or c == "\n" for c in block)


def test_a_broken_state_stops_no_hook(store: SessionStore, repo: Path) -> None:
    Path(store.states.path).write_text("{")
    assert not write_handoff(store, ON)
    assert "MissingState" in faults(store)[0]


def test_a_fault_of_ours_stops_no_hook(store: SessionStore) -> None:
    assert not write_handoff(store, ON.replace(file="a\0b"))
    assert recover_handoff(store, ON.replace(file="a\0b")) == ""
    assert len(faults(store)) == 2


def test_a_folder_that_leads_out_of_the_workspace_is_refused(
    store: SessionStore, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (repo / "notes").symlink_to(tmp_path / "outside")
    config = ON.replace(file="notes/hand-off.md")
    assert not write_handoff(store, config)
    assert list((tmp_path / "outside").iterdir()) == []
    assert "leads out of the workspace" in faults(store)[0]


# Hidden from git


def test_git_status_stays_clean_and_clearing_leaves_nothing(
    store: SessionStore, repo: Path, git: Git
) -> None:
    exclude = repo / ".git/info/exclude"
    before, traces = exclude.read_bytes(), git.traces()
    for _ in range(2):
        written(store)
        assert git("status", "--porcelain") == ""
        assert Handoff(store, ON).take(to_file=True).block
        assert git("status", "--porcelain") == ""
    assert exclude.read_text().count("gitguard hand-off") == 2
    assert Handoff(store, ON).clear() == (RECOVERED, BLOCK)
    assert Handoff(store, ON).clear() == ()
    assert exclude.read_bytes() == before
    assert git.traces() == traces


def test_lines_are_added_only_for_what_git_does_not_ignore(
    store: SessionStore, repo: Path, git: Git
) -> None:
    exclude = repo / ".git/info/exclude"
    exclude.write_text(".context-*\nlast line without an end")
    written(store)
    assert exclude.read_text() == (
        ".context-*\nlast line without an end\n"
        "# >>> gitguard hand-off >>>\n/CONTEXT_RECOVERY.md\n# <<< gitguard hand-off <<<\n"
    )
    exclude.unlink()
    exclude.parent.rmdir()
    written(store)
    assert git("status", "--porcelain") == ""
    Handoff(store, ON).clear()
    assert not exclude.exists()


def test_a_file_that_cannot_be_hidden_is_not_written(store: SessionStore, repo: Path) -> None:
    info = repo / ".git/info"
    (info / "exclude").unlink()
    info.rmdir()
    info.write_text("in the way")
    assert not write_handoff(store, ON)
    assert not (repo / NAME).exists()
    with pytest.raises(GitguardError):
        Handoff(store, ON).write_current()


def test_a_crash_anywhere_shows_nothing_to_git_and_loses_no_hand_off(
    store: SessionStore, repo: Path, git: Git, open_guard: OpenGuard
) -> None:
    steps = 0
    for _ in crashes(lambda: write_handoff(open_guard().store(), ON)):
        assert git("status", "--porcelain") == ""
        written(store)
        Handoff(store, ON).clear()
        steps += 1
    written(store)
    for _ in crashes(lambda: Handoff(open_guard().store(), ON).take(to_file=True)):
        assert git("status", "--porcelain") == ""
        assert (repo / NAME).exists() != (repo / RECOVERED).exists()
        Handoff(store, ON).clear()
        written(store)
        steps += 1
    assert steps > 12


def test_the_lines_stay_while_another_worktree_needs_them(
    store: SessionStore, repo: Path, git: Git, open_guard: OpenGuard
) -> None:
    git("worktree", "add", "--quiet", "../second")
    second = open_guard(repo.parent / "second")
    second.ensure()
    written(store)
    written(second.store())
    Handoff(store, ON).clear()
    assert git.at(repo.parent / "second")("status", "--porcelain") == ""
    written(store)
    Handoff(second.store(), ON).clear()
    assert git("status", "--porcelain") == ""
    Handoff(store, ON).clear()
    assert "gitguard" not in (repo / ".git/info/exclude").read_text()


def test_installing_and_the_hand_off_give_back_what_they_took(
    store: SessionStore, repo: Path
) -> None:
    from gitguard.store.git import exclude

    path = repo / ".git/info/exclude"
    before = path.read_bytes()
    path.write_bytes(exclude.with_block(before, ("/installed",)))
    written(store)
    path.write_bytes(exclude.without_block(path.read_bytes()) or b"")
    assert "/installed" not in path.read_text()
    assert f"/{NAME}\n" in path.read_text()
    Handoff(store, ON).clear()
    assert path.read_bytes() == before


def test_clearing_removes_a_link_and_not_what_it_leads_to(store: SessionStore, repo: Path) -> None:
    make_link(repo / NAME)
    assert Handoff(store, ON).clear() == (NAME,)
    assert (repo / "target.md").exists()
    (repo / RECOVERED).mkdir()
    with pytest.raises(NotWritable, match="cannot be removed"):
        Handoff(store, ON).clear()


# The command line


class Shell:
    """A scratch repository with a session, in which commands are typed."""

    def __init__(self, folder: Path) -> None:
        self.root, self._home = folder / "typed", folder / "home"
        make_repository(self.root, self._home)
        self("ensure")

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run gitguard with words; return what it prints, errors too."""
        done = forked.run(["gitguard", *words], self.root, environment(self._home))
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def typed(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_commands_write_read_take_and_clear(typed: Shell) -> None:
    typed("note", "--goal", "Port the parser")
    assert typed("handoff", "write") == f"Written: {typed.root / NAME}\n"
    assert "- Goal: Port the parser" in typed("handoff", "read")
    assert "- Goal: Port the parser" in typed("handoff", "take", "--to-file")
    assert (typed.root / BLOCK).exists()
    assert typed("handoff", "take") == f"Nothing to hand back: there is no `{NAME}`.\n"
    assert typed("handoff", "clear") == f"Removed: {RECOVERED}\nRemoved: {BLOCK}\n"
    assert typed("handoff", "clear") == "There was nothing to remove.\n"


def test_the_commands_speak_json(typed: Shell) -> None:
    assert json.loads(typed("handoff", "write", "--json")) == {"path": str(typed.root / NAME)}
    found = json.loads(typed("--json", "handoff", "take"))
    assert found["block"].startswith("<gitguard-handoff ")
    assert (found["reason"], found["path"]) == ("", "")
    assert json.loads(typed("handoff", "read", "--json"))["reason"] == f"there is no `{NAME}`"
    assert json.loads(typed("handoff", "clear", "--json")) == {"removed": [RECOVERED]}
    (typed.root / NAME).write_text("mine")
    error = json.loads(typed("handoff", "write", "--json", code=39))["error"]
    assert error["kind"] == "NotConfirmed"


def test_the_commands_say_what_is_wrong(typed: Shell) -> None:
    (typed.root / NAME).write_text("mine")
    said = typed("handoff", "write", code=39)
    assert "was edited or written by somebody else" in said
    assert "--force" in said
    typed("handoff", "write", "--force")
    (typed.root / NAME).unlink()
    (typed.root / NAME).symlink_to("README.md")
    assert "is a symbolic link" in typed("handoff", "read", code=24)
    (typed.root / ".gitguard/sessions/main/state.json").unlink()
    assert "STATUS:MISSING_STATE" in typed("handoff", "write", code=10)


def test_the_help_teaches(typed: Shell) -> None:
    said = typed("handoff", "--help")
    for word in ("write", "read", "take", "clear", "handoff.enabled", NAME):
        assert word in said
    assert "10 minutes" in typed("handoff", "read", "--help")
