"""Whatever happens to files, a restore makes them what they were, and an undo what they are.

`make faults` runs thousands of these sequences, killed at any step.
"""

from __future__ import annotations

import pytest

from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git

from .file_sequences import Sequence


@pytest.mark.parametrize("seed", range(12))
def test_files_are_what_they_have_to_be_after_any_sequence(
    git: Git, places: UserDirs, clock: Clock, seed: int
) -> None:
    Sequence(git, places, clock, seed).run(12)
