"""How commands are told which transcript is meant, and what they refuse to take for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitguard.compaction.compacting import Tools, compact
from gitguard.compaction.pruning import prune
from gitguard.errors import InvalidInput
from gitguard.guard import Guard
from gitguard.model.config.config import DEFAULTS
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.store.session.conversations import keep_conversation, read_conversation
from gitguard.store.session.current import current_session
from gitguard.transcripts.formats import NAMES
from gitguard.transcripts.formats.recognition import recognise
from gitguard.transcripts.rewriting.repair import repair
from tests.support import spoken
from tests.support.compacting_user import User
from tests.support.spoken import NOW, turns
from tests.support.transcript_command import PI, RECORDED, document, run
from tests.support.written_conversations import claude_code, pi, user, write

WRITING = [["repair"], ["repair", "--reset"], ["prune"], ["prune", "--dry-run"], ["compact"]]
COMMANDS = [*WRITING, ["show"], ["usage"], ["export"], ["budget"], ["import"]]
FILES = [path for path in RECORDED if path.suffix == ".jsonl"]


# Whose it is


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_what_is_of_another_host_is_not_written(
    path: Path, words: list[str], tmp_path: Path
) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    own = document("usage", copy, cwd=tmp_path)["transcript"]["format"]
    another = "claude-code" if own == "pi" else "pi"
    said = run(*words, "--format", another, copy, cwd=tmp_path, code=23)
    assert f"is a transcript of {own}, not of {another}" in said
    assert copy.read_bytes() == path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [copy.name]


def test_a_file_of_lines_is_not_called_a_damaged_database(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.jsonl", [{"table": "message", "id": "msg_1"}])
    said = run("show", "--format", "opencode", path, cwd=tmp_path, code=24)
    assert "Name the host's database; if that is it, its beginning is damaged" in said


def test_of_an_empty_file_it_is_said_that_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").touch()
    assert "recognizes: it is empty" in run("show", tmp_path / "talk.jsonl", cwd=tmp_path, code=24)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_a_library_does_not_write_what_is_of_another_host_either(
    path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    own = recognise(str(copy)).format
    named = Transcript(str(copy), "claude-code" if own == "pi" else "pi")
    tools = Tools(clock=lambda: NOW, random=bytes, redactor=Redactor())
    for rewrite in (
        lambda: repair(named, tools.clock),
        lambda: prune(named, DEFAULTS, tools.clock, str),
        lambda: compact(named, DEFAULTS, tools),
    ):
        with pytest.raises(InvalidInput, match=f"is a transcript of {own}, not of"):
            rewrite()
    assert copy.read_bytes() == path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [copy.name]


def test_a_file_that_tells_nothing_is_what_its_place_says(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "sessions" / "rollout.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{torn\n")
    said = run("repair", "--reset", "--format", "pi", path, cwd=tmp_path, code=23)
    assert "is a transcript of codex, not of pi" in said
    assert path.read_bytes() == b"{torn\n"


def test_a_line_of_another_host_is_not_enough_to_refuse_a_file(tmp_path: Path) -> None:
    [stray, *_] = claude_code([user("hello")])
    path = write(tmp_path / "t.jsonl", [stray, *pi([user("hello")])])
    assert document("usage", path, cwd=tmp_path)["transcript"]["format"] == "claude-code"
    run("repair", "--dry-run", "--format", "pi", path, cwd=tmp_path)


def test_formats_of_the_same_lines_are_told_apart_by_who_names_them(tmp_path: Path) -> None:
    shutil.copy(PI, tmp_path / "t.jsonl")
    run("repair", "--dry-run", "--format", "openclaw", "t.jsonl", cwd=tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_what_tells_nothing_at_all_may_be_called_anything(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"{torn\n")
    code = 24 if name in ("claude-code", "pi", "openclaw") else 23
    assert "not of" not in run("repair", "--format", name, path, cwd=tmp_path, code=code)


# What may not be written


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_a_write_protected_file_is_only_looked_at(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    spoken.pi(path, turns(8))
    path.write_bytes(path.read_bytes() + b"{torn")
    before = path.read_bytes()
    path.chmod(0o444)
    run(*words, *["--dry-run"] * ("--dry-run" not in words), path, cwd=tmp_path)
    if "--dry-run" not in words:
        said = run(*words, path, cwd=tmp_path, code=38)
        assert "is write-protected" in said
        assert f"chmod u+w {path}" in said
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (before, 0o444)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


# What is given and names nothing


@pytest.fixture
def talk(guard: Guard, tmp_path: Path) -> Path:
    """The newest conversation of the repository's session, which needs a repair."""
    guard.ensure()
    path = write(tmp_path / "talk.jsonl", [*pi([user("hello")]), b"{torn"])
    workspace, session = guard.workspace, current_session(guard.workspace)
    known = read_conversation(workspace, session, "one")
    with guard.store(session).lock():
        known = known.replace(transcript=str(path), transcript_format="pi")
        keep_conversation(workspace, session, "one", known)
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("words", [[""], ["--conversation", ""]], ids=["path", "conversation"])
def test_an_empty_name_is_not_the_newest_conversation(
    command: list[str], words: list[str], talk: Path, repo: Path
) -> None:
    before = talk.read_bytes()
    said = run(*command, *words, cwd=repo, code=23)
    assert "is given and empty" in said or "no transcript is named" in said
    assert talk.read_bytes() == before


@pytest.mark.parametrize("words", [["--conversation", "other"], ["--format", "codex"]], ids=str)
def test_without_a_path_nothing_is_said_of_it(words: list[str], talk: Path, repo: Path) -> None:
    before = talk.read_bytes()
    assert "none is named" in run("repair", *words, cwd=repo, code=23)
    assert talk.read_bytes() == before
    run("repair", cwd=repo)
    assert talk.read_bytes() != before, "without any name it is the newest"


@pytest.mark.parametrize("command", COMMANDS)
def test_another_conversation_than_a_files_own_is_not_ignored(
    command: list[str], talk: Path, repo: Path
) -> None:
    before = talk.read_bytes()
    said = run(*command, talk, "--conversation", "nope", cwd=repo, code=23)
    assert "holds one conversation, and it is not `nope`" in said
    assert talk.read_bytes() == before
    run("usage", talk, "--conversation", "talk", cwd=repo)


# Counts


@pytest.fixture
def person(tmp_path: Path, repo: Path) -> User:
    return User(tmp_path / "person", repo)


def test_one_is_counted_as_one(person: User, tmp_path: Path) -> None:
    person.run("ensure")
    path = Path(spoken.pi(tmp_path / "talk.jsonl", [("user", "hello")]).path)
    single = tmp_path / "single.jsonl"
    single.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    said = person.run("transcript", "repair", str(single)).stdout
    assert "needs no repair: 1 line checked" in said
    assert " in 1 turn\n" in person.run("transcript", "budget", str(path)).stdout
    said = person.run("transcript", "import", str(path)).stdout
    assert ": 1 turn, 0 compactions, " in said
    assert ", 1 compaction, " in person.run("transcript", "import", str(PI)).stdout
    assert person.run("session", "maintain").stdout.startswith("1 session, ")


def test_many_are_counted_as_many(person: User, tmp_path: Path) -> None:
    person.run("ensure")
    path = spoken.pi(tmp_path / "talk.jsonl", turns(2)).path
    assert "lines checked" in person.run("transcript", "repair", path).stdout
    said = person.run("transcript", "import", str(path)).stdout
    assert ": 2 turns, 0 compactions, 13 entries (pi)" in said
