"""The search for secrets in files: within its time, and not twice in the same content."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.guard import Guard
from gitguard.model.redaction.redactor import OVERLAP, WINDOW, Redactor
from gitguard.store.session.workspace import UserDirs
from gitguard.store.worktree.secret_search import SecretSearch, parts_of
from tests.conftest import Clock, Git
from tests.support.kept_files import KeptFiles, files_of, left_out
from tests.support.secret_samples import some

SECRET = "ghp_" + some(36)
LINE = "2026-11-26 12:00:00 INFO request ok\n"
LARGE = LINE * 20_000
"""More than nine parts."""


@pytest.fixture
def kept(guard: Guard, git: Git) -> KeptFiles:
    return KeptFiles(guard, git)


class Ticking:
    """A clock that goes on by the same step whenever somebody looks at it."""

    def __init__(self, step: float) -> None:
        self._ticks = count()
        self._step = step

    def __call__(self) -> float:
        return next(self._ticks) * self._step


class Counting(Redactor):
    """A redactor that counts the parts that it searches."""

    parts = 0

    def holds_secret(self, part: str) -> bool:
        self.parts += 1
        return super().holds_secret(part)


def search(
    redactor: Redactor, text: str, step: float = 0.0, earlier: SecretSearch | None = None
) -> tuple[SecretSearch, str]:
    searching = SecretSearch(redactor, Ticking(step), 2.0, earlier.searched if earlier else ())
    return searching, searching.verdict("log", text.encode()).reason


TOO_LONG = "the search for secrets in it takes more than 2 s"


def test_the_time_ends_within_a_file() -> None:
    redactor = Counting()
    _, reason = search(redactor, LARGE, step=0.4)
    assert reason == TOO_LONG
    assert 0 < redactor.parts < 5


@pytest.mark.parametrize("grown", ["", LINE, LARGE])
def test_what_took_too_long_is_not_tried_again_while_it_is_unchanged_or_only_grew(
    grown: str,
) -> None:
    first, _ = search(Redactor(), LARGE, step=0.4)
    redactor = Counting()
    second, reason = search(redactor, LARGE + grown, earlier=first)
    assert (reason, redactor.parts) == (TOO_LONG, 0)
    _, reason = search(redactor, LARGE + grown + grown, earlier=second)
    assert (reason, redactor.parts) == (TOO_LONG, 0)


def test_what_took_too_long_is_tried_again_when_its_beginning_changed() -> None:
    first, _ = search(Redactor(), LARGE, step=0.4)
    _, reason = search(Redactor(), "x" + LARGE[1:], earlier=first)
    assert reason == ""


def test_a_file_for_which_others_left_no_time_is_tried_again() -> None:
    times = iter((0.0, 1.5, 1.6))
    searching = SecretSearch(Redactor(), lambda: next(times, 3.0), 2.0)
    assert not searching.verdict("log", LARGE.encode()).is_final
    assert searching.searched == []


def test_of_a_file_that_only_grew_the_new_part_is_searched() -> None:
    first, reason = search(Redactor(), LARGE)
    assert reason == ""
    redactor = Counting()
    _, reason = search(redactor, LARGE + LINE, earlier=first)
    assert (reason, redactor.parts) == ("", 1)
    _, reason = search(redactor, LARGE + SECRET + "\n", earlier=first)
    assert reason == "a secret was found in it"


def test_a_file_that_holds_a_secret_is_not_searched_again_while_it_only_grows() -> None:
    first, _ = search(Redactor(), LARGE + SECRET)
    redactor = Counting()
    _, reason = search(redactor, f"{LARGE}{SECRET}\n{LINE}", earlier=first)
    assert (reason, redactor.parts) == ("a secret was found in it", 0)
    _, reason = search(redactor, LARGE + LINE, earlier=first)
    assert reason == ""


def test_what_took_too_long_is_tried_again_in_more_time() -> None:
    first, _ = search(Redactor(), LARGE, step=0.4)
    more = SecretSearch(Redactor(), Ticking(0.0), 3.0, first.searched)
    assert more.verdict("log", LARGE.encode()).reason == ""


def test_what_was_searched_by_other_rules_is_searched_again() -> None:
    first, _ = search(Redactor(), LARGE)
    other = Counting(allowed=("0" * 64,))
    search(other, LARGE, earlier=first)
    assert other.parts > 1


def in_database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table users (name text, token text)")
        database.execute("insert into users values (?, ?)", ("somebody", SECRET))
    database.close()


def in_fields_that_nothing_parts(path: Path) -> None:
    key = "AKIA" + some(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    with sqlite3.connect(path) as database:
        database.execute("create table users (name text, token text, note text)")
        for _ in range(9):
            database.execute("insert into users values (?, ?, ?)", ("bob", key, "note"))
    database.close()


def in_archive(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        data = f"API_TOKEN={some(32)}\n".encode()
        about = tarfile.TarInfo("settings")
        about.size = len(data)
        archive.addfile(about, io.BytesIO(data))


def in_stored_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("settings", f"token = '{SECRET}'\n")


def in_memory_dump(path: Path) -> None:
    memory = b"\x7fELF" + bytes(range(256)) * 300
    path.write_bytes(memory + f"PATH=/bin\0GITHUB_TOKEN={SECRET}\0HOME=/root\0".encode() + memory)


def in_wide_characters(path: Path) -> None:
    path.write_bytes(b"\x01\0\0\xff" * 99 + f"token={SECRET}".encode("utf-16-le") + b"\0\0\xff")


BINARY = [
    in_database,
    in_fields_that_nothing_parts,
    in_archive,
    in_stored_zip,
    in_memory_dump,
    in_wide_characters,
]


@pytest.mark.parametrize("make", BINARY)
def test_a_binary_file_that_holds_a_secret_is_left_out_by_name(
    kept: KeptFiles, make: Callable[[Path], None]
) -> None:
    make(kept.root / "data.bin")
    kept.snapshot()
    assert left_out(kept.guard) == {"data.bin": "a secret was found in it"}


def test_a_binary_file_without_a_secret_is_kept(kept: KeptFiles) -> None:
    with sqlite3.connect(kept.root / "data.db") as database:
        database.execute("create table users (name text, token text)")
        database.execute("insert into users values (?, ?)", ("somebody", "none"))
    database.close()
    (kept.root / "picture").write_bytes(bytes(range(256)) * 999)
    kept.snapshot()
    assert left_out(kept.guard) == {}
    assert {"data.db", "picture"} <= set(files_of(kept.guard))


def test_small_files_are_in_a_snapshot_whose_time_a_large_one_uses_up(
    kept: KeptFiles, places: UserDirs, clock: Clock
) -> None:
    (kept.root / "a.log").write_text(LARGE)
    names = [f"z{number}" for number in range(5)]
    for name in names:
        (kept.root / name).write_text("new\n")
    ticks = count()
    slow = Guard(str(kept.root), places, lambda: clock() + 0.03 * next(ticks))
    slow.checkpoint("Slow")
    assert set(left_out(kept.guard)) <= {"a.log"}
    assert set(names) <= set(files_of(kept.guard))


def test_a_file_that_took_too_long_is_named_again_and_the_snapshot_is_whole(
    kept: KeptFiles, places: UserDirs, clock: Clock
) -> None:
    (kept.root / "a.log").write_text(LARGE)
    ticks = count()
    slow = Guard(str(kept.root), places, lambda: clock() + 0.3 * next(ticks))
    slow.checkpoint("Slow")
    assert left_out(kept.guard) == {"a.log": TOO_LONG}
    (kept.root / "a.log").write_text(LARGE + LINE)
    (kept.root / "new").write_text("new\n")
    kept.snapshot()
    assert left_out(kept.guard) == {"a.log": TOO_LONG}
    (kept.root / "a.log").write_text("begun anew\n")
    kept.snapshot()
    assert left_out(kept.guard) == {}


CHARACTERS = st.sampled_from(["x", " ", "\n", "é", "€", "\U0001f600", SECRET])


@given(st.lists(CHARACTERS, max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_parts_overlap_so_that_no_secret_is_cut(words: list[str], before: int, behind: int) -> None:
    filling = "word " * ((WINDOW - OVERLAP) // 9 * before // 20)
    text = filling + "".join(words) + "word " * behind * 200
    data = text.encode()
    redactor = Redactor()
    holds = any(redactor.holds_secret(part) for part in parts_of(data))
    assert holds == (redactor.text(text) != text)


@given(st.lists(CHARACTERS, max_size=9), st.integers(0, 3 * WINDOW), st.lists(CHARACTERS))
def test_a_grown_file_is_judged_as_if_it_was_searched_whole(
    words: list[str], size: int, grown: list[str]
) -> None:
    redactor = Redactor()
    text = "".join(words).replace(SECRET, "") + "w€ " * (size // 3)
    whole = text + "".join(grown)
    first, reason = search(redactor, text)
    assert reason == ""
    _, reason = search(redactor, whole, earlier=first)
    assert bool(reason) == (redactor.text(whole) != whole)
