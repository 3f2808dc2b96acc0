"""What shell commands of the agent changed is found by content, and is not taken from a person."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitguard.state.items import Artifact
from tests.conftest import Process, kill
from tests.support.conversation import Clock, Conversation
from tests.support.staged import made_in, staged


class Now(Clock):
    """The machine's time, which is also the file system's, and what a test adds to it."""

    def __call__(self) -> float:
        return time.time() + self.now

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0


def _next_second() -> None:
    time.sleep(1.05 - time.time() % 1)


def begin_talk(folder: Path) -> Conversation:
    talk = Conversation(folder, clock=Now())
    talk.clock.pass_by = lambda seconds: None  # type: ignore[method-assign]
    (talk.root / "kept.txt").write_text("one\n")
    (talk.root / "other.txt").write_text("one\n")
    talk.git("add", ".")
    talk.git("commit", "--quiet", "--message", "files")
    return talk


tmp_path = staged(talk=begin_talk)


@pytest.fixture
def talk(tmp_path: Path, host_process: Process) -> Conversation:
    talk: Conversation = made_in(tmp_path)
    talk._places = talk._places.replace(caller=host_process.pid)
    talk.prompt("Change the files")
    talk.send("Stop", last_assistant_message="Ready.")
    _next_second()
    return talk


def run(talk: Conversation, command: str, effect: str = "", **changes: object) -> None:
    """The agent runs a command, of which the effect is what it really does here."""
    call = f"toolu_{len(command)}_{time.monotonic_ns()}"
    talk.bash(command, tool_use_id=call)
    if effect:
        assert os.system(f"cd {talk.root} && {effect}") == 0
    talk.send("PostToolUse.Bash", tool_input={"command": command}, tool_use_id=call, **changes)


def end_turn(talk: Conversation) -> dict[str, Artifact]:
    talk.send("Stop", last_assistant_message="Done.")
    return artifacts_of(talk)


def files_of(artifacts: dict[str, Artifact]) -> set[str]:
    return {path for path, artifact in artifacts.items() if artifact.kind == "file"}


def artifacts_of(talk: Conversation) -> dict[str, Artifact]:
    return {artifact.path: artifact for artifact in talk.guard.state().artifacts}


def chosen(talk: Conversation, checkpoint: str) -> list[str]:
    """Return what a restore would put back that was not told to take others' changes."""
    return [file.path for file in talk.guard.files.plan(checkpoint).chosen]


def test_a_file_that_a_command_changed_is_listed_with_what_wrote_it(talk: Conversation) -> None:
    run(talk, "sed -i s/one/two/ kept.txt", "sed -i s/one/two/ kept.txt")
    artifacts = end_turn(talk)
    assert set(artifacts) == {"kept.txt"}
    assert (artifacts["kept.txt"].by_shell, artifacts["kept.txt"].writes) == (True, 1)
    assert artifacts["kept.txt"].origin.by == "hook"
    assert "kept.txt (by shell)" in talk.beside("S2").prompt("where were we?")


def test_a_new_file_a_renamed_one_and_a_mode_are_seen(talk: Conversation) -> None:
    run(talk, "python things.py", "echo x > new.txt; mv kept.txt moved.txt; chmod +x other.txt")
    assert set(end_turn(talk)) == {"new.txt", "moved.txt", "other.txt", "kept.txt"}
    block = talk.beside("S2").prompt("where were we?")
    assert "kept.txt (gone)" in block
    assert "deleted" not in block, "nobody else deleted it"


def test_what_a_person_edits_between_commands_is_not_the_agents(talk: Conversation) -> None:
    run(talk, "python build.py", "true")
    _next_second()
    (talk.root / "kept.txt").write_text("by hand\n")
    _next_second()
    run(talk, "python build.py --all", "true")
    assert end_turn(talk) == {}


def test_a_file_that_is_only_touched_or_changed_back_is_not_listed(talk: Conversation) -> None:
    run(talk, "touch kept.txt", "touch kept.txt; echo x > other.txt; echo one > other.txt")
    assert end_turn(talk) == {}


def test_a_time_set_back_hides_nothing(talk: Conversation) -> None:
    run(talk, "python change.py", "echo two > kept.txt && touch -d 2001-01-01 kept.txt")
    assert set(end_turn(talk)) == {"kept.txt"}


def test_a_change_that_the_command_also_commits_is_listed(talk: Conversation) -> None:
    commit = "git -c user.name=x -c user.email=x commit -qam 'merge and reset'"
    run(talk, f"echo two > kept.txt && {commit}", f"echo two > kept.txt && {commit}")
    assert files_of(end_turn(talk)) == {"kept.txt"}
    _next_second()
    run(talk, "python more.py", "echo more > other.txt")
    assert files_of(end_turn(talk)) == {"kept.txt", "other.txt"}


def test_contents_of_another_commit_are_no_edits(talk: Conversation) -> None:
    (talk.root / "kept.txt").write_text("two\n")
    talk.git("commit", "--quiet", "--all", "--message", "two")
    talk.send("Stop", last_assistant_message="Committed.")
    _next_second()
    run(talk, "git -C . --no-pager checkout HEAD~1 kept.txt", "git checkout -q HEAD~1 -- kept.txt")
    assert end_turn(talk) == {}


@pytest.mark.parametrize(
    "command",
    ["rm kept.txt", "git reset --quiet --hard", "git stash --quiet", "git checkout --quiet -- ."],
)
@pytest.mark.parametrize("is_ended", [True, False])
def test_what_a_command_threw_away_is_put_back_without_a_word_about_others(
    talk: Conversation, command: str, is_ended: bool
) -> None:
    (talk.root / "kept.txt").write_text("a person's, not committed\n")
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, command, command)
    if is_ended:
        end_turn(talk)
    assert (talk.root / "kept.txt").exists() is not command.startswith("rm")
    changes = talk.guard.history.files(before).files
    assert [(file.path, file.by) for file in changes] == [("kept.txt", ("agent's shell",))]
    plan = talk.guard.files.plan(before)
    assert [(file.path, file.refusal) for file in plan.files] == [("kept.txt", "")]
    talk.guard.files.restore(plan)
    assert (talk.root / "kept.txt").read_text() == "a person's, not committed\n"


def test_what_a_command_destroyed_before_it_was_cut_off_is_the_agents(
    talk: Conversation, host_process: Process
) -> None:
    talk.prompt("Go on")
    (talk.root / "kept.txt").write_text("not committed\n")
    command = "git reset --hard && sleep 100"
    talk.bash(command, tool_use_id="toolu_cut_off")
    before = talk.guard.log(1)[0]
    assert before.trigger == "before-destructive"
    talk.git("reset", "--quiet", "--hard")
    assert not chosen(talk, before.name), "while the host lives, the person may have denied it"
    kill(host_process)
    assert chosen(talk, before.name) == ["kept.txt"]
    talk.guard.checkpoint("After")
    assert {*artifacts_of(talk)} == set(), "it is no edit"
    assert chosen(talk, before.name) == ["kept.txt"]


def test_what_a_command_destroyed_before_its_turn_ended_without_a_word_of_it_is_the_agents(
    talk: Conversation,
) -> None:
    talk.prompt("Go on")
    (talk.root / "kept.txt").write_text("not committed\n")
    talk.bash("git reset --hard && sleep 100", tool_use_id="toolu_stopped")
    before = talk.guard.log(1)[0]
    talk.git("reset", "--quiet", "--hard")
    assert end_turn(talk) == {}, "it is no edit"
    assert chosen(talk, before.name) == ["kept.txt"]
    _next_second()
    (talk.root / "other.txt").write_text("a person's\n")
    talk.guard.checkpoint("Later")
    assert chosen(talk, before.name) == ["kept.txt"]


def test_what_changed_while_a_sub_agents_command_ran_is_nobodys_although_the_turn_ended(
    talk: Conversation,
) -> None:
    talk.prompt("Go on")
    (talk.root / "kept.txt").write_text("not committed\n")
    command = "git reset --hard && sleep 100"
    talk.bash(command, tool_use_id="toolu_of_sub_agent", agent_id="a1", agent_type="Explore")
    before = talk.guard.log(1)[0]
    talk.git("reset", "--quiet", "--hard")
    end_turn(talk)
    assert chosen(talk, before.name) == []


def test_a_command_that_also_removes_our_folder_owns_what_it_destroyed(talk: Conversation) -> None:
    (talk.root / "new.txt").write_text("1\n")
    (talk.root / "kept.txt").write_text("two\n")
    command = "git reset --hard && git clean -fdx"
    run(talk, command, f"{command} --quiet && ! test -e .gitguard", duration_ms=20)
    before = talk.guard.log(1)[0]
    assert before.trigger == "before-destructive"
    talk.send("Stop", last_assistant_message="Done.")
    assert chosen(talk, before.name) == ["kept.txt", "new.txt"]


def test_what_a_person_edits_between_two_turns_is_kept_before_the_agent_writes_over_it(
    talk: Conversation,
) -> None:
    before = talk.guard.log(1)[0]
    path = talk.root / "kept.txt"
    path.write_text("by hand\n")
    talk.prompt("Go on")
    kept = talk.guard.log(1)[0]
    assert (kept.trigger, kept.sequence) == ("turn-start", before.sequence + 1)
    path.write_text("by the agent\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(path), "content": "x"})
    end_turn(talk)
    assert chosen(talk, before.name) == [], "the person's words are in between"
    assert chosen(talk, kept.name) == ["kept.txt"]
    talk.guard.files.restore(talk.guard.files.plan(kept.name))
    assert path.read_text() == "by hand\n"


def test_a_turn_before_which_no_file_changed_begins_without_a_checkpoint(
    talk: Conversation,
) -> None:
    talk.guard.note({"goal": "Change the files"})
    before = talk.guard.log(1)[0].sequence
    (talk.root / "kept.txt").touch()
    talk.git("pack-refs", "--all", "--prune")
    talk.prompt("Go on")
    (talk.root / "kept.txt").write_text("by hand\n")
    talk.queued_prompt("And do not forget the other one")
    assert talk.guard.log(1)[0].sequence == before


def test_after_a_command_removed_our_folder_and_was_killed_it_is_said_where_the_files_are(
    talk: Conversation,
) -> None:
    (talk.root / "kept.txt").write_text("two\n")
    talk.bash("git reset --hard && git clean -fdx", tool_use_id="toolu_cut_off")
    before = talk.guard.log(1)[0].name
    talk.git("reset", "--quiet", "--hard")
    talk.git("clean", "-fdxq")
    notes = talk.guard.ensure().notes
    assert f"{before} has your files from just before they were destroyed" in notes[-1]


def begin_cleaning(talk: Conversation) -> str:
    """Let the agent begin a command in a new turn; return the checkpoint before that."""
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    talk.prompt("Clean up")
    talk.bash("python clean_up.py", tool_use_id="toolu_stopped")
    return before


def test_what_a_command_did_before_the_user_interrupted_it_is_put_back_at_once(
    talk: Conversation,
) -> None:
    before = begin_cleaning(talk)
    (talk.root / "kept.txt").write_text("half cleaned\n")
    talk.is_interrupted("toolu_stopped")
    assert chosen(talk, before) == ["kept.txt"]
    plan = talk.guard.files.plan(before)
    assert plan.obstacle is None, "the host lives, and its turn is over"
    talk.guard.files.restore(plan)
    assert (talk.root / "kept.txt").read_text() == "one\n"
    talk.guard.files.restore(talk.guard.files.plan_undo())
    assert chosen(talk, before) == ["kept.txt"], "the restores have credited it too"


def test_what_a_person_changes_after_they_interrupted_a_command_is_theirs(
    talk: Conversation,
) -> None:
    before = begin_cleaning(talk)
    talk.is_interrupted("toolu_stopped")
    _next_second()
    (talk.root / "kept.txt").write_text("by hand\n")
    assert chosen(talk, before) == []
    talk.prompt("Go on")
    assert end_turn(talk) == {}
    assert chosen(talk, before) == []


def test_a_removal_is_the_commands_although_its_folder_changed_later(talk: Conversation) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, "rm kept.txt other.txt", "rm kept.txt other.txt")
    _next_second()
    (talk.root / "by_hand.txt").touch()
    assert chosen(talk, before) == ["kept.txt", "other.txt"]


def test_a_command_owns_nothing_that_changed_after_the_next_look(talk: Conversation) -> None:
    run(talk, "rm other.txt; git clean -f", "rm other.txt")
    end_turn(talk)
    before = talk.guard.log(1)[0].name
    for _ in range(2):
        _next_second()
        (talk.root / "kept.txt").unlink(missing_ok=True)
        talk.guard.checkpoint("A person was here")
    assert chosen(talk, before) == []
    assert set(artifacts_of(talk)) == {"other.txt"}


def test_what_a_person_removes_beside_a_command_that_names_others_stays_theirs(
    talk: Conversation,
) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, "rm -f nothing.log", "true")
    _next_second()
    (talk.root / "kept.txt").unlink()
    assert chosen(talk, before) == []


@pytest.mark.parametrize(
    ("command", "is_meant"),
    [
        ("rm -rf build/*", False),
        ("rm ./*.txt", True),
        ('rm "kep"*', True),
        ("rm oth[a-z]r*", False),
        ("find . -delete", True),
        ("rm $FILES", True),
    ],
)
def test_a_pattern_owns_what_it_can_mean(
    talk: Conversation, command: str, *, is_meant: bool
) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, command, "true")
    _next_second()
    (talk.root / "kept.txt").unlink()
    assert chosen(talk, before) == (["kept.txt"] if is_meant else [])


def test_what_a_person_writes_while_the_agent_waits_for_leave_stays_theirs(
    talk: Conversation,
) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    talk.bash("make things", tool_use_id="toolu_asked")
    _next_second()
    (talk.root / "kept.txt").write_text("by hand\n")
    time.sleep(3.1)
    talk.send(
        "PostToolUse.Bash",
        tool_input={"command": "make things"},
        tool_use_id="toolu_asked",
        duration_ms=20,
    )
    assert end_turn(talk) == {}
    assert chosen(talk, before) == []


def test_what_a_person_edits_while_tests_run_stays_theirs(talk: Conversation) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, "python -m pytest", "echo two > kept.txt")
    end_turn(talk)
    assert chosen(talk, before) == []


def test_a_command_that_only_touches_what_a_person_wrote_owns_nothing(talk: Conversation) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    _next_second()
    (talk.root / "kept.txt").write_text("by hand\n")
    _next_second()
    run(talk, "chmod -R u+x .", "chmod u+x kept.txt")
    assert end_turn(talk) == {}
    assert chosen(talk, before) == []


def test_what_the_agent_wrote_and_then_moved_is_still_the_agents(talk: Conversation) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    path = talk.root / "new.py"
    call = {"tool_input": {"file_path": str(path), "content": "1\n"}, "tool_use_id": "toolu_new"}
    _next_second()
    talk.send("PreToolUse.Write", **call)
    path.write_text("1\n")
    talk.send("PostToolUse.Write", **call)
    _next_second()
    run(talk, "mkdir src; mv new.py src/", "mkdir src; mv new.py src/")
    end_turn(talk)
    assert chosen(talk, before) == ["src/new.py"]


@pytest.mark.parametrize("date", ["@0", "@-5", "9999-01-01", "@99999999999999"])
def test_a_file_of_any_date_is_taken_in(talk: Conversation, date: str) -> None:
    run(talk, "python change.py", f"echo two > kept.txt && touch -d {date} kept.txt || true")
    assert set(end_turn(talk)) == {"kept.txt"}
    assert talk.guard.status().faults == ()


def test_what_a_restore_put_back_stands_in_nobodys_way(talk: Conversation) -> None:
    (talk.root / "kept.txt").write_text("not committed\n")
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    for _ in range(2):
        run(talk, "git reset --hard", "git reset --quiet --hard")
        end_turn(talk)
        assert chosen(talk, before) == ["kept.txt"]
        talk.guard.files.restore(talk.guard.files.plan(before))
        _next_second()
    authors = {by for change in talk.guard.history.files(before, "").files for by in change.by}
    assert authors <= {"agent's shell", "a restore"}


def test_a_name_that_is_no_text_and_a_generated_file_are_the_commands_too(
    talk: Conversation,
) -> None:
    (talk.root / "node_modules").mkdir()
    (talk.root / "node_modules" / "patched.js").write_text("1\n")
    odd = os.fsencode(talk.root) + b"/uml\xe4.txt"
    os.close(os.open(odd, os.O_CREAT | os.O_WRONLY))
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, "rm -r node_modules uml*", "rm -r node_modules uml*")
    assert end_turn(talk) == {}
    assert chosen(talk, before) == ["node_modules/patched.js", "uml\udce4.txt"]


def test_what_a_person_removed_after_a_command_is_not_the_agents(talk: Conversation) -> None:
    talk.guard.checkpoint("Before")
    before = talk.guard.log(1)[0].name
    run(talk, "true", "true")
    _next_second()
    (talk.root / "kept.txt").unlink()
    assert end_turn(talk) == {}
    assert [f.by for f in talk.guard.history.files(before).files] == [("somebody else",)]
    assert chosen(talk, before) == []


def test_what_goes_away_after_the_checkpoint_that_followed_a_command_is_not_its_doing(
    talk: Conversation,
) -> None:
    run(talk, "rm other.txt", "rm other.txt")
    talk.guard.checkpoint("After the command")
    after = talk.guard.log(1)[0].name
    _next_second()
    (talk.root / "kept.txt").unlink()
    assert [f.by for f in talk.guard.history.files(after).files] == [("somebody else",)]
    talk.guard.checkpoint("After somebody")
    assert [f.by for f in talk.guard.history.files(after).files] == [("somebody else",)]


def test_after_a_command_that_was_interrupted_nobody_knows_whose_a_change_is(
    talk: Conversation,
) -> None:
    talk.bash("sleep 100", tool_use_id="toolu_cut_off")
    (talk.root / "other.txt").write_text("two\n")
    talk.prompt("stop")
    assert end_turn(talk) == {}


def test_an_edit_before_a_checkpoint_within_the_turn_is_counted_once(talk: Conversation) -> None:
    run(talk, "sed -i s/one/two/ kept.txt", "sed -i s/one/two/ kept.txt")
    talk.guard.checkpoint("half of it")
    _next_second()
    run(talk, "sed -i s/two/three/ kept.txt", "sed -i s/two/three/ kept.txt")
    talk.guard.checkpoint("all of it")
    assert end_turn(talk)["kept.txt"].writes == 2


def test_a_failure_or_a_note_within_the_turn_hides_no_edit(talk: Conversation) -> None:
    run(talk, "sed -i s/one/two/ kept.txt", "sed -i s/one/two/ kept.txt")
    for number in range(20):
        run(talk, f"ls {number}")
    talk.send("PostToolUseFailure")
    assert set(end_turn(talk)) == {"kept.txt"}


def test_of_a_command_that_writes_hundreds_of_files_twenty_are_kept(talk: Conversation) -> None:
    write = "for n in $(seq 300); do echo x > n$n; done; echo two > kept.txt"
    run(talk, "npm install", write)
    artifacts = end_turn(talk)
    assert len(artifacts) == 20
    assert "kept.txt" in artifacts, "what git tracks goes first"


def test_a_file_that_an_edit_tool_wrote_is_not_the_shells(talk: Conversation) -> None:
    path = talk.root / "kept.txt"
    talk.bash("sleep 1", tool_use_id="toolu_beside")
    path.write_text("two\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(path), "content": "two\n"})
    talk.send("PostToolUse.Bash", tool_input={"command": "sleep 1"}, tool_use_id="toolu_beside")
    assert not end_turn(talk)["kept.txt"].by_shell


def test_what_a_build_or_a_test_leaves_behind_is_no_edit(talk: Conversation) -> None:
    run(talk, "python -m pytest", "mkdir out; echo x > out/report.xml; echo two > kept.txt")
    run(talk, "python run.py", "mkdir __pycache__; echo x > __pycache__/run.pyc")
    assert set(end_turn(talk)) == {"kept.txt"}


def test_a_long_path_is_shown_whole(talk: Conversation) -> None:
    far = "/somewhere/else/" + "folder/" * 20 + "notes.md"
    talk.send("PostToolUse.Write", tool_input={"file_path": far, "content": "x"})
    end_turn(talk)
    block = talk.beside("S2").prompt("where were we?")
    assert f"- {far}\n" in block


@pytest.mark.parametrize(
    ("theirs", "credited"),
    [
        ("echo 2 > kept.txt", {"kept.txt": "S2"}),
        ("sh build.sh", {}),
    ],
)
def test_of_commands_of_two_conversations_only_one_that_names_the_file_has_written_it(
    talk: Conversation, theirs: str, credited: dict[str, str]
) -> None:
    other = Conversation(talk.root.parent, "S2", talk.clock, os.getpid())
    talk.prompt("Serve it")
    other.prompt("Change a file")
    talk.bash("python3 serve.py", tool_use_id="toolu_long")
    run(other, theirs, "echo 2 > kept.txt")
    talk.send(
        "PostToolUse.Bash",
        tool_input={"command": "python3 serve.py"},
        tool_use_id="toolu_long",
    )
    end_turn(talk)
    origins = {path: a.origin.conversation for path, a in artifacts_of(talk).items()}
    assert origins == credited


def test_what_a_tool_of_another_conversation_wrote_while_a_command_ran_is_not_the_commands(
    talk: Conversation,
) -> None:
    other = Conversation(talk.root.parent, "S2", talk.clock, os.getpid())
    talk.prompt("Serve it")
    other.prompt("Change a file")
    talk.bash("python3 serve.py", tool_use_id="toolu_long")
    path = talk.root / "kept.txt"
    call = {"tool_input": {"file_path": str(path), "content": "2"}, "tool_use_id": "toolu_w"}
    other.send("PreToolUse.Write", **call)
    _next_second()  # the person is asked first
    path.write_text("2\n")
    _next_second()
    other.send("PostToolUse.Write", **call)
    talk.send(
        "PostToolUse.Bash",
        tool_input={"command": "python3 serve.py"},
        tool_use_id="toolu_long",
        duration_ms=9_000,
    )
    end_turn(talk)
    origin = artifacts_of(talk)["kept.txt"].origin
    assert origin.conversation == "S2"
    assert not artifacts_of(talk)["kept.txt"].by_shell
