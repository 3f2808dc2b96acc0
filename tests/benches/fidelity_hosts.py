"""The conversations of the fidelity benchmark, through the real hosts."""

from __future__ import annotations

import contextlib
import json
import shlex
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from tests.benches.fidelity_facts import SUMMARY, Tools, Turn
from tests.e2e import claude_code, openclaw_install
from tests.e2e.claude_code import SealedClaude
from tests.e2e.guarded import COMMAND, gitguard
from tests.e2e.guarded_openclaw import enabled
from tests.e2e.live_hosts import LIVE_HOSTS, LiveHost
from tests.e2e.openclaw import MAIN_KEY, GatewayFailure, SealedOpenClaw
from tests.e2e.scripted_model import (
    Kind,
    Request,
    ScriptedModel,
    Step,
    ToolCall,
    bash,
    exec_,
    read_file,
    summary,
    write,
    write_file,
)
from tests.e2e.sealing import kill_group
from tests.support.waiting import wait_until

CONTENT = '"""A module of the new parser."""\n'
_SUMMARIES = 4
"""Enough for a host that asks twice for one compaction."""
_FULL_TURNS = 4
_PAUSE = 10.0
"""Seconds that the user takes before going on while a compaction may come."""
_SETTLING = 2.0
"""Seconds after the summary within which the host has put it into the conversation."""
_STARTED = "started"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Scene:
    """Where one conversation happens; tokens is None in the control run, without gitguard."""

    folder: Path
    root: Path
    model: ScriptedModel
    tokens: int | None

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    def prepare(self) -> None:
        """Put a `gitguard` on the agent's path; in the control run one that does nothing."""
        self.home.mkdir()
        self.bin.mkdir()
        command = self.bin / "gitguard"
        if self.tokens is None:
            command.write_text("#!/bin/sh\n")
            command.chmod(0o755)
            return
        command.symlink_to(COMMAND)
        config = self.home / ".config/gitguard/config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(
            f"resume: {{after_compaction: {self.tokens}, new_conversation: {self.tokens}}}\n"
        )

    def gitguard(self, env: dict[str, str], *args: str) -> str:
        """Run the command as the user would; empty in the control run."""
        if self.tokens is None:
            return ""
        return gitguard(*args, cwd=self.root, env=env)

    def faults(self, env: dict[str, str], *args: str) -> list[str]:
        """What gitguard noticed of its own faults; none in the control run."""
        said = self.gitguard(env, "status", "--json", *args)
        return [str(fault["error"]) for fault in json.loads(said or '{"faults": []}')["faults"]]

    def state(self, env: dict[str, str], *args: str) -> str:
        """All that gitguard knows, as JSON; empty in the control run."""
        said = self.gitguard(env, "show", "state", "--json", *args)
        return json.dumps(json.loads(said), ensure_ascii=False) if said else ""


class Host(Protocol):
    """A host, and how the benchmark has a conversation there."""

    name: str
    version: str
    has_plan: bool
    usage: tuple[tuple[int, int], ...]
    """Tokens that the model reports in each turn, and at its end."""

    def install(self) -> None: ...

    def open(self, scene: Scene) -> contextlib.AbstractContextManager[Talk]: ...


class Talk(Protocol):
    """One person's conversations with an agent of the host, in one workspace."""

    tools: Tools

    def say(self, turn: Turn) -> None:
        """One turn, to its end."""

    def compact(self) -> None:
        """The host compacts the conversation."""

    def die_in(self, turn: Turn) -> None:
        """The host is killed while the turn's last tool runs."""

    def begin_anew(self) -> None:
        """What the user says next begins a new conversation of the same session.

        After a crash it is the first one of a new process of the host.
        """

    def faults(self) -> list[str]:
        """What gitguard noticed of its own faults."""

    def state(self) -> str:
        """All that gitguard knows of the session."""


def first_request(talk: Talk, model: ScriptedModel, turn: Turn) -> Request:
    """Return the main request with which a turn begins."""
    seen = len(model.requests(Kind.MAIN))
    talk.say(turn)
    return model.requests(Kind.MAIN)[seen]


def waiting(root: Path) -> str:
    """Return a command that says that it began, and does not end by itself."""
    # Some hosts refuse to run `sleep` itself.
    return f"touch {shlex.quote(str(root.parent / _STARTED))}; perl -e 'sleep 60'"


def _wait_for_start(root: Path) -> None:
    started = (root.parent / _STARTED).exists
    wait_until(started, _PATIENCE, "the last tool of the turn never ran")


def _script(model: ScriptedModel, turn: Turn) -> None:
    assert model.remaining(Kind.MAIN) == 0, "an earlier turn did not take all of its steps"
    model.script(*turn.steps)


# Claude Code


class ClaudeCode:
    """Print mode; a conversation goes on by `--resume`, and `/compact` compacts it."""

    name = "claude-code"
    version = claude_code.VERSION
    has_plan = True
    usage: tuple[tuple[int, int], ...] = ((20_000, 24_000), (30_000, 34_000), (40_000, 44_000))

    def install(self) -> None:
        claude_code.install()

    @contextlib.contextmanager
    def open(self, scene: Scene) -> Iterator[Talk]:
        scene.prepare()
        sealed = SealedClaude(
            claude_code.install(),
            scene.home,
            scene.root,
            scene.model.url,
            extra_path=(scene.bin,),
        )
        scene.gitguard(sealed.env, "init")
        try:
            yield _ClaudeTalk(scene, sealed)
        finally:
            sealed.end_leftovers()


class _ClaudeTalk:
    def __init__(self, scene: Scene, sealed: SealedClaude) -> None:
        self._scene = scene
        self._sealed = sealed
        self._session: str | None = None
        root = scene.root
        self.tools = Tools(
            shell=bash,
            write=lambda path: write(root / path, CONTENT),
            read=lambda path: ToolCall("Read", {"file_path": str(root / path)}),
            plan=lambda text: ToolCall("TaskCreate", {"subject": text, "description": "later"}),
        )

    def say(self, turn: Turn) -> None:
        _script(self._scene.model, turn)
        run = self._sealed.run(turn.prompt, resume=self._session, timeout=600)
        assert run.returncode == 0, (run.stdout, run.stderr)
        self._session = run.session_id

    def compact(self) -> None:
        self._scene.model.script_compaction(summary(SUMMARY))
        self._sealed.run("/compact", resume=self._session)
        assert self._scene.model.remaining(Kind.COMPACTION) == 0, "it did not compact"

    def die_in(self, turn: Turn) -> None:
        _script(self._scene.model, turn)
        process = self._sealed.start(turn.prompt, resume=self._session)
        _wait_for_start(self._scene.root)
        kill_group(process)
        self._sealed.end_leftovers()

    def begin_anew(self) -> None:
        self._session = None

    def faults(self) -> list[str]:
        return self._scene.faults(self._sealed.env)

    def state(self) -> str:
        return self._scene.state(self._sealed.env)


# OpenClaw


class OpenClaw:
    """In the main session through the Gateway, after its death without; a full window compacts."""

    name = "openclaw"
    version = openclaw_install.CURRENT
    has_plan = False
    usage: tuple[tuple[int, int], ...] = ((12_000, 14_000), (16_000, 18_000), (24_000, 33_000))

    def install(self) -> None:
        openclaw_install.install(self.version)

    @contextlib.contextmanager
    def open(self, scene: Scene) -> Iterator[Talk]:
        scene.prepare()
        sealed = SealedOpenClaw(
            openclaw_install.install(self.version),
            scene.home,
            scene.root,
            scene.model.url,
            extra_path=(scene.bin,),
            # What `gitguard init` would have the host's own command set, in a minute's time.
            extra_config={} if scene.tokens is None else enabled(self.version),
        )
        with sealed:
            scene.gitguard(sealed.env, "init", "--host", "openclaw")
            sealed.start_gateway()
            yield _OpenClawTalk(scene, sealed)


class _OpenClawTalk:
    def __init__(self, scene: Scene, sealed: SealedOpenClaw) -> None:
        self._scene = scene
        self._sealed = sealed
        self.tools = Tools(
            shell=exec_, write=lambda path: write_file(path, CONTENT), read=read_file
        )
        self._is_dead = False
        scene.model.script_compaction(*[summary(SUMMARY)] * _SUMMARIES)

    def say(self, turn: Turn) -> None:
        _script(self._scene.model, turn)
        if not self._is_dead:
            self._sealed.send(turn.prompt, timeout=600)
            return
        run = self._sealed.run(turn.prompt, timeout=600)
        assert run.returncode == 0, (run.stdout, run.stderr)

    def compact(self) -> None:
        # The last turn filled the window. The host compacts once its answer is out, and gives up
        # when the user goes on too soon; then a further turn makes it try again.
        full = OpenClaw.usage[-1][-1]
        for _ in range(_FULL_TURNS):
            if self._compacts():
                return
            self.say(Turn("And what do you do now?", (Step("I go on.", input_tokens=full),)))
        raise AssertionError("it did not compact")

    def _compacts(self) -> bool:
        deadline = time.monotonic() + _PAUSE
        while time.monotonic() < deadline:
            if self._scene.model.requests(Kind.COMPACTION):
                time.sleep(_SETTLING)
                return True
            time.sleep(0.1)
        return False

    def die_in(self, turn: Turn) -> None:
        _script(self._scene.model, turn)
        talking = threading.Thread(target=self._say_in_vain, args=(turn,))
        talking.start()
        _wait_for_start(self._scene.root)
        self._sealed.stop_gateway(kill=True)
        self._sealed.end_leftovers()
        talking.join()
        self._is_dead = True

    def _say_in_vain(self, turn: Turn) -> None:
        with contextlib.suppress(GatewayFailure):
            self._sealed.send(turn.prompt)

    def begin_anew(self) -> None:
        # After a crash the host goes on by itself in what it kept of the session.
        if not self._is_dead:
            self._sealed.call("sessions.reset", {"key": MAIN_KEY})

    def faults(self) -> list[str]:
        return self._scene.faults(self._sealed.env, "--session", MAIN_KEY)

    def state(self) -> str:
        return self._scene.state(self._sealed.env, "--session", MAIN_KEY)


# Hosts that are driven alike


class Alike:
    """One of the hosts of `tests/e2e/live_hosts.py`; a full window compacts."""

    has_plan = False
    usage: tuple[tuple[int, int], ...] = ((8_000, 8_200), (8_400, 8_600), (8_800, 9_000))

    def __init__(self, name: str, version: str) -> None:
        self.name, self.version = name, version

    def install(self) -> None:
        """Nothing: it is fetched when it is first run."""

    @contextlib.contextmanager
    def open(self, scene: Scene) -> Iterator[Talk]:
        scene.prepare()
        host, sealed = LIVE_HOSTS[self.name]
        # A host that runs a login shell makes PATH anew.
        (scene.home / ".profile").write_text(f'PATH="{scene.bin}:$PATH"\n')
        live = host(sealed(scene.home, scene.root, scene.model.url), scene.model, (scene.bin,))
        scene.gitguard(dict(live.env), "init", "--host", live.name)
        if scene.tokens is not None:
            live.approve_hooks()
        try:
            yield _LiveTalk(scene, live)
        finally:
            live.end()


class _LiveTalk:
    def __init__(self, scene: Scene, live: LiveHost) -> None:
        self._scene = scene
        self._live = live
        self.tools = Tools(
            shell=live.shell,
            write=lambda path: live.write(path, CONTENT),
            read=lambda path: live.shell(f"cat {shlex.quote(path)}"),
        )

    def say(self, turn: Turn) -> None:
        run = self._live.go_on(turn.prompt, *turn.steps)
        assert run.returncode == 0, (run.stdout, run.stderr)
        assert self._scene.model.remaining(Kind.MAIN) == 0, "the turn did not take all its steps"

    def compact(self) -> None:
        self._scene.model.script_compaction(*[summary(SUMMARY)] * _SUMMARIES)
        self._live.compact(Step("I go on.", input_tokens=Alike.usage[0][0]))

    def die_in(self, turn: Turn) -> None:
        self._live.kill_in(turn.prompt, turn.steps, partial(_wait_for_start, self._scene.root))

    def begin_anew(self) -> None:
        self._live.session = ""

    def faults(self) -> list[str]:
        return self._scene.faults(dict(self._live.env))

    def state(self) -> str:
        return self._scene.state(dict(self._live.env))


HOSTS: tuple[Host, ...] = (
    ClaudeCode(),
    OpenClaw(),
    Alike("copilot", "1.0.102"),
    Alike("qwen", "0.24.4"),
    Alike("droid", "0.225.2"),
    Alike("kimi", "2.1.0"),
    Alike("codex", "0.171.0"),
    Alike("opencode", "1.18.34"),
    Alike("pi", "1.5.0"),
)


def final_step(root: Path, tools: Tools, tokens: int) -> Step:
    """Return the step in which the host will be killed."""
    return Step("I run the slow checks", (tools.shell(waiting(root)),), input_tokens=tokens)
