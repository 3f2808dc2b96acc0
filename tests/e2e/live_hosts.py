"""The hosts that gitguard serves while they work, driven alike: one conversation in one project."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import InitVar, dataclass, replace
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any, ClassVar

from tests.support.waiting import wait_until

from . import sealed_hosts, sealing
from .claude_code import DEFAULT_MODEL, SealedClaude
from .claude_code import install as install_claude
from .recorder import EVENTS, Recorder
from .scripted_model import Kind, Request, ScriptedModel, Step, ToolCall, bash, write
from .sealed_hosts import DEFAULT_TIMEOUT, Sealed
from .sealing import Run, end_leftovers, finish, kill_group

_PROBES = Path(__file__).with_name("live_probes")
_STARTED = "started"
"""What the command of a tool writes in whose midst the host is killed."""


@dataclass
class LiveHost(ABC):
    """A host in one project, and the conversation that it has there.

    `session` is the host's own id of that conversation, empty before its first turn.
    """

    sealed: Sealed
    model: ScriptedModel
    extra_path: InitVar[tuple[Path, ...]] = ()
    session: str = ""

    name: ClassVar[str]
    """What gitguard's commands call it."""
    compacting: ClassVar[tuple[int, ...]]
    """Tokens of the answers, each with a tool's call, that make it compact by itself."""
    compact_command: ClassVar[str] = ""
    """The prompt that makes it compact, empty where print mode takes none."""
    folders: ClassVar[tuple[str, ...]]
    """Where its settings are, in HOME and in the project."""

    def __post_init__(self, extra_path: tuple[Path, ...]) -> None:
        self.sealed = replace(self.sealed, extra_path=extra_path)

    @property
    def project(self) -> Path:
        return self.sealed.project

    @property
    def home(self) -> Path:
        return self.sealed.home

    @property
    def env(self) -> Mapping[str, str]:
        return self.sealed.env

    def say(self, prompt: str, *steps: Step) -> Run:
        """The first turn of a new conversation."""
        return self._turn("", prompt, steps)

    def go_on(self, prompt: str, *steps: Step) -> Run:
        """A turn of the same conversation, resumed by its id."""
        return self._turn(self.session, prompt, steps)

    def fork(self, prompt: str, *steps: Step) -> Run:
        """The first turn of a copy of the conversation, which `session` is from then on."""
        self.model.replace_script(*steps)
        known = set(self.sessions())
        done = self._finish(self.sealed.start(*self.fork_arguments(self.session, prompt)))
        self._follow(known)
        assert self.session not in known
        return done

    def compact(self, *after: Step) -> list[Request]:
        """A turn in which the host compacts by itself and then goes on with these steps.

        Returns the requests from the summarizing one on.
        """
        before = len(self.model.requests())
        # Some hosts keep what is newest, and compact nothing where there is no more than that.
        listing = self.shell("seq 1 900")
        steps = (Step("I list.", (listing,), input_tokens=tokens) for tokens in self.compacting)
        self.go_on("Go on, please.", *steps, *after)
        return _from_summary(self.model.requests()[before:])

    def compact_by_command(self) -> None:
        """Have the conversation compacted as its user would."""
        assert self.compact_command, f"{self.name} takes no command in print mode"
        self.go_on(self.compact_command)

    def kill_in_tool(
        self, prompt: str, *steps: Step, ready: Callable[[], bool] = lambda: True
    ) -> None:
        """A turn that is killed while a command runs that comes after these steps, once ready."""
        command = self.shell(f"touch {_STARTED}; perl -e 'sleep 60'")
        begun = (self.project / _STARTED).exists
        due = partial(wait_until, lambda: begun() and ready(), seconds=DEFAULT_TIMEOUT)
        self.kill_in(prompt, (*steps, Step("I wait.", (command,))), due)
        (self.project / _STARTED).unlink()

    def kill_in(self, prompt: str, steps: Sequence[Step], begun: Callable[[], object]) -> None:
        """A turn of these steps that is killed as soon as `begun` returns."""
        self.model.script(*steps)
        known = set(self.sessions())
        process = self._start(self.session, prompt)
        try:
            begun()
        finally:
            kill_group(process)
            self.end()
        self._follow(known)

    def ask_each(
        self, arguments: Sequence[str], requests: Sequence[tuple[str, object]]
    ) -> list[dict[str, Any]]:
        """Start the program and send it JSON-RPC requests, each after the answer to the last."""
        command = [*self.sealed.command, *arguments]
        process = sealing.start(command, self.project, self.env, PIPE)
        answers = []
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            for number, (method, parameters) in enumerate(requests):
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
                documents = (json.loads(line) for line in process.stdout if line.startswith("{"))
                answers.append(
                    next(a for a in documents if a.get("id") == number and "method" not in a)
                )
        finally:
            kill_group(process)
        return answers

    def end(self) -> None:
        """End all that still runs inside the seal."""
        end_leftovers(self.home)

    def _turn(self, session: str, prompt: str, steps: Sequence[Step]) -> Run:
        self.model.replace_script(*steps)
        known = set(self.sessions())
        done = self._finish(self._start(session, prompt))
        self._follow(known)
        return done

    def _start(self, session: str, prompt: str) -> subprocess.Popen[str]:
        return self.sealed.start(*self.arguments(session, prompt))

    def _finish(self, process: subprocess.Popen[str]) -> Run:
        return finish(process, DEFAULT_TIMEOUT)

    def _follow(self, known: set[str]) -> None:
        new = [session for session in self.sessions() if session not in known]
        assert len(new) <= 1, new
        if new:
            self.session = new[0]

    @abstractmethod
    def arguments(self, session: str, prompt: str) -> list[str]:
        """The arguments of a turn; an empty session begins a new conversation."""

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        """The arguments of the first turn of a copy."""
        raise NotImplementedError(f"{self.name} forks in its full screen alone")

    @abstractmethod
    def transcripts(self) -> Mapping[str, Path]:
        """The files in which conversations are kept, by their ids."""

    def sessions(self) -> list[str]:
        return list(self.transcripts())

    @property
    def transcript(self) -> Path:
        return self.transcripts()[self.session]

    def settings(self) -> dict[str, bytes]:
        """Every file in which the host may have been told to run something, with its content."""
        roots = (root / folder for root in (self.home, self.project) for folder in self.folders)
        files = (path for root in roots for path in (root, *root.rglob("*")) if path.is_file())
        return {str(path): path.read_bytes() for path in files}

    def hooks_installed(self) -> list[str]:
        """The files of `settings` that have gitguard run."""
        return [path for path, content in self.settings().items() if b"gitguard" in content]

    @abstractmethod
    def shell(self, command: str) -> ToolCall:
        """The agent's call of a shell command."""

    @abstractmethod
    def write(self, path: str, content: str) -> ToolCall:
        """The agent's call that writes a file; `path` is relative to the project."""

    @abstractmethod
    def install_recorder(self, recorder: Recorder) -> None:
        """Have every event of the host recorded."""

    def approve_hooks(self) -> None:  # noqa: B027 - most hosts do not ask
        """Approve the installed hooks as its user would."""


def _from_summary(made: Sequence[Request]) -> list[Request]:
    """The requests from the first that asks for a summary on."""
    kinds = [request.kind for request in made]
    assert Kind.COMPACTION in kinds, kinds
    return list(made[kinds.index(Kind.COMPACTION) :])


def _hooks(events: Sequence[str], recorder: Recorder) -> dict[str, object]:
    """The map of Claude Code's dialect in which the recorder is the hook of all events."""
    hook = {"type": "command", "command": recorder.command}
    return {event: [{"hooks": [hook]}] for event in events}


def _write_json(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def _copy_probe(name: str, folder: Path, recorder: Recorder) -> None:
    """Put a recording plugin where its host loads it from."""
    folder.mkdir(parents=True, exist_ok=True)
    source = (_PROBES / name).read_text(encoding="utf-8")
    (folder / name).write_text(source.replace("@FOLDER@", str(recorder.folder)), encoding="utf-8")


class ClaudeCode(LiveHost):
    """Claude Code."""

    name = "claude-code"
    compacting = (50_000, 172_000)
    compact_command = "/compact"
    folders = (".claude",)

    def arguments(self, session: str, prompt: str) -> list[str]:
        always = ["--model", DEFAULT_MODEL, "--permission-mode", "bypassPermissions"]
        return ["-p", prompt, *always, *(["--resume", session] if session else [])]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return [*self.arguments(session, prompt), "--fork-session"]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".claude/projects").glob("*/*.jsonl")
        return {path.stem: path for path in files}

    def shell(self, command: str) -> ToolCall:
        return bash(command)

    def write(self, path: str, content: str) -> ToolCall:
        return write(self.project / path, content)

    def install_recorder(self, recorder: Recorder) -> None:
        hooks = _hooks(EVENTS, recorder)
        _write_json(self.project / ".claude/settings.local.json", {"hooks": hooks})


class Copilot(LiveHost):
    """Copilot CLI. It compacts beside its work: the history is shorter one request later."""

    name = "copilot"
    compacting = (9_000, 16_400, 16_500, 9_000)
    compact_command = "/compact"
    folders = (".copilot", ".github", ".claude")
    EVENTS = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "ErrorOccurred",
    )

    def arguments(self, session: str, prompt: str) -> list[str]:
        resumed = [f"--resume={session}"] if session else []
        return [*resumed, "-p", prompt, "--allow-all-tools", "--allow-all-paths"]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".copilot/session-state").glob("*/events.jsonl")
        return {path.parent.name: path for path in files}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("bash", {"command": command, "description": "scripted command"})

    def write(self, path: str, content: str) -> ToolCall:
        return ToolCall("create", {"path": str(self.project / path), "file_text": content})

    def install_recorder(self, recorder: Recorder) -> None:
        hooks = _hooks(self.EVENTS, recorder)
        _write_json(self.home / ".copilot/hooks/recorder.json", {"hooks": hooks})


class Qwen(LiveHost):
    """Qwen Code."""

    name = "qwen"
    compacting = (9_000, 140_000, 172_000)
    compact_command = "/compress"
    folders = (".qwen",)
    EVENTS = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PermissionRequest",
    )

    def arguments(self, session: str, prompt: str) -> list[str]:
        resumed = ["--resume", session] if session else []
        return [*resumed, "-p", prompt, "--yolo"]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return [*self.arguments(session, prompt), "--fork-session"]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".qwen/projects").glob("*/chats/*.jsonl")
        return {path.stem: path for path in files}

    def shell(self, command: str) -> ToolCall:
        described = {"description": "scripted command", "is_background": False}
        return ToolCall("run_shell_command", {"command": command, **described})

    def write(self, path: str, content: str) -> ToolCall:
        target = str(self.project / path)
        return ToolCall("write_file", {"file_path": target, "content": content})

    def install_recorder(self, recorder: Recorder) -> None:
        _write_json(self.home / ".qwen/settings.json", {"hooks": _hooks(self.EVENTS, recorder)})


class DroidExec(LiveHost):
    """Droid, one turn a process."""

    name = "droid"
    compacting = (9_000, 21_000)
    folders = (".factory",)
    EVENTS = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Notification",
        "Stop",
        "SubagentStop",
        "PreCompact",
    )

    def arguments(self, session: str, prompt: str) -> list[str]:
        resumed = ["-s", session] if session else []
        return ["exec", "-m", "custom:fake-1", "--auto", "high", *resumed, prompt]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return ["exec", "-m", "custom:fake-1", "--auto", "high", "--fork", session, prompt]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".factory/sessions").glob("*/*.jsonl")
        return {path.stem: path for path in files}

    def shell(self, command: str) -> ToolCall:
        risk = {"riskLevel": "low", "riskLevelReason": "scripted", "riskReason": "scripted"}
        described = {"summary": "scripted command", "timeout": 90, **risk}
        return ToolCall("Execute", {"command": command, **described})

    def write(self, path: str, content: str) -> ToolCall:
        target = str(self.project / path)
        return ToolCall("Create", {"file_path": target, "content": content})

    def install_recorder(self, recorder: Recorder) -> None:
        _write_json(self.home / ".factory/hooks.json", _hooks(self.EVENTS, recorder))


class Droid(DroidExec):
    """Droid as the clients of its vendor drive it: only so does it tell of prompts."""

    def arguments(self, session: str, prompt: str) -> list[str]:
        spoken = ("--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc")
        return ["exec", *spoken, "--auto", "high", "-m", "custom:fake-1"]

    def compact_by_command(self) -> None:
        """Compact into a new session, and go on with that."""
        with self.serving(self.session) as process:
            answer = ask_droid(process, "droid.compact_session", {})
            self.session = answer["result"]["newSessionId"]

    def _start(self, session: str, prompt: str) -> subprocess.Popen[str]:
        process = sealing.start(
            [*self.sealed.command, *self.arguments(session, prompt)], self.project, self.env, PIPE
        )
        begun = {"machineId": "tests", "cwd": str(self.project)}
        chosen = {"modelId": "custom:fake-1", "autonomyLevel": "high"}
        if session:
            ask_droid(process, "droid.load_session", {"sessionId": session})
        else:
            ask_droid(process, "droid.initialize_session", {**begun, **chosen})
        if prompt:
            ask_droid(process, "droid.add_user_message", {"text": prompt})
        return process

    @contextmanager
    def serving(self, session: str) -> Iterator[subprocess.Popen[str]]:
        process = self._start(session, "")
        try:
            yield process
        finally:
            finish(process, DEFAULT_TIMEOUT)

    def _finish(self, process: subprocess.Popen[str]) -> Run:
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if '"agent_turn_completed"' in line or '"type":"error"' in line:
                break
        code, rest, stderr = finish(process, DEFAULT_TIMEOUT)
        return Run(code, "".join(told) + rest, stderr)


def droid_request(method: str, parameters: object) -> dict[str, object]:
    """A request of Droid's JSON-RPC."""
    versions = {"factoryApiVersion": "1.0.0", "factoryProtocolVersion": "1.0.0"}
    request = {"jsonrpc": "2.0", **versions, "type": "request", "id": method, "method": method}
    return {**request, "params": parameters}


def ask_droid(process: subprocess.Popen[str], method: str, parameters: object) -> dict[str, Any]:
    """Send a request of Droid's JSON-RPC, and return the answer to it."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(droid_request(method, parameters)) + "\n")
    process.stdin.flush()
    answers = (json.loads(line) for line in process.stdout if line.startswith("{"))
    return next(answer for answer in answers if answer.get("id") == method)


class Kimi(LiveHost):
    """Kimi Code."""

    name = "kimi"
    compacting = (9_000, 151_000)
    folders = (".kimi-code",)
    EVENTS = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "StopFailure",
        "Interrupt",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PermissionRequest",
    )

    def arguments(self, session: str, prompt: str) -> list[str]:
        resumed = ["-S", session] if session else []
        return [*resumed, "-p", prompt]

    def fork(self, prompt: str, *steps: Step) -> Run:
        """The first turn of a copy, which a command of its own makes."""
        known = set(self.sessions())
        assert self._finish(self.sealed.start("fork", self.session)).returncode == 0
        self._follow(known)
        assert self.session not in known
        return self.go_on(prompt, *steps)

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".kimi-code/sessions").glob("*/*/agents/main/wire.jsonl")
        return {path.parents[2].name: path for path in files}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("Bash", {"command": command})

    def write(self, path: str, content: str) -> ToolCall:
        return ToolCall("Write", {"path": str(self.project / path), "content": content})

    def install_recorder(self, recorder: Recorder) -> None:
        table = "\n[[hooks]]\nevent = {}\ncommand = {}\n"
        with (self.home / ".kimi-code/config.toml").open("a", encoding="utf-8") as config:
            for event in self.EVENTS:
                config.write(table.format(json.dumps(event), json.dumps(recorder.command)))


class Codex(LiveHost):
    """Codex; without approval it runs no hook, and says nothing of it."""

    name = "codex"
    # Enough for it to compact, and too little for a halt: it takes its window for 95,000.
    compacting = (20_000, 80_400)
    folders = (".codex",)
    EVENTS = (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "Interrupt",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    )

    def arguments(self, session: str, prompt: str) -> list[str]:
        return ["exec", *(["resume", session] if session else []), prompt]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return ["exec", "fork", session, prompt]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".codex/sessions").rglob("rollout-*.jsonl")
        own = (path for path in files if '"thread_source":"subagent"' not in _head_of(path))
        # One that was reverted goes on in a newer file, which has a name of its own behind that.
        names = ((path.stem.partition("_")[0], path) for path in sorted(own))
        return {name[-_UUID_LENGTH:]: path for name, path in names}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("exec_command", {"cmd": command, "yield_time_ms": 60_000})

    def write(self, path: str, content: str) -> ToolCall:
        added = "".join(f"+{line}\n" for line in content.splitlines())
        patch = f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
        return ToolCall("apply_patch", {"input": patch})

    def install_recorder(self, recorder: Recorder) -> None:
        _write_json(self.home / ".codex/hooks.json", {"hooks": _hooks(self.EVENTS, recorder)})

    def approve_hooks(self) -> None:
        """Write what "Trust all and continue" of the full-screen program writes."""
        config = self.home / ".codex/config.toml"
        with config.open("a", encoding="utf-8") as opened:
            for hook in self.hooks():
                # Of a plugin's hook, the hash of all the plugin's files follows that of the hook.
                digest, _, content = str(hook["currentHash"]).partition("/")
                opened.write(f"\n[hooks.state.{json.dumps(hook['key'])}]\n")
                opened.write(f'trusted_hash = "{digest}"\n')
                opened.write(f'trusted_content_hash = "{content}"\n' if content else "")

    def hooks(self) -> list[dict[str, object]]:
        """What the program itself says of each hook: its key, its hash, whether it is trusted."""
        requests = [
            ("initialize", {"clientInfo": {"name": "tests", "version": "0"}}),
            ("hooks/list", {"cwds": [str(self.project)]}),
        ]
        answer = self.ask_each(["app-server"], requests)[-1]
        return [hook for cwd in answer["result"]["data"] for hook in cwd["hooks"]]


_UUID_LENGTH = 36


def _head_of(path: Path) -> str:
    """How a file begins."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(2_000)


class Opencode(LiveHost):
    """opencode, whose conversations are rows of one database."""

    name = "opencode"
    compacting = (15_000, 39_000)
    folders = (".config/opencode", ".opencode", "opencode.json")

    def arguments(self, session: str, prompt: str) -> list[str]:
        return ["run", *(["--session", session] if session else []), prompt]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return ["run", "--session", session, "--fork", prompt]

    def transcripts(self) -> Mapping[str, Path]:
        path = self.home / ".local/share/opencode/opencode.db"
        if not path.exists():
            return {}
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT id FROM session WHERE parent_id IS NULL").fetchall()
        return {str(row[0]): path for row in rows}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("bash", {"command": command, "description": "scripted command"})

    def write(self, path: str, content: str) -> ToolCall:
        return ToolCall("write", {"filePath": str(self.project / path), "content": content})

    def install_recorder(self, recorder: Recorder) -> None:
        _copy_probe("opencode.js", self.home / ".config/opencode/plugin", recorder)


class Pi(LiveHost):
    """pi."""

    name = "pi"
    compacting = (15_000, 33_000)
    folders = (".pi",)

    def arguments(self, session: str, prompt: str) -> list[str]:
        resumed = ["--session", str(self.transcripts()[session])] if session else []
        return [*resumed, "-p", prompt]

    def fork_arguments(self, session: str, prompt: str) -> list[str]:
        return ["--fork", str(self.transcripts()[session]), "-p", prompt]

    def transcripts(self) -> Mapping[str, Path]:
        files = (self.home / ".pi/agent/sessions").glob("*/*.jsonl")
        return {path.stem.rpartition("_")[2]: path for path in files}

    def shell(self, command: str) -> ToolCall:
        return ToolCall("bash", {"command": command})

    def write(self, path: str, content: str) -> ToolCall:
        return ToolCall("write", {"path": path, "content": content})

    def install_recorder(self, recorder: Recorder) -> None:
        _copy_probe("pi.ts", self.home / ".pi/agent/extensions", recorder)


def _claude_code(home: Path, project: Path, model_url: str) -> Sealed:
    claude = SealedClaude(install_claude(), home, project, model_url)
    variables = {name: value for name, value in claude.env.items() if name != "PATH"}
    # It compacts 33,000 tokens before that.
    variables["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "198000"
    return Sealed([str(claude.binary)], home, project, variables)


LIVE_HOSTS: Mapping[str, tuple[type[LiveHost], Callable[[Path, Path, str], Sealed]]] = {
    "claude-code": (ClaudeCode, _claude_code),
    "copilot": (Copilot, sealed_hosts.copilot),
    "qwen": (Qwen, sealed_hosts.qwen),
    "droid": (Droid, sealed_hosts.droid),
    "droid-exec": (DroidExec, sealed_hosts.droid),
    "kimi": (Kimi, sealed_hosts.kimi),
    "codex": (Codex, sealed_hosts.codex),
    "opencode": (Opencode, sealed_hosts.opencode),
    "pi": (Pi, sealed_hosts.pi),
}
