"""What an agent of the real Claude Code tries against the gate, and how a done task ends there."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .guarded import Guarded
from .repository import git
from .scripted_model import Kind, ScriptedModel, Step, bash, write

LOOSER = "thresholds: {critical: 0.99}\n"
OVERRIDE = "from gitguard import Guard; Guard.open('.').override('S1', 'go on')"


def test_no_call_of_the_agent_changes_the_users_settings_or_reaches_their_methods(
    guarded: Guarded, model: ScriptedModel
) -> None:
    home = guarded.claude.home
    config, state = home / ".config/gitguard/config.yaml", home / ".local/state/gitguard"
    config.parent.mkdir(parents=True, exist_ok=True)
    settings = (guarded.repo / ".claude/settings.local.json").read_bytes()
    tries = (
        write(config, LOOSER),
        write(guarded.repo / os.path.relpath(config, guarded.repo), LOOSER),
        bash(f"echo '{LOOSER.strip()}' > ~/.config/gitguard/config.yaml"),
        bash("cd ~/.config/gitguard && touch config.yaml"),
        bash("rm -rf ~/.local/state/gitguard"),
        bash("gitguard uninstall --yes"),
        bash(f'python3 -c "{OVERRIDE}"'),
        bash(f"python3 - <<'E'\n{OVERRIDE}\nE"),
    )
    model.script(
        *(Step("I try", (call,)) for call in tries), Step("I read", (READ,)), Step("Done.")
    )
    guarded.claude.run("Make the gate more patient")
    assert not config.exists()
    assert state.is_dir()
    assert (guarded.repo / ".claude/settings.local.json").read_bytes() == settings
    text = model.requests(Kind.MAIN)[-1].text
    assert text.count("only the user changes") == 5
    assert text.count("is for a human") == 3
    assert "the settings are not there" in text, "reading is allowed"
    assert guarded.faults() == []


READ = bash("cat ~/.config/gitguard/config.yaml || echo the settings are not there")


def test_after_done_one_call_that_writes_is_denied_and_a_commit_is_not(
    guarded: Guarded, model: ScriptedModel
) -> None:
    late = guarded.repo / "late.py"
    model.script(
        Step("I write", (write(guarded.repo / "hello.py", "print('hi')\n"),)),
        Step("I am done", (bash("gitguard note --next DONE"),)),
        Step("I commit", (bash("git add hello.py && git commit -q -m 'Say hello'"),)),
        Step("One more thing", (write(late, "first\n"),)),
        Step("I mean it", (write(late, "second\n"),)),
        Step("Done."),
    )
    guarded.claude.run("Write hello.py")
    texts = [request.text for request in model.requests(Kind.MAIN)]
    assert "STATUS:COMPLETE" in texts[2]
    assert "this call writes a file" in texts[4]
    assert late.read_text() == "second\n"
    assert git(guarded.repo, "log", "-1", "--format=%s").strip() == "Say hello"
    journal = next(Path(guarded.repo, ".gitguard/sessions").glob("*/journal.jsonl"))
    entries = map(json.loads, journal.read_text().splitlines())
    assert [entry["remark"] for entry in entries if entry.get("remark")] == ["after DONE"]
    assert guarded.faults() == []
