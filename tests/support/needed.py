"""What a test needs of the machine besides Python and git.

A machine without it skips the test and says so by name; under CI its absence is a failure, because
there nobody reads what was skipped.
"""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def under_ci() -> bool:
    """Whether this run decides over a change."""
    return os.environ.get("CI", "") not in ("", "0", "false")


def cannot_run(reason: str) -> NoReturn:
    """End a test that this machine cannot run: skipped, or failed under CI."""
    if under_ci():
        pytest.fail(f"cannot run here: {reason}", pytrace=False)
    pytest.skip(reason)


def need(*programs: str) -> None:
    """End the test unless the programs are installed."""
    absent = [program for program in programs if shutil.which(program) is None]
    if absent:
        cannot_run(f"needs {', '.join(absent)}")


def need_root(purpose: str) -> None:
    """End the test unless root runs it."""
    if os.geteuid() != 0:
        cannot_run(f"needs root {purpose}")
