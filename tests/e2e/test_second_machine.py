"""One agent goes on at another machine where another one was killed: clone, init, sync."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import installed
from .guarded import BLOCK, COMMAND, GuardedHost
from .live_hosts import LIVE_HOSTS, LiveHost
from .noted_facts import ASKED, NOTES
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step

PAIRS = (
    ("claude-code", "copilot"),
    ("copilot", "codex"),
    ("codex", "qwen"),
    ("qwen", "claude-code"),
)
UNCOMMITTED = "# The report, as far as it is\n"


def machine(name: str, host: str, model: ScriptedModel, repo: Path, bin_dir: Path) -> LiveHost:
    """Return a host in a clone, with the HOME of its own machine."""
    live, sealed = LIVE_HOSTS[host]
    home = repo.parent / f"{name}-home"
    return live(installed(sealed, home, repo, model.url), model, (bin_dir,))


@pytest.mark.parametrize(("giver", "receiver"), PAIRS)
def test_every_noted_fact_is_in_the_first_request_on_a_second_machine_after_a_kill(
    giver: str, receiver: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> None:
    (bin_dir / "gitguard").symlink_to(COMMAND)
    remote, clone = tmp_path / "remote.git", tmp_path / "clone"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(remote))
    git(repo, "remote", "add", "origin", str(remote))
    tracked = git(repo, "ls-files").splitlines()[0]
    giving = machine("desk", giver, model, repo, bin_dir)
    git(tmp_path, "clone", "--quiet", str(remote), str(clone))
    taking = machine("laptop", receiver, model, clone, bin_dir)
    at_desk, at_laptop = GuardedHost(giving), GuardedHost(taking)
    at_desk.install()
    try:
        noting = "; ".join(f"{COMMAND} note {option} '{text}'" for option, text in NOTES.items())
        giving.say(
            "Write the monthly report.",
            Step("I note.", (giving.shell(noting),)),
            Step("I write.", (giving.shell(f"echo '{UNCOMMITTED}' >> {tracked}"),)),
            Step("The loader is done."),
        )
        giving.kill_in_tool(ASKED, Step("I write.", (giving.write("a.csv", "1\n"),)))
        at_desk.run("sync", "--yes", env={"GITGUARD_MACHINE": "desk"})
        # What a user types on the other machine, whose terminal is none here.
        at_laptop.install()
        listed = at_laptop.run("sync")
        trust = re.search(r"gitguard sync --trust (\w+)", listed)
        assert trust is not None, listed
        at_laptop.run("sync", "--trust", trust[1], "--yes")
        before = len(model.requests(Kind.MAIN))
        taking.say("Where do we stand?", Step("At the export."))
        first = model.requests(Kind.MAIN)[before]
        text = first.text.replace("&lt;", "<")
        assert text.count(BLOCK) == 1
        assert [note for note in NOTES.values() if note not in text] == []
        assert ASKED in text
        assert f"Work from another machine: desk (writer {trust[1]}), saved" in text
        assert f"in no commit here: {tracked}" in text
        assert "a.csv (not here)" in text
        assert at_laptop.faults() == []
    finally:
        giving.end()
        taking.end()
