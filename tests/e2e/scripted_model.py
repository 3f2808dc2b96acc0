"""A scripted model for driving the real hosts; it answers in the dialect that it is asked in."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .scripted_answers import dialect_of, error
from .scripted_server import Posted, Reply, ScriptedServer

BEYOND_SCRIPT = "(the script has no more steps)"
DEFAULT_SUMMARY = "SCRIPTED-SUMMARY of the conversation so far"
_ASKS_FOR_SUMMARY = (
    "Your task is to create a detailed summary",  # Claude Code
    "Please create a detailed summary of the conversation so far",  # Copilot CLI
    "distilling chat history into a structured XML",  # Gemini CLI
    "You are the component that summarizes",  # Qwen Code
    "You excel at creating and maintaining summaries",  # Droid
    "Create a handoff summary for",  # Codex, Kimi Code
    "You are a context summarization a",  # OpenClaw and pi: assistant, opencode: agent
)
"""Of which a summarizing request has one, in its first message, its last or its instructions."""
SUBAGENT_PROMPT = "Look around as a sub-agent."
"""By which a sub-agent's requests are told where no header marks them."""
_EXTRACTS_MEMORY = "You are now acting as the managed memory extraction subagent"  # Qwen Code
_AGENT_HEADER = "x-claude-code-agent-id"
_HOLD_LIMIT_SECONDS = 60.0


class Kind(StrEnum):
    MAIN = "main"
    SUBAGENT = "subagent"
    COMPACTION = "compaction"
    SIDE = "side"
    COUNT = "count"


@dataclass(frozen=True)
class ToolCall:
    name: str
    input: Mapping[str, object]


@dataclass(frozen=True)
class Step:
    """One answer of the model.

    `before` runs when the request has arrived and before it is answered: the moment to look at
    the repository as the agent left it. `hold` keeps the answer back until the event is set.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 5_000
    output_tokens: int = 50
    before: Callable[[], None] | None = None
    hold: threading.Event | None = None
    error_status: int | None = None
    error_message: str = "scripted failure"


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    kind: Kind
    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    time: float

    @property
    def text(self) -> str:
        """All text the model is given: the system prompt, then every message."""
        return "\n".join(itertools.chain(_instructions(self.body), _texts(_messages(self.body))))

    @property
    def message_texts(self) -> tuple[str, ...]:
        """The texts of its messages, those of results included."""
        return tuple(_texts([message.get("content") for message in self.body["messages"]]))

    @property
    def agent_id(self) -> str:
        """The sub-agent this request belongs to; empty for the main conversation."""
        return self.headers.get(_AGENT_HEADER, "")

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(str(tool.get("name", "")) for tool in self.body.get("tools") or ())

    def count(self, marker: str) -> int:
        return self.text.count(marker)


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Sequence):
        for block in content:
            yield from _texts(block)
    elif isinstance(content, Mapping):
        if isinstance(content.get("text"), str):
            yield content["text"]
        for inner in ("content", "parts", "output"):
            yield from _texts(content.get(inner))


def _instructions(body: Mapping[str, Any]) -> Iterator[str]:
    """What a request says to the model before its messages, in any dialect."""
    for key in ("system", "instructions", "systemInstruction"):
        yield from _texts(body.get(key))


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request in any dialect; OpenAI's two have the system prompt among them."""
    for key in ("messages", "input", "contents"):
        if isinstance(body.get(key), list):
            return list(body[key])
    return []


def blocks_of_message(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a request's message; a mere text is none."""
    content = message["content"]
    return content if isinstance(content, list) else []


class ScriptedModel(ScriptedServer):
    """Answers each kind of request from its own script; context manager."""

    def __init__(
        self,
        steps: Iterable[Step] = (),
        *,
        subagent_steps: Iterable[Step] = (),
        compaction_steps: Iterable[Step] = (),
    ) -> None:
        super().__init__()
        self._scripts = {
            Kind.MAIN: list(steps),
            Kind.SUBAGENT: list(subagent_steps),
            Kind.COMPACTION: list(compaction_steps),
        }
        self._compaction_failure: int | None = None
        self._requests: list[Request] = []
        self._closing = threading.Event()
        self._failures: list[BaseException] = []

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        self._closing.set()
        super().__exit__(kind, failure, trace)
        if failure is None and self._failures:
            raise self._failures[0]

    def script(self, *steps: Step) -> None:
        """Append steps for the main conversation."""
        self._extend(Kind.MAIN, steps)

    def replace_script(self, *steps: Step) -> None:
        """Give the main conversation these steps in place of those not yet taken."""
        with self._lock:
            self._scripts[Kind.MAIN] = list(steps)

    def script_subagent(self, *steps: Step) -> None:
        self._extend(Kind.SUBAGENT, steps)

    def script_compaction(self, *steps: Step) -> None:
        """Append answers to summarizing requests; once used up, DEFAULT_SUMMARY is given."""
        self._extend(Kind.COMPACTION, steps)

    def fail_compactions(self, status: int | None = 400) -> None:
        """Refuse every summarizing request from now on; None ends that.

        One compaction asks up to six times on 400 and retries with growing pauses on 500.
        """
        with self._lock:
            self._compaction_failure = status

    def _extend(self, kind: Kind, steps: Sequence[Step]) -> None:
        with self._lock:
            self._scripts[kind].extend(steps)

    def requests(self, kind: Kind | None = None) -> list[Request]:
        with self._lock:
            return [one for one in self._requests if kind is None or one.kind == kind]

    def remaining(self, kind: Kind = Kind.MAIN) -> int:
        with self._lock:
            return len(self._scripts[kind])

    def answer(self, posted: Posted) -> Reply:
        dialect = dialect_of(posted.path)
        if dialect is None:
            return Reply(b"{}")
        body = posted.document
        kind = kind_of(posted.path, body, posted.headers)
        step = self._take(Request(kind, posted.path, body, posted.headers, time.time()))
        if kind is Kind.COUNT:
            return Reply(b'{"input_tokens": 1000, "totalTokens": 1000}')
        self._perform(step)
        if step.error_status is not None:
            return Reply(error(step), status=step.error_status)
        return dialect(self, step, body, posted.path)

    def _take(self, request: Request) -> Step:
        """Record the request and return the step that answers it."""
        with self._lock:
            self._requests.append(request)
            if request.kind is Kind.COMPACTION and self._compaction_failure is not None:
                return Step(error_status=self._compaction_failure)
            script = self._scripts.get(request.kind)
            return script.pop(0) if script else _step_beyond_script(request)

    def _perform(self, step: Step) -> None:
        """Run what the step asks for before its answer goes out."""
        if step.before is not None:
            try:
                step.before()
            except BaseException as failure:
                # Raised again when the model closes: an assertion lost in a server thread
                # would let a broken test pass.
                self._failures.append(failure)
        if step.hold is not None:
            self._wait_for(step.hold)

    def _wait_for(self, hold: threading.Event) -> None:
        deadline = time.monotonic() + _HOLD_LIMIT_SECONDS
        while time.monotonic() < deadline and not self._closing.is_set():
            if hold.wait(0.05):
                return


def _step_beyond_script(request: Request) -> Step:
    if request.kind is not Kind.COMPACTION:
        return Step(text=BEYOND_SCRIPT, input_tokens=1_000)
    if request.count("<state_snapshot>"):
        return Step(f"<state_snapshot>{DEFAULT_SUMMARY}</state_snapshot>", input_tokens=3_000)
    return summary(DEFAULT_SUMMARY)


def summary(text: str) -> Step:
    """The answer to a summarizing request; without the tags it is asked for again."""
    answer = f"<analysis>scripted</analysis>\n<summary>{text}</summary>"
    return Step(text=answer, input_tokens=3_000, output_tokens=300)


def bash(command: str, description: str = "scripted command") -> ToolCall:
    return ToolCall("Bash", {"command": command, "description": description})


def write(path: Path, content: str) -> ToolCall:
    return ToolCall("Write", {"file_path": str(path), "content": content})


def exec_(command: str) -> ToolCall:
    """A shell command with OpenClaw's tool."""
    return ToolCall("exec", {"command": command})


def write_file(path: str, content: str) -> ToolCall:
    """A written file with OpenClaw's tool; `path` may be relative to its workspace."""
    return ToolCall("write", {"path": path, "content": content})


def read_file(path: str) -> ToolCall:
    """A read file with OpenClaw's tool."""
    return ToolCall("read", {"path": path})


def subagent(prompt: str, *, background: bool = False) -> ToolCall:
    """The call that starts a sub-agent, whose requests take the sub-agent script."""
    arguments = {"description": "scripted task", "prompt": prompt}
    return ToolCall("Agent", {**arguments, "run_in_background": background})


def _is_asked_as_sub_agent(messages: Sequence[Mapping[str, Any]]) -> bool:
    asked = (message for message in messages if message.get("role") == "user")
    return any(SUBAGENT_PROMPT in text for text in _texts(list(asked)))


def kind_of(path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Kind:
    """Tell requests apart as the hosts send them, each in its pinned version.

    A summarizing request of Claude Code, Copilot CLI, Qwen Code and Kimi Code carries the tools and
    the whole conversation like any other; only its last message is different. Other hosts ask
    without tools, and OpenClaw may send two of them side by side, when it splits a turn. A request
    of a sub-agent of Claude Code has a header of its own, and so has the summarizing request of a
    sub-agent's conversation (Request.agent_id).
    """
    if path.partition("?")[0].endswith(("count_tokens", "countTokens")):
        return Kind.COUNT
    told = _messages(body)
    text = "\n".join((*_instructions(body), *_texts([*told[:1], *told[-1:]])))
    if any(mark in text for mark in _ASKS_FOR_SUMMARY):
        return Kind.COMPACTION
    if not body.get("tools") or _EXTRACTS_MEMORY in text:
        return Kind.SIDE
    if _AGENT_HEADER in headers or _is_asked_as_sub_agent(told):
        return Kind.SUBAGENT
    return Kind.MAIN
