"""Who searches for a person's command, or writes of it, runs none, and is not refused."""

from __future__ import annotations

import pytest

from gitguard.hooks.answering import first_refusal
from gitguard.model import events
from gitguard.model.events import Abilities, HookEvent, ToolCall
from gitguard.store.session.workspace import UserDirs

PLACES = UserDirs(
    state_home="/home/ada/.local/state/gitguard",
    config_home="/home/ada/.config/gitguard",
    environment={"PATH": "/usr/bin", "HOME": "/home/ada"},
    home="/home/ada",
)


def is_refused(command: str) -> bool:
    tool = ToolCall("Bash", command=command, is_shell=True)
    event = HookEvent(events.TOOL_START, "S1", "/repo", folder="/repo", tool=tool)
    return first_refusal(event, Abilities(), PLACES, 1.0) is not None


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn 'gitguard hook' .claude/settings.local.json",
        'rg "gitguard override" docs | head -5',
        "cat .claude/settings.local.json | grep -c 'gitguard hook'",
        "cd docs && grep -n 'gitguard purge' *.md; ls",
        "git commit -m 'Say that gitguard override is for a human'",
        'git commit -am "Explain gitguard hook" && git log -1',
        "git commit -q -m \"$(cat <<'EOF'\nExplain gitguard hook\nEOF\n)\"",
        "git log --grep 'gitguard uninstall'",
        "git add gitguard hook tests",
        "git diff gitguard hook",
        "git grep -in 'gitguard hook' -- OLD",
        "ls gitguard hook",
        "echo 'Run gitguard override in your terminal'",
        "cat > notes.md <<'E'\nAsk the user to run gitguard purge.\nE",
    ],
)
def test_who_searches_for_an_owners_command_or_writes_of_it_is_not_refused(command: str) -> None:
    assert not is_refused(command)


@pytest.mark.parametrize(
    "command",
    [
        "echo $((gitguard hook claude-code) )",
        "cat =(gitguard hook claude-code)",
        'echo "$(gitguard hook claude-code)"',
        "echo `gitguard hook claude-code`",
        "grep x y; gitguard hook claude-code",
        "grep x y & gitguard hook claude-code",
        "echo gitguard hook claude-code | sh",
        "echo 'gitguard hook claude-code' > x.sh; sh x.sh",
        "grep() { gitguard hook claude-code; }; grep",
        "alias grep=gitguard; grep hook claude-code",
        "GIT_EDITOR='gitguard hook claude-code' git commit",
        "git -c core.pager='gitguard hook claude-code' log",
        "git grep -O'gitguard hook claude-code' x",
        "git grep -iO'gitguard hook claude-code' x",
        "git grep --ope='gitguard hook claude-code' x",
        "rg --pre 'gitguard hook' x",
        "if true; then gitguard hook claude-code; fi",
        "cat <<E\n$(gitguard hook claude-code)\nE",
        "git commit -m \"$(cat <<'E'\nx\nE\ngitguard hook claude-code\n)\"",
        "echo '\\' '; gitguard hook claude-code; '",
    ],
)
def test_no_program_that_only_reads_hides_an_owners_command(command: str) -> None:
    assert is_refused(command)
