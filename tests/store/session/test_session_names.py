"""Session keys: any key is safe as folder and ref, and no two keys share a name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import GitguardError, InvalidInput, MissingState
from gitguard.guard import Guard
from gitguard.store.disk.lock import Lock
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session, is_session_name
from tests.conftest import Git, OpenGuard

ODD = [
    "--upload-pack=x",
    "-fdelete",
    "../x",
    "..",
    ".",
    ".git",
    "a/b",
    "feature_x-217d2bf5",
    "Main",
    "MAIN",
    unicodedata.normalize("NFC", "café"),
    unicodedata.normalize("NFD", "café"),
    "x" * 300,
    "two\nlines",
    "nul\0byte",
    "con",
    "com1.txt",
    "a..b",
    "a.lock",
    "a.",
    "HEAD",
    "archive",
    "a b",
    "@{-1}",
    "a~1",
    "a:b",
    "\u202egnp.exe",
    "'; rm -rf ~; '",
    "$(id)",
    "\udcff\udcfe",
    "🦊",
    "-",
    "_",
]
PLAIN = ["main", "a", "0", "release-1.2", "a_b", "fix.it", "x" * 64, "a-12345678x", "head"]


@pytest.mark.parametrize("key", PLAIN)
def test_a_plain_key_is_its_own_name(key: str) -> None:
    assert Session.of(key).name == key


@pytest.mark.parametrize("key", ODD, ids=repr)
def test_an_odd_key_becomes_a_safe_name(key: str) -> None:
    name = Session.of(key).name
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*-[0-9a-f]{8}", name)
    assert len(name) <= 64
    assert is_session_name(name)
    subprocess.run(["git", "check-ref-format", f"refs/heads/gitguard/{name}"], check=True)


def test_no_two_keys_share_a_name() -> None:
    keys = [*ODD, *PLAIN, *(Session.of(key).name for key in ODD)]
    names = [Session.of(key).name for key in keys]
    assert len({name.casefold() for name in names}) == len(set(keys))


@pytest.mark.parametrize("key", ["", "x" * 1025])
def test_a_key_that_cannot_be_one_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="session key"):
        Session.of(key)


@given(st.text(min_size=1, max_size=80))
def test_any_text_has_a_safe_name(key: str) -> None:
    session = Session.of(key)
    assert is_session_name(session.name)
    session.key.encode()


@pytest.mark.parametrize("key", ODD, ids=repr)
def test_a_session_with_an_odd_key_is_whole(git: Git, open_guard: OpenGuard, key: str) -> None:
    before = set(Path(git.root).parent.iterdir())
    guard = open_guard(session=key)
    guard.ensure()
    guard.note({"goal": "Odd"})
    assert [c.session_key for c in guard.log()] == [Session.of(key).key] * 2
    assert guard.resume()
    assert os.path.dirname(guard.workspace.session_folder(Session.of(key))) == os.path.join(
        guard.workspace.folder, "sessions"
    )
    new = {path.name for path in Path(git.root).parent.iterdir() if path not in before}
    assert new <= {"state", "config"}


@pytest.mark.parametrize("branch", ["Feature/X", "a/b/c", "ünï", "x" * 200, "feature_x-217d2bf5"])
def test_any_branch_names_a_session(git: Git, open_guard: OpenGuard, branch: str) -> None:
    git("checkout", "--quiet", "-b", branch)
    guard = open_guard()
    guard.ensure()
    assert current_session(guard.workspace).key == branch
    assert guard.log()[0].code.branch == branch


def test_a_branch_that_is_no_text_names_a_session(git: Git, open_guard: OpenGuard) -> None:
    subprocess.run([b"git", b"checkout", b"-q", b"-b", b"caf\xe9"], cwd=git.root, check=True)
    guard = open_guard()
    guard.ensure()
    guard.note({"goal": "Latin"})
    assert guard.log()[0].sequence == 2
    assert guard.ensure().how == "continued"
    git.fsck()


def test_a_branch_called_none_is_not_a_detached_head(git: Git, open_guard: OpenGuard) -> None:
    git("checkout", "--quiet", "-b", "none")
    guard = open_guard()
    guard.ensure()
    assert guard.log()[0].code.branch == "none"


@pytest.mark.parametrize(
    "attempt",
    [
        lambda guard: guard.note({"goal": "x"}),
        lambda guard: guard.update({"goal": "x"}),
        lambda guard: guard.checkpoint("Why."),
        lambda guard: guard.gate("host"),
        lambda guard: guard.repair_local(),
        lambda guard: guard.accept(),
        lambda guard: guard.sessions.fork(Session.of("other")),
    ],
    ids=["note", "update", "checkpoint", "gate", "repair", "accept", "fork"],
)
def test_a_name_that_is_mistyped_leaves_nothing_behind(
    begun: Guard, open_guard: OpenGuard, attempt: Callable[[Guard], object]
) -> None:
    folder = Path(begun.workspace.place.common_dir) / "gitguard"
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(GitguardError):
        attempt(open_guard(session="typo"))
    assert sorted(path.name for path in folder.iterdir()) == before
    assert begun.workspace.session_names() == ["main"]


def test_a_session_without_working_files_is_named_by_the_key_in_its_checkpoint(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    key = "Agent: Größe/2"
    session = Session.of(key)
    begun.sessions.use(session)
    begun.note({"goal": "Ours"})
    shutil.rmtree(begun.workspace.folder)
    after = open_guard()
    assert after.sessions.keys() == {"main": "main", session.name: key}
    assert {report.session for report in after.verify(every_session=True)} == {"main", key}


def test_a_key_in_a_checkpoint_that_does_not_fit_the_name_is_not_taken(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    git("branch", "gitguard/other", "gitguard/main")
    shutil.rmtree(begun.workspace.folder)
    assert open_guard().sessions.keys() == {"main": "main", "other": "other"}


def test_who_waits_for_a_lock_that_came_to_nothing_gets_the_next_one(tmp_path: Path) -> None:
    path = str(tmp_path / "one.lock")
    held: list[bool] = []

    def wait() -> None:
        with Lock(path, timeout=20, clock=time.time):
            held.append(os.path.exists(path))

    def come_to_nothing(do: Callable[[], object] = bool) -> None:
        with Lock(path, timeout=20, clock=time.time):
            do()
            raise MissingState("there is nothing")

    def let_wait() -> None:
        waiter.start()
        time.sleep(0.2)  # so that it has the file open
        assert not held

    waiter = threading.Thread(target=wait)
    with pytest.raises(MissingState):
        come_to_nothing(let_wait)
    waiter.join()
    assert held == [True], "who comes next would make another file, and hold that"
    with pytest.raises(MissingState):
        come_to_nothing()
    assert os.path.exists(path), "somebody had use for it"
