"""What a reviewer reads with `log`, `show`, `diff`, `status` and `session list`."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest

from gitguard.cli.sessions import delivery_part
from gitguard.store.session.host_session import Delivery
from tests.support.command_place import Place
from tests.support.scratch import environment
from tests.support.staged import staged_object
from tests.support.terminal import on_terminal


def begin_place(folder: Path) -> Place:
    """A session with four checkpoints."""
    place = Place(folder)
    for command in (
        "ensure",
        "note --goal 'Port it' --phase design --next Read --decision SQLite --why 'One file'"
        " --constraint 'never touch the PDF export'",
        "note --failure 'pytest -q' --error AssertionError --next Write",
        "checkpoint -m 'because of rain'",
    ):
        place.type(f"gitguard {command}")
    return place


tmp_path, place = staged_object("place", begin_place)


# show


def test_show_says_in_sentences_what_a_checkpoint_changed(place: Place) -> None:
    shown = place.type("gitguard show 2")
    assert shown.startswith("Checkpoint 2, commit ")
    assert "Reason: Phase or goal changed. (phase-change)\nCode: " in shown
    assert "\nGoal: Port it (agent, " in shown
    assert "\nDecided: SQLite — because One file (agent, " in shown
    assert "\nNew constraint: never touch the PDF export (agent, " in shown
    assert "\nFailed: pytest -q: AssertionError (agent, " in place.type("gitguard show 3")
    assert "\nNext action: Read → Write (agent, " in place.type("gitguard show 3")


def test_show_offers_the_commands_that_print_the_files(place: Place) -> None:
    offered = place.type("gitguard show cp_002").splitlines()[-3:]
    assert [line.strip() for line in offered] == [
        f"gitguard show {what} cp_002" for what in ("state", "summary", "snapshot")
    ]
    assert json.loads(place.run(offered[0].strip()).stdout)["goal"] == "Port it"


def test_show_of_a_checkpoint_that_changed_nothing_says_so(place: Place) -> None:
    assert "Nothing in the state changed since cp_003." in place.type("gitguard show 4")
    assert "Nothing in the state changed." in place.type("gitguard show 1")


def test_show_tells_programs_the_sentences(place: Place) -> None:
    document = json.loads(place.type("gitguard show 2 --json"))
    assert (document["checkpoint"]["sequence"], document["previous"]) == (2, "cp_001")
    (decision,) = [s for s in document["sentences"] if s["field"] == "decisions"]
    assert decision["reason"] == "One file"
    assert "id" in document["code"]


def test_show_alone_says_in_sentences_what_the_current_state_holds(place: Place) -> None:
    shown = place.run("gitguard show").stdout
    assert shown.startswith("Goal: Port it (agent, ")
    assert "\nPhase: design\n" in shown
    assert "\nDecided: SQLite — because One file (agent, " in shown
    assert not set("{}[]") & set(shown)
    assert json.loads(place.run("gitguard show state").stdout)["goal"] == "Port it"
    assert json.loads(json.loads(place.run("gitguard show --json").stdout)["text"])


def test_restore_says_in_sentences_what_it_would_change(place: Place) -> None:
    shown = place.run("gitguard restore 1 --dry-run").stdout
    assert '- Withdrew the decision "SQLite"' in shown
    assert "- Dropped the goal" in shown
    assert not set("{}[]") & set(shown)


def test_a_checkpoint_whose_parent_does_not_read_is_told_whole(place: Place) -> None:
    parent = place.type("git rev-parse gitguard/main~2").strip()
    blob = place.type(f"git rev-parse {parent}:state.json").strip()
    (place.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    shown = place.run("gitguard show 3").stdout
    assert "The checkpoint before cannot be read, so all it holds is listed: " in shown
    assert "Decided: SQLite" in shown


# diff


def test_diff_marks_what_was_added_changed_and_removed(place: Place) -> None:
    place.run("gitguard update --replace", stdin='{"constraints": []}')
    lines = place.run("gitguard diff 2").stdout.splitlines()
    assert lines[0].startswith("Code: ")
    assert lines[1].startswith("~ Next action: Read → Write (agent, ")
    assert lines[2] == '- Dropped the constraint "never touch the PDF export"'
    assert lines[3].startswith("+ Failed: pytest -q: AssertionError (agent, ")
    assert "No difference." in place.type("gitguard diff 3..4")


def test_diff_prints_the_stored_files_on_demand(place: Place) -> None:
    text = place.run("gitguard diff 1..2 --text").stdout
    for name in ("state.json", "summary.md", "snapshot.yaml"):
        assert f"--- 1/{name}\n+++ 2/{name}\n" in text
    assert '+  "goal": "Port it"' in text
    assert "+++ now/snapshot.yaml" not in place.type("gitguard diff 1 --text")


def test_diff_tells_programs_fields_and_sentences(place: Place) -> None:
    document = json.loads(place.type("gitguard diff 2..3 --json"))
    assert [s["field"] for s in document["sentences"]] == ["next_action", "failed_attempts"]
    assert {"older", "newer", "changes", "summary", "code"} <= document.keys()


def test_a_long_text_is_cut_with_a_mark_and_the_command_that_prints_it(place: Place) -> None:
    place.type(f"gitguard note --learning '{'very ' * 200}long'")
    cut, hint = place.run("gitguard diff 4").stdout.splitlines()[-2:]
    assert cut.endswith("…")
    assert len(cut) < 510
    assert hint == "… marks where a long text is cut; `gitguard diff 4 --text` prints it whole."
    assert "very long" in place.type("gitguard diff 4 --text")


# log


def subjects(place: Place, options: str) -> list[str]:
    return [line.split()[1] for line in place.run(f"gitguard log {options}").stdout.splitlines()]


def test_log_says_how_many_more_there_are_and_how_to_see_them(place: Place) -> None:
    done = place.run("gitguard log -1 --oneline")
    assert done.stdout.count("\n") == 1
    assert done.stderr == "3 more checkpoints; -n 4 lists all of them.\n"
    assert place.run("gitguard log -4").stderr == ""
    assert json.loads(place.type("gitguard log -1 --json"))["more"] == 3
    done = place.run("gitguard log -1 --grep 'Read|begins' --oneline")
    assert done.stderr == "1 more checkpoint; -n 2 lists all of them.\n"


def test_log_finds_words_of_subjects_and_messages(place: Place) -> None:
    assert subjects(place, "--oneline --grep 'because of (rain|snow)'") == ["cp_004"]
    assert subjects(place, "--oneline --grep 'design: Read'") == ["cp_002"]
    assert place.run("gitguard log --grep nothing").stdout == "No checkpoint matches.\n"


def test_an_expression_that_is_wrong_or_takes_forever_is_refused(place: Place) -> None:
    done = place.run("gitguard log --grep '(unclosed'")
    assert done.returncode == 23
    assert "`--grep (unclosed` is not a regular expression: missing )" in done.stderr
    assert "has 1,001 characters" in place.run(f"gitguard log --grep {'x' * 1001}").stderr
    place.type(f"gitguard checkpoint -m '{'a' * 60}'")
    began = time.monotonic()
    done = place.run("gitguard log --grep '(a+)+b'")
    assert done.returncode == 23
    assert "takes longer than 5 s" in done.stderr
    assert time.monotonic() - began < 20


def test_log_lists_what_was_taken_since_a_time(place: Place) -> None:
    assert len(subjects(place, "--oneline --since 1h")) == 4
    assert len(subjects(place, "--oneline --since 2000-01-01")) == 4
    assert place.run("gitguard log --since 2999-01-01").stdout == "No checkpoint matches.\n"
    done = place.run("gitguard log --since 'last tuesday'")
    assert done.returncode == 23
    assert "`last tuesday` is not a time that gitguard knows" in done.stderr
    assert "2h" in done.stderr
    assert "2026-11-01" in done.stderr


def test_log_lists_every_session_and_an_archived_one_by_its_key(place: Place) -> None:
    place.type(
        "gitguard session use payments; gitguard note --goal Pay; gitguard session close payments"
    )
    place.type("gitguard session use main")
    lines = place.run("gitguard log --all --oneline").stdout.splitlines()
    assert {line.split()[0] for line in lines} == {"main", "payments"}
    assert all(("(archived)" in line) == line.startswith("payments") for line in lines)
    assert "(archived)" in place.run("gitguard log --session payments").stdout
    assert json.loads(place.type("gitguard --session main log --json"))["checkpoints"]
    done = place.run("gitguard log --session paymnets")
    assert done.returncode == 21
    assert "`paymnets` has neither state nor checkpoints here" in done.stderr


def test_log_of_all_leaves_out_or_marks_what_is_not_ours(place: Place) -> None:
    place.type("git branch gitguard/theirs gitguard/main")
    done = place.run("gitguard log --all --oneline")
    assert "theirs" not in done.stdout
    assert "Left out session `theirs`: " in done.stderr
    assert "--untrusted lists what this machine did not write" in done.stderr
    shown = place.run("gitguard log --all --oneline --untrusted").stdout
    assert shown.startswith("NOT OURS: `refs/heads/gitguard/theirs` is at ")
    theirs = [line for line in shown.splitlines() if line.startswith("theirs")]
    assert len(theirs) == 4
    assert all(line.endswith("(NOT OURS)") for line in theirs)
    assert json.loads(place.run("gitguard log --all --json").stdout)["left_out"].keys() == {
        "theirs"
    }


def test_a_short_list_reads_no_more_than_it_shows(place: Place) -> None:
    first = place.type("git rev-parse gitguard/main~3").strip()
    (place.root / ".git" / "objects" / first[:2] / first[2:]).unlink()
    assert place.run("gitguard log -3 --oneline").returncode == 0
    assert place.run("gitguard log --oneline").returncode != 0


# On a terminal


def test_a_terminal_gets_colours_and_other_readers_none(place: Place) -> None:
    _, seen = on_terminal(place, "gitguard diff 1..2 --no-pager")
    assert "\x1b[32m+ Goal: Port it" in seen
    _, seen = on_terminal(place, "gitguard diff 1..2 --no-pager", NO_COLOR="1")
    assert "\x1b" not in seen
    assert "\x1b" not in place.run("gitguard diff 1..2").stdout


@pytest.mark.parametrize("command", ["log", "show 2", "show state 2", "diff 1..2"])
def test_the_users_pager_gets_the_output(place: Place, command: str) -> None:
    code, seen = on_terminal(place, f"gitguard {command}", GIT_PAGER="sed s/^/paged:/", PAGER="no")
    assert code == 0
    assert "paged:" in seen
    _, seen = on_terminal(place, f"gitguard {command}", PAGER="sed s/^/paged:/")
    assert "paged:" in seen
    _, seen = on_terminal(place, f"gitguard {command} --no-pager", PAGER="sed s/^/paged:/")
    assert "paged:" not in seen


def test_a_pager_gets_the_remark_too_and_one_that_quits_is_no_error(place: Place) -> None:
    _, seen = on_terminal(place, "gitguard log -1", PAGER="sed s/^/paged:/")
    assert "paged:3 more checkpoints" in seen
    assert on_terminal(place, "gitguard diff 1..2 --text", PAGER="true")[0] == 0


@pytest.mark.parametrize(
    "variables",
    [
        {"GIT_PAGER": ""},
        {"PAGER": "cat"},
        {"PAGER": "/nowhere/pager"},
        {"TERM": "dumb", "PAGER": "sed s/^/paged:/"},
        {"CLAUDECODE": "1", "PAGER": "sed s/^/paged:/"},
    ],
)
def test_without_a_pager_that_runs_the_output_is_printed(
    place: Place, variables: dict[str, str]
) -> None:
    code, seen = on_terminal(place, "gitguard log", b"", **variables)
    assert code == 0
    assert "because of rain" in seen
    assert "paged:" not in seen


def test_a_repository_names_no_pager(place: Place, tmp_path: Path) -> None:
    trap = tmp_path / "fired"
    place.type(f"git config core.pager 'touch {trap}; cat'; git config pager.log 'touch {trap}'")
    (place.root / "less").write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    (place.root / "less").chmod(0o755)
    for folder in (".", str(place.root)):
        path = os.pathsep.join((folder, environment(place.home)["PATH"]))
        code, seen = on_terminal(place, "gitguard log", PATH=path, LESS="FRX")
        assert code == 0
        assert "because of rain" in seen
    assert not trap.exists()


def test_nothing_that_a_state_holds_controls_the_terminal(place: Place) -> None:
    place.type("gitguard note --goal $'a\\x1b[31mb'")
    for command in ("diff 4", "show state", "diff --text 1"):
        _, seen = on_terminal(place, f"gitguard {command} --no-pager", NO_COLOR="1")
        assert "\x1b" not in seen


# status, session list


def test_status_tells_when_a_conversation_began_and_was_last_used(place: Place) -> None:
    place.type("gitguard gate --host-session talk --pressure 0.1")
    time_form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    line = re.search(r"Conversation talk: .*", place.type("gitguard status"))
    assert line is not None
    assert re.search(f"began {time_form}, last used {time_form}", line[0])


def test_status_shows_this_branchs_conversations_and_says_how_many_more_there_are(
    place: Place,
) -> None:
    def shown(options: str = "") -> tuple[set[str], list[str]]:
        text = place.type(f"gitguard status {options}")
        document = json.loads(place.type(f"gitguard status {options} --json"))
        keys = set(re.findall(r"^Conversation (\w+):", text, re.MULTILINE))
        more = re.findall(
            r"^(\d+) more conversations?: `gitguard status --all`$", text, re.MULTILINE
        )
        assert set(document["host_sessions"]) == keys
        assert document["more_conversations"] == sum(map(int, more))
        return keys, more

    place.type("gitguard gate --host-session first --pressure 0.1")
    place.type("gitguard gate --host-session second --pressure 0.1")
    place.type("gitguard session use other")
    place.type("gitguard gate --host-session third --pressure 0.1")
    assert shown() == ({"third"}, ["2"])
    place.type("gitguard gate --host-session first --pressure 0.1")
    assert shown() == ({"first", "third"}, ["1"])
    assert shown("--all") == ({"first", "second", "third"}, [])
    place.type("gitguard session use main")
    assert shown() == ({"first", "second"}, ["1"])


def test_status_names_a_halted_conversation_of_another_branch_too(place: Place) -> None:
    assert place.run("gitguard gate --host-session full --pressure 0.95").returncode == 11
    place.type("gitguard session use other")
    assert "Conversation full: " in place.type("gitguard status")


def test_status_says_nothing_of_an_empty_block_nor_of_a_branch_as_gitguard_left_it(
    place: Place,
) -> None:
    assert re.search(
        r"^Checkpoint: cp_004 \w{12} on \S+$", place.type("gitguard status"), re.MULTILINE
    )
    assert delivery_part(Delivery("2026-01-31T09:30:00Z", "prompt", "3e27", 0, characters=0)) == []


def test_the_list_of_sessions_tells_goals_and_ages(place: Place) -> None:
    place.type("gitguard session use other; git branch gitguard/theirs gitguard/main")
    lines = place.type("gitguard session list").splitlines()
    assert re.search(r"^  main  \w{12}  Port it \(\d+ (s|min) ago\)$", lines[0])
    assert re.search(r"^\* other  \w{12}  \(no goal yet\) \(\d+ (s|min) ago\)$", lines[1])
    assert re.search(r"^  theirs  \w{12}$", lines[2])
    goals = json.loads(place.type("gitguard session list --json"))["goals"]
    assert [(goal["name"], goal["goal"]) for goal in goals] == [("main", "Port it"), ("other", "")]


def test_a_session_whose_files_are_gone_still_has_its_goal(place: Place) -> None:
    place.type("rm -r .gitguard")
    assert "  Port it (" in place.type("gitguard session list")


def test_show_prints_the_summary_of_the_host(place: Place) -> None:
    def hear(event: str, **told: str) -> None:
        payload = {
            "hook_event_name": event,
            "session_id": "S1",
            "cwd": str(place.root),
            "transcript_path": str(place.home / "none.jsonl"),
            **told,
        }
        done = place.run("gitguard hook claude-code", stdin=json.dumps(payload))
        assert done.returncode == 0

    missing = place.run("gitguard show host-summary")
    assert missing.returncode == 1
    assert "there is no summary of the host's" in missing.stderr
    hear("UserPromptSubmit", prompt="Port the parser to the new grammar")
    hear("PreCompact", trigger="auto")
    hear("PostCompact", trigger="auto", compact_summary="8. Current Work:\nThe grammar's rules.")

    assert place.run("gitguard show host-summary").stdout == (
        "8. Current Work:\nThe grammar's rules.\n"
    )
    document = json.loads(place.run("gitguard show host-summary --json").stdout)
    assert (document["what"], document["conversation"]) == ("host-summary", "S1")
    assert place.run("gitguard show host-summary --files").returncode == 2
