"""Which outcomes of checks a later run has made outdated.

Only what is certain counts: a run that passed outdates the failure of another one only if it
checked everything that the other one did.
"""

from __future__ import annotations

from gitguard.model.checks import LONGEST_COMMAND, Target, checks_of, is_check
from gitguard.model.text import late_pattern
from gitguard.model.value import Value
from gitguard.state.check_outcomes import JOINED
from gitguard.state.items import FAILED, PASSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


_CHECKS_ALL = frozenset(
    ("pytest", "py.test", "unittest", "ruff check", "ruff format", "jest", "vitest")
)
"""Programs that check everything if no path is given."""
_FILES, _TESTS, _MODULES = ("/",), ("/", "::"), (".", "/")
_WITHIN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pytest", "py.test"), _TESTS),
    "unittest": _MODULES,
    **dict.fromkeys(
        (
            "ruff", "ruff check", "ruff format", "black", "mypy", "flake8", "pylint", "pyright",
            "eslint", "prettier", "jest", "vitest", "mocha", "rspec", "phpunit", "go test",
            "go vet", "go build",
        ),
        _FILES,
    ),
}  # fmt: skip
"""Programs that go down into a path, and what stands in a path behind one that holds it."""
_NO_MATTER = late_pattern(
    r"-q+|-v+|-x|--quiet|--verbose|--tb=\S+|--no-header|--check|--diff|--fix|--write"
)
"""Options that change what a program prints, or whether it mends what it finds."""
_TO_COMMIT = frozenset(("add", "commit"))
"""Subcommands of git that lead to a commit."""
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


def told_by_no_other(runs: tuple[Run, ...]) -> frozenset[str]:
    """Return the commands without those that passed where other ones passed all of it as well."""
    passed = [run for run in runs if run.outcome == PASSED]
    covered = set()
    for run in passed:
        others = [other for other in passed if other.command not in covered and other is not run]
        targets = targets_of_run(run)
        by_others = [t for other in others for t in targets_of_run(other)]
        if targets and all(is_covered(target, by_others) for target in targets):
            covered.add(run.command)
    return frozenset(run.command for run in runs) - covered


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
        target
        for later in runs
        if later.outcome == PASSED and later.when > run.when
        for target in targets_of_run(later)
    ]
    targets = targets_of_run(run)
    return bool(targets) and all(is_covered(target, passed) for target in targets)


def targets_of_run(run: Run) -> tuple[Target, ...]:
    """Return what the checks of a run ran; of a command that was cut nobody knows all of it."""
    return () if _is_cut(run) else tuple(check.target for check in checks_of(run.command))


def is_covered(target: Target, passed: Iterable[Target]) -> bool:
    """Say whether what passed includes all that a command ran.

    A commit also covers an earlier attempt to stage or commit, whatever its paths and message.
    """
    return any(
        _covers(newer, target) or (_git_step(newer) == "commit" and _git_step(target) in _TO_COMMIT)
        for newer in passed
    )


def _git_step(target: Target) -> str:
    """Return the subcommand of git that a target is, empty for another program."""
    return target.arguments[0] if target.program == "git" and target.arguments else ""


def leads_to_commit(line: str) -> bool:
    """Say whether a shell line, which may be cut, begins to stage or to commit."""
    from gitguard.model.shell.programs import programs_of

    first = next((program for program in programs_of(line) if program.name != "cd"), None)
    return first is not None and first.name == "git" and not _TO_COMMIT.isdisjoint(first.words[:1])


def _is_cut(run: Run) -> bool:
    commands = run.command.split(JOINED)
    return run.command.endswith("…") or any(len(c) >= LONGEST_COMMAND for c in commands)


def _covers(newer: Target, older: Target) -> bool:
    """Say whether the newer run includes all that the older one did.

    It does if both ran the same. Of a program that is known to check something, it also does if
    both have the same options, and the newer one names every path of the older one or one that
    holds it, or none at all and the program then checks everything.
    """
    if older.program != newer.program:
        return False
    if older.folder and newer.folder and older.folder != newer.folder:
        return False
    if older.arguments == newer.arguments:
        return True
    if not is_check(older):
        return False
    older_options, older_paths = _parted(older)
    options, paths = _parted(newer)
    unfiltered = tuple(o for o in older_options if not o.startswith(_NARROWING))
    if options not in (older_options, unfiltered):
        return False
    if not paths:
        return not older_paths or newer.program in _CHECKS_ALL
    marks = _WITHIN.get(newer.program, ())
    return bool(older_paths) and all(
        any(_is_within(path, wider, marks) for wider in paths) for path in older_paths
    )


def _is_within(path: str, wider: str, marks: tuple[str, ...]) -> bool:
    """Say whether a path is another one, or within it where the program goes down into it."""
    if path == wider:
        return True
    top = wider.removesuffix("...").rstrip("/")
    if top in ("", "."):
        return bool(marks) and not path.startswith(("/", "~", ".."))
    return path.startswith(tuple(top + mark for mark in marks))


def _parted(target: Target) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the options, with what may be their values, and the paths.

    What is printed and whether what is wrong is mended at once makes no difference.
    """
    options, paths = [], set()
    takes_value = False
    for argument in target.arguments:
        if _NO_MATTER.fullmatch(argument):
            takes_value = False
        elif argument[:1] == "-":
            options.append(argument)
            takes_value = "=" not in argument
        elif takes_value:
            options[-1] += f" {argument}"
            takes_value = False
        elif (target.program, argument) != ("unittest", "discover"):  # what it does without it
            paths.add(argument.removeprefix("./").rstrip("/") or ".")
    return tuple(sorted(options)), frozenset(paths)
