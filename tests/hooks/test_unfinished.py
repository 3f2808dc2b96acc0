"""What an agent said in a turn that did not end comes back from the host's transcript."""

from __future__ import annotations

import time

import pytest

from gitguard.hooks.conversation import Conversation as HookConversation
from gitguard.model.text import timestamp
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

FOUND = "I found that the cache key lacks the tenant."


tmp_path, talk = staged_object("talk", Conversation)


def says(talk: Conversation, text: str) -> None:
    """The host writes down what the agent says, and no hook tells of it."""
    talk.clock.pass_by(1)
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "id": f"m{talk.clock():.0f}", "content": content}
    stamp = timestamp(talk.clock())
    talk._write({"type": "assistant", "timestamp": stamp, "message": message})


def writes_prompt(talk: Conversation, words: str) -> None:
    """The host writes down what the user says."""
    stamp, message = timestamp(talk.clock()), {"role": "user", "content": words}
    talk._write({"type": "user", "timestamp": stamp, "message": message})


def is_in_a_turn(talk: Conversation) -> None:
    talk.prompt("Why is the page of another customer shown?")
    writes_prompt(talk, "Why is the page of another customer shown?")
    talk.send("PostToolUse.Bash")
    says(talk, FOUND)


def test_a_conversation_after_a_kill_is_told_what_the_agent_had_found(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.clock.pass_by(601)
    block = talk.beside("S2").prompt("What happened?")
    assert f"Said before the cut-off: {FOUND}" in block
    assert talk.beside("S3").prompt("And now?").count(FOUND) == 1, "it is taken in once"


@pytest.mark.parametrize("writes_first", [False, True])
def test_the_same_conversation_after_a_kill_is_told_what_the_agent_had_found(
    talk: Conversation, writes_first: bool
) -> None:
    is_in_a_turn(talk)
    talk.clock.pass_by(60)
    if writes_first:
        writes_prompt(talk, "What happened?")
    talk.prompt("What happened?")
    talk.send("Stop", last_assistant_message="The key lacked the tenant.")
    answers = [e.text for e in talk.guard.state().exchanges if e.kind == "unfinished"]
    assert answers == [FOUND]


def test_the_newest_report_within_a_turn_is_told_and_older_ones_are_not(
    talk: Conversation,
) -> None:
    talk.prompt("Close the gaps")
    writes_prompt(talk, "Close the gaps")
    says(talk, "Half of it is done: 9 of 19 checks pass. " + "The others still wait. " * 15)
    says(talk, "All 19 checks pass. " + "The linter is glad. " * 15 + "Route conflicts are open.")
    writes_prompt(talk, '<teammate-message teammate_id="x">idle, 7 left</teammate-message>')
    says(talk, "Let me commit that.")
    talk.clock.pass_by(60)
    block = talk.beside("S2").prompt("What happened?")
    for words in ("All 19 checks pass.", "Route conflicts are open.", "Let me commit that."):
        assert words in block
    assert "9 of 19" not in block
    assert "7 left" not in block


def is_killed_as_it_writes(talk: Conversation, written: bool, after: float = 0) -> str:
    """A kill comes before a hook tells of a write's end; return what is handed over."""
    talk.clock.now = time.time() - 2 - after  # the file system's time
    talk.prompt("Write the totals")
    path = talk.root / "totals.csv"
    talk.send("PreToolUse.Write", tool_input={"file_path": str(path)}, tool_use_id="toolu_write")
    if written:
        path.write_text("a,b\n")
    talk.bash("make load", tool_use_id="toolu_cut_off")
    talk.clock.pass_by(601)
    return talk.beside("S2").prompt("What happened?")


def test_a_file_is_handed_over_whose_write_ended_untold_before_a_kill(talk: Conversation) -> None:
    block = is_killed_as_it_writes(talk, written=True)
    assert "Files:\n- totals.csv" in block
    assert "Interrupted: Bash: make load" in block
    other = talk.beside("S3")
    assert other.prompt("And now?").count("- totals.csv") == 1
    other.send("Stop", last_assistant_message="It loads.")
    assert [(a.path, a.writes) for a in talk.guard.state().artifacts] == [("totals.csv", 1)]


@pytest.mark.parametrize(("written", "after"), [(False, 0), (True, 60)])
def test_a_file_that_did_not_change_as_its_write_began_is_not_the_agents(
    talk: Conversation, written: bool, after: float
) -> None:
    assert "- totals.csv" not in is_killed_as_it_writes(talk, written, after)


def test_a_compaction_in_a_turn_keeps_what_the_agent_had_found(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.send("PreCompact.auto")
    assert any(e.text == FOUND for e in talk.guard.state().exchanges)
    talk.send("Stop", last_assistant_message="Fixed: the key has the tenant now.")
    texts = [exchange.text for exchange in talk.guard.state().exchanges]
    assert FOUND not in texts, "the answer that ended the turn took its place"


def test_a_turn_that_ended_is_not_looked_for_in_the_transcript(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.send("Stop", last_assistant_message="Fixed.")
    says(talk, "Never shown")
    assert "Never shown" not in talk.beside("S2").prompt("What happened?")


def test_the_hosts_summary_is_told_to_whoever_has_not_just_read_it(talk: Conversation) -> None:
    talk.prompt("Port the parser")
    talk.send("PreCompact.auto")
    summary = "1. Primary Request:\n   Port it\n2. Pending Tasks:\n   Write the changelog\n"
    talk.send("PostCompact", compact_summary=summary)
    talk.send("Stop", last_assistant_message="Ported.")
    assert "Write the changelog" in talk.beside("S2").prompt("What is open?")
    talk.send("PreCompact.auto")
    talk.send("PostCompact", compact_summary=summary)
    own = talk.send("SessionStart.compact") or {}
    assert "Write the changelog" not in str(own)


def test_a_change_of_folder_before_a_command_takes_no_room(talk: Conversation) -> None:
    talk.prompt("Deploy it")
    command = 'cd "/a/long way/to the/project" && make deploy'
    talk.send("PostToolUseFailure", tool_input={"command": "cd /a/way && ./sign --all"})
    talk.bash(command, tool_use_id="toolu_cut_off")
    talk.clock.pass_by(601)
    block = talk.beside("S2").prompt("What happened?")
    assert "Interrupted: Bash: make deploy" in block
    assert "- Bash: ./sign --all: " in block


def test_a_wait_that_failed_is_no_failure_to_hand_over(talk: Conversation) -> None:
    talk.prompt("Deploy it")
    for command in ("sleep 50; echo done", "sleep 5 && ./deploy"):
        talk.send("PostToolUseFailure", tool_input={"command": command})
    block = talk.beside("S2").prompt("What happened?")
    assert "sleep 50" not in block
    assert "sleep 5 && ./deploy" in block


def test_little_is_shown_of_what_was_pasted_into_earlier_words(talk: Conversation) -> None:
    pasted = "Traceback of the pasted run " * 3
    talk.prompt(f"Never use the old loader. ```\n{pasted}\n``` Mind the tenant.")
    talk.prompt("Port the loader to the new table, and keep the tests green")
    talk.prompt("And write a page on it")
    block = talk.beside("S2").prompt("where were we?")
    assert "Mind the tenant." in block
    assert pasted.strip() not in block.split("Earlier turns")[-1]


def test_a_look_that_failed_and_a_word_in_a_pattern_are_nothing_to_hand_over(
    talk: Conversation,
) -> None:
    talk.prompt("Deploy it")
    for command in ("cat notes.md", "./deploy --all"):
        talk.send("PostToolUseFailure", tool_input={"command": command})
    talk.send("PostToolUse.Bash", tool_input={"command": r'grep "x\|task 6.6\|y" tasks.md'})
    talk.send("Stop", last_assistant_message="The remaining line reads plainly.")
    block = talk.beside("S2").prompt("What happened?")
    assert "./deploy --all" in block
    for words in ("cat notes.md", "task 6.6", "Next action ("):
        assert words not in block


def test_a_prompt_typed_while_a_turn_runs_cuts_nothing_off(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.bash("make test", tool_use_id="toolu_running")
    talk.queued_prompt("Also never log the tenant's name")
    journal = talk.root / ".gitguard/sessions/main/journal.jsonl"
    assert "tool-interrupted" not in journal.read_text(), "the call still runs"
    talk.hands_on("Also never log the tenant's name")
    talk.send("Stop", last_assistant_message="Fixed: the key has the tenant now.")
    exchanges = talk.guard.state().exchanges
    assert "Also never log the tenant's name" in [exchange.text for exchange in exchanges]
    assert "unfinished" not in [exchange.kind for exchange in exchanges]


def test_a_prompt_after_a_turn_was_cut_off_begins_another(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.queued_prompt("Also never log the tenant's name")
    talk.prompt("Stop, what have you found?")
    talk.send("Stop", last_assistant_message="The key lacked the tenant.")
    assert FOUND in [exchange.text for exchange in talk.guard.state().exchanges]


def turns_with_late_answers(talk: Conversation, *prompts: str) -> None:
    for words in prompts:
        talk.prompt(words)
        writes_prompt(talk, words)
        talk.send("Stop", last_assistant_message="")
        says(talk, "Done, and all 19 tests pass.")
        talk.clock.pass_by(30)


def answers(talk: Conversation) -> list[str]:
    talk.send("Stop", last_assistant_message="")
    return [e.text for e in talk.guard.state().exchanges if e.kind == "conclusion"]


def test_an_answer_written_down_late_counts_also_in_the_words_of_the_one_before(
    talk: Conversation,
) -> None:
    talk.abilities = talk.abilities.replace(tells_answers=False)
    turns_with_late_answers(talk, "Port the reader of rows.py", "Port the writer of rows.py")
    talk.prompt("Test the writer of rows.py")
    assert answers(talk) == ["Done, and all 19 tests pass."] * 2


def test_an_answer_written_down_late_counts_once_where_its_reading_was_cut_off(
    talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: HookConversation) -> None:
        raise KeyboardInterrupt

    talk.abilities = talk.abilities.replace(tells_answers=False)
    turns_with_late_answers(talk, "Port the reader of rows.py")
    with monkeypatch.context() as killed:
        killed.setattr(HookConversation, "keep_record", die)
        with pytest.raises(KeyboardInterrupt):
            talk.prompt("Port the writer of rows.py")
    talk.clock.pass_by(30)
    talk.prompt("Test the writer of rows.py")
    assert answers(talk) == ["Done, and all 19 tests pass."]


def test_the_answer_to_go_on_answers_what_an_error_left_open(talk: Conversation) -> None:
    answer = "You need to sign in with the account of the team, and then it has access."
    talk.prompt("Port the reader of rows.py")
    talk.send("Stop", last_assistant_message="Row 12 of rows.py was wrong.")
    talk.prompt("What am I to do with the login of the installer? It asks for access")
    talk.fails()
    talk.prompt("continue")
    talk.send("Stop", last_assistant_message=answer)
    talk.prompt("Now push rows.py to the server")
    talk.clock.pass_by(700)
    block = talk.beside("S2").prompt("Where were we?")
    assert answer in block
    assert "No answer recorded" not in block


NOTIFICATION = "<task-notification>\n<summary>The build ended</summary>\n</task-notification>"


@pytest.mark.parametrize("begins_with_event", [True, False])
def test_an_answer_of_a_turn_that_ended_is_no_word_of_the_next_one(
    talk: Conversation, begins_with_event: bool
) -> None:
    is_in_a_turn(talk)
    says(talk, "The key has the tenant now.")
    talk.send("Stop", last_assistant_message="The key has the tenant now.")
    if begins_with_event:
        talk.prompt(NOTIFICATION)
    writes_prompt(talk, NOTIFICATION)
    says(talk, "The build ended with 3 errors.")
    talk.bash("make build")
    talk.clock.pass_by(60)
    talk.beside("S2").prompt("What happened?")
    talk.beside("S2").send("Stop", last_assistant_message="It was cut off.")
    unfinished = [e.text for e in talk.guard.state().exchanges if e.kind == "unfinished"]
    assert unfinished == ["The build ended with 3 errors."]


def test_the_answer_before_a_cut_off_turn_is_told_beside_its_words(talk: Conversation) -> None:
    talk.prompt("Close the gaps")
    talk.send("Stop", last_assistant_message="All 19 checks pass; route conflicts are open.")
    talk.prompt(NOTIFICATION)
    says(talk, "The build ended with 3 errors.")
    talk.bash("make build")
    talk.clock.pass_by(601)
    block = talk.beside("S2").prompt("What happened?")
    assert "Said before the cut-off: The build ended with 3 errors." in block
    assert "- Since the last request: All 19 checks pass; route conflicts are open." in block


def middles(talk: Conversation) -> list[str]:
    return [e.text for e in talk.guard.state().exchanges if e.kind == "unfinished"]


def test_what_a_turns_middle_shows_is_kept_beside_its_answer(talk: Conversation) -> None:
    talk.prompt("Why is the page of another customer shown?")
    writes_prompt(talk, "Why is the page of another customer shown?")
    says(talk, "Let me look at `cache.py`.")
    says(talk, "The key in `cache.py` lacks `tenant_id`. Let me add it to `key_of`.")
    talk.send("PostToolUse.Bash")
    says(talk, "Fixed, and all 19 tests pass.")
    talk.send("Stop", last_assistant_message="Fixed, and all 19 tests pass.")
    assert middles(talk) == ["The key in cache.py lacks tenant_id."]


def test_the_middle_of_a_turn_is_taken_in_once(talk: Conversation) -> None:
    talk.prompt("Close the gaps")
    writes_prompt(talk, "Close the gaps")
    says(talk, "The key in `cache.py` lacks `tenant_id`.")
    talk.send("PreCompact.auto")
    says(talk, "The row in `table.py` lacks a date. Let me add it.")
    talk.send("Stop", last_assistant_message="Both gaps are closed.")
    talk.prompt("Push it")
    writes_prompt(talk, "Push it")
    talk.send("Stop", last_assistant_message="Pushed.")
    assert middles(talk) == [
        "The key in cache.py lacks tenant_id.",
        "The row in table.py lacks a date.",
    ]


def test_a_tool_call_reads_no_words_from_the_transcript(talk: Conversation) -> None:
    talk.prompt("Close the gaps")
    says(talk, "The key in `cache.py` lacks `tenant_id`.")
    talk.send("PostToolUse.Bash")
    journal = talk.root / ".gitguard/sessions/main/journal.jsonl"
    assert "agent-said" not in journal.read_text()


SPENT = "Usage spent · resets 15:00"


def test_what_the_host_says_in_the_agents_name_is_no_answer(talk: Conversation) -> None:
    is_in_a_turn(talk)
    talk.says_as_the_agent(SPENT)
    talk.send("Stop", last_assistant_message=SPENT)
    texts = [exchange.text for exchange in talk.guard.state().exchanges]
    assert FOUND in texts, "what the agent said before stays"
    assert not any(SPENT in text for text in texts)
    assert SPENT not in talk.beside("S2").prompt("What happened?")


def test_an_answer_with_the_words_of_an_older_error_of_the_host_is_kept(
    talk: Conversation,
) -> None:
    is_in_a_turn(talk)
    talk.says_as_the_agent(SPENT)
    says(talk, SPENT)
    talk.send("Stop", last_assistant_message=SPENT)
    assert SPENT in [exchange.text for exchange in talk.guard.state().exchanges]


@pytest.mark.parametrize("is_in_transcript", [True, False])
def test_an_error_of_the_host_is_no_summary(talk: Conversation, is_in_transcript: bool) -> None:
    is_in_a_turn(talk)
    error = f"{SPENT}\nSee the settings" if is_in_transcript else SPENT
    talk.send("PreCompact.auto")
    if is_in_transcript:
        talk.says_as_the_agent(error)
    talk.send("PostCompact", compact_summary=error)
    assert not talk.guard.state().host_summary


def test_a_check_left_running_has_no_outcome(talk: Conversation) -> None:
    talk.prompt("Serve the page")
    serve, check = {"command": "npm run dev"}, {"command": "make check"}
    talk.send("PostToolUse.Bash.background", tool_input=serve, tool_use_id="one")
    talk.send("PostToolUse.Bash", tool_input={"command": "make serve &"}, tool_use_id="two")
    asked = {"command": "npm run build", "run_in_background": True}
    talk.send("PostToolUse.Bash", tool_input=asked, tool_use_id="three")
    talk.send("PostToolUse.Bash", tool_input=check, tool_use_id="four")
    talk.send("Stop", last_assistant_message="It is served.")
    assert [command.command for command in talk.guard.state().commands] == ["make check"]


def test_the_users_words_around_a_pasted_console_are_kept(talk: Conversation) -> None:
    log = "\n".join(f"compiled unit {number} of the parser" for number in range(90))
    secret = "AKIAIOSFODNN7EXAMPLA"
    console = f"ada@mill parser % make all\n{log}\nrefused for {'x' * 80} {secret}"
    talk.prompt(f"```\n{console}\n```\nIt breaks since today. Keep the old linker.")
    talk.send("Stop")
    said = talk.guard.state().exchanges[0]
    assert said.text.startswith("[pasted: make all … refused for xxx")
    assert said.text.endswith("It breaks since today. Keep the old linker.")
    assert "AKIA" not in said.text


def test_a_failed_commit_is_closed_by_a_later_one(talk: Conversation) -> None:
    talk.prompt("Commit it")
    for command in ("git add missing.py", "git commit -m 'Add the walker'", "git push"):
        talk.send("PostToolUseFailure", tool_input={"command": command}, tool_use_id=command)
    done = {"command": "git add -A && git commit -m 'Add the tree walker'"}
    talk.send("PostToolUse.Bash", tool_input=done, tool_use_id="done")
    talk.send("Stop", last_assistant_message="It is committed.")
    failures = [failure.what for failure in talk.guard.state().failed_attempts]
    assert failures == ["Bash: git push"]
