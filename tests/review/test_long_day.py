"""A mixed day, and what each page says of it: whose words, whose files, and what became of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gitguard.cli.startup_lines import where_it_stands
from gitguard.review.sentences import sentences
from gitguard.store.session.conversations import THIS_SESSION
from tests.support.conversation import Conversation
from tests.support.staged import made_in, staged

NUMBERS = "def total(prices):\n    return sum(prices.values())\n"


def writes(talk: Conversation, path: str, text: str) -> None:
    """The agent writes a file with its edit tool."""
    file = talk.root / path
    call = {"file_path": str(file), "content": text}
    number = f"toolu_{path}_{talk.clock.now}"
    talk.send("PreToolUse.Write", tool_use_id=number, tool_input=call)
    file.write_text(text)
    talk.send("PostToolUse.Write", tool_use_id=number, tool_input=call,
              tool_response={"filePath": str(file)})  # fmt: skip


def runs(talk: Conversation, command: str, error: str = "") -> None:
    number = f"toolu_{talk.clock.now}"
    talk.bash(command, tool_use_id=number)
    kind = "PostToolUseFailure.Bash.output" if error else "PostToolUse.Bash"
    ended = {"error": error} if error else {}
    talk.send(kind, tool_use_id=number, tool_input={"command": command}, **ended)


def ends(talk: Conversation, said: str) -> None:
    talk.send("Stop", last_assistant_message=said)


def commits(talk: Conversation, subject: str) -> str:
    talk.git("add", "--all")
    talk.git("commit", "--quiet", "--message", subject)
    return talk.git("rev-parse", "--short", "HEAD").strip()


def live_through_a_day(folder: Path) -> Conversation:
    """Let two conversations and a person work; each line below is what is true of the day."""
    talk = Conversation(folder)
    (talk.root / "readme").write_text("By hand, before all else.\n")
    commits(talk, "By hand")
    # The first conversation: a check fails, nothing more is seen of it, and the task is done.
    talk.prompt("Write parser.py that splits lines at blanks")
    writes(talk, "parser.py", "def parse(line):\n    return line.split()\n")
    runs(talk, "python3 test_parser.py", error="Exit code 1\nAssertionError: tea")
    talk.guard.note({"constraints": ["Never overwrite readme"]}, host_session="S1")
    talk.guard.note({"next_action": "DONE"}, host_session="S1")
    ends(talk, "parser.py splits lines.")
    commits(talk, "Parse lines")
    # Two conversations at once, each with a file and an answer of its own, and one commit of both.
    other = talk.beside("S2")
    talk.prompt("Write totals.py that adds prices up")
    writes(talk, "parser.py", "def parse(line):\n    return line.strip().split()\n")
    other.prompt("Write usage.md with one example")
    writes(other, "usage.md", "# Usage\n\n    python3 parser.py prices\n\nA line for each price.\n")
    decision = {"what": "One example is enough", "why": "The user wants one"}
    other.guard.note({"decisions": [decision]}, host_session="S2")
    writes(talk, "totals.py", NUMBERS)
    ends(other, "It is written.")
    ends(talk, "totals.py adds prices up.")
    commits(talk, "Totals and usage")
    return talk


tmp_path = staged(talk=live_through_a_day)


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    talk: Conversation = made_in(tmp_path)
    monkeypatch.chdir(talk.root)
    return talk


def explained(talk: Conversation, path: str) -> str:
    return " | ".join(" ".join(each.item.text) for each in talk.guard.review.why(path).reasons)


def test_a_file_is_explained_by_the_conversation_that_wrote_it_whoever_else_is_in_its_commit(
    talk: Conversation,
) -> None:
    assert explained(talk, "totals.py") == "Write totals.py that adds prices up"
    of_usage = explained(talk, "usage.md")
    assert "Write usage.md" in of_usage
    assert "One example is enough" in of_usage
    assert "totals" not in of_usage


def test_an_answer_of_another_conversation_makes_no_answered_request_the_next_action_again(
    talk: Conversation,
) -> None:
    state = talk.guard.state()
    assert state.is_answered
    assert state.headline == "answered: It is written."
    assert "The last request was answered" in [s.text for s in sentences(None, state)]


def test_a_report_names_the_commit_in_whose_time_something_came_up(talk: Conversation) -> None:
    failed, ended = re.findall(
        r"^- Bash: python3 test_parser.py .*?`(\w{7})\w*`.* task ended at cp_\d+ `(\w{7})\w*`",
        talk.guard.review.report("HEAD~2..HEAD"),
        re.MULTILINE,
    )[0]
    assert failed == talk.git("rev-parse", "--short", "HEAD~1").strip()
    assert ended == talk.git("rev-parse", "--short", "HEAD").strip()


def test_where_an_agent_wrote_and_its_lines_are_too_few_nobody_is_said_to_have_written_the_file(
    talk: Conversation,
) -> None:
    talk.prompt("Write changes.md")
    writes(talk, "changes.md", "# Changes\n\n- One line of the agent's.\n")
    ends(talk, "It is written.")
    file = talk.root / "changes.md"
    file.write_text(file.read_text() + "- One line by hand.\n")
    commits(talk, "Changes")
    page = talk.guard.review.report("HEAD~1..HEAD")
    assert (
        "**The agent wrote here; whose the committed content is, is not known** changes.md" in page
    )
    assert "outside" not in page.lower()


def test_a_clone_says_where_it_has_no_record_and_not_that_no_work_is_known(
    talk: Conversation, tmp_path: Path
) -> None:
    (talk.root / "notes.txt").write_text("By hand.\n")
    commits(talk, "Notes")
    talk.git("clone", "--quiet", str(talk.root), str(tmp_path / "second" / "repo"))
    clone = Conversation(tmp_path / "second")
    row = clone.guard.review.course("HEAD~3..HEAD~2").rows[0]
    assert "has no record of" in row.problem
    (note,) = (n for n in clone.guard.review.piece("HEAD~3..HEAD~2").notes if "cannot verify" in n)
    assert "main" in note
    page = clone.guard.review.report("HEAD~3..HEAD")
    assert "**No agent's work found here** notes.txt" in page
    assert "opens a checkpoint" not in page, "it would be refused here"
    here = talk.guard.review.report("HEAD~3..HEAD")
    assert "**Changed outside** notes.txt" in here
    assert "`gitguard --session main show cp_008` opens a checkpoint" in here


def test_each_of_two_conversations_is_handed_its_own_request_and_its_own_answer(
    talk: Conversation,
) -> None:
    first, second = (talk.guard.resume(name) for name in ("S1", "S2"))
    assert "Goal (user's words): Write totals.py that adds prices up" in first
    assert "Last answer: totals.py adds prices up." in first
    assert "It is written." not in first
    assert first.count("Write usage.md") == 1, "as a task beside it"
    assert "Goal (user's words): Write usage.md with one example" in second
    assert "Last answer: It is written." in second
    assert "adds prices up." not in second


def test_a_person_who_asks_for_the_block_during_a_turn_sees_what_the_turn_is_for(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path / "third", host_process=os.getpid())
    talk.prompt("Write a.py with one function")
    block = talk.guard.resume(THIS_SESSION)
    assert "is at work in this checkout" in block
    assert "Write a.py with one function" in block
    assert "Goal (user's words): (missing)" not in block


def test_of_a_long_mixed_day_no_line_is_false(talk: Conversation) -> None:
    review = talk.guard.review
    printed = {
        **{path: explained(talk, path) for path in ("readme", "parser.py", "totals.py")},
        **{f"{n}": review.report(f"HEAD~{n + 1}..HEAD~{n}") for n in (2, 1, 0)},
        **{name: talk.guard.resume(name) for name in ("S1", "S2")},
    }
    parser, totals, usage = "Write parser.py that", "Write totals.py that", "Write usage.md with"
    both = {parser, totals, usage, "Never overwrite readme", "One example is enough"}
    true_of = {
        "readme": set(),
        "parser.py": {parser, totals, "python3 test_parser.py"},
        "totals.py": {totals},
        "2": set(),
        "1": {parser, "Never overwrite readme", "python3 test_parser.py"},
        "0": {totals, usage, "One example is enough", "Never overwrite readme"},  # until then
        "S1": {*both, "totals.py adds prices up."},
        "S2": {*both, "It is written."},
    }
    words = set[str]().union(*true_of.values())
    told = {page: {said for said in words if said in text} for page, text in printed.items()}
    assert told == true_of
    assert not [
        page
        for page, text in printed.items()
        if "removed " in text.lower().replace("removed ones", "")
    ]


def test_what_a_turn_said_that_took_a_checkpoint_in_its_middle_is_not_of_the_next_turns_commit(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path / "fourth")
    talk.prompt("Write a.py with one function")
    writes(talk, "a.py", "def alpha(tree):\n    return tree.left.left\n")
    failure = {"what": "Recursion", "error": "It is too deep"}
    talk.guard.note({"failed_attempts": [failure]}, host_session="S1")
    ends(talk, "a.py has one function.")
    commits(talk, "Alpha")
    talk.prompt("Write b.py with another function")
    writes(talk, "b.py", "def beta(tree):\n    return tree.right.right\n")
    ends(talk, "b.py has another function.")
    commits(talk, "Beta")
    page = talk.guard.review.report("HEAD~1..HEAD")
    assert "**request** Write b.py" in page
    assert "**request** Write a.py" not in page, "the goal is the first request"
    assert "Recursion" not in page


def test_a_next_action_that_a_request_followed_is_said_to_be_older(talk: Conversation) -> None:
    talk.guard.note({"next_action": "Commit it"}, host_session="S2")
    assert "Next action: Commit it" in where_it_stands(talk.guard.state())
    talk.clock.pass_by(5)
    talk.beside("S2").prompt("Write limits.py with three rules")
    talk.guard.checkpoint("Asked")
    assert "Next action (older than the last request): Commit it" in where_it_stands(
        talk.guard.state()
    )
