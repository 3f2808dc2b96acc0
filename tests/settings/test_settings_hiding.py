"""What installations and changes of settings keep out of `git status` in one project, together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.errors import SettingsMoved
from gitguard.guard import Guard
from gitguard.hosts.adviser import find_adviser
from gitguard.hosts.base import InstallOptions
from gitguard.settings.advice import AdviceQuestion, Desk, advise
from gitguard.settings.apply_advice import apply, plan_change
from gitguard.settings.rollback import plan_rollback, roll_back
from tests.conftest import Git, OpenGuard

HOST = "claude-code"
QUESTION = AdviceQuestion("tool-heavy", window=200_000)


def desk_of(guard: Guard, tmp_path: Path) -> Desk:
    """Return a desk in a guard's worktree, for a Claude Code that is a script."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "claude").write_text('#!/bin/sh\necho "2.1.330 (Claude Code)"\n')
    (folder / "claude").chmod(0o755)
    places, place = guard.workspace.places, guard.workspace.place
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)}
    places = places.replace(home=str(tmp_path), environment=environment)
    state = guard.workspace.state_folder
    return Desk(places, guard.config, guard.clock, place.worktree, place.common_dir, state)


@pytest.fixture
def desk(guard: Guard, tmp_path: Path) -> Desk:
    return desk_of(guard, tmp_path)


def change(desk: Desk, tmp_path: Path, question: AdviceQuestion = QUESTION) -> None:
    adviser = find_adviser(HOST)
    advice = advise(desk, adviser, question)
    apply(desk, adviser, advice, plan_change(desk, adviser, advice, str(tmp_path / "reach")))


def take_back(desk: Desk, *, even_if_moved: bool = False) -> None:
    roll_back(desk, plan_rollback(desk, HOST), even_if_moved=even_if_moved)


def install(guard: Guard) -> None:
    guard.install(HOST, InstallOptions("/opt/gitguard"))


def status(git: Git) -> str:
    return git("status", "--porcelain", "--untracked-files=all")


@pytest.mark.parametrize("first", ["changed", "installed"])
def test_uninstalling_brings_no_settings_into_view_that_were_changed_on_advice(
    first: str, desk: Desk, guard: Guard, git: Git, tmp_path: Path
) -> None:
    for step in (first, "installed" if first == "changed" else "changed"):
        if step == "changed":
            change(desk, tmp_path)
        else:
            install(guard)
        assert status(git) == ""
    guard.uninstall(HOST)
    assert status(git) == ""


def test_after_uninstalling_and_going_back_the_exclude_file_is_as_it_was(
    desk: Desk, guard: Guard, git: Git, repo: Path, tmp_path: Path
) -> None:
    exclude = repo / ".git/info/exclude"
    before = exclude.read_bytes()
    change(desk, tmp_path)
    install(guard)
    guard.uninstall(HOST)
    take_back(desk)
    assert exclude.read_bytes() == before
    assert status(git) == ""


def test_going_back_before_uninstalling_says_who_changed_the_file(
    desk: Desk, guard: Guard, tmp_path: Path
) -> None:
    change(desk, tmp_path)
    install(guard)
    with pytest.raises(SettingsMoved, match="by `gitguard init --host claude-code`") as refused:
        take_back(desk)
    assert "`gitguard uninstall --host claude-code` first" in refused.value.hint
    with (tmp_path / "repo/.claude/settings.local.json").open("a") as file:
        file.write("\n")
    with pytest.raises(SettingsMoved) as refused:
        take_back(desk)
    assert "init" not in refused.value.message


def test_no_line_stays_for_settings_that_uninstalling_removed(
    desk: Desk, guard: Guard, repo: Path, tmp_path: Path
) -> None:
    exclude = repo / ".git/info/exclude"
    before = exclude.read_bytes()
    change(desk, tmp_path)
    (repo / ".claude/settings.local.json").unlink()
    install(guard)
    guard.uninstall(HOST)
    assert not (repo / ".claude/settings.local.json").exists()
    assert "/.claude/settings.local.json\n" not in exclude.read_text()
    take_back(desk)
    assert exclude.read_bytes() == before


def test_going_back_brings_nothing_into_view_in_another_worktree(
    desk: Desk, open_guard: OpenGuard, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", str(linked))
    other = desk_of(open_guard(linked), tmp_path)
    change(desk, tmp_path)
    change(other, tmp_path)
    take_back(desk)
    shown = git("-C", str(linked), "status", "--porcelain", "--untracked-files=all")
    assert shown == ""
    take_back(other)
    assert status(git) == ""


def test_changes_in_two_projects_in_one_second_are_both_known(
    desk: Desk, open_guard: OpenGuard, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", str(linked))
    desks = (desk, desk_of(open_guard(linked), tmp_path))
    adviser = find_adviser(HOST)
    advised = [advise(one, adviser, QUESTION) for one in desks]
    plans = [
        plan_change(one, adviser, advice, str(tmp_path / "reach"))
        for one, advice in zip(desks, advised, strict=True)
    ]
    for one, advice, planned in zip(desks, advised, plans, strict=True):
        apply(one, adviser, advice, planned)
    for one in desks:
        take_back(one)
    assert not list(tmp_path.glob("*/.claude/settings.local.json"))


def test_the_document_of_a_second_change_in_one_second_is_a_document_too(
    desk: Desk, tmp_path: Path
) -> None:
    change(desk, tmp_path)
    change(desk, tmp_path, AdviceQuestion("conversational", window=200_000))
    names = [path.name for path in (tmp_path / "reach").iterdir()]
    assert [name[-3:] for name in names] == [".md", ".md"]


def test_uninstalling_in_one_worktree_leaves_the_changed_settings_of_another_out_of_view(
    desk: Desk, guard: Guard, open_guard: OpenGuard, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "-b", "side", str(linked))
    install(guard)
    change(desk_of(open_guard(linked), tmp_path), tmp_path)
    guard.uninstall(HOST)
    shown = git("-C", str(linked), "status", "--porcelain", "--untracked-files=all")
    assert shown == ""


def test_uninstalling_names_what_was_changed_on_advice_and_stays(
    desk: Desk, guard: Guard, repo: Path, tmp_path: Path
) -> None:
    install(guard)
    change(desk, tmp_path)
    outcome = guard.uninstall(HOST)
    (note,) = (note for note in outcome.notes if "config advise" in note)
    assert str(repo / ".claude/settings.local.json") in note
    assert "gitguard config rollback claude-code" in note
    take_back(desk, even_if_moved=True)
    assert not any("config advise" in note for note in guard.uninstall(HOST).notes)


@pytest.mark.parametrize("own", [None, {"model": "opus"}])
def test_going_back_never_brings_hooks_back_that_were_uninstalled(
    own: dict[str, str] | None, desk: Desk, guard: Guard, git: Git, repo: Path, tmp_path: Path
) -> None:
    personal = repo / ".claude/settings.local.json"
    if own is not None:
        personal.parent.mkdir()
        personal.write_text(json.dumps(own))
    before = status(git)
    install(guard)
    change(desk, tmp_path)
    guard.uninstall(HOST)
    assert "gitguard" not in personal.read_text()
    take_back(desk, even_if_moved=True)
    left = json.loads(personal.read_text()) if personal.exists() else None
    assert left == own
    for beside in personal.parent.glob("*.gitguard-*"):
        beside.unlink()
    assert status(git) == before


def test_in_a_moved_repository_uninstalling_and_going_back_find_what_was_changed(
    desk: Desk, guard: Guard, git: Git, repo: Path, tmp_path: Path, open_guard: OpenGuard
) -> None:
    before = status(git)
    install(guard)
    change(desk, tmp_path)
    moved = tmp_path / "moved"
    repo.rename(moved)
    there = open_guard(moved)
    outcome = there.uninstall(HOST)
    assert any(str(moved / ".claude/settings.local.json") in note for note in outcome.notes)
    assert "gitguard" not in (moved / ".claude/settings.local.json").read_text()
    assert not (moved / ".claude/skills").exists()
    take_back(desk_of(there, tmp_path), even_if_moved=True)
    assert not (moved / ".claude/settings.local.json").exists()
    for beside in (moved / ".claude").glob("*.gitguard-*"):
        beside.unlink()
    assert status(Git(moved)) == before
