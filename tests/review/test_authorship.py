"""Who wrote the code rests on content: nobody gets credit for what another one wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.review.authorship import (
    CONTENT,
    LINES,
    PATCH,
    FileChange,
    FileStep,
    StepIndex,
    credit_of,
    line_change,
)
from gitguard.state.checkpoint import TOOLS
from gitguard.store.session.workspace import UserDirs
from tests.authorship.asking import Figures, ask
from tests.authorship.history import History
from tests.support.conversation import Conversation


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """What is found in a few generated histories; `make model` makes two hundred."""
    whole = Figures()
    for seed in (0, 3, 6, 21):
        history = History(seed, tmp_path_factory.mktemp(f"history-{seed}"))
        history.make()
        whole.add(ask(history))
    return whole


def test_nobody_is_credited_with_what_another_one_wrote(figures: Figures) -> None:
    assert figures.false == []


def test_nine_of_ten_files_that_the_agent_wrote_are_found(figures: Figures) -> None:
    assert figures.counts["report file there"] > 10
    assert figures.share("report file") >= 0.9, figures.missed
    assert figures.share("commit") >= 0.9, figures.missed


# A conversation, and a person beside it


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    talk = Conversation(tmp_path)
    monkeypatch.chdir(talk.root)
    return talk


def lines(*words: str) -> str:
    return "".join(f"{word} = compute_the_{word}()\n" for word in words)


def agent_writes(talk: Conversation, path: str, content: str) -> None:
    file = talk.root / path
    said = {"file_path": str(file), "content": content}
    talk.send("PreToolUse.Write", tool_input=said)
    file.write_text(content)
    talk.send("PostToolUse.Write", tool_input=said, tool_response={"filePath": str(file)})


def turn(talk: Conversation, prompt: str, **written: str) -> None:
    talk.prompt(prompt)
    for name, content in written.items():
        agent_writes(talk, f"{name}.py", content)
    talk.send("Stop", last_assistant_message="Done.")


def commit(talk: Conversation, message: str, *paths: str) -> str:
    talk.git("add", "--all", *(("--", *paths) if paths else ()))
    talk.git("commit", "--quiet", "--message", message)
    return talk.git("rev-parse", "HEAD").strip()


def why(talk: Conversation, path: str) -> list[str]:
    return [reason.item.text[0] for reason in talk.guard.review.why(path).reasons]


def files_of(talk: Conversation, range_text: str) -> dict[str, str]:
    report = json.loads(talk.guard.review.report(range_text, "json"))
    return {file["path"]: file["author"] for file in report["files"]}


def test_a_commit_by_hand_right_before_the_first_prompt_gets_no_words(talk: Conversation) -> None:
    (talk.root / "a.py").write_text(lines("first", "second", "third"))
    by_hand = commit(talk, "By hand")
    talk.clock.pass_by(4)
    talk.prompt("Write b.py")
    talk.guard.note({"decisions": [{"what": "Flat files", "why": "w"}]})
    agent_writes(talk, "b.py", lines("fourth"))
    talk.send("Stop", last_assistant_message="Done.")
    assert talk.guard.review.at(by_hand).knowledge == ()
    assert why(talk, "a.py") == []
    page = talk.guard.review.report(f"{by_hand}~1..{by_hand}")
    assert "Write b.py" not in page
    assert "Flat files" not in page
    assert "b.py" not in page


def test_nothing_is_known_of_a_commit_right_after_the_session_begins(talk: Conversation) -> None:
    assert talk.guard.review.at("HEAD").knowledge == ()


def test_a_commit_of_the_users_after_the_last_turn_leads_to_the_prompt(talk: Conversation) -> None:
    turn(talk, "Write the parser", parser=lines("first", "second"))
    (talk.root / "notes.md").write_text("mine\n")
    made = commit(talk, "Parser and notes")
    assert why(talk, "parser.py") == ["Write the parser"]
    assert why(talk, "notes.md") == []
    assert files_of(talk, f"{made}~1..{made}") == {"notes.md": "outside", "parser.py": "tools"}
    page = talk.guard.review.report(f"{made}~1..{made}")
    assert "Write the parser" in page


def test_a_squash_merge_of_two_authors_leads_to_the_prompts_after_the_branch_is_gone(
    talk: Conversation,
) -> None:
    talk.git("switch", "--quiet", "--create", "feature")
    turn(talk, "Write the parser", parser=lines("first", "second"))
    commit(talk, "Parser")
    (talk.root / "lexer.py").write_text(lines("by_hand"))
    commit(talk, "Lexer")
    turn(talk, "Shorten the parser", parser=lines("first", "shorter"))
    commit(talk, "Shorter")
    turn(talk, "Say what is left")
    talk.git("switch", "--quiet", "main")
    talk.git("merge", "--quiet", "--squash", "feature")
    squash = commit(talk, "Feature")
    talk.git("branch", "--quiet", "-D", "feature")
    talk.git("reflog", "expire", "--expire=now", "--all")
    talk.git("gc", "--quiet", "--prune=now")
    assert "Shorten the parser" in why(talk, "parser.py")
    assert why(talk, "lexer.py") == []
    files = files_of(talk, f"{squash}~1..{squash}")
    assert files == {"lexer.py": "outside", "parser.py": "tools"}


def test_a_match_outlasts_the_snapshots(talk: Conversation) -> None:
    turn(talk, "Write the parser", parser=lines("first", "second", "third"))
    parser = talk.root / "parser.py"
    parser.write_text(parser.read_text() + lines("by_hand"))
    made = commit(talk, "Parser, and a line of mine")
    turn(talk, "What is left?")
    talk.guard.store().worktree.kept_snapshots().put(())
    (link,) = talk.guard.review.piece(f"{made}~1..{made}").links
    assert [file.path for file in link.files] == ["parser.py"]
    assert "Write the parser" in why(talk, "parser.py")


def test_the_id_of_an_untracked_file_is_kept_only_once_a_commit_holds_it(
    talk: Conversation,
) -> None:
    turn(talk, "Write both", parser=lines("first"), settings="PASSWORD_OF_NOBODY = 1\n")
    names = {path: talk.git("hash-object", path).strip() for path in ("parser.py", "settings.py")}
    commit(talk, "Parser", "parser.py")
    turn(talk, "Go on")
    kept = talk.git("log", "--format=%B", "gitguard/main")
    assert f"- {names['parser.py']} parser.py" in kept
    assert names["settings.py"] not in kept
    commit(talk, "Settings")
    turn(talk, "And on")
    assert f"Gitguard-Wrote: 2 tools - {names['settings.py']} settings.py" in talk.git(
        "log", "--format=%B", "gitguard/main"
    )


def test_a_second_clone_knows_the_work_by_the_contents_that_checkpoints_name(
    talk: Conversation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(talk, "Write the parser", parser=lines("first", "second"))
    made = commit(talk, "Parser")
    turn(talk, "Go on", lexer=lines("third"))
    clone = tmp_path / "clone"
    talk.git("clone", "--quiet", str(talk.root), str(clone))
    theirs = Guard(
        str(clone), UserDirs(state_home=str(tmp_path / "theirs"), config_home=""), talk.clock
    )
    page = theirs.review.report(f"{made}~1..{made}")
    assert "Write the parser" in page
    assert "this machine has no record of the history, so only its structure was checked" in page
    assert "did not write" not in page


def test_a_forged_checkpoint_on_the_branch_gives_nothing(talk: Conversation) -> None:
    turn(talk, "Write the parser", parser=lines("first", "second"))
    made = commit(talk, "Parser")
    turn(talk, "Go on")
    head = "gitguard/main"
    state = json.loads(talk.git("show", f"{head}:state.json")) | {"goal": "Forged words"}
    blob = talk.write("blob", json.dumps(state))
    rows = talk.git("ls-tree", head).splitlines()
    tree = talk.git("mktree", stdin="\n".join(
        f"100644 blob {blob}\tstate.json" if row.endswith("state.json") else row for row in rows
    )).strip()  # fmt: skip
    message = talk.git("log", "-1", "--format=%B", head)
    parent = talk.git("rev-parse", head).strip()
    forged = talk.git("commit-tree", tree, "-p", parent, stdin=message).strip()
    talk.git("update-ref", "refs/heads/gitguard/main", forged)
    for form in ("markdown", "html"):
        page = talk.guard.review.report(f"{made}~1..{made}", form)
        assert "Forged words" not in page
        assert "which this machine did not write" in page
        assert "history written by this machine" not in page
    assert "Forged" not in str(talk.guard.review.at(made))


# Decisions from values alone


def step(old: str, new: str, *, author: str = TOOLS, place: int = 1, path: str = "a") -> FileStep:
    return FileStep(
        path, old, new, author=author, before=place - 1, after=place,
        lines=lambda: line_change(old.encode(), new.encode()),
    )  # fmt: skip


def change(old: str, new: str, path: str = "a", old_path: str = "") -> FileChange:
    return FileChange(
        path, old_path or path, old, new, lambda: line_change(old.encode(), new.encode())
    )


ONE, TWO, THREE, FOUR = (lines(word).rstrip() for word in ("one", "two", "three", "four"))


def text(*parts: str) -> str:
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("steps", "of_commit", "certainty"),
    [
        ([step("", ONE)], change("", ONE), CONTENT),
        ([step("x", "y")], change("x", "y"), CONTENT),
        (
            [step("", ONE), step(ONE, text(ONE, TWO), author="others")],
            change(ONE, text(ONE, TWO)),
            "",
        ),
        ([step("", ONE), step(ONE, text(ONE, TWO))], change(TWO, text(ONE, TWO)), CONTENT),
        ([step(ONE, text(ONE, TWO))], change(FOUR, text(FOUR, TWO)), PATCH),
        ([step(ONE, text(ONE, "}"))], change(FOUR, text(FOUR, "}")), ""),
        ([step("", text(ONE, TWO, THREE))], change("", text(ONE, FOUR, TWO, THREE)), LINES),
        ([step("", text(ONE, TWO))], change("", text(ONE, FOUR, TWO)), ""),
        (
            [step("", text(ONE, TWO, THREE))],
            change("", text(*(f"  {x}," for x in (ONE, TWO, THREE)))),
            PATCH,
        ),
        ([step(text(ONE, TWO), ONE)], change(text(ONE, TWO), ONE), CONTENT),
        ([step(ONE, text(ONE, TWO))], change(text(ONE, TWO), ONE), ""),
        ([step("", text(ONE, TWO, THREE), path="b")], change("", text(ONE, TWO, THREE)), CONTENT),
    ],
)
def test_a_change_is_tied_by_content_then_patch_then_lines(
    steps: list[FileStep], of_commit: FileChange, certainty: str
) -> None:
    by_path: dict[str, list[FileStep]] = {}
    for one in steps:
        by_path.setdefault(one.path, []).append(one)
    credit = credit_of(of_commit, StepIndex(by_path))
    assert (credit.certainty if credit else "") == certainty
