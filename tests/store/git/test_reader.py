"""Objects as they are read: in process where they have a file, hashed again, never disguised."""

from __future__ import annotations

import os
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.errors import GitFailed, InvalidDocument
from gitguard.guard import Guard
from gitguard.store.git.reader import _expand, entries_of
from tests.conftest import Git, OpenGuard

LIMIT = 1 << 18


def read(guard: Guard, object_id: str, kind: str = "blob", limit: int = LIMIT) -> bytes:
    with guard.repository().reader() as reader:
        return reader.read(object_id, kind, limit=limit)


def file_of(git: Git, object_id: str) -> Path:
    return git.root / ".git" / "objects" / object_id[:2] / object_id[2:]


def overwrite(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def store(git: Git, text: str) -> str:
    return git("hash-object", "-w", "--stdin", stdin=text)


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_loose_object_is_read_without_git(
    tmp_path: Path, open_guard: OpenGuard, form: str
) -> None:
    git = Git(tmp_path / form)
    git.root.mkdir()
    git.start(f"--object-format={form}")
    blob = store(git, "hello\n")
    with open_guard(git.root).repository().reader() as reader:
        assert reader.read(blob, "blob", limit=LIMIT) == b"hello\n"
        assert reader.exists(blob)
        assert reader._process is None  # noqa: SLF001
        git("gc", "--quiet", "--prune=now")
        git("repack", "-adq")
        commit = git("rev-parse", "HEAD")
        assert b"First commit" in reader.read(commit, "commit", limit=LIMIT)
        assert reader._process is not None  # noqa: SLF001


def test_many_objects_are_read_at_once_from_files_and_packs(guard: Guard, git: Git) -> None:
    texts = [f"text {number}\n" * (number % 40) for number in range(1200)]
    script = "".join(f"blob\ndata {len(text)}\n{text}\n" for text in texts)
    git("fast-import", "--quiet", stdin=script)
    packed = git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
    blobs = [line.split()[0] for line in packed if " blob " in line]
    loose = store(git, "loose\n")
    wanted = [*blobs, loose, "1" * 40]
    with guard.repository().reader() as reader:
        found = reader.read_all(wanted, "blob", limit=LIMIT)
    assert list(map(str, found)) != []
    assert found[loose] == b"loose\n"
    assert isinstance(found["1" * 40], InvalidDocument)
    assert {found[blob] for blob in blobs} >= {text.encode() for text in texts}


def test_a_packed_object_that_is_damaged_does_not_hide_the_others(guard: Guard, git: Git) -> None:
    blobs = [store(git, os.urandom(64).hex()) for _ in range(5)]
    git("pack-objects", "--quiet", ".git/objects/pack/pack", stdin="\n".join(blobs) + "\n")
    git("prune-packed", "--quiet")
    (index,) = (git.root / ".git/objects/pack").glob("*.idx")
    offsets = {line.split()[1]: int(line.split()[0]) for line in show_index(git, index)}
    pack = index.with_suffix(".pack")
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[offsets[blobs[2]] + 12] ^= 0xFF
    pack.write_bytes(data)
    with guard.repository().reader() as reader:
        found = reader.read_all(blobs, "blob", limit=LIMIT)
    for number, blob in enumerate(blobs):
        assert isinstance(found[blob], InvalidDocument) == (number == 2)


def show_index(git: Git, index: Path) -> list[str]:
    import subprocess

    with index.open("rb") as file:
        done = subprocess.run(["git", "show-index"], stdin=file, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\0",
        zlib.compress(b"blob 6\0hello\n")[:-4],
        zlib.compress(b"blob 6\0HELLO\n"),
        zlib.compress(b"blob 5\0hello\n"),
        zlib.compress(b"blob 7\0hello\n"),
        zlib.compress(b"tree 6\0hello\n"),
        zlib.compress(b"blob -6\0hello\n"),
        zlib.compress(b"blob 6"),
    ],
)
def test_a_loose_object_that_is_not_its_id_is_refused(
    guard: Guard, git: Git, content: bytes
) -> None:
    blob = store(git, "hello\n")
    overwrite(file_of(git, blob), content)
    with pytest.raises((InvalidDocument, GitFailed), match=blob):
        read(guard, blob)


def test_of_an_object_with_a_bad_file_and_a_good_pack_the_good_one_is_read(
    guard: Guard, git: Git
) -> None:
    blob = store(git, "hello\n")
    git("pack-objects", "--quiet", ".git/objects/pack/pack", stdin=f"{blob}\n")
    overwrite(file_of(git, blob), zlib.compress(b"blob 6\0HELLO\n"))
    assert read(guard, blob) == b"hello\n"


def test_a_link_and_a_pipe_in_an_objects_place_are_refused_at_once(guard: Guard, git: Git) -> None:
    blob = store(git, "hello\n")
    path = file_of(git, blob)
    path.rename(git.root / "elsewhere")
    path.symlink_to(git.root / "elsewhere")
    with pytest.raises(InvalidDocument, match="symbolic link"):
        read(guard, blob)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidDocument, match="regular file"):
        read(guard, blob)


def test_a_bomb_is_refused_by_its_size_and_never_expanded(guard: Guard, git: Git) -> None:
    blob = "0" * 39 + "1"
    honest = zlib.compress(b"blob 200000000\0" + b" " * 200_000_000)
    lying = zlib.compress(b"blob 6\0" + b" " * 200_000_000)
    overwrite(file_of(git, blob), honest)
    tracemalloc.start()
    with pytest.raises(InvalidDocument, match="200,000,000"):
        read(guard, blob)
    overwrite(file_of(git, blob), lying)
    with pytest.raises((InvalidDocument, GitFailed), match=blob):
        read(guard, blob)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_any_file_of_an_object_is_a_sound_one_or_none(data: bytes) -> None:
    assert _expand(data, "blob", LIMIT) is None
    whole = zlib.compress(b"blob %d\0" % len(data) + data)
    assert _expand(whole, "blob", LIMIT) == data
    assert _expand(whole, "tree", LIMIT) is None


@settings(max_examples=200)
@given(st.binary(max_size=100))
def test_any_tree_is_a_list_of_plain_files_or_refused(data: bytes) -> None:
    for tree in (data, b"100644 a\0" + data):
        try:
            list(entries_of("1" * 40, tree))
        except InvalidDocument:
            continue


# What git would show as something else


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("kind", ["commit", "tree", "blob"])
@pytest.mark.parametrize("name", ["{id}", "nested/{id}", "{ID}"])
def test_an_object_that_is_replaced_is_refused(
    guard: Guard, git: Git, kind: str, name: str, *, packed: bool
) -> None:
    known = {"commit": "HEAD", "tree": "HEAD^{tree}", "blob": "HEAD:README.md"}
    wanted = git("rev-parse", known[kind])
    ref = "refs/replace/" + name.format(id=wanted, ID=wanted.upper())
    git("update-ref", ref, store(git, "another\n"))
    if packed:
        git("pack-refs", "--all", "--prune")
    with pytest.raises(InvalidDocument, match="is replaced by") as caught:
        read(guard, wanted, kind)
    command = caught.value.hint.removeprefix("Remove it with `git ").removesuffix("`")
    git(*command.split())
    assert read(guard, wanted, kind)


def test_a_commit_with_a_graft_is_refused_and_others_are_read(guard: Guard, git: Git) -> None:
    first = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--allow-empty", "--message", "Second")
    second = git("rev-parse", "HEAD")
    grafts = git.root / ".git" / "info" / "grafts"
    grafts.write_text(f"# a comment\n\n{second}\n")
    with pytest.raises(InvalidDocument, match="given other parents") as caught:
        read(guard, second, "commit")
    assert str(grafts) in caught.value.hint
    assert read(guard, first, "commit")
