"""The block for system prompts: the same bytes between two checkpoints, whatever happens."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitguard import Guard
from gitguard.model.tokens import tokens_of
from gitguard.sessions.resume.building import stable_block
from gitguard.state import entries
from gitguard.state.circumstances import Circumstances
from gitguard.state.entries import JournalEntry
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.host_session import HostSession
from tests.conftest import Clock, Git


def block_of(guard: Guard, *, spiral: str = "") -> str:
    store = guard.store()
    return stable_block(store, store.readable_head(), spiral=spiral)


def happens(guard: Guard, event: str, **details: object) -> None:
    """Append to the session's journal what a hook would."""
    store = guard.store()
    entry = JournalEntry(event=event, at=store.now, host_session="S1").replace(**details)
    with store.lock():
        store.journal.append(entry)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    """A session with a checkpoint."""
    guard.ensure()
    guard.note({"goal": "The goal", "next_action": "First step", "constraints": ["committed"]})
    guard.checkpoint("because")
    return guard


def checkpoint(guard: Guard, trigger: str) -> None:
    store = guard.store()
    with store.lock():
        store.checkpoint(trigger, "why", Circumstances())


def test_without_anything_to_hand_back_it_is_empty(guard: Guard) -> None:
    guard.ensure()
    assert block_of(guard) == ""


def test_it_holds_the_newest_checkpoint(begun: Guard) -> None:
    block = block_of(begun)
    assert block.startswith("<gitguard-resume ")
    assert "Goal: The goal" in block
    assert "- committed" in block
    assert tokens_of(block) <= begun.config.resume.new_conversation


def test_who_took_the_task_over_keeps_the_long_block_until_a_compaction(
    guard: Guard, clock: Clock
) -> None:
    """What a system prompt no longer says is gone: it is in no transcript."""
    guard.ensure()
    decisions = [{"what": f"Decision {number} of many that fill a block"} for number in range(150)]
    guard.note({"goal": "The goal", "decisions": decisions}, host_session="S1")
    guard.checkpoint("because")
    store = guard.store()

    def tokens(conversation: str, *, begun_at: str = "", is_compacted: bool = False) -> int:
        head = store.readable_head()
        block = stable_block(
            store, head, conversation=conversation, begun_at=begun_at, is_compacted=is_compacted
        )
        return tokens_of(block)

    assert tokens("S2") > guard.config.resume.after_compaction
    assert tokens("S2", is_compacted=True) <= guard.config.resume.after_compaction
    assert tokens("S1") <= guard.config.resume.after_compaction
    clock.advance(60)
    begun_anew = guard.store().now
    assert tokens("S1", begun_at=begun_anew) > guard.config.resume.after_compaction


def test_nothing_changes_it_before_the_next_checkpoint(
    begun: Guard, clock: Clock, git: Git, repo: Path
) -> None:
    before = block_of(begun)

    def note() -> None:
        begun.note({"constraints": ["uncommitted"], "next_action": "Second step"})

    def change_files() -> None:
        (repo / "README.md").write_text("changed\n")
        later = time.time() + 999
        os.utime(repo / "README.md", (later, later))

    def leave() -> None:
        git("commit", "--quiet", "--allow-empty", "--message", "more")
        git("switch", "--quiet", "--create", "topic")

    calls = {"id": "t1", "tool": "Bash", "summary": "sleep 1000"}
    for change in (
        note,
        change_files,
        leave,
        lambda: clock.advance(86_400),
        lambda: happens(begun, entries.PROMPT, summary="and now?"),
        lambda: happens(begun, entries.STARTED, **calls),
        lambda: happens(begun, entries.ENDED, **calls, written=("new.py",)),
        lambda: happens(begun, entries.FAILED, **calls, error="boom"),
    ):
        change()
        assert block_of(begun) == before
    assert block_of(begun) != begun.resume()


def test_the_next_checkpoint_changes_it(begun: Guard) -> None:
    before = block_of(begun)
    begun.note({"constraints": ["newer"]})
    happens(begun, entries.FAILED, id="t1", tool="Bash", summary="make", error="boom")
    checkpoint(begun, "turn-end")
    block = block_of(begun)
    assert block != before
    assert "- newer" in block
    assert "- Bash: make: boom" in block
    assert block == block_of(begun)


def test_what_is_different_now_is_only_in_the_other_block(begun: Guard, git: Git) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "more")
    assert "Changed since" in begun.resume()
    assert "Changed since" not in block_of(begun)


def test_a_call_that_a_crash_interrupted_is_in_it(begun: Guard) -> None:
    happens(begun, entries.STARTED, id="t1", tool="Bash", summary="sleep 1000")
    checkpoint(begun, "recovery")
    assert "Interrupted: Bash: sleep 1000" in block_of(begun)


@pytest.mark.parametrize("trigger", ["before-destructive", "compaction", "manual"])
def test_a_call_that_was_running_at_the_checkpoint_is_not(begun: Guard, trigger: str) -> None:
    happens(begun, entries.STARTED, id="t1", tool="Bash", summary="sleep 1000")
    begun.note({"learnings": [trigger]})
    checkpoint(begun, trigger)
    block = block_of(begun)
    assert trigger in block
    assert "Interrupted" not in block


SPIRAL = "4 compactions"
ADVICE = f"- {SPIRAL}; a new conversation would now keep more than compacting again"


def test_the_spiral_reason_is_part_of_the_block(begun: Guard) -> None:
    assert ADVICE in block_of(begun, spiral=SPIRAL)
    assert "a new conversation" not in block_of(begun)


def test_so_it_is_of_the_block_of_a_prompt(begun: Guard) -> None:
    from gitguard.sessions.resume.building import resume_block

    assert ADVICE in resume_block(begun.store(), spiral=SPIRAL)
    assert "a new conversation" not in resume_block(begun.store())


@pytest.mark.parametrize(("compactions", "warned"), [(2, False), (3, True), (4, True)])
def test_so_it_is_of_the_block_that_an_agent_asks_for(
    begun: Guard, compactions: int, warned: bool
) -> None:
    store = begun.store()
    with store.lock():
        known = HostSession(started_at=store.now, epoch=compactions)
        keep_conversation(begun.workspace, store.session, "S1", known)
    assert ("a new conversation" in begun.resume("S1")) is warned
    assert "a new conversation" not in begun.resume("S2")


def test_another_branch_than_the_sessions_is_noted_from_the_checkpoint(
    begun: Guard, git: Git
) -> None:
    git("switch", "--quiet", "--create", "topic")
    assert "began on branch main" not in block_of(begun)
    checkpoint(begun, "manual")
    assert "began on branch main; the current branch is topic" in block_of(begun)
