"""One conversation with a real host that keeps it in a file, had alike with every such host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .claude_code import SealedClaude
from .guarded import gitguard_json
from .openclaw import SealedOpenClaw
from .scripted_model import Kind, Request, ScriptedModel, Step, ToolCall, bash, exec_
from .sealed_hosts import SealedPi


class Talk(ABC):
    """What a user says to the agent, and to gitguard about it."""

    def __init__(self, model: ScriptedModel, project: Path, env: Mapping[str, str]) -> None:
        self._model, self._project, self._env = model, project, env

    def say(self, prompt: str, *steps: Step) -> str:
        """One turn, which the model answers with steps; return what the agent says at its end."""
        self._model.script(*steps)
        return self._say(prompt)

    def gitguard(self, command: str, *options: str) -> dict[str, Any]:
        """Run a `gitguard transcript` command on the conversation's file as the user would."""
        words = ("transcript", command, str(self.transcript), *options)
        return gitguard_json(*words, cwd=self._project, env=self._env)

    @property
    def newest_request(self) -> Request:
        """What the model was given last."""
        return self._model.requests(Kind.MAIN)[-1]

    @abstractmethod
    def _say(self, prompt: str) -> str: ...

    @abstractmethod
    def shell(self, command: str) -> ToolCall:
        """The agent's call of a shell command."""

    @property
    @abstractmethod
    def transcript(self) -> Path:
        """The file in which the host keeps the conversation."""


class ClaudeTalk(Talk):
    """In Claude Code, print mode."""

    def __init__(self, claude: SealedClaude, model: ScriptedModel) -> None:
        super().__init__(model, claude.project, claude.env)
        self._claude = claude
        self.session: str | None = None

    def _say(self, prompt: str) -> str:
        run = self._claude.run(prompt, resume=self.session)
        self.session = run.session_id
        return run.text

    def shell(self, command: str) -> ToolCall:
        return bash(command)

    @property
    def transcript(self) -> Path:
        [found] = (self._claude.home / ".claude/projects").glob(f"*/{self.session}.jsonl")
        return found


class PiTalk(Talk):
    """In pi, print mode."""

    def __init__(self, pi: SealedPi, model: ScriptedModel) -> None:
        super().__init__(model, pi.project, pi.env)
        self._pi = pi

    def _say(self, prompt: str) -> str:
        session = self.transcript if self._pi.sessions() else None
        done = self._pi.run(prompt, session=session)
        assert done.returncode == 0, done
        return done.stdout.removesuffix("\n")

    def shell(self, command: str) -> ToolCall:
        return ToolCall("bash", {"command": command})

    @property
    def transcript(self) -> Path:
        [found] = self._pi.sessions()
        return found


class OpenClawTalk(Talk):
    """In OpenClaw, of the version that keeps sessions in files, through its Gateway."""

    def __init__(self, openclaw: SealedOpenClaw, model: ScriptedModel) -> None:
        super().__init__(model, openclaw.workspace, openclaw.env)
        self._openclaw = openclaw

    def _say(self, prompt: str) -> str:
        return self._openclaw.send(prompt)

    def shell(self, command: str) -> ToolCall:
        return exec_(command)

    @property
    def transcript(self) -> Path:
        [found] = (self._openclaw.state_dir / "agents/main/sessions").glob("*.jsonl")
        return found
