"""Which commands of a shell line build, test, check or start something.

A successor needs these: they say how the work is checked. `state/check_outcomes.py` says how each
ended, and for that a check knows its place among the other commands of its line.
"""

from __future__ import annotations

import re

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
            "cypress", "biome", "staticcheck", "hadolint", "just", "task", "bazel", "buck2",
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
    "deno": frozenset({"test", "lint", "check", "task", "fmt"}),
    "flask": frozenset({"run"}),
    "cmake": frozenset({"--build"}),
    "terraform": frozenset({"plan", "validate", "apply"}),
    "composer": frozenset({"test", "run"}),
    "docker": frozenset({"build", "compose"}),
    "docker-compose": frozenset({"up", "build"}),
}  # fmt: skip
"""Programs, and those of their subcommands that count."""
_RUNNERS = frozenset(
    ("npx", "uv", "poetry", "pipenv", "bundle", "pdm", "hatch", "time", "sudo", "env", "timeout",
     "nice", "nohup", "command", "xvfb-run")
)  # fmt: skip
"""Programs that run another one, whose name follows, maybe behind `run` or `exec`."""
_WITH_SUBCOMMANDS = {"ruff": frozenset({"check", "format"})}
"""Programs that always check something, and whose verdict depends on the subcommand."""
_WRAPPERS = frozenset(("time", "timeout", "nice", "nohup"))
"""Runners that do not change what runs, so the command is the same without them."""
_KEYWORDS = frozenset(("do", "then", "else", "{"))
_TESTING = frozenset(("if", "elif", "while", "until", "!"))
"""Words before a command whose exit code the shell itself reads."""
_QUIET = frozenset(("cd", "echo", "printf", "true", ":", "export", "set", "pwd", "done", "fi", "}"))
"""Commands that say little and do not fail, so the end of the output is not theirs."""
_PYTHON = re.compile(r"python[\d.]*")
_HEREDOC = re.compile(
    r"(?<!<)<<-?\s*(['\"]?)(?P<end>[A-Za-z_]\w*)\1(?:(?P<rest>[^\n]*)\n.*?^\s*(?P=end)$|.*\Z)",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(
    r"""'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\Z)|\\.|(?P<comment>(?<!\S)\#[^\n]*)"""
    r"|(?P<joint>&&|\|\||\|&?|[;\n]|(?<![&>\d])&(?![&>\d]))[\s;]*",
    re.DOTALL,
)
_REDIRECTION = re.compile(r"\s*\d?>&?\s*\S+|\s*<\s*\S+")
_STASHING = re.compile(r"\s*git\s+(?:-C\s+\S+\s+)?stash(?!\s+(?:list|show))")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_AND, _PIPES = "&&", ("|", "|&")


class Check(Value):
    """A command that checks the work, without what surrounds it."""

    command: str
    program: str
    """Its program, with the subcommand if it has one: `pytest`, `ruff check`."""
    arguments: tuple[str, ...]
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


def checks_of(line: str) -> tuple[Check, ...]:
    """Return the commands of a shell line that build, test, check or start something."""
    commands, joints = _split(line)
    # A line that puts changes away checks something else than the work as it is.
    if any(_STASHING.match(command) for command in commands):
        return ()
    checks = []
    for place, part in enumerate(commands):
        words = _REDIRECTION.sub("", part).strip(" ()\n").split()
        # After `||` or `if`, how the line ends does not say how this command did.
        is_in_doubt = place > 0 and joints[place - 1] == "||"
        while words and (words[0] in _KEYWORDS or words[0] in _TESTING):
            is_in_doubt |= words.pop(0) in _TESTING
        if words and words[0] in _WRAPPERS:
            words = _without_runners(words)
        program, arguments = _program(words)
        if program:
            leads_to = place if is_in_doubt else _end_of_chain(joints, place)
            check = Check(
                " ".join(words)[:LONGEST_COMMAND],
                program,
                arguments,
                place,
                leads_to,
                owns_exit_code=not is_in_doubt and joints[leads_to] == "",
                speaks_last=_speaks_last(commands, joints, place),
                speaks_alone=place == 0 or _are_quiet(commands[:place]),
            )
            checks.append(check)
    return tuple(checks)


def only_check(line: str) -> str:
    """Return the check that a shell line runs, empty if it runs anything else that can fail."""
    checks = checks_of(line)
    if len(checks) != 1 or not checks[0].speaks_last:
        return ""
    return checks[0].command if checks[0].speaks_alone else ""


def _split(line: str) -> tuple[list[str], list[str]]:
    """Return the commands of a line, and what stands behind each: nothing behind the last."""
    line = _HEREDOC.sub(lambda match: match["rest"] or "", line.replace("\\\n", " "))
    commands, joints, begin = [""], [], 0
    for token in _TOKEN.finditer(line):
        if token["joint"] or token["comment"]:
            commands[-1] += line[begin : token.start()]
            begin = token.end()
        if token["joint"] and commands[-1].strip():
            joints.append(token["joint"])
            commands.append("")
    commands[-1] += line[begin:]
    if joints and joints[-1] in (";", "\n") and not commands[-1].strip():
        del commands[-1], joints[-1]
    # Of a line that was cut nobody knows how it goes on.
    return commands, [*joints, ";" if line.endswith("…") else ""]


def _end_of_chain(joints: list[str], place: int) -> int:
    if joints[place] != _AND:
        return place
    after = range(place, len(joints))
    return next(n for n in after if joints[n] != _AND and joints[n] not in _PIPES)


def _are_quiet(commands: list[str]) -> bool:
    first_words = [command.split()[:1] for command in commands]
    return all(words[0] in _QUIET for words in first_words if words)


def _speaks_last(commands: list[str], joints: list[str], place: int) -> bool:
    return all(
        joints[n - 1] in _PIPES or commands[n].split()[:1] == [] or commands[n].split()[0] in _QUIET
        for n in range(place + 1, len(commands))
    )


def _program(words: list[str]) -> tuple[str, tuple[str, ...]]:
    """Return the program that checks something, and its arguments; an empty name if none does."""
    words = _without_runners(words)
    if not words:
        return "", ()
    name = words[0].rpartition("/")[2]
    if _PYTHON.fullmatch(name) and words[1:2] == ["-m"]:
        words = words[2:]
        name = words[0] if words else ""
    subcommands = _ANY if name == "unittest" else _PROGRAMS.get(name, frozenset())
    if subcommands is _ANY:
        subcommands = _WITH_SUBCOMMANDS.get(name, _ANY)
        if words[1:2] == [] or words[1] not in subcommands:
            return name, tuple(words[1:])
    for place, word in enumerate(words[1:3], start=1):
        if word in subcommands:
            return f"{name} {word}", (*words[1:place], *words[place + 1 :])
    return "", ()


def _without_runners(words: list[str]) -> list[str]:
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _RUNNERS):
        is_runner = words[0] in _RUNNERS
        words = words[1:]
        if words[:1] in (["run"], ["exec"], ["tool"]):
            words = words[1:]
        while is_runner and words and (words[0][0] == "-" or _DURATION.fullmatch(words[0])):
            words = words[1:]
    return words
