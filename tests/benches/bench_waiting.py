"""What an agent waits for: how long gitguard's hooks hold up the real Claude Code.

Two sealed conversations with the same script take turns, one with gitguard and one without. What
the first needs more between two requests of the model is what the hooks before and after a tool
call cost; what it needs more around a turn is what the hooks at its prompt and its end cost.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

from tests.e2e import sealing
from tests.e2e.claude_code import DEFAULT_MODEL, SealedClaude, install
from tests.e2e.fetching import NotInstallable
from tests.e2e.guarded import COMMAND, gitguard, gitguard_json
from tests.e2e.repository import git
from tests.e2e.scripted_model import Kind, ScriptedModel, Step, bash
from tests.support.measuring import Row, timed

CALLS = 6
"""Tool calls of a turn."""
FOR_A_CALL, FOR_A_TURN = 6.0, 16.0
"""The most that may be waited for, in bare starts of Python; two hooks each."""
_STREAMING = (
    *("-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"),
    *("--permission-mode", "bypassPermissions"),
)
"""Print mode that takes one prompt after another on standard input."""


class Waits(NamedTuple):
    """Seconds of one turn: between the requests around each tool call, and around the turn."""

    calls: list[float]
    turn: float


class Talk:
    """A conversation whose turns are timed; context manager."""

    def __init__(self, binary: Path, folder: Path, *, is_guarded: bool) -> None:
        """Make a repository in a folder, with gitguard installed in it if it is guarded."""
        project, bin_dir = folder / "project", folder / "bin"
        for place in (project, bin_dir):
            place.mkdir(parents=True)
        git(project, "init", "--quiet", "--initial-branch=main")
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
        git(project, *identity, "commit", "--quiet", "--allow-empty", "--message", "first")
        self._model = ScriptedModel()
        self._opened = ExitStack()
        self._opened.enter_context(self._model)
        self._claude = SealedClaude(
            binary, folder / "home", project, self._model.url, extra_path=(bin_dir,)
        )
        if is_guarded:
            (bin_dir / "gitguard").symlink_to(COMMAND)
            gitguard("init", cwd=project, env=self._claude.env)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [str(self._claude.binary), *_STREAMING, "--model", DEFAULT_MODEL],
            cwd=self._claude.project,
            env=self._claude.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._opened.callback(self._claude.end_leftovers)
        self._opened.callback(sealing.kill_group, self._process)
        return self

    def __exit__(self, *failure: object) -> None:
        self._opened.close()

    def turn(self, number: int) -> Waits:
        """Have one turn of tool calls, and return what it took around and between them."""
        steps = [Step(calls=(bash(f"echo {number}.{n}"),)) for n in range(CALLS)]
        self._model.script(*steps, Step(text=f"Turn {number} is done."))
        before = len(self._model.requests(Kind.MAIN))
        sent = time.time()
        self._say(f"Begin turn {number}")
        self._await_result()
        ended = time.time()
        times = [request.time for request in self._model.requests(Kind.MAIN)[before:]]
        assert len(times) == CALLS + 1, "the script was not followed"
        calls = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
        return Waits(calls, times[0] - sent + ended - times[-1])

    def checkpoints(self) -> int:
        """Count the session's checkpoints, one for each turn that the hooks saw."""
        log = gitguard_json("log", "--most", "1000", cwd=self._claude.project, env=self._claude.env)
        return len(log["checkpoints"])

    def _say(self, prompt: str) -> None:
        assert self._process.stdin is not None
        message = {"role": "user", "content": prompt}
        self._process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
        self._process.stdin.flush()

    def _await_result(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if json.loads(line).get("type") == "result":
                return
        raise AssertionError("Claude Code ended before its turn did")


def rows(folder: Path, turns: int) -> tuple[Row, ...]:
    """Return what is waited for at a tool call and at a turn, in bare starts of Python.

    Raises `NotInstallable` where Claude Code is not installed and cannot be.
    """
    try:
        binary = install()
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotInstallable(f"Claude Code cannot be fetched: {error}") from error
    with (
        Talk(binary, folder / "guarded", is_guarded=True) as guarded,
        Talk(binary, folder / "plain", is_guarded=False) as plain,
    ):
        for talk in (guarded, plain):
            talk.turn(0)  # the first one starts the conversation, and with gitguard the session
        pairs, bare = [], []
        for number in range(1, turns + 1):
            pairs.append((guarded.turn(number), plain.turn(number)))
            bare += [timed(_bare_python) for _ in range(3)]
        assert guarded.checkpoints() > turns, "the hooks did not run"
    start = statistics.median(bare)
    call = statistics.median(s for ours, _ in pairs for s in ours.calls)
    call -= statistics.median(s for _, theirs in pairs for s in theirs.calls)
    turn = statistics.median(ours.turn for ours, _ in pairs)
    turn -= statistics.median(theirs.turn for _, theirs in pairs)
    return (
        _row("an agent waits for a tool call", call, start, FOR_A_CALL),
        _row("an agent waits for a turn", turn, start, FOR_A_TURN),
    )


def _row(what: str, ours: float, start: float, target: float) -> Row:
    return Row(what, ours * 1e3, "python -c pass", start * 1e3, ours / start, target)


def _bare_python() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)
