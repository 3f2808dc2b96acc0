"""What an agent waits for is measured in the real host: hooks around its tool calls and turns."""

from __future__ import annotations

from pathlib import Path

from tests.benches.bench_waiting import rows

from .conftest import installed


def test_what_an_agent_waits_for_is_measured_in_the_host(tmp_path: Path) -> None:
    # It fails by itself where the host does not follow the script, or its hooks do not run.
    measured = installed(rows, tmp_path, 2)
    assert [row.what for row in measured] == [
        "an agent waits for a tool call",
        "an agent waits for a turn",
    ]
