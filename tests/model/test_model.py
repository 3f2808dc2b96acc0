"""Random sequences of everything that can happen keep what was acknowledged readable.

`make model` runs fifty times as many, and `python -m tests.simulation.mutants` shows that they
find what was mended once when a fix is taken out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.run import LENGTH, run_sequence


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_what_was_acknowledged_is_readable(seed: int, tmp_path: Path) -> None:
    assert run_sequence(seed, LENGTH, tmp_path / "world") == LENGTH
