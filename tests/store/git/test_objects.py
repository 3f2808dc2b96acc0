"""Objects are durable and in place when the writer is done, however many they are, or none is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.store.git.objects import ObjectsGone
from tests.conftest import Git

COUNTS = (1, 11, 12, 40)
"""Few are synced one after the other, many at the same time."""


def contents(count: int) -> list[bytes]:
    return [f"content {number}\n".encode() for number in range(count)]


def aside(git: Git) -> list[Path]:
    return list((git.root / ".git/objects").glob("gitguard-new-*"))


@pytest.mark.parametrize("count", COUNTS)
def test_objects_are_in_place_when_the_writer_is_done(guard: Guard, git: Git, count: int) -> None:
    with guard.repository().object_writer() as writer:
        ids = [writer.write("blob", content) for content in contents(count)]
        assert len(aside(git)) == count
    for object_id, content in zip(ids, contents(count), strict=True):
        assert git("cat-file", "blob", object_id) == content.decode().strip()
    assert aside(git) == []


@pytest.mark.parametrize("count", COUNTS)
def test_no_object_is_in_place_if_one_of_them_is_gone_before_it_is_durable(
    guard: Guard, git: Git, count: int
) -> None:
    ids: list[str] = []

    def write() -> None:
        with guard.repository().object_writer() as writer:
            ids.extend(writer.write("blob", content) for content in contents(count))
            aside(git)[-1].unlink()

    with pytest.raises(ObjectsGone, match="somebody cleaned"):
        write()
    assert len(ids) == count
    assert not any((git.root / ".git/objects" / name[:2] / name[2:]).exists() for name in ids)
    assert aside(git) == []


_WITHOUT_THREADS = """
import sys, time
from gitguard.store.git.objects import LooseObjects
import threading
threading.stack_size(1 << 46)  # more than a system has, so that none starts
with LooseObjects(sys.argv[1], time.time) as writer:
    for number in range(40):
        print(writer.write("blob", b"content %d\\n" % number))
"""


def test_objects_are_written_where_the_system_has_no_room_for_threads(git: Git) -> None:
    command = (sys.executable, "-c", _WITHOUT_THREADS, str(git.root / ".git"))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for object_id, content in zip(done.stdout.split(), contents(40), strict=True):
        assert git("cat-file", "blob", object_id) == content.decode().strip()
