"""`capture.words` decides how much is kept of what is said, wherever it comes in."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.config.config import tighten
from gitguard.state.spoken import SHORT_WORDS
from gitguard.store.session.current import load_user_config
from tests.support.conversation import Conversation
from tests.support.staged import staged
from tests.support.ways_of_saying import LONG, MARK, WAYS_IN

tmp_path = staged(tmp_path=Conversation)


def configured(folder: Path, words: str) -> Conversation:
    own = folder / "config" / "config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"capture:\n  words: {words}\n")
    return Conversation(folder)


def everything_written(talk: Conversation) -> str:
    """All files of gitguard's and all that git holds, compressed or not."""
    folder = talk.root.parent
    files = [*(talk.root / ".gitguard").rglob("*"), *(folder / "state").rglob("*")]
    command = ("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
    objects = subprocess.run(command, cwd=talk.root, check=True, capture_output=True).stdout
    contents = [objects, *(path.read_bytes() for path in files if path.is_file())]
    return b"\n".join(contents).decode("utf-8", "replace")


def end(talk: Conversation) -> str:
    """End the conversation, and return what the next one is handed."""
    talk.send("Stop", last_assistant_message="")
    talk.send("SessionEnd")
    return talk.beside("S2").prompt("where were we?")


@pytest.mark.parametrize("way", WAYS_IN)
def test_whole_keeps_what_is_said(tmp_path: Path, way: str) -> None:
    """What the other two tests look for would be there."""
    talk = configured(tmp_path, "whole")
    WAYS_IN[way](talk)
    end(talk)
    assert MARK in everything_written(talk)


@pytest.mark.parametrize("way", WAYS_IN)
def test_off_keeps_no_word_in_any_file_or_object(tmp_path: Path, way: str) -> None:
    talk = configured(tmp_path, "off")
    WAYS_IN[way](talk)
    block = end(talk)
    assert MARK not in everything_written(talk)
    assert MARK not in block


@pytest.mark.parametrize("way", WAYS_IN)
def test_short_keeps_200_characters_of_each_message(tmp_path: Path, way: str) -> None:
    talk = configured(tmp_path, "short")
    WAYS_IN[way](talk)
    end(talk)
    state = talk.guard.state()
    said = [e.text for e in state.exchanges] + [state.stated_goal, state.stated_next_action]
    said += [state.host_summary.text] if state.host_summary else []
    assert max(map(len, said)) <= SHORT_WORDS
    assert LONG[:300] not in everything_written(talk)


def test_what_tools_did_and_what_the_agent_notes_is_kept_with_off(tmp_path: Path) -> None:
    talk = configured(tmp_path, "off")
    talk.prompt("Port the parser")
    talk.send("PostToolUse.Write")
    talk.guard.note({"decisions": [{"what": "By hand", "why": "it is small"}]})
    block = end(talk)
    assert "By hand" in block
    assert "Files:" in block
    assert "nothing that was said is kept here (`capture.words: off`)" in block


def test_a_repository_can_only_keep_less(tmp_path: Path) -> None:
    config = load_user_config(str(tmp_path), str(tmp_path))

    def with_words(words: str) -> Any:
        return config.replace(capture=config.capture.replace(words=words))

    for user in ("whole", "short", "off"):
        for repository in ("whole", "short", "off"):
            words = tighten(with_words(user), with_words(repository)).capture.words
            order = ("whole", "short", "off")
            assert order.index(words) == max(order.index(user), order.index(repository))
