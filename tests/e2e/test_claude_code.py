"""An agent's state survives a real Claude Code session.

Pressure comes only from the usage that the scripted model reports, state only through hooks and
the command line.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

from .guarded import BLOCK, Guarded, fingerprint
from .halted_turns import CRITICAL, script_until_halted
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash, subagent, summary, write
from .sealing import kill_group

_KEYED = "2026-11-26 12:00:00 INFO request key=abc token=none session ok\n"


def script_work(model: ScriptedModel, repo: Path) -> None:
    """Write a file, run a command, fail a command, say something."""
    model.script(
        Step("I write the file", (write(repo / "hello.py", "print('hi')\n"),)),
        Step("I run it", (bash("python3 hello.py"),)),
        Step("I fail", (bash("python3 -c 'raise SystemExit(3)'"),)),
        Step("All done."),
    )


# (a) a session


@pytest.mark.essential
def test_a_turn_ends_in_a_checkpoint_with_the_file_and_the_failure(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_work(model, guarded.repo)
    guarded.claude.run("Write hello.py and run it")
    state = guarded.state()
    assert [artifact["path"] for artifact in state["artifacts"]] == ["hello.py"]
    assert "raise SystemExit(3)" in state["failed_attempts"][0]["what"]
    assert "Exit code 3" in state["failed_attempts"][0]["error"]
    assert state["goal"] == "Write hello.py and run it"
    assert {state["goal_from"]["by"], state["next_from"]["by"]} == {"user"}
    assert "python3 hello.py" in state["last_action"]["summary"]
    assert "turn-end" in guarded.triggers()
    assert guarded.faults() == []


def test_what_the_agent_notes_is_never_overwritten_mechanically(
    guarded: Guarded, model: ScriptedModel
) -> None:
    notes = "gitguard note --goal 'Ship it' --next 'Run the tests' --decision 'Use git' --why small"
    model.script(Step("noting", (bash(notes),)), Step("done"))
    first = guarded.claude.run("hello")
    model.script(Step("done"))
    guarded.claude.run("and now?", resume=first.session_id)
    state = guarded.state()
    assert (state["goal"], state["next_action"]) == ("Ship it", "Run the tests")
    assert state["decisions"][0]["why"] == "small"
    assert guarded.faults() == []


# (b) a compaction


@pytest.mark.essential
def test_the_branch_moves_before_the_summarizing_request_reaches_the_model(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_work(model, guarded.repo)
    session = guarded.claude.run("Write hello.py and run it").session_id
    heads: list[str] = []
    before = guarded.head()
    step = summary("what happened so far")
    model.script_compaction(Step(step.text, before=lambda: heads.append(guarded.head())))
    guarded.claude.run("/compact", resume=session)
    assert heads, "the summarizing request never came"
    assert heads[0] != before
    assert guarded.triggers().count("compaction") == 1
    message = git(guarded.repo, "log", "-1", "--format=%B", heads[0])
    assert "Gitguard-Trigger: compaction" in message


def test_the_branch_moves_even_when_the_compaction_fails(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_work(model, guarded.repo)
    session = guarded.claude.run("Write hello.py and run it").session_id
    model.fail_compactions()
    guarded.claude.run("/compact", resume=session)
    assert "compaction" in guarded.triggers()
    assert guarded.faults() == []


@pytest.mark.essential
def test_start_resume_compaction_and_next_prompt_each_carry_the_block_once(
    guarded: Guarded, model: ScriptedModel
) -> None:
    guarded.run("note", "--goal", "Ship it", "--constraint", "No new dependencies")
    counts: dict[str, int] = {}

    def ask(name: str, prompt: str, resume: str | None = None) -> str:
        seen = len(model.requests(Kind.MAIN))
        model.script(Step("ok"))
        run = guarded.claude.run(prompt, resume=resume)
        (request,) = model.requests(Kind.MAIN)[seen:]
        counts[name] = request.count(BLOCK)
        assert "No new dependencies" in request.text
        return run.session_id

    session = ask("start", "hello")
    ask("resume", "go on", resume=session)
    model.script_compaction(summary("what happened so far"))
    guarded.claude.run("/compact", resume=session)
    ask("compact + resume", "go on", resume=session)
    ask("next prompt", "and on", resume=session)
    assert counts == {"start": 1, "resume": 1, "compact + resume": 1, "next prompt": 1}


# (c) crashes


def test_the_next_conversation_gets_every_field_after_the_host_was_killed(
    guarded: Guarded, model: ScriptedModel
) -> None:
    note = (
        "gitguard note --goal 'Ship it' --phase build --next 'Fix the parser' --done 'Read it' "
        "--decision 'Use git' --why small --constraint 'No new dependencies' "
        "--invariant 'Tests stay green' --issue 'Slow start' --blocker 'No key' "
        "--assumption 'Linux only' --failure 'pip' --error 'no network'"
    )
    model.script(
        Step("noting", (bash(note),)),
        Step("writing", (write(guarded.repo / "a.txt", "a"),)),
        Step("waiting", (bash("touch started; sleep 60"),)),
    )
    process = guarded.claude.start("begin")
    wait_until((guarded.repo / "started").exists)
    kill_group(process)
    guarded.claude.end_leftovers()
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    text = model.requests(Kind.MAIN)[-1].text
    wanted = ["Ship it", "build", "Fix the parser", "Read it", "Use git — because small"]
    wanted += ["No new dependencies", "Tests stay green", "Slow start", "No key", "Linux only"]
    wanted += ["pip: no network", "a.txt", "sleep 60"]
    assert [fact for fact in wanted if fact not in text] == []


def test_a_hook_killed_in_the_middle_of_a_checkpoint_loses_nothing(
    guarded: Guarded, model: ScriptedModel, bin_dir: Path
) -> None:
    note = "gitguard note --goal 'Ship it' --next 'Fix the parser' --decision 'Use git' --why small"
    model.script(Step("noting", (bash(note),)), Step("done"))
    shim = bin_dir / "git"
    killed = guarded.repo.parent / "killed"
    model.script(Step("never"))
    shim.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *"update-ref"*turn-end*) touch {killed}; kill -9 $PPID; exit 1;; esac\n'
        'exec /usr/bin/git "$@"\n'
    )
    shim.chmod(0o755)
    guarded.claude.run("begin")
    assert killed.exists()
    shim.unlink()
    model.script(Step("ok"))
    guarded.claude.run("where were we?")
    text = model.requests(Kind.MAIN)[-1].text
    assert [
        f for f in ("Ship it", "Fix the parser", "Use git — because small") if f not in text
    ] == []
    assert "fatal" not in git(guarded.repo, "fsck", "--strict")
    assert guarded.state()["goal"] == "Ship it"


# (d) critical pressure


@pytest.mark.essential
def test_at_critical_pressure_tools_are_denied_and_words_still_pass(
    halting: Guarded, model: ScriptedModel
) -> None:
    script_until_halted(model)
    run = halting.claude.run("go")
    assert run.terminal_reason == "hook_stopped", "the second denial ends the turn"
    assert not (halting.repo / "must-not-run").exists()
    assert model.remaining(Kind.MAIN) >= 1
    assert "halt" in halting.triggers()
    assert "The next call that is denied ends your turn" in model.requests(Kind.MAIN)[-1].text
    note = bash("gitguard note --learning 'It is the cache'")
    model.replace_script(
        Step("I save it", (note,), input_tokens=CRITICAL + 2000),
        Step("It is the cache.", input_tokens=CRITICAL + 2500),
    )
    answered = halting.claude.run("what did you find?", resume=run.session_id)
    assert answered.text == "It is the cache."
    assert "STATUS:HALT_CONTEXT_LIMIT" in model.requests(Kind.MAIN)[-2].text
    assert "It is the cache" in [item["text"] for item in halting.state()["learnings"]]
    model.script_compaction(summary("what happened so far"))
    halting.claude.run("/compact", resume=run.session_id)
    model.replace_script(Step("on we go", (bash("touch ran"),)), Step("done"))
    halting.claude.run("go on", resume=run.session_id)
    assert (halting.repo / "ran").exists()
    assert halting.faults() == []


def test_a_prompt_is_refused_where_words_have_no_room_and_nothing_is_asked(
    halting: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("one", (bash("echo one"),), input_tokens=20_000),
        *(
            Step(f"call {number}", (bash(f"touch ran-{number}"),), input_tokens=194_000)
            for number in range(4)
        ),
    )
    run = halting.claude.run("go")
    assert run.terminal_reason == "hook_stopped"
    asked = len(model.requests(Kind.MAIN))
    refused = halting.claude.run("go on", resume=run.session_id)
    assert "STATUS:HALT_CONTEXT_LIMIT" in refused.text
    assert "Clear the input line, then run /compact or /clear." in refused.text
    assert len(model.requests(Kind.MAIN)) == asked


def test_an_agent_that_overrides_its_own_halt_is_refused(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("I lift it", (bash("cd . && gitguard override --reason please; touch ran"),)),
        Step("done"),
    )
    guarded.claude.run("go")
    assert not (guarded.repo / "ran").exists()
    assert "is for a human" in model.requests(Kind.MAIN)[-1].text
    shown = guarded.json("status")
    assert all(known.get("override") is None for known in shown["host_sessions"].values())


@pytest.mark.essential
def test_a_human_lifts_the_halt_until_pressure_rises_again(
    halting: Guarded, model: ScriptedModel
) -> None:
    model.script(
        Step("one", (bash("echo one"),), input_tokens=20_000),
        Step("two", (bash("echo two"),), input_tokens=172_000),
        Step("three", (bash("touch ran"),), input_tokens=172_500),
        Step("four", (bash("touch ran"),), input_tokens=172_600),
    )
    run = halting.claude.run("go")
    assert run.terminal_reason == "hook_stopped"
    halting.run("override", "--reason", "nearly done", "--host-session", run.session_id)
    model.replace_script(
        Step("four", (bash("touch ran"),), input_tokens=173_000), Step("done", input_tokens=173_500)
    )
    halting.claude.run("go on", resume=run.session_id)
    assert (halting.repo / "ran").exists()


# Sub-agents


@pytest.mark.essential
def test_sub_agents_are_journaled_for_their_parent_and_never_gated(
    halting: Guarded, model: ScriptedModel
) -> None:
    model.script(Step("hand over", (subagent("do it"),)), Step("done"))
    model.script_subagent(
        Step("working", (bash("touch by-sub-agent"),), input_tokens=CRITICAL),
        Step("more", (write(halting.repo / "sub.txt", "x"),), input_tokens=CRITICAL),
        Step("finished", input_tokens=CRITICAL),
    )
    halting.claude.run("go")
    assert (halting.repo / "by-sub-agent").exists()
    assert "sub.txt" in [artifact["path"] for artifact in halting.state()["artifacts"]]
    assert "halt" not in halting.triggers()


# (e) is in test_installation.py: the host compacts by itself where `init` set it


# (f) the status line


@pytest.mark.essential
def test_the_status_line_shows_the_gauge_and_its_reading_reaches_the_gate(
    guarded: Guarded, model: ScriptedModel
) -> None:
    model.script(Step("hello there", input_tokens=144_000))
    with guarded.claude.interactive() as terminal:
        terminal.wait_for("Context: unknown")
        terminal.submit("hello")
        terminal.wait_for("Context: 72%")
        readings = [
            known["reading"]
            for known in guarded.json("status")["host_sessions"].values()
            if known.get("reading")
        ]
        assert [reading["source"] for reading in readings] == ["status-line"]
        assert readings[0]["tokens"] == 144_050


# (g) side by side


def test_a_halted_conversation_does_not_stop_the_one_beside_it(
    halting: Guarded, model: ScriptedModel
) -> None:
    script_until_halted(model)
    halted = halting.claude.run("go")
    assert halted.terminal_reason == "hook_stopped"
    model.replace_script(Step("other", (bash("touch other-ran"),)), Step("done"))
    other = halting.claude.run("something else")
    assert other.terminal_reason != "hook_stopped"
    assert (halting.repo / "other-ran").exists()
    model.replace_script(Step("I was stopped", input_tokens=CRITICAL + 2000))
    halting.claude.run("go on", resume=halted.session_id)
    assert "STATUS:HALT_CONTEXT_LIMIT" in model.requests(Kind.MAIN)[-1].text


def test_beside_a_log_of_key_words_a_turn_ends_in_a_checkpoint_and_a_halt_is_denied(
    halting: Guarded, model: ScriptedModel
) -> None:
    (halting.repo / "aaa.log").write_text(_KEYED * 300_000)
    for number in range(5):
        (halting.repo / f"z{number}.txt").write_text("small\n")
    model.script(Step("All done."))
    halting.claude.run("Say that you are done")
    assert "turn-end" in halting.triggers()
    left_out = halting.json("status", "--files")["gaps"]["left_out"]
    assert {file["path"] for file in left_out} <= {"aaa.log"}
    script_until_halted(model)
    run = halting.claude.run("go")
    assert run.terminal_reason == "hook_stopped"
    assert not (halting.repo / "must-not-run").exists()
    assert "halt" in halting.triggers()
    assert halting.faults() == []


# (h) a guest


@pytest.mark.essential
def test_the_repository_is_the_same_before_and_after(
    guarded: Guarded, model: ScriptedModel
) -> None:
    before = fingerprint(guarded.repo)
    model.script(
        Step("noting", (bash("gitguard note --goal 'Ship it' --phase build"),)),
        Step("failing", (bash("exit 3"),)),
        Step("done"),
    )
    session = guarded.claude.run("go").session_id
    model.script_compaction(summary("so far"))
    guarded.claude.run("/compact", resume=session)
    guarded.run("checkpoint")
    assert fingerprint(guarded.repo) == before
    assert git(guarded.repo, "status", "--porcelain") == ""


# What is written can be read without gitguard, and comes back


def test_every_checkpoint_reads_with_plain_git_and_comes_back(
    guarded: Guarded, model: ScriptedModel
) -> None:
    script_work(model, guarded.repo)
    guarded.claude.run("Write hello.py and run it")
    for commit in git(guarded.repo, "rev-list", guarded.branch).split():
        state = json.loads(git(guarded.repo, "show", f"{commit}:state.json"))
        assert state["schema_version"] == 1
    git(guarded.repo, "fsck", "--strict")
    expected = guarded.run("show", "state")
    git(guarded.repo, "clean", "-fdxq", ".gitguard")
    assert not (guarded.repo / ".gitguard/sessions").exists()
    guarded.run("ensure")
    assert guarded.run("show", "state") == expected
    git(guarded.repo, "worktree", "add", "--quiet", "--detach", "../second")
    restored = guarded.run(
        "ensure", "--root", str(guarded.repo.parent / "second"), env={"GITGUARD_SESSION": "main"}
    )
    assert "Write hello.py and run it" in restored
