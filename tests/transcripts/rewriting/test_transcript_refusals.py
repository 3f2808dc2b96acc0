"""What commands of transcripts refuse, and what they say to do instead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from gitguard.errors import InvalidDocument, InvalidInput, NotReadable
from gitguard.guard import Guard
from gitguard.model.events import Transcript
from gitguard.pressure.usage import find_conversation
from gitguard.store.session.current import current_session
from gitguard.store.session.host_session import read_record
from gitguard.transcripts.rewriting.repair import repair
from tests.support.compacting_user import User
from tests.support.needed import need, need_root
from tests.support.spoken import NOW
from tests.support.transcript_command import CLAUDE_CODE, OPENCLAW, PAYLOADS, PI, finished, run
from tests.support.written_conversations import pi, user, write

READERS = [["show"], ["usage"], ["export"], ["budget"], ["import"], ["prune", "--dry-run"]]
OPENCODE = PAYLOADS / "opencode/opencode.db"


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("name", ["codex", "gemini", "pi", "opencode"])
def test_readers_refuse_another_format_too(words: list[str], name: str, tmp_path: Path) -> None:
    said = run(*words, CLAUDE_CODE, "--format", name, cwd=tmp_path, code=23)
    assert f"is a transcript of claude-code, not of {name}" in said


def test_an_agents_folder_is_openclaws(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    shutil.copy(OPENCLAW, tmp_path / "agent" / OPENCLAW.name)
    run("usage", tmp_path, "--format", "openclaw", cwd=tmp_path)
    assert "not of pi" in run("usage", tmp_path, "--format", "pi", cwd=tmp_path, code=23)
    with pytest.raises(InvalidInput, match="not of codex"):
        find_conversation(str(tmp_path), "codex")


@pytest.mark.parametrize(
    ("words", "path"),
    [*product(READERS, [OPENCLAW, OPENCODE]), (["compact"], OPENCLAW)],
    ids=lambda value: value.parent.name if isinstance(value, Path) else value[0],
)
def test_a_conversation_that_is_not_in_the_database_is_an_error(
    words: list[str], path: Path, guard: Guard, repo: Path
) -> None:
    guard.ensure()
    said = run(*words, path, "--conversation", "xyz", cwd=repo, code=24)
    assert "it has no session `xyz`" in said
    known = read_record(guard.workspace, current_session(guard.workspace)).host_sessions
    assert not [one for one in known.values() if one.transcript]


@pytest.mark.parametrize("words", [["--last-turns", "1"], ["--no-thinking"], ["--sub-agents"]])
def test_of_the_hosts_own_lines_no_part_can_be_chosen(words: list[str], tmp_path: Path) -> None:
    said = run("export", CLAUDE_CODE, "--as", "host", *words, cwd=tmp_path, code=23)
    assert "no part of them can be chosen" in said


@pytest.mark.parametrize("kind", ["jsonl", "markdown", "host"])
def test_the_lines_of_an_export_are_no_document_of_ours(kind: str, tmp_path: Path) -> None:
    words = ("export", CLAUDE_CODE, "--as", kind, "--json")
    done = finished(*words, cwd=tmp_path)
    assert done.returncode == 23
    assert '"hint": "Write the export to a file with --output, or leave out --json"' in done.stdout
    assert '"path": "out"' in run(*words, "-o", "out", cwd=tmp_path)


# What is not there, or closed


def unprivileged(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command without root's right to read everything."""
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    need(*drop[:1])
    command = [sys.executable, "-m", "gitguard", "transcript", *map(str, words)]
    return subprocess.run(
        [*drop, *command], cwd=cwd, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("closed", ["file", "folder"])
@pytest.mark.parametrize("command", ["show", "repair"])
def test_what_may_not_be_read_is_told_from_what_is_broken(
    closed: str, command: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "t.jsonl"
    shutil.copy(PI, path)
    place = path if closed == "file" else folder
    place.chmod(0)
    try:
        done = unprivileged(command, path, cwd=tmp_path)
    finally:
        place.chmod(0o700)
    assert done.returncode == 41, done.stderr
    assert "Permission denied" in done.stderr
    assert "hint: Run the command as its owner, or permit" in done.stderr


def test_a_closed_folder_of_an_agent_is_not_an_empty_one(tmp_path: Path) -> None:
    folder = tmp_path / "main"
    folder.mkdir()
    folder.chmod(0)
    try:
        assert unprivileged("usage", folder, cwd=tmp_path).returncode == 41
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("given", ["", "codex"])
def test_a_library_is_told_as_well(given: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="No such file") as refused:
        find_conversation(str(tmp_path / "none"), given)
    assert refused.value.hint
    assert not isinstance(refused.value, NotReadable)


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["show", "none"], 24, "Name a file, database or folder that is there"),
        (["show", "bad.db"], 24, "It is damaged"),
        (["export", PI, "-o", "none/x"], 38, "Make its folder first"),
        (["export", PI, "-o", ""], 23, "is given and empty"),
        (["budget", PI, "--session-key", ""], 23, "is given and empty"),
        (["show"], 20, "which works anywhere"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_a_refusal_says_what_to_do(
    words: list[str | Path], code: int, hint: str, tmp_path: Path
) -> None:
    whole = OPENCODE.read_bytes()
    (tmp_path / "bad.db").write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    assert hint in run(*words, cwd=tmp_path, code=code)


def test_the_choices_of_a_format_name_no_empty_one(tmp_path: Path) -> None:
    said = run("show", PI, "--format", "nope", cwd=tmp_path, code=2)
    assert "'gemini', 'openclaw'" in said
    assert "''" not in said


def test_a_reset_that_is_tried_is_told_as_one(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", pi([user("hello")]))
    said = run("repair", "--reset", "--dry-run", path, cwd=tmp_path)
    assert "would restart as an empty file" in said
    assert "--reset empties" not in said


def test_a_file_that_shrinks_while_it_is_looked_through_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", pi([user("hello " + "x" * 3_000_000), user("again")]))

    def shrink(done: int, of: int) -> None:
        os.truncate(path, 1 << 20)

    with pytest.raises(InvalidDocument, match="became shorter while it was read"):
        repair(Transcript(str(path), "pi"), lambda: NOW, rehearse=True, tell=shrink)


def test_that_a_file_is_somebody_elses_is_told_as_such(tmp_path: Path) -> None:
    need_root("to give a file to somebody else")
    tmp_path.chmod(0o777)
    path = write(tmp_path / "t.jsonl", [*pi([user("hello")]), b"{torn"])
    os.chown(path, 65_534, 65_534)
    done = unprivileged("repair", path, cwd=tmp_path)
    assert done.returncode == 38, done.stderr
    assert "belong to somebody else" in done.stderr


def test_whose_context_files_is_asked_only_where_some_are_added(tmp_path: Path, repo: Path) -> None:
    person = User(tmp_path / "person", repo)
    person.run("ensure")
    done = person.run("bundle", "--host", "openclaw", check=False)
    assert done.returncode == 23
    assert "Add them: --bootstrap" in done.stderr
    person.run("bundle", "--host", "openclaw", "--bootstrap")


@pytest.mark.parametrize("words", [["repair"], ["repair", "--dry-run"], ["compact"], ["prune"]])
def test_a_session_of_a_newer_version_is_only_read(words: list[str], tmp_path: Path) -> None:
    header, *rest = pi([user("one"), user("two")])
    path = write(tmp_path / "t.jsonl", [{**header, "version": 4}, *rest, b"{torn"])
    before = path.read_bytes()
    said = run(*words, path, cwd=tmp_path, code=23)
    assert "is a session of version 4, which is only read" in said
    assert path.read_bytes() == before
    run("show", path, cwd=tmp_path)
