"""Random sequences of everything that can happen keep what was acknowledged readable.

`make model` runs 250 times as many, and `python -m tests.simulation.mutants` shows that they
find what was mended once when a fix is taken out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.run import SHORT, run_sequence


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happens_what_was_acknowledged_is_readable(seed: int, tmp_path: Path) -> None:
    assert run_sequence(seed, SHORT, tmp_path / "world") == SHORT
