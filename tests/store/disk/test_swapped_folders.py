"""Links that are put in the place of our folders, at any moment, lead no write elsewhere."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gitguard.errors import GitguardError
from gitguard.sessions.handoff.handoff_file import write_handoff
from gitguard.store.session.workspace import Session
from tests.support.conversation import Conversation

SWAPPED = (".gitguard/sessions/main", ".gitguard/sessions", ".gitguard", ".git/gitguard")
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.rmdir", "os.listdir"}
_listener: list[Callable[[], None]] = []


def _audit(event: str, _arguments: object) -> None:
    if _listener and event in WATCHED:
        _listener[-1]()


sys.addaudithook(_audit)  # cannot be taken back; without a listener it does nothing


@contextmanager
def before_each_call(act: Callable[[], None]) -> Iterator[None]:
    """Act right before each call of the system that opens or changes a name."""

    def once_at_a_time() -> None:
        _listener.append(_nothing)
        try:
            act()
        finally:
            _listener.pop()

    _listener.append(once_at_a_time)
    try:
        yield
    finally:
        _listener.clear()


def _nothing() -> None:
    return


class Trap:
    """A folder of ours that is swapped for a link to a victim that looks just like it."""

    def __init__(self, folder: Path, victim: Path) -> None:
        self._folder, self._aside, self._victim = folder, folder.with_name("aside"), victim
        shutil.copytree(folder, victim, symlinks=True)
        for path in victim.rglob("*"):
            if path.is_file():
                path.write_bytes(b"Mine.\n")
        self._before = contents(victim)

    def spring(self) -> None:
        """Put the link there."""
        if not self._folder.is_symlink():
            with suppress(OSError):
                self._folder.rename(self._aside)
                self._folder.symlink_to(self._victim)

    def put_back(self) -> None:
        """Put the folder there again."""
        if self._folder.is_symlink():
            self._folder.unlink()
            self._aside.rename(self._folder)

    def check(self) -> None:
        """Fail if anything in the victim changed."""
        assert contents(self._victim) == self._before


def contents(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def prompt(talk: Conversation) -> None:
    talk.prompt("Go on")


def tool(talk: Conversation) -> None:
    talk.send("PostToolUse.Bash")


def note(talk: Conversation) -> None:
    talk.guard.note({"next_action": "Swap"})


def end(talk: Conversation) -> None:
    talk.send("Stop", last_assistant_message="Done.")


def compact(talk: Conversation) -> None:
    talk.send("PreCompact")


def switch(talk: Conversation) -> None:
    talk.guard.sessions.use(Session.of("other"))
    talk.guard.sessions.use(Session.of("main"))


def archive(talk: Conversation) -> None:
    talk.guard.sessions.close()
    talk.guard.sessions.reopen("main")


def restore(talk: Conversation) -> None:
    talk.guard.restore("1")
    talk.guard.repair_local()


def hand_off(talk: Conversation) -> None:
    guard = talk.guard
    write_handoff(guard.store(), guard.config.handoff.replace(enabled=True))


def mark(talk: Conversation) -> None:
    talk.guard.workspace.note_fault("swapping", GitguardError("a fault"))


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    talk.send("Stop")
    return talk


def attempt(act: Callable[[Conversation], Any], talk: Conversation) -> None:
    with suppress(GitguardError, OSError):
        act(talk)


@pytest.mark.parametrize("name", SWAPPED)
@pytest.mark.parametrize(
    "act", [tool, mark, note, prompt, end, compact, switch, archive, restore, hand_off]
)
def test_a_folder_that_becomes_a_link_before_any_call_leads_no_write_elsewhere(
    talk: Conversation, tmp_path: Path, name: str, act: Callable[[Conversation], Any]
) -> None:
    trap = Trap(talk.root / name, tmp_path / "victim")
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    with before_each_call(count):
        act(talk)
    rounds = range(0, calls, max(calls // 8, 1))
    for springs_at in rounds:
        at = -1

        def spring(springs_at: int = springs_at) -> None:
            nonlocal at
            at += 1
            if at == springs_at:
                trap.spring()

        with before_each_call(spring):
            attempt(act, talk)
        trap.check()
        trap.put_back()
    assert len(rounds) >= 4


def _swap(folder: str, victim: str, stop: Any) -> None:
    aside = f"{folder}.aside"
    while not stop.is_set():
        with suppress(OSError):
            os.rename(folder, aside)
            os.symlink(victim, folder)
            os.unlink(folder)
            os.rename(aside, folder)


@pytest.mark.parametrize("name", SWAPPED)
def test_a_loop_that_swaps_folders_for_links_changes_nothing_elsewhere(
    talk: Conversation, tmp_path: Path, name: str
) -> None:
    trap = Trap(talk.root / name, tmp_path / "victim")
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    loop = context.Process(
        target=_swap, args=(str(talk.root / name), str(tmp_path / "victim"), stop)
    )
    loop.start()
    try:
        for act in (tool, mark, note, tool, prompt, end, compact, switch, hand_off, archive) * 2:
            attempt(act, talk)
    finally:
        stop.set()
        loop.join()
    trap.check()


def test_a_link_in_the_place_of_a_folder_is_named(talk: Conversation, tmp_path: Path) -> None:
    trap = Trap(talk.root / ".gitguard" / "sessions" / "main", tmp_path / "victim")
    trap.spring()
    with pytest.raises(GitguardError, match="is a symbolic link, which is refused"):
        talk.guard.note({"next_action": "Swap"})
    trap.check()
    trap.put_back()
    assert json.loads((talk.root / ".gitguard/sessions/main/state.json").read_text())
