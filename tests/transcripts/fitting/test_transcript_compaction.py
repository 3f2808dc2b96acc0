"""A compaction keeps the last turns word for word, and what is old as a summary."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.compaction.compacting import Compacted, compact
from gitguard.compaction.summary import TITLE
from gitguard.errors import InvalidInput, Locked
from gitguard.model.config.config import DEFAULTS
from gitguard.model.conversation import BROKEN, COMPACTION, TranscriptEntry
from gitguard.model.events import Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.rewriting.appending import append
from gitguard.transcripts.rewriting.replacing import identity_of
from tests.conftest import Clock
from tests.support import spoken
from tests.support.other_programs import opened
from tests.support.spoken import Said, turns
from tests.support.written_compactions import Write, standing, tools, write

__all__ = ["write"]


def said_in(entries: tuple[TranscriptEntry, ...]) -> list[str]:
    return [block.text or block.id for entry in entries for block in entry.blocks]


# What is in the file afterwards


def test_the_summary_and_the_last_turns_are_what_stands(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    before = Path(transcript.path).read_bytes()
    done = compact(transcript, DEFAULTS, tools(clock))
    after = Path(transcript.path).read_bytes()
    assert after.startswith(before)
    assert len(after) - len(before) == done.added
    found = standing(transcript)
    assert found.summary == done.summary
    assert found.compactions == 1
    texts = said_in(found.entries)
    assert [text for text in texts if text.startswith("request")] == [
        "request 7",
        "request 8",
        "request 9",
    ]
    assert "content 7" in texts
    assert "content 6" not in texts
    assert (done.messages_before, done.messages_after) == (60, 19)
    assert not list(tmp_path.glob("*.bak-*")), "a sound file is not repaired"


def test_what_lies_beyond_a_history_limit_is_neither_kept_nor_summarized(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    config = DEFAULTS.replace(
        budget=DEFAULTS.budget.replace(history_limits={"telegram.dms.7": 5, "telegram.dms": 2})
    )
    key = "agent:main:telegram:dm:7:topic:3"
    done = compact(transcript, config, tools(clock).replace(session_key=key))
    assert "request 6" in done.summary
    assert "request 4" not in done.summary
    assert done.messages_before == 30


def test_a_long_conversation_fills_four_fifths_of_its_summary(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    said: list[Said] = []
    for number in range(120):
        call = f"c{number}"
        said += [
            ("user", f"Request {number}: " + f"port module {number} to the new parser. " * 4),
            ("call", call, "edit", f"/repo/src/module_{number}.py"),
            ("failed" if number % 3 else "result", call, f"no room for {number} " * 9),
            ("agent", f"Module {number} took {number * 3} s, because its cache was cold. " * 3),
        ]
    done = compact(write(tmp_path / "t.jsonl", said), DEFAULTS, tools(clock))
    most = DEFAULTS.compaction.summary_characters
    assert 0.8 * most <= len(done.summary) <= most


def test_every_line_that_is_added_parses(write: Write, tmp_path: Path, clock: Clock) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(5))
    compact(transcript, DEFAULTS, tools(clock))
    found = list(find_format(transcript.format).entries(transcript))
    assert not [entry for entry in found if entry.kind == BROKEN]
    assert sum(entry.kind == COMPACTION for entry in found) == 1


def test_a_second_compaction_carries_the_first_on(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    first = compact(transcript, DEFAULTS, tools(clock), keep_turns=5)
    second = compact(transcript, DEFAULTS, tools(clock), keep_turns=2)
    assert second.messages_before == first.messages_after
    assert second.summary.count(TITLE) == 1
    assert "request 0" in second.summary, "what was summarized before is not lost"
    assert "request 7" in second.summary
    found = standing(transcript)
    assert found.summary == second.summary
    requests = [text for text in said_in(found.entries) if text.startswith("request")]
    assert requests == ["request 8", "request 9"]


def test_a_second_compaction_keeps_the_files_and_failures_of_the_first(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    first = compact(transcript, DEFAULTS, tools(clock, folder="/repo"), keep_turns=5)
    assert "- edit: src/edit_4.py: outcome 4" in first.summary
    second = compact(transcript, DEFAULTS, tools(clock, folder="/repo"), keep_turns=2)
    lines = second.summary.splitlines()
    for line in ("- edit: src/edit_4.py: outcome 4", "- src/edit_1.py (2 times)"):
        assert lines.count(line) == 1
    read = [line for line in lines if line.startswith("- src/read_")]
    assert read == [f"- src/read_{number}.py" for number in range(7)]


def test_summaries_do_not_grow_with_every_compaction(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(30, size=500))
    sizes = []
    for keep in range(28, 4, -4):
        done = compact(transcript, DEFAULTS, tools(clock), keep_turns=keep)
        sizes.append(len(done.summary))
    assert max(sizes) <= DEFAULTS.compaction.summary_characters


def test_a_file_without_a_last_line_end_gets_one(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    path = Path(transcript.path)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    compact(transcript, DEFAULTS, tools(clock))
    found = list(find_format(transcript.format).entries(transcript))
    assert not [entry for entry in found if entry.kind == BROKEN]
    assert standing(transcript).compactions == 1


def test_a_damaged_file_is_repaired_first(write: Write, tmp_path: Path, clock: Clock) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    path = Path(transcript.path)
    damaged = path.read_bytes() + b'{"torn": '
    path.write_bytes(damaged)
    done = compact(transcript, DEFAULTS, tools(clock))
    assert done.repaired["broken"] == 1
    assert Path(done.backup).read_bytes() == damaged
    assert standing(transcript).compactions == 1


def test_a_rehearsal_changes_nothing(write: Write, tmp_path: Path, clock: Clock) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    before = Path(transcript.path).read_bytes()
    done = compact(transcript, DEFAULTS, tools(clock), dry_run=True)
    assert (done.added, Path(transcript.path).read_bytes()) == (0, before)
    assert "request 0" in done.summary
    assert done.tokens_after > 0


def test_where_all_is_kept_there_is_nothing_to_do(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(3))
    before = Path(transcript.path).read_bytes()
    with pytest.raises(InvalidInput, match="nothing to summarize"):
        compact(transcript, DEFAULTS, tools(clock))
    assert Path(transcript.path).read_bytes() == before


def test_what_the_host_reads_as_its_own_figures_is_not_guessed(
    tmp_path: Path, clock: Clock
) -> None:
    transcript = spoken.claude_code(tmp_path / "t.jsonl", turns(6))
    compact(transcript, DEFAULTS, tools(clock))
    boundary, summary = (json.loads(x) for x in Path(transcript.path).read_text().splitlines()[-2:])
    metadata = boundary["compactMetadata"]
    assert (boundary["type"], boundary["subtype"]) == ("system", "compact_boundary")
    assert set(metadata) == {
        "trigger",
        "preTokens",
        "durationMs",
        "preservedSegment",
        "preservedMessages",
    }
    assert summary["isCompactSummary"]
    assert summary["isVisibleInTranscriptOnly"]
    assert summary["parentUuid"] == boundary["uuid"]
    assert metadata["preservedSegment"]["anchorUuid"] == summary["uuid"]
    assert find_format("claude-code").newest_reading(transcript) is None


def test_the_marker_stands_where_the_host_looks_for_it(tmp_path: Path, clock: Clock) -> None:
    transcript = spoken.claude_code(tmp_path / "t.jsonl", turns(6))
    compact(transcript, DEFAULTS, tools(clock))
    boundary = Path(transcript.path).read_bytes().splitlines()[-2]
    assert 0 <= boundary.find(b'"compact_boundary"') < 256


def test_pi_and_openclaw_are_told_the_files(tmp_path: Path, clock: Clock) -> None:
    transcript = spoken.pi(tmp_path / "t.jsonl", turns(9))
    compact(transcript, DEFAULTS, tools(clock, folder="/repo"))
    entry = json.loads(Path(transcript.path).read_text().splitlines()[-1])
    assert entry["type"] == "compaction"
    assert entry["details"] == {
        "readFiles": [f"src/read_{n}.py" for n in range(6)],
        "modifiedFiles": [f"src/edit_{n}.py" for n in range(4)],  # the only edit of 4 failed
    }
    assert entry["fromHook"] is True


@pytest.mark.parametrize("name", ["codex", "gemini", "opencode"])
def test_what_is_only_read_is_not_compacted(name: str, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("{}\n")
    with pytest.raises(InvalidInput, match="only reads"):
        compact(Transcript(str(path), name, "t"), DEFAULTS, tools(clock))


# Crashes and others who write


STEPS = ("transcript-opened", "transcript-ended", "transcript-joined", "transcript-parted")


class Cut(Exception):  # noqa: N818
    """The process ends here."""


@pytest.mark.parametrize("at", STEPS)
def test_a_crash_leaves_the_old_context_or_the_new_one(
    at: str, write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(8))
    before = Path(transcript.path).read_bytes()
    old = standing(transcript)

    def cut(step: str) -> None:
        if step == at:
            raise Cut

    try:
        compact(transcript, DEFAULTS, tools(clock, at_step=cut))
    except Cut:
        assert Path(transcript.path).read_bytes().startswith(before)
    found = standing(transcript)
    whole = found.compactions == 1 and found.summary.startswith(TITLE)
    assert whole or found == old
    with Path(transcript.path).open("ab") as host:
        host.write(b'{"type": "note"}\n')
    assert Path(transcript.path).read_bytes().splitlines()[-1] == b'{"type": "note"}'
    again = compact(transcript, DEFAULTS, tools(clock), keep_turns=2)
    assert standing(transcript).summary == again.summary


def test_however_much_of_the_end_is_lost_the_context_is_the_old_one(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(8))
    path, old = Path(transcript.path), standing(transcript)
    size = path.stat().st_size

    def cut(step: str) -> None:
        if step == "transcript-joined":
            raise Cut

    with pytest.raises(Cut):
        compact(transcript, DEFAULTS, tools(clock, at_step=cut))
    written = path.read_bytes()
    for end in range(size, len(written) - 1, 5):
        path.write_bytes(written[:end])
        assert standing(transcript) == old


@pytest.mark.parametrize("beyond", [-2, -1, 0, 1])
def test_what_makes_two_lines_of_one_lies_in_one_sector(beyond: int, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    first, second = b'{"a": 1}', b'{"b": 2}'
    path.write_bytes(b" " * (512 + beyond - len(first)) + b"\n")
    seen = path.read_bytes()
    joined: list[bytes] = []
    append(
        str(path),
        [first, second],
        identity_of(str(path)),
        at_step=lambda _: joined.append(path.read_bytes()),
    )
    after = path.read_bytes()
    assert [json.loads(line) for line in after[len(seen) :].splitlines()] == [{"a": 1}, {"b": 2}]
    [_, _, before, _] = joined
    changed = [at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]
    assert len(changed) == 2
    assert changed[0] // 512 == changed[1] // 512
    with pytest.raises(ValueError, match="delimiter"):
        json.JSONDecoder().raw_decode(before[len(seen) :].decode())


def test_a_full_disk_takes_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    transcript = spoken.pi(tmp_path / "t.jsonl", turns(8))
    before = Path(transcript.path).read_bytes()
    program = f"""
import resource, signal, sys, time
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from gitguard.errors import NotWritable
from gitguard.transcripts.rewriting.appending import append
from gitguard.transcripts.rewriting.replacing import identity_of
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path, size = sys.argv[1], {len(before)}
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, size + 100))
try:
    append(path, [b"x" * 1000], identity_of(path))
except NotWritable as error:
    print(error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, transcript.path],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert "cannot write" in done.stdout
    assert Path(transcript.path).read_bytes() == before


def test_a_transcript_that_is_being_written_is_left_alone(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    before = Path(transcript.path).read_bytes()
    with opened(transcript.path) as writer, pytest.raises(Locked, match=f"in process {writer}"):
        compact(transcript, DEFAULTS, tools(clock))
    assert Path(transcript.path).read_bytes() == before


class Around:
    """Hooks that do something before, and remember what they are told."""

    def __init__(self, do: Callable[[], object] = bool) -> None:
        self._do = do
        self.told: list[object] = []

    def before(self, found: object) -> None:
        self.told.append(found)
        self._do()

    def after(self, done: Compacted) -> None:
        self.told.append(done)

    def sections(self) -> tuple[()]:
        return ()


def test_hooks_are_called_before_and_after(write: Write, tmp_path: Path, clock: Clock) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    sizes: list[int] = []
    around = Around(lambda: sizes.append(os.path.getsize(transcript.path)))
    before = os.path.getsize(transcript.path)
    done = compact(transcript, DEFAULTS, tools(clock, hooks=(around,)))
    assert sizes == [before]
    assert around.told[1] == done


def test_where_nothing_that_stays_has_an_id_it_is_refused_before_anybody_is_told(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    # As in files of pi's first version.
    transcript = write(tmp_path / "t.jsonl", turns(6))
    lines = map(json.loads, Path(transcript.path).read_text().splitlines())
    ids = ("id", "parentId", "uuid", "parentUuid")
    bare = [
        {k: v for k, v in line.items() if k not in ids or line["type"] == "session"}
        for line in lines
    ]
    Path(transcript.path).write_text("".join(json.dumps(line) + "\n" for line in bare))
    before = Path(transcript.path).read_bytes()
    around = Around()
    for dry_run in (True, False):
        with pytest.raises(InvalidInput, match="no entry that would stay has an id"):
            compact(transcript, DEFAULTS, tools(clock, hooks=(around,)), dry_run=dry_run)
    assert not around.told
    assert Path(transcript.path).read_bytes() == before


def test_who_appends_meanwhile_is_not_overwritten(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    path = Path(transcript.path)
    before = path.read_bytes()

    def add() -> None:
        with path.open("ab") as file:
            file.write(b'{"type": "note"}\n')

    with pytest.raises(Locked, match="changed"):
        compact(transcript, DEFAULTS, tools(clock, hooks=(Around(add),)))
    assert path.read_bytes() == before + b'{"type": "note"}\n'


@pytest.mark.parametrize("at", [*STEPS[:3], "between the last look and the first byte"])
def test_who_appends_while_we_do_loses_nothing(
    at: str, write: Write, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    path, real, late = Path(transcript.path), os.write, b'{"type": "note"}\n'
    before, old = path.read_bytes(), standing(transcript)

    def add(step: str) -> None:
        if step == at:
            with path.open("ab") as file:
                file.write(late)

    def write_late(handle: int, data: bytes) -> int:
        if not bytes(data).strip():
            add("between the last look and the first byte")
        return real(handle, data)

    monkeypatch.setattr(os, "write", write_late)
    with pytest.raises(Locked, match="was written to"):
        compact(transcript, DEFAULTS, tools(clock, at_step=add))
    after = path.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].strip(b" \n") == late.strip()
    assert standing(transcript).entries[: len(old.entries)] == old.entries
    assert standing(transcript).compactions == 0


def test_who_holds_the_lock_for_too_long_writes_nothing(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    before = Path(transcript.path).read_bytes()
    held = Around(lambda: clock.advance(300 + 121))
    with pytest.raises(Locked, match="of at most"):
        compact(transcript, DEFAULTS, tools(clock, hooks=(held,)))
    assert Path(transcript.path).read_bytes() == before
    assert not list(tmp_path.glob("*lock*"))


def test_a_whole_summarizer_and_its_grace_are_in_time(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(6))
    held = Around(lambda: clock.advance(300 + 100))
    assert compact(transcript, DEFAULTS, tools(clock, hooks=(held,))).added
