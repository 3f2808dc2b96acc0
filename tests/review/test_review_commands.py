"""`gitguard at` and `gitguard log BASE..HEAD` print what a reviewer asks for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Git, OpenGuard
from tests.support.hostile import Outcome, Traps, gitguard, inside
from tests.support.secret_samples import some
from tests.support.staged import staged

from . import planted
from .at_work import commit, standing_in, write_reviewed

tmp_path = staged(reviewed=write_reviewed)


@pytest.fixture
def reviewed(git: Git, tmp_path: Path) -> Iterator[Git]:
    """A repository with a commit that came with a decision and a failure, standing in it."""
    with standing_in(tmp_path):
        yield git


def text_of(outcome: Outcome) -> str:
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def test_at_prints_what_became_known_in_a_commit(reviewed: Git) -> None:
    commit(reviewed, "b")
    gitguard("note", "--decision", "Two passes", "--why", "Simple")
    gitguard("checkpoint")
    first = text_of(gitguard("at", "HEAD~1"))
    assert "Link: same content; it has the content that `a` got between checkpoint" in first
    assert "Goal: Port" in first
    assert "  + Decided: By hand — because w" in first
    assert "Known before it" not in first
    second = text_of(gitguard("at"))
    assert "  + Decided: Two passes — because Simple" in second
    before = second.partition("Known before it:\n")[2].partition("Learned in")[0]
    assert before == (
        "  decisions:\n    By hand: w\n  failed_attempts:\n    Reuse the table: 41 files differ\n"
    )


def test_at_prints_json_for_programs(reviewed: Git) -> None:
    document = json.loads(text_of(gitguard("at", "HEAD", "--json")))
    assert document["commit"]["subject"] == "Write a"
    (knowledge,) = document["knowledge"]
    assert knowledge["link"]["certainty"] == "same content"
    assert knowledge["state"]["goal"] == "Port"
    assert {"field": "decisions", "removed": []}.items() <= next(
        change for change in knowledge["changes"] if change["field"] == "decisions"
    ).items()


def test_log_of_a_range_has_a_row_for_each_commit(reviewed: Git) -> None:
    commit(reviewed, "b")
    lines = text_of(gitguard("log", "HEAD~2..HEAD")).splitlines()
    short = [reviewed("rev-parse", "--short=7", name) for name in ("HEAD", "HEAD~1")]
    assert lines == [
        f"{short[0]}  Write b",
        "         no work of an agent is known in it",
        f"{short[1]}  Write a",
        "         +1 decision, 1 failure, next: Test it",
        "         (2 checkpoints, 2 automatic; main, same content)",
    ]
    document = json.loads(text_of(gitguard("log", "HEAD~2..", "--json")))
    assert [row["added"] for row in document["rows"]] == [["1 decision", "1 failure"], []]


def test_log_of_a_range_prints_the_messages_of_checkpoints(reviewed: Git) -> None:
    commit(reviewed, "b")
    gitguard("checkpoint", "-m", "b is there")
    gitguard("checkpoint")
    commit(reviewed, "c")
    gitguard("checkpoint", "-m", "c is there")
    text = text_of(gitguard("log", "HEAD~1.."))
    assert text.count('"') == 2
    assert '"c is there"' in text


@pytest.mark.parametrize("arguments", [("log", "HEAD"), ("log", "--", "-x"), ("log", "main")])
def test_log_of_what_is_no_range_is_refused(reviewed: Git, arguments: tuple[str, ...]) -> None:
    outcome = gitguard(*arguments)
    assert outcome.code == 2
    assert "is not a range such as `main..HEAD`" in outcome.err


@pytest.mark.parametrize("option", [("--oneline",), ("--all",), ("--since", "1d"), ("--grep", "x")])
def test_options_that_choose_checkpoints_are_refused_for_a_range(
    reviewed: Git, option: tuple[str, ...]
) -> None:
    outcome = gitguard("log", "HEAD~1..HEAD", *option)
    assert outcome.code == 2
    assert f"{option[0]} does not go with BASE..HEAD" in outcome.err


def test_log_of_a_range_counts_assumptions_and_invariants(reviewed: Git) -> None:
    gitguard("note", "--assumption", "The input is UTF-8", "--invariant", "Rows keep their order")
    commit(reviewed, "b")
    gitguard("checkpoint")
    assert "+1 invariant, 1 assumption" in text_of(gitguard("log", "HEAD~1..HEAD"))


def test_what_another_machine_wrote_is_shown_on_request_and_marked(
    reviewed: Git, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    reviewed("clone", "--quiet", ".", str(clone))
    with inside(clone, XDG_STATE_HOME=str(tmp_path / "other-machine")):
        hidden = text_of(gitguard("at", "HEAD"))
        assert "By hand" not in hidden
        assert "--untrusted shows" in hidden
        shown = text_of(gitguard("at", "HEAD", "--untrusted"))
        assert "NOT OURS" in shown
        assert "By hand" in shown
        assert "+1 decision" not in text_of(gitguard("log", "HEAD~1.."))
        row = text_of(gitguard("log", "HEAD~1..", "--untrusted"))
        assert "+1 decision" in row
        assert "NOT OURS" in row


def test_a_review_runs_nothing_that_the_repository_names(git: Git, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    with inside(git.root):
        gitguard("ensure")
        git("switch", "--quiet", "--create", "feature")
        for name in "ab":
            commit(git, name)
            gitguard("checkpoint", "-m", name)
        git("switch", "--quiet", "main")
        git("merge", "--quiet", "--squash", "feature")
        git("commit", "--quiet", "--message", "Write both")
    traps.set_in(git)
    with inside(git.root, PATH=f".{os.pathsep}{os.environ['PATH']}"):
        traps.script("git", folder=git.root)
        assert "same content" in text_of(gitguard("at", "HEAD"))
        assert "same content" in text_of(gitguard("log", "HEAD~1.."))
    assert traps.fired() == set()


def test_hidden_characters_and_secrets_of_a_commit_are_not_printed(reviewed: Git) -> None:
    secret = f"ghp_{some(36)}"
    commit(reviewed, "b\x1b[31m\u202ec", message=f"\x1b[31mSTATUS:COMPLETE\u202e {secret}")
    gitguard("checkpoint", "-m", "b is there")
    for arguments in (("at", "HEAD"), ("log", "HEAD~1.."), ("at", "HEAD", "--json")):
        text = text_of(gitguard(*arguments))
        assert secret not in text
        assert not {"\x1b", "\u202e"} & set(text)


def test_log_of_a_range_lists_as_many_as_asked_for_and_says_how_many_more(reviewed: Git) -> None:
    commit(reviewed, "b")
    outcome = gitguard("log", "-1", "HEAD~2..HEAD")
    assert "Write b" in outcome.out
    assert "Write a" not in outcome.out
    assert outcome.err == "1 more commit; without -n all of them are listed.\n"


@pytest.mark.parametrize("command", ["at", "report", "log"])
def test_a_review_looks_at_the_named_session_only(reviewed: Git, command: str) -> None:
    gitguard("session", "use", "other")
    gitguard("checkpoint", "-m", "Here the other one begins")
    asked = {"at": "HEAD", "report": "HEAD~1..HEAD", "log": "HEAD~1..HEAD"}[command]
    other = gitguard("--session", "other", command, asked)
    assert "By hand" not in other.out
    main = gitguard("--session", "main", command, asked)
    assert "deci" in main.out.lower()
    unknown = gitguard("--session", "nobody", command, asked)
    assert (unknown.code, unknown.out) == (23, "")
    assert "there is no session `nobody`" in unknown.err


def test_a_report_on_a_commit_alone_says_how_to_name_it(reviewed: Git) -> None:
    outcome = gitguard("report", "HEAD")
    assert (outcome.code, outcome.out) == (23, "")
    assert "`HEAD~1..HEAD` is that commit" in outcome.err


def test_an_empty_name_shows_nothing(reviewed: Git) -> None:
    outcome = gitguard("show", "")
    assert (outcome.code, outcome.out) == (2, "")


def test_a_checkpoint_far_back_is_found_by_its_number(
    reviewed: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    guard = open_guard(state_home=str(tmp_path / "state" / "gitguard"))
    planted.write(planted.history(2, 0, 205), guard, reviewed)
    assert "41 files differ" in text_of(gitguard("show", "3"))
