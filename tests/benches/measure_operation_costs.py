"""Measures what tools cost in a context, by real hosts' own conversations.

`python -m tests.benches.measure_operation_costs` runs each host, sealed and with a scripted model,
lets its tools work on the same small project, and writes down what its transcript then holds: each
operation to `tests/payloads/operation_costs.jsonl`, and what they come to on the page
`operation-costs.md`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gitguard.model.conversation import CALL, RESULT
from gitguard.model.events import Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.tokens import estimate
from gitguard.transcripts.formats.recognition import recognise
from tests.e2e.claude_code import SealedClaude
from tests.e2e.claude_code import install as install_claude
from tests.e2e.fetching import fetch
from tests.e2e.openclaw import SealedOpenClaw
from tests.e2e.openclaw_install import VERSIONS
from tests.e2e.openclaw_install import install as install_openclaw
from tests.e2e.repository import git
from tests.e2e.scripted_model import ScriptedModel, Step, ToolCall
from tests.e2e.sealed_hosts import Sealed, codex, gemini, opencode, pi
from tests.generating.generate_references import FOLDER, table

PAGE = FOLDER / "design" / "operation-costs.md"
PAYLOADS = Path(__file__).parents[1] / "payloads"
MEASURED = PAYLOADS / "operation_costs.jsonl"
"""A line for each operation: host, tool, what was done, characters of call and result."""
RECORDED = {
    "claude_code/transcript.jsonl": "Claude Code",
    "claude_code/transcript.auto_compacted.jsonl": "Claude Code",
    "openclaw/2026.3.13/transcript.jsonl": "OpenClaw",
    "codex/rollout.jsonl": "Codex",
    "gemini/chat.jsonl": "Gemini CLI",
    "pi/session.jsonl": "pi",
}
READ, SHELL, SEARCH, EDIT, WRITE = "read", "shell", "search", "edit", "write"
KINDS = (READ, SHELL, SEARCH, EDIT, WRITE)
SIZES = (10, 100, 500, 2_000)
"""Lines of the files that are read."""
_LITTLE = 1_000
"""Tokens that the model says are used, so that no host compacts meanwhile."""
_WINDOW = 200_000


class Operation(NamedTuple):
    """Something that an agent does."""

    kind: str
    what: str
    path: str = ""
    first: int = 0
    lines: int = 0
    command: str = ""
    pattern: str = ""
    old: str = ""
    new: str = ""


class Cost(NamedTuple):
    """What one operation left in a conversation, in characters."""

    host: str
    tool: str
    kind: str
    what: str
    call: int
    result: int

    @property
    def tokens(self) -> int:
        """By the rule of four characters a token."""
        return estimate(self.call + self.result)


def read(what: str, path: str, first: int = 0, lines: int = 0) -> Operation:
    return Operation(READ, what, path, first, lines)


def shell(command: str, what: str = "") -> Operation:
    return Operation(SHELL, what or f"`{command}`", command=command)


OPERATIONS = (
    *(read(f"a file of {count:,} lines", f"lines_{count}.py") for count in SIZES),
    read("50 lines out of 500", "lines_500.py", 100, 50),
    read("a file that is not there", "missing.py"),
    shell("echo done"),
    shell("false", "`false`, which fails"),
    shell("ls -la src"),
    shell("cat lines_100.py"),
    shell("cat lines_2000.py"),
    shell("seq 1 20000"),
    shell("git log --oneline"),
    shell("git status"),
    shell("python3 -m unittest -v test_sums", "40 tests by name"),
    shell("python3 -m unittest test_wrong", "a test that fails"),
    shell("grep -rn total src"),
    shell("find . -name '*.py' -not -path './.git/*'", "`find` of 60 files"),
    Operation(SEARCH, "a word in 50 files", pattern="total"),
    Operation(SEARCH, "a word in no file", pattern="nowhere_to_be_found"),
    Operation(SEARCH, "60 files by name", path="**/*.py"),
    Operation(EDIT, "one line", "lines_100.py", old=" 7,", new=" 70,"),
    Operation(WRITE, "a new file of 10 lines", "new_10.py", lines=10),
    Operation(WRITE, "a new file of 100 lines", "new_100.py", lines=100),
)


def source(lines: int) -> str:
    """A file of so many lines, about 45 characters each."""
    return "".join(f"total_{n:04} = combine({n}, {n + 1}, weight={n % 7})\n" for n in range(lines))


def lay_out(repo: Path) -> None:
    """The project that all hosts work in: 60 Python files, 12 commits."""
    (repo / "src").mkdir(parents=True)
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "config", "user.name", "Test Author")
    git(repo, "config", "user.email", "author@example.invalid")
    for count in SIZES:
        (repo / f"lines_{count}.py").write_text(source(count))
    for number in range(54):
        (repo / "src" / f"part_{number:02}.py").write_text(f"total = {number}\nprint(total)\n")
    (repo / "test_sums.py").write_text(_tests(40, "0"))
    (repo / "test_wrong.py").write_text(_tests(1, "1"))
    for number in range(12):
        (repo / "NOTES").write_text(f"{number}\n")
        git(repo, "add", ".")
        git(repo, "commit", "--quiet", "--message", f"Change number {number} of the notes")


def _tests(count: int, expected: str) -> str:
    cases = "".join(
        f"    def test_sum_{n:02}(self):\n        self.assertEqual({n} - {n}, {expected})\n"
        for n in range(count)
    )
    return f"import unittest\n\nclass Sums(unittest.TestCase):\n{cases}"


# The hosts' own words for it

Caller = Callable[[Operation, Path], ToolCall | None]


def claude_code_call(told: Operation, repo: Path) -> ToolCall | None:
    path = {"file_path": str(repo / told.path)}
    part = {"offset": told.first, "limit": told.lines} if told.first else {}
    return {
        READ: ToolCall("Read", {**path, **part}),
        SHELL: ToolCall("Bash", {"command": told.command, "description": "Run it"}),
        EDIT: ToolCall("Edit", {**path, "old_string": told.old, "new_string": told.new}),
        WRITE: ToolCall("Write", {**path, "content": source(told.lines)}),
    }.get(told.kind)


def opencode_call(told: Operation, repo: Path) -> ToolCall | None:
    path = {"filePath": str(repo / told.path)}
    part = {"offset": told.first, "limit": told.lines} if told.first else {}
    search = ToolCall("grep", {"pattern": told.pattern})
    return {
        READ: ToolCall("read", {**path, **part}),
        SHELL: ToolCall("bash", {"command": told.command}),
        SEARCH: search if told.pattern else ToolCall("glob", {"pattern": told.path}),
        EDIT: ToolCall("edit", {**path, "oldString": told.old, "newString": told.new}),
        WRITE: ToolCall("write", {**path, "content": source(told.lines)}),
    }.get(told.kind)


def codex_call(told: Operation, _repo: Path) -> ToolCall | None:
    if told.kind == SHELL:
        return ToolCall("exec_command", {"cmd": told.command})
    if told.kind == WRITE:
        added = "".join(f"+{line}\n" for line in source(told.lines).splitlines())
        return ToolCall("apply_patch", {"input": _patch(f"Add File: {told.path}", added)})
    if told.kind == EDIT:
        line = source(100).splitlines()[7]
        changed = f"@@\n-{line}\n+{line.replace(told.old, told.new, 1)}\n"
        return ToolCall("apply_patch", {"input": _patch(f"Update File: {told.path}", changed)})
    return None


def _patch(head: str, body: str) -> str:
    return f"*** Begin Patch\n*** {head}\n{body}*** End Patch"


def gemini_call(told: Operation, _repo: Path) -> ToolCall | None:
    path = {"file_path": told.path}
    last = told.first + told.lines
    part = {"start_line": told.first, "end_line": last} if told.first else {}
    search = ToolCall("grep_search", {"pattern": told.pattern})
    replaced = {"instruction": "Change it", "old_string": told.old, "new_string": told.new}
    return {
        READ: ToolCall("read_file", {**path, **part}),
        SHELL: ToolCall("run_shell_command", {"command": told.command}),
        SEARCH: search if told.pattern else ToolCall("glob", {"pattern": told.path}),
        EDIT: ToolCall("replace", {**path, **replaced}),
        WRITE: ToolCall("write_file", {**path, "content": source(told.lines)}),
    }.get(told.kind)


def pi_call(told: Operation, _repo: Path) -> ToolCall | None:
    return _pi_like(told, "bash")


def openclaw_call(told: Operation, _repo: Path) -> ToolCall | None:
    return _pi_like(told, "exec")


def _pi_like(told: Operation, command: str) -> ToolCall | None:
    path = {"path": told.path}
    part = {"offset": told.first, "limit": told.lines} if told.first else {}
    replaced = {"oldText": told.old, "newText": told.new}
    return {
        READ: ToolCall("read", {**path, **part}),
        SHELL: ToolCall(command, {"command": told.command}),
        EDIT: ToolCall("edit", {**path, **replaced, "edits": [replaced]}),
        WRITE: ToolCall("write", {**path, "content": source(told.lines)}),
    }.get(told.kind)


# Running them


class Measured(NamedTuple):
    """A host that is measured: its name, its words, and how a conversation is made."""

    name: str
    call: Caller
    converse: Callable[[Path, Path, Sequence[Step]], Transcript]


def _with_claude_code(home: Path, repo: Path, steps: Sequence[Step]) -> Transcript:
    with ScriptedModel(steps) as model:
        claude = SealedClaude(install_claude(), home, repo, model.url)
        session = claude.run("Do it all.").session_id
        claude.end_leftovers()
    [path] = (home / ".claude/projects").glob(f"*/{session}.jsonl")
    return recognise(str(path))


def _with_pi(home: Path, repo: Path, steps: Sequence[Step]) -> Transcript:
    with ScriptedModel(steps) as model:
        sealed = pi(home, repo, model.url)
        assert sealed.run("Do it all.").returncode == 0
        [path] = sealed.sessions()
    return recognise(str(path))


def _with_openclaw(version: str) -> Callable[[Path, Path, Sequence[Step]], Transcript]:
    def converse(home: Path, repo: Path, steps: Sequence[Step]) -> Transcript:
        installed = install_openclaw(version)
        with (
            ScriptedModel(steps) as model,
            SealedOpenClaw(installed, home, repo, model.url, window=_WINDOW) as openclaw,
        ):
            openclaw.start_gateway()
            openclaw.send("Do it all.")
        return recognise(str(home / ".openclaw/agents/main"), "openclaw")

    return converse


def _with_ripgrep(sealed: Sealed) -> str:
    """One of the hosts brings the program with it that another would fetch from elsewhere."""
    [found] = fetch("codex-0.171.0", "@openai/codex@0.171.0-linux-x64").rglob("codex-path")
    return f"{sealed.env['PATH']}:{found}"


def _answering(
    host: Callable[[Path, Path, str], Sealed],
    arguments: tuple[str, ...],
    kept: str,
) -> Callable[[Path, Path, Sequence[Step]], Transcript]:
    def converse(home: Path, repo: Path, steps: Sequence[Step]) -> Transcript:
        home.mkdir(exist_ok=True)
        with ScriptedModel(steps) as model:
            sealed = host(home, repo, model.url)
            sealed = replace(sealed, extra_env={**sealed.extra_env, "PATH": _with_ripgrep(sealed)})
            settings = home / ".gemini/settings.json"
            if settings.exists():  # the sealed one compresses early, for tests of that
                settings.write_text(settings.read_text().replace("0.002", "0.9"))
            done = sealed.run(*arguments, "Do it all.", timeout=300)
            assert done.returncode == 0, done.stderr
        [path] = home.glob(kept)
        return recognise(str(path))

    return converse


HOSTS = (
    Measured("Claude Code 2.1.330", claude_code_call, _with_claude_code),
    *(Measured(f"OpenClaw {each}", openclaw_call, _with_openclaw(each)) for each in VERSIONS),
    Measured(
        "Codex 0.171.0",
        codex_call,
        _answering(codex, ("exec",), ".codex/sessions/*/*/*/rollout-*.jsonl"),
    ),
    Measured(
        "Gemini CLI 0.61.0",
        gemini_call,
        _answering(gemini, ("--yolo", "-p"), ".gemini/tmp/*/chats/*.jsonl"),
    ),
    Measured(
        "opencode 1.18.34",
        opencode_call,
        _answering(opencode, ("run",), ".local/share/opencode/opencode.db"),
    ),
    Measured("pi 1.5.0", pi_call, _with_pi),
)


def measure(host: Measured, folder: Path) -> list[Cost]:
    """Run a host through all operations that it has tools for, one call in each answer."""
    repo = folder / "repo"
    lay_out(repo)
    wanted = [(each, host.call(each, repo)) for each in OPERATIONS]
    done = [(told, call) for told, call in wanted if call is not None]
    steps = [Step("", (call,), _LITTLE) for _, call in done]
    transcript = host.converse(folder / "home", repo, [*steps, Step("done", input_tokens=_LITTLE)])
    found = _pairs(transcript)
    assert len(found) == len(done), (host.name, len(found), len(done))
    return [
        Cost(host.name, tool, told.kind, told.what, call, result)
        for (told, _), (tool, call, result) in zip(done, found, strict=True)
    ]


def _pairs(transcript: Transcript) -> list[tuple[str, int, int]]:
    """Return the tool, and the characters of call and result, of every call in order."""
    entries = find_format(transcript.format).entries(transcript)
    blocks = [block for entry in entries if not entry.is_aside for block in entry.blocks]
    results = {block.id: block.size for block in blocks if block.kind == RESULT}
    calls = [block for block in blocks if block.kind == CALL]
    return [(call.name, call.size, results[call.id]) for call in calls if call.id in results]


def recorded() -> list[Cost]:
    """What calls took in the recorded conversations that tests read."""
    return [
        Cost(host, tool, "", "", call, result)
        for path, host in RECORDED.items()
        for tool, call, result in _pairs(recognise(str(PAYLOADS / path)))
    ]


# The page


def page(costs: Sequence[Cost], before: Sequence[Cost]) -> str:
    """Write the page from what was measured, and what was recorded before."""
    by_kind = [_kind(kind, [cost for cost in costs if cost.kind == kind]) for kind in KINDS]
    by_tool = ("host", "tool", "calls", "tokens, from–to")
    return "\n".join(
        (
            _INTRODUCTION,
            table(("what", "operations", "tokens, from–to", "median"), by_kind),
            _BY_TOOL,
            table(by_tool, _tools(costs)),
            _RECORDED,
            table(by_tool, _tools(before)),
        )
    )


def _kind(kind: str, costs: Sequence[Cost]) -> tuple[str, ...]:
    median = statistics.median([cost.tokens for cost in costs])
    return kind, str(len(costs)), _between(costs), f"{median:,.1f}".removesuffix(".0")


def _tools(costs: Sequence[Cost]) -> list[tuple[str, ...]]:
    found: dict[tuple[str, str], list[Cost]] = {}
    for cost in costs:
        found.setdefault((cost.host, cost.tool), []).append(cost)
    return [(host, f"`{tool}`", str(len(of)), _between(of)) for (host, tool), of in found.items()]


def _between(costs: Sequence[Cost]) -> str:
    low, high = (of(cost.tokens for cost in costs) for of in (min, max))
    return f"{low:,}–{high:,}" if low < high else f"{low:,}"


_INTRODUCTION = """# What operations cost

How much of the context a tool call and its result take. Each real host worked on one small project
of 60 Python files, with a scripted model, and its transcript was read afterwards.
`python -m tests.benches.measure_operation_costs` repeats this, and writes this page and each
operation to `tests/payloads/operation_costs.jsonl`.

Tokens are the characters of call and result as the transcript holds them for the model, divided by
four. No model counted them. What a host stores beside a result for itself is not included.
"""
_BY_TOOL = """The cost of a read or a command depends on how much is asked for, up to the size
at which the host cuts a result. So it pays to read only the part that is needed. A change of a
file costs what is written. Two of these hosts have a search tool; in the others, searching is a
command.

## By tool
"""
_RECORDED = """## In recorded conversations

The conversations in `tests/payloads/` were recorded to show formats and are short:
"""


def main() -> int:
    """Measure every host and write the page."""
    costs: list[Cost] = []
    for host in HOSTS:
        with tempfile.TemporaryDirectory(prefix="costs-") as folder:
            costs += measure(host, Path(folder))
        print(f"{host.name}: {sum(cost.host == host.name for cost in costs)} operations")
    rows = [json.dumps([c.host, c.tool, c.what, c.call, c.result]) for c in costs]
    MEASURED.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    PAGE.write_text(page(costs, recorded()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
