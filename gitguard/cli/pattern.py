"""Regular expressions that a person gives: one can take forever, so time for it is bounded."""

from __future__ import annotations

import re
import signal
import threading
import time
from typing import TYPE_CHECKING

import click

from gitguard.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_SECONDS = 5.0
"""Time for all texts together; a usual expression takes a millisecond for a thousand of them."""
_LONGEST = 1000


def pattern_of(
    _context: click.Context, parameter: click.Parameter, value: str | None
) -> Callable[[str], bool] | None:
    """Return what says whether a text matches, None where no expression is given."""
    if value is None:
        return None
    option = parameter.opts[0]
    if len(value) > _LONGEST:
        raise InvalidInput(
            f"the expression of `{option}` has {len(value):,} characters",
            f"Give one of at most {_LONGEST:,}",
        )
    try:
        return _Bounded(re.compile(value), option).matches
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInput(
            f"`{option} {value:.80}` is not a regular expression: {error}",
            "Put a backslash before each of .^$*+?{}[]()|\\ that you mean literally",
        ) from error


class _Bounded:
    def __init__(self, pattern: re.Pattern[str], option: str) -> None:
        self._pattern = pattern
        self._option = option
        self._left = _SECONDS

    def matches(self, text: str) -> bool:
        """Return whether the pattern is found in a text; raise `InvalidInput` once time is up."""
        if not hasattr(signal, "setitimer") or (
            threading.current_thread() is not threading.main_thread()
        ):
            return self._pattern.search(text) is not None
        began = time.monotonic()
        before = signal.signal(signal.SIGALRM, self._give_up)
        signal.setitimer(signal.ITIMER_REAL, max(self._left, 0.001))
        try:
            return self._pattern.search(text) is not None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self._left -= time.monotonic() - began

    def _give_up(self, _number: int, _frame: FrameType | None) -> None:
        raise InvalidInput(
            f"`{self._option} {self._pattern.pattern:.80}` takes longer than {_SECONDS:.0f} s",
            "Give a simpler expression, without a repetition inside of another one",
        )
