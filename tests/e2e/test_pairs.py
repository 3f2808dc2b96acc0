"""One agent goes on where another one of another host was killed, in the same worktree."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import installed
from .guarded import BLOCK, COMMAND, GuardedHost
from .live_hosts import LIVE_HOSTS, LiveHost
from .noted_facts import ASKED, NOTES
from .scripted_model import Kind, ScriptedModel, Step

OTHERS = ("copilot", "qwen", "droid", "droid-exec", "kimi", "codex", "opencode", "pi")
PAIRS = [("claude-code", name) for name in OTHERS] + [(name, "claude-code") for name in OTHERS]


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
        # By its path: some hosts run a login shell, which makes PATH anew.
        noting = "; ".join(f"{COMMAND} note {option} '{text}'" for option, text in NOTES.items())
        giving.say(
            "Write the monthly report.",
            Step("I note.", (giving.shell(noting),)),
            Step("The loader is done."),
        )
        giving.kill_in_tool(ASKED, Step("I write.", (giving.write("a.csv", "1\n"),)))
        before = len(model.requests(Kind.MAIN))
        taking.say("Where do we stand?", Step("At the export."))
        first = model.requests(Kind.MAIN)[before]
        text = first.text.replace("&lt;", "<")
        assert text.count(BLOCK) == 1
        assert [note for note in NOTES.values() if note not in text] == []
        assert ASKED in text
    finally:
        giving.end()
        taking.end()
