"""Which shell commands build, test, check or start something, and what their outcome is.

A successor needs these: they say how the work is checked, and how the last check ended. An exit
code is believed only where it is the command's own; behind a pipe it is another program's.
"""

from __future__ import annotations

import re

from gitguard.model.items import FAILED, PASSED, RAN
from gitguard.model.value import Value

_LONGEST = 160
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
_RUNNERS = ("npx", "uv", "poetry", "pipenv", "bundle", "pdm", "hatch", "time", "sudo", "env")
"""Programs that run another one, whose name follows, maybe behind `run` or `exec`."""
_PYTHON = re.compile(r"python[\d.]*")
_PARTS = re.compile(r"(&&|\|\||;|(?<!\\)\|&?|(?<![&>\d])&(?![&>\d]))")
_REDIRECTION = re.compile(r"\s*\d?>&?\s*\S+|\s*<\s*\S+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_SAYS_FAILED = re.compile(
    r"\b[1-9]\d*\s+(?:tests?\s+)?(?:failed|failures?|errors?|problems?)\b|\bFAILED\b|\bFAIL\b"
    r"|\bTraceback\b|\berror(?:\[\w+\])?:|\bBUILD FAILURE\b|\bexit code [1-9]",
)
_SAYS_PASSED = re.compile(
    r"\b\d+ (?:passed|passing)\b|\bAll checks passed\b|\bSuccess: no issues\b|\bBUILD SUCCESS"
    r"|\btest result: ok\b|^ok\b|\bOK\b",
)


class Check(Value):
    """A command that checks the work, without what surrounds it."""

    command: str
    owns_exit_code: bool
    """Whether the whole line ends as this command does."""


def check_of(line: str) -> Check | None:
    """Return the parts of a shell line that build, test, check or start something."""
    parts = _PARTS.split(line)
    commands, joints = parts[::2], [*parts[1::2], ""]
    checks: list[str] = []
    owns_exit_code = False
    for place, part in enumerate(commands):
        command = _REDIRECTION.sub("", part).strip(" ()")
        if _is_check(command.split()):
            checks.append(command)
            owns_exit_code = all(joint == "&&" for joint in joints[place:-1])
    # Which of several ended badly is not known: then all of them are named.
    return Check(" && ".join(checks)[:_LONGEST], owns_exit_code) if checks else None


def _is_check(words: list[str]) -> bool:
    while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in _RUNNERS):
        words = words[1:]
        if words[:1] in (["run"], ["exec"], ["tool"]):
            words = words[1:]
    if not words:
        return False
    name = words[0].rpartition("/")[2]
    if _PYTHON.fullmatch(name) and words[1:2] == ["-m"]:
        words = words[2:]
        name = words[0] if words else ""
        if name == "unittest":
            return True
    subcommands = _PROGRAMS.get(name)
    if subcommands is None:
        return False
    return subcommands is _ANY or any(word in subcommands for word in words[1:3])


def outcome_of(check: Check, output: str, *, has_failed: bool) -> str:
    """Return how a check ended: by its exit code, or else by what it said, if that tells."""
    if has_failed:
        return FAILED
    if _SAYS_FAILED.search(output):
        return FAILED if not check.owns_exit_code else PASSED
    if check.owns_exit_code or _SAYS_PASSED.search(output):
        return PASSED
    return RAN
