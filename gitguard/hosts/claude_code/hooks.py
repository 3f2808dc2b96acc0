"""Claude Code: hooks, status line and their answers (recorded with 2.1.330)."""

from __future__ import annotations

from gitguard.hosts import payload as read
from gitguard.model import events
from gitguard.model.codec import encode_json
from gitguard.model.events import (
    Abilities,
    HookEvent,
    HookReply,
    PlanItem,
    Reading,
    ToolCall,
    Transcript,
    is_token_count,
)
from gitguard.model.text import one_line, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


NAME = "claude-code"
ABILITIES = Abilities(
    keeps_refused_prompts=True,
    settings_files=(".claude/settings.local.json", ".claude/settings.json"),
    compact_command="/compact",
    new_conversation="/clear",
)
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
HOOK_EVENTS = tuple(KINDS)
"""The events that `init` installs a hook for."""
TIMEOUTS = {"UserPromptSubmit": 30, "PreCompact": 60, "SessionStart": 30, "SessionEnd": 30}
TIMEOUT = 15
"""Seconds that the host is told to wait; SessionEnd has to name its own, or is given one."""
_WRITING = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_STATUS_LINE_LAG = 2.0
"""Seconds by which the status line may repeat an older figure, even from before a compaction."""
_PROBES = frozenset(
    (
        *("Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "AskUserQuestion", "ToolSearch"),
        *("NotebookRead", "TaskGet", "TaskList", "TaskOutput", "BashOutput", "Skill"),
        "ExitPlanMode",
    )
)
"""Tools that only look something up, or ask."""
FROM_OTHERS = (
    *("teammate-message", "agent-message", "cross-session-message", "coordinator-relay"),
    *("channel", "slack-ping", "slack-tag-message", "webhook-payload", "ci-monitor-event"),
    *("fetched-web-content", "untrusted-widget-state", "remote-review", "tick"),
    *("artifact-type-instructions", "artifact-file-content", "artifact-origin-notes"),
)
"""Tags around messages of other agents, programs and people, which the host hands on as prompts."""
BESIDE_THE_WORDS = (
    *("ide_opened_file", "ide_selection", "system-reminder", "task-notification"),
    *("local-command-caveat", "local-command-stdout", "local-command-stderr"),
    *("bash-input", "bash-stdout", "bash-stderr"),
    *FROM_OTHERS,
)
"""Tags around what the host adds to a prompt; its transcript has the same."""
_NOT_THE_USERS = ("<task-notification>", *(f"<{tag}" for tag in FROM_OTHERS))
"""How prompts begin that the user did not write; the first one says that background work ended."""
_MOST_ANSWERS = 8
_ONLY_NOTES = "(notes only)"
"""What the host records as the answer if the user typed notes and chose no option."""
_MARKS = (
    ("COPILOT_CLI", "Copilot CLI"),
    ("QWEN_CODE_CLI", "Qwen Code"),
    ("FACTORY_PROJECT_DIR", "Droid"),
)
"""Variables that other programs set for hooks which they take out of Claude Code's settings."""
_FOLDERS = (
    (".copilot", "Copilot CLI"),
    (".qwen", "Qwen Code"),
    (".factory", "Droid"),
    (".kimi-code", "Kimi Code"),
    (".codex", "Codex CLI"),
)
"""Folders in which such programs keep their transcripts."""
_PLANNING = ("TaskCreate", "TaskUpdate", "TaskList", "TodoWrite")
"""Tools that write or list the plan; what each does to it is in `plan_calls`."""
_READINGS = {"context_tokens", "context_window"}
"""Members of an event that tell how full the context is."""
_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def host_session(environment: Mapping[str, str]) -> str:
    """Return the conversation in which a command runs, empty outside Claude Code."""
    return environment.get("CLAUDE_CODE_SESSION_ID", "")


def in_agents_shell(environment: Mapping[str, str]) -> bool:
    """Say whether the agent runs a command; the host sets two marks, so dropping one hides none."""
    return bool(host_session(environment) or environment.get("CLAUDECODE"))


def has_tool_marks(environment: Mapping[str, str]) -> bool:
    """Say whether this process has the marks of a tool call.

    Hooks and the status line have the project's folder, and tool calls the host's program (seen in
    2.1.330). Both have `CLAUDECODE`, `CLAUDE_CODE_SESSION_ID` and `AI_AGENT`, which tell nothing.
    """
    has_program = bool(environment.get("CLAUDE_CODE_EXECPATH"))
    return has_program and not environment.get("CLAUDE_PROJECT_DIR")


def project_dir(environment: Mapping[str, str]) -> str:
    """Return the project's folder, as far as it is known without a payload."""
    return environment.get("CLAUDE_PROJECT_DIR", "")


def time_limit(kind: str) -> float:
    """Return for how many seconds the host waits for the answer to a kind of event."""
    return next((TIMEOUTS.get(name, TIMEOUT) for name, of in KINDS.items() if of == kind), TIMEOUT)


def parse_event(payload: dict[str, Any], environment: Mapping[str, str], now: float) -> HookEvent:
    """Translate a hook's or the status line's payload."""
    name = payload.get("hook_event_name")
    kind = KINDS.get(str(name), events.OTHER) if name else events.STATUS_LINE
    path = read.path(payload, "transcript_path")
    ran_by = _program_of(payload, path, environment)
    prompt, model = read.text(payload, "prompt"), payload.get("model")
    return HookEvent(
        kind=kind,
        host_session=shorten(read.required(payload, "session_id"), read.NAME_LIMIT),
        project_dir=project_dir(environment) or _project_dir(payload),
        folder=read.path(payload, "cwd"),
        host=NAME,
        version=_version(environment) if "AI_AGENT" in environment and not ran_by else "",
        ran_by=ran_by,
        source=read.name_of(payload, "source") or read.name_of(payload, "trigger"),
        prompt=_words_of_the_user(prompt) if "<" in prompt or prompt[:1] == "/" else prompt,
        turn_id=read.name_of(payload, "prompt_id"),
        summary=read.text(payload, "compact_summary"),
        answer=read.text(payload, "last_assistant_message"),
        tool=_tool(payload) if "tool_name" in payload else None,
        sub_agent=read.name_of(payload, "agent_id"),
        from_tool=has_tool_marks(environment),
        reading=_reading(payload, now) if _READINGS & payload.keys() else None,
        transcript=Transcript(path, NAME) if path and not ran_by else None,
        model=_model(payload) if model else "",
    )


def _program_of(payload: dict[str, Any], transcript: str, environment: Mapping[str, str]) -> str:
    """Return the other program that runs our hooks, empty for Claude Code itself.

    Marks are inherited by a Claude Code that was started in another's shell. So where the
    transcript lies goes first.
    """
    marks = [name for mark, name in _MARKS if mark in environment]
    folders = [name for folder, name in _FOLDERS if f"/{folder}/" in transcript]
    if read.text(payload, "client_type") == "kimi_code_cli":
        marks.append("Kimi Code")
    if not (marks or folders) or (transcript and _is_own(transcript, environment)):
        return ""
    return (folders or marks)[0]


def _is_own(transcript: str, environment: Mapping[str, str]) -> bool:
    """Say whether a transcript lies in Claude Code's own folder."""
    import os

    folder = os.path.abspath(user_folder(environment))
    path = os.path.abspath(transcript)
    if path.startswith(folder + os.sep):
        return True
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


def user_folder(environment: Mapping[str, str]) -> str:
    """Return the folder in which Claude Code keeps what belongs to its user."""
    home = environment.get("HOME", "")
    return environment.get("CLAUDE_CONFIG_DIR", "") or f"{home}/.claude"


def _version(environment: Mapping[str, str]) -> str:
    """Return the host's version from `claude-code_2-1-330_harness`, empty where none is told."""
    name, _, text = environment.get("AI_AGENT", "").partition("_")
    return read.cut(text.partition("_")[0].replace("-", "."), 40) if name == NAME else ""


def _words_of_the_user(prompt: str) -> str:
    from gitguard.hosts.claude_code.own_commands import OWN_COMMANDS
    from gitguard.model.host_additions import command_in, outside_of

    words = outside_of(prompt, BESIDE_THE_WORDS, _NOT_THE_USERS)
    return "" if command_in(words) in OWN_COMMANDS else words


def _project_dir(payload: dict[str, Any]) -> str:
    return read.text(read.mapping(payload, "workspace"), "project_dir") or read.required(
        payload, "cwd"
    )


def _model(payload: dict[str, Any]) -> str:
    return read.name_of(payload, "model") or read.name_of(read.mapping(payload, "model"), "id")


def _tool(payload: dict[str, Any]) -> ToolCall:
    name = read.name_of(payload, "tool_name")
    parameters = read.mapping(payload, "tool_input")
    command = read.text(parameters, "command")
    path = read.path(parameters, "file_path") or read.path(parameters, "notebook_path")
    summary = command or path or read.parameters(parameters)
    response, error = read.mapping(payload, "tool_response"), read.text(payload, "error")
    plan: tuple[PlanItem, ...] = ()
    is_whole = False
    if name in _PLANNING:
        from gitguard.hosts.claude_code.plan_calls import plan_change

        change = plan_change(name, parameters, response, read.cut)
        plan, is_whole = change.items, change.is_whole
    return ToolCall(
        name=name,
        id=read.name_of(payload, "tool_use_id"),
        summary=read.cut(one_line(summary), read.SUMMARY_LIMIT),
        command=command,
        kept_command=read.kept_command(command),
        is_shell=name == "Bash",
        paths_read=(path,) if name == "Read" and path else (),
        paths_written=(path,) if name in _WRITING and path else (),
        output=_output(response) if command and response else "",
        error=read.ending(error) if error else "",
        interrupted=payload.get("is_interrupt") is True,
        runs_on=parameters.get("run_in_background") is True
        or bool(read.text(response, "backgroundTaskId")),
        milliseconds=read.count(payload, "duration_ms"),
        is_probe=name in _PROBES,
        answers=_answers(response) if name == "AskUserQuestion" else (),
        plan=plan,
        whole_plan=is_whole,
    )


def _output(response: dict[str, Any]) -> str:
    """Return the end of what a command said; errors that did not fail it stand beside it."""
    return read.last_lines(read.text(response, "stdout") or read.text(response, "stderr"))


def _answers(response: dict[str, Any]) -> tuple[str, ...]:
    """Return what the user answered to the agent's questions, as the host has recorded it."""
    from itertools import islice

    notes = read.mapping(response, "annotations")
    pairs = (
        (one_line(question), one_line(_with_notes(answer, read.mapping(notes, question))))
        for question, answer in read.mapping(response, "answers").items()
        if answer
    )
    shown = (f"{read.cut(asked, 300)} → {read.cut(answered, 300)}" for asked, answered in pairs)
    return tuple(islice(shown, _MOST_ANSWERS))


def _with_notes(answer: str, annotation: dict[str, Any]) -> str:
    """Return the chosen option with what the user typed beside it, or alone what they typed."""
    notes = read.text(annotation, "notes").strip()
    if not notes:
        return answer
    return notes if answer == _ONLY_NOTES else f"{answer} ({notes})"


def _reading(payload: dict[str, Any], now: float) -> Reading | None:
    tokens = payload.get("context_tokens")
    if is_token_count(tokens):
        return Reading("hook", now, tokens=tokens)
    context = read.mapping(payload, "context_window")
    used = [part for name in _USAGE if context and (part := _count(context, name))]
    if not used:
        return None
    window = context.get("context_window_size")
    return Reading(
        "status-line",
        now - _STATUS_LINE_LAG,
        tokens=sum(used),
        window=window if is_token_count(window) else None,
        model=_model(payload),
    )


def _count(context: dict[str, Any], name: str) -> int:
    value = read.mapping(context, "current_usage").get(name)
    return value if isinstance(value, int) and is_token_count(value) else 0


def render_reply(event: HookEvent, reply: HookReply) -> str:
    """Translate our answer; nothing at all is neutral, since plain text would be injected."""
    if event.kind == events.STATUS_LINE:
        return reply.line
    if event.kind == events.TOOL_START and (reply.stop or reply.refuse):
        return _dump(_refused_tool(reply))
    if event.kind == events.PROMPT and (reply.stop or reply.refuse):
        # `continue: false` would leave the prompt in the conversation; a block does not.
        return _dump({"decision": "block", "reason": reply.stop or reply.refuse})
    answer: dict[str, Any] = {}
    if reply.context:
        name = next(name for name, kind in KINDS.items() if kind == event.kind)
        specific = {"hookEventName": name, "additionalContext": reply.context}
        answer["hookSpecificOutput"] = specific
    if reply.notice:
        answer["systemMessage"] = reply.notice
    return _dump(answer) if answer else ""


def _refused_tool(reply: HookReply) -> dict[str, Any]:
    # Without the denial the tool would still run, without `continue` the agent would go on.
    why = reply.refuse or reply.stop
    denial = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": why,
    }
    stop = {"continue": False, "stopReason": why} if reply.stop else {}
    return {**stop, "hookSpecificOutput": denial}


def _dump(answer: dict[str, Any]) -> str:
    return encode_json(answer)
