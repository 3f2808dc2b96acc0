"""Snapshots and restores of files that are odd by name, size, number, kind or encoding."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.model.text import visible
from gitguard.store.git.trees import PLAIN
from gitguard.store.session.workspace import UserDirs
from gitguard.store.worktree.snapshot import SnapshotLimits
from tests.conftest import Clock, Git
from tests.support.hostile import Traps
from tests.support.kept_files import KeptFiles, files_of, left_out, snapshot_of, tree_of
from tests.support.measuring import peak_megabytes
from tests.support.needed import need

GIGABYTES = 11 << 30


@pytest.fixture
def kept(guard: Guard, git: Git) -> KeptFiles:
    (git.root / ".gitignore").write_text("ignored/\n")
    (git.root / "tracked").write_text("one\n")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Files")
    return KeptFiles(guard, git)


def write(root: Path, name: bytes | str, text: str) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(root), os.fsencode(name))))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


# Names

COMPOSED, DECOMPOSED = "gr\u00f6\u00dfe", "gro\u0308\u00dfe"
NAMES = {
    "case": ("A", "a", "Folder/f", "folder/f"),
    "a folder that is a file in another case": ("B", "b/inner"),
    "Unicode": (COMPOSED, DECOMPOSED, f"{COMPOSED}s/f", f"{DECOMPOSED}s/f"),
    "no UTF-8": (b"\xff\xfe", b"\xe9/\xe9", b"caf\xe9", "café"),
    "long": ("n" * 255, f"{'d' * 255}/{'e' * 255}", b"\xff" * 255),
    "deep": ("/".join(["d"] * 100) + "/f", "/".join(["long name"] * 50) + "/f"),
    "control": ("a\nb", "a\tb", "\x1b[31mred", "\x7f", "back\\slash", "%41", "100%"),
    "words": (":(top)x", "-rf", "--force", "~", "$HOME", "*", "?", "[a]", "!", "#", "a b ", "..."),
    "git's": (".gitmodules", "git", ".git-x", "GIT", "x.git", "index.lock", "HEAD"),
}


NAMES_AND_CASE = [(names, False) for names in NAMES.values()]
NAMES_AND_CASE += [(names, True) for names in list(NAMES.values())[:3]]


@pytest.mark.parametrize(("names", "ignores_case"), NAMES_AND_CASE)
@pytest.mark.parametrize("are_tracked", [False, True])
def test_files_of_any_names_come_back(
    kept: KeptFiles, names: tuple[str | bytes, ...], are_tracked: bool, ignores_case: bool
) -> None:
    for number, name in enumerate(names):
        write(kept.root, name, f"{number}\n")
    if are_tracked:
        kept.git("add", "--all")
        kept.git("commit", "--quiet", "--message", "Odd names")
    if ignores_case:
        kept.git("config", "core.ignoreCase", "true")
        kept.git("config", "core.precomposeUnicode", "true")
    for number, name in enumerate(names[1:]):
        write(kept.root, name, f"{number}, at the snapshot\n")
    name, then = kept.snapshot(), tree_of(kept.root)
    for number, odd in enumerate(names[:-1]):
        write(kept.root, odd, f"{number}, later\n")
    os.unlink(os.path.join(os.fsencode(kept.root), os.fsencode(names[-1])))
    kept.goes_back_and_forth(name, then)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_the_commands_that_are_told_do_the_same_as_a_restore(
    kept: KeptFiles, names: tuple[str | bytes, ...]
) -> None:
    need("bash")
    write(kept.root, names[0], "one\n")
    name, then = kept.snapshot(), tree_of(kept.root)
    for odd in names:
        write(kept.root, odd, "later\n")
    commands = "\n".join(kept.guard.files.commands(name, kept.plan(name)))
    assert visible(commands) == commands, "a terminal shows another command"
    subprocess.run(["bash", "-ec", commands], check=True)
    assert tree_of(kept.root) == then


def test_a_file_that_git_takes_for_another_one_by_its_case_stays_as_it_is(
    kept: KeptFiles,
) -> None:
    kept.git("config", "core.ignoreCase", "true")
    name = kept.snapshot()
    (kept.root / "TRACKED").write_text("git takes it for `tracked`\n")
    (kept.root / "tracked").write_text("two\n")
    kept.snapshot()
    assert kept.put_back(name) == {}
    assert (kept.root / "TRACKED").read_text() == "git takes it for `tracked`\n"
    assert (kept.root / "tracked").read_text() == "one\n"


@pytest.fixture
def deep_file(kept: KeptFiles) -> Iterator[Path]:
    """A file in more folders than Python has calls, which no `rmtree` of Python's removes again.

    Python has fewer calls than usual meanwhile, as each folder more has a longer path.
    """
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    depth = sys.getrecursionlimit() + 50
    path = kept.root / "/".join(["d"] * depth) / "f"
    handle = os.open(kept.root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)
    path.write_text("one\n")
    yield path
    sys.setrecursionlimit(usual)
    subprocess.run(["rm", "-rf", str(kept.root / "d")], check=True)


@pytest.mark.parametrize("is_tracked", [False, True])
def test_a_file_in_more_folders_than_python_has_calls_comes_back(
    kept: KeptFiles, deep_file: Path, is_tracked: bool
) -> None:
    if is_tracked:
        kept.git("add", "--all")
        kept.git("commit", "--quiet", "--message", "Deep")
        deep_file.write_text("two\n")
    name, lay = kept.snapshot(), deep_file.read_text()
    deep_file.write_text("later\n")
    assert kept.put_back(name) == {}
    assert deep_file.read_text() == lay
    assert kept.guard.files.export(name, str(kept.root.parent / "e"), ("tracked",)) == 1


# Sizes


def processor_seconds() -> float:
    """Return the time of this process and its children, which a busy machine does not change."""
    return sum(os.times()[:4])


def make_huge(path: Path) -> None:
    """Make a file of many bytes that takes no disk."""
    with path.open("ab") as file:
        file.truncate(GIGABYTES)


@pytest.mark.parametrize("name", ["huge", "tracked"])
def test_a_huge_file_is_named_not_read_and_never_lost(kept: KeptFiles, name: str) -> None:
    small = kept.snapshot()
    make_huge(kept.root / name)
    began = processor_seconds()
    huge = kept.snapshot()
    took = processor_seconds() - began
    assert left_out(kept.guard)[name].startswith("larger than 20 MB")
    assert name not in files_of(kept.guard)
    assert took < SnapshotLimits().seconds
    reason = kept.put_back(small)[name]
    assert reason == "the current file cannot be read, so it cannot be saved"
    assert (kept.root / name).stat().st_size == GIGABYTES
    (kept.root / name).unlink()
    (kept.root / name).write_text("small again\n")
    assert "left out of the snapshot" in kept.put_back(huge)[name]
    assert (kept.root / name).read_text() == "small again\n"


_SNAPSHOT = """
import os, sys, time
from gitguard.guard import Guard
from gitguard.store.session.workspace import UserDirs
root, state = sys.argv[1:]
places = UserDirs(state_home=state, config_home=state, environment=dict(os.environ))
Guard(root, places, time.time).checkpoint("Here")
"""


def test_a_huge_file_takes_no_memory(kept: KeptFiles, tmp_path: Path) -> None:
    state = kept.guard.workspace.places.state_home
    without = peak_megabytes(_SNAPSHOT, str(kept.root), state)
    make_huge(kept.root / "tracked")
    make_huge(kept.root / "huge")
    assert peak_megabytes(_SNAPSHOT, str(kept.root), state) < without + 10
    assert set(left_out(kept.guard)) == {"tracked", "huge"}


# Numbers


def make_many(folder: Path, count: int) -> None:
    """Make small files, a thousand in each folder."""
    for number in range(count):
        if number % 1_000 == 0:
            (inner := folder / f"{number // 1_000}").mkdir(parents=True)
        with open(inner / f"{number}", "w") as file:
            file.write(f"{number}\n")


def test_many_ignored_files_cost_a_snapshot_nothing(kept: KeptFiles) -> None:
    make_many(kept.root / "ignored", 100_000)
    (kept.root / "tracked").write_text("two\n")
    began = processor_seconds()
    kept.snapshot()
    assert processor_seconds() - began < SnapshotLimits().seconds
    assert files_of(kept.guard)["tracked"] == (PLAIN, b"two\n")
    assert not snapshot_of(kept.guard).manifest.unseen


def test_beyond_the_bound_untracked_files_are_said_to_be_missing_and_tracked_ones_are_kept(
    kept: KeptFiles,
) -> None:
    make_many(kept.root / "many", 30_000)
    (kept.root / "tracked").write_text("two\n")
    began = processor_seconds()
    name = kept.snapshot()
    assert processor_seconds() - began < 2 * SnapshotLimits().seconds
    assert files_of(kept.guard)["tracked"] == (PLAIN, b"two\n")
    assert kept.guard.files.status().gaps.unseen == ("untracked files (more than 20,000)",)
    (kept.root / "tracked").write_text("three\n")
    refused = kept.put_back(name)
    assert (kept.root / "tracked").read_text() == "two\n"
    assert len(refused) == 30_000
    assert (kept.root / "many" / "0" / "0").read_text() == "0\n"


def test_what_is_left_out_is_named_however_many_files_differ(kept: KeptFiles) -> None:
    make_many(kept.root / ("long name" * 25), 4_000)
    write(kept.root, ".env", "A=1\n")
    kept.snapshot()
    named = {file.path for file in kept.guard.files.status().gaps.left_out}
    assert ".env" in named


def test_files_that_were_not_reached_in_time_are_in_a_later_snapshot(
    kept: KeptFiles, places: UserDirs, clock: Clock
) -> None:
    names = [f"new{number}" for number in range(9)]
    for name in names:
        write(kept.root, name, "new\n")
    ticks = count()
    slow = Guard(str(kept.root), places, lambda: clock() + 0.6 * next(ticks))
    slow.checkpoint("Slow")
    reasons = left_out(kept.guard)
    assert reasons
    assert set(reasons.values()) == {"the snapshot took more than 2 s"}
    kept.snapshot()
    assert left_out(kept.guard) == {}
    assert set(names) <= set(files_of(kept.guard))


# Kinds


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


ODD_KINDS = {"pipe": os.mkfifo, "socket": make_socket}


@pytest.mark.parametrize("kind", ODD_KINDS)
def test_what_is_no_file_is_neither_read_nor_replaced(
    kept: KeptFiles, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kept.root)
    name = kept.snapshot()
    (kept.root / "tracked").unlink()
    for path in ("tracked", "untracked"):
        ODD_KINDS[kind](kept.root / path)
    before = tree_of(kept.root)
    with_them = kept.snapshot()
    assert left_out(kept.guard) == {"tracked": "no plain file"}
    assert set(kept.put_back(name)) == {"tracked"}
    assert tree_of(kept.root) == before
    for path in ("tracked", "untracked"):
        (kept.root / path).unlink()
    kept.put_back(with_them)
    assert not (kept.root / "tracked").exists()


def test_another_name_of_a_file_keeps_what_the_restore_replaces(
    kept: KeptFiles, tmp_path: Path
) -> None:
    name = kept.snapshot()
    (kept.root / "tracked").write_text("two\n")
    os.link(kept.root / "tracked", tmp_path / "outside")
    assert kept.put_back(name) == {}
    assert (kept.root / "tracked").read_text() == "one\n"
    assert (tmp_path / "outside").read_text() == "two\n"


# Encodings and filters


def unchanged_by_git(kept: KeptFiles, name: str, *attributes: str) -> bytes:
    """Let git write a committed file by attributes; return the bytes that lie there then."""
    (kept.root / ".gitattributes").write_text("".join(f"{line}\n" for line in attributes))
    kept.git("add", "--all")
    kept.git("commit", "--quiet", "--message", "Converted")
    (kept.root / name).unlink()
    kept.git("checkout", "--", name)
    # So old that git need not read it again.
    os.utime(kept.root / name, (1_700_000_000, 1_700_000_000))
    kept.git("status")
    return (kept.root / name).read_bytes()


CONVERTED = {
    "text eol=crlf": ("one\ntwo\n", b"one\r\ntwo\r\n"),
    "working-tree-encoding=UTF-16": ("größe\n", "\ufeffgröße\n".encode("utf-16-le")),
    "working-tree-encoding=UTF-16LE-BOM": ("größe\n", "\ufeffgröße\n".encode("utf-16-le")),
    "working-tree-encoding=latin-1": ("größe\n", "größe\n".encode("latin-1")),
    "text working-tree-encoding=UTF-16LE eol=crlf": ("ö\n", "ö\r\n".encode("utf-16-le")),
    "ident": ("$Id$\n", b"$Id: "),
}


@pytest.mark.parametrize("attributes", CONVERTED)
@pytest.mark.parametrize("is_changed", [False, True])
def test_what_git_converts_comes_back_byte_by_byte(
    kept: KeptFiles, attributes: str, is_changed: bool
) -> None:
    text, converted = CONVERTED[attributes]
    encoding = attributes.partition("working-tree-encoding=")[2].partition(" ")[0] or "utf-8"
    (kept.root / "c.txt").write_bytes(text.encode(encoding.removesuffix("-BOM")))
    lying = unchanged_by_git(kept, "c.txt", f"*.txt {attributes}")
    assert lying.startswith(converted)
    if is_changed:
        lying = lying + lying + b"\xff\r\n\n"
        (kept.root / "c.txt").write_bytes(lying)
    name, then = kept.snapshot(), tree_of(kept.root)
    (kept.root / "c.txt").write_bytes(b"replaced\n")
    kept.goes_back_and_forth(name, then)
    (kept.root / "c.txt").unlink()
    kept.goes_back_and_forth(name, then)


CRLF_SETTINGS = {
    "core.autocrlf=true": "",
    "core.eol=crlf": "*.txt text",
    "core.eol=native": "*.txt text eol=crlf",
}


@pytest.mark.parametrize("setting", CRLF_SETTINGS)
@pytest.mark.parametrize("whose", ["repository", "user"])
def test_line_ends_that_a_setting_converts_come_back(
    kept: KeptFiles, setting: str, whose: str
) -> None:
    kept.git("config", *([] if whose == "repository" else ["--global"]), *setting.split("="))
    (kept.root / "c.txt").write_bytes(b"one\r\ntwo\r\n")
    lying = unchanged_by_git(kept, "c.txt", CRLF_SETTINGS[setting])
    assert lying == b"one\r\ntwo\r\n"
    name, then = kept.snapshot(), tree_of(kept.root)
    (kept.root / "c.txt").unlink()
    kept.goes_back_and_forth(name, then)


@pytest.mark.parametrize("options", [["--global"], ["--local"], ["--global", "--local"]])
def test_attributes_that_a_setting_names_count_too(
    kept: KeptFiles, tmp_path: Path, options: list[str]
) -> None:
    for option in options:
        path = tmp_path / f"attributes{option}"
        path.write_text("*.txt text eol=crlf\n" if option == options[-1] else "*.txt -text\n")
        kept.git("config", option, "core.attributesFile", str(path))
    (kept.root / "c.txt").write_bytes(b"one\ntwo\n")
    assert unchanged_by_git(kept, "c.txt") == b"one\r\ntwo\r\n"
    name, then = kept.snapshot(), tree_of(kept.root)
    (kept.root / "c.txt").unlink()
    kept.goes_back_and_forth(name, then)


POINTER = b"""version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""


def trap_filter(git: Git, tmp_path: Path) -> Traps:
    traps = Traps(tmp_path / "traps")
    for part in ("clean", "smudge"):
        git("config", f"filter.lfs.{part}", traps.script(f"filter.{part}"))
    git("config", "filter.lfs.required", "true")
    return traps


@pytest.mark.parametrize("content", [POINTER, b"the real content\n"])
def test_a_file_behind_a_filter_comes_back_as_it_lay_there_and_no_filter_runs(
    kept: KeptFiles, tmp_path: Path, content: bytes
) -> None:
    (kept.root / "m.bin").write_bytes(POINTER)
    (kept.root / "l.bin").symlink_to("m.bin")
    (kept.root / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    kept.git("add", "--all")
    kept.git("commit", "--quiet", "--message", "A pointer")
    traps = trap_filter(kept.git, tmp_path)
    unchanged = kept.snapshot()
    (kept.root / "m.bin").write_bytes(content + b"changed\n")
    name, then = kept.snapshot(), tree_of(kept.root)
    (kept.root / "m.bin").write_bytes(b"later\n")
    (kept.root / "l.bin").unlink()
    kept.goes_back_and_forth(name, then)
    assert "a filter of the repository" in kept.put_back(unchanged)["m.bin"]
    assert (kept.root / "m.bin").read_bytes() == b"later\n"
    assert (kept.root / "l.bin").is_symlink(), "git filters no link"
    assert traps.fired() == set()
