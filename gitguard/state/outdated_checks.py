"""Which outcomes of checks a later run has made outdated.

Only what is certain counts: a run that passed outdates the failure of another one only if it
checked everything that the other one did.
"""

from __future__ import annotations

import re

from gitguard.model.checks import LONGEST_COMMAND, checks_of
from gitguard.model.value import Value
from gitguard.state.check_outcomes import JOINED
from gitguard.state.items import FAILED, PASSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.checks import Check

_CHECKS_ALL = frozenset(("pytest", "py.test", "ruff check", "ruff format", "jest", "vitest"))
"""Programs that check everything if no path is given."""
_QUIETER = re.compile(r"-q+|-v+|-x|--quiet|--verbose|--tb=\S+|--no-header")
"""Options that change what a program prints, and not what it checks."""
_NARROWING = ("-k ", "-k=", "--filter ", "--filter=")
"""Options, before their value, that leave out tests."""


class Run(Value):
    """The last run of a check: its command, its outcome, and when it was."""

    command: str
    outcome: str
    when: str


def mended(runs: tuple[Run, ...]) -> frozenset[str]:
    """Return the commands that failed, where a later run of another command covers all of it."""
    return frozenset(
        run.command for run in runs if run.outcome == FAILED and _has_passed_since(run, runs)
    )


def in_doubt(runs: tuple[Run, ...]) -> frozenset[str]:
    """Return the commands of which one failed in a later line that does not tell which."""
    return frozenset(run.command for run in runs if _failed_joined(run, runs))


def _failed_joined(run: Run, runs: tuple[Run, ...]) -> bool:
    """Say whether the check is one of several of which one failed since, nobody knows which."""
    return any(
        later.when > run.when
        and JOINED in later.command
        and run.command in later.command.split(JOINED)
        for later in runs
    )


def _has_passed_since(run: Run, runs: tuple[Run, ...]) -> bool:
    """Say whether all that failed, or may have, is covered by later runs that passed."""
    passed = [
        check
        for later in runs
        if later.outcome == PASSED and later.when > run.when and not _is_cut(later)
        for check in checks_of(later.command)
    ]
    checks = () if _is_cut(run) else checks_of(run.command)
    return bool(checks) and all(any(_covers(newer, check) for newer in passed) for check in checks)


def _is_cut(run: Run) -> bool:
    commands = run.command.split(JOINED)
    return run.command.endswith("…") or any(len(c) >= LONGEST_COMMAND for c in commands)


def _covers(newer: Check, older: Check) -> bool:
    """Say whether the newer run checked all that the older one did.

    It does if both have the same options, and the newer one names every path of the older one, or
    none at all and its program then checks everything.
    """
    if older.program != newer.program:
        return False
    older_options, older_paths = _parted(older.arguments)
    options, paths = _parted(newer.arguments)
    unfiltered = tuple(o for o in older_options if not o.startswith(_NARROWING))
    if options not in (older_options, unfiltered):
        return False
    covers_all = not paths and newer.program in _CHECKS_ALL
    return covers_all or older_paths == paths or bool(older_paths) and older_paths <= paths


def _parted(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the options, with what may be their values, and the paths."""
    options, paths = [], set()
    takes_value = False
    for argument in arguments:
        if _QUIETER.fullmatch(argument):
            takes_value = False
        elif argument[0] == "-":
            options.append(argument)
            takes_value = "=" not in argument
        elif takes_value:
            options[-1] += f" {argument}"
            takes_value = False
        else:
            paths.add(argument)
    return tuple(sorted(options)), frozenset(paths)
