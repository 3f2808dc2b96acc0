"""What an agent created on a forge is known by the address that its command printed."""

from __future__ import annotations

import pytest

from gitguard.hosts.payload import kept_command
from gitguard.model.created import created_addresses

PULL = "https://git.example.com/farm/barn/pull/12"


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("gh pr create --fill", f"Creating pull request for hay into main\n\n{PULL}\n"),
        ("git push -u origin hay && gh pr create -t 'Add; hay'", f"remote: done\n{PULL}"),
        ("gh issue create --title Hay --body ''", PULL),
        ("glab mr create --fill --yes", f"!12 Add hay (hay)\n {PULL}"),
        ("hub pull-request -m Hay", PULL),
        ("tea pulls create --title Hay", f"# Hay\n\nSee {PULL}."),
        ("az repos pr create --title Hay", f'{{"url": "{PULL}", "id": 12}}'),
    ],
)
def test_the_address_that_a_creating_command_prints_counts(line: str, output: str) -> None:
    assert created_addresses(line, output) == (PULL,)


@pytest.mark.parametrize(
    "line",
    [
        "gh pr view 12",
        "gh pr list",
        "cat notes",
        "echo gh pr create",
        "curl -s api",
        "gh pr checks",
    ],
)
def test_an_address_that_something_else_prints_does_not(line: str) -> None:
    assert created_addresses(line, f"see {PULL}") == ()


def test_an_address_for_programs_is_left_out() -> None:
    output = f'{{"_links": "https://dev.example.com/_apis/git/12", "webUrl": "{PULL}"}}'
    assert created_addresses("az repos pr create", output) == (PULL,)


def test_the_address_counts_that_is_printed_behind_a_long_text_for_a_file() -> None:
    text = "Hay is ported.\n" * 400
    line = f"cat > body.md <<'EOF'\n{text}EOF\ngh pr create --title Hay --body-file body.md"
    assert created_addresses(kept_command(line), PULL) == (PULL,)
