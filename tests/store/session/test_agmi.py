"""The public conformance suite: nine edits, three attackers, and controls that have to fail.

The attackers may write anything inside the repository, `.git` and `.gitguard/` included. What the
suite asks is `Guard.resume()`, which is what hooks hand out. `make faults` tries all the controls.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agmi.adapters import (
    ATTACKERS,
    PLAIN_GIT,
    WITHOUT_ANCHOR,
    ChainRewriteAdapter,
    GitguardAdapter,
    RewriteWithoutAnchor,
)
from tests.agmi.scorecard import table, verdicts

REFERENCE = Path(__file__).parents[3] / "references" / "design" / "integrity.md"
NINE = 9


def words(adapter: type[GitguardAdapter]) -> list[str]:
    return [verdict for _, verdict, _ in verdicts(adapter)]


@pytest.mark.parametrize("adapter", ATTACKERS)
def test_every_edit_of_every_attacker_is_rejected_where_it_is_read(
    adapter: type[GitguardAdapter],
) -> None:
    assert words(adapter) == ["REJECTED"] * NINE, verdicts(adapter)


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", PLAIN_GIT)
def test_plain_git_would_accept_every_one_of_them(adapter: type[GitguardAdapter]) -> None:
    assert words(adapter) == ["ACCEPTED"] * NINE, verdicts(adapter)


def test_without_the_anchor_a_rewritten_chain_is_accepted() -> None:
    """The suite is able to see a failure: the same adapter, the same edits, no memory outside."""
    assert words(RewriteWithoutAnchor) == ["ACCEPTED"] * NINE, verdicts(RewriteWithoutAnchor)


@pytest.mark.thorough
@pytest.mark.parametrize("adapter", WITHOUT_ANCHOR[1:])
def test_without_the_anchor_hashes_alone_do_not_see_a_whole_old_copy(
    adapter: type[GitguardAdapter],
) -> None:
    assert words(adapter) == ["REJECTED"] * (NINE - 1) + ["ACCEPTED"], verdicts(adapter)


def test_what_an_attacker_changes_is_what_gitguard_would_hand_out() -> None:
    adapter = ChainRewriteAdapter()
    adapter.setup()
    try:
        adapter.seed(2)
        newest = adapter.read_all_raw()[-1]
        assert "goal 1 of main" in newest.fields["state"]
        assert "goal 1 of main" in adapter.guard.resume()
    finally:
        adapter.teardown()


@pytest.mark.thorough
def test_the_scorecard_in_the_references_is_current() -> None:
    assert table() in REFERENCE.read_text()
