"""How fast gitguard is: ratios measured in one run, interleaved, medians (`make bench`).

Every row compares two commands or functions that take turns, so that a machine whose speed drifts
drifts for both.
"""

from __future__ import annotations

import argparse
import compileall
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import gitguard
from gitguard import Guard
from gitguard.composing import compose
from gitguard.context.gauge import Circumstances
from gitguard.model import journal
from gitguard.model.capture import work_of
from gitguard.model.checkpoint import CheckpointRecord
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.model.events import PlanItem, Transcript
from gitguard.model.journal import Entry
from gitguard.model.redaction import Redactor
from gitguard.model.task import TaskState, new_task, update_state
from gitguard.recovery.injection import Origin, build_resume
from gitguard.session_store import SessionStore
from gitguard.store.journal import JournalPart
from gitguard.store.standing import Head
from gitguard.store.workspace import Places
from gitguard.transcripts import find_format
from tests import bench_verify
from tests.bench_verify import import_history

PAYLOADS = Path(__file__).parent / "payloads" / "claude_code"
COMMAND = str(Path(sys.executable).with_name("gitguard"))
LEAST_RUNS = 15
_NOW = 1_800_000_000.0


@dataclass(frozen=True)
class Row:
    """One line of the table; ratio is the median of ours over the median of theirs."""

    what: str
    ours_ms: float
    theirs: str
    theirs_ms: float
    ratio: float
    target: float

    @property
    def holds(self) -> bool:
        return self.ratio <= self.target


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def compare(
    what: str,
    ours: Callable[[], object],
    theirs: str,
    other: Callable[[], object],
    target: float,
    runs: int,
) -> Row:
    """Run both in turn, after one warm-up of each."""
    ours()
    other()
    pairs = [(timed(ours), timed(other)) for _ in range(max(runs, LEAST_RUNS))]
    mine = statistics.median(pair[0] for pair in pairs)
    yours = statistics.median(pair[1] for pair in pairs)
    return Row(what, mine * 1e3, theirs, yours * 1e3, mine / yours, target)


class Scratch:
    """A workspace with a session and a sealed environment, in a folder that goes away."""

    def __init__(self, folder: Path, name: str) -> None:
        self.root = folder / name
        self.environment = {
            "HOME": str(folder / "home"),
            "PATH": os.environ["PATH"],
            "GITGUARD_STATE_DIR": str(folder / f"{name}-state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "CLAUDE_PROJECT_DIR": str(self.root),
        }
        self.root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "bench")
        self.git("config", "user.email", "bench@example.invalid")
        self.git("commit", "--quiet", "--allow-empty", "--message", "first")
        places = Places(
            state_home=self.environment["GITGUARD_STATE_DIR"],
            config_home=str(folder / "config"),
            environment=self.environment,
        )
        self.guard = Guard(str(self.root), places, time.time)
        self.guard.ensure()

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=self.environment,
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def run(self, *command: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            input=stdin,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout

    def payload(self, name: str, transcript: Path) -> bytes:
        document = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
        document |= {"cwd": str(self.root), "transcript_path": str(transcript)}
        return json.dumps(document).encode()

    def bare_python(self) -> bytes:
        return self.run(sys.executable, "-c", "pass")

    def store(self) -> SessionStore:
        return self.guard.store()


def full_state(facts: int = 12) -> TaskState:
    """A state as a long task has it."""
    now = "2026-01-31T09:30:00Z"
    lines = [f"fact number {i} that the work relies on, in about sixty chars" for i in range(facts)]
    changes = {
        "goal": "Rewrite the parser without changing what it accepts",
        "current_phase": "implementation",
        "next_action": "Run the slow tests on src/parser.py and fix what they find",
        "completed_steps": lines,
        "open_issues": lines,
        "constraints": lines,
        "invariants": lines,
        "decisions": [{"what": line, "why": "it is simpler"} for line in lines],
        "failed_attempts": [{"what": line, "error": "Exit code 1"} for line in lines],
        "artifacts": [{"path": f"src/module_{i}.py"} for i in range(facts)],
    }
    return update_state(new_task("main", now), changes, now)[0]


def usage_line(tokens: int) -> bytes:
    entry = {
        "type": "assistant",
        "isSidechain": False,
        "timestamp": "2026-01-31T09:30:00.000Z",
        "message": {"model": "claude-haiku-4-5", "usage": {"input_tokens": tokens}},
    }
    return json.dumps(entry).encode() + b"\n"


def write_transcript(path: Path, size: int) -> Path:
    """A conversation of size bytes whose newest line tells a calm usage."""
    filler = json.dumps({"type": "user", "message": {"content": "x" * 4000}}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(size // len(filler)):
            file.write(filler)
        file.write(usage_line(20_000))
    return path


def calm_hook(folder: Path, runs: int) -> Row:
    scratch = Scratch(folder, "calm")
    transcript = write_transcript(folder / "calm.jsonl", 1 << 20)
    event = scratch.payload("PreToolUse.Bash", transcript)
    return compare(
        "calm hook, whole process",
        lambda: scratch.run(COMMAND, "hook", "claude-code", stdin=event),
        "python -c pass",
        scratch.bare_python,
        2.2,
        runs,
    )


def calm_hook_of_a_plugin(folder: Path, runs: int) -> Row:
    """The same for a host whose events carry the usage and the session's key."""
    scratch = Scratch(folder, "plugin")
    where = {"sessionKey": "agent:main:main", "sessionId": "S1", "workspaceDir": str(scratch.root)}
    call = {"toolName": "exec", "params": {"command": "python3 hello.py"}, "toolCallId": "t1"}
    usage = {"input": 20_000, "output": 50, "window": 200_000, "model": "fake-1", "at": 1}
    event = {"hook": "before_tool_call", "event": call, "ctx": {**where, "agentId": "main"}}
    begins = {"hook": "before_prompt_build", "event": {"prompt": "Begin"}, "ctx": event["ctx"]}
    scratch.run(COMMAND, "hook", "openclaw", stdin=json.dumps(begins).encode())
    calm = json.dumps({**event, "usage": usage}).encode()
    return compare(
        "calm hook of a plugin, whole process",
        lambda: scratch.run(COMMAND, "hook", "openclaw", stdin=calm),
        "python -c pass",
        scratch.bare_python,
        2.2,
        runs,
    )


def checkpointing_hook(folder: Path, runs: int) -> Row:
    scratch = Scratch(folder, "hook")
    transcript = write_transcript(folder / "hook.jsonl", 1 << 20)
    event = json.loads(scratch.payload("PreCompact", transcript))
    scratch.guard.note({"goal": "Measure"})
    numbers = itertools.count()

    def compacts() -> None:
        # Each in a conversation of its own, since one that is told of twice is saved once.
        own = json.dumps({**event, "session_id": f"S{next(numbers)}"}).encode()
        scratch.run(COMMAND, "hook", "claude-code", stdin=own)

    return compare(
        "a hook that checkpoints, whole process",
        compacts,
        "python -c pass",
        scratch.bare_python,
        10,
        runs,
    )


def checkpoint_command(folder: Path, runs: int) -> Row:
    scratch = Scratch(folder, "command")
    return compare(
        "gitguard checkpoint, whole process",
        lambda: scratch.run(COMMAND, "checkpoint"),
        "python -c pass",
        scratch.bare_python,
        14,
        runs,
    )


def bundling(folder: Path, runs: int) -> Row:
    """What a turn's worth of captured work adds to a checkpoint, in milliseconds, over 5."""
    plain, full = Scratch(folder, "bare"), Scratch(folder, "bundled")
    numbers = itertools.count()

    def checkpoint(scratch: Scratch, entries: list[Entry]) -> float:
        store = scratch.store()
        with store.lock():
            for entry in entries:
                store.journal.append(entry)
        return timed(lambda: scratch.guard.checkpoint("Measure."))

    def pair() -> tuple[float, float]:
        turn = next(numbers)
        return checkpoint(full, worked(turn)), checkpoint(plain, worked(turn)[:1])

    for _ in range(8):
        pair()
    pairs = [pair() for _ in range(max(runs, LEAST_RUNS))]
    mine, yours = (statistics.median(column) * 1e3 for column in zip(*pairs, strict=True))
    added = max(mine - yours, 0)
    return Row("bundling a turn of 30 calls, ms more", added, "limit", 5, added / 5, 1.0)


def worked(turn: int) -> list[Entry]:
    """A turn as the journal has it: tools, files, a failure, a plan, a decision."""
    now = "2026-01-31T09:30:00Z"
    calls = [
        Entry(
            journal.ENDED,
            now,
            "S1",
            id=f"{turn}-{n}",
            tool=f"tool{n % 7}",
            summary="a command of the usual length, with a few options",
            read=(f"src/turn{turn}/read{n}.py",),
            written=(f"src/turn{turn}/written{n}.py",),
        )
        for n in range(30)
    ]
    plan = tuple(PlanItem(str(n), f"step {n} of turn {turn}") for n in range(20))
    return [
        *calls,
        Entry(journal.PROMPT, now, "S1", summary=f"yes, turn {turn}", settles="x" * 120),
        Entry(journal.FAILED, now, "S1", tool="Bash", summary="make", error="Exit code 2"),
        Entry(journal.ENDED, now, "S1", tool="TaskList", plan=plan, whole_plan=True),
        Entry(journal.TURN_ENDED, now, "S1", summary="an answer " * 60),
    ]


def durable_checkpoint(folder: Path, runs: int) -> Row:
    """Objects, anchor, ref and anchor, all synced, against add and commit of the same files."""
    scratch, plain = Scratch(folder, "durable"), Scratch(folder, "plain")
    store = scratch.store()
    head = store.own_head()
    pairs = []
    for number in range(max(runs, LEAST_RUNS) + 1):
        state = full_state().replace(next_action=f"step {number}")
        assert head.anchor is not None
        record, contents = compose_checkpoint(state, head, head.anchor.sequence + 1)
        state_sha256 = sha256(contents[STATE_FILE])
        mine = timed(partial(store.chain.commit, head, record, contents, state_sha256))
        for name, data in contents.items():
            (plain.root / name).write_bytes(data)
        theirs = timed(lambda: plain.git("add", "--", "."))
        theirs += timed(lambda: plain.git("commit", "--quiet", "--message", "checkpoint"))
        pairs.append((mine, theirs))
        head = store.own_head()
    ours, others = (statistics.median(side) for side in zip(*pairs[1:], strict=True))
    what = "durable checkpoint, in process"
    return Row(what, ours * 1e3, "git add && git commit", others * 1e3, ours / others, 0.85)


def compose_checkpoint(
    state: TaskState, head: Head, sequence: int
) -> tuple[CheckpointRecord, Mapping[str, bytes]]:
    nothing = JournalPart("", (), (), 0)
    return compose(
        state, nothing, sequence, "manual", "bench", head.code, Circumstances(), _NOW, Redactor()
    )


def transcript_usage(folder: Path, runs: int) -> Row:
    small = write_transcript(folder / "small.jsonl", 1 << 20)
    large = write_transcript(folder / "large.jsonl", 100 << 20)
    read = find_format("claude-code").newest_reading
    return compare(
        "pressure from a 100 MB transcript",
        lambda: [read(Transcript(str(large), "claude-code")) for _ in range(20)],
        "a 1 MB one",
        lambda: [read(Transcript(str(small), "claude-code")) for _ in range(20)],
        1.2,
        runs,
    )


def transcript_memory(folder: Path, runs: int) -> Row:
    """Peak memory of a process that reads the usage; shown in MB instead of milliseconds."""
    program = (
        "import resource, sys; from gitguard.model.events import Transcript; "
        "from gitguard.transcripts import find_format; "
        "find_format('claude-code').newest_reading(Transcript(sys.argv[1], 'claude-code')); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak(name: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder / name)], stdout=subprocess.PIPE, check=True
        )
        return float(done.stdout) / 1024

    pairs = [(peak("large.jsonl"), peak("small.jsonl")) for _ in range(3)]
    mine, yours = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row("peak memory of the same, MB", mine, "a 1 MB one", yours, mine / yours, 1.2)


def latest_state(folder: Path, runs: int) -> Row:
    few, many = (
        long_history(Scratch(folder, name), count)
        for name, count in (("few", 10), ("many", 100_000))
    )

    def read(store: SessionStore) -> Callable[[], object]:
        return lambda: store.chain.read(store.own_head().id)

    return compare("latest state at 100,000 checkpoints", read(many), "at 10", read(few), 1.2, runs)


def long_history(scratch: Scratch, count: int, *, differing: bool = False) -> SessionStore:
    """Give a session a packed history of count checkpoints, anchored as if we had written it."""
    head = scratch.store().own_head()
    assert head.anchor is not None
    record, contents = compose_checkpoint(full_state(), head, head.anchor.sequence)
    return import_history(scratch, record, contents, count, differing=differing)


def verified_read(folder: Path, runs: int) -> Row:
    """The newest checkpoint from its own files, verified, against believing git."""
    scratch = Scratch(folder, "verified")
    scratch.guard.note({"goal": "Measure"})
    store = scratch.store()
    what = "verified read of the newest checkpoint"
    mine, yours = bench_verify.verified_read(store), bench_verify.unverified_read(store)
    return compare(what, mine, "unverified, one git", yours, 1.5, runs)


def verified_read_from_a_pack(folder: Path, runs: int) -> Row:
    """The same after a `git gc`, when both need git."""
    store = long_history(Scratch(folder, "packed"), 100, differing=True)
    what = "the same from a pack"
    mine, yours = bench_verify.verified_read(store), bench_verify.unverified_read(store)
    return compare(what, mine, "unverified, one git", yours, 1.5, runs)


def verify_history(folder: Path, runs: int) -> Row:
    """Checkpoints a second of a packed history, each with a state of its own."""
    scratch = Scratch(folder, "history")
    store = long_history(scratch, 10_000, differing=True)
    scratch.git("repack", "-a", "-d", "-q")
    rate = bench_verify.checkpoints_a_second(store, 3)
    wanted = bench_verify.FAST_ENOUGH
    return Row("verify 10,000 checkpoints, a second", rate, "wanted", wanted, wanted / rate, 1.0)


def verify_history_without_change(folder: Path, runs: int) -> Row:
    """The same where all checkpoints have the same files."""
    store = long_history(Scratch(folder, "unchanged"), 10_000)
    rate = bench_verify.checkpoints_a_second(store, 3)
    wanted = bench_verify.FAST_ENOUGH
    return Row("the same files in all of them", rate, "wanted", wanted, wanted / rate, 1.0)


def resume_size(folder: Path, runs: int) -> Row:
    """Tokens of a full block (four characters each) over the limit of 700."""
    state = full_state(60)
    origin = Origin("main", "cp_100", "0" * 40)
    block = build_resume(state, work_of((), state, 0), origin, max_tokens=700)
    tokens = len(block) / 4
    return Row("resume block, tokens", tokens, "limit", 700, tokens / 700, 1.0)


ROWS = (
    calm_hook,
    calm_hook_of_a_plugin,
    durable_checkpoint,
    bundling,
    checkpointing_hook,
    checkpoint_command,
    transcript_usage,
    transcript_memory,
    latest_state,
    verified_read,
    verified_read_from_a_pack,
    verify_history,
    verify_history_without_change,
    resume_size,
)


def main() -> None:
    """Print the table, or JSON; the exit code says whether every target holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--runs", type=int, default=21, help="runs of each side (at least 15)")
    parser.add_argument("--only", default="", help="a part of a row's function name")
    options = parser.parse_args()
    # Hooks start from compiled files wherever gitguard is installed; so they do here.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(gitguard.__file__).parent), quiet=1)
    resource.getrusage(resource.RUSAGE_SELF)
    rows = []
    for measure in ROWS:
        if options.only in measure.__name__:
            with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
                if measure is transcript_memory:
                    write_transcript(Path(folder) / "small.jsonl", 1 << 20)
                    write_transcript(Path(folder) / "large.jsonl", 100 << 20)
                rows.append(measure(Path(folder), options.runs))
            if not options.json:
                show(rows[-1])
    if options.json:
        print(json.dumps([{**asdict(row), "holds": row.holds} for row in rows], indent=2))
    sys.exit(0 if all(row.holds for row in rows) else 1)


def show(row: Row) -> None:
    verdict = "holds" if row.holds else "MISSED"
    print(
        f"{row.what:42} {row.ours_ms:9.2f}  {row.theirs:24} {row.theirs_ms:9.2f}  "
        f"{row.ratio:6.2f} x  (target {row.target:g}) {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
