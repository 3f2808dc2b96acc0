"""The plugins of opencode and pi: what they tell, where answers go, and silent faults."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitguard.hosts import find_host, find_installing
from gitguard.hosts.user_plugins import UserPlugin
from gitguard.model import events
from gitguard.model.events import HookEvent
from gitguard.rendering import template_source
from tests.support.needed import need

OPENCODE = """
import fs from "node:fs";

const [file] = process.argv.slice(2);
const asked = [];
const client = {
  session: {
    get: async ({ path }) => ({
      data: path.id === "ses_sub" ? { parentID: "ses_1", time: { created: 9e15 } } : {
        time: { created: path.id === "ses_old" ? 1 : 9e15 },
      },
    }),
    abort: async ({ path }) => asked.push(["abort", path.id]),
  },
  tui: { showToast: async ({ body }) => asked.push(["toast", body.message]) },
};
const { Gitguard } = await import(file);
const hooks = await Gitguard({ client, directory: "/repo" });
const results = [];
for (const [name, input, output] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  try {
    await hooks[name](input, output);
    results.push(output ?? null);
  } catch (error) {
    results.push({ thrown: error.message });
  }
  if (name === "event") await hooks.dispose();
}
process.stdout.write(JSON.stringify({ results, asked }));
"""
PI = """
import fs from "node:fs";

const [file] = process.argv.slice(2);
const asked = [];
const handlers = {};
(await import(file)).default({
  on: (name, handler) => (handlers[name] = handler),
  sendMessage: (message, options) => asked.push([message.content, options.triggerTurn]),
});
const ctx = {
  cwd: "/repo",
  hasUI: true,
  ui: { notify: (text) => asked.push(["notify", text]) },
  model: { provider: "fake", id: "fake-1" },
  sessionManager: { getSessionId: () => "s1", getSessionFile: () => "/home/s1.jsonl",
    getHeader: () => ({ type: "session", parentSession: process.env.PARENT_SESSION }) },
  getContextUsage: () => ({ tokens: 9000, contextWindow: 40000, percent: 22.5 }),
};
const results = [];
for (const [name, event] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  results.push((await handlers[name](event, ctx)) ?? null);
}
process.stdout.write(JSON.stringify({ results, asked }));
"""
STAND_IN = """#!/bin/sh
cat >> "{folder}/inputs"; echo >> "{folder}/inputs"
env >> "{folder}/environment"
{answer}
"""
Step = Sequence[Any]


class Host:
    """A process that loads the plugin as its host does, and calls its handlers."""

    def __init__(self, name: str, driver: str, folder: Path) -> None:
        self.name, self.driver, self.folder = name, driver, folder
        installing = find_installing(name)
        assert isinstance(installing, UserPlugin)
        self.plugin = installing
        self.program = folder / "bin" / "gitguard"
        self.environment: dict[str, str] = {}
        self.answers({})
        (folder / "package.json").write_text('{"type": "module"}')
        for file, content in installing.files(str(self.program), template_source).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)

    @property
    def config(self) -> Path:
        return self.folder / self.plugin.beside / "config.json"

    def limits(self, milliseconds: int) -> None:
        config = json.loads(self.config.read_text())
        config["limits"] = dict.fromkeys(config["limits"], milliseconds)
        self.config.write_text(json.dumps(config))

    def answers(self, reply: Mapping[str, Any], *, script: str = "") -> None:
        """Let the stand-in for gitguard answer every event, or run a script."""
        (self.folder / "answer").write_text(json.dumps(reply))
        answer = script or f'cat "{self.folder}/answer"'
        self.program.parent.mkdir(exist_ok=True)
        self.program.write_text(STAND_IN.format(folder=self.folder, answer=answer))
        self.program.chmod(0o755)

    def run(self, *steps: Step) -> tuple[list[Any], list[Any]]:
        """Return what the handlers gave back, and what the plugin asked its host for."""
        driver = self.folder / "host.mjs"
        driver.write_text(self.driver)
        done = subprocess.run(
            ["node", str(driver), str(self.folder / self.plugin.entry)],
            input=json.dumps(steps),
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **self.environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        return told["results"], told["asked"]

    def sent(self) -> list[HookEvent]:
        """Return what gitguard was told, as the adapter reads it."""
        path = self.folder / "inputs"
        lines = filter(None, path.read_text().splitlines()) if path.exists() else ()
        host = find_host(self.name)
        return [host.parse_event(json.loads(line), {"HOME": "/home/user"}, 1.0) for line in lines]


@pytest.fixture(autouse=True)
def _node() -> None:
    need("node")


@pytest.fixture
def opencode(tmp_path: Path) -> Host:
    return Host("opencode", OPENCODE, tmp_path)


@pytest.fixture
def pi(tmp_path: Path) -> Host:
    return Host("pi", PI, tmp_path)


@pytest.fixture(params=["opencode", "pi"])
def host(request: pytest.FixtureRequest) -> Host:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Host)
    return found


# What opencode 1.18.34 gives its plugins


def said(text: str, session: str = "ses_1") -> Step:
    message = {"id": "msg_1", "role": "user", "sessionID": session}
    part = {"type": "text", "text": text, "id": "prt_1", "messageID": "msg_1"}
    return ("chat.message", {"sessionID": session}, {"message": message, "parts": [part]})


def call(
    tool: str, session: str = "ses_1", ident: str = "call_1", **args: Any
) -> tuple[Step, dict[str, Any]]:
    given = {"tool": tool, "sessionID": session, "callID": ident}
    return ("tool.execute.before", given, {"args": args}), {**given, "args": args}


def event(kind: str, **properties: Any) -> Step:
    return ("event", {"event": {"id": "evt_1", "type": kind, "properties": properties}})


def answered(tokens: int, session: str = "ses_1") -> Step:
    info = {"role": "assistant", "sessionID": session, "time": {"completed": 1}}
    model = {"providerID": "fake", "modelID": "fake-1"}
    return event("message.updated", info={**info, **model, "tokens": {"total": tokens}})


WINDOW: Step = (
    "chat.params",
    {"model": {"id": "fake-1", "providerID": "fake", "limit": {"context": 40_000}}},
    {},
)


def opencode_turn() -> list[Step]:
    before, ended = call("bash", command="make")
    write, wrote = call("write", ident="call_2", filePath="/repo/a.txt", content="x")
    todos = [{"content": "lexer", "status": "in_progress", "id": "1"}]
    plan, planned = call("todowrite", ident="call_3", todos=todos)
    return [
        WINDOW,
        said('"write it please"'),
        answered(9_000),
        before,
        ("tool.execute.after", ended, {"output": "no rule", "metadata": {"exit": 2}}),
        write,
        ("tool.execute.after", wrote, {"output": "done", "metadata": {}}),
        plan,
        ("tool.execute.after", planned, {"output": "[]", "metadata": {}}),
        (
            "experimental.text.complete",
            {"sessionID": "ses_1", "messageID": "m", "partID": "p"},
            {"text": "It is written."},
        ),
        event("session.idle", sessionID="ses_1"),
    ]


# What pi 1.5.0 gives its extensions


def pi_call(tool: str, **given: Any) -> tuple[Step, dict[str, Any]]:
    event = {"toolName": tool, "toolCallId": "toolu_1", "input": given}
    return ("tool_call", event), event


def pi_turn() -> list[Step]:
    before, ended = pi_call("bash", command="make")
    failed = [{"type": "text", "text": "no rule\n\nCommand exited with code 2"}]
    write, wrote = pi_call("write", path="a.txt", content="x")
    done = [{"type": "text", "text": "done"}]
    said = {"role": "assistant", "content": [{"type": "text", "text": "It is written."}]}
    return [
        ("input", {"text": "write it please", "source": "interactive"}),
        ("before_agent_start", {}),
        before,
        ("tool_result", {**ended, "content": failed, "isError": True}),
        write,
        ("tool_result", {**wrote, "content": done, "isError": False}),
        ("agent_end", {"messages": [said]}),
        ("agent_settled", {}),
    ]


def turn_of(host: Host) -> list[Step]:
    return opencode_turn() if host.name == "opencode" else pi_turn()


def test_a_turn_is_told_as_the_adapter_reads_it(host: Host) -> None:
    host.run(*turn_of(host))
    sent = [one for one in host.sent() if one.tool is None or one.tool.name != "todowrite"]
    assert [one.kind for one in sent] == [
        events.PROMPT,
        events.TOOL_START,
        events.TOOL_FAILED,
        events.TOOL_START,
        events.TOOL_END,
        events.TURN_END,
    ]
    prompt, start, failed, _, wrote, end = sent
    assert prompt.prompt == "write it please"
    assert prompt.project_dir == "/repo"
    assert start.tool is not None
    assert failed.tool is not None
    assert wrote.tool is not None
    assert start.tool.is_shell
    assert failed.tool.id == start.tool.id
    assert failed.tool.error.startswith("Exit code 2")
    assert "no rule" in failed.tool.error
    assert wrote.tool.paths_written[0].endswith("a.txt")
    assert end.answer == "It is written."
    assert start.reading is not None
    assert (start.reading.tokens, start.reading.window) == (9_000, 40_000)


def test_the_plan_of_opencode_is_read(opencode: Host) -> None:
    opencode.run(*opencode_turn())
    plans = [one.tool.plan for one in opencode.sent() if one.tool and one.tool.plan]
    assert [(item.text, item.active) for item in plans[0]] == [("lexer", True)]


CONTEXT = {"hookSpecificOutput": {"additionalContext": "BLOCK"}}


def test_a_context_goes_with_prompts_results_and_compactions_of_opencode(opencode: Host) -> None:
    opencode.answers(CONTEXT)
    _, ended = call("bash", command="make")
    results, _ = opencode.run(
        said("Go on."),
        ("tool.execute.after", ended, {"output": "made", "metadata": {"exit": 0}}),
        ("experimental.session.compacting", {"sessionID": "ses_1"}, {"context": []}),
        ("experimental.text.complete", {"sessionID": "ses_1"}, {"text": "SUMMARY"}),
        ("experimental.text.complete", {"sessionID": "ses_1"}, {"text": "Answer."}),
    )
    added = results[0]["parts"][1]
    assert (added["text"], added["synthetic"], added["messageID"]) == ("BLOCK", True, "msg_1")
    assert added["id"].startswith("prt_")
    assert results[1]["output"] == "made\n\nBLOCK"
    assert results[2]["context"] == []
    assert [result["text"] for result in results[3:]] == ["SUMMARY\n\nBLOCK", "Answer."]
    *_, compacted, summary = opencode.sent()
    assert compacted.source == events.STARTED_AFTER_COMPACTION
    assert summary.summary == "SUMMARY"


def test_a_context_goes_with_prompts_results_and_compactions_of_pi(pi: Host) -> None:
    pi.answers(CONTEXT)
    _, ended = pi_call("bash", command="make")
    said = {"role": "user", "content": "Go on."}
    results, asked = pi.run(
        ("input", {"text": "Go on.", "source": "interactive"}),
        ("before_agent_start", {}),
        ("before_agent_start", {}),
        ("tool_result", {**ended, "content": [{"type": "text", "text": "made"}], "isError": False}),
        ("session_compact", {"compactionEntry": {"summary": "SUMMARY"}}),
        ("context", {"messages": [said]}),
        ("context", {"messages": [said, {"customType": "gitguard", "content": "BLOCK"}]}),
        ("context", {"messages": [said]}),
    )
    assert results[1]["message"]["content"] == "BLOCK"
    assert results[2] is None
    assert [part["text"] for part in results[3]["content"]] == ["made", "BLOCK"]
    assert asked == [["BLOCK", False]], "kept by the host for the end of the turn"
    assert results[5]["messages"][-1]["content"] == "BLOCK", "until then it is added"
    assert results[6:] == [None, None]


DENIED = {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "FULL"}}
ENDED = {"continue": False, "stopReason": "HALT", **DENIED}


def test_a_denied_call_does_not_run_and_a_halt_ends_the_turn_of_opencode(opencode: Host) -> None:
    opencode.answers(DENIED)
    before, _ = call("bash", command="make")
    assert opencode.run(before) == ([{"thrown": "FULL"}], [])
    opencode.answers(ENDED)
    results, asked = opencode.run(before)
    assert results == [{"thrown": "FULL"}]
    assert asked == [["toast", "HALT"], ["abort", "ses_1"]]


def test_a_denied_call_does_not_run_and_a_halt_ends_the_turn_of_pi(pi: Host) -> None:
    pi.answers(DENIED)
    before, _ = pi_call("bash", command="make")
    assert pi.run(before) == ([{"block": True, "reason": "FULL", "terminate": False}], [])
    pi.answers(ENDED)
    results, asked = pi.run(before)
    assert results == [{"block": True, "reason": "FULL", "terminate": True}]
    assert asked == [["notify", "HALT"]]


def test_a_refused_prompt_is_not_sent_and_says_why(opencode: Host, pi: Host) -> None:
    for host in (opencode, pi):
        host.answers({"decision": "block", "reason": "FULL"})
    assert opencode.run(said("More."))[0] == [{"thrown": "FULL"}]
    results, asked = pi.run(("input", {"text": "More.", "source": "interactive"}))
    assert (results, asked) == ([{"action": "handled"}], [["notify", "FULL"]])


def test_a_sub_agent_of_opencode_is_its_parents(opencode: Host) -> None:
    before, _ = call("bash", "ses_sub", command="make")
    opencode.run(said("Look.", "ses_sub"), before, event("session.idle", sessionID="ses_sub"))
    [sent] = opencode.sent()
    assert (sent.host_session, sent.sub_agent, sent.kind) == ("ses_1", "ses_sub", events.TOOL_START)


def test_a_conversation_of_opencode_that_goes_on_says_so_once(opencode: Host) -> None:
    opencode.run(said("Go on.", "ses_old"), said("And on.", "ses_old"))
    assert [one.kind for one in opencode.sent()] == [
        events.SESSION_START,
        events.PROMPT,
        events.PROMPT,
    ]


def test_a_tool_of_opencode_that_fails_is_told_once_and_a_denied_one_never(opencode: Host) -> None:
    before, _ = call("read", filePath="/repo/none")
    part = {"type": "tool", "sessionID": "ses_1", "callID": "call_1", "tool": "read"}
    failed = event(
        "message.part.updated", part={**part, "state": {"status": "error", "error": "not found"}}
    )
    opencode.run(before, failed, failed)
    _, ended = opencode.sent()
    assert ended.kind == events.TOOL_FAILED
    assert ended.tool is not None
    assert ended.tool.error == "not found"
    opencode.answers(DENIED)
    opencode.run(before, failed)
    assert len(opencode.sent()) == 3


def test_what_is_told_of_a_failed_tool_reaches_the_agent_with_the_next_result(
    opencode: Host,
) -> None:
    opencode.answers(CONTEXT)
    before, ended = call("read", filePath="/repo/none")
    part = {"type": "tool", "sessionID": "ses_1", "callID": "call_1", "tool": "read"}
    results, _ = opencode.run(
        before,
        event("message.part.updated", part={**part, "state": {"status": "error", "error": "no"}}),
        ("tool.execute.after", ended, {"output": "read", "metadata": {}}),
    )
    assert results[2]["output"] == "read" + "\n\nBLOCK" * 3


def test_the_shells_of_opencode_know_their_conversation(opencode: Host) -> None:
    results, _ = opencode.run(("shell.env", {"sessionID": "ses_sub", "cwd": "/"}, {"env": {}}))
    assert results == [{"env": {"GITGUARD_OPENCODE_SESSION": "ses_1"}}]


def test_the_marks_of_tools_shells_are_taken_away_from_gitguard(host: Host) -> None:
    from gitguard.hosts import HOSTS

    marks = (*HOSTS[host.name].marks.in_tools, *HOSTS[host.name].marks.shells)
    host.environment = dict.fromkeys(marks, "1")
    host.run(*turn_of(host))
    environment = (host.folder / "environment").read_text()
    assert not any(f"{mark}=" in environment for mark in marks)


@pytest.mark.parametrize("host", ["pi"], indirect=True)
@pytest.mark.parametrize(
    ("reason", "parent", "source"),
    [
        ("startup", "", "startup"),
        ("startup", "/home/s0.jsonl", "resume"),
        ("fork", "/home/s0.jsonl", "resume"),
        ("new", "/home/s0.jsonl", "clear"),
    ],
)
def test_a_copy_of_a_session_of_pi_goes_on_from_another_one(
    host: Host, reason: str, parent: str, source: str
) -> None:
    host.environment = {"PARENT_SESSION": parent} if parent else {}
    host.run(("session_start", {"reason": reason}))
    (begun,) = host.sent()
    assert begun.source == source


FAULTS = {
    "fails": "exit 3",
    "garbage": "echo '{not JSON'",
    "a list": "echo '[1]'",
    "null": "echo null",
    "killed": "kill -9 $$",
    "hangs": "exec sleep 30",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_goes_wrong_the_agent_goes_on(host: Host, fault: str) -> None:
    steps = turn_of(host)
    untouched, _ = host.run(*steps)
    host.answers({}, script=FAULTS[fault])
    host.limits(200)
    began = time.monotonic()
    results, asked = host.run(*steps)
    assert (results, asked) == (untouched, [])
    assert time.monotonic() - began < 20


def test_without_gitguard_and_without_its_own_files_the_agent_goes_on(host: Host) -> None:
    untouched, _ = host.run(*turn_of(host))
    os.remove(host.program)
    assert host.run(*turn_of(host)) == (untouched, [])
    os.remove(host.config)
    assert host.run(*turn_of(host)) == (untouched, [])


def test_where_the_installation_is_gone_the_one_on_path_answers(host: Host) -> None:
    elsewhere = host.folder / "elsewhere"
    elsewhere.mkdir()
    os.rename(host.program, elsewhere / "gitguard")
    host.environment = {"PATH": f"{elsewhere}:/usr/bin:/bin"}
    host.run(*turn_of(host))
    assert host.sent()


def test_large_outputs_keep_their_ends(host: Host) -> None:
    huge = "x" * 5_000_000 + "THE-END"
    _, ended = call("bash", command="make")
    _, pi_ended = pi_call("bash", command="make")
    step = {
        "opencode": ("tool.execute.after", ended, {"output": huge, "metadata": {"exit": 0}}),
        "pi": ("tool_result", {**pi_ended, "content": [{"type": "text", "text": huge}]}),
    }[host.name]
    host.run(step)
    sent = (host.folder / "inputs").read_text()
    assert len(sent) < 100_000
    assert "THE-END" in sent
