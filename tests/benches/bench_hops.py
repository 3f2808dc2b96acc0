"""How many files and functions of gitguard run for what people and hosts do most (`make bench`).

Each is counted with `sys.setprofile` in a process of its own: distinct functions, without
comprehensions and lambdas, and without what runs while a module is imported. The counts are the
same on every machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.benches.bench_workspace import Scratch
from tests.support.measuring import Row, limited

_COUNTING = """
import os, sys
from gitguard.cli import main
home, leave = os.path.dirname(os.path.dirname(sys.modules["gitguard.cli"].__file__)), os._exit
functions, importing = set(), 0
def count(frame, event, _argument):
    global importing
    code = frame.f_code
    if code.co_name == "<module>":
        importing += {"call": 1, "return": -1}.get(event, 0)
    elif event == "call" and not importing and code.co_filename.startswith(home):
        if not code.co_name.startswith("<"):
            functions.add((code.co_filename[len(home) + 1:], code.co_qualname, code.co_firstlineno))
def tell(code):
    sys.setprofile(None)
    for file, name, _ in sorted(functions):
        print(file, name, file=sys.stderr)
    sys.stderr.flush()
    leave(code)
os._exit = tell
sys.setprofile(count)
try:
    main()
except SystemExit as end:
    tell(end.code or 0)
tell(0)
"""
"""Runs the command line with its arguments; tells the functions that ran on standard error."""


def rows(folder: Path) -> Iterator[Row]:
    """Yield, for each way, the rows of its files and its functions."""
    for what, (most_files, most_functions), functions in _ways(folder):
        files = {function.partition(" ")[0] for function in functions}
        yield limited(f"{what}: files", len(files), most_files)
        yield limited(f"{what}: functions", len(functions), most_functions)


def _ways(folder: Path) -> Iterator[tuple[str, tuple[int, int], list[str]]]:
    scratch = Scratch(folder, "hops")
    tracked = scratch.root / "a.txt"
    tracked.write_text("a\n", encoding="utf-8")
    scratch.git("add", "--all")
    scratch.git("commit", "--quiet", "--message", "second")
    transcript = folder / "hops.jsonl"
    message = {"model": "claude-haiku-4-5", "usage": {"input_tokens": 20_000}}
    entries = (
        {"type": "user", "message": {"role": "user", "content": "Begin"}},
        {
            "type": "assistant",
            "isSidechain": False,
            "timestamp": "2026-01-31T09:30:00.000Z",
            "message": message,
        },
    )
    transcript.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    def hook(event: str) -> list[str]:
        stdin = scratch.payload(event, transcript)
        return functions_of(scratch, "hook", "claude-code", stdin=stdin)

    hook("UserPromptSubmit")
    hook("PreToolUse.Bash")
    hook("PostToolUse.Bash")
    yield "calm tool call", (30, 120), hook("PreToolUse.Bash")
    tracked.write_text("a\nb\n", encoding="utf-8")
    hook("PostToolUse.Bash")
    yield "turn's end with a checkpoint", (55, 300), hook("Stop")
    yield "resume", (55, 300), functions_of(scratch, "resume")
    yield "report", (55, 300), functions_of(scratch, "report", "HEAD~1..HEAD")
    tracked.write_text("a\nb\nc\n", encoding="utf-8")
    restore = functions_of(scratch, "restore", "3", "--files", "--theirs-too", "--yes")
    assert tracked.read_text(encoding="utf-8") == "a\nb\n", "nothing was restored"
    yield "restore of files", (75, 450), restore


def functions_of(scratch: Scratch, *arguments: str, stdin: bytes = b"") -> list[str]:
    """Return the functions that one run of the command line calls, as `FILE NAME`."""
    command = [sys.executable, "-c", _COUNTING, *arguments]
    done = subprocess.run(
        command,
        cwd=scratch.root,
        env=scratch.environment,
        input=stdin,
        capture_output=True,
        check=False,
    )
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 0, "\n".join(lines)
    return [line for line in lines if ".py " in line]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as place:
        for way, _limits, called in _ways(Path(place)):
            print(way, len({line.partition(" ")[0] for line in called}), len(called))
            if sys.argv[1:2] == ["--which"]:
                print(*(f"  {line}" for line in called), sep="\n")
