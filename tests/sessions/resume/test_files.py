"""The files of a resume block: many in a line, each still to be copied, and what became of them."""

from __future__ import annotations

import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from gitguard import Guard
from gitguard.sessions.resume.files import files_of, folded_items
from gitguard.sessions.resume.reader import NOBODY
from gitguard.state.items import Artifact
from gitguard.state.task import TaskState, new_task
from tests.conftest import Git
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


def test_files_of_one_name_in_different_folders_stand_in_one_line() -> None:
    paths = ["docs/README.md", "api/rows.py", "lib/parser/README.md", "README.md", "/srv/README.md"]
    texts = [(item.text, item.names) for item in folded_items(paths)]
    assert texts == [
        ("{docs,lib/parser}/README.md", 2),
        ("api/rows.py", 1),
        ("README.md", 1),
        ("/srv/README.md", 1),
    ]


def test_a_long_folder_is_not_named_again_for_each_of_its_files() -> None:
    folder = f"packages/{'deep/' * 20}"
    assert [item.text for item in folded_items([f"{folder}a.py", f"{folder}b.py"])] == [
        f"{folder}{{a.py,b.py}}"
    ]


def test_files_outside_of_the_workspace_stand_together_below_a_project() -> None:
    paths = ["/home/me/notes/x/one.md", "/home/me/notes/two.md", "/etc/hosts"]
    texts = [item.text for item in folded_items(paths)]
    assert texts == ["/home/me/notes/{x/one.md,two.md}", "/etc/hosts"]


def test_a_folder_with_a_blank_is_quoted_as_a_shell_wants_it() -> None:
    items = folded_items(["/home/me/My Notes/one.md", "/home/me/My Notes/two.md", "a/b c.md"])
    assert [item.text for item in items] == ['"/home/me/My Notes/"{one.md,two.md}', "a/b c.md"]


@settings(max_examples=60)
@given(PATHS)
def test_a_shell_expands_a_line_to_the_paths_themselves(paths: list[str]) -> None:
    lines = [(item.text, item.names) for item in folded_items(paths)]
    folded = " ".join(text for text, names in lines if names > 1)
    run = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {folded}"], capture_output=True, text=True, check=True
    )
    alone = [text for text, names in lines if names == 1]
    assert sorted([*filter(None, run.stdout.splitlines()), *alone]) == sorted(paths)
    assert sum(names for _, names in lines) == len(paths)


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


def test_git_tells_where_a_file_was_moved_to_by_a_commit_or_in_the_index(
    guard: Guard, git: Git
) -> None:
    for name in ("kept.py", "staged.py", "committed.py", "removed.py"):
        (git.root / name).write_text(f"# {name}\n" * 30)
    git("add", ".")
    git("commit", "--quiet", "--message", "files")
    guard.ensure()
    paths = ["kept.py", "staged.py", "committed.py", "removed.py"]
    guard.note({"goal": "Port it", "artifacts": [{"path": path} for path in paths]})
    for old, new in (("committed.py", "once.py"), ("once.py", "twice.py")):
        git("mv", old, new)
        git("commit", "--quiet", "--message", new)
    git("mv", "staged.py", "elsewhere.py")
    git("rm", "--quiet", "removed.py")
    files = guard.resume().partition("Files:\n")[2].splitlines()[:4]
    assert sorted(files) == [
        "- committed.py (moved to twice.py)",
        "- kept.py",
        "- removed.py (gone)",
        "- staged.py (moved to elsewhere.py)",
    ]
