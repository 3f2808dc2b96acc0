"""What is kept of a call that did not end well: its verdict, and only where it failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.outcome import ERROR_LIMIT, is_answer, is_wrong_guess, only_looks, verdict
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

PYTEST = "\n".join(
    [
        "Exit code 1",
        *(f"tests/test_{n}.py ........................ [ {n}%]" for n in range(10, 60)),
        *(f"    line {n} of a traceback" for n in range(100)),
        "E   AssertionError: 3 != 4",
        "FAILED tests/test_sum.py::test_sum - AssertionError: 3 != 4",
        "========= 1 failed, 99 passed in 3.21s =========",
    ]
)


def test_the_verdict_at_the_end_of_an_error_is_kept_and_its_exit_code() -> None:
    text = verdict(PYTEST)
    assert text.startswith("Exit code 1 …")
    assert text.endswith("1 failed, 99 passed in 3.21s =========")
    assert "AssertionError: 3 != 4" in text
    assert len(text) <= ERROR_LIMIT


@pytest.mark.parametrize(
    "progress",
    [
        "Receiving objects:  45% (450/1000)\rReceiving objects: 100% (1000/1000), done.",
        "remote: Counting objects: 100% (5/5), done.",
        "[ 45%] Building C object main.c.o",
        "......s..... [ 61%]",
        " 45%|████████    | 45/100 [00:01<00:01]",
        "Downloading numpy 12.3 MB 45%",
        "[======>      ] 4/9",
    ],
)
def test_progress_is_no_part_of_an_error(progress: str) -> None:
    assert verdict(f"Exit code 2\n{progress}\nfatal: early EOF") == "Exit code 2 fatal: early EOF"


@pytest.mark.parametrize(
    "line",
    [
        "FAIL Required test coverage of 90% not reached. Total coverage: 71.20%",
        "========= 1 failed in 0.12s =========",
        "error: disk is 100% full",
    ],
)
def test_a_verdict_with_a_percentage_or_a_rule_is_no_progress(line: str) -> None:
    assert verdict(f"first\n{line}") == f"first {line}"


@given(st.text(), st.integers(min_value=20, max_value=500))
def test_an_error_fits_its_limit_and_ends_as_it_did(error: str, limit: int) -> None:
    text = verdict(error, limit)
    assert len(text) <= limit
    assert "\n" not in text


@pytest.mark.parametrize(
    "command",
    [
        "grep foo a.py",
        "cd src && grep -r foo .",
        "cat a.py | grep foo",
        "make; test -f out",
        "[ -f out ]",
        "ls missing",
        "which cargo",
        "LANG=C /usr/bin/grep 'a && b' c",
        "grep 'a|b;c' file",
    ],
)
def test_a_question_that_was_answered_no_is_no_failed_attempt(command: str) -> None:
    assert is_answer(command, "Exit code 1")


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("grep foo a.py", "Exit code 2\ngrep: a.py: No such file or directory"),
        ("make && grep foo log", "Exit code 1"),
        ("grep foo a.py && make", "Exit code 1"),
        ("grep foo a.py || make", "Exit code 1"),
        ("cd nowhere && ls", "Exit code 1\nbash: cd: nowhere: No such file or directory"),
        ("pytest", "Exit code 1"),
        ("grep 'unclosed", "Exit code 1"),
        ("", "Exit code 1"),
        ("grep foo a.py", "no code"),
    ],
)
def test_what_is_no_such_question_stays_a_failed_attempt(command: str, error: str) -> None:
    assert not is_answer(command, error)


@pytest.mark.parametrize(
    "command",
    [
        "cat a.py b.py",
        "curl -s https://example.com/x.json | jq .name",
        "cd src && grep -rn foo . 2>/dev/null | head -5; ls",
        "sleep 240; cat out.log",
        "git -C . log --oneline && git status",
        "gh pr view 538 --json state",
        "kubectl get pods -n x",
        "LANG=C sudo find . -name '*.py'",
    ],
)
def test_a_command_that_only_looks_something_up_is_a_probe(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize(
    "command",
    [
        *("", "pytest", "make && cat log", "cat a > b", "cat $(which x)", "grep 'unclosed"),
        *("curl -X POST https://example.com", "curl --data=x https://example.com"),
        *("find . -delete", "git push", "git commit -m log", "gh pr merge 3", "docker run x ps"),
        *("for i in a; do ls; done", "(ls)", "cat <<EOF\nrm x\nEOF", "ls\nrm x", "cat " * 600),
    ],
)
def test_what_may_do_more_than_look_is_no_probe(command: str) -> None:
    assert not only_looks(command)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("cat > a.py <<'EOF'\nx\n", "Exit code 2\n/usr/bin/bash: -c: line 3: unexpected EOF while"),
        ("git add a(b).py", "/bin/bash: eval: line 1: syntax error near unexpected token `('"),
        ("ls **/(a", "zsh: parse error near `)'"),
        ("for i in 1 2; do sleep 60; done", "Exit code 143"),
        ("until curl -s localhost; do sleep 5; done", "Command timed out after 2m 0s"),
        ("python3 - <<'EOF'\nprint(1)\nEOF", "Exit code 1 Traceback"),
        ("cd src && node <<'EOF'\nx()\nEOF", "Exit code 1"),
    ],
)
def test_a_line_that_nobody_would_run_again_is_a_wrong_guess(command: str, error: str) -> None:
    assert is_wrong_guess(command, error)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("./build.sh", "Exit code 2\n./build.sh: line 5: syntax error near unexpected token"),
        ("bash build.sh", "build.sh: line 5: syntax error: unexpected end of file"),
        ("pytest", "Exit code 143"),
        ("python3 build.py", "Exit code 1"),
        ('python3 -c "raise SystemExit(3)"', "Exit code 3"),
        ("make test", "Command timed out after 2m 0s"),
    ],
)
def test_what_may_have_to_be_run_again_is_no_wrong_guess(command: str, error: str) -> None:
    assert not is_wrong_guess(command, error)


tmp_path, talk = staged_object("talk", Conversation)


def call(talk: Conversation, number: int, command: str, error: str = "") -> None:
    name = "PostToolUseFailure" if error else "PostToolUse.Bash"
    changes = {"error": error} if error else {}
    talk.clock.pass_by(1)
    talk.send(name, tool_use_id=f"t{number}", tool_input={"command": command}, **changes)


def failures(talk: Conversation) -> list[str]:
    talk.guard.checkpoint("Look.")
    return [failure.what for failure in talk.guard.state().failed_attempts]


def test_a_failure_whose_command_succeeded_later_is_no_failed_attempt(talk: Conversation) -> None:
    talk.prompt("Begin")
    call(talk, 1, "make test", "Exit code 2\n3 failed")
    call(talk, 2, "grep foo a.py", "Exit code 1")
    call(talk, 3, "make lint", "Exit code 1\nE501")
    assert failures(talk) == ["Bash: make test", "Bash: make lint"]
    call(talk, 4, "make test")
    assert failures(talk) == ["Bash: make lint"]
    call(talk, 5, "make test", "Exit code 2\n1 failed")
    assert failures(talk) == ["Bash: make lint", "Bash: make test"]


def test_what_the_agent_noted_of_a_failure_stays_when_the_command_succeeds(
    talk: Conversation,
) -> None:
    talk.prompt("Begin")
    talk.guard.note({"failed_attempts": [{"what": "Bash: make test", "error": "flaky"}]})
    call(talk, 1, "make test")
    assert failures(talk) == ["Bash: make test"]
