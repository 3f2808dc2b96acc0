"""Three machines with a clone each, and the remote that they were cloned from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.support.staged import staged
from tests.support.synced_machines import Machine, Remote, machine, write_three

tmp_path = staged(three=write_three)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """The folder in which they lie."""
    return tmp_path


@pytest.fixture
def remote(three: Path) -> Remote:
    return Remote(three / "remote.git")


@pytest.fixture
def a(three: Path, clock: Clock) -> Machine:
    return machine(three, "a", clock)


@pytest.fixture
def b(three: Path, clock: Clock) -> Machine:
    return machine(three, "b", clock)


@pytest.fixture
def c(three: Path, clock: Clock) -> Machine:
    return machine(three, "c", clock)
