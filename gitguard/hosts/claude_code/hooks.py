"""Claude Code: hooks, status line and their answers (recorded with 2.1.330)."""

from __future__ import annotations

from gitguard.hosts import payload as read
from gitguard.hosts.dialect import KINDS, DialectHost
from gitguard.model import events
from gitguard.model.events import Abilities, HookAnswer, Reading, SubAgentReport, is_token_count
from gitguard.model.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.model.events import HookEvent, HookReply


NAME = "claude-code"
HOOK_EVENTS = tuple(KINDS)
"""The events that `init` installs a hook for."""
_STATUS_LINE_LAG = 2.0
"""Seconds by which the status line may repeat an older figure, even from before a compaction."""
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
_BEFORE_A_REPORT = "<tools-used-before-summary>"
"""How a part of a sub-agent's result begins that the host added."""
_MOST_ANSWERS = 8
_ONLY_NOTES = "(notes only)"
"""What the host records as the answer if the user typed notes and chose no option."""
_USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


class ClaudeCode(DialectHost):
    """The host whose dialect it is, and the one that calls us for a status line."""

    def parse_event(
        self, payload: dict[str, Any], environment: Mapping[str, str], now: float
    ) -> HookEvent:
        """Translate a hook's or the status line's payload."""
        if payload.get("hook_event_name"):
            return super().parse_event(payload, environment, now)
        project = read.text(read.mapping(payload, "workspace"), "project_dir")
        event = super().parse_event({"cwd": project, **payload}, environment, now)
        return event.replace(
            kind=events.STATUS_LINE,
            project_dir=self.project_dir(environment) or project or event.folder,
        )

    def render_reply(self, event: HookEvent, reply: HookReply) -> HookAnswer:
        """Translate our answer; a status line shows text as it is."""
        if event.kind == events.STATUS_LINE:
            return HookAnswer(reply.line)
        return super().render_reply(event, reply)


def _version(environment: Mapping[str, str]) -> str:
    """Return the host's version from `claude-code_2-1-330_harness`, empty where none is told."""
    name, _, text = environment.get("AI_AGENT", "").partition("_")
    return read.cut(text.partition("_")[0].replace("-", "."), 40) if name == NAME else ""


def _words_of_the_user(prompt: str) -> str:
    if "<" not in prompt and prompt[:1] != "/":
        return prompt
    from gitguard.hosts.claude_code.own_commands import OWN_COMMANDS
    from gitguard.model.host_additions import command_in, outside_of

    words = outside_of(prompt, BESIDE_THE_WORDS, _NOT_THE_USERS)
    return "" if command_in(words) in OWN_COMMANDS else words


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


def _questions(parameters: dict[str, Any]) -> str:
    """Return what the agent asks the user by a dialog, each question with its choices."""
    questions = []
    for question in read.objects(parameters, "questions")[:_MOST_ANSWERS]:
        labels = [read.text(option, "label") for option in read.objects(question, "options")]
        choices = f" ({' | '.join(filter(None, labels))})" if any(labels) else ""
        questions.append(f"{read.text(question, 'question')}{choices}")
    return " ".join(filter(None, questions))


def _with_notes(answer: str, annotation: dict[str, Any]) -> str:
    """Return the chosen option with what the user typed beside it, or alone what they typed."""
    notes = read.text(annotation, "notes").strip()
    if not notes:
        return answer
    return notes if answer == _ONLY_NOTES else f"{answer} ({notes})"


def _report(payload: dict[str, Any]) -> SubAgentReport | None:
    """Return what a sub-agent found: of one in the background, a prompt of the host's brings it."""
    response = read.mapping(payload, "tool_response")
    agent = read.name_of(response, "agentId")
    if agent and response.get("status") == "completed":
        parts = [read.text(part, "text") for part in read.objects(response, "content")]
        text = "\n".join(part for part in parts if not part.startswith(_BEFORE_A_REPORT))
        return SubAgentReport(agent, read.name_of(payload, "tool_use_id"), text)
    prompt = read.text(payload, "prompt")
    if not prompt.startswith(_NOT_THE_USERS[0]):
        return None
    agent, call = _between(prompt, "task-id"), _between(prompt, "tool-use-id")
    text = _between(prompt, "result")
    return SubAgentReport(agent, call, text) if agent and call and text else None


def _between(text: str, tag: str) -> str:
    """Return what stands between a tag and the last end of it."""
    behind = text.partition(f"<{tag}>")[2]
    return behind.rpartition(f"</{tag}>")[0].strip()


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
        model=read.name_of(read.mapping(payload, "model"), "id"),
    )


def _count(context: dict[str, Any], name: str) -> int:
    value = read.mapping(context, "current_usage").get(name)
    return value if isinstance(value, int) and is_token_count(value) else 0


HOST = ClaudeCode(
    NAME,
    Abilities(
        hears=(*events.HEARD, events.TOOL_START),
        keeps_refused_prompts=True,
        settings_files=(".claude/settings.local.json", ".claude/settings.json"),
        compact_command="/compact",
        new_conversation="/clear",
    ),
    writing=frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit")),
    reading=frozenset(("Read",)),
    probes=frozenset(
        (
            *("Read", "Grep", "Glob", "LS", "WebFetch", "WebSearch", "AskUserQuestion"),
            *("ToolSearch", "NotebookRead", "TaskGet", "TaskList", "TaskOutput", "BashOutput"),
            *("Skill", "ExitPlanMode"),
        )
    ),
    planning=frozenset(("TaskCreate", "TaskUpdate", "TaskList", "TodoWrite")),
    asking="AskUserQuestion",
    project="CLAUDE_PROJECT_DIR",
    version=_version,
    words=_words_of_the_user,
    answers=_answers,
    questions=_questions,
    readings=_reading,
    report=_report,
    obeys_continue=True,
    shows_notices=True,
)
