"""The files of a resume block: many in a line, each still to be copied, and what became of them."""

from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard.sessions.resume.files import files_of, folded_items
from gitguard.sessions.resume.reader import NOBODY
from gitguard.state.items import Artifact
from gitguard.state.task import TaskState, new_task
from tests.support.state_documents import BY_HOOK

NAMES = st.text(st.sampled_from("ab.-_é{},' "), min_size=1, max_size=6).map(str.strip)
PATHS = st.lists(
    st.lists(NAMES.filter(lambda name: name not in ("", ".", "..")), min_size=1, max_size=4).map(
        "/".join
    ),
    max_size=30,
    unique=True,
)


def state_with(*artifacts: Artifact) -> TaskState:
    """A state in which files were written, the last one last."""
    return new_task("main", "2026-01-31T09:30:00Z").replace(artifacts=artifacts)


def written(path: str, *, by_shell: bool = False) -> Artifact:
    return Artifact(path, by_shell=by_shell, origin=BY_HOOK)


def test_files_of_one_folder_stand_in_one_line_the_newest_first() -> None:
    state = state_with(*map(written, ("src/api/a.py", "README.md", "src/api/b.py", "src/c.py")))
    items = files_of(state, NOBODY).items
    assert [item.text for item in items] == ["src/{c.py,api/b.py,api/a.py}", "README.md"]
    assert [item.names for item in items] == [3, 1]


def test_files_outside_of_the_workspace_stand_together_below_a_project() -> None:
    paths = ["/home/me/notes/x/one.md", "/home/me/notes/two.md", "/etc/hosts"]
    texts = [item.text for item in folded_items(paths)]
    assert texts == ["/home/me/notes/{x/one.md,two.md}", "/etc/hosts"]


@settings(max_examples=30)
@given(PATHS)
def test_a_shell_expands_a_line_to_the_paths_themselves(paths: list[str]) -> None:
    lines = [(item.text, item.names) for item in folded_items(paths)]
    plain = [path for path in paths if not set(path) & set("{},' ")]
    folded = " ".join(text for text, names in lines if names > 1)
    run = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {folded}"], capture_output=True, text=True, check=True
    )
    alone = [text for text, names in lines if names == 1]
    assert sorted([*filter(None, run.stdout.splitlines()), *alone]) == sorted(paths)
    assert sum(names for _, names in lines) == len(paths)
    assert {*paths} - {*plain} <= {*alone}


def test_a_file_that_is_gone_says_so_and_one_that_was_moved_says_where_to() -> None:
    state = state_with(
        written("src/old.py"), written("src/reader.py"), written("lib/reader.py", by_shell=True)
    )
    reader = NOBODY.replace(gone=frozenset({"src/old.py", "src/reader.py"}))
    shown = [f"{item.text}{item.remark}" for item in files_of(state, reader).items]
    assert shown == [
        "lib/reader.py (by shell)",
        "src/reader.py (moved to lib/reader.py)",
        "src/old.py (gone)",
    ]


def test_of_two_files_with_its_name_neither_is_where_a_file_was_moved_to() -> None:
    state = state_with(*map(written, ("a/__init__.py", "b/__init__.py", "c/__init__.py")))
    reader = NOBODY.replace(gone=frozenset({"a/__init__.py"}))
    assert files_of(state, reader).items[-1].remark == " (gone)"
