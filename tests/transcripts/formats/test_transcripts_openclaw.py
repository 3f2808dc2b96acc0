"""Transcripts of both generations of OpenClaw, as the program itself wrote them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import InvalidDocument
from gitguard.model.conversation import BROKEN
from gitguard.model.events import Reading, Transcript
from gitguard.model.transcript import Compactions
from gitguard.transcripts import find_format
from gitguard.transcripts.formats.openclaw import database as openclaw_database
from tests.support.appended_lines import added
from tests.support.openclaw_sessions import (
    LAY_OUT,
    MAIN,
    OTHER,
    change,
    folder,
    lay_out_database,
    lay_out_files,
)

__all__ = ["folder"]

OPENCLAW = find_format("openclaw")


everywhere = pytest.mark.parametrize("version", LAY_OUT)


def the(folder: Path, session: str) -> Transcript:
    return Transcript(str(folder), "openclaw", session)


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(message.role, message.text[:30]) for message in OPENCLAW.messages(transcript)]


def read(transcript: Transcript) -> Reading:
    reading = OPENCLAW.newest_reading(transcript)
    assert reading is not None
    return reading


@everywhere
def test_the_newest_usage_and_the_window_of_a_recorded_conversation(
    folder: Path, version: str
) -> None:
    reading = read(the(folder, LAY_OUT[version](folder)[MAIN]))
    assert (reading.tokens, reading.window, reading.model) == (9_050, 40_000, "fake/fake-1")
    assert reading.source == "transcript"
    assert not reading.after_compaction


@everywhere
def test_what_was_said_in_a_recorded_conversation(folder: Path, version: str) -> None:
    transcript = the(folder, LAY_OUT[version](folder)[MAIN])
    assert said(transcript) == [
        ("user", "Write hello.py that greets the"),
        ("agent", "I will write it."),
        ("agent", "hello.py is written and runs. "),
        ("user", "Use the metric system."),
        ("agent", "Understood: metric units every"),
        ("user", "List the numbers up to 900."),
        ("agent", "Listing."),
        ("agent", "Here they are. Here they are. "),
        ("user", "And now?"),
        ("agent", "We go on after the compaction."),
    ]
    times = [message.at for message in OPENCLAW.messages(transcript)]
    assert times == sorted(times)
    assert times[0] > 1_795_310_000


@everywhere
def test_a_recorded_compaction_is_counted_and_counting_goes_on(folder: Path, version: str) -> None:
    transcript = the(folder, LAY_OUT[version](folder)[MAIN])
    found = OPENCLAW.compactions(transcript)
    assert (found.count, found.anew) == (1, True)
    before, after = (m.at for m in list(OPENCLAW.messages(transcript))[-3:-1])
    assert before < found.newest_at < after
    again = OPENCLAW.compactions(transcript, found.upto)
    assert again == Compactions(0, 0, found.upto, anew=False)
    assert added(found, again) == found
    assert OPENCLAW.compactions(transcript, found.upto + 1) == found


@everywhere
def test_what_was_before_a_reset_is_no_part_of_the_conversation(folder: Path, version: str) -> None:
    transcript = the(folder, LAY_OUT[version](folder)[OTHER])
    assert said(transcript) == [("user", "A fresh start here."), ("agent", "Fresh.")]
    assert read(transcript).tokens == 5_050
    assert OPENCLAW.compactions(transcript).count == 0


@everywhere
def test_one_sessions_rows_say_nothing_of_another(folder: Path, version: str) -> None:
    ids = LAY_OUT[version](folder)
    words = {text for session in ids.values() for _, text in said(the(folder, session))}
    assert len(words) == 12


@everywhere
@pytest.mark.parametrize(
    "session", ["", "nobody", "../main", "\ud800", "a/b", "\0", "..", "ä" * 9, "x" * 999]
)
def test_a_session_in_which_nothing_was_said_yet_tells_nothing(
    folder: Path, version: str, session: str
) -> None:
    LAY_OUT[version](folder)
    transcript = the(folder, session)
    assert OPENCLAW.newest_reading(transcript) is None
    assert said(transcript) == []
    assert OPENCLAW.compactions(transcript) == Compactions()


def test_a_missing_folder_is_said(folder: Path) -> None:
    for ask in (OPENCLAW.newest_reading, said, OPENCLAW.compactions):
        with pytest.raises(InvalidDocument, match=r"cannot read the transcript `.*main`: there is"):
            ask(the(folder, "a"))


def test_the_newer_generation_is_read_where_both_are(folder: Path) -> None:
    old = lay_out_files(folder)
    new = lay_out_database(folder)
    assert read(the(folder, new[MAIN])).tokens == 9_050
    assert read(the(folder, old[MAIN])).tokens == 9_050, "a session that was not taken over"


# Lines


def replace_lines(folder: Path, session: str, change: Callable[[list[str]], list[str]]) -> Path:
    path = folder / "sessions" / f"{session}.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line}\n" for line in change(lines)))
    return path


def test_usage_before_the_last_compaction_is_no_reading(folder: Path) -> None:
    session = lay_out_files(folder)[MAIN]
    replace_lines(folder, session, lambda lines: lines[:-2])
    assert OPENCLAW.newest_reading(the(folder, session)) is None


def test_a_reset_line_starts_the_conversation_anew(folder: Path) -> None:
    session = lay_out_files(folder)[MAIN]
    transcript = the(folder, session)
    before = OPENCLAW.compactions(transcript)
    reset = '{"type": "reset", "id": "5388d6cf", "timestamp": "2026-11-22T02:00:00Z"}'
    path = replace_lines(folder, session, lambda lines: [*lines, reset])
    assert OPENCLAW.newest_reading(transcript) is None
    assert said(transcript) == []
    after = OPENCLAW.compactions(transcript, before.upto)
    assert after == Compactions(0, 0, path.stat().st_size)
    assert added(before, after) == OPENCLAW.compactions(transcript)
    replace_lines(folder, session, lambda lines: [*lines, *lines[-3:-1]])
    assert said(transcript) == [("user", "And now?"), ("agent", "We go on after the compaction.")]


@pytest.mark.parametrize("rest", ["", '{"type": "compaction", "usage', "\0", "[" * 99_999, "[[["])
def test_a_torn_end_leaves_what_is_before_it(folder: Path, rest: str) -> None:
    session = lay_out_files(folder)[MAIN]
    transcript = the(folder, session)
    before = OPENCLAW.compactions(transcript)
    with (folder / "sessions" / f"{session}.jsonl").open("a") as file:
        file.write(rest)
    assert read(transcript).tokens == 9_050
    assert len(said(transcript)) == 10
    assert OPENCLAW.compactions(transcript) == before


FOREIGN = ["null", "[]", '{"type": "message"}', '{"type": "message", "message": "usage"}']
FOREIGN += ['{"type": ["compaction"]}', '{"type": "message", "message": {"role": ["user"]}}']
FOREIGN += ['{"type": "custom", "data": {"usage": {"input": 5}, "x": "reset"}, "y": "compaction"}']


def test_foreign_lines_are_skipped(folder: Path) -> None:
    session = lay_out_files(folder)[MAIN]
    transcript = the(folder, session)
    before = OPENCLAW.compactions(transcript)
    replace_lines(folder, session, lambda lines: [*lines, *FOREIGN])
    assert read(transcript).tokens == 9_050
    assert len(said(transcript)) == 10
    assert OPENCLAW.compactions(transcript).count == before.count


def line(message: dict[str, Any]) -> str:
    return json.dumps({"type": "message", "timestamp": "2026-11-22T03:00:00Z", "message": message})


def test_the_stamp_and_what_plugins_put_before_it_are_not_the_users_words(folder: Path) -> None:
    session = lay_out_files(folder)[OTHER]
    texts = ["[Sat 2026-11-21 20:15 UTC] one", "NOTE\n\n[Sat 2026-11-21 20:15 GMT+1] two\n\nthree"]
    texts += ["[Saturday] four", "five [Sat 2026-11-21 20:15 UTC] six"]
    lines = [line({"role": "user", "content": [{"type": "text", "text": t}]}) for t in texts]
    replace_lines(folder, session, lambda _: lines)
    words = [text for _, text in said(the(folder, session))]
    assert words == ["one", "two\n\nthree", "[Saturday] four", "five [Sat 2026-11-21 20:15 UTC"]


HOSTS_OWN: list[dict[str, Any]] = [
    {"role": "user", "content": "A new session was started via /new or /reset. Run your Session"},
    {"role": "user", "content": "[Sat 2026-11-21 20:15 UTC] Pre-compaction memory flush. Store"},
    {"role": "user", "content": "Read HEARTBEAT.md if it exists (workspace context). Follow it"},
    {"role": "user", "content": "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nActive exec sessions"},
    {"role": "user", "content": "done", "provenance": {"kind": "inter_session"}},
    {"role": "custom", "content": "shown", "customType": "openclaw.nested-tool.v1"},
    {"role": "toolResult", "content": [{"type": "text", "text": "output"}]},
    {"role": "assistant", "content": [{"type": "toolCall", "name": "exec"}]},
    {
        "role": "assistant",
        "provider": "openclaw",
        "model": "delivery-mirror",
        "content": [{"type": "text", "text": "the same again"}],
        "usage": {"input": 7, "output": 0},
    },
]


@pytest.mark.parametrize("message", HOSTS_OWN)
def test_what_the_host_wrote_is_no_message_and_no_usage(
    folder: Path, message: dict[str, Any]
) -> None:
    session = lay_out_files(folder)[OTHER]
    replace_lines(folder, session, lambda lines: [*lines, line(message)])
    assert len(said(the(folder, session))) == 2
    assert read(the(folder, session)).tokens == 5_050


def test_a_user_from_outside_is_one(folder: Path) -> None:
    session = lay_out_files(folder)[OTHER]
    message = {"role": "user", "content": "hi", "provenance": {"kind": "external_user"}}
    replace_lines(folder, session, lambda _: [line(message)])
    assert said(the(folder, session)) == [("user", "hi")]


@pytest.mark.parametrize("index", [None, "", "{", "[]", '{"a": []}', "folder"])
def test_a_broken_index_only_hides_the_window(folder: Path, index: str | None) -> None:
    session = lay_out_files(folder)[MAIN]
    path = folder / "sessions" / "sessions.json"
    path.unlink()
    if index == "folder":
        path.mkdir()
    elif index is not None:
        path.write_text(index)
    assert (read(the(folder, session)).tokens, read(the(folder, session)).window) == (9_050, None)


@pytest.mark.parametrize("window", ["40000", None, -1, True, 1e9, 10**12])
def test_a_window_that_cannot_be_one_is_none(folder: Path, window: object) -> None:
    session = lay_out_files(folder)[MAIN]
    path = folder / "sessions" / "sessions.json"
    index = json.loads(path.read_text())
    index[MAIN]["contextTokens"] = window
    path.write_text(json.dumps(index))
    assert read(the(folder, session)).window is None


def test_a_file_that_only_the_index_names_is_found(folder: Path) -> None:
    session = lay_out_files(folder)[MAIN]
    sessions = folder / "sessions"
    (sessions / f"{session}.jsonl").rename(sessions / f"{session}-topic-7.jsonl")
    index = json.loads((sessions / "sessions.json").read_text())
    index[MAIN]["sessionFile"] = f"/home/user/sessions/{session}-topic-7.jsonl"
    (sessions / "sessions.json").write_text(json.dumps(index))
    assert len(said(the(folder, session))) == 10


# Rows


def test_what_a_compaction_left_is_a_reading(folder: Path) -> None:
    session = lay_out_database(folder)[MAIN]
    change(folder, "DELETE FROM transcript_events WHERE seq > 31")
    reading = read(the(folder, session))
    assert reading.after_compaction
    assert reading.window == 40_000
    assert 0 < (reading.tokens or 0) < 40_000
    assert reading.at == pytest.approx(OPENCLAW.compactions(the(folder, session)).newest_at, abs=1)


def test_compressed_rows_are_read(folder: Path) -> None:
    session = lay_out_database(folder)[OTHER]
    change(folder, "DELETE FROM transcript_events WHERE seq >= 10")
    told = list(OPENCLAW.messages(the(folder, session)))
    assert [len(message.text) > 500 for message in told] == [False, False, True, True]
    assert told[2].text.startswith("Please read this list: alpha")
    assert told[3].text.startswith("A long answer.")
    compressed = change(folder, "SELECT seq FROM transcript_events WHERE event_json IS NULL")
    assert {(7,), (8,)} <= set(compressed)
    assert read(the(folder, session)).at == told[3].at


def test_of_very_many_rows_the_first_and_the_last_are_read_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = the(folder, lay_out_database(folder)[MAIN])
    everything = said(transcript)
    assert len(everything) > 2
    monkeypatch.setattr(openclaw_database, "_FIRST", 6)
    assert said(transcript) == everything
    monkeypatch.setattr(openclaw_database, "_LAST", 3)
    some = said(transcript)
    assert 0 < len(some) < len(everything)
    assert some[0] == everything[0]
    assert some == [one for one in everything if one in some]


def test_a_broken_compressed_row_is_skipped(folder: Path) -> None:
    session = lay_out_database(folder)[OTHER]
    breaking = "UPDATE transcript_events SET event_zstd = {} WHERE seq = {} AND event_zstd NOTNULL"
    change(
        folder,
        "DELETE FROM transcript_events WHERE seq >= 10",
        breaking.format("substr(event_zstd, 1, 100)", 7),
        breaking.format("x'00ff'", 8),
    )
    assert len(said(the(folder, session))) == 2
    assert OPENCLAW.newest_reading(the(folder, session)) is not None


@pytest.mark.parametrize(
    ("change_to", "problem"),
    [
        ("event_json = NULL, event_zstd = x'00ff'", "does not decompress"),
        ("event_json = NULL, event_zstd = 42", "holds no text"),
        ("event_json = NULL, event_zstd = NULL", "holds no text"),
        ("event_json = x'00ff', event_zstd = NULL", "Expecting value"),
        ("event_json = 42, event_zstd = NULL", "holds no text"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(folder: Path, change_to: str, problem: str) -> None:
    transcript = the(folder, lay_out_database(folder)[MAIN])
    whole = len(list(OPENCLAW.entries(transcript)))
    loosen(folder, "transcript_events")
    change(folder, f"UPDATE transcript_events SET {change_to} WHERE seq = 3")
    found = list(OPENCLAW.entries(transcript))
    assert len(found) == whole
    [broken] = [entry for entry in found if entry.kind == BROKEN]
    assert broken.at == 3
    assert problem in broken.problem
    assert said(transcript)
    assert read(transcript).tokens == 9_050


def test_what_cannot_be_decompressed_for_want_of_a_library_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = the(folder, lay_out_database(folder)[OTHER])
    monkeypatch.setattr(openclaw_database, "zstd_module", lambda: None)
    problems = [entry.problem for entry in OPENCLAW.entries(transcript) if entry.kind == BROKEN]
    assert problems
    assert all("backports.zstd" in problem for problem in problems)


@pytest.mark.parametrize(
    ("table", "change_to"),
    [
        ("transcript_events", "seq = 'abc'"),
        ("transcript_events", "seq = 9223372036854775807"),
        ("transcript_event_identities", "created_at = NULL"),
    ],
)
def test_a_table_without_numbers_where_they_belong_is_said(
    folder: Path, table: str, change_to: str
) -> None:
    transcript = the(folder, lay_out_database(folder)[MAIN])
    loosen(folder, table)
    change(folder, f"UPDATE {table} SET {change_to}")
    with pytest.raises(InvalidDocument, match="cannot read the transcript"):
        OPENCLAW.compactions(transcript)


def loosen(folder: Path, table: str) -> None:
    """Make a table one whose columns take anything, and that has no other rules."""
    columns = ", ".join(row[1] for row in change(folder, f"PRAGMA table_info({table})"))
    change(
        folder,
        "PRAGMA foreign_keys = OFF",
        f"CREATE TABLE loose ({columns})",
        f"INSERT INTO loose SELECT {columns} FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE loose RENAME TO {table}",
    )


def test_a_reset_between_two_counts_voids_the_first(folder: Path) -> None:
    session = lay_out_database(folder)[OTHER]
    transcript = the(folder, session)
    found = OPENCLAW.compactions(transcript, 5)
    assert (found.count, found.anew, found.upto) == (0, True, 15)
    assert OPENCLAW.compactions(transcript, 11).anew is False


def test_rows_that_were_taken_away_are_counted_again(folder: Path) -> None:
    transcript = the(folder, lay_out_database(folder)[MAIN])
    before = OPENCLAW.compactions(transcript)
    change(folder, "DELETE FROM transcript_events WHERE seq > 31")
    after = OPENCLAW.compactions(transcript, before.upto)
    assert (after.count, after.anew, after.upto) == (1, True, 32)


@pytest.fixture
def living(folder: Path) -> Iterator[tuple[sqlite3.Connection, Transcript]]:
    """The database as it is while the host runs: open, with a log of changes."""
    session = lay_out_database(folder)[MAIN]
    database = sqlite3.connect(folder / "agent" / "openclaw-agent.sqlite")
    database.execute("PRAGMA journal_mode = wal")
    database.execute("CREATE TABLE anything (x)")
    yield database, the(folder, session)
    database.close()


def test_the_host_may_write_while_we_read(
    living: tuple[sqlite3.Connection, Transcript],
) -> None:
    database, transcript = living
    messages = OPENCLAW.messages(transcript)
    next(messages)
    database.execute("DELETE FROM transcript_events WHERE seq > 31")
    database.commit()
    assert len(list(messages)) == 9, "what is being read stays as it was"
    assert read(transcript).after_compaction, "what was written is seen from the log"


def test_a_host_in_the_middle_of_writing_does_not_stop_us(
    living: tuple[sqlite3.Connection, Transcript],
) -> None:
    database, transcript = living
    database.execute("BEGIN EXCLUSIVE")
    database.execute("DELETE FROM transcript_events")
    assert read(transcript).tokens == 9_050
    assert len(said(transcript)) == 10


def test_reading_a_closed_database_leaves_nothing_behind(folder: Path) -> None:
    session = lay_out_database(folder)[MAIN]
    change(folder, "PRAGMA journal_mode = wal")
    place = folder / "agent"
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    assert list(before) == ["openclaw-agent.sqlite"]
    read(the(folder, session))
    said(the(folder, session))
    OPENCLAW.compactions(the(folder, session))
    next(OPENCLAW.messages(the(folder, session)))
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize("broken", ["cut", "text", "empty", "folder", "other"])
def test_a_database_that_does_not_read_is_said_or_passed_over(folder: Path, broken: str) -> None:
    ids = lay_out_files(folder)
    lay_out_database(folder)
    place = folder / "agent" / "openclaw-agent.sqlite"
    whole = place.read_bytes()
    place.unlink()
    if broken == "folder":
        place.mkdir()
    elif broken == "other":
        sqlite3.connect(place).execute("CREATE TABLE memory (x)").connection.close()
    else:
        content = {"cut": whole[: len(whole) // 3], "text": b"no database " * 99, "empty": b""}
        place.write_bytes(content[broken])
    if broken in ("cut", "text"):
        with pytest.raises(InvalidDocument, match=r"cannot read the transcript `.*sqlite`: .+"):
            list(OPENCLAW.messages(the(folder, ids[MAIN])))
    else:
        assert len(said(the(folder, ids[MAIN]))) == 10


def test_paths_with_odd_characters_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a?b#c%20d é" / "main"
    session = lay_out_database(odd)[MAIN]
    assert read(the(odd, session)).tokens == 9_050
    monkeypatch.chdir(odd.parent)
    assert read(Transcript("main", "openclaw", session)).tokens == 9_050
