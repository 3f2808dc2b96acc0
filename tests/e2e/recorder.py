"""A hook program that records what Claude Code gives it and answers as the test says.

Run as `recorder.py FOLDER`: appends one line to FOLDER/calls.jsonl and looks up its answer in
FOLDER/answers.json, by `<event>.<tool, source or trigger>` first, then by `<event>`.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Notification",
    "Stop",
    "SessionEnd",
)
STATUS_LINE = "statusLine"


@dataclass(frozen=True)
class Answer:
    """What the hook does: sleep, print, end with a code."""

    output: Mapping[str, Any] | str = ""
    exit_code: int = 0
    sleep_seconds: float = 0.0
    stderr: str = ""


@dataclass(frozen=True)
class Call:
    """One recorded hook call."""

    payload: Mapping[str, Any]
    env: Mapping[str, str]
    cwd: str
    time: float

    @property
    def event(self) -> str:
        return str(self.payload.get("hook_event_name", STATUS_LINE))

    @property
    def name(self) -> str:
        detail = _detail(self.payload)
        return f"{self.event}.{detail}" if detail else self.event


@dataclass(frozen=True)
class Recorder:
    """The test's side of it."""

    folder: Path

    def install(
        self,
        project: Path,
        *,
        events: Sequence[str] = EVENTS,
        settings: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Write `.claude/settings.local.json` with this recorder as every hook."""
        self.folder.mkdir(parents=True, exist_ok=True)
        hook: dict[str, Any] = {"type": "command", "command": self.command}
        if timeout is not None:
            hook["timeout"] = timeout
        written: dict[str, Any] = {
            "hooks": {event: [{"hooks": [hook]}] for event in events},
            "statusLine": {"type": "command", "command": self.command},
            **(settings or {}),
        }
        target = project / ".claude" / "settings.local.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(written, indent=2), encoding="utf-8")

    @property
    def command(self) -> str:
        return shlex.join([sys.executable, "-S", "-E", __file__, str(self.folder)])

    def answer(self, name: str, answer: Answer) -> None:
        """From now on, answer calls of that name so."""
        answers = _read_answers(self.folder)
        answers[name] = vars(answer)
        text = json.dumps(answers)
        (self.folder / "answers.json").write_text(text, encoding="utf-8")

    def calls(self, name: str = "") -> list[Call]:
        """Calls in order of arrival; `name` is an event, or an event with its detail."""
        path = self.folder / "calls.jsonl"
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
        calls = [Call(**json.loads(line)) for line in lines]
        return [call for call in calls if name in ("", call.event, call.name)]

    def names(self) -> list[str]:
        return [call.name for call in self.calls() if call.event != STATUS_LINE]


def _detail(payload: Mapping[str, Any]) -> str:
    for key in ("tool_name", "source", "trigger"):
        if key in payload:
            return str(payload[key])
    return ""


def _read_answers(folder: Path) -> dict[str, Any]:
    path = folder / "answers.json"
    if not path.exists():
        return {}
    answers = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(answers, dict)
    return answers


def _record(folder: Path, payload: Mapping[str, Any]) -> Call:
    call = Call(payload, dict(os.environ), os.getcwd(), time.time())
    line = json.dumps(vars(call)) + "\n"
    # One write to an append-only descriptor: hooks of one event run side by side.
    with (folder / "calls.jsonl").open("ab", buffering=0) as log:
        log.write(line.encode())
    return call


def main(folder: Path) -> int:
    call = _record(folder, json.load(sys.stdin))
    answers = _read_answers(folder)
    answer = Answer(**answers.get(call.name, answers.get(call.event, {})))
    time.sleep(answer.sleep_seconds)
    sys.stderr.write(answer.stderr)
    text = answer.output if isinstance(answer.output, str) else json.dumps(answer.output)
    sys.stdout.write(text)
    return answer.exit_code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
