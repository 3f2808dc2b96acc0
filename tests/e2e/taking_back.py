"""How the user of each host takes the newest turn back, by the host's own interface."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

from tests.support.waiting import wait_until

from . import sealing
from .live_hosts import Droid, LiveHost, ask_droid, droid_request
from .scripted_model import Step
from .sealing import Run, finish, kill_group

_PATIENCE = 120.0
_EXPERIMENTAL = {"capabilities": {"experimentalApi": True}}
_PROBES = Path(__file__).with_name("live_probes")


def say_instead(live: LiveHost, prompt: str, *steps: Step) -> Run:
    """A turn in the place of the newest one of the conversation, which the user takes back."""
    if live.name == "claude-code":
        return _resume_before(live, prompt, steps)
    if live.name == "pi":
        return _go_back_in_pi(live, prompt, steps)
    TAKES_BACK[live.name](live)
    return live.go_on(prompt, *steps)


def _documents(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def _resume_before(live: LiveHost, prompt: str, steps: tuple[Step, ...]) -> Run:
    """Claude Code resumes a conversation up to a line of it, as its interface for programs does."""
    answers = [line for line in _documents(live.transcript) if line.get("type") == "assistant"]
    prompts = [line for line in _documents(live.transcript) if line.get("type") == "user"]
    newest = next(p for p in reversed(prompts) if isinstance(p["message"]["content"], str))
    before = [a for a in answers if a["timestamp"] < newest["timestamp"]]
    live.model.replace_script(*steps)
    arguments = live.arguments(live.session, prompt)
    return finish(
        live.sealed.start(*arguments, "--resume-session-at", before[-1]["uuid"]), _PATIENCE
    )


# opencode and Kimi Code: a server


@contextmanager
def _serving(live: LiveHost, *arguments: str, port: int) -> Iterator[None]:
    command = [*live.sealed.command, *arguments]
    server = sealing.start(command, live.project, live.env)
    try:
        wait_until(lambda: _answers(port), seconds=_PATIENCE)
        yield
    finally:
        kill_group(server)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _answers(port: int) -> bool:
    """Whether a server answers a request; one that is posted while it starts may wait for ever."""
    try:
        _open(urllib.request.Request(f"http://127.0.0.1:{port}/"), 5)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def _open(request: urllib.request.Request, timeout: float) -> bytes:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=timeout) as answer:
        return bytes(answer.read())


def _post(url: str, document: object, **headers: str) -> None:
    data = json.dumps(document).encode()
    headers = {"Content-Type": "application/json", **headers}
    _open(urllib.request.Request(url, data, headers), _PATIENCE)


def _revert_in_opencode(live: LiveHost) -> None:
    with closing(sqlite3.connect(f"file:{live.transcript}?mode=ro", uri=True)) as database:
        query = 'SELECT id FROM message WHERE session_id = ? AND data LIKE \'%"role":"user"%\''
        messages = [row[0] for row in database.execute(f"{query} ORDER BY rowid", (live.session,))]
    port = _free_port()
    with _serving(live, "serve", "--port", str(port), "--hostname", "127.0.0.1", port=port):
        folder = urllib.parse.quote(str(live.project))
        url = f"http://127.0.0.1:{port}/session/{live.session}/revert?directory={folder}"
        _post(url, {"messageID": messages[-1]})


def _undo_in_kimi(live: LiveHost) -> None:
    port = _free_port()
    with _serving(live, "web", "--port", str(port), "--no-open", port=port):
        token = (live.home / ".kimi-code/server.token").read_text().strip()
        url = f"http://127.0.0.1:{port}/api/v1/sessions/{live.session}:undo"
        _post(url, {"count": 1}, Authorization=f"Bearer {token}")


# Codex and Qwen Code: JSON-RPC, a document a line


def _revert_in_codex(live: LiveHost) -> None:
    begun = ("initialize", {"clientInfo": {"name": "tests", "version": "0"}, **_EXPERIMENTAL})
    thread = {"threadId": live.session}
    listed = live.ask_each(["app-server"], [begun, ("thread/turns/list", thread)])
    newest = max(turn["id"] for turn in listed[-1]["result"]["data"])
    reverted = ("thread/revert", {**thread, "beforeTurnId": newest})
    answers = live.ask_each(["app-server"], [begun, ("thread/resume", thread), reverted])
    assert "error" not in answers[-1], answers[-1]


def _rewind_in_qwen(live: LiveHost) -> None:
    prompts = [d for d in _documents(live.transcript) if d.get("type") == "user"]
    rewind = {"sessionId": live.session, "targetTurnIndex": len(prompts) - 1, "rewindFiles": False}
    requests: list[tuple[str, object]] = [
        ("initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
        (
            "session/load",
            {"sessionId": live.session, "cwd": str(live.project), "mcpServers": []},
        ),
        ("rewindSession", rewind),
    ]
    answers = live.ask_each(["--acp"], requests)
    assert "error" not in answers[-1], answers


def _rewind_in_droid(live: LiveHost) -> None:
    """Droid goes on in a copy of the conversation as it was before."""
    assert isinstance(live, Droid)
    prompts = [
        d["id"]
        for d in _documents(live.transcript)
        if d.get("type") == "message"
        and d["message"]["role"] == "user"
        and not d["message"].get("visibility")
        and any(b.get("type") == "text" for b in d["message"]["content"])
    ]
    rewind = {"sessionId": live.session, "messageId": prompts[-1], "forkTitle": "rewound"}
    with live.serving(live.session) as process:
        answer = ask_droid(
            process,
            "droid.execute_rewind",
            {**rewind, "filesToRestore": [], "filesToDelete": []},
        )
        live.session = answer["result"]["newSessionId"]


def _truncate_in_copilot(live: LiveHost) -> None:
    """Copilot's interface for programs puts a header before each document."""
    prompts = [d["id"] for d in _documents(live.transcript) if d.get("type") == "user.message"]
    command = [*live.sealed.command, "--headless", "--stdio", "--no-auto-update"]
    process = sealing.start(command, live.project, live.env, PIPE)
    try:
        for number, (method, parameters) in enumerate(
            (
                ("ping", {}),
                ("session.resume", {"sessionId": live.session}),
                ("session.history.truncate", {"sessionId": live.session, "eventId": prompts[-1]}),
                ("session.destroy", {"sessionId": live.session}),
            )
        ):
            answer = _framed(process, number, method, parameters)
            assert "error" not in answer, answer
    finally:
        kill_group(process)


def _framed(
    process: subprocess.Popen[str], number: int, method: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    text = json.dumps(request)
    process.stdin.write(f"Content-Length: {len(text)}\r\n\r\n{text}")
    process.stdin.flush()
    while True:
        length = 0
        while line := process.stdout.readline().strip():
            if line.lower().startswith("content-length:"):
                length = int(line.partition(":")[2])
        assert length, "the program has ended"
        answer: dict[str, Any] = json.loads(process.stdout.read(length))
        if answer.get("id") == number and "method" not in answer:
            return answer


def _go_back_in_pi(live: LiveHost, prompt: str, steps: tuple[Step, ...]) -> Run:
    """An extension goes back, as a user does in the tree; the file tells with what follows."""
    folder = live.home / ".pi/agent/extensions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "go_back.ts").write_text((_PROBES / "go_back.ts").read_text())
    live.model.replace_script(*steps)
    arguments = ["--mode", "rpc", "--session", str(live.transcript)]
    process = sealing.start([*live.sealed.command, *arguments], live.project, live.env, PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    for message, awaited in (("/go-back", '"response"'), (prompt, '"agent_settled"')):
        process.stdin.write(json.dumps({"type": "prompt", "message": message}) + "\n")
        process.stdin.flush()
        next(line for line in process.stdout if awaited in line)
    return finish(process, _PATIENCE)


# Beginning anew in one process


def say_and_begin_anew(live: LiveHost, first: str, second: str) -> None:
    """Say something, begin another conversation in the same process, and say something there."""
    arguments, requests = ANEW[live.name](live, first, second)
    process = sealing.start([*live.sealed.command, *arguments], live.project, live.env, PIPE)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        for request, awaited in requests:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            next(line for line in process.stdout if awaited in line)
    finally:
        finish(process, _PATIENCE)


_Requests = list[tuple[object, str]]
"""What a program is sent, and what stands in the line after which the next one is sent."""


def _clear_in_claude_code(live: LiveHost, first: str, second: str) -> tuple[list[str], _Requests]:
    streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    given = [a for a in live.arguments("", first) if a != first]
    messages = ({"role": "user", "content": text} for text in (first, "/clear", second))
    return [*given, *streams], [({"type": "user", "message": m}, '"result"') for m in messages]


def _begin_anew_in_pi(_: LiveHost, first: str, second: str) -> tuple[list[str], _Requests]:
    return ["--mode", "rpc"], [
        ({"type": "prompt", "message": first}, '"agent_settled"'),
        ({"type": "new_session"}, '"response"'),
        ({"type": "prompt", "message": second}, '"agent_settled"'),
    ]


def _begin_anew_in_droid(live: LiveHost, first: str, second: str) -> tuple[list[str], _Requests]:
    chosen = {"modelId": "custom:fake-1", "autonomyLevel": "high"}
    begun = {"machineId": "tests", "cwd": str(live.project), **chosen}
    asked: list[tuple[str, dict[str, str], str]] = []
    for text in (first, second):
        asked.append(("droid.initialize_session", begun, '"id":"droid.initialize_session"'))
        asked.append(("droid.add_user_message", {"text": text}, '"agent_turn_completed"'))
    requests = [
        (droid_request(method, parameters), awaited) for method, parameters, awaited in asked
    ]
    return live.arguments("", ""), list(requests)


ANEW: Mapping[str, Callable[[LiveHost, str, str], tuple[list[str], _Requests]]] = {
    "claude-code": _clear_in_claude_code,
    "pi": _begin_anew_in_pi,
    "droid": _begin_anew_in_droid,
}
"""The hosts that begin another conversation in the same process without a screen."""


TAKES_BACK: Mapping[str, Callable[[LiveHost], None]] = {
    "copilot": _truncate_in_copilot,
    "qwen": _rewind_in_qwen,
    "droid": _rewind_in_droid,
    "kimi": _undo_in_kimi,
    "codex": _revert_in_codex,
    "opencode": _revert_in_opencode,
}
TAKERS = ("claude-code", "pi", *TAKES_BACK)
"""The hosts whose newest turn can be taken back without a screen."""
