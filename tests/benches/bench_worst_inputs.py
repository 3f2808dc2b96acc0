"""What the worst events and files cost a hook: each in milliseconds, over 3 s or ten calm hooks.

Texts full of key words are searched for secrets at so many MB/s.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gitguard.model.redaction.redactor import Redactor
from gitguard.store.worktree.secret_search import parts_of
from tests.benches.bench_workspace import COMMAND, Scratch
from tests.support.measuring import Row, limited, median

_IDS, _ENVELOPE = re.compile(rb'"(prompt_id|tool_use_id)": "[^"]*"'), 1_000
"""What tells an event from others, and in how many bytes of its beginning that stands."""
_MEGABYTE = 1 << 20
_LONGEST_MS, _CALM_HOOKS = 3_000, 10
_LARGE = 50 * _MEGABYTE
_LOG_LINES, _LEAST_MEGABYTES_A_SECOND = 300_000, 20.0
_KEYED = "2026-11-26 12:00:00 INFO request key=abc token=none session ok\n"
_TODOS = [{"content": f"do the thing number {n}", "status": "pending"} for n in range(100_000)]
_FIELDS: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "a prompt": ("UserPromptSubmit", lambda text: {"prompt": text}),
    "a command": ("PreToolUse.Bash", lambda text: {"tool_input": {"command": text}}),
    "an output": ("PostToolUse.Bash", lambda text: {"tool_response": {"stdout": text}}),
    "an error": ("PostToolUseFailure", lambda text: {"error": text}),
    "an answer": ("Stop", lambda text: {"last_assistant_message": text}),
    "a summary": ("PostCompact", lambda text: {"compact_summary": text}),
    "a status line": ("statusLine", lambda text: {"model": {"id": text}}),
    "an unknown field": ("PreToolUse.Bash", lambda text: {"new": text}),
}
_LINES: dict[str, Callable[[int], str]] = {
    "a log of key words": lambda number: _KEYED,
    "a numbered log of key words": lambda number: _KEYED.replace("abc", f"a{number:05}"),
    "a log of key words in JSON": lambda number: (
        f'{{"id": {number}, "key": "abc", "token": null, "auth": "none", "api": "v1"}}\n'
    ),
    "key words alone": lambda number: "key=abc token=none pass=x " * 3 + "\n",
}
_TEXTS = {"log": _KEYED, "empty lines": "\n", "quotes": '\\"'}


def rows(folder: Path, runs: int) -> Iterator[Row]:
    """Yield a row for each worst input."""
    scratch = Scratch(folder, "worst")
    transcript = folder / "worst.jsonl"
    transcript.write_bytes(b"")
    calm = _took(scratch, scratch.payload("PreToolUse.Bash", transcript), runs)
    limit = max(_LONGEST_MS, _CALM_HOOKS * calm)
    for name, event in _events(scratch, transcript):
        yield limited(f"{name}, ms", _took(scratch, event, 3), limit)
    yield from _beside_a_log(Scratch(folder, "log"), transcript, limit)
    yield from _searches()
    _write_boundaries(transcript)
    prompt = scratch.payload("UserPromptSubmit", transcript)
    yield limited("100 MB of compactions in a transcript, ms", _took(scratch, prompt, 1), limit)


def _beside_a_log(scratch: Scratch, transcript: Path, limit: float) -> Iterator[Row]:
    """Hooks that look at the files, with a log full of key words that grows by a line each time."""
    log = scratch.root / "aaa.log"
    log.write_text(_KEYED * _LOG_LINES)
    for name in ("Stop", "UserPromptSubmit"):
        event = scratch.payload(name, transcript)

        numbers = itertools.count()

        def answer(event: bytes = event, numbers: Iterator[int] = numbers) -> None:
            with log.open("a") as file:
                file.write(_KEYED)
            event = _told_anew(event, next(numbers))
            scratch.run(COMMAND, "hook", "claude-code", stdin=event)

        yield limited(f"{name} beside a log of key words, ms", 1e3 * median(answer, 3), limit)


def _searches() -> Iterator[Row]:
    for name, line in _LINES.items():
        text = "".join(map(line, range(50_000)))

        def search(text: str = text) -> None:
            redactor = Redactor()
            assert not any(map(redactor.holds_secret, parts_of(text.encode())))

        rate = len(text) / median(search, 3, time.process_time) / 1e6
        wanted = _LEAST_MEGABYTES_A_SECOND
        what = f"search for secrets in {name}, MB/s"
        yield Row(what, rate, "wanted", wanted, wanted / rate, 1.0)


def _took(scratch: Scratch, event: bytes, runs: int) -> float:
    numbers = itertools.count()

    def answer() -> None:
        scratch.run(COMMAND, "hook", "claude-code", stdin=_told_anew(event, next(numbers)))

    return 1e3 * median(answer, runs)


def _told_anew(event: bytes, number: int) -> bytes:
    """The event of another turn or call: one that is told again is answered by nothing."""
    begins = _IDS.sub(rb'"\1": "number %d"' % number, event[:_ENVELOPE])
    return begins + event[_ENVELOPE:]


def _events(scratch: Scratch, transcript: Path) -> Iterator[tuple[str, bytes]]:
    def event(name: str, fields: dict[str, Any]) -> bytes:
        return json.dumps(json.loads(scratch.payload(name, transcript)) | fields).encode()

    plan = {"tool_name": "TodoWrite", "tool_input": {"todos": _TODOS}}
    yield "100,000 to-do items", event("PreToolUse.Bash", plan)
    answers = {"answers": {f"Question {n}?": "yes" for n in range(300_000)}}
    asked = {"tool_name": "AskUserQuestion", "tool_response": answers}
    yield "300,000 answers", event("PostToolUse.Bash", asked)
    for shape, value in _shapes().items():
        plain = event("PreToolUse.Bash", {"tool_input": {"command": "ls", "value": "@"}})
        yield f"50 MB of {shape}", plain.replace(b'"@"', value)
    for field, (name, fields) in _FIELDS.items():
        for what, text in _TEXTS.items():
            long_text = text * (_LARGE // len(text))
            yield f"{field} of 50 MB of {what}", event(name, fields(long_text))


def _shapes() -> dict[str, bytes]:
    return {
        "brackets": b"[" * (_LARGE // 2) + b"]" * (_LARGE // 2),
        "objects": b"[" + b"{}," * (_LARGE // 3) + b"{}]",
        "members": b"{%s}" % b",".join(b'"k%d":0' % n for n in range(_LARGE // 12)),
        "digits": b"9" * _LARGE,
    }


def _write_boundaries(transcript: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "timestamp": "2026-01-31T09:30:00Z",
    }
    line = json.dumps(boundary).encode() + b"\n"
    transcript.write_bytes(line * (100 * _MEGABYTE // len(line)))
