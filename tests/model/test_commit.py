"""One parser reads every commit object, whoever wrote it."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import gitguard
from gitguard.model.commit import parse_commit
from tests.conftest import Git


def test_what_git_wrote_reads_as_git_shows_it(repo: Path, git: Git) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "Two lines\n\nand a body")
    body = git("cat-file", "commit", "HEAD").encode()
    commit = parse_commit(body)
    assert commit.first("tree") == git("rev-parse", "HEAD^{tree}")
    assert commit.parents == (git("rev-parse", "HEAD~1"),)
    assert commit.message == "Two lines\n\nand a body"


def test_a_message_is_read_in_the_encoding_that_its_commit_names() -> None:
    for encoding, text in (("iso-8859-1", "Grüße"), ("shift_jis", "修正")):
        body = f"tree x\nencoding {encoding}\n\n".encode() + text.encode(encoding)
        assert parse_commit(body).message == text
    unknown = parse_commit("tree x\nencoding no-such\n\nGrüße".encode())
    assert unknown.message == "Grüße"


def test_lines_of_a_signature_are_no_headers() -> None:
    body = b"tree x\ngpgsig -----BEGIN\n tree y\n parent z\n\nmessage"
    commit = parse_commit(body)
    assert (commit.first("tree"), commit.parents) == ("x", ())
    assert commit.first("gpgsig") == "-----BEGIN"


@given(st.binary())
def test_any_bytes_are_read_and_nothing_in_them_raises(body: bytes) -> None:
    commit = parse_commit(body)
    assert isinstance(commit.message, str)
    assert all(isinstance(value, str) for value in commit.parents)


def test_no_other_module_takes_a_commit_object_apart() -> None:
    top = Path(gitguard.__file__).parent
    blank_lines = {
        str(path.relative_to(top))
        for path in top.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "partition"
        and any(isinstance(a, ast.Constant) and a.value in ("\n\n", b"\n\n") for a in node.args)
    }
    assert blank_lines == {"model/commit.py"}
