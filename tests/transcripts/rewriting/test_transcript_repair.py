"""A transcript's file is repaired whole or not at all; whatever is sound stays byte for byte."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, Locked, NotWritable
from gitguard.model.events import Transcript
from gitguard.transcripts.formats.claude_code import writing
from gitguard.transcripts.formats.pi import writing as pi_writing
from gitguard.transcripts.rewriting.applying import rewrite
from gitguard.transcripts.rewriting.details import host_lines, strip_details
from gitguard.transcripts.rewriting.edits import Add, Cut, Drop
from gitguard.transcripts.rewriting.repair import MADE, PUT_FIRST, RepairReport, repair
from gitguard.transcripts.rewriting.replacing import identity_of
from tests.support.other_programs import opened
from tests.support.transcript_command import run
from tests.support.unwritable import fill, read_only, small_disk
from tests.support.written_conversations import (
    WRITERS,
    Document,
    Part,
    Result,
    agent,
    blocks_of,
    branch,
    claude_code,
    pi,
    read,
    refusals,
    user,
    write,
)

NOW = 1_795_000_000.0
STEPS = (
    "transcript-begun",
    "transcript-written",
    "transcript-kept",
    "transcript-replaced",
    "transcript-settled",
)
SOUND = (user(), agent("", "c1"), Result("c1"), agent("end"))


def repaired(path: Path, name: str = "pi", **wishes: Any) -> RepairReport:
    return repair(Transcript(str(path), name), lambda: NOW, **wishes)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "2026-11-21T20-21-11-794Z_01a1-ffc5.jsonl"


@pytest.fixture
def torn(path: Path) -> Path:
    """A file with a torn line in its middle, and a call without a result."""
    lines: list[Document | bytes] = [*pi([user(), agent("", "c1"), user("next"), agent("end")])]
    lines.insert(3, b'{"type":"message","id":"torn","mess')
    return write(path, lines)


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.bak-*"))


def leftovers(path: Path) -> list[str]:
    known = {path, *backups(path)}
    return sorted(entry.name for entry in path.parent.iterdir() if entry not in known)


# What parses, and what does not


def test_broken_lines_go_and_the_rest_stays_byte_for_byte(path: Path) -> None:
    lines = [
        b'{"type" : "session", "version":3,"id":"01a1", "cwd":"/r\\u00e9p\xc3\xb4"}',
        b'{"type":"custom","id":"a","parentId":null, "data":1.0e2}\r',
        b'{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"\\ud83d"}}',
        b'{"type":"mess',
        b"",
        b'{"type":"what","is":"this","id":"c","parentId":"b"}   ',
        b"\0\0\0\0\0\0",
        b"[]",
        b'{"type":"custom","data":NaN}',
        b'{"type":"label","id":"d","parentId":"c"}',
    ]
    original = b"\n".join(lines) + b"\n"
    path.write_bytes(original)
    report = repaired(path)
    assert report.counts == {"broken": 4}
    assert [broken.at for broken in report.broken] == [
        original.index(line + b"\n") for line in (lines[3], *lines[6:9])
    ]
    kept = [line for number, line in enumerate(lines) if number not in (3, 6, 7, 8)]
    assert path.read_bytes() == b"\n".join(kept) + b"\n"
    assert report.backup == f"{path}.bak-{os.getpid()}-{NOW:.0f}"
    assert Path(report.backup).read_bytes() == original
    assert leftovers(path) == []
    assert repaired(path).needs_nothing


def test_what_followed_a_lost_line_follows_the_one_before_it(path: Path) -> None:
    """A host walks back from the last entry; without this it would lose all before the gap."""
    documents = pi([user("one"), agent("two"), user("three"), agent("four"), user("five")])
    lines: list[Document | bytes] = [*documents]
    lines[3] = b'{"type":"message","id":"00000003","parent'
    write(path, lines)
    assert repaired(path).counts == {"broken": 1, "relinked": 1}
    said = [document["message"]["content"][0]["text"] for document in branch(read(path))]
    assert said == ["one", "two", "four", "five"]


def test_what_follows_an_entry_that_is_lost_without_a_trace_is_linked_too(path: Path) -> None:
    documents = pi([user("one"), agent("two"), user("three"), agent("four")])
    write(path, [*documents[:2], *documents[3:]])
    assert repaired(path).counts == {"relinked": 1}
    said = [document["message"]["content"][0]["text"] for document in branch(read(path))]
    assert said == ["one", "three", "four"]


def test_the_first_entry_may_follow_one_of_another_file(path: Path) -> None:
    documents = pi(SOUND)
    documents[1]["parentId"] = "elsewhere"
    write(path, documents)
    assert repaired(path).needs_nothing


def test_a_torn_last_line_goes(path: Path) -> None:
    write(path, pi(SOUND))
    before = path.read_bytes()
    path.write_bytes(before + before.splitlines()[-1][:40])
    assert repaired(path).counts == {"broken": 1}
    assert path.read_bytes() == before


def test_a_last_line_without_an_end_gets_one(path: Path) -> None:
    """The next line that the host appends would spoil both."""
    write(path, pi(SOUND))
    before = path.read_bytes()
    path.write_bytes(before[:-1])
    assert repaired(path).counts == {"ended": 1}
    assert path.read_bytes() == before


def test_a_byte_order_mark_is_taken_off(path: Path) -> None:
    write(path, pi(SOUND))
    before = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + before)
    assert repaired(path).counts == {"cleaned": 1}
    assert path.read_bytes() == before


def test_nuls_around_a_line_are_taken_off(path: Path) -> None:
    """A power cut leaves them where the system had made room for what was not written yet."""
    write(path, pi(SOUND))
    before = path.read_bytes()
    path.write_bytes(before.replace(b'{"id": "00000002"', b'\0\0\0{"id": "00000002"'))
    assert repaired(path).counts == {"cleaned": 1}
    assert path.read_bytes() == before


MARK = b"\xef\xbb\xbf"
AROUND = pytest.mark.parametrize("around", [MARK, b"\0\0\0", b"\0" + MARK, MARK + b" \0"])


@AROUND
def test_what_stands_before_a_line_is_taken_off_wherever_the_line_is(
    path: Path, around: bytes
) -> None:
    write(path, pi(SOUND))
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_bytes(b"".join([*lines[:number], around + lines[number], *lines[number + 1 :]]))
        assert repaired(path).counts == {"cleaned": 1}
        assert path.read_bytes().replace(b" ", b"") == b"".join(lines).replace(b" ", b"")


def test_nuls_between_a_line_and_its_windows_end_are_taken_off(path: Path) -> None:
    lines = [json.dumps(document).encode() + b"\r\n" for document in pi(SOUND)]
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"\r", b"\0\0\r"), *lines[3:]]))
    assert repaired(path).counts == {"cleaned": 1}
    assert path.read_bytes() == b"".join(lines)


@AROUND
def test_a_header_is_made_of_an_entry_that_is_cleaned(path: Path, around: bytes) -> None:
    _, first, *others = map(json.dumps, pi(SOUND))
    write(path, [around + first.encode(), *map(str.encode, others)])
    assert repaired(path).counts == {"cleaned": 1, "header": 1}
    assert read(path)[0]["type"] == "session"
    assert read(path)[1:] == pi(SOUND)[1:]


@AROUND
def test_a_header_that_is_cleaned_is_put_first(path: Path, around: bytes) -> None:
    header, first, *others = map(json.dumps, pi(SOUND))
    write(path, [first.encode(), around + header.encode(), *map(str.encode, others)])
    assert repaired(path).counts == {"cleaned": 1, "header": 1}
    assert read(path) == pi(SOUND)


@AROUND
@pytest.mark.parametrize("name", WRITERS)
def test_calls_and_results_that_are_cleaned_become_pairs(
    path: Path, name: str, around: bytes
) -> None:
    parts: list[Part] = [
        user(),
        agent("", "c1"),
        user(),
        agent("", "c2"),
        agent("x"),
        Result("c2"),
        user(),
    ]
    lines = [around + json.dumps(document).encode() for document in WRITERS[name](parts)]
    write(path, lines)
    assert repaired(path, name).counts == {"cleaned": len(lines), "answered": 1, "moved": 1}
    assert refusals(read(path)) == []


def test_windows_line_ends_stay(path: Path) -> None:
    documents = pi([user(), agent("", "c1"), user("next"), agent("end")])
    path.write_bytes(b"".join(json.dumps(d).encode() + b"\r\n" for d in documents))
    assert repaired(path).counts == {"answered": 1}
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == len(documents) + 1
    assert all(line.endswith(b"\r\n") for line in lines)
    assert refusals(read(path)) == []


def test_bytes_that_are_no_text_stay_and_are_told(path: Path) -> None:
    """Hosts read such lines, with a replacement character in them."""
    write(path, pi([user("REPLACE"), agent("", "c1"), user("next"), agent("REPLACE")]))
    path.write_bytes(path.read_bytes().replace(b"REPLACE", b"\xff\xc3\xed\xa0"))
    report = repaired(path)
    assert (report.counts, report.bad_text) == ({"answered": 1}, 2)
    assert path.read_bytes().count(b"\xff\xc3\xed\xa0") == 2
    documents = [json.loads(line) for line in path.read_text("utf-8", "replace").splitlines()]
    assert refusals(documents) == []


def test_bytes_that_are_no_text_survive_an_edit_of_their_line(path: Path) -> None:
    documents = pi([user(), agent("REPLACE", "c1"), Result("c1"), agent("end")])
    blocks_of(documents[2])[1]["name"] = " bash "
    write(path, documents)
    path.write_bytes(path.read_bytes().replace(b"REPLACE", b"\xff\xc3"))
    assert repaired(path).counts == {"renamed": 1}
    assert path.read_bytes().count(b'"text":"\xff\xc3"') == 1


def test_half_a_character_that_is_spelled_out_survives_an_edit_of_its_line(path: Path) -> None:
    documents = pi([user(), agent("half: \ud83d", "c1"), Result("c1"), agent("end")])
    blocks_of(documents[2])[1]["name"] = " bash "
    write(path, documents)
    assert repaired(path).counts == {"renamed": 1}
    assert b'"half: \\ud83d"' in path.read_bytes()


def test_a_very_deep_line_stays(path: Path) -> None:
    deep = b'{"type":"custom","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    lines: list[Document | bytes] = [*pi(SOUND)]
    write(path, [*lines[:3], deep, *lines[3:], b"{"])
    report = repaired(path)
    assert (report.counts, report.unjudged) == ({"broken": 1}, 0)
    assert deep in path.read_bytes()


def test_numbers_that_python_refuses_are_no_damage(path: Path) -> None:
    lines: list[Document | bytes] = [*pi(SOUND)]
    write(path, [*lines[:3], b'{"type":"custom","data":' + b"1" * 5_000 + b"}", *lines[3:]])
    assert repaired(path).needs_nothing


def test_a_line_of_50_megabytes_stays(path: Path) -> None:
    documents = pi(SOUND)
    documents[3]["message"]["content"][0]["text"] = "x" * 50_000_000
    write(path, [*documents, b"{"])
    size = path.stat().st_size
    assert repaired(path).counts == {"broken": 1}
    assert path.stat().st_size == size - 2


def test_a_file_in_which_nothing_parses_is_left_alone(path: Path) -> None:
    path.write_bytes(b"not a transcript\nat all\n")
    with pytest.raises(InvalidDocument, match="not one line"):
        repaired(path)
    assert path.read_bytes() == b"not a transcript\nat all\n"
    assert repaired(path, reset=True).was_reset


def test_an_empty_file_needs_nothing(path: Path) -> None:
    path.touch()
    report = repaired(path)
    assert report.needs_nothing
    assert not report.resettable


# Headers


def test_a_header_that_is_not_the_first_entry_is_put_there(path: Path) -> None:
    header, *rest = pi(SOUND)
    write(path, [rest[0], header, *rest[1:]])
    report = repaired(path)
    assert report.header == PUT_FIRST
    assert read(path) == [header, *rest]
    assert repaired(path).needs_nothing


def test_a_lost_header_is_made_of_what_is_known(path: Path) -> None:
    """Without one, the host would take the file for none of its own and empty it."""
    _, *rest = pi(SOUND)
    write(path, [b'{"type":"session","vers', *rest])
    report = repaired(path)
    assert report.header == MADE
    assert report.counts == {"broken": 1, "header": 1}
    header = {"type": "session", "version": 3, "id": "01a1-ffc5"}
    assert read(path) == [header | {"timestamp": "2026-11-21T20:21:11.885Z"}, *rest]


def test_claude_code_has_no_header_to_lose(path: Path) -> None:
    documents = claude_code(SOUND)
    write(path, [b'{"type":"queue-op', *documents])
    assert repaired(path, "claude-code").counts == {"broken": 1}
    assert read(path) == documents


# Beginning anew


@pytest.mark.parametrize("name", ["pi", "claude-code"])
def test_a_conversation_without_an_answer_is_reset_only_when_asked(path: Path, name: str) -> None:
    write(path, (pi if name == "pi" else claude_code)([user("hello")]))
    before = path.read_bytes()
    report = repaired(path, name)
    assert report.resettable
    assert report.needs_nothing
    assert path.read_bytes() == before
    report = repaired(path, name, reset=True)
    assert report.was_reset
    assert path.read_bytes() == b""
    assert Path(report.backup).read_bytes() == before


def test_a_conversation_with_an_answer_is_never_reset(path: Path) -> None:
    write(path, pi(SOUND))
    before = path.read_bytes()
    assert not repaired(path, reset=True).was_reset
    assert path.read_bytes() == before


# Crashes, and others at work


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_leaves_the_old_file_or_the_new_one(torn: Path, step: str) -> None:
    before = torn.read_bytes()
    expected = torn.parent / "expected.jsonl"
    expected.write_bytes(before)
    repaired(expected)
    after = expected.read_bytes()

    def die(reached: str) -> None:
        if reached == step:
            os._exit(9)

    child = os.fork()
    if child == 0:
        repaired(torn, at_step=die)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9, "the step was never reached"
    assert torn.read_bytes() in (before, after)
    assert before in [torn.read_bytes(), *(kept.read_bytes() for kept in backups(torn))]
    repaired(torn)
    assert torn.read_bytes() == after


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("step", STEPS[:3])
def test_an_error_at_any_step_leaves_the_old_file_and_nothing_else(
    torn: Path, step: str, code: int
) -> None:
    before = torn.read_bytes()

    def fail(reached: str) -> None:
        if reached == step:
            raise OSError(code, os.strerror(code))

    with pytest.raises((GitguardError, OSError)):
        repaired(torn, at_step=fail)
    assert torn.read_bytes() == before
    assert leftovers(torn) == []
    assert backups(torn) == []
    assert not repaired(torn).needs_nothing


def test_an_interrupt_right_behind_the_replacement_leaves_the_original(
    torn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, replace = torn.read_bytes(), os.replace

    def interrupted(source: str, target: str, **folders: Any) -> None:
        replace(source, target, **folders)
        if target == str(torn):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        repaired(torn)
    assert torn.read_bytes() != before
    assert [kept.read_bytes() for kept in backups(torn)] == [before]
    assert leftovers(torn) == []


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"type":"custom"}\n')


def _shorten(path: Path) -> None:
    os.truncate(path, 100)


def _replace(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(b"{}\n")
    other.replace(path)


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("meddle", [_append, _shorten, _replace, _remove])
@pytest.mark.parametrize("step", STEPS[:3])
def test_a_file_that_changes_meanwhile_is_left_as_it_became(
    torn: Path, step: str, meddle: Callable[[Path], None]
) -> None:
    became = []

    def change(reached: str) -> None:
        if reached == step:
            meddle(torn)
            became.append(torn.read_bytes() if torn.exists() else None)

    with pytest.raises(GitguardError) as caught:
        repaired(torn, at_step=change)
    assert isinstance(caught.value, (Locked, InvalidDocument))
    assert [torn.read_bytes() if torn.exists() else None] == became
    assert leftovers(torn) == []


def test_what_is_written_in_the_very_last_moment_is_carried_over(torn: Path) -> None:
    """A host that opened the old file right before it was replaced writes to that one."""
    before = torn.read_bytes()
    line = b'{"type":"custom"}\n'
    late = os.open(torn, os.O_WRONLY | os.O_APPEND)

    def write_late(reached: str) -> None:
        if reached == "transcript-replaced":
            os.write(late, line)
            _append(torn)

    report = repaired(torn, at_step=write_late)
    os.close(late)
    assert torn.read_bytes().endswith(line + line)
    assert torn.read_bytes().count(line) == 2, "one came to the old file, and one to the new one"
    assert Path(report.backup).read_bytes() == before + line
    assert repaired(torn).needs_nothing


def test_a_file_that_another_process_writes_to_is_left_alone(torn: Path) -> None:
    before = torn.read_bytes()
    with opened(torn) as writer, pytest.raises(Locked, match=str(writer)):
        repaired(torn)
    assert torn.read_bytes() == before
    assert repaired(torn).counts["broken"] == 1


def test_no_line_of_a_busy_host_is_lost(torn: Path) -> None:
    """Found by trial: a line that came while the original was put back again was lost."""
    program = (
        "import sys, time\n"
        "for number in range(400):\n"
        "    with open(sys.argv[1], 'ab') as file: file.write(b'{\"n\":%d}\\n' % number)\n"
        "    time.sleep(0 if number % 40 else 0.05)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(torn)]) as writer:
        while writer.poll() is None:
            with suppress(GitguardError):
                repaired(torn)
                with torn.open("ab") as file:
                    file.write(b"{\n")  # there is something to repair again
    assert "broken" not in repaired(torn).counts or backups(torn)
    there = b"".join(path.read_bytes() for path in (torn, *backups(torn)))
    assert all(b'{"n":%d}\n' % number in there for number in range(400))


# Places


def test_a_symbolic_link_is_refused_and_its_file_is_named(torn: Path) -> None:
    link = torn.with_name("link.jsonl")
    link.symlink_to(torn)
    before = torn.read_bytes()
    with pytest.raises(InvalidDocument, match="symbolic link") as caught:
        repaired(link)
    assert str(torn) in caught.value.hint
    assert (torn.read_bytes(), link.is_symlink()) == (before, True)


def test_a_folder_in_a_files_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="not a regular file"):
        repaired(tmp_path)


def test_a_read_only_folder_is_refused_and_can_be_looked_at(torn: Path) -> None:
    before = torn.read_bytes()
    with read_only(torn.parent):
        with pytest.raises(NotWritable, match="cannot write"):
            repaired(torn)
        assert repaired(torn, rehearse=True).counts["broken"] == 1
    assert torn.read_bytes() == before


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        path = disk / "conversation.jsonl"
        parts = [user(), agent("x" * 500_000, "c1"), user("next"), agent("end")]
        write(path, [*pi(parts), b"{"])
        before = path.read_bytes()
        for room in (450_000, 20_000, 4_000, 0):
            fill(disk / "filler", room)
            with pytest.raises(NotWritable, match="No space left"):
                repaired(path)
            assert path.read_bytes() == before
            (disk / "filler").unlink()
            assert leftovers(path) == []
        assert repaired(path).counts == {"broken": 1, "answered": 1}


def test_mode_stays_as_it_was(torn: Path) -> None:
    torn.chmod(0o640)
    repaired(torn)
    assert torn.stat().st_mode & 0o777 == 0o640


def test_without_hard_links_the_original_is_copied(
    torn: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: str, **folders: Any) -> None:
        if str(torn) in (source, target):
            raise OSError(errno.EPERM, "no hard links here")
        link(source, target, **folders)

    link = os.link
    monkeypatch.setattr(os, "link", refuse)
    before = torn.read_bytes()
    torn.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(torn, 1, 2)
    owner = torn.stat().st_uid, torn.stat().st_gid
    mask = os.umask(0o022)
    try:
        backup = Path(repaired(torn).backup)
    finally:
        os.umask(mask)
    assert backup.read_bytes() == before
    found = backup.stat()
    assert (found.st_uid, found.st_gid) == owner
    assert found.st_mode & 0o777 == 0o600, "what its owner alone may read stays so"
    assert leftovers(torn) == []


def test_a_format_that_is_read_only_says_so(torn: Path) -> None:
    with pytest.raises(InvalidInput, match="only reads"):
        repaired(torn, "opencode")


def test_a_rehearsal_changes_nothing(torn: Path) -> None:
    before = torn.read_bytes(), torn.stat().st_mtime_ns
    report = repaired(torn, rehearse=True)
    assert report.is_rehearsed
    assert report.counts == {"broken": 1, "answered": 1}
    assert (torn.read_bytes(), torn.stat().st_mtime_ns) == before
    assert leftovers(torn) == []
    assert repaired(torn).counts == report.counts


# Rewriting, as other parts use it


def _at(path: Path) -> list[int]:
    found, at = [], 0
    for line in path.read_bytes().splitlines(keepends=True):
        found.append(at)
        at += len(line)
    return found


def test_results_and_texts_can_be_cut(path: Path) -> None:
    for writable, made in ((pi_writing, pi), (writing, claude_code)):
        write(path, made([user("long"), agent("", "c1"), Result("c1", "long"), agent("end")]))
        first, _, result, _ = _at(path)[-4:]
        rewrite(str(path), [Cut(first, 0, "short"), Cut(result, 0, "cut")], writable, now=NOW)
        texts = [str(document.get("message")) for document in read(path)]
        assert sum("short" in text for text in texts) == 1
        assert sum("cut" in text for text in texts) == 1
        assert not any("long" in text for text in texts)
        assert refusals(read(path)) == []


@pytest.mark.parametrize("name", ["pi", "claude-code"])
def test_what_is_no_text_in_a_result_stays_when_it_is_cut(path: Path, name: str) -> None:
    documents = WRITERS[name]([user(), agent("", "c1"), Result("c1", "long"), agent("end")])
    holder = documents[-2]["message"]
    holder = holder if name == "pi" else holder["content"][0]
    others = [{"type": "resource", "uri": "file:///kept"}, {"type": "text"}, "odd"]
    long = {"type": "text", "text": "long"}
    holder["content"] = [others[0], long, *others[1:], long]
    write(path, documents)
    writable = pi_writing if name == "pi" else writing
    rewrite(str(path), [Cut(_at(path)[-2], 0, "cut")], writable, now=NOW)
    [*_, result, _] = read(path)
    holder = result["message"] if name == "pi" else result["message"]["content"][0]
    assert holder["content"] == [{"type": "text", "text": "cut"}, *others]


def test_whole_entries_can_go_and_lines_can_come(path: Path) -> None:
    write(path, pi(SOUND))
    at = _at(path)
    line = b'{"type":"custom","id":"new","parentId":"00000004"}'
    rewrite(str(path), [Drop(at[2]), Drop(at[3]), Add(at[4], line)], pi_writing, now=NOW)
    after = read(path)
    assert [d.get("parentId") for d in after] == [None, None, "00000001", "00000004"]
    assert path.read_bytes().splitlines()[-1] == line


def test_without_edits_a_file_is_not_touched(path: Path) -> None:
    write(path, pi(SOUND))
    before = path.stat()
    assert rewrite(str(path), [], pi_writing, now=NOW).backup == ""
    assert path.stat() == before


def test_edits_of_an_older_file_are_refused(path: Path) -> None:
    write(path, pi(SOUND))
    seen = identity_of(str(path))
    _append(path)
    before = path.read_bytes()
    with pytest.raises(Locked, match="changed"):
        rewrite(str(path), [Drop(_at(path)[1])], pi_writing, now=NOW, seen=seen)
    assert path.read_bytes() == before


def test_the_original_can_be_left_out(path: Path) -> None:
    write(path, pi(SOUND))
    rewrite(str(path), [Drop(_at(path)[-1])], pi_writing, now=NOW, keep=False)
    assert backups(path) == []


# Details of results


@pytest.mark.parametrize("name", ["pi", "claude-code"])
def test_details_stay_at_home(path: Path, name: str) -> None:
    documents = (pi if name == "pi" else claude_code)(SOUND)
    write(path, [*documents, b"{"])
    lines = list(host_lines(Transcript(str(path), name)))
    told = [json.loads(line) for line in lines]
    assert len(told) == len(documents)
    assert not any(word in line for line in lines for word in (b"details", b"toolUseResult"))
    again = [strip_details(document) for document in documents]
    assert told == again == [strip_details(document) for document in again]
    assert refusals(told) == []
    untouched = [line for line, document in zip(lines, documents, strict=True) if document in told]
    assert all(line in path.read_bytes() for line in untouched)


# The command


def test_the_command_shows_repairs_and_says_where_the_original_is(torn: Path) -> None:
    before = torn.read_bytes()
    shown = run("repair", torn, "--dry-run", cwd=torn.parent)
    assert "Lines that do not parse: 1, dropped" in shown
    assert "Calls without a result: 1, answered" in shown
    assert "--dry-run" in shown
    assert torn.read_bytes() == before
    told = json.loads(run("repair", torn, "--json", cwd=torn.parent))
    assert told["counts"] == {"broken": 1, "answered": 1}
    assert told["broken"][0]["at"] == before.index(b'{"type":"message","id":"torn"')
    assert told["findings"][0]["call"] == "c1"
    assert Path(told["backup"]).read_bytes() == before
    assert "needs no repair" in run("repair", torn, cwd=torn.parent)


def test_the_command_resets_only_when_asked(path: Path) -> None:
    write(path, pi([user("hello")]))
    assert "--reset" in run("repair", path, cwd=path.parent)
    assert path.stat().st_size
    assert "restarts as an empty file" in run("repair", path, "--reset", cwd=path.parent)
    assert not path.stat().st_size


def test_the_command_exports_a_hosts_own_lines_without_details(torn: Path) -> None:
    told = run("export", torn, "--as", "host", cwd=torn.parent)
    assert [json.loads(line) for line in told.splitlines()] == [
        json.loads(line) for line in torn.read_bytes().splitlines() if b"torn" not in line
    ]


def test_the_command_says_what_is_wrong_with_a_path(tmp_path: Path) -> None:
    assert "no-such.jsonl" in run("repair", tmp_path / "no-such.jsonl", cwd=tmp_path, code=24)
    torn = write(tmp_path / "x.jsonl", pi([user("hello")]))
    (tmp_path / "link.jsonl").symlink_to(torn)
    assert "symbolic link" in run("repair", tmp_path / "link.jsonl", cwd=tmp_path, code=24)


# Whatever is in a file


@given(
    cuts=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.2), st.binary(max_size=12)), max_size=5)
)
def test_no_damage_is_too_bad(cuts: list[tuple[float, float, bytes]]) -> None:
    """Parts of a file are replaced by any bytes: one repair is enough, or refuses with a reason."""
    for name, documents in (("pi", pi(SOUND)), ("claude-code", claude_code(SOUND))):
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder) / "conversation.jsonl", documents)
            data = path.read_bytes()
            for begin, length, put in cuts:
                at = int(begin * len(data))
                data = data[:at] + put + data[at + int(length * len(data)) :]
            path.write_bytes(data)
            try:
                report = repaired(path, name)
            except InvalidDocument:
                assert path.read_bytes() == data
                continue
            assert bool(report.backup) != report.needs_nothing
            assert not report.backup or Path(report.backup).read_bytes() == data
            after = path.read_bytes()
            assert repaired(path, name).needs_nothing
            assert path.read_bytes() == after


def test_the_hosts_own_lock_is_held_meanwhile(torn: Path) -> None:
    lock = torn.with_name(f"{torn.name}.lock")
    holders = []
    repaired(torn, at_step=lambda _: holders.append(json.loads(lock.read_text())["pid"]))
    assert holders == [os.getpid()] * len(STEPS)
    assert leftovers(torn) == []
