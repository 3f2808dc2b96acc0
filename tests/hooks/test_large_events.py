"""Events of any size and shape: cut before they are parsed, searched only as far as is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gitguard.hosts import payload as read
from gitguard.hosts.claude_code import hooks as claude_code
from gitguard.model.events import Transcript
from gitguard.model.plan_calls import MOST_ITEMS, whole_plan
from gitguard.transcripts import find_format
from gitguard.transcripts.jsonl import PARSED_AT_ONCE
from tests.support.conversation import PAYLOADS, Conversation
from tests.support.hook_processes import payload, run_hook, talk, tmp_path

__all__ = ["talk", "tmp_path"]

HELD = 64 << 20
"""Bytes up to which the hook looks at the whole of an event."""


def todos() -> list[dict[str, str]]:
    """Make a long plan: no constant, because each worker collects this file."""
    return [{"content": f"do {n}", "status": "pending"} for n in range(100_000)]


class CountedItems(dict[str, str]):
    """Parameters that count how many of them were looked at."""

    looked_at = 0

    def items(self) -> Any:
        for item in super().items():
            self.looked_at += 1
            yield item


def test_a_prompt_too_large_to_be_held_is_journaled_by_its_beginning(talk: Conversation) -> None:
    data = payload(talk, "UserPromptSubmit", prompt="Mend the parser. " + "x" * (HELD + (8 << 20)))
    done = run_hook(talk, data)
    assert done.returncode == 0
    assert talk.faults() == []
    state = talk.guard.status().state
    assert state is not None
    assert state.goal.startswith("Mend the parser.")


@pytest.mark.parametrize(
    "padding",
    [
        lambda: json.dumps(todos()),
        lambda: "[" * 200_000 + "]" * 200_000,
        lambda: "9" * 300_000,
        lambda: json.dumps({f"k{n}": n for n in range(200_000)}),
        lambda: json.dumps("x" * HELD + "y" * (8 << 20)),
    ],
    ids=["list", "nested", "digits", "keys", "text"],
)
def test_a_refused_command_is_refused_behind_padding_of_any_size(
    talk: Conversation, padding: Callable[[], str]
) -> None:
    tool = f'"padding": {padding()}, "tool_input": {{"command": "gitguard override --reason x"}}'
    data = payload(talk, "PreToolUse.Bash")
    document = json.loads(data)
    del document["tool_input"]
    padded = f"{json.dumps(document)[:-1]}, {tool}}}".encode()
    answer = json.loads(run_hook(talk, padded).stdout)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "echo " + "x" * 300_000 + "; gitguard override --reason x; echo " + "y" * 300_000,
        "echo '" + "x" * 300_000 + "'; git''guard override --reason x; echo " + "y" * 300_000,
        "echo " + "x" * 150_000 + "; gitguard $c",
    ],
    ids=["in the middle", "in quotes", "not cut"],
)
def test_a_command_too_long_to_be_read_is_refused_where_it_may_run_ours(
    talk: Conversation, command: str
) -> None:
    done = run_hook(talk, payload(talk, "PreToolUse.Bash", tool_input={"command": command}))
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_command_too_long_to_be_read_passes_where_it_does_not_name_us(talk: Conversation) -> None:
    command = "echo " + "x" * 3_000_000
    done = run_hook(talk, payload(talk, "PreToolUse.Bash", tool_input={"command": command}))
    assert done.stdout == b""
    assert talk.faults() == []


def test_of_a_long_list_only_the_items_that_are_kept_are_searched() -> None:
    searched: list[str] = []

    def cut(text: str, _limit: int) -> str:
        searched.append(text)
        return text

    change = whole_plan(todos(), cut)
    assert [item.id for item in change.items] == [str(n) for n in range(99_801, 100_001)]
    assert len(searched) == len(change.items) == MOST_ITEMS


def test_of_many_parameters_no_more_are_searched_than_are_shown() -> None:
    parameters = CountedItems({f"k{n}": "value" for n in range(100_000)})
    shown = read.parameters(parameters)
    assert shown.startswith("k0=value, k1=value")
    assert parameters.looked_at < 50


def test_of_many_answers_no_more_are_searched_than_are_kept(talk: Conversation) -> None:
    answers = CountedItems({f"Question {n}?": "yes" for n in range(10_000)})
    document = json.loads((PAYLOADS / "PostToolUse.Bash.json").read_text(encoding="utf-8"))
    document |= {"tool_name": "AskUserQuestion", "tool_response": {"answers": answers}}
    event = claude_code.HOST.parse_event(document, {"CLAUDE_PROJECT_DIR": str(talk.root)}, 1.0)
    assert event.tool is not None
    assert len(event.tool.answers) == 8
    assert answers.looked_at < 20


def test_compactions_beyond_those_of_one_event_are_counted_by_the_next(talk: Conversation) -> None:
    for _ in range(PARSED_AT_ONCE + 10):
        talk.compacts()
    transcript = Transcript(str(talk.transcript), "claude-code")
    count = find_format("claude-code").compactions
    first = count(transcript)
    assert first.count == PARSED_AT_ONCE
    following = count(transcript, first.upto)
    assert (following.count, following.anew) == (10, False)
