"""A repository, its user, and gitguard's command line at work in it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, TextIO

from gitguard import process
from gitguard.cli import hook, process_environment
from gitguard.cli.app import run_app
from gitguard.store.disk import lock
from tests.conftest import Clock, Git
from tests.faults.interleaving import hearing
from tests.faults.proof import load_everything

PAYLOADS = Path(__file__).parent.parent / "payloads" / "claude_code"
UNEXPECTED = 70
_PATIENCE = 60
"""Seconds after which a command counts as hung."""


_ANSWER = {
    "type": "assistant",
    "timestamp": "2026-01-31T09:30:00.000Z",
    "message": {"model": "claude-haiku-4-5", "usage": {"input_tokens": 9_000, "output_tokens": 9}},
}
"""What a transcript says of how full the context is."""


class Broken(AssertionError):
    """A promise did not hold."""


class Answer(NamedTuple):
    """How a command ended: its exit code, below 0 where a signal killed it, and what it printed."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """What it printed with --json."""
        return dict(json.loads(self.out)) if self.out.strip() else {}


class World:
    """One repository with one user; every command is a process of its own, forked from this one."""

    def __init__(self, folder: Path) -> None:
        load_everything()
        self.folder = folder
        self.root = folder / "repo"
        self.home = folder / "home"
        self.clock = Clock()
        for path in (self.root, self.home):
            path.mkdir(parents=True)
        self.git = Git(self.root)
        with self.surrounded():
            self.git.start()
            # Here and not in a child: what templates compile to is then there for all of them.
            process_environment.open_guard().ensure()

    @contextmanager
    def surrounded(self) -> Iterator[None]:
        """Have the user's environment and clock, and stand in the repository."""
        environment, folder, clock = dict(os.environ), Path.cwd(), process.clock
        os.environ.clear()
        os.environ.update(PATH=environment["PATH"], HOME=str(self.home), LANG="C.UTF-8", TZ="UTC")
        os.chdir(self.root)
        process.clock = self.clock
        try:
            yield
        finally:
            process.clock = clock
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)

    # Commands

    def run(
        self,
        *words: str,
        stdin: str = "",
        conversation: str = "",
        at_step: Callable[[str], object] = str,
    ) -> Answer:
        """Run a command to its end; at_step is called in it at each step of writing.

        In a conversation it runs as the host's agent runs it.
        """
        started = self.start(*words, stdin=stdin, conversation=conversation, at_step=at_step)
        return started.finish()

    def start(
        self,
        *words: str,
        stdin: str = "",
        conversation: str = "",
        at_step: Callable[[str], object] = str,
        at_place: Callable[[], object] | None = None,
    ) -> Started:
        """Start a command, or a host's hook, and go on.

        at_place is called in it before it opens a file or starts a program, except while it holds a
        lock, for which a writer would wait.
        """
        files: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115
        files[0].write(stdin.encode())
        files[0].seek(0)
        with self.surrounded():
            child = os.fork()
            if child == 0:
                if conversation:
                    os.environ["CLAUDE_CODE_SESSION_ID"] = conversation
                _become(words, [file.fileno() for file in files], at_step, at_place)
        files[0].close()
        return Started(words, child, files[1:])

    def run_all(self, commands: list[tuple[str, ...]]) -> list[Answer]:
        """Run commands that only read, one after the other, in one process."""
        with tempfile.TemporaryFile() as file, self.surrounded():
            child = os.fork()
            if child == 0:
                _become_all(commands, os.dup(file.fileno()))
            _wait_for(child, commands[0])
            file.seek(0)
            answers = [Answer(*ended) for ended in json.loads(file.read() or b"[]")]
        if len(answers) != len(commands):
            raise Broken(f"`gitguard {' '.join(commands[len(answers)])}` ends the process")
        return [_checked(words, answer) for words, answer in zip(commands, answers, strict=True)]

    def hook(self, name: str, conversation: str, **changes: Any) -> dict[str, Any]:
        """Send a recorded event of a conversation; return the answer, empty where it is neutral."""
        transcript = self.folder / f"{conversation}.jsonl"
        if not transcript.exists():
            transcript.write_text(json.dumps(_ANSWER) + "\n")
        document = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
        document |= {
            "session_id": conversation,
            "cwd": str(self.root),
            "transcript_path": str(transcript),
            **changes,
        }
        answer = self.run("hook", "claude-code", stdin=json.dumps(document))
        if answer.code:
            raise Broken(f"the hook {name} ended with {answer.code}: {answer.err}")
        return answer.document

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # Files that people and agents can reach

    @property
    def working_folder(self) -> Path:
        return self.root / ".gitguard"

    def working_files(self) -> list[Path]:
        """Return every file of ours below the worktree."""
        return sorted(path for path in self.working_folder.rglob("*") if path.is_file())


class Started:
    """A command that runs beside."""

    def __init__(self, words: tuple[str, ...], process: int, files: list[IO[bytes]]) -> None:
        self._words = words
        self._process = process
        self._files = files

    def finish(self) -> Answer:
        """Wait for its end; one that hangs breaks the promise that nothing does."""
        status = _wait_for(self._process, self._words)
        out, err = (_printed(file) for file in self._files)
        return _checked(self._words, Answer(os.waitstatus_to_exitcode(status), out, err))


def _wait_for(process: int, words: tuple[str, ...]) -> int:
    deadline = time.monotonic() + _PATIENCE
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > deadline:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            raise Broken(f"`gitguard {' '.join(words)}` hangs")
        time.sleep(0.001)


def _checked(words: tuple[str, ...], answer: Answer) -> Answer:
    if answer.code == UNEXPECTED:
        raise Broken(f"`gitguard {' '.join(words)}` failed: {answer.err}")
    return answer


def _printed(file: IO[bytes]) -> str:
    with file:
        file.seek(0)
        return file.read().decode()


def _become(
    words: tuple[str, ...],
    handles: list[int],
    at_step: Callable[[str], object],
    at_place: Callable[[], object] | None,
) -> None:
    """Turn a forked process into a command; it does not return."""
    code = 1
    try:
        for number, handle in enumerate(handles):
            os.dup2(handle, number)
        process.at_step = at_step
        modes = ("rb", "wb", "wb")
        files = [os.fdopen(number, mode, closefd=False) for number, mode in enumerate(modes)]
        streams = [io.TextIOWrapper(file, encoding="utf-8") for file in files]
        if words[0] == "hook":
            sys.stdin = streams[0]
            hook.run(list(words[1:]))
        with _calling(at_place):
            code = _call(words, streams)
        for stream in streams[1:]:
            stream.flush()
    finally:
        os._exit(code)


@contextmanager
def _calling(at_place: Callable[[], object] | None) -> Iterator[None]:
    """Call at_place, where there is one, at each place where others can come in."""

    if at_place is None:
        yield
        return

    def come_in() -> None:
        if not lock.held():
            at_place()

    with hearing(come_in):
        yield


def _become_all(commands: list[tuple[str, ...]], handle: int) -> None:
    """Turn a forked process into commands, one after the other, and write down how each ended."""
    try:
        answers = []
        for words in commands:
            streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(3)]
            code = _call(words, streams)
            for stream in streams[1:]:
                stream.flush()
            out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])
            answers.append((code, out, err))
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps(answers).encode())
    finally:
        os._exit(0)


def _call(words: tuple[str, ...], streams: Sequence[TextIO]) -> int:
    """Run the command line in this process; return its exit code."""
    sys.stdin, sys.stdout, sys.stderr = streams
    sys.argv = ["gitguard", *words]
    try:
        run_app()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0
