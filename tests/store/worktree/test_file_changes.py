"""What changed in the files since a checkpoint is listed with who changed it, as hooks saw."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.errors import NothingFound
from tests.support.conversation import Conversation


def changes(talk: Conversation, older: str, newer: str = "") -> list[tuple[str, str, str]]:
    listed = talk.guard.history.files(older, newer)
    return [(f.path, f.action, ", ".join(f.by)) for f in listed.files]


def written_by_tool(talk: Conversation, name: str, text: str) -> None:
    path = talk.root / name
    path.write_text(text)
    talk.send("PostToolUse.Write", tool_input={"file_path": str(path), "content": text})


@pytest.fixture
def begun_talk(tmp_path: Path) -> Conversation:
    talk = Conversation(tmp_path)
    talk.prompt("Port the parser")
    talk.guard.checkpoint("Begin")
    return talk


def test_each_change_has_its_author(begun_talk: Conversation) -> None:
    talk = begun_talk
    begin = talk.guard.log(1)[0].name
    written_by_tool(talk, "by_tool.py", "1\n")
    (talk.root / "by_hand.py").write_text("2\n")
    assert changes(talk, begin) == [
        ("by_hand.py", "added", "somebody else"),
        ("by_tool.py", "added", "agent's tools"),
    ]
    talk.guard.checkpoint("More")
    more = talk.guard.log(1)[0].name
    (talk.root / "by_tool.py").write_text("by hand now\n")
    assert changes(talk, begin, more) == [
        ("by_hand.py", "added", "somebody else"),
        ("by_tool.py", "added", "agent's tools"),
    ]
    assert changes(talk, begin)[1] == (
        "by_tool.py",
        "added",
        "agent's tools, somebody else",
    )


def test_only_what_the_session_changed_is_put_back(begun_talk: Conversation) -> None:
    talk = begun_talk
    begin = talk.guard.log(1)[0].name
    written_by_tool(talk, "by_tool.py", "1\n")
    (talk.root / "by_hand.py").write_text("2\n")
    plan = talk.guard.files.plan(begin)
    assert [file.path for file in plan.chosen] == ["by_tool.py"]
    assert [(f.path, f.refusal) for f in plan.refused] == [
        ("by_hand.py", f"somebody else changed it after {begin}")
    ]
    talk.guard.files.restore(plan)
    assert not (talk.root / "by_tool.py").exists()
    assert (talk.root / "by_hand.py").read_text() == "2\n"


def test_a_secret_that_somebody_made_is_spared_though_the_agent_wrote_into_it(
    begun_talk: Conversation,
) -> None:
    begin = begun_talk.guard.log(1)[0].name
    (begun_talk.root / ".env").write_text("TOKEN=1\n")
    begun_talk.guard.checkpoint("Somebody made a file that is left out")
    written_by_tool(begun_talk, ".env", "TOKEN=2\n")
    made = begun_talk.guard.log(1)[0].name
    assert [(f.path, f.refusal) for f in begun_talk.guard.files.plan(begin).files] == [
        (".env", f"somebody else changed it between {begin} and {made}")
    ]


def test_what_was_changed_back_is_no_difference(begun_talk: Conversation) -> None:
    talk = begun_talk
    (talk.root / "parser.py").write_text("1\n")
    talk.guard.checkpoint("First")
    first = talk.guard.log(1)[0].name
    written_by_tool(talk, "parser.py", "2\n")
    talk.guard.checkpoint("Second")
    second = talk.guard.log(1)[0].name
    written_by_tool(talk, "parser.py", "1\n")
    assert changes(talk, first) == []
    assert [path for path, *_ in changes(talk, first, second)] == ["parser.py"]


def test_a_file_that_gained_a_secret_is_not_said_to_be_gone(begun_talk: Conversation) -> None:
    talk = begun_talk
    written_by_tool(talk, "settings.yml", "token: later\n")
    talk.guard.checkpoint("Before")
    (talk.root / "settings.yml").write_text(f"token: ghp_{'a1B2' * 9}\n")
    talk.guard.checkpoint("After")
    [newest, *_] = talk.guard.history.file_log("", "", most=5).entries
    assert [(f.path, f.action) for f in newest.files] == [("settings.yml", "changed")]
    assert talk.guard.history.files_of().files == newest.files


def test_only_files_below_a_path_are_listed(begun_talk: Conversation) -> None:
    (begun_talk.root / "src").mkdir()
    written_by_tool(begun_talk, "src/a.py", "1\n")
    written_by_tool(begun_talk, "b.py", "1\n")
    listed = begun_talk.guard.history.files("1", paths=("src",))
    assert [file.path for file in listed.files] == ["src/a.py"]


def test_a_checkpoint_without_a_snapshot_is_said(begun_talk: Conversation) -> None:
    for number in range(1_001):
        (begun_talk.root / f"new{number}").touch()
    begun_talk.guard.checkpoint("Too many")
    newest = begun_talk.guard.log(1)[0].name
    with pytest.raises(NothingFound, match="has no snapshot of the files"):
        begun_talk.guard.history.files(newest)
    assert "no `.gitignore`" in begun_talk.guard.files.status().gaps.refusal


def test_before_a_destructive_command_the_person_reads_what_no_snapshot_has(
    begun_talk: Conversation,
) -> None:
    call = {"tool_input": {"command": "git clean -fd"}, "tool_use_id": "toolu_9"}
    assert begun_talk.send("PreToolUse.Bash", **call) == {}
    (begun_talk.root / ".env").write_text("TOKEN=1\n")
    reply = begun_talk.send("PreToolUse.Bash", **{**call, "tool_use_id": "toolu_10"})
    reason = "its name says that it holds secrets"
    said = f"gitguard: before `git clean -f` no copy was saved of .env ({reason})"
    assert reply == {"systemMessage": said}
    again = {**call, "tool_use_id": "toolu_11"}
    assert begun_talk.send("PreToolUse.Bash", **again) == {}, "it was said of the same files"
    (begun_talk.root / ".env.local").write_text("TOKEN=1\n")
    reply = begun_talk.send("PreToolUse.Bash", **{**call, "tool_use_id": "toolu_12"})
    assert ".env.local" in reply["systemMessage"]


def test_a_committed_file_that_the_agent_replaced_by_a_folder_is_the_agents(
    begun_talk: Conversation,
) -> None:
    talk = begun_talk
    (talk.root / "two").write_text("1\n")
    talk.git("add", "two")
    talk.git("commit", "--quiet", "--message", "Two")
    talk.guard.checkpoint("With the file")
    name = talk.guard.log(1)[0].name
    (talk.root / "two").unlink()
    (talk.root / "two").mkdir()
    written_by_tool(talk, "two/inner", "2\n")
    talk.guard.checkpoint("With the folder")
    assert changes(talk, talk.guard.log(1)[0].name) == []
    listed = [path for path, _, author in changes(talk, name) if author == "agent's tools"]
    assert listed == ["two/inner"]
