"""What a compaction says of itself: repairs, turns that are too few, and turns left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitguard.compaction.compacting import compact
from gitguard.errors import InvalidInput
from gitguard.model.config.config import DEFAULTS, Config
from gitguard.transcripts.fitting.limits import TurnLimit
from tests.conftest import Clock
from tests.support import spoken
from tests.support.compacting_user import User, conversation, user
from tests.support.spoken import turns
from tests.support.transcript_command import run
from tests.support.unwritable import read_only
from tests.support.written_compactions import Write, standing, tools, write

__all__ = ["user", "write"]


def damage(path: Path) -> bytes:
    """Add a line that does not parse; return what is in the file then."""
    path.write_bytes(path.read_bytes() + b"{torn\n")
    return path.read_bytes()


# The repair before


def test_an_error_after_the_repair_tells_of_it(write: Write, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "t.jsonl"
    transcript = write(path, turns(2))
    before = damage(path)
    with pytest.raises(InvalidInput) as refused:
        compact(transcript, DEFAULTS, tools(clock))
    [backup] = tmp_path.glob("*.bak-*")
    assert "nothing to summarize" in refused.value.message
    assert f"was repaired before (broken 1), and the original is `{backup}`" in str(refused.value)
    assert backup.read_bytes() == before
    with pytest.raises(InvalidInput) as refused:
        compact(transcript, DEFAULTS, tools(clock))
    assert "repaired" not in refused.value.message


def test_a_rehearsal_is_of_the_conversation_as_repaired(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "t.jsonl"
    transcript = write(path, turns(8))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:9], b"{torn\n", *lines[10:]]))  # and all before is cut off
    before = path.read_bytes()
    planned = compact(transcript, DEFAULTS, tools(clock), dry_run=True)
    assert path.read_bytes() == before
    done = compact(transcript, DEFAULTS, tools(clock))
    assert planned.repaired == done.repaired != {}
    assert planned.messages_before == done.messages_before > 40
    assert planned.summary == done.summary
    assert done.backup
    assert not planned.backup


def test_a_rehearsal_needs_no_right_to_write(write: Write, tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "talks" / "t.jsonl"
    path.parent.mkdir()
    transcript = write(path, turns(8))
    damage(path)
    with read_only(path.parent):
        done = compact(transcript, DEFAULTS, tools(clock), dry_run=True)
    assert done.repaired == {"broken": 1}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_rehearsal_tells_what_would_be_repaired(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "t.jsonl"
    transcript = write(path, turns(8))
    damage(path)
    words = ("compact", path, "--format", transcript.format)
    said = run(*words, "--dry-run", cwd=tmp_path)
    assert "To repair first: broken 1; the figures below count the repaired conversation" in said
    assert "Repaired first" not in said
    said = run(*words, cwd=tmp_path)
    assert "Repaired first: broken 1; the original is `" in said


def test_a_rehearsal_that_is_refused_tells_of_the_repair_to_come(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "t.jsonl"
    transcript = write(path, turns(2))
    before = damage(path)
    with pytest.raises(InvalidInput, match=r"would be repaired before \(broken 1\)") as refused:
        compact(transcript, DEFAULTS, tools(clock), dry_run=True)
    assert f"`{path}`" in refused.value.message
    assert path.read_bytes() == before


# Too few turns


@pytest.mark.parametrize(
    ("count", "keep", "said"),
    [
        (2, 3, "holds 2 turns, and the last 3 stay word for word"),
        (1, 3, "holds 1 turn, and the last 3 stay word for word"),
        (1, 1, "holds 1 turn, and the last one stays word for word"),
        (0, 3, "holds 0 turns, and the last 3 stay word for word"),
    ],
)
def test_too_few_turns_are_counted_and_fewer_advised_only_where_that_helps(
    count: int, keep: int, said: str, write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(count))
    with pytest.raises(InvalidInput) as refused:
        compact(transcript, DEFAULTS, tools(clock), keep_turns=keep)
    assert refused.value.message.endswith(said)
    assert bool(refused.value.hint) == (count > 1)
    if count > 1:
        assert compact(transcript, DEFAULTS, tools(clock), keep_turns=count - 1).added


def test_at_least_one_turn_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    before = Path(spoken.pi(path, turns(8)).path).read_bytes()
    assert "--keep-turns" in run("compact", path, "--keep-turns", "0", cwd=tmp_path, code=2)
    assert path.read_bytes() == before


# What a history limit leaves out

KEY = "agent:main:telegram:dm:7"


def limited(most: int) -> Config:
    limits = {"telegram.dms.7": most}
    return DEFAULTS.replace(budget=DEFAULTS.budget.replace(history_limits=limits))


@pytest.mark.parametrize(
    ("most", "said"),
    [(6, "4 turns were left out by the history limit of 6 turns"), (9, "1 turn was left out by")],
)
def test_turns_beyond_a_limit_are_counted_in_the_outcome_and_the_summary(
    most: int, said: str, write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    done = compact(transcript, limited(most), tools(clock, session_key=KEY))
    assert (done.left_out, done.limit) == (10 - most, TurnLimit(most, "telegram.dms.7"))
    [line] = [line for line in done.summary.splitlines() if "left out" in line]
    assert said in line
    assert line.endswith("(telegram.dms.7).")
    assert standing(transcript).summary == done.summary


def test_turns_that_were_left_out_before_are_counted_on(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    limits, said = ((8, 7), (5, 4), (0, 2)), []
    for most, keep in limits:
        given = tools(clock, session_key=KEY if most else "")
        done = compact(transcript, limited(most), given, keep_turns=keep)
        said += [line for line in done.summary.splitlines() if "left out" in line]
    by = "turns were left out by the history limit"
    assert said == [
        f"Older than that, 2 {by} of 8 turns (telegram.dms.7).",
        f"Older than that, 4 {by}, now of 5 turns (telegram.dms.7).",
        f"Older than that, 4 {by}, now of 5 turns (telegram.dms.7).",
    ]


@pytest.mark.parametrize("most", [10, 0])
def test_a_limit_that_leaves_nothing_out_is_not_told_of(
    most: int, write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    done = compact(transcript, limited(most), tools(clock, session_key=KEY))
    assert done.left_out == 0
    assert "left out" not in done.summary


def test_turns_beyond_a_limit_explain_why_too_few_are_left(
    write: Write, tmp_path: Path, clock: Clock
) -> None:
    transcript = write(tmp_path / "t.jsonl", turns(10))
    with pytest.raises(InvalidInput, match="2 turns within its history limit, 8 beyond it"):
        compact(transcript, limited(2), tools(clock, session_key=KEY))


def test_the_command_tells_what_a_limit_leaves_out(user: User, tmp_path: Path) -> None:
    user.run("ensure", "--session", KEY)
    user.config.write_text("budget:\n  history_limits:\n    telegram.dms.7: 5\n")
    path = conversation(tmp_path, user.root, turns(10)).path
    said = user.run("transcript", "compact", path, "--dry-run", "--session", KEY).stdout
    assert "Left out: 5 older turns, dropped by the history limit" in said
    assert "of 5 turns (telegram.dms.7); the file keeps them" in said
    done = user.json("transcript", "compact", path, "--session", KEY)
    assert done["left_out"] == 5
    assert done["limit"] == {"turns": 5, "source": "telegram.dms.7"}
