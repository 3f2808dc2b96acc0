"""A Claude Code transcript, told to the real hooks event by event."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gitguard import Guard
from gitguard.hosts.claude_code import hooks
from gitguard.model.shell.programs import programs_of
from gitguard.state.task import TaskState
from gitguard.store.session.workspace import UserDirs

Entry = dict[str, Any]

SESSION, SUCCESSOR = "source", "successor"
_NOTIFICATIONS = ("<task-notification", "<ci-monitor-event", "<teammate-message")
"""How texts begin that the host hands on as prompts, though the user did not type them."""
_BESIDE_PROMPTS = ("<command-", "<local-command", "<system-", "Caveat: ", "<bash-")
"""How texts begin that stand where a prompt stands, and of which no prompt event tells."""
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)

_ABSOLUTE = re.compile(r"(?:[A-Za-z]:)?[\\/]+")
"""How a path begins that names a place on a machine, of Windows too."""
_LONGEST_NAME = 200
_BEHIND_SUMMARY = (
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where we left it off",
)
_REFUSED = "The user doesn't want to proceed with this tool use."
_REASON = re.compile(r"reason for the rejection:|the user said:\n")
"""How results of refused calls begin, and what stands before the user's words in them."""
_INTERRUPTED = "[Request interrupted"
_ADDED = ("<ide_", "<system-reminder>")
"""How a part begins that the editor or the host adds to what the user typed; no hook carries it."""


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
            refused = _marked_as_refused(entry)
            entries.append((json.dumps(refused, ensure_ascii=False) if refused else line, entry))
            entry.update(refused)
    return entries


def _marked_as_refused(entry: Entry) -> Entry:
    """Return a refusal of an older host as Claude Code 2.1.330 writes it; empty for anything else.

    The older ones write in the result's words alone that the user refused, and why.
    """
    results = [_plain(r.get("content")) for r in _results(entry) if r.get("is_error")]
    if not results or "toolDenialKind" in entry or not results[0].startswith(_REFUSED):
        return {}
    return {
        **entry,
        "toolDenialKind": "user-rejected",
        "toolDenialBeforeRun": True,
        "userFeedback": "".join(_REASON.split(results[0], maxsplit=1)[1:]).strip(),
    }


def moved_in_time(entries: list[tuple[str, Entry]], end: float) -> list[tuple[str, Entry]]:
    """Return the lines with their times moved, at the same distances, so that the last is end."""
    by = end - max((_time(entry, 0) for _, entry in entries), default=end)
    moved = []
    for line, entry in entries:
        at = _time(entry, 0)
        if at:
            stamp = datetime.fromtimestamp(at + by, UTC).isoformat(timespec="milliseconds")
            entry = {**entry, "timestamp": stamp.replace("+00:00", "Z")}
            line = json.dumps(entry, ensure_ascii=False)
        moved.append((line, entry))
    return moved


def _parts(entry: Entry) -> list[Entry]:
    content = (entry.get("message") or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or [] if isinstance(part, dict)]


def text_of(entry: Entry) -> str:
    """Return what an entry says, without tool calls, results and thinking."""
    texts = (str(part.get("text", "")) for part in _parts(entry) if part.get("type") == "text")
    return "\n".join(text for text in texts if not text.startswith(_ADDED))


def prompt_of(entry: Entry) -> str:
    """Return the prompt that the host tells hooks of at a line, empty if it tells of none.

    A command that the host itself carries out is none; one that it hands to the model is.
    """
    if entry.get("type") != "user" or entry.get("isSidechain") or entry.get("isMeta"):
        return ""
    if entry.get("isCompactSummary") or _results(entry):
        return ""
    text = text_of(entry)
    if text.startswith("<command-message>"):
        # What the host carries out itself has `<command-name>` in front.
        return f"{_first(_COMMAND, text)} {_first(_ARGUMENTS, text)}".strip()
    is_prompt = not text.strip().startswith((*_BESIDE_PROMPTS, _INTERRUPTED))
    return text if is_prompt else ""


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def is_by_user(prompt: str) -> bool:
    """Say whether the user typed a prompt, and no notification began the turn."""
    return bool(prompt.strip()) and not prompt.strip().startswith(_NOTIFICATIONS)


def _queued(entry: Entry) -> str:
    """Return what the model got while a turn ran, typed or a notification, empty if nothing."""
    attachment = entry.get("attachment") or {}
    if entry.get("isSidechain") or attachment.get("type") != "queued_command":
        return ""
    return text_of({"message": {"content": attachment.get("prompt")}})


def _results(entry: Entry) -> list[Entry]:
    return [part for part in _parts(entry) if part.get("type") == "tool_result"]


def _time(entry: Entry, earlier: float) -> float:
    try:
        return datetime.fromisoformat(str(entry["timestamp"])).timestamp()
    except (KeyError, ValueError):
        return earlier


class _Teller:
    """Turns entries into events; holds the tool calls that run and the turn's latest text."""

    def __init__(self, entries: list[tuple[str, Entry]]) -> None:
        self.events: list[Event] = []
        self._joining = {prompt for _, entry in entries if (prompt := _queued(entry))}
        self._calls: dict[str, Entry] = {}
        self._early: dict[str, Entry] = {}
        """Results that stand before their calls, as a host wrote them in parallel."""
        self._answer = ""
        self._answered = (0, 0.0)
        self._turn = 0
        self._in_turn = False

    def hear(self, number: int, at: float, entry: Entry) -> None:
        """Add the events of a line of the transcript."""
        prompt = prompt_of(entry)
        if prompt.strip():
            self.end_turn()
            self._turn += 1
            self._in_turn = True
            self.events.append(Event(number, at, self._prompt(prompt)))
        self.events += [Event(number, at, payload) for payload in self._tell(entry)]
        if entry.get("type") == "assistant":
            self._answered = number, at

    def end_turn(self) -> None:
        """Add the Stop event of the turn that runs; a turn cut off inside a call has none."""
        if self._in_turn and self._answer and not self._calls:
            stop = {"hook_event_name": "Stop", "last_assistant_message": self._answer}
            self.events.append(Event(*self._answered, stop))
        self._in_turn, self._answer = False, ""
        self._calls.clear()

    def _prompt(self, text: str) -> Entry:
        """Return a prompt's event; one that joins the running turn has the same id as its."""
        return {
            "hook_event_name": "UserPromptSubmit",
            "prompt": text,
            "prompt_id": f"turn-{self._turn}",
        }

    def _tell(self, entry: Entry) -> Iterator[Entry]:
        if entry.get("isSidechain"):
            return
        if entry.get("subtype") == "compact_boundary":
            trigger = (entry.get("compactMetadata") or {}).get("trigger", "auto")
            if trigger == "manual":
                self.end_turn()
            yield {"hook_event_name": "PreCompact", "trigger": trigger}
        elif entry.get("isCompactSummary"):
            # What the host writes around its summary, no hook is told.
            summary = text_of(entry)
            for behind in _BEHIND_SUMMARY:
                summary = summary.partition(behind)[0]
            yield {
                "hook_event_name": "PostCompact",
                "trigger": "auto",
                "compact_summary": summary,
            }
            yield {"hook_event_name": "SessionStart", "source": "compact"}
        elif entry.get("operation") == "enqueue" or _queued(entry):
            yield from self._joined(str(entry.get("content") or _queued(entry)))
        elif entry.get("type") == "assistant":
            yield from self._assistant(entry)
        elif entry.get("type") == "user":
            yield from self._ended(entry)
            if text_of(entry).startswith(_INTERRUPTED):
                self._in_turn = False

    def _joined(self, text: str) -> Iterator[Entry]:
        """Yield the event of what was typed during a turn: when it was typed, and only then.

        What the model did not get before the turn ended stands behind it as a prompt of its own.
        """
        if text in self._joining:
            self._joining.discard(text)
            yield self._prompt(text)

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
                    "cwd": entry.get("cwd"),
                }
                self._calls[str(part.get("id"))] = call
                self._answer = ""  # what was said before a call does not end the turn
                yield {"hook_event_name": "PreToolUse", **call}
                if str(part.get("id")) in self._early:
                    yield from self._ended(self._early.pop(str(part.get("id"))))

    def _ended(self, entry: Entry) -> Iterator[Entry]:
        for result in _results(entry):
            call_id = str(result.get("tool_use_id"))
            call = self._calls.pop(call_id, None)
            if call is None:
                self._early[call_id] = entry
                continue
            if entry.get("toolDenialKind") == "user-rejected":
                continue  # of a refusal no hook tells
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


def events_of(entries: list[tuple[str, Entry]]) -> list[Event]:
    """Return the hook calls of a transcript; its last turn ends where it has an answer."""
    teller, at = _Teller(entries), 0.0
    for number, (_, entry) in enumerate(entries, start=1):
        at = _time(entry, at)
        teller.hear(number, at, entry)
    teller.end_turn()
    return teller.events


def without_end(events: list[Event]) -> list[Event]:
    """Return the events up to a kill in the last turn."""
    is_ended = events[-1].payload["hook_event_name"] == "Stop"
    return events[:-1] if is_ended else events


class Replay:
    """A throw-away repository, sealed places, and the hooks that are called there."""

    def __init__(self, folder: Path, entries: list[tuple[str, Entry]]) -> None:
        self._folder = folder / "replay"
        self._entries = entries
        self._written = 0
        self._root = self._folder / "repo"
        self._root.mkdir(parents=True)
        self._transcript = self._folder / f"{SESSION}.jsonl"
        self._clock = Clock()
        self._config = self._folder / "config"
        self._config.mkdir()
        self._places = UserDirs(
            state_home=str(self._folder / "state"),
            config_home=str(self._config),
            environment={"PATH": os.environ["PATH"]},
            home=str(self._folder),
        )

    def _git(self, *arguments: str) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(self._root.parent)}
        for who in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{who}_NAME": "x", f"GIT_{who}_EMAIL": "x"}
            env[f"GIT_{who}_DATE"] = f"@{self._clock.now:.0f} +0000"
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
        event = hooks.HOST.parse_event(
            document, {"CLAUDE_PROJECT_DIR": str(self._root)}, self._clock()
        )
        reply = self._guard().handle(event, hooks.HOST.abilities)
        return hooks.HOST.render_reply(event, reply).text

    def begin(self, at: float) -> None:
        """Begin the conversation."""
        self._clock.advance(at)
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("commit", "--quiet", "--allow-empty", "--message", "first")
        self._guard().ensure()
        self._send({"hook_event_name": "SessionStart", "source": "startup"}, SESSION)

    def tell(self, events: Iterable[Event]) -> None:
        """Send the events, each with the lines that stand in the transcript by then."""
        with self._transcript.open("a", encoding="utf-8") as file:
            for event in events:
                self._clock.advance(event.at)
                lines = self._entries[self._written : event.lines]
                file.writelines(f"{line}\n" for line, _ in lines)
                file.flush()
                self._written = max(self._written, event.lines)
                payload = self._here(event.payload)
                self._write(payload)
                self._put_away(event.payload)
                self._send(payload, SESSION)

    def end(self) -> None:
        """Write down what the transcript has behind the last event: no hook was told of it."""
        with self._transcript.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line, _ in self._entries[self._written :])
        self._written = len(self._entries)

    def state(self) -> TaskState:
        """Return the task state in force."""
        return self._guard().state()

    def block_of_new_conversation(self, budget: int) -> str:
        """Return what a new conversation is given with its first prompt."""
        return self._tried([], "startup", SUCCESSOR, budget)

    def block_after_compaction(self, budget: int) -> str:
        """Return what the conversation is given with its next prompt, behind a compaction."""
        compaction = {"hook_event_name": "PreCompact", "trigger": "manual"}
        return self._tried([compaction], "compact", SESSION, budget)

    def _tried(self, first: list[Entry], start: str, session: str, budget: int) -> str:
        """Return what hooks answer when a context begins; everything is then as before."""
        saved, now = self._folder.with_name("saved"), self._clock.now
        shutil.copytree(self._folder, saved, symlinks=True)
        lengths = f"resume: {{after_compaction: {budget}, new_conversation: {budget}}}\n"
        (self._config / "config.yaml").write_text(lengths)
        self._clock.advance(now + 60)
        payloads = [
            *first,
            {"hook_event_name": "SessionStart", "source": start},
            {"hook_event_name": "UserPromptSubmit", "prompt": "go on"},
        ]
        answers = [self._send(payload, session) for payload in payloads]
        shutil.rmtree(self._folder)
        saved.rename(self._folder)
        self._clock.now = now
        return "\n".join(_context(answer) for answer in answers if answer)

    def _write(self, payload: Entry) -> None:
        """Let a file that a call wrote exist, empty, so that it is not taken for deleted."""
        if payload["hook_event_name"] != "PostToolUse" or "file_path" not in payload["tool_input"]:
            return
        path = Path(payload["tool_input"]["file_path"])
        if path.is_relative_to(self._folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            os.utime(path, (self._clock.now, self._clock.now))

    def _put_away(self, payload: Entry) -> None:
        """Remove and move the files that a command of the source did, as far as they exist here."""
        command = payload.get("tool_input", {}).get("command", "")
        if payload["hook_event_name"] != "PostToolUse" or not isinstance(command, str):
            return
        folder = str(payload.get("cwd") or self._there())
        for program in programs_of(command):
            words = [w for w in program.words if not w.startswith("-") and len(w) < _LONGEST_NAME]
            if program.name == "git" and words[:1] in (["rm"], ["mv"]):
                name, *words = words
            else:
                name = program.name
            paths = [path for word in words for path in self._files(folder, word)]
            paths = list(dict.fromkeys(path for path in paths if not path.is_symlink()))
            if name == "cd" and len(words) == 1:
                folder = os.path.join(folder, words[0])
            elif name == "rm":
                for path in filter(Path.exists, paths):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            elif name == "mv" and len(words) > 1:
                target = Path(self._path(os.path.join(folder, words[-1]), self._there()))
                if target.is_relative_to(self._folder):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    for path in filter(Path.exists, paths):
                        with suppress(shutil.Error):  # one of that name is there
                            shutil.move(path, target)

    def _files(self, folder: str, word: str) -> list[Path]:
        """Return the files below the replay's own folder that a word of a command names."""
        path = Path(self._path(os.path.join(folder, word), self._there()))
        if not path.is_relative_to(self._folder) or path in (self._folder, self._root):
            return []
        if not path.parent.is_dir() or "**" in path.name:
            return []
        return sorted(path.parent.glob(path.name)) if path.name else []

    def _there(self) -> str:
        """Return the folder of the source's machine in which the conversation began."""
        return next((str(entry["cwd"]) for _, entry in self._entries if entry.get("cwd")), "")

    def _here(self, payload: Entry) -> Entry:
        """Let paths of the source's machine point into the throw-away folder."""
        there = self._there()
        if not there or "tool_input" not in payload:
            return payload
        given = {
            name: self._path(value, there) if name.endswith("_path") else value
            for name, value in payload["tool_input"].items()
            if isinstance(value, str) or not name.endswith("_path")
        }
        return {**payload, "tool_input": given}

    def _path(self, path: str, there: str) -> str:
        moved = os.path.normpath(moved_path(path, there, str(self._root)))
        if not _ABSOLUTE.match(moved) or Path(moved).is_relative_to(self._root):
            return moved
        return str(
            self._folder / "elsewhere" / _ABSOLUTE.sub("", moved, count=1).replace("\\", "/")
        )


def moved_path(path: str, there: str, here: str) -> str:
    """Return a path below a folder as one below another, also if it is a path of Windows."""
    is_windows = "\\" in there
    if is_windows and path.lower().replace("/", "\\").startswith(there.lower()):
        return here + path[len(there) :].replace("\\", "/")
    return path.replace(there, here)


def _context(answer: str) -> str:
    document = json.loads(answer)
    return str(document.get("hookSpecificOutput", {}).get("additionalContext", ""))
