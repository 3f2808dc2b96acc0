"""One agent goes on where another one of another host was killed, in the same worktree."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import openclaw_install
from .conftest import installed
from .guarded import BLOCK, COMMAND, GuardedHost
from .guarded_openclaw import Guarding, kill_in_its_turn, shell
from .live_hosts import LIVE_HOSTS, LiveHost
from .noted_facts import ASKED, NOTES
from .openclaw import MAIN_KEY
from .scripted_model import Kind, Request, ScriptedModel, Step, write_file

OTHERS = ("copilot", "qwen", "droid", "droid-exec", "kimi", "codex", "opencode", "pi")
PAIRS = [("claude-code", name) for name in OTHERS] + [(name, "claude-code") for name in OTHERS]
# By its path: some hosts run a login shell, which makes PATH anew.
NOTING = "; ".join(f"{COMMAND} note {option} '{text}'" for option, text in NOTES.items())
GOAL, RESUMING = "Write the monthly report.", "Where do we stand?"


def host_in(name: str, model: ScriptedModel, home: Path, repo: Path, bin_dir: Path) -> LiveHost:
    host, sealed = LIVE_HOSTS[name]
    return host(installed(sealed, home, repo, model.url), model, (bin_dir,))


@pytest.mark.parametrize(("giver", "receiver"), PAIRS)
def test_every_noted_fact_is_in_the_first_request_of_another_host_after_a_kill(
    giver: str, receiver: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    (bin_dir / "gitguard").symlink_to(COMMAND)
    giving = host_in(giver, model, tmp_path / "home", repo, bin_dir)
    taking = host_in(receiver, model, tmp_path / "home", repo, bin_dir)
    GuardedHost(giving).install()
    GuardedHost(taking).install()
    try:
        give_and_be_killed(giving)
        before = len(model.requests(Kind.MAIN))
        taking.say(RESUMING, Step("At the export."))
        assert_all_is_handed_over(model.requests(Kind.MAIN)[before])
    finally:
        giving.end()
        taking.end()


def give_and_be_killed(giving: LiveHost) -> None:
    giving.say(GOAL, Step("I note.", (giving.shell(NOTING),)), Step("The loader is done."))
    giving.kill_in_tool(ASKED, Step("I write.", (giving.write("a.csv", "1\n"),)))


def assert_all_is_handed_over(first: Request) -> None:
    text = first.text.replace("&lt;", "<")
    assert text.count(BLOCK) == 1
    assert [note for note in NOTES.values() if note not in text] == []
    assert ASKED in text


# OpenClaw's session keys are sessions of their own: a user has the others work at one of them.

only_current = pytest.mark.parametrize("version", [openclaw_install.CURRENT], indirect=True)


@only_current
def test_openclaw_takes_over_from_claude_code_what_was_begun_in_its_session(
    guard_openclaw: Guarding, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    with guard_openclaw() as openclaw:
        giving = host_in("claude-code", model, tmp_path / "home", repo, bin_dir)
        GuardedHost(giving).install()
        openclaw.run("session", "use", MAIN_KEY)
        give_and_be_killed(giving)
        openclaw.openclaw.start_gateway()
        before = len(model.requests(Kind.MAIN))
        model.replace_script(Step("At the export."))
        openclaw.openclaw.send(RESUMING)
        assert_all_is_handed_over(model.requests(Kind.MAIN)[before])


@only_current
def test_claude_code_takes_over_what_openclaw_was_killed_at(
    guard_openclaw: Guarding, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    with guard_openclaw() as openclaw:
        taking = host_in("claude-code", model, tmp_path / "home", repo, bin_dir)
        GuardedHost(taking).install()
        openclaw.openclaw.start_gateway()
        model.script(Step("I note.", (shell(NOTING),)), Step("The loader is done."))
        openclaw.say(GOAL)
        model.script(
            Step("I write.", (write_file("a.csv", "1\n"),)),
            Step("I wait.", (shell("touch started; sleep 60"),)),
        )
        kill_in_its_turn(openclaw, ASKED)
        openclaw.run("session", "use", MAIN_KEY)
        before = len(model.requests(Kind.MAIN))
        taking.say(RESUMING, Step("At the export."))
        assert_all_is_handed_over(model.requests(Kind.MAIN)[before])
