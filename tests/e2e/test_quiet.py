"""How much of gitguard reaches the agent and the person on an ordinary day in Claude Code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.ordinary_day import (
    BASH,
    COMPACTED_BEFORE,
    LEFT_BEFORE,
    MOST_CHARACTERS,
    MOST_LINES,
    READ,
    TURNS,
    Call,
    Turn,
    empty_checkpoints,
    ordinary_turns,
)
from tests.support.waiting import wait_until

from .claude_code import Terminal
from .guarded import Guarded
from .repository import git
from .scripted_model import (
    Kind,
    ScriptedModel,
    Step,
    ToolCall,
    bash,
    summary,
    write,
)

_BLOCK = re.compile(r"<gitguard-resume .*?</gitguard-resume>", re.DOTALL)
_OURS = re.compile(r"gitguard|\[Context: |⚠️ Context: |^STATUS:")
_FRAME = re.compile(r"^[A-Za-z:]+ hook additional context: ")
"""What the host puts before our words."""
_OF_HOST = re.compile(r"^- gitguard: |gitguard hook claude-code")
"""Lines of the host's that name us: its list of skills, and which hooks a `/compact` ran."""
_SLOWEST_TURN = 90.0


def test_an_ordinary_day_is_quiet(guarded: Guarded, model: ScriptedModel) -> None:
    (guarded.repo / "README.md").write_text("Step by step.\n")
    turns, last_requests = ordinary_turns(), []
    for first, end in ((0, LEFT_BEFORE), (LEFT_BEFORE, TURNS)):
        with guarded.claude.interactive() as terminal:
            terminal.wait_for("Context:", _SLOWEST_TURN)
            for number in range(first, end):
                if number in COMPACTED_BEFORE:
                    last_requests.append(model.requests(Kind.MAIN)[-1])
                    compact(guarded, terminal, model, number)
                take_turn(terminal, model, turns[number], guarded.repo)
        last_requests.append(model.requests(Kind.MAIN)[-1])
    texts = [text for request in last_requests for text in request.message_texts]
    blocks = sum(len(_BLOCK.findall(text)) for text in texts)
    told = [line for text in texts for line in lines_of_ours(text)]
    shown = [line for path in transcripts(guarded) for line in lines_shown(path)]
    print(f"\n{sum(map(len, told))} characters, {blocks} blocks, {len(shown)} lines shown", told)
    assert blocks == len(COMPACTED_BEFORE) + 1
    assert any("hooks save commands and files" in line for line in told), "nothing is found"
    assert sum(map(len, told)) <= MOST_CHARACTERS, told
    assert 1 <= len(shown) <= MOST_LINES, shown
    assert empty_checkpoints(partial(git, guarded.repo), guarded.branch) == []
    assert guarded.faults() == []


def take_turn(terminal: Terminal, model: ScriptedModel, turn: Turn, repo: Path) -> None:
    steps = [Step("", (call_of(call, repo),), input_tokens=turn.tokens) for call in turn.calls]
    model.script(*steps, Step(turn.answer, input_tokens=turn.tokens))
    submit(terminal, model, Kind.MAIN, turn.prompt)
    terminal.wait_for(turn.answer, _SLOWEST_TURN)


def submit(terminal: Terminal, model: ScriptedModel, kind: Kind, text: str) -> None:
    """Type a line; on a busy machine the host may take the Enter for a part of what is typed."""
    before = len(model.requests(kind))
    terminal.submit(text)
    for _ in range(10):
        try:
            return wait_until(lambda: len(model.requests(kind)) > before, 5)
        except AssertionError:
            terminal.send_keys("Enter")
    raise AssertionError(terminal.capture())


def call_of(call: Call, repo: Path) -> ToolCall:
    if call.tool == BASH:
        return bash(call.subject)
    if call.tool == READ:
        return ToolCall("Read", {"file_path": str(repo / call.subject)})
    return write(repo / call.subject, call.content)


def compact(guarded: Guarded, terminal: Terminal, model: ScriptedModel, number: int) -> None:
    boundaries = count_boundaries(guarded)
    model.script_compaction(summary(f"The day up to turn {number}."))
    submit(terminal, model, Kind.COMPACTION, "/compact")
    wait_until(lambda: count_boundaries(guarded) > boundaries, _SLOWEST_TURN)


def count_boundaries(guarded: Guarded) -> int:
    return sum(path.read_text().count('"compact_boundary"') for path in transcripts(guarded))


def lines_of_ours(text: str) -> Iterator[str]:
    """Yield what gitguard says in a text besides resume blocks, without the host's words."""
    for line in _BLOCK.sub("", text).splitlines():
        if _OURS.search(line) and not _OF_HOST.search(line):
            yield _FRAME.sub("", line)


def transcripts(guarded: Guarded) -> list[Path]:
    return sorted((guarded.claude.home / ".claude/projects").glob("*/*.jsonl"))


def lines_shown(path: Path) -> Iterator[str]:
    """Yield the lines of hooks that the host showed to the person, as it wrote them down."""
    for line in path.read_text().splitlines():
        attachment: dict[str, Any] = json.loads(line).get("attachment") or {}
        if attachment.get("type") == "hook_system_message":
            yield from str(attachment["content"]).splitlines()
