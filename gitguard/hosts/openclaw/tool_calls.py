"""OpenClaw's tool calls and prompts, taken apart."""

from __future__ import annotations

import os

from gitguard.hosts import payload as read
from gitguard.model.events import PlanItem, ToolCall
from gitguard.model.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_WRITING = ("write", "edit")
_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_MOST_PATHS, _MOST_ITEMS = 10_000, 200
_LONGEST_STEP = 500
_PLANNING = ("progress_card", "update_plan")
"""The tool's name since 2026.9, and before."""
_BEFORE_THE_WORDS = (
    r"\s*[A-Z][^\n]{0,80} \(untrusted[^\n]{0,40}\):\n```json\n.*?\n```\s*"
    r"|\s*\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,20}\] "
)
"""`Sender (untrusted metadata):` with a block of JSON, and `[Sat 2026-11-21 20:16 UTC] `."""
_HARMLESS = frozenset({"command", "workdir", "timeout", "yieldMs", "background", "title"})
"""Parameters of `exec` that leave the command what it is."""
_PROBES = frozenset(
    ("read", "web_fetch", "web_search", "browser", "memory_search", "sessions_list")
)
"""Tools that only look something up."""
_PATH_NAMES = ("path", "file_path", "filePath")


def tool_call(event: dict[str, Any], workspace: str) -> ToolCall:
    """Translate a call; its paths become absolute, because the host's are the workspace's."""
    name, parameters = read.name_of(event, "toolName"), read.mapping(event, "params")
    command = read.text(parameters, "command") if name == "exec" else ""
    paths = tuple(os.path.join(workspace, path) for path in _paths(name, parameters))
    plan, is_whole = _plan(name, parameters)
    return ToolCall(
        name=name,
        id=read.name_of(event, "toolCallId"),
        summary=read.cut(
            one_line(command or ", ".join(paths) or read.parameters(parameters)), read.SUMMARY_LIMIT
        ),
        command=command,
        kept_command=read.kept_command(command),
        # What the call sets besides could make the same words run another program.
        is_shell=name == "exec" and parameters.keys() <= _HARMLESS,
        paths_read=paths if name == "read" else (),
        paths_written=paths if name in (*_WRITING, "apply_patch") else (),
        output=read.last_lines(_output_of(read.mapping(event, "result"))) if command else "",
        error=_error(event) if has_failed(event) else "",
        milliseconds=read.count(event, "durationMs"),
        is_probe=name in _PROBES,
        plan=plan,
        whole_plan=is_whole,
    )


def has_failed(event: dict[str, Any]) -> bool:
    """Say whether a call failed; a command that ends with another code than 0 is no error there."""
    result = read.mapping(event, "result")
    if read.text(event, "error") or result.get("isError") is True:
        return True
    return _exit_code(result) not in (None, 0)


def _exit_code(result: dict[str, Any]) -> int | None:
    code = read.mapping(result, "details").get("exitCode")
    return code if type(code) is int else None


def _error(event: dict[str, Any]) -> str:
    result = read.mapping(event, "result")
    code = _exit_code(result)
    message = read.text(event, "error") or _output_of(result)
    if code:
        message = message.strip().removesuffix(f"(Command exited with code {code})")
        message = f"exit code {code}: {message}".removesuffix(": ")
    return read.ending(message.strip())


def _output_of(result: dict[str, Any]) -> str:
    details = read.mapping(result, "details")
    texts = (read.text(part, "text") for part in read.objects(result, "content"))
    return read.text(details, "aggregated").strip() or "\n".join(filter(None, texts)).strip()


def _paths(name: str, parameters: dict[str, Any]) -> tuple[str, ...]:
    if name == "apply_patch":
        return _patched(read.text(parameters, "input"))
    if name not in ("read", *_WRITING):
        return ()
    # Nobody knows which of them the host takes, so all of them count.
    return tuple(dict.fromkeys(filter(None, (read.path(parameters, key) for key in _PATH_NAMES))))


def _patched(patch: str) -> tuple[str, ...]:
    paths = {}
    for line in patch.splitlines():
        for mark in _PATCH_LINES:
            if line.startswith(mark) and len(line) < 4096:
                paths[line.removeprefix(mark).strip()] = True
    return tuple(path for path in paths if path and "\0" not in path)[:_MOST_PATHS]


def _plan(name: str, parameters: dict[str, Any]) -> tuple[tuple[PlanItem, ...], bool]:
    """Return what a call did to the plan, and whether these are all items there are."""
    if name not in _PLANNING:
        return (), False  # most calls, and without the import
    from gitguard.model.plan_calls import whole_plan

    steps = read.objects(parameters, "plan")[:_MOST_ITEMS]
    change = whole_plan(steps, read.cut, _LONGEST_STEP)
    return change.items, bool(change.items)


def words_of_the_user(prompt: str) -> str:
    """Return a prompt without what the host puts before the user's words: sender and time."""
    import re

    # A channel puts several of them in front, so they are taken off until none is left.
    before = re.compile(_BEFORE_THE_WORDS, re.DOTALL)
    remaining = prompt
    while (header := before.match(remaining)) is not None:
        remaining = remaining[header.end() :]
    return remaining
