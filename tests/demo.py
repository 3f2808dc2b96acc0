"""`make demo`: an agent's state survives a compaction, a kill -9 and a context limit.

It drives the real hook command with payloads recorded from Claude Code, in a scratch repository
with a home of its own, and ends with an error where something is not as it says.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PAYLOADS = Path(__file__).parent / "payloads" / "claude_code"
GITGUARD = str(Path(sys.executable).parent / "gitguard")
WINDOW = 200_000
KILLER = """#!/bin/sh
# Stands before git on PATH, and kills the hook at the moment it would move the branch.
case " $* " in *" update-ref "*) kill -9 $PPID; exit 1 ;; esac
exec {git} "$@"
"""


class Failed(Exception):
    """Something is not as the demo says."""


_HOST = """
import os, subprocess, sys
ended = subprocess.run(sys.argv[1:], check=False).returncode
if ended < 0:
    os.kill(os.getpid(), -ended)
sys.exit(ended)
"""
"""Stands for the host's process, which is gone when the demonstration goes on."""


def say(text: str = "") -> None:
    """Print a line of the story."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def title(text: str) -> None:
    """Print the heading of an act."""
    say(f"\n== {text}\n")


def show(text: str) -> None:
    """Print what a program said."""
    for line in text.rstrip("\n").split("\n"):
        say(f"   | {line}")


def check(holds: bool, what: str) -> None:
    """Tell a fact, or end the demo when it is none."""
    if not holds:
        raise Failed(what)
    say(f"   ok: {what}")


class Stage:
    """A scratch repository, and the conversations that happen in it."""

    def __init__(self, folder: Path, gitguard: str = GITGUARD) -> None:
        """Make the repository, with one commit; gitguard is the command that is shown."""
        self.folder = folder
        self.gitguard = gitguard
        self.root = folder / "project"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.git("init", "--quiet", "-b", "main")
        (self.root / "README.md").write_text("# A project\n")
        self.git("add", "README.md")
        self.git("commit", "--quiet", "-m", "Start")

    def environment(self, conversation: str = "", first: str = "") -> dict[str, str]:
        """Return the environment a host gives its hooks and commands."""
        path = [first] if first else []
        own = {
            "PATH": os.pathsep.join([*path, str(Path(self.gitguard).parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
            "LC_ALL": "C.UTF-8",
        }
        who = {"NAME": "Ada", "EMAIL": "ada@example.org"}
        own |= {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
        host = {"CLAUDE_PROJECT_DIR": str(self.root), "CLAUDE_CODE_SESSION_ID": conversation}
        return own | (host if conversation else {})

    def run(self, *command: str, conversation: str = "") -> str:
        """Run a command in the repository; it has to succeed."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(conversation),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def git(self, *arguments: str) -> str:
        """Run a plain git command."""
        return self.run("git", *arguments)

    def show_git(self, *arguments: str, most: int = 12) -> None:
        """Run a plain git command and print the beginning of what it says."""
        say(f"   $ git {' '.join(arguments)}")
        lines = self.git(*arguments).splitlines()
        show("\n".join(lines[:most] + ["…"] * (len(lines) > most)) or "(nothing)")

    def newest_trigger(self) -> str:
        """Return why the newest checkpoint was taken."""
        field = "%(trailers:key=Gitguard-Trigger,valueonly,separator=)"
        return self.git("log", "-1", f"--format={field}", "gitguard/main").strip()


class Conversation:
    """One conversation of Claude Code, as far as its hooks can see it."""

    def __init__(self, stage: Stage, key: str) -> None:
        """Begin a conversation with an empty transcript."""
        self.stage = stage
        self.key = key
        self.transcript = stage.home / f"{key}.jsonl"
        self.transcript.touch()
        self.turns = 0

    def hook(self, payload: str, *, path: str = "", **changes: Any) -> dict[str, Any]:
        """Send a recorded payload to the real hook command; return its answer."""
        done = self.raw_hook(payload, path=path, **changes)
        if done.returncode:
            raise Failed(f"the hook for {payload} ended with {done.returncode}: {done.stderr}")
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    def raw_hook(
        self, payload: str, *, path: str = "", **changes: Any
    ) -> subprocess.CompletedProcess[str]:
        """Send a recorded payload, with this conversation's id and places in it."""
        text = (PAYLOADS / f"{payload}.json").read_text().replace("/repo", str(self.stage.root))
        # A turn begins with a prompt, and has one end.
        self.turns += payload.startswith("UserPromptSubmit")
        own = {"session_id": self.key, "transcript_path": str(self.transcript)}
        own["prompt_id"] = f"turn-{self.turns}"
        self.turns += payload == "Stop"
        document = {**json.loads(text), **own, **changes}
        return subprocess.run(
            [sys.executable, "-c", _HOST, self.stage.gitguard, "hook", "claude-code"],
            input=json.dumps(document),
            cwd=self.stage.root,
            env=self.stage.environment(self.key, path),
            capture_output=True,
            text=True,
            check=False,
        )

    def note(self, *arguments: str) -> None:
        """Let the agent write something down."""
        self.stage.run(self.stage.gitguard, "note", *arguments, conversation=self.key)

    def uses(self, tokens: int) -> None:
        """Add a response to the transcript, with the usage that the host records."""
        usage = {"input_tokens": tokens, "output_tokens": 0}
        message = {"id": f"msg_{tokens}", "model": "claude-haiku-4-5", "usage": usage}
        self._write({"type": "assistant", "isSidechain": False, "message": message})

    def compacts(self, before: int, after: int) -> dict[str, Any]:
        """Go through a compaction; return what the agent is given afterwards."""
        self.hook("PreCompact")
        metadata = {"trigger": "manual", "preTokens": before, "postTokens": after}
        self._write({"subtype": "compact_boundary", "compactMetadata": metadata})
        answer = self.hook("SessionStart.compact")
        self.hook("PostCompact")
        return answer

    def _write(self, entry: dict[str, Any]) -> None:
        stamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        with self.transcript.open("a") as file:
            file.write(json.dumps({**entry, "timestamp": stamp}) + "\n")


def context_of(answer: dict[str, Any]) -> str:
    """Return the text an answer hands to the agent."""
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def compaction(stage: Stage) -> Conversation:
    """Act 1: what the agent knew before a compaction, it knows after it."""
    title("1. A compaction")
    talk = Conversation(stage, "65b2bad0-edbb-4ea2-8b60-da268310cce0")
    say("An agent gets a prompt, writes a file, notes what it decided, and a command fails.")
    talk.hook("SessionStart.startup")
    talk.hook("UserPromptSubmit")
    talk.uses(60_000)
    talk.hook("PreToolUse.Write")
    (stage.root / "hello.py").write_text("print('hi')\n")
    talk.hook("PostToolUse.Write")
    talk.note("--decision", "No third-party logger", "--why", "The project has no dependencies")
    talk.note("--constraint", "Python 3.11", "--phase", "logging", "--next", "Log what it prints")
    talk.hook("PreToolUse.Bash", tool_input={"command": "false"}, tool_use_id="toolu_0006")
    talk.hook("PostToolUseFailure")
    talk.hook("Stop")
    check(stage.newest_trigger() == "turn-end", "the end of the turn is a checkpoint")
    say("\nThe host compacts the conversation. Before it does, the state is committed again:")
    block = context_of(talk.compacts(60_000, 2_000))
    check(stage.newest_trigger() == "compaction", "the newest checkpoint says `compaction`")
    say("\nAfter it, the hook hands the agent this:")
    show(block)
    known = (
        "Write hello.py and run it",
        "No third-party logger",
        "Python 3.11",
        "hello.py",
        "false",
    )
    check(all(text in block for text in known), "goal, decision, limit, file and failure are there")
    again = context_of(talk.hook("UserPromptSubmit", prompt="Go on"))
    check("gitguard-resume" not in again, "the next prompt does not pay for it twice")
    return talk


def kill(stage: Stage, talk: Conversation) -> Conversation:
    """Act 2: a hook is killed in the middle of a checkpoint, and nothing is lost."""
    title("2. A kill -9")
    talk.note("--learning", "The CI runs on Python 3.11 only", "--next", "Test it on Python 3.11")
    before = stage.git("rev-parse", "gitguard/main")
    shim = stage.folder / "shim"
    shim.mkdir()
    (shim / "git").write_text(KILLER.format(git=shutil.which("git")))
    (shim / "git").chmod(0o755)
    say("The agent has learned something. At the end of its turn the hook writes a checkpoint, and")
    say("is killed after the objects are written and before the branch moves:")
    done = talk.raw_hook("Stop", path=str(shim))
    check(done.returncode == -9, "the hook died of signal 9")
    check(stage.git("rev-parse", "gitguard/main") == before, "the branch is where it was")
    check(not stage.git("fsck", "--strict", "--no-dangling"), "git fsck --strict finds nothing")
    say("\nThe whole process group is gone. A new conversation begins; at its first prompt:")
    new = Conversation(stage, "0b4a7c1e-8d0f-4b62-9a53-5c9d2f3e7a10")
    new.hook("SessionStart.startup")
    block = context_of(new.hook("UserPromptSubmit", prompt="Where were we?"))
    show(block)
    check("The CI runs on Python 3.11 only" in block, "what was learned last is there")
    check("No third-party logger" in block, "and so is everything before")
    check(stage.newest_trigger() == "recovery", "a checkpoint `recovery` holds it now")
    return new


def context_limit(stage: Stage, talk: Conversation) -> None:
    """Act 3: a nearly full context stops the agent, and a compaction lifts the halt."""
    title("3. A context limit")
    used = WINDOW * 92 // 100
    talk.uses(used)
    say(f"The transcript now says {used:,} of {WINDOW:,} tokens, 92 %. The agent wants a tool:")
    answer = talk.hook("PreToolUse.Bash")
    show(json.dumps(answer, indent=2, ensure_ascii=False))
    specific = answer["hookSpecificOutput"]
    check(specific["permissionDecision"] == "deny", "the tool does not run")
    why = specific["permissionDecisionReason"]
    check("STATUS:HALT_CONTEXT_LIMIT" in why, "the agent reads the signal and the reason")
    check(stage.newest_trigger() == "halt", "a checkpoint `halt` was written first")
    again = talk.hook("PreToolUse.Bash", tool_use_id="toolu_again")
    check(again["continue"] is False, "another call ends its turn")
    asked = talk.hook("UserPromptSubmit", prompt="What did you find?")
    check("STATUS:HALT_CONTEXT_LIMIT" in context_of(asked), "it may still answer in words")
    say("\nThe user types /compact, and that lifts the halt:")
    block = context_of(talk.compacts(used, 3_000))
    check("gitguard-resume" in block, "the state is handed back")
    check(
        "decision" not in talk.hook("UserPromptSubmit", prompt="Go on"), "the prompt goes through"
    )
    check(talk.hook("PreToolUse.Bash") == {}, "the tool runs")


def files(stage: Stage, head: str) -> None:
    """Act 4: what an agent destroyed in the worktree comes back."""
    title("4. Files that were destroyed")
    talk = Conversation(stage, "3f0c1f8e-5a63-4d0c-9d0b-6d1f2b8c7a10")
    edited = "# A project\n\nEdited by hand, and never committed.\n"
    (stage.root / "README.md").write_text(edited)
    say("An agent resets everything that was not committed, and removes what git does not track:")
    command = "git reset --hard && git clean -fd"
    say(f"   $ {command}")
    talk.hook("PreToolUse.Bash", tool_input={"command": command}, tool_use_id="toolu_0107")
    check(stage.newest_trigger() == "before-destructive", "a checkpoint keeps the files first")
    stage.git("reset", "--quiet", "--hard")
    stage.git("clean", "--quiet", "-fd")
    check(not (stage.root / "hello.py").exists(), "the agent's file is gone")
    talk.hook("PostToolUse.Bash", tool_input={"command": command}, tool_use_id="toolu_0107")
    talk.hook("Stop")
    listed = json.loads(stage.run(stage.gitguard, "log", "--json"))["checkpoints"]
    newest = next(c for c in listed if c["trigger"] == "before-destructive")
    restore = (stage.gitguard, "restore", str(newest["sequence"]), "--files", "--yes")
    say(f"\n   $ gitguard {' '.join(restore[1:])}")
    show(stage.run(*restore))
    check((stage.root / "hello.py").read_text() == "print('hi')\n", "it is back")
    check((stage.root / "README.md").read_text() == edited, "and so is the edit by hand")
    stage.run(stage.gitguard, "restore", "--undo", "--yes")
    check(not (stage.root / "hello.py").exists(), "an undo brings back what was there before")
    stage.run(stage.gitguard, "restore", "--undo", "--yes")
    stage.git("checkout", "--quiet", "--", "README.md")
    check(stage.git("rev-parse", "HEAD", "main") == head, "HEAD and your branch were not touched")


def plain_git(stage: Stage, head: str) -> None:
    """The end: git alone reads all of it."""
    title("5. What is left, read with git alone")
    triggers = "%h %(trailers:key=Gitguard-Trigger,valueonly,separator=) %s"
    stage.show_git("log", f"--format={triggers}", "gitguard/main")
    stage.show_git("show", "gitguard/main:state.json", most=40)
    stage.show_git("diff", "--stat", "gitguard/main~3", "gitguard/main")
    stage.show_git("status", "--short")
    check(stage.git("rev-parse", "HEAD", "main") == head, "HEAD and your branch were not touched")
    check(
        stage.git("status", "--short") == "?? hello.py\n", "git status shows the agent's file only"
    )
    check(not stage.git("fsck", "--strict", "--no-dangling"), "git fsck --strict finds nothing")
    faults = json.loads(stage.run(stage.gitguard, "status", "--json"))["faults"]
    check(faults == [], "gitguard status knows of no fault")


def report(stage: Stage) -> None:
    """The very end: what a reviewer is given of it."""
    title("6. The report on what was done")
    stage.git("add", "hello.py")
    stage.git("commit", "--quiet", "--message", "Say hello")
    stage.run(stage.gitguard, "checkpoint", "-m", "ready for review")
    say("   $ gitguard report HEAD~1..HEAD")
    page = stage.run(stage.gitguard, "report", "HEAD~1..HEAD")
    show(page)
    check("No third-party logger" in page, "the report tells what was decided")
    check("hello.py" in page, "and the file that the agent wrote")
    check(stage.git("status", "--short") == "", "and writes nothing anywhere")


def main(gitguard: str = GITGUARD) -> int:
    """Play all acts with a command; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="gitguard-demo-") as folder:
        try:
            title("gitguard, in a scratch repository")
            stage = Stage(Path(folder).resolve(), gitguard)
            head = stage.git("rev-parse", "HEAD", "main")
            say("   $ gitguard init")
            show(stage.run(stage.gitguard, "init", "--host", "claude-code"))
            check(stage.git("status", "--short") == "", "git status is clean")
            talk = compaction(stage)
            talk = kill(stage, talk)
            context_limit(stage, talk)
            files(stage, head)
            plain_git(stage, head)
            report(stage)
        except Failed as failure:
            say(f"\nFAILED: {failure}")
            return 1
    say("\nAll of it was as told.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
