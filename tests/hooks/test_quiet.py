"""How much of gitguard an ordinary day brings to the agent, to the person and into the history."""

from __future__ import annotations

import re
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

from tests.support.conversation import Conversation
from tests.support.ordinary_day import (
    BASH,
    COMPACTED_BEFORE,
    LEFT_BEFORE,
    MOST_CHARACTERS,
    MOST_LINES,
    WRITE,
    Call,
    Turn,
    empty_checkpoints,
    ordinary_turns,
)
from tests.support.pages import ROOT

_BLOCK = re.compile(r"<gitguard-resume .*?</gitguard-resume>", re.DOTALL)


class Day:
    """A day that is driven event by event, with all that the hooks answered."""

    def __init__(self, folder: Path) -> None:
        self.talk = Conversation(folder)
        self.told: list[str] = []
        self.shown: list[str] = []
        self.blocks = 0
        self._call_ids = map("call-{}".format, count())

    def send(self, payload: str, **changes: Any) -> None:
        answer = self.talk.send(payload, **changes)
        specific = answer.get("hookSpecificOutput", {})
        text = specific.get("additionalContext", "")
        self.blocks += len(_BLOCK.findall(text))
        said = (_BLOCK.sub("", text).strip(), specific.get("permissionDecisionReason", ""))
        self.told += filter(None, said)
        self.shown += answer.get("systemMessage", "").splitlines()

    def take(self, turn: Turn) -> None:
        self.send("UserPromptSubmit", prompt=turn.prompt, prompt_id=turn.answer)
        self.talk.uses(turn.tokens)
        for call in turn.calls:
            self._run(call, prompt_id=turn.answer)
        self.send("Stop", last_assistant_message=turn.answer, prompt_id=turn.answer)

    def _run(self, call: Call, **turn: str) -> None:
        root = self.talk.root
        path = {"file_path": str(root / call.subject), "content": call.content}
        given: dict[str, Any] = {"command": call.subject} if call.tool == BASH else path
        event = {"tool_input": given, "tool_use_id": next(self._call_ids), **turn}
        self.send(f"PreToolUse.{call.tool}", **event)
        if call.tool == WRITE:
            (root / call.subject).write_text(call.content)
        elif call.tool == BASH:
            shell = ["sh", "-c", call.subject]
            subprocess.run(shell, cwd=root, capture_output=True, check=False)
        end = "PostToolUseFailure" if call.fails else f"PostToolUse.{call.tool}"
        self.send(end, **event)

    def compact(self) -> None:
        self.send("PreCompact")
        self.talk.compacts(8_000)
        self.send("SessionStart.compact")

    def begin_conversation(self) -> None:
        self.send("SessionEnd")
        self.talk = self.talk.beside("S2")
        self.send("SessionStart.startup")


def test_an_ordinary_day_says_little_and_checkpoints_only_what_changed(tmp_path: Path) -> None:
    day = Day(tmp_path)
    for number, turn in enumerate(ordinary_turns()):
        if number in COMPACTED_BEFORE:
            day.compact()
        if number == LEFT_BEFORE:
            day.begin_conversation()
        day.take(turn)
    assert day.blocks == len(COMPACTED_BEFORE) + 1
    characters = sum(map(len, day.told))
    assert characters <= MOST_CHARACTERS, day.told
    assert f"[about {round(characters, -2):,} measured]" in (ROOT / "README.md").read_text()
    assert len(day.shown) <= MOST_LINES, day.shown
    assert empty_checkpoints(day.talk.git, "refs/heads/gitguard/main") == []
    assert day.talk.faults() == []
