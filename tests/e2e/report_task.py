"""A task in which a test fails and is mended, and nobody takes a note."""

from __future__ import annotations

from collections.abc import Callable

from .scripted_model import ScriptedModel, Step, ToolCall

GOAL = "Write a report module with a total, and tests for it"
REQUEST = "No, separate the values by semicolons. Never touch the PDF export."
FAILING = "python3 -m unittest test_report"
_WRONG = "def total(rows):\n    return sum(rows[1:])\n"
_TESTS = (
    "import unittest\nfrom report import total\n\n\nclass T(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
)


def script_a_task(
    model: ScriptedModel,
    write: Callable[[str, str], ToolCall],
    shell: Callable[[str], ToolCall],
    read: Callable[[str], ToolCall],
) -> None:
    """Write a test that fails, say why it did, mend it; a host's tools are arguments."""
    model.script(
        Step("I write both.", (write("report.py", _WRONG), write("test_report.py", _TESTS))),
        Step("Now the tests.", (shell(FAILING),)),
        Step("", (read("report.py"),)),
        # An edit of the same size within a second would leave Python its compiled file.
        Step("It skips the first row.", (shell("rm -rf __pycache__"),)),
        Step("So I mend it.", (write("report.py", _WRONG.replace("rows[1:]", "rows")),)),
        Step("Again.", (shell(FAILING),)),
        Step(
            "The report adds up now.\n\n"
            "## Findings\n- The loader left out the first row, 1 of 2 values.\n"
            "- Loading 40,000 rows takes 310 ms.\n\n"
            "Next: write the totals to `totals.csv`."
        ),
    )
