"""`gitguard repair`: what is wrong in plain words, each way out, and who may go it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gitguard.cli.app import app
from gitguard.errors import GitguardError, InvalidInput, NotConfirmed, OwnerOnly, Tampered
from gitguard.guard import Guard
from gitguard.hooks.shell_commands import owner_command
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session
from tests.conftest import Git, OpenGuard
from tests.support.session_branches import BRANCH
from tests.support.state_paths import state_file


def run(guard: Guard, *arguments: str, command: str = "repair", **variables: str) -> Result:
    """Run `gitguard repair` without a terminal."""
    places = guard.workspace.places
    environment = {
        "HOME": places.home or places.state_home,
        "GITGUARD_STATE_DIR": places.state_home,
        "XDG_CONFIG_HOME": str(Path(places.config_home).parent),
        **variables,
    }
    root = guard.workspace.place.worktree
    return CliRunner().invoke(app, ["--root", root, *command.split(), *arguments], env=environment)


def edit(guard: Guard) -> None:
    path = state_file(guard)
    path.write_text(path.read_text().replace("Ours", "Edited"))


def kinds(guard: Guard) -> list[str]:
    return [problem.kind for problem in guard.diagnose()]


def test_where_nothing_is_wrong_that_is_said(begun: Guard) -> None:
    assert run(begun).output == "Nothing needs repair.\n"
    assert begun.diagnose() == ()


def test_without_a_terminal_every_way_is_listed_as_a_command(begun: Guard) -> None:
    edit(begun)
    done = run(begun)
    assert isinstance(done.exception, NotConfirmed)
    for words in (
        "Somebody other than gitguard edited",
        "`gitguard repair --accept`",
        "`gitguard repair --local`",
        "keeps: ",
        "loses: The edit.",
    ):
        assert words in done.output
    assert begun.diagnose()[0].kind == "edited-state"


def test_without_a_terminal_the_error_names_each_command(begun: Guard) -> None:
    edit(begun)
    error = run(begun).exception
    assert isinstance(error, NotConfirmed)
    assert error.hint == (
        "Run one of these in a terminal, or with --yes: "
        "`gitguard repair --accept`, `gitguard repair --local`"
    )


def test_a_program_gets_the_same_as_json(begun: Guard) -> None:
    edit(begun)
    [problem] = json.loads(run(begun, "--dry-run", "--json").output)["problems"]
    assert problem["kind"] == "edited-state"
    assert [way["command"] for way in problem["ways"]] == [
        "gitguard repair --accept",
        "gitguard repair --local",
    ]


def test_local_drops_an_edit_and_keeps_it_beside(begun: Guard) -> None:
    edit(begun)
    assert "Done: " in run(begun, "--local").output
    assert begun.state().goal == "Ours"
    assert list(state_file(begun).parent.glob("state.json.bad-*"))


def test_accept_takes_an_edit(begun: Guard, open_guard: OpenGuard) -> None:
    edit(begun)
    assert run(begun, "--accept", "--yes").exit_code == 0
    assert open_guard().state().goal == "Edited"


def test_a_moved_branch_is_put_back_taken_or_left_to_a_fork(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    ours = git("rev-parse", BRANCH)
    git("update-ref", BRANCH, f"{ours}~1")
    [problem] = begun.diagnose()
    assert problem.kind == "moved"
    options = [way.option for way in problem.ways]
    assert options == ["--archive-theirs", "--take-theirs", "--fork"]
    assert isinstance(run(begun, "--archive-theirs").exception, NotConfirmed)
    assert run(begun, "--archive-theirs", "--yes").exit_code == 0
    assert git("rev-parse", BRANCH) == ours
    git("update-ref", BRANCH, f"{ours}~1")
    theirs = git("rev-parse", BRANCH)
    assert run(open_guard(), "--take-theirs", "--head", theirs, "--yes").exit_code == 0
    assert git("rev-parse", BRANCH) == theirs
    assert kinds(open_guard()) == []


def test_a_fork_goes_on_with_our_state(begun: Guard, git: Git, open_guard: OpenGuard) -> None:
    git("update-ref", BRANCH, f"{git('rev-parse', BRANCH)}~1")
    assert run(begun, "--fork", "ours", "--yes").exit_code == 0
    assert current_session(open_guard().workspace) == Session.of("ours")
    assert open_guard().state().goal == "Ours"


def test_a_branch_that_is_gone_comes_back(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("update-ref", "-d", BRANCH)
    assert kinds(begun) == ["deleted"]
    assert run(begun, "--archive-theirs", "--yes").exit_code == 0
    assert git("rev-parse", BRANCH) == ours


def test_a_missing_state_comes_back(begun: Guard) -> None:
    state_file(begun).write_text("{")
    assert kinds(begun) == ["missing-state"]
    assert run(begun, "--local").exit_code == 0
    assert begun.state().goal == "Ours"


@pytest.mark.parametrize("change", ["damage", "edit"])
@pytest.mark.parametrize("branch", ["moved", "deleted"])
def test_local_brings_the_state_back_though_the_branch_waits_for_a_person(
    begun: Guard, git: Git, open_guard: OpenGuard, branch: str, change: str
) -> None:
    state_file(begun).write_text("{") if change == "damage" else edit(begun)
    ours = git("rev-parse", BRANCH)
    git("update-ref", *(["-d", BRANCH] if branch == "deleted" else [BRANCH, f"{ours}~1"]))
    assert run(begun, "--local", CLAUDE_CODE_SESSION_ID="S1").exit_code == 0
    assert kinds(open_guard()) == [branch]
    assert isinstance(run(open_guard(), "--local").exception, Tampered)
    assert run(open_guard(), "--archive-theirs", "--yes").exit_code == 0
    assert open_guard().state().goal == "Ours"


def test_a_branch_that_was_moved_is_all_that_local_leaves(begun: Guard, git: Git) -> None:
    git("update-ref", "-d", BRANCH)
    assert run(begun, "--local").exception.hint.startswith("Put the branch back with")  # type: ignore[union-attr]


def test_one_way_is_shown_where_one_was_named(begun: Guard, git: Git) -> None:
    git("update-ref", BRANCH, f"{git('rev-parse', BRANCH)}~1")
    shown = run(begun, "--archive-theirs", "--yes").output
    assert "--archive-theirs" in shown
    assert "--take-theirs" not in shown


def test_no_way_is_named_that_has_nothing_to_take(
    begun: Guard, repo: Path, tmp_path: Path, open_guard: OpenGuard
) -> None:
    shutil.rmtree(repo / ".gitguard")
    lost = open_guard(state_home=str(tmp_path / "another-home"))
    assert [way.option for problem in lost.diagnose() for way in problem.ways] == ["--trust"]
    plan = run(lost, "--trust", "--dry-run").output
    assert "goal: (none) -> Ours" in plan
    assert "null" not in plan
    assert "schema_version" not in plan


def test_where_one_way_is_left_the_error_names_that_one(
    begun: Guard, repo: Path, tmp_path: Path, open_guard: OpenGuard
) -> None:
    shutil.rmtree(repo / ".gitguard")
    error = run(open_guard(state_home=str(tmp_path / "another-home"))).exception
    assert isinstance(error, NotConfirmed)
    assert error.hint == "Run it in a terminal, or with --yes: `gitguard repair --trust`"


def test_a_way_that_no_problem_has_is_refused(begun: Guard) -> None:
    assert isinstance(run(begun, "--archive-theirs", "--yes").exception, InvalidInput)
    assert isinstance(run(begun, "--fork", "x", "--yes").exception, InvalidInput)
    assert run(begun, "--accept", "--trust").exit_code == 2
    assert run(begun, "--yes").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--accept", "--yes"),
        ("--accept", "--dry-run"),
        ("--trust", "--yes"),
        ("--take-theirs",),
        ("--archive-theirs",),
        ("--forget", "--yes"),
        ("--fork", "x"),
    ],
)
def test_an_agent_may_only_look_and_put_our_own_back(
    begun: Guard, arguments: tuple[str, ...]
) -> None:
    edit(begun)
    agent = {"CLAUDE_CODE_SESSION_ID": "S1"}
    assert isinstance(run(begun, *arguments, **agent).exception, OwnerOnly)
    assert not isinstance(run(begun, "--dry-run", **agent).exception, GitguardError)
    assert run(begun, "--local", **agent).exit_code == 0


@pytest.mark.parametrize("mark", ["CLAUDE_CODE_SESSION_ID", "CLAUDECODE", "OPENCLAW_SHELL"])
def test_each_mark_of_an_agents_shell_is_enough_to_refuse(begun: Guard, mark: str) -> None:
    edit(begun)
    assert isinstance(run(begun, "--accept", "--yes", **{mark: "1"}).exception, OwnerOnly)
    assert kinds(begun) == ["edited-state"]


@pytest.mark.parametrize(
    "arguments", [("--local", "--head", "0123456"), ("--head", "0123456"), ("--fork", "")]
)
def test_no_option_is_dropped_without_a_word(begun: Guard, arguments: tuple[str, ...]) -> None:
    edit(begun)
    assert run(begun, *arguments).exit_code == 2 or run(begun, *arguments).exception
    assert kinds(begun) == ["edited-state"]


@pytest.mark.parametrize(
    ("command", "is_refused"),
    [
        ("gitguard repair --local", False),
        ("gitguard repair --dry-run --json", False),
        ("gitguard --session x repair --local", False),
        ("gitguard repair", True),
        ("gitguard repair --trust --yes", True),
        ("yes | gitguard repair", True),
        ("gitguard repair --fork --local --yes", True),
        ("gitguard repair --trust --yes # --local", True),
        ("gitguard repair --local --trust", True),
        ("sh -c 'gitguard repair --accept -y'", True),
        ("g=gitguard; $g repair --local", False),
        ("g=gitguard; $g repair --trust", True),
        ('export G=/opt/bin/gitguard && "${G}" repair --trust', True),
        ("alias x=gitguard; x repair --trust", True),
        ("""bash -c "g=gitguard; \\$g repair --trust" """, True),
        ("for c in trust; do gitguard repair --$c -y; done", True),
        ("python3 -mgitguard repair --trust", True),
        ("""python3 -c "subprocess.run(['gitguard', 'repair', '--trust', '-y'])" """, True),
        ("cat repair.txt | env gitguard repair --accept", True),
    ],
)
def test_hooks_refuse_an_agent_every_repair_that_chooses(command: str, is_refused: bool) -> None:
    assert bool(owner_command(command)) is is_refused


def test_the_previous_checkpoint_put_back_by_git_is_accepted_by_a_person(guard: Guard) -> None:
    guard.ensure()
    for goal in ("One", "Two"):
        guard.note({"goal": goal})
    path = Path(guard.workspace.working_file(guard.current_session(), "state.json"))
    path.write_bytes(guard.show("state.json", "2"))
    assert guard.state().goal == "Two"
    path.write_bytes(guard.show("state.json", "2"))
    plan = guard.accept(dry_run=True)
    assert plan.after.goal == "One"
    change = guard.accept(plan.sha256)
    assert change.saved is not None
    assert change.saved.commit
    assert guard.state().goal == "One"
    with pytest.raises(InvalidInput, match="there is nothing to accept"):
        guard.accept(dry_run=True)
