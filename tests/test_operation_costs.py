"""The page of what operations cost says what was measured, and adds it up rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benches.measure_operation_costs import (
    HOSTS,
    OPERATIONS,
    PAGE,
    Measured,
    page,
    recorded,
)
from tests.support.measured_costs import KIND, measured, rows


def test_operations_have_names_of_their_own() -> None:
    assert len(KIND) == len(OPERATIONS)


def test_the_page_follows_from_what_was_measured_and_recorded() -> None:
    assert PAGE.read_text() == page(measured(), recorded())


def test_between_two_middle_values_the_median_is_halfway() -> None:
    for kind, *_, median in rows(f"## All\n{PAGE.read_text()}", "All"):
        tokens = sorted(cost.tokens for cost in measured() if cost.kind == kind)
        lower, upper = tokens[(len(tokens) - 1) // 2], tokens[len(tokens) // 2]
        assert float(median.replace(",", "")) * 2 == lower + upper


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_every_host_did_all_that_it_has_tools_for(host: Measured) -> None:
    wanted = [told.what for told in OPERATIONS if host.call(told, Path("/repo"))]
    assert [cost.what for cost in measured() if cost.host == host.name] == wanted


def test_more_that_is_read_costs_more() -> None:
    for host in HOSTS:
        sizes = [
            cost.result
            for cost in measured()
            if cost.host == host.name and cost.what.startswith("a file of") and cost.kind == "read"
        ]
        assert sizes == sorted(sizes)
