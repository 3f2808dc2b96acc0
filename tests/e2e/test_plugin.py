"""The plugin in each host that installs it: alone, beside settings, and without gitguard."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from gitguard.guard.hosts import plugin_installs, write_plugin_folder

from .guarded import BLOCK, COMMAND, GuardedHost
from .live_hosts import LiveHost
from .scripted_model import Kind, Request, Step

PLUGGED = ("claude-code", "copilot", "qwen", "droid", "codex")
plugged = pytest.mark.parametrize("live", PLUGGED, indirect=True)
GOAL = "Write a report module with a total."
HINT = "The gitguard plugin found no gitguard command"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return tmp_path / "gitguard-plugin"


def run_line(live: LiveHost, line: str) -> str:
    """Type a line that runs the host's own command; return what it prints."""
    done = live.sealed.run(*shlex.split(line)[1:])
    assert done.returncode == 0, done
    return done.stdout + done.stderr


def install(live: LiveHost, plugin: Path, *, approved: bool = True) -> None:
    """Install the plugin by the commands that `gitguard init --plugin` prints."""
    [lines] = [found.commands for found in plugin_installs(str(plugin)) if found.host == live.name]
    for line in lines:
        run_line(live, line)
    if approved:
        live.approve_hooks()


def blocks_in(request: Request) -> int:
    """Count the blocks of a request; Qwen Code writes `<` as `&lt;` there."""
    return request.text.replace("&lt;", "<").count(BLOCK)


def settings(live: LiveHost) -> dict[str, bytes]:
    """The host's settings, without what it writes for itself."""
    return {path: data for path, data in live.settings().items() if path.endswith(".json")}


def first_turn(live: LiveHost) -> None:
    live.say(
        GOAL,
        Step("I begin.", (live.shell("echo seven-rows"),), input_tokens=9_000),
        Step("I write.", (live.write("report.txt", "total\n"),), input_tokens=9_100),
        Step("I check.", (live.shell("echo missing >&2; exit 3"),), input_tokens=9_200),
        Step("The report adds up 7 rows; the export is open.", input_tokens=9_300),
    )


@pytest.mark.essential
@plugged
def test_the_plugin_alone_captures_a_turn_and_hands_it_to_the_next_conversation(
    live: LiveHost, plugin: Path
) -> None:
    guarded = GuardedHost(live)
    guarded.run("init", "--plugin", str(plugin))
    install(live, plugin)
    before = settings(live)
    said = guarded.run("init", "--host", live.name)
    assert f"runs gitguard in {live.name}, so no settings are written" in said
    assert settings(live) == before
    first_turn(live)
    state = guarded.state()
    assert GOAL in state["goal"]
    assert [artifact["path"] for artifact in state["artifacts"]] == ["report.txt"]
    [conversation] = guarded.json("status")["host_sessions"].values()
    assert conversation["host"] == live.name
    assert guarded.faults() == []
    made = len(live.model.requests(Kind.MAIN))
    live.say("Go on with the report.", Step("It is there."))
    first = live.model.requests(Kind.MAIN)[made]
    assert blocks_in(first) == 1
    assert GOAL in first.text


@plugged
def test_beside_settings_each_event_counts_once_and_one_block_is_handed_back(
    live: LiveHost, plugin: Path, bin_dir: Path
) -> None:
    (bin_dir / "gitguard").symlink_to(COMMAND)
    guarded = GuardedHost(live)
    guarded.run("init", "--host", live.name)
    guarded.run("init", "--plugin", str(plugin))
    install(live, plugin)
    first_turn(live)
    state = guarded.state()
    assert [artifact["path"] for artifact in state["artifacts"]] == ["report.txt"]
    assert [said["text"] for said in state["exchanges"] if said["kind"] == "request"] == [GOAL]
    assert guarded.triggers().count("turn-end") == 1
    made = len(live.model.requests(Kind.MAIN))
    call = live.shell("echo again")
    live.say("Go on with the report.", Step("I look.", (call,)), Step("It is there."))
    requests = live.model.requests(Kind.MAIN)[made:]
    assert [blocks_in(request) for request in requests] == [1] * len(requests)
    assert guarded.faults() == []


@plugged
def test_without_gitguard_the_agent_works_on_and_its_user_is_told_once(
    live: LiveHost, plugin: Path
) -> None:
    write_plugin_folder(str(plugin))
    install(live, plugin)
    done = live.say(GOAL, Step("I begin.", (live.shell("echo on"),)), Step("It works."))
    assert done.returncode == 0
    assert HINT in live.model.requests(Kind.MAIN)[0].text
    assert "on\n" in live.model.requests(Kind.MAIN)[-1].text
    made = len(live.model.requests(Kind.MAIN))
    live.say("And now?", Step("Still works."))
    assert HINT not in live.model.requests(Kind.MAIN)[made].text


@plugged
def test_uninstall_names_the_command_by_which_the_host_removes_the_plugin(
    live: LiveHost, plugin: Path
) -> None:
    guarded = GuardedHost(live)
    guarded.run("init", "--plugin", str(plugin))
    install(live, plugin)
    said = guarded.run("uninstall", "--host", live.name)
    _, _, rest = said.partition("still has gitguard's plugin; remove it with `")
    run_line(live, rest.partition("`")[0])
    assert "gitguard's plugin" not in guarded.run("uninstall", "--host", live.name)


@pytest.mark.parametrize("live", ["codex"], indirect=True)
def test_status_says_whether_codex_trusts_the_plugin_which_any_changed_file_ends(
    live: LiveHost, plugin: Path, bin_dir: Path
) -> None:
    (bin_dir / "codex").symlink_to(live.sealed.command[0])
    guarded = GuardedHost(live)
    guarded.run("ensure")
    guarded.run("init", "--plugin", str(plugin))

    def trust() -> str:
        [status] = guarded.json("status")["hosts"]
        return str(status["trust"])

    install(live, plugin, approved=False)
    assert trust() == "untrusted"
    live.approve_hooks()
    assert trust() == "trusted"
    (plugin / "gitguard/README.md").write_text("# Another text\n")
    run_line(live, "codex plugin add gitguard@gitguard")
    assert trust() == "modified"


@pytest.mark.parametrize("live", ["claude-code"], indirect=True)
def test_the_hosts_own_command_finds_the_folder_valid(live: LiveHost, plugin: Path) -> None:
    write_plugin_folder(str(plugin))
    for folder in (plugin, plugin / "gitguard"):
        assert "Validation passed" in run_line(live, f"claude plugin validate --strict {folder}")
