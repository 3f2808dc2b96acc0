"""What the page says that operations cost, they cost."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.benches.measure_operation_costs import HOSTS, Measured, measure
from tests.support.measured_costs import measured

from .conftest import installed

QUICK = [host for host in HOSTS if host.name.startswith(("Claude Code", "Codex", "pi"))]
_NAMES = 100
"""Characters by which names of temporary folders may differ."""


@pytest.mark.parametrize("host", QUICK, ids=lambda host: host.name)
def test_a_host_still_costs_what_the_page_says(host: Measured) -> None:
    said = {cost.what: cost for cost in measured() if cost.host == host.name}
    # As the page was measured: pytest's own names are longer, and longer still with two processes.
    with tempfile.TemporaryDirectory(prefix="costs-") as folder:
        now = installed(measure, host, Path(folder))
    assert [cost.what for cost in now] == list(said)
    for cost in now:
        assert cost.tool == said[cost.what].tool
        size, before = cost.call + cost.result, said[cost.what].call + said[cost.what].result
        assert size == pytest.approx(before, rel=0.02, abs=_NAMES), cost.what
