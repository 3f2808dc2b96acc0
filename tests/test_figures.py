"""The figures that the documents name are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gitguard.delegation import brief, policy_file
from gitguard.hooks import gate, halting, shell_commands
from gitguard.hosts.claude_code import hooks as claude_code
from gitguard.model.config.config import (
    DEFAULT_WINDOW,
    DEFAULTS,
    SMALL_WINDOW,
    SMALLEST_WINDOW,
    loosening,
)
from gitguard.model.shell import programs
from gitguard.pressure import gauge, runway
from gitguard.sessions import maintenance, signed_head
from gitguard.state import capture, prompts, spoken, thread
from gitguard.state.checkpoint import (
    TOOLS,
    CheckpointRecord,
    Code,
    LaneMark,
    WrittenFile,
    format_message,
    lane_message,
    purged_message,
)
from gitguard.store.git import plumbing
from gitguard.store.git.worktree_files import ReadLimits
from gitguard.store.session import at_work, conversations, session_worktree, shell_edits
from gitguard.store.worktree import file_store
from gitguard.transcripts import jsonl
from tests.benches.bench_waiting import FOR_A_CALL, FOR_A_TURN
from tests.faults import sequences
from tests.simulation.run import LENGTH, SHORT
from tests.support.ordinary_day import MOST_CHARACTERS, MOST_LINES, TURNS
from tests.support.pages import PAGES, ROOT, on_every

LIMITS, BOUNDS = ReadLimits(), capture.BOUNDS
FILES, HANDOFF, MAINTENANCE = DEFAULTS.files, DEFAULTS.handoff, DEFAULTS.maintenance
MOST = {name: bound.items for name, bound in BOUNDS.items()}
KIB, MIB = 1 << 10, 1 << 20
RARELY = {5: "fifth"}
SENTENCES = {
    "references/design/contract.md": (
        f"{DEFAULT_WINDOW:,}. A cap only lowers it",
        f"raised only if {round(gauge._ABOVE_KNOWN * 100) - 100} % more than it holds",
        f"until pressure reaches {gate.OVERRIDE_ROOM} above what it was when the halt began",
        f"at least {halting.LEAST_ROOM:,} tokens remain",
        f"read {claude_code._STATUS_LINE_LAG:.0f} seconds before it came",
        "can still run " + halting._ALLOWED_TEXT,
        f"below `warning`, {DEFAULTS.thresholds.warning}",
        f"from `compress`, {DEFAULTS.thresholds.compress:.2f}",
        f"from `critical`, {DEFAULTS.thresholds.critical}",
    ),
    "references/design/policy.md": (
        f"Every {RARELY[gate.ASSESS_EVERY]} tool call of a conversation",
        f"another {DEFAULTS.gauge.checkpoint_step:.0%} of the window".replace("%", " %"),
        f"files above {policy_file.LARGEST // KIB} KiB",
        f"at most {brief.LONGEST:,} characters",
        f"so that {brief._LEAST_ROOM:,} remain",
    ),
    "references/design/capture.md": (
        f"at most {thread.STEPS[0]:,} characters of a message",
        "to {:,}, {:,}, {} and {} characters".format(*thread.STEPS[1:]),
        f"{sum(thread.ROOM.values()) // KIB} KiB in all",
        f"more than {thread.FULL} characters",
        f"Of prompts the newest {thread.NEWEST_PROMPTS // KIB} KiB",
        f"fewer than {prompts.SHORT_REPLY} words after an answer of more than "
        f"{prompts.LONG_ANSWER}",
        f"at most {prompts.MOST_WORDS} words",
        f"more than {prompts.FEW_WORDS} words are a request",
        f"{MOST['tools_used']} tools, {MOST['files_read']} files read, {MOST['artifacts']} "
        "artifacts",
        f"{MOST['failed_attempts']} failures, {MOST['commands']} commands and {MOST['plan']} plan",
        f"an index of {LIMITS.index // MIB} MiB",
        f"{LIMITS.new:,} untracked files, {LIMITS.files:,} files, {LIMITS.file // MIB} MiB of one "
        f"file and {LIMITS.bytes // MIB} MiB in all",
        f"Of one command at most {shell_edits._MOST_FILES} files are kept",
        f"after {DEFAULTS.gauge.ask_notes_after} or more tool calls without a note",
        f"At {DEFAULTS.gauge.warn_hand_over * 100:.0f} % and "
        f"{DEFAULTS.gauge.warn_compact * 100:.0f} % of the window",
        f"{jsonl._FIRST // KIB} KiB and {jsonl._LAST // MIB} MiB of a file",
        f"in at most {jsonl.COUNTED_AT_ONCE // MIB} MiB at once",
        f"after {capture._IDLE_AFTER // 60} minutes without events",
    ),
    "references/design/formats.md": (
        f"larger than {session_worktree._LIMIT // MIB} MiB is ignored",
        f"for {conversations._DEAD_AFTER // 86_400} days",
    ),
    "references/design/faults.md": (
        f"A sequence has {LENGTH} steps",
        f"The tests run {2 * SHORT} steps, `make model` 10,000",
        f"{sequences.MANY:,} sequences of edits",
        f"The tests run {sequences.FEW}.",
    ),
    "references/reference/config.md": (
        f"window below {SMALLEST_WINDOW:,} tokens is an error, and one below {SMALL_WINDOW:,}",
    ),
    "references/guides/first-day.md": (
        f"from {DEFAULTS.gauge.warn_hand_over * 100:.0f} % | the agent is told to delegate",
        f"from {DEFAULTS.gauge.warn_compact * 100:.0f} % | gitguard saves a checkpoint",
        f"from {DEFAULTS.thresholds.critical * 100:.0f} % | gitguard saves a checkpoint and "
        "refuses",
        f"or until {gate.OVERRIDE_ROOM * 100:.0f} % more of the context is used",
    ),
    "references/guides/openclaw.md": (
        f"from `gauge.show_from`, {DEFAULTS.gauge.show_from * 100:.0f} % on",
        f"midway between `gauge.checkpoint_at` and `thresholds.critical`: at "
        f"{(DEFAULTS.gauge.checkpoint_at + DEFAULTS.thresholds.critical) * 50} %",
    ),
    "references/guides/policy.md": (
        f"From the {('first', 'second', 'third')[runway.MANY_COMPACTIONS - 1]} compaction on",
        f"more than {runway.MOST_SUMMARIES * 100:.0f} % of the window",
        f"after a fall of {DEFAULTS.gauge.checkpoint_step * 100:.0f} % below its level",
        f"at most {brief.LONGEST:,} characters",
    ),
    "references/guides/files.md": (
        f"files above {FILES.file_megabytes} MB, and what goes beyond {FILES.day_megabytes} MB "
        f"a day or {FILES.seconds} seconds",
        f"The newest {FILES.most} of {FILES.days} days are kept",
        f"more than {session_worktree._MOST_UNIGNORED:,} untracked files without a `.gitignore`",
        f"at the latest after {file_store.MANY} snapshots",
    ),
    "references/design/file-snapshots.md": (
        f"| a file | {FILES.file_megabytes} MB |",
        f"in 24 hours | {FILES.day_megabytes} MB |",
        f"| time | {FILES.seconds} s,",
        f"| snapshots | {FILES.most}, {FILES.days} days |",
        f"without a `.gitignore` | {session_worktree._MOST_UNIGNORED:,} |",
    ),
    "references/guides/sessions.md": (
        f"for more than {MAINTENANCE.idle_days} days | `maintenance.idle_days`",
        f"more than {MAINTENANCE.most_sessions}, and it is",
        f"exceed {MAINTENANCE.largest_megabytes} MB",
        f"for at most {maintenance._AT_A_TURNS_END * 1000:.0f} ms",
    ),
    "references/guides/handoff.md": (
        f"checked out {HANDOFF.recent_minutes} minutes ago",
        f"names {HANDOFF.shown_files} files",
        f"younger than {HANDOFF.max_age_minutes} minutes",
        f"at most {HANDOFF.section_characters} characters a section and "
        f"{HANDOFF.total_characters:,} in all",
    ),
    "references/guides/security.md": (
        f"up to {thread.AT_LENGTH:,} characters of the newest and {thread.SHORT} of the oldest",
        f"| {spoken.SHORT_WORDS} characters |",
        f"more than {shell_commands._LONGEST:,} characters that may name gitguard",
    ),
    "references/guides/hosts.md": (f"A command longer than {programs.LONGEST:,} characters",),
    "references/guides/two-machines.md": (
        f"at most {signed_head.MOST_SIGNED} signatures",
        f"A hook waits at most {plumbing.KEY_TIME_LIMIT} seconds",
    ),
    "references/design/sessions.md": (
        f"an event within {at_work._PATIENCE / 60:.0f} minutes | perhaps",
    ),
    "references/guides/without-hooks.md": (f"until it rises by {gate.OVERRIDE_ROOM}",),
    "README.md": (
        f"day of {TURNS} turns",
        f"at most {MOST_CHARACTERS:,} characters",
        f"you at most {MOST_LINES} lines",
    ),
}
"""What each page says, with the figures of the code in it."""


def plain(page: Path) -> str:
    return " ".join(page.read_text().split())


@pytest.mark.parametrize("name", SENTENCES)
def test_a_page_names_the_figures_of_the_code(name: str) -> None:
    text = plain(ROOT / name)
    assert [sentence for sentence in SENTENCES[name] if sentence not in text] == []


@on_every(PAGES)
def test_a_share_beside_its_setting_is_the_default(page: Path) -> None:
    text = plain(page)
    behind = re.findall(r"(\d+) % (?:of the window )?\(`(gauge|thresholds)\.(\w+)`\)", text)
    before = re.findall(r"(?:from|above|reaches) `(gauge|thresholds)\.(\w+)`, (\d+) %", text)
    for share, section, name in (*behind, *((share, *names) for *names, share in before)):
        default = getattr(getattr(DEFAULTS, section), name)
        assert int(share) == round(default * 100), f"{section}.{name} is {default}"


def test_the_table_of_trailers_has_each_one_that_a_checkpoint_can_have() -> None:
    record = CheckpointRecord(
        *("main", 1, "start", "start", "START", "why"),
        code=Code("1" * 40, "main"),
        forked_from="2" * 40,
        files="3" * 40,
        written=(WrittenFile(path="a.py", new="4" * 40, author=TOOLS, turns=("2",)),),
        seen={"5" * 16: "6" * 40},
    )
    written = format_message(record)
    copied = lane_message(written, LaneMark("7" * 16, 1, "8" * 40, "laptop"))
    message = f"{purged_message(written, ('aws',))}\n{copied}"
    page = (ROOT / "references/design/formats.md").read_text()
    rows = re.findall(r"^\| (`Gitguard-.*?) \|", page, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(Gitguard-[\w-]+)`", row)}
    assert named == set(re.findall(r"^(Gitguard-[\w-]+): ", message, re.MULTILINE))


@on_every(PAGES)
def test_a_folder_of_tests_beside_a_target_is_what_the_target_runs(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target, folder in re.findall(r"`make ([a-z]+)` [^.]*?\(`(tests/\w+)`\)", plain(page)):
        recipe = makefile.partition(f"\n{target}: ")[2].partition("\n\n")[0]
        assert folder.replace("/", ".") in recipe, f"`make {target}` does not run {folder}"


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("SECURITY.md", "- **Against the agent itself**"),
        ("references/design/contract.md", "commands that no tool call may run"),
        ("references/guides/security.md", "## What an agent may do"),
    ],
)
def test_each_command_that_only_a_person_may_run_is_named(name: str, section: str) -> None:
    text = plain(ROOT / name).partition(section)[2][:700]
    for command in shell_commands.OWNER_COMMANDS | {"repair", "restore", "gate --compacted"}:
        assert shell_commands.owner_command(f"gitguard {command} a b")
        assert f"`{command}`" in text, command
    assert f"`session maintain {shell_commands.DELETE}`" in text


def test_status_warns_of_each_setting_that_the_table_denies_a_repository_and_of_no_other() -> None:
    page = (ROOT / "references/reference/config.md").read_text()
    rows = re.findall(r"^\| `([\w.]+)` \| .*? \| (yes|no) \|", page, re.MULTILINE)
    assert {allowed for _, allowed in rows} == {"yes", "no"}
    for name, allowed in rows:
        section, _, key = name.partition(".")
        warned = loosening({section: {key: 1}} if key else {section: 1})
        assert bool(warned) == (allowed == "no"), name


def test_the_table_of_speed_has_the_targets_of_the_benches() -> None:
    text = plain(ROOT / "references/design/architecture.md")
    bench, hops = ((ROOT / f"tests/benches/bench{name}.py").read_text() for name in ("", "_hops"))
    whole = re.findall(r'beside_python\("(.*?), whole process", \w+, ([\d.]+), runs\)', bench)
    assert len(whole) == 4
    for what, target in whole:
        row = re.search(
            rf"\| `?{what.partition(' of a plugin')[0]}`?, whole process.*? \| ([\d.]+) \|", text
        )
        assert row, what
        assert row[1] == target, what
    durable = re.search(r'row_of\("durable checkpoint, in process", ".*?", ([\d.]+),', bench)
    assert durable
    assert f"| `git add && git commit`, which syncs nothing | {durable[1]} |" in text
    for what, target in (("tool call", FOR_A_CALL), ("turn", FOR_A_TURN)):
        assert f"an agent waits for a {what} | `python -c pass` | {target:.0f} |" in text
    counts = re.findall(r"\((\d+), (\d+)\), (?:hook|functions_of|restore)", hops)
    assert counts
    for files, functions in counts:
        assert re.search(rf"\| {files}(?: and| files and)? {functions} \|", text), (
            files,
            functions,
        )
