"""Attributes are found wherever git finds them, and git is not asked where there are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.guard import Guard
from gitguard.store.git.conversions import Attributes
from tests.conftest import Git

PATH = "sub/deep/a.txt"
LINE = "*.txt text eol=crlf\n"


def beside(folder: str) -> Callable[[Git, Path], None]:
    return lambda git, settings: put(git.root / folder / ".gitattributes")


def put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINE)


def named_by_the_configuration(git: Git, settings: Path) -> None:
    put(git.root.parent / "attributes")
    git("config", "core.attributesFile", str(git.root.parent / "attributes"))


def named_by_an_included_file(git: Git, settings: Path) -> None:
    put(git.root.parent / "attributes")
    (git.root / ".git" / "more").write_text(
        f"[core]\n\tattributesFile = {git.root.parent / 'attributes'}\n"
    )
    git("config", "include.path", "more")


def only_in_the_index(git: Git, settings: Path) -> None:
    put(git.root / "sub" / ".gitattributes")
    git("add", "--all")
    (git.root / "sub" / ".gitattributes").unlink()


def only_in_the_index_unseen(git: Git, settings: Path) -> None:
    only_in_the_index(git, settings)
    git("update-index", "--assume-unchanged", "sub/.gitattributes")


def only_in_an_index_of_version_4(git: Git, settings: Path) -> None:
    (git.root / "sub" / ".gitattributer").touch()  # the next name is spelled by its end alone
    only_in_the_index(git, settings)
    git("update-index", "--index-version", "4")


def only_in_a_split_index(git: Git, settings: Path) -> None:
    only_in_the_index(git, settings)
    git("update-index", "--split-index")
    (git.root / "another").touch()
    git("add", "another")


def left_out_of_the_worktree(git: Git, settings: Path) -> None:
    put(git.root / "sub" / ".gitattributes")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Attributes")
    git("sparse-checkout", "set", "--no-cone", "/*", "!/sub/.gitattributes")


PLACES = {
    "beside the file": beside("sub/deep"),
    "above the file": beside("sub"),
    "at the root": beside(""),
    "in the git directory": lambda git, settings: put(git.root / ".git" / "info" / "attributes"),
    "in the user's folder": lambda git, settings: put(settings / "git" / "attributes"),
    "named by the configuration": named_by_the_configuration,
    "named by an included file": named_by_an_included_file,
    "only in the index": only_in_the_index,
    "only in the index, unseen": only_in_the_index_unseen,
    "only in an index of version 4": only_in_an_index_of_version_4,
    "only in a split index": only_in_a_split_index,
    "left out of the worktree": left_out_of_the_worktree,
}


@pytest.fixture
def attributes(guard: Guard, git: Git) -> Callable[[], Attributes]:
    (git.root / PATH).parent.mkdir(parents=True)
    (git.root / PATH).write_text("a\n")
    return lambda: Attributes(guard.workspace.repository())


@pytest.mark.parametrize("place", PLACES)
def test_attributes_are_found(
    attributes: Callable[[], Attributes], guard: Guard, git: Git, place: str
) -> None:
    settings = Path(guard.workspace.repository().git.user_folder)
    PLACES[place](git, settings)
    assert attributes().of([PATH], ())[PATH]["eol"] == "crlf"


def test_without_any_git_is_not_asked(
    attributes: Callable[[], Attributes], git: Git, tmp_path: Path
) -> None:
    git("add", "--all")
    elsewhere = git.root / "other" / ".gitattributes"
    put(elsewhere)
    asked = attributes()
    (git.root / ".git" / "HEAD").rename(tmp_path / "HEAD")  # any git would fail
    assert asked.of([PATH], ()) == {}
