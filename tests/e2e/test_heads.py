"""A session branch in other hands, as the agent of a real Claude Code session meets it."""

from __future__ import annotations

import pytest

from .guarded import BLOCK, Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash

REASON = "no checkpoint is taken"
FIRST_LINE = "hooks save commands and files"


def ask(guarded: Guarded, model: ScriptedModel, prompt: str, resume: str = "") -> tuple[str, str]:
    """Say something, in a conversation of before or a new one; return its id and what is read."""
    before = len(model.requests(Kind.MAIN))
    model.script(Step("I look", (bash("true"),)), Step("Done."))
    run = guarded.claude.run(prompt, resume=resume or None)
    return run.session_id, "\n".join(r.text for r in model.requests(Kind.MAIN)[before:])


@pytest.fixture
def worked(guarded: Guarded, model: ScriptedModel) -> Guarded:
    """A session of two turns, with a goal that the agent noted."""
    model.script(Step("noting", (bash("gitguard note --goal 'Ship the parser'"),)), Step("Done."))
    session = guarded.claude.run("Write the parser").session_id
    ask(guarded, model, "And its tests", session)
    return guarded


def test_a_deleted_branch_is_back_in_the_next_conversation_and_deleted_again_it_is_meant(
    worked: Guarded, model: ScriptedModel
) -> None:
    before = worked.head()
    git(worked.repo, "branch", "-D", "gitguard/main")
    _, read = ask(worked, model, "Go on with it")
    assert "gitguard put it back at cp_" in read
    assert BLOCK in read
    assert "Ship the parser" in read
    git(worked.repo, "merge-base", "--is-ancestor", before, worked.branch)
    git(worked.repo, "branch", "-D", "gitguard/main")
    model.script(Step("I look", (bash("touch must-not-run"),)), Step("Stopped."))
    worked.claude.run("Go on again")
    assert not (worked.repo / "must-not-run").exists()
    assert "STATUS:MISSING_STATE" in model.requests(Kind.MAIN)[-1].text
    assert not git(worked.repo, "for-each-ref", worked.branch)
    assert "STATUS:MISSING_STATE" in worked.run("gate", check=False)


@pytest.mark.parametrize("way", ["rewound", "a foreign commit on top"])
def test_beside_a_foreign_head_the_memory_goes_on_in_a_new_conversation_and_after_compact(
    worked: Guarded, model: ScriptedModel, way: str
) -> None:
    there = f"{worked.branch}~1"
    if way != "rewound":
        message = git(worked.repo, "log", "-1", "--format=%B", worked.branch)
        tree = f"{worked.branch}^{{tree}}"
        there = git(worked.repo, "commit-tree", tree, "-p", worked.branch, "-m", message).strip()
    git(worked.repo, "update-ref", worked.branch, there)
    theirs = worked.head()
    session, read = ask(worked, model, "Go on with it")
    assert REASON in read
    assert BLOCK in read
    assert "Ship the parser" in read
    assert FIRST_LINE not in read
    worked.claude.run("/compact", resume=session)
    _, read = ask(worked, model, "And now?", session)
    assert REASON in read
    assert BLOCK in read
    assert worked.head() == theirs
    assert worked.run("gate").startswith("continue")
    worked.run("repair", "--archive-theirs" if way == "rewound" else "--dry-run", check=False)
