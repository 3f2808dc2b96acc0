"""The table of hosts names tests that there are, and a column for each host."""

from __future__ import annotations

from pathlib import Path

from gitguard.hosts import HOOKS, names
from tests.generating.hosts_table import CAPABILITIES, hosts_page

ROOT = Path(__file__).parents[1]


def test_every_test_behind_a_row_is_there() -> None:
    for test in {test for capability in CAPABILITIES for test in capability.tests}:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text() if name else (ROOT / file).exists(), test


def test_every_host_has_a_column() -> None:
    header = next(line for line in hosts_page().splitlines() if line.startswith("| |"))
    assert [cell.strip() for cell in header.split("|")[2:-2]] == list(names(HOOKS))
