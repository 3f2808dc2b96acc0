"""Packs that are written in process are what git itself would have written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.store.git.objects import Pack, id_of, is_index
from tests.conftest import Git

FORMATS = {"sha1": 40, "sha256": 64}


@pytest.fixture(params=FORMATS)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Git:
    git = Git(tmp_path)
    git("init", "--quiet", "--bare", f"--object-format={request.param}")
    return git


def written(git: Git, pack: Pack) -> Path:
    path = git.root / "objects" / "pack" / "pack-ours.pack"
    data, index = pack.contents()
    path.write_bytes(data)
    path.with_suffix(".idx").write_bytes(index)
    return path


def test_git_reads_a_pack_of_ours_and_writes_the_same_index(bare: Git) -> None:
    id_length = FORMATS[bare("rev-parse", "--show-object-format")]
    pack = Pack(id_length)
    contents = [b"", b"x", b"\n" * 15, b"sixteen bytes ok", b"long " * 500_000]
    blobs = [pack.write("blob", data) for data in contents]
    assert len(pack) == len(contents)
    tree = pack.write("tree", b"100644 file\0" + bytes.fromhex(blobs[1]))
    assert pack.write("blob", b"x") == blobs[1], "once"
    path = written(bare, pack)
    bare("index-pack", "--strict", "-o", str(bare.root / "again.idx"), str(path))
    assert (bare.root / "again.idx").read_bytes() == path.with_suffix(".idx").read_bytes()
    assert is_index(path.with_suffix(".idx").read_bytes(), id_length)
    assert bare("cat-file", "blob", f"{tree}:file") == "x"
    assert bare("cat-file", "-s", blobs[-1]) == str(len(contents[-1]))
    bare("fsck", "--full", "--strict")


def test_an_index_that_was_cut_off_is_none() -> None:
    pack = Pack(40)
    pack.write("blob", b"x")
    index = pack.contents()[1]
    for damaged in (b"", index[:-1], index[:100], bytes(len(index)), index[:-1] + b"\0\0"):
        assert not is_index(damaged, 40)


@given(st.lists(st.binary(max_size=5_000), max_size=30))
def test_every_object_of_a_pack_is_where_its_index_says(contents: list[bytes]) -> None:
    import zlib

    pack = Pack(40)
    ids = {pack.write("blob", data): data for data in contents}
    data, index = pack.contents()
    count = len(ids)
    names_at = 8 + 256 * 4
    offsets_at = names_at + count * 20 + count * 4
    for number, object_id in enumerate(sorted(ids)):
        assert index[names_at + number * 20 :][:20].hex() == object_id
        offset = int.from_bytes(index[offsets_at + number * 4 :][:4], "big")
        while data[offset] & 0x80:
            offset += 1
        content = zlib.decompressobj().decompress(data[offset + 1 :])
        assert content == ids[object_id]
        assert id_of("blob", content, 40) == object_id
