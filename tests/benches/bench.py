"""How fast gitguard is: ratios measured in one run, interleaved, medians (`make bench`).

Most rows compare two commands or functions that take turns (tests/support/measuring.py).
"""

from __future__ import annotations

import compileall
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import gitguard
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.model.events import PlanItem, Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.tokens import tokens_of
from gitguard.sessions.resume.building import Header, build_resume
from gitguard.state import entries as journal
from gitguard.state.capture import work_of
from gitguard.state.checkpoint import CheckpointRecord
from gitguard.state.circumstances import Circumstances
from gitguard.state.entries import JournalEntry
from gitguard.state.task import TaskState
from gitguard.store.session.composing import compose
from gitguard.store.session.journal import JournalPart
from gitguard.store.session.standing import Head
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session
from gitguard.transcripts import find_format
from tests.benches import (
    bench_disk,
    bench_files,
    bench_hops,
    bench_search,
    bench_verify,
    bench_waiting,
    bench_worst_inputs,
)
from tests.benches.bench_verify import import_history
from tests.benches.bench_workspace import COMMAND, Scratch, full_state
from tests.e2e.fetching import NotInstallable
from tests.review import planted
from tests.support.measuring import (
    Row,
    compare,
    limited,
    median,
    peak_megabytes,
    report,
    row_of,
    table_parser,
    timed,
)

LEAST_RUNS = 15
"""Of each side, whatever was asked for."""
LEAST_TURNS = 8
"""Of the conversations with a real host."""
_NOW = 1_800_000_000.0


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

    def calm() -> None:
        scratch.run(COMMAND, "hook", "claude-code", stdin=event)

    return scratch.beside_python("calm hook, whole process", calm, 2.2, runs)


def calm_hook_of_a_plugin(folder: Path, runs: int) -> Row:
    """The same for a host whose events carry the usage and the session's key."""
    scratch = Scratch(folder, "plugin")
    where = {"sessionKey": "agent:main:main", "sessionId": "S1", "workspaceDir": str(scratch.root)}
    call = {"toolName": "exec", "params": {"command": "python3 hello.py"}, "toolCallId": "t1"}
    usage = {"input": 20_000, "output": 50, "window": 200_000, "model": "fake-1", "at": 1}
    event = {"hook": "before_tool_call", "event": call, "ctx": {**where, "agentId": "main"}}
    begins = {"hook": "before_prompt_build", "event": {"prompt": "Begin"}, "ctx": event["ctx"]}
    scratch.run(COMMAND, "hook", "openclaw", stdin=json.dumps(begins).encode())
    told = json.dumps({**event, "usage": usage}).encode()

    def calm() -> None:
        scratch.run(COMMAND, "hook", "openclaw", stdin=told)

    return scratch.beside_python("calm hook of a plugin, whole process", calm, 2.2, runs)


CALMS = {
    "copilot": "PreToolUse.Bash",
    "qwen": "PreToolUse.run_shell_command",
    "droid": "PreToolUse.Execute",
    "kimi": "PreToolUse.Bash",
    "codex": "PreToolUse",
}
"""A recorded call of each host that speaks the common dialect, besides Claude Code."""


def calm_hooks_of_hosts(folder: Path, runs: int) -> Iterator[Row]:
    """The calm hook of each of these hosts, whose transcript is not there yet."""
    for host, name in CALMS.items():
        scratch = Scratch(folder, host)
        payloads = folder_of_payloads(host)
        events = []
        for event in ("UserPromptSubmit", name):
            document = json.loads((payloads / f"{event}.json").read_text(encoding="utf-8"))
            document |= {"cwd": str(scratch.root), "session_id": "S1"}
            document.pop("transcript_path", None)
            events.append(json.dumps(document).encode())
        scratch.run(COMMAND, "hook", host, stdin=events[0])
        calm = partial(scratch.run, COMMAND, "hook", host, stdin=events[1])
        yield scratch.beside_python(f"calm hook of {host}", calm, 2.0, runs)


def folder_of_payloads(host: str) -> Path:
    return Path(__file__).parents[1] / "payloads" / host


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

    return scratch.beside_python("a hook that checkpoints, whole process", compacts, 7, runs)


def checkpoint_command(folder: Path, runs: int) -> Row:
    scratch = Scratch(folder, "command")

    def checkpoint() -> None:
        scratch.run(COMMAND, "checkpoint")

    return scratch.beside_python("gitguard checkpoint, whole process", checkpoint, 10, runs)


def bundling(folder: Path, runs: int) -> Row:
    """What a turn's worth of captured work adds to a checkpoint, in milliseconds, over 5."""
    plain, full = Scratch(folder, "bare"), Scratch(folder, "bundled")
    numbers = itertools.count()

    def checkpoint(scratch: Scratch, entries: list[JournalEntry]) -> float:
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
    row = row_of("", "without", 1.0, [pair() for _ in range(runs)])
    return limited("bundling a turn of 30 calls, ms more", max(row.ours_ms - row.theirs_ms, 0), 5)


def worked(turn: int) -> list[JournalEntry]:
    """A turn as the journal has it: tools, files, a failure, a plan, a decision."""
    now = "2026-01-31T09:30:00Z"
    calls = [
        JournalEntry(
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
        JournalEntry(journal.PROMPT, now, "S1", summary=f"yes, turn {turn}", settles="x" * 120),
        JournalEntry(journal.FAILED, now, "S1", tool="Bash", summary="make", error="Exit code 2"),
        JournalEntry(journal.ENDED, now, "S1", tool="TaskList", plan=plan, whole_plan=True),
        JournalEntry(journal.TURN_ENDED, now, "S1", summary="an answer " * 60),
    ]


def durable_checkpoint(folder: Path, runs: int) -> Row:
    """Objects, anchor, ref and anchor, all synced, against add and commit of the same files."""
    scratch, plain = Scratch(folder, "durable"), Scratch(folder, "plain")
    store = scratch.store()
    head = store.own_head()
    pairs = []
    for number in range(runs + 1):
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
    return row_of("durable checkpoint, in process", "git add && git commit", 0.85, pairs[1:])


def compose_checkpoint(
    state: TaskState, head: Head, sequence: int
) -> tuple[CheckpointRecord, Mapping[str, bytes]]:
    nothing = JournalPart("", (), (), 0)
    return compose(
        state, nothing, sequence, "manual", "bench", head.code, Circumstances(), _NOW, Redactor()
    )


def large_and_small(folder: Path) -> tuple[Path, Path]:
    """Write a transcript of 100 MB and one of 1 MB."""
    large = write_transcript(folder / "large.jsonl", 100 << 20)
    return large, write_transcript(folder / "small.jsonl", 1 << 20)


def transcript_usage(folder: Path, runs: int) -> Row:
    large, small = large_and_small(folder)
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
        "from gitguard.model.events import Transcript; "
        "from gitguard.transcripts import find_format; "
        "find_format('claude-code').newest_reading(Transcript(sys.argv[1], 'claude-code'))"
    )
    large, small = map(str, large_and_small(folder))
    pairs = [(peak_megabytes(program, large), peak_megabytes(program, small)) for _ in range(3)]
    return row_of("peak memory of the same, MB", "a 1 MB one", 1.2, pairs, unit=1)


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
    return read_of("verified read of the newest checkpoint", scratch.store(), runs)


def verified_read_from_a_pack(folder: Path, runs: int) -> Row:
    """The same after a `git gc`, when both need git."""
    store = long_history(Scratch(folder, "packed"), 100, differing=True)
    return read_of("the same from a pack", store, runs)


def read_of(what: str, store: SessionStore, runs: int) -> Row:
    mine, yours = bench_verify.verified_read(store), bench_verify.unverified_read(store)
    return compare(what, mine, "unverified, one git", yours, 1.5, runs)


def verify_history(folder: Path, runs: int) -> Row:
    """Checkpoints a second of a packed history, each with a state of its own."""
    scratch = Scratch(folder, "history")
    store = long_history(scratch, 10_000, differing=True)
    scratch.git("repack", "-a", "-d", "-q")
    return verified("verify 10,000 checkpoints, a second", store)


def verify_history_without_change(folder: Path, runs: int) -> Row:
    """The same where all checkpoints have the same files."""
    store = long_history(Scratch(folder, "unchanged"), 10_000)
    return verified("the same files in all of them", store)


def verified(what: str, store: SessionStore) -> Row:
    """Checkpoints a second, best of three; the ratio is below one where they are enough."""
    rate, wanted = bench_verify.checkpoints_a_second(store, 3), bench_verify.FAST_ENOUGH
    return Row(what, rate, "wanted", wanted, wanted / rate, 1.0)


def search_history(folder: Path, runs: int) -> Row:
    """Search 10,000 checkpoints, each of which says something new in five fields."""
    scratch = Scratch(folder, "searched")
    head = scratch.store().own_head()
    state = full_state()
    record, contents = compose_checkpoint(state, head, head.own_anchor.sequence)
    bench_search.long_work(scratch, state, record, contents, 10_000)
    took = median(lambda: scratch.guard.review.search(("parser", "token")), runs)
    return limited("search of 10,000 checkpoints, ms", took * 1e3, bench_search.FAST_ENOUGH_MS)


def list_history(folder: Path, runs: int) -> Row:
    """The newest five of 10,000 checkpoints, as `log -5` lists them."""
    scratch = Scratch(folder, "listed")
    long_history(scratch, 10_000)
    took = median(lambda: scratch.guard.history.log(5), runs)
    return limited("log -5 of 10,000 checkpoints, ms", took * 1e3, bench_search.FAST_ENOUGH_MS)


def report_of_long_work(folder: Path, runs: int) -> Row:
    """The Markdown report on 30 code commits and 1,000 checkpoints."""
    scratch = Scratch(folder, "reported")
    history = planted.history(3, 30, 1_000)
    written = planted.write(history, scratch.guard, lambda *a: scratch.git(*a).decode().strip())
    took = median(lambda: scratch.guard.review.report(written.range), runs)
    return limited("report of 1,000 checkpoints, ms", took * 1e3, 2_000)


def list_foreign_sessions(folder: Path, runs: int) -> Row:
    """`session list` with 5,000 session branches of which this machine wrote none."""
    scratch = Scratch(folder, "foreign")
    head = scratch.git("rev-parse", "HEAD").decode().strip()
    names = (f"refs/heads/gitguard/foreign-{n}" for n in range(5_000))
    created = "".join(f"create {name} {head}\n" for name in names)
    scratch.git("update-ref", "--stdin", stdin=created.encode())
    took = median(lambda: scratch.run(COMMAND, "session", "list"), 3)
    return limited("list of 5,000 foreign sessions, ms", took * 1e3, 2_000)


def verify_many_sessions(folder: Path, runs: int) -> Row:
    """`verify --all` of 300 sessions with three checkpoints each."""
    scratch = Scratch(folder, "many")
    for number in range(300):
        scratch.guard.sessions.use(Session.of(f"session-{number}"))
        scratch.guard.note({"goal": f"goal {number}"})
        scratch.guard.checkpoint("Measure.")
    took = median(lambda: scratch.run(COMMAND, "verify", "--all"), 3)
    return limited("verify of 300 sessions, ms", took * 1e3, 3_000)


def resume_size(folder: Path, runs: int) -> Row:
    """Tokens of a full block over the limit of 700."""
    state = full_state(60)
    origin = Header("main", "cp_100")
    block = build_resume(state, work_of((), state, 0), origin, max_tokens=700)
    return limited("resume block, tokens", tokens_of(block), 700)


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
    search_history,
    list_history,
    report_of_long_work,
    list_foreign_sessions,
    verify_many_sessions,
    resume_size,
)


def main() -> None:
    """Print the table, or JSON; the exit code says whether every target holds."""
    options = table_parser(__doc__, runs=21).parse_args()
    # Hooks start from compiled files wherever gitguard is installed; so they do here.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(gitguard.__file__).parent), quiet=1)
    measured = _measured(options.only, max(options.runs, LEAST_RUNS))
    report(measured, as_json=options.json)


def _measured(part: str, runs: int) -> Iterator[Row]:
    for measure in ROWS:
        if part in measure.__name__:
            with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
                yield measure(Path(folder), runs)
    if part in "calm_hooks_of_hosts":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from calm_hooks_of_hosts(Path(folder), runs)
    if part in "snapshots_of_files":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from bench_files.rows(Path(folder))
    if part in "disk_of_snapshots":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from bench_disk.rows(Path(folder))
    if part in "worst_inputs":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from bench_worst_inputs.rows(Path(folder), runs)
    if part in "hops":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from bench_hops.rows(Path(folder))
    if part in "what_an_agent_waits_for":
        with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
            yield from what_an_agent_waits_for(Path(folder), runs)


def what_an_agent_waits_for(folder: Path, runs: int) -> tuple[Row, ...]:
    """Hooks in the real Claude Code; a note and no row where that cannot be installed."""
    try:
        return bench_waiting.rows(folder, max(runs // 2, LEAST_TURNS))
    except NotInstallable as reason:
        print(f"what an agent waits for: not measured, {reason}", file=sys.stderr)
        return ()


if __name__ == "__main__":
    main()
