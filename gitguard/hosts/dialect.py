"""The common hook dialect, once: Claude Code's events, which other hosts speak with differences.

A host declares what differs in a `DialectHost`; everything else is translated here. Payloads are
recorded with Claude Code 2.1.330, Copilot CLI 1.0.102, Qwen Code 0.24.4, Droid 0.225.2, Kimi Code
2.1.0 and Codex CLI 0.171.0.
"""

from __future__ import annotations

import os

from gitguard.hosts import HOSTS, PLANS, load
from gitguard.hosts import payload as read
from gitguard.model import events
from gitguard.model.codec import encode_json
from gitguard.model.events import (
    HookAnswer,
    HookEvent,
    Reading,
    ToolCall,
    Transcript,
    is_token_count,
)
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.hosts.marks import HostMarks
    from gitguard.model.events import Abilities, HookReply, PlanItem, SubAgentReport

KINDS = {
    "UserPromptSubmit": events.PROMPT,
    "PreToolUse": events.TOOL_START,
    "PostToolUse": events.TOOL_END,
    "PostToolUseFailure": events.TOOL_FAILED,
    "Stop": events.TURN_END,
    "PreCompact": events.COMPACTION_START,
    "PostCompact": events.COMPACTION_END,
    "SessionStart": events.SESSION_START,
    "SessionEnd": events.SESSION_END,
}
"""The events that are translated. Each kind stands once: by it a reply finds its event's name."""
TIMEOUTS = {"UserPromptSubmit": 30, "PreCompact": 60, "SessionStart": 30, "SessionEnd": 30}
TIMEOUT = 15
"""Seconds that hosts are told to wait."""

_VERSION_LIMIT = 40
_TELLING_VERSIONS = (events.PROMPT, events.TURN_END)
"""The events at which a transcript is asked for the host's version."""
_ONCE_A_TURN = (events.PROMPT, events.TURN_END)
"""Events that a turn has once with the same words, so that its id marks them."""
NESTED, TOP, PLAIN = "nested", "top", "plain"
"""Where a context is read: in `hookSpecificOutput`, beside it, or as text that is no JSON.

At the start of a call, whoever reads one reads it in `hookSpecificOutput`.
"""
BLOCKS, STOPS, FAILS = "blocks", "stops", "fails"
"""What refuses a prompt: `decision: block`, `continue: false`, or a hook that ends with 2."""


class ShellResult(Value):
    """What a shell's result says."""

    output: str
    code: int | None = None
    """The exit code, None where it is not told."""


class DialectHost(Value):
    """One host that speaks the dialect, by what it does differently."""

    name: str
    abilities: Abilities
    kinds: Mapping[str, str] = KINDS
    timeouts: Mapping[str, int] = TIMEOUTS
    """Seconds to wait at events, where that is not `TIMEOUT`."""
    sources: Mapping[str, str] = {"fork": events.RESUMED}
    """The host's names for what started a session, where the engine has others."""
    ids: tuple[str, ...] = ("tool_use_id", "tool_call_id")
    """The members that hold a call's id, as the transcript has it, the best first."""
    shell: str = "Bash"
    writing: frozenset[str] = frozenset()
    """Tools that write the file they name."""
    reading: frozenset[str] = frozenset()
    probes: frozenset[str] = frozenset()
    """Tools that only look something up, or ask."""
    planning: frozenset[str] = frozenset()
    """Tools that write or list the plan: the whole list, unless the host's `plan_calls` says."""
    asking: str = ""
    """The tool that asks the user."""
    project: str = ""
    """The variable that names the project's folder to hooks."""
    version: Callable[[Mapping[str, str]], str] | None = None
    """Returns the host's version, where the environment tells it."""
    version_in: Callable[[str], str] | None = None
    """Returns it where only the transcript at a path does; it is asked at prompts and turns' ends.
    """
    transcript: Callable[[dict[str, Any], str], str] | None = None
    """Finds the transcript for a payload that does not name it, below the folder of the user."""
    words: Callable[[str], str] | None = None
    """Takes out of a prompt what the host added to it."""
    shell_result: Callable[[str], ShellResult] | None = None
    """Reads output and exit code out of a shell's result that is one text."""
    paths_written: Callable[[dict[str, Any]], tuple[str, ...]] | None = None
    """Names what a writing call writes, where its parameters hold no path of their own."""
    answers: Callable[[dict[str, Any]], tuple[str, ...]] | None = None
    """Returns what the user answered to questions, out of the result of `asking`."""
    questions: Callable[[dict[str, Any]], str] | None = None
    """Returns what is asked, with the choices, out of the parameters of `asking`."""
    readings: Callable[[dict[str, Any], float], Reading | None] | None = None
    """Returns how full the context is, where payloads say so."""
    report: Callable[[dict[str, Any]], SubAgentReport | None] | None = None
    """Returns what a sub-agent told its parent, where an event brings it."""
    context: str = NESTED
    refusal: str = BLOCKS
    obeys_continue: bool = False
    """Whether `continue: false` at the start of a call ends the turn."""
    has_steps: bool = False
    """Whether a prompt without words carries results back; refusing it ends the turn."""
    shows_notices: bool = False
    """Whether `systemMessage` is read."""
    keeps_many: bool = False
    """Whether a transcript holds many conversations."""

    @property
    def marks(self) -> HostMarks:
        """By which marks it is told."""
        return HOSTS[self.name].marks

    def time_limit(self, kind: str) -> float:
        """Return for how many seconds the host waits for the answer to a kind of event."""
        for name, kind_of_name in self.kinds.items():
            if kind_of_name == kind:
                return self.timeouts.get(name, TIMEOUT)
        return TIMEOUT

    def project_dir(self, environment: Mapping[str, str]) -> str:
        """Return the project's folder, as far as it is known without a payload."""
        return environment.get(self.project, "") if self.project else ""

    # In

    def parse_event(
        self, payload: dict[str, Any], environment: Mapping[str, str], now: float
    ) -> HookEvent:
        """Translate a hook's payload; `InvalidDocument` for one without a conversation."""
        name = read.name_of(payload, "hook_event_name")
        kind = self.kinds.get(name, events.OTHER)
        agent = read.name_of(payload, "agent_id")
        session = read.name_of(payload, "parent_agent_id") if agent else ""
        session = session or shorten(read.required(payload, "session_id"), read.NAME_LIMIT)
        prompt = _prompt(payload)
        if kind == events.PROMPT and not prompt and self.has_steps:
            kind = events.STEP
        tool = self._tool(payload) if "tool_name" in payload else None
        if kind == events.TOOL_END and tool is not None and tool.error:
            kind = events.TOOL_FAILED
        path = read.path(payload, "transcript_path")
        if not path and self.transcript is not None:
            path = self.transcript(payload, self.marks.user_folder(environment))
        source = read.name_of(payload, "source")
        turn = _first(payload, ("prompt_id", "turn_id"))
        mark = _first(payload, ("timestamp", "message_id", *self.ids))
        return HookEvent(
            kind=kind,
            host_session=session,
            project_dir=self.project_dir(environment) or read.required(payload, "cwd"),
            folder=read.path(payload, "cwd"),
            host=self.name,
            version=self._version(kind, payload, environment, path),
            source=self.sources.get(source, source) or read.name_of(payload, "trigger"),
            prompt=self.words(prompt) if prompt and self.words is not None else prompt,
            turn_id=turn,
            summary=read.text(payload, "compact_summary"),
            answer=read.text(payload, "last_assistant_message"),
            tool=tool,
            sub_agent=agent,
            from_tool=self.marks.has_tool_marks(environment),
            report=self.report(payload) if self.report is not None else None,
            reading=self.readings(payload, now) if self.readings is not None else None,
            transcript=Transcript(path, self.name, session * self.keeps_many) if path else None,
            model=_model(payload),
            mark=mark or (turn if kind in _ONCE_A_TURN else ""),
        )

    def _version(
        self, kind: str, payload: dict[str, Any], environment: Mapping[str, str], transcript: str
    ) -> str:
        version = read.name_of(payload, "host_version")  # by a plugin of ours
        if not version and self.version is not None:
            version = self.version(environment)
        if not version and self.version_in is not None and kind in _TELLING_VERSIONS:
            version = self.version_in(transcript)
        return read.cut(version, _VERSION_LIMIT) if version else ""

    def _tool(self, payload: dict[str, Any]) -> ToolCall:
        name = read.name_of(payload, "tool_name")
        parameters = read.mapping(payload, "tool_input")
        command = "" if name in self.writing else read.text(parameters, "command")
        path = _path(parameters)
        written: tuple[str, ...] = (path,) if path and name in self.writing else ()
        if self.paths_written is not None and name in self.writing:
            written = self.paths_written(parameters)
        output, error = self._outcome(payload, is_shell=bool(command))
        plan: tuple[PlanItem, ...] = ()
        is_whole = False
        if name in self.planning:
            plan, is_whole = self._plan(name, parameters, payload)
        response = read.mapping(payload, "tool_response")
        questions = self.questions(parameters) if self.questions and name == self.asking else ""
        summary = command or path or questions or read.parameters(parameters)
        return ToolCall(
            name=name,
            id=_first(payload, self.ids) or _invented_id(name, parameters),
            summary=read.cut(one_line(summary), read.SUMMARY_LIMIT),
            command=command,
            kept_command=read.kept_command(command),
            is_shell=name == self.shell,
            paths_read=(path,) if path and name in self.reading else (),
            paths_written=written,
            output=read.last_lines(output) if command and output else "",
            error=read.ending(error) if error else "",
            interrupted=payload.get("is_interrupt") is True,
            runs_on=parameters.get("run_in_background") is True
            or parameters.get("is_background") is True
            or bool(read.text(response, "backgroundTaskId")),
            milliseconds=read.count(payload, "duration_ms"),
            is_probe=name in self.probes,
            answers=self.answers(response)
            if self.answers is not None and name == self.asking
            else (),
            plan=plan,
            whole_plan=is_whole,
        )

    def _plan(
        self, name: str, parameters: dict[str, Any], payload: dict[str, Any]
    ) -> tuple[tuple[PlanItem, ...], bool]:
        if PLANS in HOSTS[self.name].capabilities:
            result = read.mapping(payload, "tool_response")
            change = load(self.name, PLANS).plan_change(name, parameters, result, read.cut)
        else:
            from gitguard.model.plan_calls import whole_plan, written_list

            change = whole_plan(written_list(parameters), read.cut)
        return change.items, change.is_whole

    def _outcome(self, payload: dict[str, Any], *, is_shell: bool) -> tuple[str, str]:
        """Return what a call said and its error; an exit code stands first in that."""
        failure = read.text(payload, "error")
        failure = failure or read.text(read.mapping(payload, "error"), "message")
        result = failure or _result(payload)
        if not is_shell or self.shell_result is None:
            return ("", failure) if failure else (result, "")
        shell = self.shell_result(result)
        if not failure and not shell.code:
            return shell.output, ""
        code = "" if shell.code is None else f"Exit code {shell.code}\n"
        return "", code + shell.output

    # Out

    def render_reply(self, event: HookEvent, reply: HookReply) -> HookAnswer:
        """Translate our answer; nothing at all is neutral, since plain text would be injected."""
        why = reply.stop or reply.refuse
        if event.kind == events.TOOL_START and why:
            return _dump(self._refused_tool(reply))
        if event.kind == events.PROMPT and why:
            return self._refused_prompt(why)
        if event.kind == events.STEP:
            return _dump({"decision": "block", "reason": reply.stop} if reply.stop else {})
        if event.kind == events.COMPACTION_START and reply.stop:
            return _dump({"continue": False, "stopReason": reply.stop})
        context = reply.context if event.kind in self.abilities.hears else ""
        if self.context == PLAIN:
            return HookAnswer(context)
        answer: dict[str, Any] = {}
        if context and self.context == TOP and event.kind != events.TOOL_START:
            answer["additionalContext"] = context
        elif context:
            name = next(n for n, kind in self.kinds.items() if kind == event.kind)
            answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
        if reply.notice and self.shows_notices:
            answer["systemMessage"] = reply.notice
        return _dump(answer)

    def _refused_tool(self, reply: HookReply) -> dict[str, Any]:
        # Without the denial the tool would still run, without `continue` the agent would go on.
        why = reply.refuse or reply.stop
        denial = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": why,
        }
        stop = (
            {"continue": False, "stopReason": reply.stop}
            if reply.stop and self.obeys_continue
            else {}
        )
        return {**stop, "hookSpecificOutput": denial}

    def _refused_prompt(self, why: str) -> HookAnswer:
        if self.refusal == FAILS:
            return HookAnswer(error=why, code=2)
        if self.refusal == STOPS:
            return _dump({"continue": False, "stopReason": why})
        # `continue: false` would leave the prompt in the conversation; a block does not.
        return _dump({"decision": "block", "reason": why})


def _dump(answer: dict[str, Any]) -> HookAnswer:
    return HookAnswer(encode_json(answer) if answer else "")


def _first(payload: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        if value := read.name_of(payload, name):
            return value
    return ""


def _invented_id(name: str, parameters: dict[str, Any]) -> str:
    from gitguard.model.call_ids import invented_id

    return invented_id(name, parameters)


def _prompt(payload: dict[str, Any]) -> str:
    """Return a prompt, which is a text or a list of parts that have one."""
    parts = read.objects(payload, "prompt")
    if not parts:
        return read.text(payload, "prompt")
    return "\n".join(filter(None, (read.text(part, "text") for part in parts)))


def _model(payload: dict[str, Any]) -> str:
    return read.name_of(payload, "model") or read.name_of(read.mapping(payload, "model"), "id")


def _path(parameters: dict[str, Any]) -> str:
    for name in ("file_path", "notebook_path", "path", "absolute_path", "filePath"):
        if path := read.path(parameters, name):
            return path
    return ""


def _result(payload: dict[str, Any]) -> str:
    """Return the text of a call's result, in whichever member the host puts it."""
    response = read.mapping(payload, "tool_response")
    for text in (
        read.text(payload, "tool_response"),
        read.text(payload, "tool_output"),
        read.text(read.mapping(payload, "tool_result"), "text_result_for_llm"),
        read.text(response, "stdout") or read.text(response, "stderr"),
        read.text(response, "llmContent"),
    ):
        if text:
            return text
    return ""


def told_reading(payload: dict[str, Any], now: float) -> Reading | None:
    """Return what an event says of the context."""
    tokens, window = payload.get("input_tokens"), payload.get("context_limit")
    if not is_token_count(tokens) or not is_token_count(window):
        return None
    return Reading("hook", now, tokens=tokens, window=window)


def beginning_of(path: str, most: int) -> bytes:
    """Return how a file of the host's begins, empty where it cannot be read."""
    if not os.path.isfile(path):
        return b""  # reading a pipe would wait for somebody who writes to it
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def code_behind(mark: str, end: str = "") -> Callable[[str], ShellResult]:
    """Return a reader of results whose last line has the exit code between a mark and an end."""

    def shell_result(text: str) -> ShellResult:
        output, separator, tail = text.rpartition(mark)
        number = tail.partition(end)[0] if end else tail.split("\n")[0]
        if not separator or not number.strip().isdigit():
            return ShellResult(text)
        return ShellResult(output.rpartition("\n")[0].strip("\n"), int(number))

    return shell_result
