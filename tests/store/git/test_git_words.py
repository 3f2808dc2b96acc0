"""What git complains about is kept without what it read: a link may lead it to any file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.errors import GitguardError
from gitguard.guard import Guard
from gitguard.store.git.complaints import git_words
from tests.conftest import Git

SECRET = "root:x:0:0:Correct-Horse-Battery,Staple:/root:/bin/bash"
SHALLOW = ".git/shallow"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (f"fatal: bad shallow line: {SECRET}", "fatal: bad shallow line: …"),
        ("fatal: bad shallow line: hunter2 and hunter3", "fatal: bad shallow line: … and …"),
        (
            "error: object directory /home/x/key does not exist; check .git/objects/info/x",
            "error: object directory … does not exist; check …",
        ),
        (
            "fatal: Unable to create '/repo/.git/refs/heads/x.lock': File exists.",
            "fatal: Unable to create '/repo/.git/refs/heads/x.lock': File exists.",
        ),
        (
            "error: cannot lock ref 'refs/heads/gitguard/main': No space left on device",
            "error: cannot lock ref 'refs/heads/gitguard/main': No space left on device",
        ),
        (
            "fatal: bad config line 12 in file /repo/.git/config",
            "fatal: bad config line 12 in file /repo/.git/config",
        ),
        (
            "fatal: bad numeric config value '12345' for 'a.b'",
            "fatal: bad numeric config value … for …",
        ),
    ],
)
def test_of_a_complaint_only_gits_own_words_and_names_in_the_repository_stay(
    said: str, shown: str
) -> None:
    assert git_words(said, "/repo", "refs/") == shown


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8))
def test_a_word_with_digits_signs_or_capitals_of_a_foreign_file_never_stays(word: str) -> None:
    shown = git_words(f"fatal: bad shallow line: x9{word}z", "/repo", "refs/")
    assert shown == "fatal: bad shallow line: …"


@pytest.mark.parametrize("name", [SHALLOW, ".git/info/grafts", ".git/packed-refs", ".git/config"])
def test_no_line_of_a_file_that_a_link_leads_git_to_is_kept_or_shown(
    begun: Guard, git: Git, tmp_path: Path, name: str
) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text(f"{SECRET}\n", encoding="utf-8")
    link = git.root / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(foreign)
    heard = []
    acts: list[Callable[[], object]] = [
        lambda: begun.checkpoint("Now."),
        lambda: begun.note({"goal": "On"}),
        begun.verify,
        begun.resume,
    ]
    for act in acts:
        try:
            heard.append(repr(act()))
        except GitguardError as error:
            begun.workspace.note_fault("trying", error)
            heard.append(f"{error.message} {error.hint}")
    ours = (begun.workspace.folder, begun.workspace.places.state_home)
    kept = [path for top in ours for path in Path(top).rglob("*") if path.is_file()]
    assert kept
    for text in [*heard, *(path.read_text(errors="replace") for path in kept)]:
        assert "Horse" not in text
    assert foreign.read_text(encoding="utf-8") == f"{SECRET}\n"
    os.unlink(link)
