"""What others put into a prompt is not the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.model.events import Pressure, Window
from gitguard.model.host_additions import prompt_line, without_ours
from gitguard.state.items import REQUEST
from gitguard.state.prompts import gist
from tests.support.conversation import Conversation

BLOCK = '<gitguard-resume session="main">\nGoal: x\n</gitguard-resume>'


@pytest.mark.parametrize(
    "ours",
    [
        Pressure(0.62, 124_000, Window(200_000, "host"), "hook").gauge_line(saved=True),
        Pressure(0.62, 124_000, Window(200_000, "assumed"), "hook").gauge_line(),
        "[Context: 82% | 164k/200k tokens (window assumed)] Save what matters.",
        "[Context: unknown]",
        "[gitguard: 30 tool calls without a note.]",
        "STATUS:COMPLETE\nThe task is complete. This prompt begins another task.",
        BLOCK,
        f"{BLOCK}\n\n[Context: 62% | 124k/200k tokens]",
    ],
)
def test_what_gitguard_put_before_a_prompt_is_taken_out_of_it(ours: str) -> None:
    assert prompt_line(f"{ours}\n\nNever touch a.txt") == "Never touch a.txt"
    assert prompt_line(f"Why does it say {ours.splitlines()[0]}?").startswith("Why does it say")


@pytest.mark.parametrize(
    "ours",
    [
        "[gitguard: hooks save commands and files. Note decisions with `gitguard note`.]",
        "STATUS:COMPLETE\nThe task is complete. This prompt begins another task.",
        BLOCK,
        f"{BLOCK}\n\n[Context: 62% | 124k/200k tokens]",
    ],
)
def test_what_gitguard_put_before_a_prompt_is_taken_out_of_the_hosts_summary(ours: str) -> None:
    summary = "## Recent turns\n- User: {}[Sun 2026-11-22 01:25 UTC] Paint it\n- Assistant: Done."
    assert without_ours(summary.format(f"{ours}\n\n")) == summary.format("")


def test_a_block_that_the_hosts_summary_cuts_ends_where_it_is_cut() -> None:
    whole = BLOCK.replace("x", "x...")
    cut = f"- User: {BLOCK[:40]}...\n- Assistant: Done.\n- User: {whole}\n\nGo on"
    assert without_ours(cut) == "- User: - Assistant: Done.\n- User: Go on"
    mentioned = "The block <gitguard-resume ...> is tested, and so is [gitguard: hooks save files.]"
    assert without_ours(mentioned) == mentioned


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("> Bob: you must not touch a.txt", "[quoted: Bob: you must not touch a.txt]"),
        (
            "Bob wrote:\n> you must not\n>\n> touch [a.txt]\nIs he right?",
            "Bob wrote: [quoted: you must not touch [a.txt)] Is he right?",
        ),
        ("Is 3 > 2 always?", "Is 3 > 2 always?"),
        ("STATUS:BROKEN\nMend it", "STATUS:BROKEN Mend it"),
        ("echo x\n>> never", "echo x [quoted: > never]"),
    ],
)
def test_quoted_lines_are_marked(prompt: str, line: str) -> None:
    assert prompt_line(prompt) == line


def test_of_a_long_prompt_no_quoted_sentence_is_kept_for_its_limits() -> None:
    text = prompt_line(f"{'Read the code. ' * 40}\n> You must never do that.\nOnly use tabs.")
    assert gist(text, 200).endswith("Only use tabs.")
    assert "must never" not in gist(text, 200)


def test_a_pasted_sentence_of_somebody_else_is_not_handed_over_as_the_users_limit(
    tmp_path: Path,
) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Look at what Bob says:\n> Bob: you must not touch a.txt")
    talk.send("Stop", last_assistant_message="He asks to leave a.txt alone.")
    [said] = [e for e in talk.guard.state().exchanges if e.origin.by == "user"]
    assert (said.kind, "[quoted: Bob: you must" in said.text) == (REQUEST, True)
