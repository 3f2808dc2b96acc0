"""A field of the task state is declared once: whoever shows, counts or searches notes finds it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gitguard
from tests.conftest import Git

PACKAGE = Path(gitguard.__file__).parent
DECLARED = """
    risks: tuple[Note, ...] = fields.records("What may go wrong.", of=Note, default=())
    environment: str = fields.text("Where the work runs.", default="")

    @property
    def is_done(self)"""


class Extended:
    """gitguard with two more fields in its declaration, in a workspace with a session."""

    def __init__(self, folder: Path, git: Git) -> None:
        self.git = git
        self._folder = folder
        shutil.copytree(PACKAGE, folder / "gitguard")  # with what Python compiled
        shutil.copytree(PACKAGE.parent / "templates", folder / "templates")
        declaration = folder / "gitguard" / "state" / "task.py"
        before, place, after = declaration.read_text().partition(
            "\n    @property\n    def is_done(self)"
        )
        assert place
        declaration.write_text(before + DECLARED + after)

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        return self.python("-m", "gitguard", *arguments, stdin=stdin)

    def python(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.git.root,
            env={**os.environ, "PYTHONPATH": f"{self._folder}:{PACKAGE.parent}"},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def extended(tmp_path: Path, git: Git) -> Extended:
    """Notes in both fields while a commit is made, and more of them after it."""
    run = Extended(tmp_path / "extended", git)
    run("ensure")
    run("note", "--goal", "Port the parser", "--next", "Write the tests")
    run("note", "--risk", "The disk is full", "--environment", "The staging cluster")
    (git.root / "parser.py").write_text("TOKENS = ()\n")
    git("add", "parser.py")
    git("commit", "--quiet", "--message", "Port it")
    run("checkpoint")
    changed = {"risks": ["The disk is full", "The quota ends"], "environment": "Production"}
    updated = run("update", stdin=json.dumps(changed))
    assert updated == "risks: replaced 1 by 2\nenvironment: set\n"
    run("checkpoint")
    return run


def test_a_field_of_one_line_has_an_option_and_a_schema(extended: Extended) -> None:
    options = " ".join(extended("note", "--help").split())
    assert "--risk TEXT What may go wrong (can be repeated)" in options
    assert "--environment TEXT Where the work runs" in options
    schema = json.loads(
        extended.python(
            "-c",
            "import json; from tests.generating.json_schema import state_schema; "
            "print(json.dumps(state_schema()))",
        )
    )
    assert schema["properties"]["risks"]["type"] == "array"
    assert schema["properties"]["environment"]["type"] == "string"


def test_a_field_of_one_line_is_shown_wherever_notes_are(extended: Extended) -> None:
    assert "## Risks\n\n- The disk is full\n- The quota ends\n" in extended("show", "summary")
    assert "## Environment\n\n- Production\n" in extended("show", "summary")
    block = extended("resume")
    assert "Risks:\n- The quota ends\n- The disk is full\nEnvironment: Production\n" in block
    extended("handoff", "write")
    handoff = (extended.git.root / ".context-checkpoint.md").read_text()
    assert "- Risk: The disk is full\n- Environment: Production\n" in handoff


def test_a_field_of_one_line_is_counted_compared_searched_and_reported(extended: Extended) -> None:
    assert "+1 risk, 1 environment" in extended("log", "HEAD~1..HEAD")
    difference = extended("diff", "2", "4")
    assert "+ New risk: The quota ends (agent" in difference
    assert "+ Environment: Production" in difference
    assert "~ Environment: The staging cluster → Production" in extended("diff", "3", "4")
    assert "cp_004" in extended("search", "quota ends")
    assert "listed until cp_004" in extended("search", "staging cluster")
    report = extended("report", "HEAD~1..HEAD", "-o", "-")
    assert "<summary>Risks (2)" in report
    assert "- Production (cp_004)" in report
    written = extended("report", "HEAD~1..HEAD", "--format", "json", "-o", "-")
    entries = [(entry["field"], entry["text"]) for entry in json.loads(written)["entries"]]
    assert ("environment", "The staging cluster") in entries
    stays = extended("note", "--goal", "Fix the login page")
    assert "what was noted for it stays: 2 risks, 1 environment." in stays


def test_a_field_of_one_line_is_joined_with_what_other_writers_made_of_it(
    extended: Extended,
) -> None:
    joined = extended.python(
        "-c",
        "from gitguard.state.joining import join_lanes\n"
        "from tests.support.lanes import begun, noted\n"
        "start = begun('a')\n"
        "a = noted(start, risks=['The disk is full'], environment='Staging')\n"
        "b = noted(join_lanes([start], 'b'), risks=['The quota ends'], environment='Production')\n"
        "both = join_lanes([a, b])\n"
        "print(*sorted(risk.text for risk in both.state.risks), both.state.environment, sep=', ')\n"
        "print(*(conflict.field for conflict in both.conflicts))",
    )
    assert joined == "The disk is full, The quota ends, Production\nenvironment\n"
