"""Which commands of a shell line check the work, how each ended, and what a later run settles."""

from __future__ import annotations

import pytest

from gitguard.model.checks import checks_of, targets_of
from gitguard.state.check_outcomes import outcomes_of
from gitguard.state.items import FAILED, PASSED, RAN
from gitguard.state.outdated_checks import Run, in_doubt, mended

RUFF = "All checks passed!"
PYTEST, PYTEST_FAILED = "12 passed in 0.31s", "2 failed, 10 passed in 0.31s"


def commands(line: str) -> list[str]:
    return [check.command for check in checks_of(line)]


def outcomes(line: str, output: str = "", *, has_failed: bool = False) -> dict[str, str]:
    ended = outcomes_of(line, output, has_failed=has_failed)
    return {each.command: each.outcome for each in ended}


def ending(line: str, output: str, *, has_failed: bool = False) -> str:
    (ended,) = outcomes_of(line, output, has_failed=has_failed)
    return ended.ending


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd app && ruff check src/ && pytest -q", ["ruff check src/", "pytest -q"]),
        ("ruff check a 2>&1 | tail -3; mypy a > log", ["ruff check a", "mypy a"]),
        ("timeout 60 python -m pytest -q", ["python -m pytest -q"]),
        ("uv run --frozen pytest", ["uv run --frozen pytest"]),
        ("cd app\nnpm test\necho done", ["npm test"]),
        ("for n in 1 2; do pytest -x; done", ["pytest -x"]),
        ("pytest -k 'one; two | make'", ["pytest -k 'one; two | make'"]),
        ('pytest -k "one && make"', ['pytest -k "one && make"']),
        ("# it's slow\npytest", ["pytest"]),
        ("git commit -m 'build; make test'", []),
        ("git commit -F - <<'EOF'\nMend it; make test\nEOF\nruff check .", ["ruff check ."]),
        ("cat > notes <<EOF\nnpm test\n", []),
        ("git commit -F - <<EOF make; make test", []),
        ("make \\\n  test", ["make test"]),
        ("ruff check . && make &&", ["ruff check .", "make"]),
        ("x=$(make test); pytest $x", ["pytest $x"]),
        ("(cd app; pytest) && echo ok", ["pytest"]),
    ],
)
def test_every_check_of_a_compound_command_is_recognised_and_nothing_quoted(
    line: str, expected: list[str]
) -> None:
    assert commands(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "mise run lint",
        "mise test:unit",
        "just verify",
        "make check",
        "npm run e2e",
        "openspec validate add-import --strict",
        "flutter analyze",
        "task lint:docs",
        "composer test:unit",
        "poe types",
        "nox -s lint",
        "tox -e docs",
        "hatch run lint",
        "poetry run check-types",
        "helm lint charts/importer",
    ],
)
def test_a_runner_with_a_target_that_checks_is_a_check(line: str) -> None:
    assert commands(f"cd app && {line} 2>&1 | tail -5") == [line]
    assert targets_of(line) == tuple(check.target for check in checks_of(line))


@pytest.mark.parametrize(
    "line",
    ["mise install", "composer require a/b", "helm upgrade web .", "poetry add x", "uv sync"],
)
def test_a_runner_that_does_something_else_checks_nothing(line: str) -> None:
    assert commands(line) == []


def test_a_verdict_tells_which_check_of_a_line_failed() -> None:
    line = "ruff check src/ && echo clean && pytest -q"
    output = f"Exit code 1 {RUFF} clean {PYTEST_FAILED}"
    assert outcomes(line, output, has_failed=True) == {
        "ruff check src/": PASSED,
        "pytest -q": FAILED,
    }


def test_a_verdict_behind_a_pipe_counts_for_its_own_program() -> None:
    line = "ruff check src/ && echo clean && pytest -q 2>&1 | tail -3"
    output = f"{RUFF} clean {PYTEST_FAILED}"
    assert outcomes(line, output) == {"ruff check src/": PASSED, "pytest -q": FAILED}


def test_what_follows_a_check_that_failed_did_not_run() -> None:
    line = "ruff check src/ && pytest -q"
    assert outcomes(line, "Exit code 1 Found 3 errors.", has_failed=True) == {
        "ruff check src/": FAILED
    }


def test_checks_of_which_one_failed_are_named_together_if_nothing_tells_which() -> None:
    line = "npm run build && npm test"
    assert outcomes(line, "Exit code 1", has_failed=True) == {"npm run build && npm test": FAILED}


def test_the_check_without_a_verdict_failed_if_the_others_passed() -> None:
    line = "ruff check src/ && npm test"
    output = f"Exit code 1 {RUFF} 3 wrong"
    assert outcomes(line, output, has_failed=True) == {
        "ruff check src/": PASSED,
        "npm test": FAILED,
    }


def test_a_check_passed_if_a_command_behind_it_failed_the_line() -> None:
    output = f"Exit code 1 {PYTEST} ! [rejected] main"
    assert outcomes("pytest && git push", output, has_failed=True) == {"pytest": PASSED}


def test_a_check_whose_tests_passed_fails_by_its_own_exit_code() -> None:
    output = f"Exit code 1 {PYTEST} FAIL Required coverage of 90% not reached"
    assert outcomes("cd app && pytest --cov", output, has_failed=True) == {"pytest --cov": FAILED}


@pytest.mark.parametrize("behind", ["; git status", " | grep -n x", " || true"])
def test_an_exit_code_of_another_command_is_no_verdict(behind: str) -> None:
    assert outcomes(f"pytest -q{behind}", "nothing else") == {"pytest -q": RAN}
    assert outcomes(f"pytest -q{behind}", PYTEST_FAILED) == {"pytest -q": FAILED}
    assert outcomes(f"pytest -q{behind}", "", has_failed=True) == {"pytest -q": RAN}


@pytest.mark.parametrize("code", [126, 127])
def test_a_program_that_could_not_start_is_no_failing_check(code: int) -> None:
    output = f"Exit code {code} bash: line 1: pytest: command not found"
    assert outcomes("pytest -q", output, has_failed=True) == {}
    assert outcomes("ruff check && pytest -q", output, has_failed=True) == {}


@pytest.mark.parametrize(
    ("line", "output", "outcome"),
    [
        ("bun test 2>&1 | tail -3", "3 pass 0 fail Ran 3 tests across 1 files. [12.00ms]", PASSED),
        ("bun test 2>&1 | tail -3", "2 pass 1 fail Ran 3 tests across 1 files. [12.00ms]", FAILED),
        ("bun test | tail -2", "0 fail 5 expect() calls", PASSED),
        ("node --test | tail -8", "ℹ tests 3 ℹ pass 3 ℹ fail 0 ℹ cancelled 0", PASSED),
        ("node --test | tail -8", "# tests 3 # pass 2 # fail 1 # cancelled 0", FAILED),
        ("npm test | tail", "Tests: 1 failed, 3 passed, 4 total", FAILED),
        ("npm test; true", "Tests  4 passed (4)", PASSED),
        ("make test | tail -3", "1 failed", RAN),
        ("./gradlew check || true", "FAILED", RAN),
    ],
)
def test_without_an_exit_code_only_the_report_of_the_program_itself_tells(
    line: str, output: str, outcome: str
) -> None:
    assert list(outcomes(line, output).values()) == [outcome]


def test_a_build_passed_if_the_tests_behind_it_ran() -> None:
    line = "dotnet build a.sln -v q && dotnet test a.sln | tail -2"
    output = "Passed! - Failed: 0, Passed: 7, Skipped: 0, Total: 7, Duration: 9 ms - A.dll (net9.0)"
    assert outcomes(line, output) == {
        "dotnet build a.sln -v q": PASSED,
        "dotnet test a.sln": PASSED,
    }


@pytest.mark.parametrize(
    ("failed", "outcome"), [("1", FAILED), ("0", PASSED)], ids=["failed", "passed"]
)
def test_the_summary_of_dotnet_is_read_in_any_language(failed: str, outcome: str) -> None:
    line = "dotnet test a.csproj 2>&1 | head -9; grep -n Total a.cs"
    summary = (
        f"Échec ! - échec : {failed}, réussite : 3, ignorée(s) : 0, total : 4, durée : 9 ms - A.dll"
    )
    assert outcomes(line, f"{summary} 17: int Total;") == {"dotnet test a.csproj": outcome}
    assert ending(line, f"{summary} 17: int Total;").startswith(summary)
    assert "17:" not in ending(line, f"{summary} 17: int Total;")


def test_two_runs_of_one_program_have_a_verdict_each_or_none() -> None:
    line = "ruff check a | tail -1; ruff check b | tail -1"
    both = f"{RUFF} Found 2 errors."
    assert outcomes(line, both) == {"ruff check a": PASSED, "ruff check b": FAILED}
    assert outcomes(line, RUFF) == {"ruff check a": RAN, "ruff check b": RAN}


def test_an_ending_begins_with_the_verdict() -> None:
    output = f"Exit code 1 E assert 3 == 4 {PYTEST_FAILED}"
    assert (
        ending("pytest", output, has_failed=True) == f"{PYTEST_FAILED}; Exit code 1 E assert 3 == 4"
    )


def test_parts_of_a_report_that_lost_its_verdict_are_no_ending() -> None:
    assert ending("ruff check src/ | head -4", "30 | import json 31 | import os") == ""


def test_what_a_program_without_a_known_verdict_says_last_is_its_ending() -> None:
    assert ending("npm run dev; true", "Listening on 3000") == "Listening on 3000"


def test_a_verdict_of_a_check_in_the_background_is_its_outcome() -> None:
    assert outcomes("pytest -q & sleep 5", PYTEST_FAILED) == {"pytest -q": FAILED}
    assert outcomes("pytest -q & sleep 5", "nothing else") == {}


def after(older: str, newer: str, outcome: str = PASSED) -> frozenset[str]:
    """Return what is mended where one command failed and another one ran later."""
    return mended((Run(older, FAILED, "1"), Run(newer, outcome, "2")))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("pytest tests/test_a.py", "pytest -q"),
        ("pytest tests/test_a.py -x", "python -m pytest -q tests/test_a.py tests/test_b.py"),
        ("pytest -k sum", "pytest"),
        ("ruff check src/", "ruff check src/ tests/"),
        ("dotnet test a.csproj --filter Name~Sum", "dotnet test a.csproj"),
        ("python -m unittest test_m", "python3 -m unittest"),
        ("python -m unittest test_m.TestSum", "python -m unittest -v test_m"),
        ("pytest tests/test_a.py::test_sum", "pytest tests/test_a.py"),
        ("pytest tests/test_a.py", "pytest ./tests/"),
        ("mypy src/a", "mypy ."),
        ("go test ./a/b", "go test ./..."),
        ("ruff format --check src", "ruff format src"),
        ("prettier --check a.md", "prettier --write a.md"),
        ("eslint src", "eslint --fix src"),
        ("npm run test", "npm test"),
    ],
)
def test_a_failure_is_mended_by_a_later_run_of_the_same_or_a_wider_scope(
    older: str, newer: str
) -> None:
    assert after(older, newer) == {older}
    assert after(older, newer, FAILED) == after(older, newer, RAN) == frozenset()


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("pytest", "pytest tests/test_a.py"),
        ("pytest tests/test_a.py tests/test_b.py", "pytest tests/test_a.py"),
        ("pytest", "pytest -k sum"),
        ("pytest --slow", "pytest"),
        ("ruff check src/", "ruff format src/"),
        ("make test", "make"),
        ("go test ./a", "go test"),
        ("go test ./ab", "go test ./a/..."),
        ("pytest tests/test_ab.py", "pytest tests/test_a"),
        ("make a/b", "make a"),
        ("pytest", "pytest discover"),
        ("pytest ../other", "pytest ."),
        ("cargo test", "cargo run test"),
        ("bun test", "bun run test"),
        ("npm test", "npm run build"),
        (f"pytest tests/{'a' * 160}", "pytest"),
    ],
)
def test_a_failure_stays_if_a_later_run_may_not_cover_it(older: str, newer: str) -> None:
    assert after(older[:160], newer) == frozenset()


def test_checks_named_together_are_mended_once_each_of_them_passed() -> None:
    both = Run("npm run build && npm test", FAILED, "1")
    build, tests = Run("npm run build", PASSED, "2"), Run("npm test", PASSED, "3")
    assert mended((both, build)) == frozenset()
    assert mended((both, build, tests)) == {both.command}


def test_an_older_outcome_is_in_doubt_once_the_check_failed_together_with_others() -> None:
    build, both = Run("npm run build", PASSED, "1"), Run("npm run build && npm test", FAILED, "2")
    assert in_doubt((build, both)) == {build.command}
    assert in_doubt((build.replace(when="3"), both)) == frozenset()


@pytest.mark.parametrize("stash", ["git stash push -q -- a.py", "git stash", "git -C . stash pop"])
def test_a_check_of_work_that_is_put_away_is_none(stash: str) -> None:
    assert (
        outcomes_of(f"{stash} && pytest -q ; git stash pop", "1 failed in 2s", has_failed=True)
        == ()
    )


def test_what_other_commands_of_a_line_print_is_no_ending_of_a_check() -> None:
    (ended,) = outcomes_of(
        "git status --short; prettier --check a.md | tail -3", "?? a.md", has_failed=False
    )
    assert (ended.outcome, ended.ending) == (RAN, "")


@pytest.mark.parametrize(
    "line", ["npm run dev &", "cd app && make serve > log &", "make serve | tee log &"]
)
def test_a_command_left_in_the_background_has_no_outcome(line: str) -> None:
    assert outcomes(line, "Listening on 3000") == {}


def test_a_command_before_one_in_the_background_has_its_outcome() -> None:
    assert outcomes("make build; make serve &") == {"make build": RAN}


@pytest.mark.parametrize(
    ("output", "shown"),
    [(f"> run checks {PYTEST}", PYTEST), ("Listening on 3000", ""), (f"fine {RUFF}", "")],
)
def test_only_a_count_is_shown_behind_what_passed(output: str, shown: str) -> None:
    assert ending("npm run verify-all", output) == shown
