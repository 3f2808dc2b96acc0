"""The page of the library is true: each of its examples runs and prints what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import written_conversations as written
from tests.support.scratch import environment, is_as_promised, make_repository

PAGE = Path(__file__).parents[2] / "references" / "library.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = re.compile(
    r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```\n\n```text\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
"""An example's heading, its program, and what the program prints."""
EXAMPLES = EXAMPLE.findall(TEXT)
LONGEST = 60
"""The most lines of a program and its output: two screens of 30 lines."""


def test_every_program_on_the_page_is_an_example() -> None:
    assert len(EXAMPLES) == TEXT.count("```python\n") > 0
    assert len(EXAMPLES) == TEXT.count("```text\n")


@pytest.mark.parametrize(("heading", "program", "promised"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_an_example_runs_in_a_new_repository_and_prints_what_the_page_shows(
    tmp_path: Path, heading: str, program: str, promised: str
) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    written.write_parser_conversation(root / "chat.jsonl")
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, f"{heading}: {ended.stdout}"
    assert is_as_promised(promised, ended.stdout), f"{heading}:\n{ended.stdout}"


@pytest.mark.parametrize(("heading", "program", "promised"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_an_example_is_at_most_two_screens_long(heading: str, program: str, promised: str) -> None:
    assert len(f"{program}{promised}".splitlines()) <= LONGEST, heading
