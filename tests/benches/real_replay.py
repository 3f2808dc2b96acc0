"""A Claude Code transcript, told to the real hooks event by event."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gitguard import Guard
from gitguard.hosts.claude_code import hooks
from gitguard.store.session.workspace import Places

Entry = dict[str, Any]

SESSION, SUCCESSOR = "source", "successor"
_NOT_THE_USER = (
    *("<command-", "<local-command", "<task-notification", "<teammate-message", "<system-"),
    *("<ci-monitor-event", "Caveat: ", "<bash-"),
)
"""How texts begin that stand where a prompt stands, and that nobody typed as one."""

_INTERRUPTED = "[Request interrupted"
_OPENED_IN_EDITOR = "<ide_"
"""How a part begins that the editor adds to what the user typed; no hook carries it."""


@dataclass(frozen=True)
class Event:
    """One hook call: after how many lines of the transcript, when (Unix seconds), its payload."""

    lines: int
    at: float
    payload: Entry


class Clock:
    """The transcript's time; it never goes back."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, at: float) -> None:
        self.now = max(self.now + 0.001, at)


def entries_of(path: Path) -> list[tuple[str, Entry]]:
    """Return the lines of a transcript that hold a JSON object, each with its text."""
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            entries.append((line, entry))
    return entries


def _parts(entry: Entry) -> list[Entry]:
    content = (entry.get("message") or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or [] if isinstance(part, dict)]


def text_of(entry: Entry) -> str:
    """Return what an entry says, without tool calls, results and thinking."""
    texts = (str(part.get("text", "")) for part in _parts(entry) if part.get("type") == "text")
    return "\n".join(text for text in texts if not text.startswith(_OPENED_IN_EDITOR))


def is_prompt(entry: Entry) -> bool:
    """Say whether the user typed this."""
    if entry.get("type") != "user" or entry.get("isSidechain") or entry.get("isMeta"):
        return False
    if entry.get("isCompactSummary") or _results(entry):
        return False
    text = text_of(entry).strip()
    return bool(text) and not text.startswith((*_NOT_THE_USER, _INTERRUPTED))


def _results(entry: Entry) -> list[Entry]:
    return [part for part in _parts(entry) if part.get("type") == "tool_result"]


def _time(entry: Entry, earlier: float) -> float:
    try:
        return datetime.fromisoformat(str(entry["timestamp"])).timestamp()
    except (KeyError, ValueError):
        return earlier


class _Teller:
    """Turns entries into events; holds the tool calls that run and the turn's latest text."""

    def __init__(self) -> None:
        self._calls: dict[str, Entry] = {}
        self._answer = ""
        self._in_turn = False

    def tell(self, entry: Entry) -> Iterator[Entry]:
        if entry.get("isSidechain"):
            return
        if entry.get("subtype") == "compact_boundary":
            trigger = (entry.get("compactMetadata") or {}).get("trigger", "auto")
            yield {"hook_event_name": "PreCompact", "trigger": trigger}
        elif entry.get("isCompactSummary"):
            summary = text_of(entry)
            yield {
                "hook_event_name": "PostCompact",
                "trigger": "auto",
                "compact_summary": summary,
            }
            yield {"hook_event_name": "SessionStart", "source": "compact"}
        elif is_prompt(entry):
            yield from self.end_turn()
            self._in_turn = True
            yield {"hook_event_name": "UserPromptSubmit", "prompt": text_of(entry)}
        elif entry.get("type") == "assistant":
            yield from self._assistant(entry)
        elif entry.get("type") == "user":
            yield from self._ended(entry)
            if text_of(entry).startswith(_INTERRUPTED):
                self._in_turn = False

    def end_turn(self) -> Iterator[Entry]:
        """Yield the Stop event of the turn that runs; a turn cut off inside a call has none."""
        if self._in_turn and self._answer and not self._calls:
            yield {"hook_event_name": "Stop", "last_assistant_message": self._answer}
        self._in_turn, self._answer = False, ""
        self._calls.clear()

    def _assistant(self, entry: Entry) -> Iterator[Entry]:
        text = text_of(entry).strip()
        if text:
            self._answer = text
        for part in _parts(entry):
            if part.get("type") == "tool_use":
                call = {
                    "tool_name": part.get("name"),
                    "tool_input": part.get("input") or {},
                    "tool_use_id": part.get("id"),
                }
                self._calls[str(part.get("id"))] = call
                yield {"hook_event_name": "PreToolUse", **call}

    def _ended(self, entry: Entry) -> Iterator[Entry]:
        for result in _results(entry):
            call = self._calls.pop(str(result.get("tool_use_id")), None)
            if call is None:
                continue
            if result.get("is_error"):
                error = _plain(result.get("content"))
                yield {"hook_event_name": "PostToolUseFailure", **call, "error": error}
            else:
                response = entry.get("toolUseResult", _plain(result.get("content")))
                yield {"hook_event_name": "PostToolUse", **call, "tool_response": response}


def _plain(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def events_of(entries: list[tuple[str, Entry]], *, is_killed: bool) -> list[Event]:
    """Return the hook calls of a transcript; after a kill, the last turn has no Stop."""
    teller, at = _Teller(), 0.0
    events = []
    for number, (_, entry) in enumerate(entries, start=1):
        at = _time(entry, at)
        events += [Event(number, at, payload) for payload in teller.tell(entry)]
    if not is_killed:
        events += [Event(len(entries), at, payload) for payload in teller.end_turn()]
    return events


class Replay:
    """A throw-away repository, sealed places, and the hooks that are called there."""

    def __init__(self, folder: Path, budget: int) -> None:
        self._root = folder / "repo"
        self._root.mkdir(parents=True)
        self._transcript = folder / f"{SESSION}.jsonl"
        self._clock = Clock()
        config = folder / "config"
        config.mkdir()
        (config / "config.yaml").write_text(f"resume:\n  max_tokens: {budget}\n")
        self._places = Places(
            state_home=str(folder / "state"),
            config_home=str(config),
            environment={"PATH": os.environ["PATH"]},
            home=str(folder),
        )
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("commit", "--quiet", "--allow-empty", "--message", "first")

    def _git(self, *arguments: str) -> None:
        names = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        identity = {f"GIT_{name}": "x" for name in names}
        env = {"PATH": os.environ["PATH"], "HOME": str(self._root.parent), **identity}
        subprocess.run(["git", *arguments], cwd=self._root, env=env, check=True)

    def _guard(self) -> Guard:
        return Guard(str(self._root), self._places, self._clock)

    def _send(self, payload: Entry, session: str) -> str:
        document = {
            **payload,
            "session_id": session,
            "cwd": str(self._root),
            "transcript_path": str(self._transcript.with_stem(session)),
        }
        event = hooks.parse_event(document, {"CLAUDE_PROJECT_DIR": str(self._root)}, self._clock())
        return hooks.render_reply(event, self._guard().handle(event, hooks.ABILITIES))

    def block_after(self, entries: list[tuple[str, Entry]], events: list[Event]) -> str:
        """Tell the events; return what a new conversation is then given before its first prompt."""
        self._clock.advance(events[0].at)
        self._guard().ensure()
        self._send({"hook_event_name": "SessionStart", "source": "startup"}, SESSION)
        written = 0
        with self._transcript.open("a", encoding="utf-8") as file:
            for event in events:
                self._clock.advance(event.at)
                file.writelines(f"{line}\n" for line, _ in entries[written : event.lines])
                file.flush()
                written = max(written, event.lines)
                payload = self._here(event.payload, entries)
                self._write(payload)
                self._send(payload, SESSION)
        self._clock.advance(self._clock() + 60)
        start = {"hook_event_name": "SessionStart", "source": "startup"}
        answers = [self._send(start, SUCCESSOR)]
        answers.append(
            self._send({"hook_event_name": "UserPromptSubmit", "prompt": "go on"}, SUCCESSOR)
        )
        return "\n".join(_context(answer) for answer in answers if answer)

    def _write(self, payload: Entry) -> None:
        """Let a file that a call wrote exist, empty, so that it is not taken for deleted."""
        if payload["hook_event_name"] != "PostToolUse" or "file_path" not in payload["tool_input"]:
            return
        path = Path(payload["tool_input"]["file_path"])
        if path.is_relative_to(self._root):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def _here(self, payload: Entry, entries: list[tuple[str, Entry]]) -> Entry:
        """Let paths of the source's folder point into the throw-away repository."""
        there = next((str(entry["cwd"]) for _, entry in entries if entry.get("cwd")), "")
        if not there or "tool_input" not in payload:
            return payload
        given = {
            name: value.replace(there, str(self._root)) if name.endswith("_path") else value
            for name, value in payload["tool_input"].items()
            if isinstance(value, str) or not name.endswith("_path")
        }
        return {**payload, "tool_input": given}


def _context(answer: str) -> str:
    document = json.loads(answer)
    return str(document.get("hookSpecificOutput", {}).get("additionalContext", ""))
