"""The search index holds what was verified, follows the history, and goes when that goes."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.guard import Guard
from gitguard.guard.settings import HOSTS
from gitguard.hosts.base import InstallOptions
from gitguard.review.entries import FIELDS, Change, Collected, IndexedItem, Turn
from gitguard.review.index import Label, extended, new_index, read_index
from gitguard.store.session.anchor import INDEX
from tests.conftest import Git, OpenGuard
from tests.support.kept_sessions import at, close_it, maintain, reopen
from tests.support.leaked_secrets import (
    TOKEN,
    UNKNOWN,
    Blind,
    files_with,
    holders,
    leaked,
    tmp_path,
)
from tests.support.session_branches import BRANCH
from tests.support.tampered_sessions import file_of, overwrite

__all__ = ["leaked", "tmp_path"]
LABEL = Label("main", "rules")


def count(guard: Guard, *words: str) -> int:
    return guard.review.search(words).count


def files_of(state: Path) -> list[Path]:
    return [path for path in state.rglob("*") if path.name in INDEX]


@pytest.fixture
def indexed(begun: Guard, tmp_path: Path) -> Guard:
    begun.note({"decisions": [{"what": "Hand-written", "why": "simpler"}]})
    begun.checkpoint("Looks.")
    assert count(begun, "hand-written") == 1
    assert len(files_of(tmp_path / "state")) == len(INDEX)
    return begun


def index_file(guard: Guard, name: str = INDEX[1]) -> Path:
    return Path(guard.workspace.anchor_folder(guard.current_session())) / name


# As a file


def entry(number: int, text: str, **changes: object) -> IndexedItem:
    plain = IndexedItem(
        key=f"{number:016x}",
        field="decision",
        id="id",
        first=number,
        commit="c" * 40,
        at=1,
        by="agent",
        when="",
        kind="",
        parts=(text,),
    )
    return plain.replace(**changes)


@given(
    st.lists(
        st.tuples(st.sampled_from(FIELDS), st.lists(st.text(), min_size=1, max_size=2)), max_size=5
    )
)
def test_what_is_written_reads_back(items: list[tuple[str, list[str]]]) -> None:
    entries = tuple(
        entry(n, "", field=field, parts=tuple(p.replace("\ud800", "") for p in parts))
        for n, (field, parts) in enumerate(items)
    )
    index = new_index(LABEL, Collected(entries, (), (Turn(1, "c", "h"),)), "head", 7)
    again = read_index(index.texts, index.records)
    assert again == index
    assert tuple(again.entries(range(len(items)))) == entries
    assert (again.head, again.sequence, again.label) == ("head", 7, LABEL)


def test_what_became_of_an_entry_is_appended_and_later_written_into_its_line() -> None:
    index = new_index(LABEL, Collected((entry(1, "One"), entry(2, "Two")), (), ()), "a", 1)
    for first in range(2, 1200, 30):
        numbers = range(first, first + 30)
        changes = tuple(Change(f"{number:016x}", number, "") for number in numbers)
        added = tuple(entry(number, f"n {number}") for number in numbers if number > 2)
        grown = extended(index, Collected(added, changes, ()), f"h{first}", numbers[-1])
        if len(grown.changes) > 0:
            assert grown.records.startswith(index.records)
        index = grown
    assert len(index.changes) < 1000
    one, two, three = index.entries((0, 1, 2))
    assert (one.removed, two.removed, three.removed) == (0, 2, 3)
    assert index.before().standing == {f"{1:016x}"}


@pytest.mark.parametrize("name", INDEX)
@pytest.mark.parametrize("edit", ["cut", "flipped", "emptied", "appended", "removed", "folder"])
def test_a_damaged_index_is_made_again(indexed: Guard, name: str, edit: str) -> None:
    path = index_file(indexed, name)
    whole = path.read_bytes()
    damaged = {
        "cut": whole[:-5],
        "flipped": whole[:20] + bytes([whole[20] ^ 1]) + whole[21:],
        "emptied": b"",
        "appended": whole + b"more\n",
    }
    path.unlink()
    if edit in damaged:
        path.write_bytes(damaged[edit])
    elif edit == "folder":
        path.mkdir()
    assert count(indexed, "hand-written") == 1
    assert edit == "folder" or path.read_bytes() == whole


def test_an_index_is_private_and_lies_beside_the_anchor(indexed: Guard) -> None:
    for name in INDEX:
        assert stat.S_IMODE(index_file(indexed, name).stat().st_mode) == 0o600
        assert index_file(indexed, "anchor.json").exists()


# As the history goes on


def test_new_checkpoints_are_appended_and_older_ones_are_not_read_again(
    indexed: Guard, git: Git
) -> None:
    before = index_file(indexed).read_bytes()
    indexed.note({"learnings": ["The lexer is slow"]})
    indexed.checkpoint("More.")
    # Nobody reads the root's state again: it could not be read.
    blob = git("rev-parse", f"{git('rev-list', '--max-parents=0', BRANCH)}:summary.md")
    path = file_of(git.root, blob)
    overwrite(path, b"nothing")
    assert count(indexed, "lexer") == 1
    assert index_file(indexed).read_bytes().startswith(before)


def test_an_index_that_grew_says_the_same_as_one_that_is_made_at_once(indexed: Guard) -> None:
    for number in range(4):
        indexed.note({"learnings": [f"fact {number}"], "open_issues": [f"issue {number}"]})
        indexed.update({"open_issues": [f"only {number}"]}, replace=True)
        indexed.checkpoint(f"Number {number % 2}.")
        count(indexed, "fact")
    words = ("fact", "issue", "only", "number", "hand-written")
    grown = indexed.review.search(words, most=100)
    for name in INDEX:
        index_file(indexed, name).unlink()
    assert indexed.review.search(words, most=100) == grown


def test_a_tampered_checkpoint_is_never_indexed(
    begun: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    blob = git("rev-parse", f"{BRANCH}:state.json")
    overwrite(file_of(git.root, blob), b"nothing")
    results = open_guard().review.search(("ours",))
    assert results.count == 0
    assert "session `main` was not searched: " in results.notes[0]
    assert files_of(tmp_path / "state") == []


def test_where_a_branch_was_moved_the_index_keeps_what_this_machine_wrote(
    indexed: Guard, git: Git
) -> None:
    before = index_file(indexed).read_bytes()
    git("update-ref", BRANCH, f"{BRANCH}~1")
    assert count(indexed, "hand-written") == 1
    assert index_file(indexed).read_bytes() == before


def test_an_anchor_that_is_set_aside_takes_the_index_along(indexed: Guard, tmp_path: Path) -> None:
    indexed.forget()
    assert files_of(tmp_path / "state") == []


def test_a_held_lock_keeps_nobody_from_searching(begun: Guard, tmp_path: Path) -> None:
    with begun.store().lock(), ThreadPoolExecutor(1) as worker:
        # To another thread the lock is somebody else's.
        assert worker.submit(count, begun, "ours").result() > 0
        assert files_of(tmp_path / "state") == []


def test_a_state_directory_that_refuses_keeps_nobody_from_searching(begun: Guard) -> None:
    for name in INDEX:
        index_file(begun, name).mkdir()
    assert count(begun, "ours") > 0


# Archives


def test_an_archived_session_has_an_index_of_its_own_which_goes_with_it(
    guard: Guard, tmp_path: Path
) -> None:
    at(guard, "other")
    at(guard, "main")
    count(guard, "lost")
    close_it(guard, "other")
    assert count(guard, "lost", "other") > 0
    folders = {path.parent.parent.name for path in files_of(tmp_path / "state")}
    assert "archive" in folders
    reopen(guard, "other")
    folders = {path.parent.parent.name for path in files_of(tmp_path / "state")}
    assert "archive" not in folders
    close_it(guard, "other")
    count(guard, "lost")
    guard.sessions.use(guard.sessions.find("main"))
    maintain(guard, "enforce", "other")
    assert not [p for p in files_of(tmp_path / "state") if "other" in str(p)]


# Secrets and removal


def test_a_purged_secret_is_in_no_file_of_the_state_directory(
    leaked: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    leaked.workspace.redactor = Blind()
    assert count(leaked, UNKNOWN) == 1
    assert files_with(UNKNOWN, tmp_path / "state")
    open_guard().secrets.purge("3", value=UNKNOWN)
    assert files_with(UNKNOWN, tmp_path / "state") == []
    assert count(open_guard(), UNKNOWN) == count(open_guard(), TOKEN) == 0
    assert count(open_guard(), "pass phrase") == 1
    git("gc", "--quiet", "--prune=now")
    assert holders(git, UNKNOWN) == []
    assert files_with(UNKNOWN, tmp_path) == files_with(TOKEN, tmp_path) == []


def test_a_purged_secret_is_in_no_index_of_an_archived_history(
    leaked: Guard, tmp_path: Path, open_guard: OpenGuard
) -> None:
    close_it(leaked)
    guard = open_guard()
    assert count(guard, UNKNOWN) == 1
    reopen(guard, "main")
    guard.secrets.purge("3", value=UNKNOWN)
    count(open_guard(), "deploy")
    assert files_with(UNKNOWN, tmp_path / "state") == []


def test_a_secret_that_a_rule_knows_today_reaches_no_index(leaked: Guard, tmp_path: Path) -> None:
    assert count(leaked, "deploy with") > 0
    assert not [path for path in files_with(TOKEN, tmp_path / "state") if path.name in INDEX]


def test_a_new_rule_makes_the_index_again(indexed: Guard, open_guard: OpenGuard) -> None:
    before = index_file(indexed).stat().st_mtime_ns
    os.utime(index_file(indexed), ns=(0, 0))
    other = open_guard()
    other.workspace.redactor = Blind()
    assert count(other, "hand-written") == 1
    assert index_file(indexed).stat().st_mtime_ns > before


def test_uninstalling_removes_all_indexes(indexed: Guard, tmp_path: Path) -> None:
    at(indexed, "other")
    count(indexed, "lost")
    indexed.install(HOSTS[0], InstallOptions())
    indexed.uninstall(HOSTS[0], dry_run=True)
    assert files_of(tmp_path / "state")
    indexed.uninstall(HOSTS[0])
    assert files_of(tmp_path / "state") == []
    assert count(indexed, "hand-written") == 1
