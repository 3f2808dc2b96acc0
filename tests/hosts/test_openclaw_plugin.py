"""OpenClaw's plugin: at most one process an event, answers to their places, and silent faults."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitguard.hosts.openclaw import hooks as openclaw
from gitguard.hosts.openclaw import installing as settings
from gitguard.model import events
from gitguard.rendering import template_source
from tests.support.needed import need

PAYLOADS = Path(__file__).parents[1] / "payloads" / "openclaw"
NEWER, OLDER = "2026.9.6", "2026.3.13"
KEY = "agent:main:main"
RECORDINGS = {
    "before_tool_call": "before_tool_call.write",
    "after_tool_call": "after_tool_call.write",
    "before_compaction": "before_compaction.auto",
    "after_compaction": "after_compaction.auto",
    "before_message_write": "before_message_write.user",
    "resolve_exec_env": "resolve_exec_env.exec",
}
"""The recording of a hook that has several."""

HOST = """
import fs from "node:fs";

const [folder, loads] = process.argv.slice(2);
const steps = JSON.parse(fs.readFileSync(0, "utf8"));
const handlers = {};
const api = {
  config: {
    models: { providers: { fake: { models: [{ id: "fake-1", contextWindow: 40000 }] } } },
    agents: JSON.parse(process.env.AGENTS),
  },
  on: (name, handler) => (handlers[name] = [handler]),
  registerHook: (names, handler) => {
    for (const name of names) (handlers[name] ??= []).push(handler);
  },
};
for (let load = 0; load < Number(loads); load++) {
  const plugin = (await import(`${folder}/index.js?${load}`)).default;
  plugin.register(api);
  plugin.register(api);
}
const results = [];
const run = async ({ on, event, ctx, internal, copies }) => {
  if (!internal) return (await handlers[on]?.[0](event, ctx)) ?? null;
  for (const handler of handlers[`${internal.type}:${internal.action}`] ?? []) {
    await handler(copies ? { ...internal } : internal);
  }
  return internal.context;
};
for (const step of steps) {
  if (Array.isArray(step)) results.push(await Promise.all(step.map(run)));
  else results.push(await run(step));
}
process.stdout.write(JSON.stringify(results));
"""
STAND_IN = """#!/bin/sh
echo "$PPID $*" >> "{folder}/runs"
cat >> "{folder}/inputs"; echo >> "{folder}/inputs"
{answer}
"""


def recorded(version: str, name: str) -> dict[str, Any]:
    path = PAYLOADS / version / f"{RECORDINGS.get(name, name)}.json"
    # Some were recorded in another conversation than the rest; a test is about one.
    one = json.loads((PAYLOADS / version / "agent_end.json").read_text(encoding="utf-8"))["ctx"]
    text = path.read_text(encoding="utf-8").replace("agent:main:incident-42", one["sessionKey"])
    document: dict[str, Any] = json.loads(text)
    context: dict[str, Any] = document["ctx"] if "ctx" in document else document["context"]
    for part in (context, context.get("sessionEntry"), context.get("previousSessionEntry")):
        if part and "sessionId" in part:
            part["sessionId"] = one["sessionId"]
    return document


class Host:
    """A process that loads the plugin as the host does, and calls its handlers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "bin" / "gitguard"
        self.agents: dict[str, Any] = {}
        """The agents in the host's configuration."""
        self.environment: dict[str, str] = {}
        self.answers("")
        self.install()

    def install(self, executable: str | None = None, *, directory_hook: bool = False) -> None:
        found = settings.files(
            str(self.program) if executable is None else executable,
            template_source,
            directory_hook=directory_hook,
        )
        for name, content in found.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)

    def limits(self, milliseconds: int) -> None:
        path = self.folder / settings.PLUGIN / "config.json"
        config = json.loads(path.read_text())
        config["limits"] = dict.fromkeys(config["limits"], milliseconds)
        path.write_text(json.dumps(config))

    def answers(self, text: str, *, script: str = "") -> None:
        """Let the stand-in for gitguard print a text, or run a script."""
        (self.folder / "answer").write_text(text)
        answer = script or f'cat "{self.folder}/answer"'
        self.program.parent.mkdir(exist_ok=True)
        self.program.write_text(STAND_IN.format(folder=self.folder, answer=answer))
        self.program.chmod(0o755)

    def run(
        self, *steps: Mapping[str, Any] | Sequence[Any], loads: int = 1, path: str = "/usr/bin:/bin"
    ) -> list[Any]:
        driver = self.folder / "host.mjs"
        driver.write_text(HOST)
        done = subprocess.run(
            ["node", str(driver), str(self.folder / settings.PLUGIN), str(loads)],
            input=json.dumps(steps),
            env={
                "PATH": path,
                "HOME": str(self.folder),
                "AGENTS": json.dumps(self.agents),
                **self.environment,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        results = json.loads(done.stdout)
        assert isinstance(results, list)
        return results

    def sent(self) -> list[dict[str, Any]]:
        """Return what gitguard was told, one document a process."""
        path = self.folder / "inputs"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line]


@pytest.fixture(autouse=True)
def _node() -> None:
    need("node")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def step(version: str, hook: str, **changes: Any) -> dict[str, Any]:
    document = recorded(version, hook)
    ctx = {**document["ctx"], **changes.pop("ctx", {})}
    return {"on": hook, "event": {**document["event"], **changes}, "ctx": ctx}


def internal(version: str, name: str, **context: Any) -> dict[str, Any]:
    document = recorded(version, name)
    return {"internal": {**document, "context": {**document["context"], **context}}}


def answer(usage: int, **message: Any) -> dict[str, Any]:
    content = {"role": "assistant", "provider": "fake", "model": "fake-1", **message}
    event = {"message": {**content, "usage": {"input": usage, "output": 50, "cacheRead": 0}}}
    return {"on": "before_message_write", "event": event, "ctx": {"sessionKey": KEY}}


# --- One process an event

TURN = (
    "before_prompt_build",
    "before_agent_run",
    "before_message_write",
    "model_call_ended",
    "resolve_exec_env",
    "before_tool_call",
    "after_tool_call",
    "agent_end",
    "llm_output",
)
NEEDED = ("before_prompt_build", "before_tool_call", "after_tool_call", "agent_end")


@pytest.mark.parametrize("loads", [1, 3])
def test_a_turn_starts_one_process_for_each_event_it_needs(host: Host, loads: int) -> None:
    host.run(*(step(NEWER, hook) for hook in TURN), loads=loads)
    assert [document["hook"] for document in host.sent()] == list(NEEDED)
    runs = (host.folder / "runs").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in runs] == ["hook openclaw"] * len(NEEDED)


def test_a_gateway_that_a_session_started_is_not_taken_for_a_tool_call(host: Host) -> None:
    host.environment = {"OPENCLAW_SHELL": "exec", "LANG": "C.UTF-8"}
    host.answers("", script=f'env >> "{host.folder}/environment"')
    host.run(*(step(NEWER, hook) for hook in ("before_prompt_build", "before_compaction")))
    names = (host.folder / "environment").read_text()
    assert "OPENCLAW_SHELL" not in names
    assert "LANG=C.UTF-8" in names


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_an_internal_event_is_answered_once_however_often_its_handlers_run(
    host: Host, version: str, copies: bool
) -> None:
    # One version calls each handler twice, the other wraps every call's event anew.
    host.answers('{"bootstrap": "BLOCK"}')
    [context] = host.run({**internal(version, "agent_bootstrap"), "copies": copies}, loads=2)
    ours = [file for file in context["bootstrapFiles"] if file["name"] == "GITGUARD.md"]
    assert ours == [
        {
            "name": "GITGUARD.md",
            "path": "/repo/GITGUARD.md",
            "content": "BLOCK",
            "missing": False,
        }
    ]
    assert len(host.sent()) == 1


def test_a_list_of_files_that_is_handed_out_again_holds_ours_once(host: Host) -> None:
    host.answers('{"bootstrap": "NEW"}')
    old = {"name": "GITGUARD.md", "path": "/repo/GITGUARD.md", "content": "OLD", "missing": False}
    other = {"name": "AGENTS.md", "path": "/repo/AGENTS.md", "content": "x", "missing": False}
    [context] = host.run(internal(OLDER, "agent_bootstrap", bootstrapFiles=[old, other]))
    assert [file["content"] for file in context["bootstrapFiles"]] == ["x", "NEW"]
    host.answers("")
    [context] = host.run(internal(OLDER, "agent_bootstrap", bootstrapFiles=[old, other]))
    assert [file["content"] for file in context["bootstrapFiles"]] == ["x"]


@pytest.mark.parametrize("files", [None, "none", {"0": "x"}])
def test_a_bootstrap_without_a_list_of_files_asks_for_no_block(host: Host, files: object) -> None:
    host.answers('{"bootstrap": "BLOCK"}')
    host.run(internal(NEWER, "agent_bootstrap", bootstrapFiles=files))
    assert host.sent() == []
    [context] = host.run(internal(NEWER, "agent_bootstrap"))
    assert context["bootstrapFiles"][-1]["content"] == "BLOCK"


@pytest.mark.parametrize("key", ["agent:main:subagent:12", "temp:slug-generator", ""])
def test_sub_agents_and_the_hosts_helpers_start_no_process(host: Host, key: str) -> None:
    steps = [step(NEWER, hook, ctx={"sessionKey": key}) for hook in TURN]
    for one in steps:
        one["event"].pop("sessionKey", None)
    boot = internal(NEWER, "agent_bootstrap", sessionKey=key)
    boot["internal"]["sessionKey"] = key
    assert host.run(*steps, boot)[:4] == [None] * 4
    assert host.sent() == []


def test_a_call_through_another_tool_is_one_call(host: Host) -> None:
    calls = []
    for tool in ("tool_call", "progress_card"):
        for hook in ("before_tool_call", "after_tool_call"):
            recording = recorded(NEWER, f"{hook}.{tool}")
            calls.append({"on": hook, "event": recording["event"], "ctx": recording["ctx"]})
    host.run(step(NEWER, "before_prompt_build"), *calls)
    sent = host.sent()[1:]
    assert [one["hook"] for one in sent] == ["before_tool_call", "after_tool_call"]
    found = [openclaw.HOST.parse_event(one, {"HOME": "/home/user"}, 1.8e9).tool for one in sent]
    assert [len(tool.plan) for tool in found if tool] == [3, 3]


def test_a_session_of_which_no_prompt_was_seen_starts_no_process(host: Host) -> None:
    # A Gateway that was started anew does not know yet where the session works.
    elsewhere = {"agents": {"defaults": {"workspace": "/another/agents"}}}
    host.run(
        internal(OLDER, "command_new", cfg=elsewhere),
        step(OLDER, "before_tool_call"),
        step(OLDER, "before_compaction"),
        step(NEWER, "session_end"),
    )
    assert host.sent() == []


def test_a_run_that_is_tried_again_is_one_prompt(host: Host) -> None:
    host.answers('{"context": "LINE"}')
    prompt = step(NEWER, "before_prompt_build")
    assert host.run(prompt, prompt) == [{"prependContext": "LINE"}] * 2
    assert len(host.sent()) == 1
    host.run(prompt, step(NEWER, "before_prompt_build", ctx={"runId": "another"}))
    assert len(host.sent()) == 3


def test_where_runs_have_no_name_every_prompt_is_one(host: Host) -> None:
    prompt = step(OLDER, "before_prompt_build")
    host.run(prompt, prompt)
    assert len(host.sent()) == 2


# --- What is sent


@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_what_goes_over_the_wire_is_what_the_adapter_reads(host: Host, version: str) -> None:
    steps = [
        step(version, "before_prompt_build"),
        step(version, "before_tool_call"),
        step(version, "after_tool_call"),
        step(version, "before_compaction"),
        step(version, "after_compaction"),
        step(version, "agent_end"),
        internal(version, "command_new"),
    ]
    host.run(*steps)
    found = [openclaw.HOST.parse_event(sent, {"HOME": "/home/user"}, 1.8e9) for sent in host.sent()]
    assert [event.kind for event in found] == [
        events.PROMPT,
        events.TOOL_START,
        events.TOOL_END,
        events.COMPACTION_START,
        events.COMPACTION_END,
        events.TURN_END,
        events.SESSION_START,
    ]
    assert {(event.session, event.project_dir) for event in found} == {(KEY, "/repo")}
    assert len({event.host_session for event in found}) == 1
    assert found[0].prompt == recorded(version, "before_prompt_build")["event"]["prompt"]
    assert found[1].tool is not None
    assert found[1].tool.paths_written == ("/repo/hello.py",)
    assert found[5].answer.startswith("hello.py is written and runs.")
    assert {(event.agent, event.channel) for event in found} == {("main", "webchat")}


def test_large_parts_stay_at_home(host: Host) -> None:
    huge = "x" * 5_000_000
    result = {"content": [{"type": "text", "text": huge}], "details": {"aggregated": huge}}
    host.run(
        step(NEWER, "before_prompt_build", messages=[huge]),
        step(NEWER, "after_tool_call", params={"path": "a", "content": huge}, result=result),
        step(NEWER, "agent_end", messages=[{"role": "user", "content": huge}]),
        step(NEWER, "before_compaction", messages=[huge]),
        internal(NEWER, "agent_bootstrap", cfg={"secret": huge}),
    )
    assert [len(json.dumps(sent)) < 100_000 for sent in host.sent()] == [True] * 5
    assert "messages" not in json.dumps(host.sent())


def test_the_newest_usage_and_window_go_with_every_event(host: Host) -> None:
    host.run(
        step(NEWER, "before_prompt_build"),
        answer(9000),
        answer(12_000),
        answer(0),
        step(NEWER, "before_tool_call"),
        step(NEWER, "model_call_ended", ctx={"contextTokenBudget": 200_000}),
        step(NEWER, "after_tool_call"),
    )
    prompt, start, end = host.sent()
    assert "usage" not in prompt
    assert start["usage"]["input"] == 12_000
    assert start["usage"]["window"] == 40_000
    assert time.time() * 1000 - start["usage"]["at"] < 60_000
    assert end["usage"]["window"] == 200_000


@pytest.mark.parametrize(
    ("agents", "window"),
    [
        ({"defaults": {"contextTokens": 30_000}}, 30_000),
        ({"defaults": {"contextTokens": 900_000}}, 40_000),
        ({"defaults": {"contextTokens": "many"}}, 40_000),
        (
            {
                "defaults": {"contextTokens": 30_000},
                "list": [{"id": "other"}, {"id": "main", "contextTokens": 20_000}],
            },
            20_000,
        ),
        ({"defaults": None, "list": [None]}, 40_000),
    ],
)
def test_the_agents_cap_lowers_the_window_that_goes_with_every_event(
    host: Host, agents: dict[str, Any], window: int
) -> None:
    host.agents = agents
    host.run(step(NEWER, "before_prompt_build"), answer(9000), step(NEWER, "before_tool_call"))
    assert host.sent()[-1]["usage"]["window"] == window


@pytest.mark.parametrize(("cap", "window"), [(50_000, 50_000), (900_000, None)])
def test_a_cap_is_the_window_where_no_window_is_known_and_the_host_assumes_more(
    host: Host, cap: int, window: int | None
) -> None:
    host.agents = {"defaults": {"contextTokens": cap}}
    host.run(step(NEWER, "before_prompt_build"), step(NEWER, "before_tool_call"))
    assert host.sent()[-1].get("usage", {}).get("window") == window


def test_sessions_do_not_see_each_others_usage(host: Host) -> None:
    other = {"sessionKey": "agent:main:other", "sessionId": "2", "runId": "2"}
    host.run(
        step(NEWER, "before_prompt_build"),
        answer(9000),
        step(NEWER, "before_prompt_build", ctx=other),
    )
    assert "usage" not in host.sent()[1]


@pytest.mark.parametrize("command", ["command_new", "command_reset.reset"])
def test_a_new_conversation_is_not_measured_by_the_one_before(host: Host, command: str) -> None:
    host.run(
        step(NEWER, "before_prompt_build"),
        answer(33_000),
        internal(NEWER, command),
        step(NEWER, "before_prompt_build", ctx={"runId": "2"}),
    )
    assert [sent.get("usage", {}).get("input") for sent in host.sent()] == [None] * 3


def test_a_turn_that_was_broken_off_has_no_answer(host: Host) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "Of the turn before."}]}
    messages = [said, None, {"role": "user", "content": "go on"}, {"role": "custom"}]
    host.run(
        step(NEWER, "before_prompt_build"),
        step(NEWER, "agent_end", messages=messages),
        step(NEWER, "agent_end", messages=[*messages, said, {"role": "custom"}]),
    )
    assert [sent["event"]["answer"] for sent in host.sent()[1:]] == ["", "Of the turn before."]


def test_who_wrote_a_prompt_is_not_remembered_of_the_one_before(host: Host) -> None:
    timer = {"trigger": "heartbeat", "runId": "1"}
    prompt = step(OLDER, "before_prompt_build", ctx={"runId": "2"})
    del prompt["ctx"]["trigger"]
    host.run(step(OLDER, "before_prompt_build", ctx=timer), prompt)
    assert [sent["ctx"].get("trigger") for sent in host.sent()] == ["heartbeat", None]


def test_a_compactions_end_without_a_session_belongs_to_the_one_that_began(host: Host) -> None:
    two = {"sessionKey": "agent:main:two"}
    begun = [step(OLDER, "before_compaction"), step(OLDER, "before_compaction", ctx=two)]
    host.run(
        step(OLDER, "before_prompt_build"),
        step(OLDER, "before_prompt_build", ctx=two),
        begun[0],
        step(OLDER, "after_compaction"),
        step(OLDER, "after_compaction"),
        *begun,
        step(OLDER, "after_compaction"),
        # It is over for a session that is asked something anew.
        step(OLDER, "before_prompt_build"),
        step(OLDER, "after_compaction"),
    )
    hooks = [(sent["hook"], sent["ctx"]["sessionKey"]) for sent in host.sent()[2:]]
    assert hooks == [
        ("before_compaction", KEY),
        ("after_compaction", KEY),
        ("before_compaction", KEY),
        ("before_compaction", "agent:main:two"),
        ("before_prompt_build", KEY),
        ("after_compaction", "agent:main:two"),
    ]


def test_a_turns_end_comes_after_its_tool_calls(host: Host) -> None:
    host.answers("", script=f'sleep 0.3; echo done >> "{host.folder}/inputs"')
    host.run(
        step(NEWER, "before_prompt_build"),
        [step(NEWER, "after_tool_call"), step(NEWER, "agent_end")],
    )
    lines = [line for line in (host.folder / "inputs").read_text().splitlines() if line]
    assert [line if line == "done" else json.loads(line)["hook"] for line in lines] == [
        "before_prompt_build",
        "done",
        "after_tool_call",
        "done",
        "agent_end",
        "done",
    ]


# --- What comes back


def test_a_refused_prompt_stops_the_run_without_another_process(host: Host) -> None:
    host.answers('{"context": "HALT", "block": "HALT"}')
    prompt, gate = step(NEWER, "before_prompt_build"), step(NEWER, "before_agent_run")
    results = host.run(prompt, gate, {**gate, "ctx": {**gate["ctx"], "runId": "another"}})
    assert results == [
        {"prependContext": "HALT"},
        {"outcome": "block", "reason": "gitguard", "message": "HALT"},
        None,
    ]
    assert len(host.sent()) == 1


def test_a_refused_tool_call_is_blocked_and_does_not_count_as_failed(host: Host) -> None:
    host.answers('{"block": "NO"}')
    ended = step(OLDER, "after_tool_call", error="NO")
    results = host.run(step(OLDER, "agent_end"), step(OLDER, "before_tool_call"), ended)
    assert results == [None, {"block": True, "blockReason": "NO"}, None]
    assert len(host.sent()) == 2


def test_the_agents_shell_knows_its_session(host: Host) -> None:
    ids = {"sessionKey": KEY, "sessionId": recorded(OLDER, "agent_end")["ctx"]["sessionId"]}
    expected = {
        "GITGUARD_SESSION": KEY,
        "GITGUARD_HOST_SESSION": ids["sessionId"],
        "GITGUARD_ROOT": "/repo",
    }
    call = {"toolName": "exec", "params": {"command": "ls", "env": {"A": "1"}}}
    [_, older] = host.run(
        step(OLDER, "before_prompt_build"), step(OLDER, "before_tool_call", **call)
    )
    assert older == {"params": {"command": "ls", "env": {"A": "1", **expected}}}
    [_, given, newer] = host.run(
        step(NEWER, "before_prompt_build", ctx=ids),
        step(NEWER, "resolve_exec_env", ctx=ids),
        step(NEWER, "before_tool_call", **call, ctx=ids),
    )
    assert (given, newer) == (expected, None)


@pytest.mark.parametrize("version", [NEWER, OLDER])
def test_a_sub_agents_shell_is_not_at_its_parents_session(host: Host, version: str) -> None:
    key = "agent:main:subagent:12"
    child = {"sessionKey": key, "sessionId": "12"}
    named = {"GITGUARD_SESSION": key, "GITGUARD_HOST_SESSION": "12"}
    call = step(version, "before_tool_call", toolName="exec", params={"command": "ls"}, ctx=child)
    shell = {"on": "resolve_exec_env", "event": {"sessionKey": key}, "ctx": child}
    first = step(version, "before_prompt_build")
    if version == OLDER:
        assert host.run(first, call)[1] == {"params": {"command": "ls", "env": named}}
    else:
        assert host.run(first, shell, call)[1:] == [named, None]
    assert len(host.sent()) == 1


def test_a_message_is_never_changed_or_held_back(host: Host) -> None:
    assert host.run(answer(9000), step(NEWER, "before_message_write")) == [None, None]


# --- What goes wrong

ALL = [
    step(NEWER, hook) for hook in (*TURN, "before_compaction", "after_compaction", "session_end")
]


def assert_unharmed(results: list[Any]) -> None:
    shell = TURN.index("resolve_exec_env")
    assert [r for n, r in enumerate(results) if n != shell] == [None] * (len(ALL) - 1)


@pytest.mark.parametrize(
    "script",
    [
        "exit 3",
        "echo not JSON",
        "printf '{\"block\":'",
        "echo null",
        "echo 7",
        "echo '[\"block\"]'",
        "kill -9 $$",
        "exec 0<&-; exit",
    ],
)
def test_a_gitguard_that_fails_is_silence(host: Host, script: str) -> None:
    host.answers("", script=script)
    assert_unharmed(host.run(*ALL))


def test_a_gitguard_that_does_not_read_is_silence(host: Host) -> None:
    host.program.write_text("#!/bin/sh\nexit 0\n")
    big = "x" * 60_000
    parameters = {str(number): big for number in range(20)}
    call = step(NEWER, "before_tool_call", params=parameters)
    assert host.run(step(NEWER, "before_prompt_build"), call) == [None, None]


@pytest.mark.parametrize("kind", ["gone", "a folder", "not executable", "no interpreter", "empty"])
def test_without_gitguard_or_its_python_the_agent_goes_on(host: Host, kind: str) -> None:
    path = host.folder / "broken"
    if kind == "a folder":
        path.mkdir()
    elif kind == "not executable":
        path.write_text("#!/bin/sh\n")
    elif kind == "no interpreter":
        path.write_text("#!/nowhere/python\n")
        path.chmod(0o755)
    host.install("" if kind == "empty" else str(path))
    assert_unharmed(host.run(*ALL))


def test_a_gone_installation_gives_way_to_the_path(host: Host) -> None:
    host.install("/gone/gitguard")
    host.run(step(NEWER, "before_prompt_build"), path=f"{host.program.parent}:/usr/bin:/bin")
    assert len(host.sent()) == 1


def test_a_gitguard_that_hangs_is_ended_and_the_agent_goes_on(host: Host) -> None:
    host.answers("", script=f'echo $$ > "{host.folder}/pid"; exec sleep 30')
    host.limits(300)
    began = time.monotonic()
    assert host.run(step(NEWER, "before_prompt_build"), step(NEWER, "before_tool_call")) == [
        None,
        None,
    ]
    assert time.monotonic() - began < 10
    assert not Path("/proc", (host.folder / "pid").read_text().strip()).exists()


def test_the_limits_in_the_plugin_are_the_adapters(host: Host) -> None:
    config = json.loads((host.folder / settings.PLUGIN / "config.json").read_text())
    assert config["limits"] == {
        name: openclaw.HOST.time_limit(kind) * 1000 for name, kind in openclaw.KINDS.items()
    }
    assert config["internal"] is True


def test_no_event_is_waited_for_longer_than_eight_seconds() -> None:
    assert {
        openclaw.HOST.time_limit(kind) for kind in (*openclaw.KINDS.values(), events.OTHER)
    } == {8.0}


@pytest.mark.parametrize("event", [None, {}, {"toolName": 5}, {"messages": "x"}, {"message": 3}])
def test_events_that_are_nothing_are_silence(host: Host, event: Any) -> None:
    hooks = [one["on"] for one in ALL]
    for ctx in (None, {}, {"sessionKey": 3}):
        results = host.run(*({"on": hook, "event": event, "ctx": ctx} for hook in hooks))
        assert results == [None] * len(hooks)
    assert host.sent() == []


# --- The directory hook


def test_the_directory_hook_answers_instead_of_the_plugin(host: Host) -> None:
    host.install(directory_hook=True)
    host.answers('{"bootstrap": "BLOCK"}')
    files = host.folder / settings.DIRECTORY_HOOK
    [context] = host.run(internal(NEWER, "agent_bootstrap"))
    assert "GITGUARD.md" not in json.dumps(context)
    driver = host.folder / "gateway.mjs"
    driver.write_text(
        f'import handler from "{files}/handler.js";\n'
        'import fs from "node:fs";\n'
        'const event = JSON.parse(fs.readFileSync(0, "utf8"));\n'
        "await handler(event); await handler(event);\n"
        "process.stdout.write(JSON.stringify(event.context.bootstrapFiles));\n"
    )
    event = internal(NEWER, "agent_bootstrap")["internal"]
    (files / "package.json").write_text('{"type": "module"}')  # newer Node.js sees it by itself
    done = subprocess.run(
        ["node", str(driver)], input=json.dumps(event), capture_output=True, text=True, check=True
    )
    assert done.stdout.count('"BLOCK"') == 1
    assert len(host.sent()) == 1


def test_the_hook_and_the_plugin_name_the_same_events() -> None:
    hook = template_source("openclaw/HOOK.md")
    names = [name for name in openclaw.KINDS if ":" in name]
    assert [name for name in names if f'"{name}"' not in hook] == []
    source = template_source("openclaw/internal.js")
    assert [name for name in names if f'"{name}"' not in source] == []
