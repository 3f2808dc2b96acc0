"""Which commands of a shell line build, test, check or start something.

A successor needs these: they say how the work is checked. `state/check_outcomes.py` says how each
ended, and for that a check knows its place among the other commands of its line.
"""

from __future__ import annotations

import posixpath

from gitguard.model.shell.programs import (
    INTERPRETERS,
    LONGEST,
    RUNNERS,
    VALUES,
    behind_operands,
    deciding_commands,
    started_program,
)
from gitguard.model.shell.scanner import PIPES, SimpleCommand, read_line
from gitguard.model.text import late_pattern
from gitguard.model.value import Value

LONGEST_COMMAND = 160
"""The most characters of a command that are kept; one as long as that was cut."""
_ANY = frozenset({"*"})
_PROGRAMS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        (
            "pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "tsc", "eslint",
            "prettier", "ruff", "mypy", "flake8", "black", "pylint", "pyright", "make", "ninja",
            "ctest", "gradle", "gradlew", "mvn", "mvnw", "rspec", "rake", "phpunit", "phpstan",
            "pre-commit", "shellcheck", "golangci-lint", "uvicorn", "gunicorn", "playwright",
            "cypress", "biome", "staticcheck", "hadolint", "just", "task", "bazel", "buck2", "poe",
            "invoke", "gulp", "grunt", "rubocop", "stylelint", "yamllint", "actionlint", "tflint",
            "ansible-lint", "markdownlint", "swiftlint", "ktlint", "bandit", "xcodebuild",
        ),
        _ANY,
    ),
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"),
        frozenset({"test", "t", "run", "build", "start", "lint", "typecheck", "check", "dev"}),
    ),
    "cargo": frozenset({"test", "build", "check", "clippy", "run", "fmt", "bench", "nextest"}),
    "go": frozenset({"test", "build", "vet", "run"}),
    "dotnet": frozenset({"test", "build", "run"}),
    "swift": frozenset({"test", "build", "run"}),
    "zig": frozenset({"test", "build", "run"}),
    "mix": frozenset({"test", "compile", "format", "credo"}),
    "node": frozenset({"--test"}),
    "deno": frozenset({"test", "lint", "check", "task", "fmt"}),
    "flask": frozenset({"run"}),
    "cmake": frozenset({"--build"}),
    "terraform": frozenset({"plan", "validate", "apply"}),
    "docker": frozenset({"build", "compose"}),
    "docker-compose": frozenset({"up", "build"}),
}  # fmt: skip
"""Programs, and those of their subcommands that count."""
_BY_TARGET = frozenset(
    (
        "mise", "turbo", "nx", "hatch", "pdm", "rye", "pixi", "composer", "flutter", "dart", "sbt",
        "lein", "openspec", "helm", "tofu", "dbt", "poetry", "pipenv", "uv", "bundle",
    )
)  # fmt: skip
"""Runners and programs that check something if the name of what they are to do says so."""
_RUN = frozenset(("run", "r", "run-script"))
"""Words with which a runner takes a target that the project's own configuration names."""
_CHECKING = frozenset(
    (
        "test", "tests", "lint", "check", "checks", "build", "validate", "verify", "analyze",
        "analyse", "typecheck",
    )
)  # fmt: skip
"""Parts of a target's name that say it."""
_PARTS = late_pattern(r"[^a-z]+")
_WITH_SUBCOMMANDS = {"ruff": frozenset({"check", "format"})}
"""Programs that always check something, and whose verdict depends on the subcommand."""
_NAMES = (*_PROGRAMS, *_BY_TARGET, "unittest")
"""Programs that check something; the last one is started by Python alone."""
_NO_QUOTES = str.maketrans("", "", "\"'\\\n")
_WRAPPERS = frozenset(("time", "timeout", "nice", "nohup"))
"""Runners that do not change what runs, so the command is the same without them."""
_TESTING = frozenset(("if", "elif", "while", "until", "!"))
"""Words before a command whose exit code the shell itself reads."""
_QUIET = frozenset(("cd", "echo", "printf", "true", ":", "export", "set", "pwd"))
"""Commands that say little and do not fail, so the end of the output is not theirs."""
_AND = "&&"


class Target(Value):
    """What a command runs, whatever leads to it: folder changes, assignments, runners, joints."""

    program: str
    """Its program, with the subcommand if it has one that counts: `pytest`, `ruff check`."""
    arguments: tuple[str, ...]
    folder: str = ""
    """Where its line changed to before, empty if it did not, as in `cd .`."""


class Check(Value):
    """A command that checks the work, without what surrounds it."""

    command: str
    target: Target
    place: int
    """Its place among the commands of the line."""
    leads_to: int
    """The last place that the line reaches only if this command ends well."""
    owns_exit_code: bool
    """Whether the line ends well only if this command does."""
    speaks_last: bool
    """Whether the end of the output is this command's."""
    speaks_alone: bool
    """Whether all of the output is, but for what the line itself says by `echo`."""
    runs_on: bool = False
    """Whether the line leaves it running in the background."""


def checks_of(line: str) -> tuple[Check, ...]:
    """Return the commands of a shell line that build, test, check or start something."""
    bare = line.translate(_NO_QUOTES).lower()
    if not any(name in bare for name in _NAMES):
        return ()  # most lines, which need not be taken apart
    commands = _steps(line)
    # A line that puts changes away checks something else than the work as it is.
    if any(map(_stashes, commands)):
        return ()
    checks = []
    folder = ""
    for place, step in enumerate(commands):
        folder = _folder_behind(step, folder)
        target = _checked_by(step)
        if target is None:
            continue
        # After `||` or `if`, how the line ends does not say how this command did.
        is_in_doubt = place > 0 and commands[place - 1].joint == "||"
        is_in_doubt |= not _TESTING.isdisjoint(step.keywords)
        leads_to = place if is_in_doubt else _end_of_chain(commands, place)
        check = Check(
            _without_wrappers(step.as_written()),
            target.replace(folder=folder),
            place=place,
            leads_to=leads_to,
            owns_exit_code=not is_in_doubt and commands[leads_to].joint == "",
            speaks_last=_speaks_last(commands, place),
            speaks_alone=all(map(_is_quiet, commands[:place])),
            runs_on=_runs_on(commands, place),
        )
        checks.append(check)
    return tuple(checks)


def only_check(line: str) -> str:
    """Return the check that a shell line runs, empty if it runs anything else that can fail."""
    checks = checks_of(line)
    if len(checks) != 1 or not checks[0].speaks_last:
        return ""
    return checks[0].command if checks[0].speaks_alone else ""


def targets_of(line: str) -> tuple[Target, ...]:
    """Return what must have passed if a shell line did, and of what one failed if it did not.

    It is empty where nobody can tell: behind `||` and pipes, in groups, with an input of its own.
    """
    if line.endswith("…"):
        return ()  # it was cut
    read = read_line(line[:LONGEST])
    deciding = deciding_commands(read)
    if any(map(_stashes, read.commands)) or any(map(_has_input, deciding)):
        return ()
    targets = []
    folder = ""
    for step in read.commands:
        folder = _folder_behind(step, folder)
        if step in deciding and not _is_quiet(step):
            target = _checked_by(step) or _run_by(step)
            if target is not None:
                targets.append(target.replace(folder=folder))
    return tuple(targets)


def is_check(target: Target) -> bool:
    """Say whether a program is known to build, test, check or start something."""
    return target.program.partition(" ")[0] in _NAMES


def _folder_behind(step: SimpleCommand, folder: str) -> str:
    """Return the folder in which the next command of a line runs."""
    if step.words[:1] != ["cd"]:
        return folder
    changed = posixpath.normpath(posixpath.join(folder, *step.words[1:2]))
    return "" if changed == "." else changed


def _has_input(step: SimpleCommand) -> bool:
    reads = any(operator[:1] == "<" for operator, _ in step.redirections)
    return bool(reads or step.input or step.feeder is not None)


def _run_by(step: SimpleCommand) -> Target | None:
    """Return what a command of any program runs; None for assignments alone.

    The folder in which a script lies tells it from another one.
    """
    program = started_program(step.words, step)
    if program is None or not program.name:
        return None
    written = step.words[len(program.before)].removeprefix("./")
    name = program.name
    if name.startswith(INTERPRETERS):
        name = name.rstrip("0123456789.")
    elif "/" in written:
        name = written
    return Target(name, tuple(program.words))


def _steps(line: str) -> list[SimpleCommand]:
    """Return the commands of a line without those of substitutions; what ends it joins nothing."""
    read = read_line(line[:LONGEST])
    steps = [
        command
        for command in read.commands
        if (command.words or command.keywords)
        and not command.is_substituted
        # A line that was cut has here-documents without a text, which looks like commands.
        and (not command.spans or command.spans[0][0] < read.unbegun_at)
    ]
    if steps and steps[-1].joint != "&":
        # Of a line that was cut nobody knows how it goes on.
        is_cut = line.endswith("…") or steps[-1].joint not in (";", "\n", "")
        steps[-1].joint = ";" if is_cut else ""
    return steps


def _stashes(step: SimpleCommand) -> bool:
    words = behind_operands(step.words[1:], VALUES["git"], 0) if step.words[:1] == ["git"] else []
    return words[:1] == ["stash"] and words[1:2] not in (["list"], ["show"])


def _end_of_chain(steps: list[SimpleCommand], place: int) -> int:
    if steps[place].joint != _AND:
        return place
    after = range(place, len(steps))
    return next(n for n in after if steps[n].joint != _AND and steps[n].joint not in PIPES)


def _runs_on(steps: list[SimpleCommand], place: int) -> bool:
    """Say whether a command was started in the background, where nothing tells how it ends."""
    after = (steps[n].joint for n in range(place, len(steps)))
    return next((j for j in after if j not in PIPES and j not in (_AND, "||")), "") == "&"


def _is_quiet(step: SimpleCommand) -> bool:
    return not step.words or step.words[0] in _QUIET


def _speaks_last(steps: list[SimpleCommand], place: int) -> bool:
    return all(
        steps[n - 1].joint in PIPES or _is_quiet(steps[n]) for n in range(place + 1, len(steps))
    )


def _checked_by(step: SimpleCommand) -> Target | None:
    """Return what a command runs that checks something; None if it does not."""
    program = started_program(step.words, step)
    if program is None:
        return None
    name = program.name
    words = step.as_written()[len(program.before) + 1 :]
    if name in _BY_TARGET:
        return _by_target(name, words)
    runner = next((word for word in program.before if word in _BY_TARGET), "")
    if runner and name not in _NAMES and _says_check(name):
        return Target(f"{runner} {name}", tuple(words))  # as in `hatch run lint`
    subcommands = _ANY if name == "unittest" else _PROGRAMS.get(name, frozenset())
    if subcommands is _ANY:
        subcommands = _WITH_SUBCOMMANDS.get(name, _ANY)
        if words[:1] == [] or words[0] not in subcommands:
            return Target(name, tuple(words))
    if name in ("npm", "pnpm", "yarn") and words[:2] == ["run", "test"]:
        words = words[1:]  # which is `npm test`
    for place, word in enumerate(words[:2]):
        if word in subcommands:
            return Target(f"{name} {word}", (*words[:place], *words[place + 1 :]))
    return None


def _by_target(name: str, words: list[str]) -> Target | None:
    """Return what a runner runs if its target checks something, or comes from a configuration."""
    for place, word in enumerate(words[:2]):
        if word in _RUN or (word[:1] != "-" and _says_check(word)):
            return Target(f"{name} {word}", (*words[:place], *words[place + 1 :]))
    return None


def _says_check(target: str) -> bool:
    return not _CHECKING.isdisjoint(_PARTS.split(target.lower()))


def _without_wrappers(words: list[str]) -> str:
    while words and words[0] in _WRAPPERS:
        words = behind_operands(words[1:], *RUNNERS[words[0]])
    return " ".join(" ".join(words).split())[:LONGEST_COMMAND]
