"""Every host that is served while it works: capture, hand-back, halt and what is undone."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitguard.hooks.unfinished import WRITTEN_WITHIN

from .guarded import BLOCK, COMMAND, GuardedHost, fingerprint
from .live_hosts import LiveHost
from .scripted_model import SUBAGENT_PROMPT, Kind, Request, Step, ToolCall

DIALECT = (
    *("claude-code", "copilot", "qwen", "droid", "droid-exec", "kimi", "codex"),
    *("opencode", "pi"),
)
speaking = pytest.mark.parametrize("live", DIALECT, indirect=True)
GOAL = "Write a report module with a total."


def blocks_in(request: Request) -> int:
    """Count the blocks; a host may quote what hooks say."""
    return request.text.replace("&lt;", "<").count(BLOCK)


@speaking
def test_a_turn_is_captured_and_checkpointed_at_its_end(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    before = fingerprint(live.project)
    live.say(
        GOAL,
        Step("I begin.", (live.shell("echo seven-rows"),), input_tokens=9_000),
        Step("I write.", (live.write("report.txt", "total\n"),), input_tokens=9_100),
        Step("I check.", (live.shell("echo missing >&2; exit 3"),), input_tokens=9_200),
        Step("The report adds up 7 rows; the export is open.", input_tokens=9_300),
    )
    state = guarded_live.state()
    assert GOAL in state["goal"]
    assert [artifact["path"] for artifact in state["artifacts"]] == ["report.txt"]
    [failed] = state["failed_attempts"]
    assert "exit 3" in failed["what"]
    assert "Exit code 3" in failed["error"]
    assert "missing" in failed["error"]
    if live.name == "copilot":
        # It writes an answer down a second or two after the turn: the next conversation has it.
        live.say("How far is the report module?", Step("The total is there."))
        assert "adds up 7 rows" in live.model.requests(Kind.MAIN)[-1].text
        assert "Last answer: I check" not in live.model.requests(Kind.MAIN)[-1].text
    else:
        assert "adds up 7 rows" in str(state["exchanges"])
    assert "turn-end" in guarded_live.triggers()
    assert guarded_live.faults() == []
    (live.project / "report.txt").unlink()
    assert fingerprint(live.project) == before
    status = guarded_live.json("status")
    assert {record["host"] for record in status["host_sessions"].values()} == {live.name}
    if live.name == "kimi":  # neither its events nor its transcripts name its version
        assert not any("version" in record for record in status["host_sessions"].values())
    else:
        versions = {record["version"] for record in status["host_sessions"].values()}
        assert versions <= {*status["tried"][live.name]}


@speaking
def test_a_new_conversation_has_the_block_in_its_first_request_and_once(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.say(GOAL, Step("I begin.", (live.write("report.txt", "total\n"),)), Step("Done so far."))
    before = len(live.model.requests(Kind.MAIN))
    call = live.shell("echo again")
    live.say("Go on with the report.", Step("I look.", (call,)), Step("It is there."))
    first, *later = live.model.requests(Kind.MAIN)[before:]
    assert blocks_in(first) == 1
    assert GOAL in first.text
    assert [blocks_in(request) for request in later] == [1] * len(later)


@speaking
def test_a_resumed_conversation_is_the_same_and_a_fork_one_of_its_own(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.say(GOAL, Step("I begin.", (live.write("report.txt", "total\n"),)), Step("Done so far."))
    first = live.session
    live.say("Go on with the report.", Step("It goes on."))
    second = live.session
    live.go_on("And the export?", Step("The export is next."))
    assert live.session == second
    expected = {first: 1, second: 2}
    assert turns_of(guarded_live) == expected
    assert blocks_in(live.model.requests(Kind.MAIN)[-1]) == 1
    if live.name == "copilot":  # it forks nothing
        return
    live.fork("Try another way.", Step("Another way it is."))
    assert turns_of(guarded_live) == {**expected, live.session: 1}
    records = guarded_live.json("status")["host_sessions"]
    # No event of opencode tells of a fork.
    assert records[live.session].get("continues", False) == (live.name != "opencode")
    # A new conversation gets the newest block, beside the older one that its history may have.
    forked = live.model.requests(Kind.MAIN)[-1]
    assert blocks_in(forked) == (1 if live.name == "droid" else 2)
    assert "The export is next." in forked.text
    assert guarded_live.faults() == []


def turns_of(project: GuardedHost) -> dict[str, int]:
    """How many turns each conversation had."""
    records = project.json("status")["host_sessions"]
    return {key: record["turns"] for key, record in records.items()}


@speaking
def test_a_compaction_comes_after_a_checkpoint_and_is_followed_by_the_block_once(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.say(GOAL, Step("I begin.", (live.write("report.txt", "total\n"),)), Step("Done so far."))
    guarded_live.run("note", "--decision", "The totals are kept in cents")
    after = (
        Step("I go on.", (live.shell("echo on"),), input_tokens=9_000),
        Step("Still on.", (live.shell("echo further"),), input_tokens=9_100),
        Step("The export is next.", input_tokens=9_200),
    )
    made = live.compact(*after)
    last = [request for request in made if request.kind == Kind.MAIN][-1]
    if live.name == "kimi":
        before = len(live.model.requests(Kind.MAIN))
        live.go_on("And now?", Step("Now the export.", input_tokens=9_300))
        last = live.model.requests(Kind.MAIN)[before:][-1]
    # Droid keeps the newest turn whole, in which is the block that it was given as it resumed.
    assert blocks_in(last) == (2 if live.name.startswith("droid") else 1)
    assert "kept in cents" in last.text
    if live.name != "droid":
        assert "compaction" in guarded_live.triggers()


@speaking
@pytest.mark.essential
def test_what_a_kill_cut_off_is_handed_to_the_next_conversation(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.say(GOAL, Step("I begin.", (live.write("report.txt", "total\n"),)), Step("Done so far."))
    live.kill_in_tool("Add the export.", Step("I add it.", (live.write("export.txt", "x\n"),)))
    before = len(live.model.requests(Kind.MAIN))
    live.say("What is the state?", Step("The export was begun."))
    first = live.model.requests(Kind.MAIN)[before]
    assert blocks_in(first) == 1
    assert "Add the export." in first.text
    assert "export.txt" in first.text


TROUBLES = {
    "missing": "",
    "failing": "#!/bin/sh\necho 'Traceback: broken' >&2\nexit 1\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
}
"""What is in the place of `gitguard`; nothing for none."""


@speaking
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_gitguard_that_does_not_work_keeps_no_host_from_its_work(
    live: LiveHost, bin_dir: Path, trouble: str
) -> None:
    command = bin_dir / "gitguard"
    command.symlink_to(COMMAND)
    # By this path, which the hooks then name.
    run = [str(command), "init", "--host", live.name]
    subprocess.run(run, cwd=live.project, env=dict(live.env), check=True, capture_output=True)
    live.approve_hooks()
    command.unlink()
    if TROUBLES[trouble]:
        command.write_text(TROUBLES[trouble])
        command.chmod(0o755)
    done = live.say(GOAL, Step("I begin.", (live.shell("touch it-runs"),)), Step("It works."))
    assert done.returncode == 0
    assert (live.project / "it-runs").exists()
    assert "Traceback" not in live.model.requests(Kind.MAIN)[-1].text
    assert guarded_file(live) is None


_SHORT = 2
"""Seconds for which a host waits for a hook that hangs, in place of the 15 to 60 of its hooks."""


def wait_less(live: LiveHost) -> None:
    """Have the installed hooks wait for `_SHORT` seconds."""
    for name in live.hooks_installed():
        text = Path(name).read_text(encoding="utf-8")
        Path(name).write_text(re.sub(r'("?timeout"?\s*[:=]\s*)\d+', rf"\g<1>{_SHORT}", text))
    for path in live.home.rglob("gitguard/config.json"):  # beside a plugin of ours
        config = json.loads(path.read_text())
        limits = dict.fromkeys(config["limits"], _SHORT * 1000)
        path.write_text(json.dumps({**config, "limits": limits}))


@speaking
def test_a_gitguard_that_hangs_keeps_no_host_from_its_work_and_status_says_what_it_missed(
    live: LiveHost, bin_dir: Path
) -> None:
    command = bin_dir / "gitguard"
    command.symlink_to(COMMAND)
    run = [str(command), "init", "--host", live.name]
    subprocess.run(run, cwd=live.project, env=dict(live.env), check=True, capture_output=True)
    wait_less(live)
    live.approve_hooks()
    project = GuardedHost(live)
    live.say(GOAL, Step("I begin.", (live.shell("echo on"),)), Step("It works."))
    assert live.session in project.json("status")["host_sessions"]
    # A prompt so soon after the last one that was told could be a later line of that one.
    time.sleep(WRITTEN_WITHIN + 1)
    command.unlink()
    command.write_text('#!/bin/sh\necho begun >> "$HOME/hangs"\nexec sleep 600\n')
    command.chmod(0o755)

    done = live.go_on("Write it.", Step("I write.", (live.write("b.txt", "b\n"),)), Step("Done."))
    assert done.returncode == 0
    assert (live.project / "b.txt").exists()
    assert "Done." in done.stdout
    hung = (live.home / "hangs").read_text().split()
    assert len(hung) >= 3
    live.end()
    assert "b.txt" in project.json("status")["last_event"]["changed"]
    command.unlink()
    command.symlink_to(COMMAND)
    live.go_on("And the rest?", Step("The rest is open."))
    assert project.faults() == []
    said = str([exchange["text"] for exchange in project.state()["exchanges"]])
    assert said.index("Write it.") < said.index("And the rest?")


def guarded_file(live: LiveHost) -> Path | None:
    """The journal of a conversation that gitguard heard of, None for none."""
    journals = (live.project / ".gitguard/sessions").glob("*/journal.jsonl")
    return next((path for path in journals if '"prompt"' in path.read_text()), None)


@speaking
def test_uninstall_gives_every_byte_back(live: LiveHost, bin_dir: Path) -> None:
    (bin_dir / "gitguard").symlink_to(COMMAND)
    settings = {path: path.read_bytes() for path in live.home.rglob("*") if path.is_file()}
    project = GuardedHost(live)
    project.run("init", "--host", live.name)
    project.run("uninstall", "--host", live.name)
    assert {path: path.read_bytes() for path in settings} == settings


_WINDOW, _CRITICAL = 17_000, 15_800
"""A window that holds less than what makes any host compact, and usage that is critical in it."""


def cap_window(live: LiveHost) -> None:
    """Have the user of the host set that window."""
    config = live.home / ".config/gitguard/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"window: {{cap: {_WINDOW}}}\n")


_PAUSE = "perl -e 'select undef, undef, undef, 2.5'"
"""Copilot writes its usage down up to two seconds late."""


@speaking
def test_a_halted_conversation_runs_no_further_call_and_goes_on_after_an_override(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    cap_window(live)
    pause = _PAUSE if live.name == "copilot" else "true"
    refused = Step("on", (live.shell("touch must-not-run"),), input_tokens=_CRITICAL)
    live.say(
        GOAL,
        Step("one", (live.shell(f"touch may-run; {pause}"),), input_tokens=_CRITICAL),
        Step("two", (live.shell(f"touch may-run-too; {pause}"),), input_tokens=_CRITICAL),
        *(refused, refused, refused),
        Step("I stop here.", input_tokens=_CRITICAL),
    )
    assert not (live.project / "must-not-run").exists()
    assert "HALTED" in guarded_live.run("status", check=False)
    assert "halt" in guarded_live.triggers()
    guarded_live.run("override", "--reason", "a test")
    live.go_on(
        "Go on.",
        Step("Now.", (live.shell("touch runs-again"),), input_tokens=_CRITICAL),
        Step("Done.", input_tokens=_CRITICAL),
    )
    assert (live.project / "runs-again").exists()


@pytest.mark.essential
@pytest.mark.parametrize("live", ["codex"], indirect=True)
def test_a_halted_turn_ends_where_the_host_would_compact_and_the_next_prompt_compacts(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    cap_window(live)
    beyond = live.compacting[-1]
    stopped = live.say(
        GOAL,
        Step("one", (live.shell("touch may-run"),), input_tokens=_CRITICAL),
        Step("two", (live.shell("touch may-run-too"),), input_tokens=_CRITICAL),
        Step("on", (live.shell("touch must-not-run"),), input_tokens=beyond),
        Step("never", (live.shell("touch must-not-run"),), input_tokens=9_000),
    )
    assert "turn interrupted" in stopped.stderr
    assert live.model.requests(Kind.COMPACTION) == []
    assert live.model.remaining() == 1
    assert "HALTED" in guarded_live.run("status", check=False)
    assert guarded_live.faults() == []

    live.go_on("Go on.", Step("Now.", (live.shell("touch runs-again"),), input_tokens=9_000))
    assert live.model.requests(Kind.COMPACTION)
    assert (live.project / "runs-again").exists()
    assert not (live.project / "must-not-run").exists()


@pytest.mark.parametrize("live", ["claude-code", "copilot", "qwen", "droid"], indirect=True)
def test_a_compaction_that_the_user_asks_for_is_followed_by_the_block_once(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.say(GOAL, Step("I begin.", (live.write("report.txt", "total\n"),)), Step("Done so far."))
    guarded_live.run("note", "--decision", "The totals are kept in cents")
    live.compact_by_command()
    assert "compaction" in guarded_live.triggers()
    call = live.shell("echo on")
    live.go_on("Go on with the report.", Step("I go on.", (call,)), Step("The export is next."))
    last = live.model.requests(Kind.MAIN)[-1]
    assert blocks_in(last) == 1
    assert "kept in cents" in last.text
    assert guarded_live.faults() == []


_ASKED = {"description": "look", "prompt": SUBAGENT_PROMPT}
SUB_AGENTS: Mapping[str, ToolCall] = {
    "claude-code": ToolCall("Agent", {**_ASKED, "run_in_background": False}),
    "copilot": ToolCall(
        "task", {**_ASKED, "agent_type": "general-purpose", "name": "sub", "mode": "sync"}
    ),
    "qwen": ToolCall(
        "agent", {**_ASKED, "subagent_type": "general-purpose", "run_in_background": False}
    ),
    "kimi": ToolCall("Agent", _ASKED),
    "codex": ToolCall(
        "multi_agent_v1/spawn_agent", {"message": SUBAGENT_PROMPT, "task_name": "look"}
    ),
    "opencode": ToolCall("task", {**_ASKED, "subagent_type": "general"}),
}
"""The call that starts a sub-agent, of each host whose scripted model can start one."""


@pytest.mark.parametrize("live", SUB_AGENTS, indirect=True)
def test_the_calls_of_a_sub_agent_are_recorded_as_its_own_and_never_denied(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    cap_window(live)
    turns = []

    def look_at_turns() -> None:
        [record] = guarded_live.json("status")["host_sessions"].values()
        turns.append((record["turns"], record["ended_turns"]))

    call = live.shell(f"echo by-sub-agent >> by-sub-agent; {_PAUSE}")
    looks = Step("I look.", (call,), input_tokens=_CRITICAL)
    ended = threading.Event()
    last = Step("It is all there.", input_tokens=_CRITICAL, before=ended.set)
    live.model.script_subagent(looks, looks, last)
    sees = (live.shell("touch by-agent"),)
    live.say(
        GOAL,
        Step("I ask.", (SUB_AGENTS[live.name],), input_tokens=9_000),
        # Codex does not wait for it.
        Step("I see.", sees, input_tokens=9_100, before=look_at_turns, hold=ended),
        Step("The export is open.", input_tokens=9_200),
    )
    assert live.model.remaining(Kind.SUBAGENT) == 0
    assert (live.project / "by-sub-agent").read_text().split() == ["by-sub-agent"] * 2
    assert (live.project / "by-agent").exists()
    journal = (live.project / ".gitguard/sessions/main/journal.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in journal if line.startswith("{")]
    # Of their ends, Kimi Code may lose the last.
    starts = [entry for entry in entries if entry.get("event") == "tool-start"]
    theirs = [entry for entry in starts if ">> by-sub-agent" in entry["summary"]]
    assert len(theirs) == 2
    marked = [entry for entry in starts if entry.get("sub_agent")]
    # Nor does Kimi Code wait for the hook that tells of its beginning.
    assert marked == theirs or (live.name == "kimi" and marked == theirs[1:])
    assert turns == [(1, 0)]
    assert "halt" not in guarded_live.triggers()
    assert guarded_live.faults() == []
