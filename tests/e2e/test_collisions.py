"""Two conversations of the real Claude Code at one file, in one checkout and in two worktrees."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

from .claude_code import SealedClaude
from .guarded import Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash, write
from .sealing import kill_group


@contextmanager
def at_work(
    claude: SealedClaude, model: ScriptedModel, prompt: str, *calls: ToolCall
) -> Iterator[subprocess.Popen[str]]:
    """A conversation that made its calls and whose last one runs on."""
    mark = claude.home / "tmp" / f"mark-{prompt.split()[0]}"
    model.script(*[Step("working", (call,)) for call in calls])
    model.script(Step("waiting", (bash(f"touch {mark}; while [ -e {mark} ]; do sleep 0.1; done"),)))
    process = claude.start(prompt)
    try:
        wait_until(mark.exists, 60)
        yield process
        mark.unlink(missing_ok=True)
    finally:
        if process.poll() is None:
            kill_group(process)


@pytest.mark.essential
def test_in_one_checkout_an_agent_is_told_once_of_a_file_that_another_one_changed(
    guarded: Guarded, model: ScriptedModel
) -> None:
    shared = guarded.repo / "shared.txt"
    late = "Polish shared.txt as soon as the other part of the work is done"
    with at_work(guarded.claude, model, late) as second:
        first = at_work(guarded.claude, model, "Write shared.txt", write(shared, "one\n"))
        with first:
            model.script(
                Step("adding", (bash("echo two >> shared.txt"),)),
                Step("adding", (bash("echo three >> shared.txt"),)),
                Step("Polished."),
            )
            (guarded.claude.home / "tmp" / "mark-Polish").unlink()
            assert "Polished." in second.communicate(timeout=120)[0]
            listed = guarded.run("status", "--all")
        told = model.requests(Kind.MAIN)[-1].text
    line = "[gitguard: another conversation of this session (alive, "
    assert told.count(line) == 1
    assert " ago) changed shared.txt: its task is “Write shared.txt”.]" in told
    assert f" at session main in {guarded.repo}, alive, last event" in listed
    assert "  Task: Write shared.txt\n  Changed: shared.txt" in listed
    assert guarded.faults() == []


def test_in_two_worktrees_an_agent_is_told_where_the_other_ones_change_lies(
    guarded: Guarded, model: ScriptedModel, tmp_path: Path
) -> None:
    apart = tmp_path / "apart"
    git(guarded.repo, "worktree", "add", "--quiet", "-b", "feature-x", str(apart))
    there = Guarded(replace(guarded.claude, project=apart))
    there.run("init")
    note = bash("gitguard note --next 'Split planned.txt in two' --constraint 'kept.txt stays'")
    changed = write(apart / "changed.txt", "theirs\n")
    with at_work(there.claude, model, "Port the parser to the new grammar", changed, note):
        for name in ("changed.txt", "planned.txt", "kept.txt", "free.txt"):
            model.script(Step("writing", (write(guarded.repo / name, "ours\n"),)))
        model.script(Step("Written."))
        assert guarded.claude.run("Write four files").text == "Written."
        told = model.requests(Kind.MAIN)[-1].text
        listed = there.run("status", "--all")
    assert "session feature-x (alive, " in told
    assert f"changed changed.txt in {apart}: its task is “Port the parser" in told
    assert f"plans in {apart}, naming planned.txt: “Split planned.txt in two”" in told
    assert f"works in {apart} under a limit on kept.txt: “kept.txt stays”" in told
    assert "free.txt:" not in told
    assert told.count("[gitguard: session feature-x") == 3
    assert f" at session feature-x in {apart}, alive, last event" in listed
    assert guarded.faults() == []
    assert there.faults() == []
