"""The command line: what people and programs see, and every exit code on its way out."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from gitguard.cli.app import GROUPS
from gitguard.errors import StatusSignal
from gitguard.guard.settings import HOSTS
from tests.generating.generate_references import EXIT_CODES, commands, error_classes
from tests.support.command_place import Place
from tests.support.scratch import environment, shell
from tests.support.staged import made_in, staged
from tests.support.terminal import on_terminal

ROOT = Path(__file__).parents[2]
REFERENCES = ROOT / "references"


def begin_session(folder: Path) -> Place:
    place = Place(folder)
    assert "begun" in place.type("gitguard ensure")
    return place


tmp_path = staged(session=begin_session, place=Place)


@pytest.fixture
def place(tmp_path: Path) -> Any:
    return made_in(tmp_path)


@pytest.fixture
def session(place: Place) -> Place:
    return place


@pytest.fixture(scope="module", autouse=True)
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """A command that waits for a held lock in vain, while the other tests run."""
    place = Place(tmp_path_factory.mktemp("waiting"))
    place.type("gitguard ensure")
    with place.locked(), place.start("gitguard checkpoint") as process:
        yield process
        process.kill()


# Help and reference

COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_have_help(name: str) -> None:
    command = COMMANDS[name]
    first = (command.help or "").partition("\n")[0]
    assert first
    assert not first.endswith(".")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.name}"
            assert not option.help.endswith("."), f"{name} {option.name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_and_options_stand_in_the_reference(name: str) -> None:
    page = (REFERENCES / "reference" / "commands.md").read_text()
    section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section
    common = page.partition("\n## ")[0]
    for option in COMMANDS[name].params:
        if isinstance(option, click.Option):
            longest = max(option.opts, key=len)
            assert f"`{longest}" in section + common or f", `{longest}" in section, longest


def test_a_typo_gets_a_suggestion(place: Place) -> None:
    done = place.run("gitguard enusre")
    assert done.returncode == 2
    assert "Did you mean 'ensure'?" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("words", ["-h", "log -h", "session use --help", "transcript -h"])
def test_help_is_shown_by_either_option(place: Place, words: str) -> None:
    shown = place.run(f"gitguard {words}")
    assert shown.returncode == 0
    assert "-h, --help" in shown.stdout


def test_completion_offers_commands(place: Place) -> None:
    assert "_GITGUARD_COMPLETE" in place.run("gitguard completion bash").stdout
    asked = {"COMP_WORDS": "gitguard re", "COMP_CWORD": "1", "_GITGUARD_COMPLETE": "bash_complete"}
    offered = place.run("gitguard", **asked).stdout.split()
    assert {"plain,repair", "plain,restore", "plain,resume"} <= set(offered)


# Where, which, how


def test_the_root_is_found_named_or_given(session: Place, tmp_path: Path) -> None:
    (session.root / "sub").mkdir()
    assert session.type("cd sub && gitguard status").startswith(f"Workspace: {session.root}")
    elsewhere = f"cd {shlex.quote(str(tmp_path))} && "
    assert f"Workspace: {session.root}" in session.type(f"{elsewhere}gitguard status --root repo")
    assert f"Workspace: {session.root}" in session.type(f"{elsewhere}gitguard --root repo status")
    assert f"Workspace: {session.root}" in session.type(
        f"{elsewhere}GITGUARD_ROOT=repo gitguard status"
    )
    assert "is not inside a git worktree" in session.type(f"{elsewhere}gitguard status")
    gone = "mkdir ../gone && cd ../gone && rmdir ../gone && gitguard status"
    assert "the current folder is gone" in session.type(gone)


def test_the_session_is_named_or_given(session: Place) -> None:
    assert "`other` begun" in session.run("gitguard ensure --session other").stdout
    assert "`third` begun" in session.run("gitguard ensure", GITGUARD_SESSION="third").stdout
    current = json.loads(session.run("gitguard session list --json").stdout)
    assert current["current"] == "main"
    assert set(current["sessions"]) == {"main", "other", "third"}


def test_a_conversation_is_named_or_given(session: Place) -> None:
    session.run("gitguard gate --pressure 0.2", GITGUARD_HOST_SESSION="one")
    session.run("gitguard gate --pressure 0.2 --host-session two")
    known = json.loads(session.run("gitguard status --json").stdout)["host_sessions"]
    assert set(known) == {"one", "two"}


def test_json_is_one_document_and_text_is_clean(session: Place) -> None:
    escape = "\x1b[31mred\x1b[0m"
    session.run(f"gitguard note --goal '{escape}'")
    assert "\x1b" not in session.run("gitguard status").stdout
    for command in ("status", "log", "diff", "show summary", "bundle", "resume", "session list"):
        done = session.run(f"gitguard {command} --json")
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout), dict)
        assert done.stderr == ""


def test_colour_and_questions_are_for_terminals(session: Place) -> None:
    session.type("gitguard note --goal One && gitguard note --goal Two")
    answer, seen = on_terminal(session, "gitguard restore 2", b"n\n")
    assert answer == 39
    assert "Restore this state? [y/N]" in seen
    assert "\x1b[31m" in seen
    assert "Two" in session.run("gitguard show summary").stdout
    answer, seen = on_terminal(session, "gitguard restore 2", b"y\n")
    assert answer == 0
    assert "One" in session.run("gitguard show summary").stdout


@pytest.mark.parametrize("command", ["restore 1", "repair --forget", "repair --accept"])
def test_without_a_yes_nothing_changes(session: Place, command: str) -> None:
    session.run("gitguard note --goal One")
    if command == "repair --accept":
        session.type(
            'sed -i.old \'s/"goal": .*/"goal": "Two",/\' .gitguard/sessions/main/state.json'
        )
    before = session.type("git for-each-ref; cat .gitguard/sessions/main/state.json")
    done = session.run(f"gitguard {command}")
    assert done.returncode == 39
    assert "Use --yes" in done.stderr
    assert session.type("git for-each-ref; cat .gitguard/sessions/main/state.json") == before
    assert session.run(f"gitguard {command} --yes").returncode == 0


def test_a_dry_run_says_what_would_change(session: Place) -> None:
    session.type("gitguard note --goal One && gitguard note --goal Two")
    done = session.run("gitguard restore 2 --dry-run")
    assert done.returncode == 0
    assert "~ Goal: Two → One" in done.stdout
    assert json.loads(session.run("gitguard restore 2 --dry-run --json").stdout)["changes"]


# What the agent writes


def test_an_update_is_whole_or_nothing(session: Place) -> None:
    before = session.run("gitguard show").stdout
    wrong = json.dumps({"goal": "New", "blockers": "not a list"})
    done = session.run("gitguard update", stdin=wrong)
    assert done.returncode == 23
    assert "`blockers` must be a list" in done.stderr
    assert session.run("gitguard show").stdout == before
    right = json.dumps({"blockers": ["CI is down"], "learnings": ["one"]})
    done = session.run("gitguard update", stdin=right)
    assert done.stdout.splitlines() == ["blockers: replaced 0 by 1", "learnings: appended 1"]


def test_notes_add_to_every_list(session: Place) -> None:
    for text in ("one", "two"):
        session.run(f"gitguard note --constraint {text} --output 'pytest: {text}' --artifact a.py")
    state = json.loads(session.run("gitguard show --json").stdout)["text"]
    state = json.loads(state)
    assert [c["text"] for c in state["constraints"]] == ["one", "two"]
    assert [o["summary"] for o in state["tool_outputs"]] == ["one", "two"]
    assert [a["path"] for a in state["artifacts"]] == ["a.py"]


def test_a_new_task_begins_on_the_same_branch(session: Place) -> None:
    session.run("gitguard note --goal One --next DONE")
    assert session.run("gitguard ensure").returncode == 12
    begun = session.run("gitguard note --new-task --goal Two").stdout
    assert begun.startswith("A new task begins: task-")
    assert "Next action: (missing)" in session.run("gitguard ensure").stdout
    assert session.type("git rev-list --count gitguard/main").strip() == "3"


def test_an_empty_next_action_is_refused_and_can_be_mended(session: Place) -> None:
    assert session.run("gitguard note --next ''").returncode == 23
    path = session.root / ".gitguard" / "sessions" / "main" / "state.json"
    path.write_text(path.read_text().replace('"START"', '""'))
    assert session.run("gitguard gate").returncode == 10
    refused = session.run("gitguard repair --accept --yes")
    assert (refused.returncode, refused.stdout) == (10, "STATUS:MISSING_STATE\n")
    session.run("gitguard repair --local")
    assert session.run("gitguard gate").returncode == 0


def test_closed_input_and_poor_output_are_no_faults(session: Place) -> None:
    assert "standard input is empty" in session.type("gitguard update <&-")
    session.run("gitguard note --goal 'More …'")
    assert "nothing was changed" in session.type("gitguard restore 1 <&-")
    done = session.run("gitguard status", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert "Goal: More ?" in done.stdout


def test_faults_are_shown_first_until_they_are_cleared(session: Place) -> None:
    assert session.run("gitguard hook claude-code", stdin="no json").returncode == 0
    for command in ("gitguard status", "gitguard status --clear"):
        assert session.run(command).stdout.startswith("FAULT ")
    assert "FAULT" not in session.run("gitguard status").stdout


def test_faults_are_shown_with_the_command_that_clears_them(session: Place) -> None:
    session.run("gitguard hook claude-code", stdin="no json")
    assert "`gitguard status --clear`" in session.run("gitguard status").stdout


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("gitguard session begin", "no such command 'begin'"),
        ("gitguard restore", "missing argument 'CHECKPOINT'"),
        ("gitguard log -n x", "invalid value for '-n' / '--most': 'x' is not a whole number"),
        ("gitguard config advise x", "invalid value for '[HOST]': 'x' is not one of"),
        ("gitguard note --confidence 3", "invalid value for '--confidence': 3.0 is not in"),
    ],
)
def test_a_misused_command_is_refused_in_the_words_of_the_others(
    session: Place, command: str, message: str
) -> None:
    first, hint = session.run(command).stderr.splitlines()
    assert first.startswith(f"error: {message}")
    assert not first.endswith(".")
    assert hint.startswith("hint: See `gitguard ")


def test_update_says_what_it_reads(session: Place) -> None:
    for stdin in ("", "{}"):
        refused = session.run("gitguard update", stdin=stdin)
        assert 'hint: Give a JSON object, such as {"next_action": ' in refused.stderr


def test_where_nothing_is_halted_override_says_so(session: Place) -> None:
    refused = session.run("gitguard override --reason Because").stderr
    assert refused.startswith("error: no conversation of this session is halted\n")


def test_a_state_that_is_the_same_is_not_restored_again(session: Place) -> None:
    session.run("gitguard note --goal One --phase design")
    session.run("gitguard checkpoint")
    before = session.run("gitguard log --oneline").stdout
    same = session.run("gitguard restore 2")
    assert (same.returncode, "the state is the same" in same.stdout) == (0, True)
    assert session.run("gitguard log --oneline").stdout == before


def test_a_halt_names_its_reason_once_and_how_it_ends(session: Place) -> None:
    halted = session.run("gitguard gate --pressure 0.9")
    printed = halted.stdout + halted.stderr
    assert printed.count("critical from 0.85") == 1
    assert "--compacted" in halted.stderr
    in_host = session.run("gitguard gate --pressure 0.9", CLAUDE_CODE_SESSION_ID="S1")
    assert "--compacted" not in in_host.stderr


def test_a_completed_task_is_answered_with_the_next_step(session: Place) -> None:
    session.run("gitguard note --next DONE")
    assert "note --new-task" in session.run("gitguard gate --pressure 0.1").stderr


def test_a_range_may_be_written_with_three_dots(session: Place) -> None:
    session.run("gitguard note --goal One --phase design")
    two, three = (session.run(f"gitguard diff 1{dots}2").stdout for dots in ("..", "..."))
    assert three == two != ""


def test_a_session_that_is_not_there_is_begun_by_the_command_that_is_named(
    session: Place,
) -> None:
    refused = session.run("gitguard session show payments").stderr
    assert "`gitguard session use payments`" in refused


def test_an_empty_message_is_none(session: Place) -> None:
    session.run("gitguard note --goal One --next Two --phase design")
    session.run("gitguard checkpoint -m ''")
    assert "design: Two" in session.run("gitguard log -1").stdout


def test_a_folder_that_is_no_worktree_is_called_what_it_is(session: Place) -> None:
    session.type("git init -q --bare ../bare")
    bare = session.run("gitguard --root ../bare status").stderr
    assert "is a bare repository" in bare
    assert "git init" not in bare
    assert "there is no folder" in session.run("gitguard --root ../nowhere status").stderr


def test_help_of_groups_is_not_cut_off(session: Place) -> None:
    for group in ("session", "transcript", "config", "handoff", "policy"):
        _, _, commands = session.run(f"gitguard {group} --help").stdout.partition("Commands:")
        assert commands
        assert "..." not in commands


@pytest.mark.parametrize("command", ["advise", "rollback"])
def test_the_help_of_config_names_every_host(session: Place, command: str) -> None:
    shown = session.run(f"gitguard config {command} --help").stdout
    assert all(host in shown for host in HOSTS)


def test_the_way_out_that_ensure_names_works(session: Place) -> None:
    delete = "git update-ref -d refs/heads/gitguard/main && rm -r .gitguard"
    session.type(delete)
    assert "gitguard put it back at cp_" in session.run("gitguard ensure").stdout
    session.type(delete)
    assert "gitguard repair --archive-theirs" in session.run("gitguard ensure").stderr
    assert session.run("gitguard repair --archive-theirs --yes").returncode == 0
    assert "`main` continued" in session.run("gitguard ensure").stdout


def test_the_way_out_that_session_use_names_works(session: Place) -> None:
    session.type(f"gitguard note --goal One && {ON_TOP} && gitguard session fork ours")
    pending = session.run("gitguard session use main")
    assert pending.returncode == 13
    (command,) = re.findall(r"gitguard repair --take-theirs --head \w+", pending.stderr)
    assert session.run(f"{command} --yes").returncode == 0
    assert session.run("gitguard session use main").returncode == 0


# Exit codes

MOVER = """#!/bin/sh
case " $* " in *" update-ref "*)
    {git} -C {root} update-ref refs/heads/gitguard/main "$({git} -C {root} rev-parse main)" ;;
esac
exec {git} "$@"
"""
GIT = shutil.which("git")
STATE = ".gitguard/sessions/main/state.json"
ON_TOP = (
    "next=$(($(git rev-list --count gitguard/main) + 1)) && "
    "git update-ref refs/heads/gitguard/main $(git log -1 --format=%B gitguard/main | "
    """sed "s/^Gitguard-Sequence: .*/Gitguard-Sequence: $next/" | """
    "git commit-tree gitguard/main^{tree} -p gitguard/main)"
)
ELSEWHERE = "git worktree add --quiet ../other gitguard/main"
CASES = {
    "GitguardError": (f"gitguard note --goal Two; {ELSEWHERE}", "gitguard restore 1 --yes"),
    "Misused": ("", "gitguard gate --pressure high"),
    "MissingState": ("rm .gitguard/sessions/main/summary.md", "gitguard gate"),
    "HaltContextLimit": ("", "gitguard gate --pressure 0.9"),
    "Complete": ("gitguard note --next DONE", "gitguard ensure"),
    "Pending": (ELSEWHERE, "gitguard checkpoint"),
    "NotARepository": ("rm -r .git", "gitguard status"),
    "NotInitialised": ("rm -r .gitguard ~/.local/state/gitguard", "gitguard checkpoint"),
    "InvalidConfig": (
        "mkdir -p ~/.config/gitguard; echo 'colour: 1' > ~/.config/gitguard/config.yaml",
    )
    + ("gitguard status",),
    "InvalidInput": ("", "gitguard note"),
    "InvalidDocument": ("", "gitguard update"),
    "NewerFormat": (
        f'sed -i.old \'s/"schema_version": 1/"schema_version": 9/\' {STATE}; '
        "rm ~/.local/state/gitguard/*/main/state.json",
        "gitguard show",
    ),
    "OtherToolState": (
        "git update-ref -d refs/heads/gitguard/main; rm -r .gitguard ~/.local/state/gitguard; "
        """echo '{"goal": ""}' > task_state.json""",
        "gitguard ensure",
    ),
    "NothingFound": ("", "gitguard search nowhere"),
    "GitFailed": (
        "git update-ref -d refs/heads/gitguard/main; rm -r .gitguard ~/.local/state/gitguard; "
        "git branch gitguard",
        "gitguard ensure",
    ),
    "HeadAdvanced": (ON_TOP, "gitguard checkpoint"),
    "Untrusted": ("rm -r ~/.local/state/gitguard .gitguard", "gitguard ensure"),
    "Tampered": ("git update-ref refs/heads/gitguard/main main", "gitguard checkpoint"),
    "EditedState": (f"sed -i.old 's/START/Go/' {STATE}", "gitguard checkpoint"),
    "OwnerOnly": ("", "gitguard override --reason Because"),
    "NotWritable": (
        "git update-ref -d refs/heads/gitguard/main; rm -r .gitguard ~/.local/state/gitguard; "
        """mkdir .gitguard; touch .gitguard/archive; echo '{"goal": ""}' > task_state.json""",
        "gitguard repair --archive-theirs --yes",
    ),
    "NotConfirmed": ("gitguard note --goal Two", "gitguard restore 1"),
    "Busy": (
        "echo 1 > f; gitguard checkpoint; echo 2 > f; git rev-parse HEAD > .git/MERGE_HEAD",
        "gitguard restore 2 f --theirs-too --yes",
    ),
    "SecretsFound": (
        "echo password=kd93-Qp2x-77fa > .gitguard/sessions/main/old.bad",
        "gitguard scan",
    ),
}
"""For each kind of error: how it comes about, and the command that ends with it."""
ELSEWHERE_TESTED = {
    *("Locked", "RefMoved", "NotReadable", "HostFailed", "SettingsMoved", "OtherUser"),
    *("Unexpected", "Interrupted"),
}


KINDS = {cls.__name__: cls for cls in error_classes()}


def test_every_kind_of_error_has_a_test_and_every_exit_code_a_row() -> None:
    assert set(KINDS) == set(CASES) | ELSEWHERE_TESTED
    codes = {cls.exit_code for cls in KINDS.values()}
    assert codes | {0} == set(EXIT_CODES)
    assert all(code >= 10 for code in codes - {1, 2}), "2 means something to hosts"


@pytest.mark.parametrize("kind", CASES)
def test_exit_codes(session: Place, kind: str) -> None:
    setting, command = CASES[kind]
    session.type(setting)
    variables = {"CLAUDE_CODE_SESSION_ID": "x"} if kind == "OwnerOnly" else {}
    done = session.run(f"{command} --json", **variables)
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == kind
    assert done.returncode == error["exit_code"] == KINDS[kind].exit_code
    assert error["message"]


@pytest.mark.parametrize("kind", ["MissingState", "HaltContextLimit", "Complete"])
def test_signals_stand_on_a_line_of_their_own(session: Place, kind: str) -> None:
    setting, command = CASES[kind]
    session.type(setting)
    done = session.run(command)
    signal = KINDS[kind]
    assert issubclass(signal, StatusSignal)
    assert done.returncode == signal.exit_code
    assert signal.status in done.stdout.splitlines()
    assert done.stderr.startswith("error: ")


def test_a_lost_race_for_the_ref(session: Place, tmp_path: Path) -> None:
    shim = tmp_path / "shim" / "git"
    shim.parent.mkdir()
    shim.write_text(MOVER.format(git=GIT, root=session.root))
    shim.chmod(0o755)
    path = os.pathsep.join((str(shim.parent), environment(session.home)["PATH"]))
    done = session.run("gitguard checkpoint", PATH=path)
    assert done.returncode == 30, done.stderr


def test_a_held_lock_is_waited_for_and_then_told(waiting: subprocess.Popen[str]) -> None:
    _, told = waiting.communicate(timeout=30)
    assert waiting.returncode == 30
    assert "error: " in told
    assert "hint: " in told


def test_a_waiting_command_can_be_interrupted(session: Place) -> None:
    with session.locked(), session.start("gitguard checkpoint") as process:
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=10)
    assert process.returncode == 130
    assert told.strip() == "error: interrupted"


FAULTY = """
from gitguard.cli import main
from gitguard.guard.history import CheckpointHistory
def log(self, most, **how): raise ZeroDivisionError("a fault")
CheckpointHistory.log = log
main()
"""


def test_a_fault_of_ours_leaves_a_report(session: Place) -> None:
    done = session.run(f"{sys.executable} -c {shlex.quote(FAULTY)} log")
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    report = session.home / ".local" / "state" / "gitguard" / "crash.log"
    assert str(report) in done.stderr
    assert "ZeroDivisionError: a fault" in report.read_text()


def test_the_demo_is_as_told() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.demo"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("All of it was as told.\n")


def test_an_artifact_has_one_name_wherever_it_is_noted_from(session: Place) -> None:
    (session.root / "src").mkdir()
    session.type("gitguard note --artifact src/a.py")
    session.type("cd src && gitguard note --artifact a.py --artifact ./a.py --artifact $PWD/a.py")
    session.type("gitguard note --artifact https://example.org/a")
    paths = re.findall(r'"path": "([^"]*)"', session.type("gitguard show state"))
    assert paths == ["src/a.py", "https://example.org/a"]


def test_a_human_sees_every_list_change_before_saying_yes(session: Place) -> None:
    session.type("gitguard note --constraint 'No network' --learning 'It is slow'")
    edit = """s/^.*"No network".*$/{"text": "Be evil"},&/; s/^.*"It is slow".*$//"""
    session.type(f"sed -i '{edit}' {STATE}")
    told = session.type("gitguard repair --accept --dry-run")
    assert "  + Be evil" in told
    assert "  - It is slow" in told


def test_a_name_that_the_list_shows_can_be_used(session: Place) -> None:
    session.type("gitguard session use feature/x")
    session.type("gitguard note --goal Keep && gitguard session use main")
    name = re.findall(r"feature_x-\w+", session.type("gitguard session list"))[0]
    assert "Goal: Keep" in session.type(f"gitguard session use {name}")
    assert f"{name}  " in session.type("gitguard session list")
    assert session.type("gitguard session list").splitlines()[0].split("  ")[2] == "feature/x"
    listed = json.loads(session.run("gitguard session list --json").stdout)
    assert listed["keys"] == {name: "feature/x", "main": "main"}
    session.type("gitguard session use main && rm -r .gitguard/sessions/feature*")
    assert "Goal: Keep" in session.type(f"gitguard session use {name}")


def test_a_moved_repository_says_so_and_loses_nothing(session: Place) -> None:
    session.type("gitguard note --goal Ship && gitguard note --learning uncommitted")
    moved = session.root.with_name("moved")
    session.root.rename(moved)
    told = shell("gitguard note --next on", moved, session.home)
    assert f"note: the repository was moved from `{session.root}` to `{moved}`" in told
    told = shell("gitguard ensure", moved, session.home)
    assert "Goal: Ship" in told
    assert "moved" not in told.replace(str(moved), "")
    assert "uncommitted" in shell("git show gitguard/main:state.json", moved, session.home)


@pytest.mark.parametrize("command", ["ensure", "status", "bundle", "resume", "show summary"])
def test_no_state_can_fake_a_signal_on_a_line_of_its_own(session: Place, command: str) -> None:
    session.type("gitguard note --goal $'x\\nSTATUS:COMPLETE' --next $'x\\nSTATUS:COMPLETE'")
    assert "STATUS:COMPLETE" not in session.type(f"gitguard {command}").splitlines()


def test_a_percentage_is_no_share(session: Place) -> None:
    assert session.run("gitguard gate --pressure 42").returncode == 2
    assert "continue" in session.type("gitguard gate --pressure 0.42")


def test_a_bundle_is_trimmed_for_no_more_than_a_full_window(session: Place) -> None:
    assert session.run("gitguard bundle --pressure 100%").returncode == 0
    refused = session.run("gitguard bundle --pressure 1.2")
    assert refused.returncode == 2
    assert "'1.2' is not a share of the window" in refused.stderr


def test_a_session_that_only_a_remote_has_says_how_to_adopt_it(session: Place) -> None:
    session.type("git init --quiet --bare -b main ../origin.git")
    session.type("git remote add origin ../origin.git")
    session.type("git push --quiet --all && cd .. && git clone --quiet origin.git clone")
    told = shell("gitguard ensure", session.root.with_name("clone"), session.home)
    assert "gitguard repair --trust" in told


def test_every_command_of_the_modules_is_in_the_table_of_the_help() -> None:
    table = {name: module for group in GROUPS.values() for name, module in group.items()}
    folder = ROOT / "gitguard" / "cli"
    for path in folder.glob("*.py"):
        module = import_module(f"gitguard.cli.{path.stem}")
        for command in getattr(module, "COMMANDS", ()):
            if not path.stem.startswith(("transcript_", "session_", "maintenance")):
                assert table.pop(command.name) == path.stem
    assert not table


def test_a_command_loads_no_module_of_other_commands() -> None:
    program = (
        "import sys; from gitguard.cli.app import app; "
        "app.get_command(None, 'checkpoint'); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = {name for name in done.stdout.decode().split() if name.startswith("gitguard.cli.")}
    others = {f"gitguard.cli.{module}" for group in GROUPS.values() for module in group.values()}
    # How a checkpoint is reported is the same wherever one is taken.
    assert loaded & others == {"gitguard.cli.checkpoints", "gitguard.cli.notes"}


def test_checkpoints_are_named_as_in_git(session: Place) -> None:
    session.type("gitguard note --goal 'First'")
    session.type("gitguard checkpoint -m 'because of rain'")
    session.type("gitguard note --goal 'Second'")
    session.type("gitguard checkpoint")
    newest, *_, oldest = session.type("gitguard log --oneline").splitlines()
    assert re.fullmatch(r"[0-9a-f]{7} cp_\d{3} .+", newest)
    number = int(newest.split()[1].removeprefix("cp_"))
    assert session.type(f"gitguard show state {number}") == session.type(
        f"gitguard show state cp_{number:03d}"
    )
    assert session.run("gitguard log -1 --oneline").stdout == f"{newest}\n"
    assert session.type("gitguard log -1 --oneline") == session.type("gitguard log -n 1 --oneline")
    pair = session.type(f"gitguard diff 1 {number}")
    assert "Second" in pair
    assert session.type(f"gitguard diff 1..{number}") == pair
    assert "cp_001" in oldest


def test_the_message_of_a_checkpoint_is_seen_in_the_log(session: Place) -> None:
    session.type("gitguard note --goal 'First'")
    session.type("gitguard checkpoint -m 'because of rain'")
    assert session.run("gitguard log -1").stdout.endswith("because of rain\n")


def test_what_show_cannot_show_is_refused_with_what_it_can(place: Place) -> None:
    done = place.run("gitguard show snapshots 1")
    assert done.returncode == 2
    assert "`snapshots` is none of state, summary, snapshot" in done.stderr


def test_a_note_outside_of_a_conversation_names_none(session: Place) -> None:
    session.run("gitguard note --decision 'By hand'")
    (decision,) = json.loads(session.run("gitguard show state").stdout)["decisions"]
    assert "conversation" not in decision["origin"]


def test_a_difference_leaves_out_when_and_by_whom_a_field_was_set(session: Place) -> None:
    session.run("gitguard note --goal 'Port the parser' --phase build")
    shown = session.run("gitguard diff 1..2").stdout
    assert "+ Goal: Port the parser" in shown
    assert not any(name in shown for name in ("goal_from", "updated_at"))
    changes = json.loads(session.run("gitguard diff 1..2 --json").stdout)["changes"]
    assert {"goal", "goal_from"} <= {change["field"] for change in changes}


def test_three_dots_between_checkpoints_are_read_as_two(session: Place) -> None:
    session.run("gitguard note --goal 'Port the parser' --phase build")
    assert session.run("gitguard diff 1...2").stdout == session.run("gitguard diff 1..2").stdout


def test_a_halt_that_is_not_there_is_not_lifted(session: Place) -> None:
    refused = session.run("gitguard override --reason x")
    assert refused.returncode == 23
    assert "no conversation of this session is halted" in refused.stderr
