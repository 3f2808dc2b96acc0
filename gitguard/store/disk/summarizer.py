"""Runs the user's own summarizer: one command, given a text, answering with a shorter one.

It is started in an empty folder outside of the workspace, with the hooks of gitguard off, and ends
with its whole process group when its time is over or it says too much.
"""

from __future__ import annotations

import os
import selectors
import tempfile

from gitguard.model.events import HOOKS_OFF, HOOKS_VARIABLE
from gitguard.model.text import one_line, shorten, visible
from gitguard.model.transcript import Answer
from gitguard.store.disk import child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import IO

    from gitguard.store.disk.child import Child

LARGEST_ANSWER = 1 << 20
"""Bytes of what it says that are read; a summary is far shorter."""
_LAST_WORDS = 4096
"""Bytes of its complaints that are kept: the end of them, however many there are."""
_OURS, _GITS = "GITGUARD_", "GIT_"
_ENDING, _BEAT = 5.0, 1.0


class SummarizerCommand:
    """A command that is on the user's PATH, or named by its whole path."""

    def __init__(
        self,
        path: str,
        arguments: tuple[str, ...],
        environment: Mapping[str, str],
        now: Callable[[], float],
        beat: Callable[[], object] = bool,
    ) -> None:
        """Name the command; its environment is the user's own, now a clock's seconds.

        beat is called about once a second while it runs.
        """
        self._command = [path, *arguments]
        self._environment = summarizer_environment(environment)
        self._now, self._beat = now, beat

    def __call__(self, text: str, seconds: float) -> Answer:
        """Give it a text and so many seconds; return what it says."""
        try:
            with tempfile.TemporaryDirectory(
                prefix="gitguard-summarizer-", ignore_cleanup_errors=True
            ) as folder:
                return self._asked(text, folder, seconds)
        except OSError as error:
            return Answer(complaint=f"it cannot be started: {error.strerror}")

    def _asked(self, text: str, folder: str, seconds: float) -> Answer:
        with tempfile.TemporaryFile(dir=folder) as stdin:
            stdin.write(text.encode("utf-8", "replace"))
            # A file, not a pipe: it need not read its input before it answers, and we never block.
            stdin.seek(0)
            process = child.start(
                self._command, environment=self._environment, folder=folder, stdin=stdin
            )
        with process:
            try:
                return self._heard(process, self._now() + seconds)
            finally:
                process.end(patience=_ENDING)

    def _heard(self, process: Child, until: float) -> Answer:
        assert process.stdout is not None
        assert process.stderr is not None
        output = {process.stdout: bytearray(), process.stderr: bytearray()}
        with selectors.DefaultSelector() as waiting:
            for stream in output:
                waiting.register(stream, selectors.EVENT_READ)
            while waiting.get_map():
                if self._now() >= until:
                    return Answer(complaint="it did not end in time")
                # Asked before the streams: what is ready afterwards includes its last words.
                has_ended = process.poll() is not None
                patience = 0 if has_ended else min(max(until - self._now(), 0), _BEAT)
                ready = [key.fileobj for key, _ in waiting.select(patience)]
                for stream in output:
                    if stream in ready and not _hear(stream, output[stream]):
                        waiting.unregister(stream)
                del output[process.stderr][:-_LAST_WORDS]
                if len(output[process.stdout]) > LARGEST_ANSWER:
                    return Answer(complaint=f"it said more than {LARGEST_ANSWER:,} bytes")
                if has_ended and process.stdout not in ready:
                    break  # what it left behind may keep its output open, and adds nothing to it
                self._beat()
        return _reply(process, max(until - self._now(), 0), *map(bytes, output.values()))


def summarizer_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment in which nothing leads back to the workspace, and hooks do nothing."""
    foreign = {
        name: value
        for name, value in environment.items()
        if not name.startswith((_OURS, _GITS)) and name not in ("PWD", "OLDPWD")
    }
    return {**foreign, HOOKS_VARIABLE: HOOKS_OFF}


def _hear(stream: IO[bytes], output: bytearray) -> bool:
    """Add what there is to hear; say whether there may be more."""
    data = os.read(stream.fileno(), 1 << 16)
    output += data
    return bool(data)


def _reply(process: Child, seconds: float, stdout: bytes, stderr: bytes) -> Answer:
    try:
        code = process.wait(seconds)
    except child.TimeoutExpired:
        return Answer(complaint="it did not end in time")
    text = visible(stdout.decode("utf-8", "replace")).strip()
    if code == 0:
        return Answer(text, "" if text else "it printed nothing")
    lines = (stderr or stdout)[-_LAST_WORDS:].decode("utf-8", "replace").strip().splitlines()
    last = shorten(one_line(" ".join(lines[-3:])), 300) or "it printed nothing"
    return Answer(complaint=f"it ended with {code}: {last}")
