"""A scripted conversation of a host, spoken to the library through its adapter."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from gitguard import Guard
from gitguard.hosts.claude_code import hooks
from gitguard.model.text import timestamp
from gitguard.store.session.workspace import UserDirs
from tests.support.copied_repository import copy_repository

PAYLOADS = Path(__file__).parents[1] / "payloads" / "claude_code"
BLOCK = "<gitguard-resume "
WINDOW = 200_000


class Clock:
    """Unix seconds that only pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Conversation:
    """One Claude Code conversation in a repository, driven by recorded payloads."""

    abilities = hooks.HOST.abilities

    def __init__(
        self,
        folder: Path,
        session: str = "S1",
        clock: Clock | None = None,
        host_process: int = 0,
        *,
        root: Path | None = None,
    ) -> None:
        self.root = root or folder / "repo"
        self.session = session
        self.clock = clock or Clock()
        self._turns = 0
        self.transcript = folder / f"{session}.jsonl"
        self._places = UserDirs(
            state_home=str(folder / "state"),
            config_home=str(folder / "config"),
            environment={"PATH": os.environ["PATH"]},
            caller=host_process,
        )
        if not self.root.exists():
            copy_repository(self.root, author="x", email="x", message="first")
            self.guard.ensure()

    @property
    def guard(self) -> Guard:
        """A fresh one each time, as every hook process has it."""
        return Guard(str(self.root), self._places, self.clock)

    def beside(self, session: str, host_process: int = 0) -> Conversation:
        """Another conversation in the same repository, by the same clock."""
        return Conversation(self.root.parent, session, self.clock, host_process)

    def in_worktree(self, name: str, session: str, host_process: int = 0) -> Conversation:
        """Another conversation in a worktree of its own, on a branch of its name."""
        folder, root = self.root.parent, self.root.parent / name
        self.git("worktree", "add", "--quiet", "-b", name, str(root))
        return Conversation(folder, session, self.clock, host_process, root=root)

    def write(self, kind: str, text: str) -> str:
        """Write an object; return its id."""
        return self.git("hash-object", "-t", kind, "-w", "--stdin", stdin=text).strip()

    def git(self, *arguments: str, stdin: str = "") -> str:
        names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        identity = {f"GIT_{name}": "x" for name in names}
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.root.parent), **identity},
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout

    def uses(self, tokens: int, *, sidechain: bool = False) -> None:
        """The host writes an answer with its usage into the transcript."""
        self.clock.pass_by(1)
        entry = {
            "type": "assistant",
            "isSidechain": sidechain,
            "timestamp": timestamp(self.clock()),
            "message": {
                "model": "claude-haiku-4-5",
                "usage": {"input_tokens": tokens, "output_tokens": 0},
            },
        }
        self._write(entry)

    def compacts(self, tokens: int = -1, summary: str = "") -> None:
        """The host writes a compaction's boundary into the transcript, and perhaps its summary."""
        self.clock.pass_by(1)
        details = {"postTokens": tokens} if tokens >= 0 else {}
        self._write(
            {
                "type": "system",
                "subtype": "compact_boundary",
                "timestamp": timestamp(self.clock()),
                "compactMetadata": details,
            }
        )
        if summary:
            said = {"role": "user", "content": summary}
            name = f"summary-{self.clock()}"
            self._write({"type": "user", "uuid": name, "isCompactSummary": True, "message": said})

    def is_interrupted(self, call: str) -> None:
        """The user presses Escape while a call runs: no hook tells, and the host writes this."""
        self.clock.pass_by(1)
        said = "The user doesn't want to proceed with this tool use."
        result = {"type": "tool_result", "tool_use_id": call, "is_error": True, "content": said}
        text = {"type": "text", "text": "[Request interrupted by user for tool use]"}
        line = {"type": "user", "timestamp": timestamp(self.clock())}
        marks = {"toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected"}
        self._write({**line, **marks, "message": {"role": "user", "content": [result]}})
        self._write({**line, "message": {"role": "user", "content": [text]}})

    def fails(self) -> None:
        """The host gives a turn up after an error of the model: no hook tells of its end."""
        self.clock.pass_by(1)
        message = {"role": "assistant", "content": [{"type": "text", "text": "API Error: 400"}]}
        line = {"type": "assistant", "timestamp": timestamp(self.clock())}
        self._write({**line, "isApiErrorMessage": True, "message": message})

    def says_as_the_agent(self, text: str) -> None:
        """The host writes a line of its own in the agent's name."""
        self.clock.pass_by(1)
        content = [{"type": "text", "text": text}]
        message = {"role": "assistant", "model": "<synthetic>", "content": content}
        stamp = timestamp(self.clock())
        self._write({"type": "assistant", "timestamp": stamp, "message": message})

    def is_denied_by_a_rule(self, call: str) -> None:
        """A rule of the host denies a call after its first hook: no hook tells of its end."""
        self.clock.pass_by(1)
        said = "Permission to use Bash with command make deploy has been denied."
        result = {"type": "tool_result", "tool_use_id": call, "is_error": True, "content": said}
        line = {"type": "user", "timestamp": timestamp(self.clock())}
        self._write({**line, "message": {"role": "user", "content": [result]}})

    def writes_a_result(self, call: str) -> None:
        """The host writes down what a call gave."""
        self.clock.pass_by(1)
        result = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
        line = {"type": "user", "timestamp": timestamp(self.clock())}
        self._write({**line, "message": {"role": "user", "content": [result]}})

    def says_to_the_host(self, text: str) -> None:
        """The host writes down what the user said."""
        self.clock.pass_by(1)
        stamp = timestamp(self.clock())
        message = {"role": "user", "content": text}
        self._write({"type": "user", "timestamp": stamp, "message": message})

    def _write(self, entry: dict[str, Any]) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"sessionId": self.transcript.stem, **entry}) + "\n")

    def send(self, payload: str, **changes: Any) -> dict[str, Any]:
        """Send a recorded payload; return the answer, empty when it is neutral."""
        text = self.send_raw(payload, **changes)
        return dict(json.loads(text)) if text else {}

    def send_raw(self, payload: str, **changes: Any) -> str:
        self.clock.pass_by(1)
        document = json.loads((PAYLOADS / f"{payload}.json").read_text(encoding="utf-8"))
        document |= {
            "session_id": self.session,
            "cwd": str(self.root),
            "transcript_path": str(self.transcript),
            "prompt_id": f"turn-{self._turns}",
            **changes,
        }
        environment = {"CLAUDE_PROJECT_DIR": str(self.root)}
        event = hooks.HOST.parse_event(document, environment, self.clock())
        reply = self.guard.handle(event, self.abilities)
        return hooks.HOST.render_reply(event, reply).text

    def prompt(self, text: str = "go on") -> str:
        """The user says something; return what is added to the context."""
        self._turns += 1
        return self.queued_prompt(text)

    def queued_prompt(self, text: str) -> str:
        """The user types something while a turn runs; the host sends the id of that turn."""
        answer = self.send("UserPromptSubmit", prompt=text, prompt_id=f"turn-{self._turns}")
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def hands_on(self, text: str) -> None:
        """The host writes down what the user typed while a turn runs, and hands it to the model."""
        self.clock.pass_by(1)
        stamp = timestamp(self.clock())
        queued = {"type": "queued_command", "prompt": text, "origin": {"kind": "human"}}
        self._write({"type": "attachment", "attachment": queued, "timestamp": stamp})

    def bash(self, command: str, **changes: Any) -> dict[str, Any]:
        """The agent is about to run a command."""
        return self.send("PreToolUse.Bash", tool_input={"command": command}, **changes)

    def triggers(self) -> list[str]:
        return [checkpoint.trigger for checkpoint in reversed(self.guard.log(100))]

    def faults(self) -> list[str]:
        return [str(fault["error"]) for fault in self.guard.status().faults]
