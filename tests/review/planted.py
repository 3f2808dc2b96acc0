"""A long piece of work with ten answers planted in it, and the questions that a reviewer asks.

The questions and the terms of their answers were fixed before the report was written. A text
answers a question if one of its blocks, read together with the headings above it, has every term.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gitguard.guard import Guard
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, dump_json, sha256
from gitguard.model.text import timestamp
from gitguard.model.transcript import AGENT, USER
from gitguard.state.checkpoint import (
    SHELL,
    SNAPSHOT_FILE,
    TOOLS,
    CheckpointRecord,
    Code,
    WrittenFile,
    checkpoint_name,
    format_message,
)
from gitguard.state.items import (
    CONSTRAINT,
    FAILED,
    HOOK,
    PASSED,
    REQUEST,
    Artifact,
    Command,
    Decision,
    Exchange,
    Failure,
    Item,
    Note,
    Origin,
    derived_id,
)
from gitguard.state.snapshot import (
    SnapshotMeta,
    TokenUsage,
    Work,
    previous_of,
    render_snapshot,
    snapshot_of,
)
from gitguard.state.task import TaskState
from gitguard.store.session.composing import render_summary

BEGIN = 1_772_438_400
"""2026-03-02T08:00:00Z, when the work begins."""
STEP = 420
"""Seconds from one checkpoint to the next."""


class Question(NamedTuple):
    """What a reviewer asks, and the terms that an answer has, in lower case."""

    text: str
    terms: tuple[str, ...]


QUESTIONS = (
    Question("Why is the index not kept in a database?", ("decision", "sqlite", "nfs")),
    Question("Which assumption was never checked?", ("assum", "etag")),
    Question("Which constraint was dropped?", ("removed", "no network access while tests run")),
    Question("What was tried before retries with jitter?", ("backoff", "429")),
    Question("Which file did the agent not change itself?", ("outside", "deploy/mirror.service")),
    Question("How full was the context when the agent was halted?", ("halt", "91%")),
    Question("What did the user forbid?", ("user", "public api of resolver.py")),
    Question("What still stops the work?", ("block", "certificate")),
    Question("Which check fails though the agent says done?", ("hook", "failed", "tests/integ")),
    Question("Was a secret taken out of the memory?", ("redact", "github")),
)


class CodeStep(NamedTuple):
    """A commit of the code: its subject, and the files that it adds lines to."""

    subject: str
    files: tuple[str, ...]


class Entry(NamedTuple):
    """An item of the state, from one checkpoint up to another; None for one that stays."""

    field: str
    item: Item
    appears: int
    vanishes: int | None = None
    is_planted: bool = False


class Moment(NamedTuple):
    """What a checkpoint's message says beside the state."""

    trigger: str
    pressure: float
    commits: int
    """How many code commits there were."""
    compactions: int


class History(NamedTuple):
    """A piece of work before it is written to a repository."""

    code: tuple[CodeStep, ...]
    entries: tuple[Entry, ...]
    moments: tuple[Moment, ...]


_PARTS = ("fetcher", "index", "queue", "planner", "writer", "cleaner", "mirror", "verifier")
_VERBS = ("Read", "Write", "Count", "Sort", "Batch", "Stream", "Log", "Check", "Split", "Merge")
_THINGS = ("archives", "manifests", "checksums", "retries", "headers", "time stamps", "packages")
_REASONS = (
    "the old order needed two passes",
    "it halves the memory of a full run",
    "the callers never used the other form",
    "the tests read better that way",
    "it keeps the writer without a lock",
)
_ERRORS = (
    "TypeError: expected bytes, got str",
    "3 tests fail in test_queue.py",
    "a full run takes 40 s longer",
    "the planner visits a node twice",
)
OUTSIDE = "deploy/mirror.service"
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
"""What the redactor takes for a token; it was never one."""


def history(seed: int, commits: int = 30, checkpoints: int = 120) -> History:
    """Return a piece of work; the same seed gives the same one."""
    chance = random.Random(seed)  # noqa: S311 - the same each time
    code = tuple(_code_step(chance, number, commits) for number in range(commits))
    moments = tuple(_moments(chance, commits, checkpoints))
    entries = [*_planted(checkpoints), *_routine(chance, checkpoints)]
    entries += _artifacts(code, moments)
    return History(code, tuple(entries), moments)


def _phrase(chance: random.Random) -> str:
    verb, thing = chance.choice(_VERBS), chance.choice(_THINGS)
    return f"{verb} {thing} in the {chance.choice(_PARTS)}"


def _code_step(chance: random.Random, number: int, commits: int) -> CodeStep:
    files = {f"mirror/{chance.choice(_PARTS)}.py" for _ in range(chance.randint(1, 3))}
    files.add(f"tests/test_{chance.choice(_PARTS)}.py")
    if number == commits // 2:
        files.add(OUTSIDE)
    return CodeStep(_phrase(chance), tuple(sorted(files)))


def _moments(chance: random.Random, commits: int, checkpoints: int) -> Iterator[Moment]:
    pressure, compactions = 0.12, 0
    halted = checkpoints * 2 // 3
    for number in range(checkpoints):
        done = number * commits // max(checkpoints - 1, 1)
        trigger = "turn-end" if number % 4 else "phase-change"
        pressure += chance.uniform(0.01, 0.04)
        if number == halted:
            trigger, pressure = "halt", 0.913
        elif pressure > 0.84:
            trigger = "compaction"
        yield Moment("start" if number == 0 else trigger, round(pressure, 3), done, compactions)
        if trigger in ("compaction", "halt"):
            pressure, compactions = 0.15, compactions + 1


def _origin(by: str, number: int) -> Origin:
    return Origin(by, timestamp(BEGIN + number * STEP), "conversation-1", number + 1)


def _planted(checkpoints: int) -> Iterator[Entry]:
    def planted(
        field: str, at: float, item: Callable[[str, Origin], Item], by: str = AGENT, end: float = 0
    ) -> Entry:
        number = int(checkpoints * at)
        made = item(derived_id("planted", field, str(at)), _origin(by, number))
        return Entry(field, made, number, int(checkpoints * end) if end else None, True)

    def note(text: str) -> Callable[[str, Origin], Item]:
        return lambda key, origin: Note(text, id=key, origin=origin)

    decision = ("d7", "Keep the index in flat JSON files", "SQLite locks fail on the NFS homes")
    failure = ("Retry with exponential backoff alone", "all 12 workers met again and got HTTP 429")
    forbidden = "Do not touch the public API of resolver.py, other teams import it"
    check = ("pytest tests/integration", FAILED, "2 failed, 61 passed in 48.20s")
    yield planted("decisions", 0.3, lambda i, o: Decision(*decision, id=i, origin=o))
    yield planted("pending_assumptions", 0.25, note("Every upstream sends an ETag for archives"))
    yield planted("constraints", 0.05, note("No network access while tests run"), end=0.6)
    yield planted("failed_attempts", 0.4, lambda i, o: Failure(*failure, id=i, origin=o))
    yield planted(
        "exchanges", 0.15, lambda i, o: Exchange(forbidden, CONSTRAINT, id=i, origin=o), USER
    )
    yield planted("blockers", 0.8, note("The certificate of the staging mirror has expired"))
    yield planted("commands", 0.97, lambda i, o: Command(*check, id=i, origin=o), HOOK)
    yield planted("learnings", 0.5, note(f"The staging mirror takes the token {TOKEN} for reads"))


def _routine(chance: random.Random, checkpoints: int) -> Iterator[Entry]:
    def entry(field: str, number: int, by: str, of: type[Item], *values: Any) -> Entry:
        at = chance.randrange(checkpoints)
        key = derived_id("routine", field, str(number))
        return Entry(field, of(*values, id=key, origin=_origin(by, at)), at)

    for n in range(14):
        words = (f"d{n + 10}", _phrase(chance), chance.choice(_REASONS))
        yield entry("decisions", n, AGENT, Decision, *words)
    for n in range(10):
        fixed = timestamp(BEGIN + checkpoints * STEP) if n % 2 else ""
        words = (_phrase(chance), chance.choice(_ERRORS), fixed)
        yield entry("failed_attempts", n, HOOK, Failure, *words)
    for field, count, lasting in (
        ("completed_steps", 28, 0),
        ("learnings", 14, 0),
        ("constraints", 7, 0),
        ("invariants", 4, 0),
        ("open_issues", 14, 12),
        ("pending_assumptions", 12, 20),
    ):
        for n in range(count):
            made = entry(field, n, AGENT, Note, _phrase(chance))
            # One open issue stays; every other one, and every assumption, is settled on the way.
            stays = not lasting or (field == "open_issues" and n == 0)
            yield made if stays else _vanishing(made, lasting, checkpoints)
    for n in range(8):
        yield entry("exchanges", n, USER, Exchange, f"{_phrase(chance)}, please", REQUEST)
    for n, part in enumerate(_PARTS[:6]):
        words = (f"pytest tests/test_{part}.py", PASSED, "")
        yield entry("commands", n, HOOK, Command, *words, 4)


def _vanishing(entry: Entry, lasting: int, checkpoints: int) -> Entry:
    appears = min(entry.appears, checkpoints - 2)
    return entry._replace(appears=appears, vanishes=min(appears + lasting, checkpoints - 1))


def _artifacts(code: Sequence[CodeStep], moments: Sequence[Moment]) -> Iterator[Entry]:
    """Yield what hooks saw of the files, except of the one that somebody else changed."""
    seen: set[str] = set()
    for number, step in enumerate(code):
        at = next((n for n, moment in enumerate(moments) if moment.commits == number), 0)
        for path in sorted({*step.files} - seen - {OUTSIDE}):
            seen.add(path)
            item = Artifact(
                path,
                by_shell=path == "tests/test_cleaner.py",
                writes=3,
                id=derived_id("artifact", path),
                origin=_origin(HOOK, at),
            )
            yield Entry("artifacts", item, at)


def states(planned: History, first: TaskState) -> Iterator[TaskState]:
    """Yield the state of each checkpoint; first is the one that the session began with."""
    last = len(planned.moments) - 1
    for number in range(last + 1):
        items: dict[str, list[Item]] = {}
        for entry in planned.entries:
            if entry.appears <= number and (entry.vanishes is None or number < entry.vanishes):
                items.setdefault(entry.field, []).append(entry.item)
        is_done = number == last
        yield first.replace(
            **{name: tuple(listed) for name, listed in items.items()},
            goal="Sync the package mirror in steps instead of as a whole",
            goal_from=_origin(USER, 0),
            status="complete" if is_done else "in_progress",
            current_phase=f"phase {number // 8 + 1}",
            next_action="DONE" if is_done else f"Step {number + 1}",
            next_from=_origin(AGENT, number),
            state_confidence=0.8,
            updated_at=timestamp(BEGIN + number * STEP),
        )


class Written(NamedTuple):
    """A piece of work in a repository."""

    base: str
    head: str
    guard: Guard

    @property
    def range(self) -> str:
        return f"{self.base}..{self.head}"


def write(planned: History, guard: Guard, git: Callable[..., str]) -> Written:
    """Write the code's commits to `main` and the checkpoints to the current session."""
    base = git("rev-parse", "HEAD")
    guard.ensure()
    commits = _write_code(planned.code, Path(guard.workspace.place.worktree))
    git("reset", "--quiet", "--hard")
    _write_checkpoints(planned, guard, (base, *commits), _written(planned, git, (base, *commits)))
    return Written(base, commits[-1] if commits else base, guard)


def _written(
    planned: History, git: Callable[..., str], commits: Sequence[str]
) -> dict[int, tuple[WrittenFile, ...]]:
    """Return what the agent wrote, by the moment at which a commit holds it."""
    written: dict[int, tuple[WrittenFile, ...]] = {}
    began = 0
    for number, moment in enumerate(planned.moments):
        before = planned.moments[number - 1].commits if number else 0
        if moment.commits == before:
            continue
        files = []
        for line in git(
            "diff",
            "--raw",
            "--no-abbrev",
            *commits[before : moment.commits + 1 : moment.commits - before],
        ).splitlines():
            facts, path = line.split("\t")
            old, new = facts.split()[2:4]
            turns = tuple(str(turn + 2) for turn in range(began, number + 1))
            author = SHELL if path == "tests/test_cleaner.py" else TOOLS
            old = old.strip("0") and old
            if path != OUTSIDE:
                files.append(WrittenFile(path=path, old=old, new=new, author=author, turns=turns))
        written[number] = tuple(files)
        began = number + 1
    return written


def _import(root: Path, stream: list[bytes]) -> None:
    command = ("git", "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet", "--force")
    subprocess.run(command, cwd=root, input=b"".join(stream), check=True)


def _write_code(code: Sequence[CodeStep], root: Path) -> tuple[str, ...]:
    ref = b"refs/heads/main"
    stream = [b"reset %s\nfrom %s^0\n\n" % (ref, ref)]
    contents: dict[str, str] = {}
    for number, step in enumerate(code):
        when = BEGIN + (number + 1) * STEP * 4
        subject = f"{step.subject}\n".encode()
        stream.append(
            b"commit %s\ncommitter Test Author <author@example.invalid> %d +0000\ndata %d\n%s"
            % (ref, when, len(subject), subject)
        )
        for path in step.files:
            contents[path] = contents.get(path, "") + f"# {step.subject}\nstep_{number} = 1\n"
            data = contents[path].encode()
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
        stream.append(b"\n")
    _import(root, stream)
    listed = subprocess.run(
        ("git", "rev-list", "--reverse", "-n", str(len(code)), "main"),
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return tuple(listed.stdout.split())


def _write_checkpoints(
    planned: History,
    guard: Guard,
    commits: Sequence[str],
    written: dict[int, tuple[WrittenFile, ...]],
) -> None:
    store = guard.store()
    head = store.own_head()
    assert head.anchor is not None
    begun, ref = head.anchor.sequence, store.chain.ref.encode()
    stream = [b"reset %s\nfrom %s\n\n" % (ref, head.id.encode())]
    data = b""
    following = zip(states(planned, guard.state()), planned.moments, strict=True)
    for number, (state, moment) in enumerate(following):
        when = BEGIN + number * STEP
        state = state.redacted(guard.workspace.redactor)[0]
        record = _record(state, moment, begun + number + 1, commits[moment.commits])
        record = record.replace(written=written.get(number, ()))
        message = format_message(record).encode()
        stream.append(
            b"commit %s\ncommitter gitguard <gitguard@localhost> %d +0000\ndata %d\n%s"
            % (ref, when, len(message), message)
        )
        data = dump_json(state.to_document())
        for name, text in {
            STATE_FILE: data,
            SUMMARY_FILE: render_summary(state).encode(),
            SNAPSHOT_FILE: _snapshot(state, record, moment, when),
        }.items():
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(text), text))
        stream.append(b"\n")
    _import(Path(guard.workspace.place.worktree), stream)
    store.chain.anchors.write(
        head.anchor.replace(
            committed=store.repository().refs(store.chain.ref)[store.chain.ref].id,
            sequence=begun + len(planned.moments),
            state_sha256=sha256(data),
        )
    )


def _record(state: TaskState, moment: Moment, sequence: int, commit: str) -> CheckpointRecord:
    return CheckpointRecord(
        state.session_id,
        sequence,
        moment.trigger,
        state.current_phase,
        state.next_action,
        "The turn ended.",
        moment.pressure,
        Code(commit, "main"),
    )


def _snapshot(state: TaskState, record: CheckpointRecord, moment: Moment, when: int) -> bytes:
    meta = SnapshotMeta(
        checkpoint_name(record.sequence),
        state.session_id,
        created_at=timestamp(when),
        trigger=moment.trigger,
        compaction_count=moment.compactions,
        token_usage=TokenUsage(int(moment.pressure * 200_000), 200_000, moment.pressure),
        previous_checkpoint=previous_of(record.sequence),
    )
    return render_snapshot(snapshot_of(state, Work(), meta))


def answered(blocks: Sequence[str]) -> list[Question]:
    """Return the questions that a text answers; each block has its headings in front."""
    low = [" ".join(block.lower().split()) for block in blocks]
    return [q for q in QUESTIONS if any(all(term in block for term in q.terms) for block in low)]
