"""What the hostile batteries share: a booby-trapped repository, and gitguard's commands to run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitguard.cli import hook
from gitguard.cli.app import UNEXPECTED, app, run_app
from tests.conftest import Git
from tests.support.alarms import alarm_lent

PAYLOADS = Path(__file__).parents[1] / "payloads"
_HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
    "post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite",
    "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
    "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout",
    "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip
_PROGRAMS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
    "core.alternateRefsCommand", "core.gitProxy", "sequence.editor", "diff.external",
    "diff.trap.command", "diff.trap.textconv", "diff.guitool", "difftool.trap.cmd",
    "filter.trap.clean", "filter.trap.smudge", "filter.broken.process", "merge.trap.driver",
    "mergetool.trap.cmd", "gpg.program", "gpg.ssh.program", "gpg.x509.program",
    "gpg.ssh.defaultKeyCommand", "credential.helper", "interactive.diffFilter", "pager.log",
    "pager.show", "pager.for-each-ref", "trailer.trap.command", "uploadpack.packObjectsHook",
    "remote.origin.uploadpack", "remote.origin.receivepack", "man.trap.cmd", "browser.trap.cmd",
)  # fmt: skip
"""Settings that name a program."""
_PLUMBING = (
    "cat-file", "check-ignore", "commit-tree", "config", "for-each-ref", "hash-object", "ls-files",
    "rev-parse", "show-ref", "symbolic-ref", "update-ref", "verify-commit", "fsck",
)  # fmt: skip


class Traps:
    """Programs that leave a mark when anything starts them."""

    def __init__(self, folder: Path) -> None:
        self._scripts = folder / "scripts"
        self.marks = folder / "marks"
        self._scripts.mkdir(parents=True)
        self.marks.mkdir()

    def script(self, name: str, *, folder: Path | None = None) -> str:
        """Write a program that marks its name; return its path."""
        path = (folder or self._scripts) / name
        through = "cat" if name.startswith(("filter.", "diff.")) else "exit 0"
        mark = self.marks / f"{path.parent.name}.{name}"
        path.write_text(f"#!/bin/sh\necho ran > {mark}\n{through}\n")
        path.chmod(0o755)
        return str(path)

    def fired(self) -> set[str]:
        """Return the names of the traps that were started."""
        return {path.name.partition(".")[2] for path in self.marks.iterdir()}

    def set_in(self, git: Git) -> None:
        """Set every trap that a repository can hold."""
        git_dir = git.root / ".git"
        # A filter that leaves its mark in the index is not needed to show that it was started.
        (git.root / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n")
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=trap diff=trap merge=trap\n")
        more = self._scripts / "attributes"
        more.write_text("* filter=broken\n")
        lines = [_setting("core.attributesFile", str(more))]
        lines += [_setting(name, self.script(name)) for name in _PROGRAMS]
        lines += [_setting(f"alias.{name}", "!" + self.script(name)) for name in _PLUMBING]
        lines += [
            _setting("remote.origin.url", "trap::anywhere"),
            _setting(f"url.ext::{self.script('ext')} .insteadOf", "trap::"),
            _setting("protocol.ext.allow", "always"),
            _setting("remote.origin.promisor", "true"),
            _setting("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            _setting("commit.gpgSign", "true"),
            _setting("tag.gpgSign", "true"),
            _setting("log.showSignature", "true"),
            _setting("gc.auto", "1"),
            _setting("core.logAllRefUpdates", "always"),
            _setting("fetch.recurseSubmodules", "true"),
            _setting("submodule.trap.update", "!" + self.script("submodule")),
            _setting("init.templateDir", str(self._hooks("template") / "..")),
            *(_setting(f"trace2.{of}Target", str(self.marks / f"t.{of}")) for of in _TRACES),
        ]
        included = self._scripts / "included"
        included.write_text("".join(lines) + _setting("core.hooksPath", str(self._hooks("path"))))
        # The hooks' usual place as well, for when the setting is overridden.
        for name in _HOOKS:
            self.script(name, folder=git_dir / "hooks")
        with (git_dir / "config").open("a") as config:
            config.write(f"[include]\n\tpath = {included}\n[extensions]\n\tpartialClone = origin\n")
        for mark in self.marks.iterdir():
            mark.unlink()

    def _hooks(self, name: str) -> Path:
        folder = self._scripts / name / "hooks"
        folder.mkdir(parents=True)
        for hook_name in _HOOKS:
            self.script(hook_name, folder=folder)
        return folder


_TRACES = ("normal", "perf", "event")


def _setting(name: str, value: str) -> str:
    section, _, rest = name.partition(".")
    between, _, key = rest.rpartition(".")
    heading = f'[{section} "{between}"]' if between else f"[{section}]"
    return f'{heading}\n\t{key} = "{value}"\n'


# gitguard's commands, in this process


_PATIENCE = 20.0


class Hung(BaseException):
    """A command waits for something that never comes."""


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


def gitguard(*arguments: str, stdin: bytes = b"") -> Outcome:
    """Run a command as the installed one would, in the current folder.

    A command that hangs, or fails with anything but an error of ours, fails the test.
    """
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    sys.argv = ["gitguard", *arguments]
    sys.stdin, sys.stdout, sys.stderr = streams
    code: Any = 0
    try:
        with alarm_lent():
            signal.signal(signal.SIGALRM, _hung)
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
            run_app()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])
    outcome = Outcome(code or 0, out, err)
    assert outcome.code != UNEXPECTED, (arguments, outcome.said)
    return outcome


def _hung(_number: int, _frame: object) -> None:
    raise Hung


@contextlib.contextmanager
def inside(root: Path, **environment: str) -> Iterator[None]:
    """Stand in a folder, with a few more variables than the sealed machine has."""
    before, old = dict(os.environ), Path.cwd()
    os.environ.update(environment)
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(old)
        os.environ.clear()
        os.environ.update(before)


_STDIN = {
    "update": b'{"goal": "Told", "learnings": ["a thing"]}',
    "purge": b"Going on with a word that nobody should have written",
}
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("init", "--dry-run"), ("init",), ("init", "--shared"), ("init", "--host", "openclaw"),
    ("ensure",), ("status",), ("--json", "status"),
    ("note", "--goal", "Stand", "--phase", "one", "--next", "Go on"),
    ("note", "--artifact", "README.md", "--learning", _STDIN["purge"].decode()),
    ("note", "--decision", "d", "--why", "w", "--failure", "f", "--error", "e", "--done", "s"),
    ("update",), ("gate", "--pressure", "0.3"), ("gate", "--pressure", "0.82", "--changed-phase"),
    ("bundle", "--summary"), ("resume",), ("checkpoint", "-m", "Because."), ("log",),
    ("show", "state"), ("show", "summary", "1"), ("show", "snapshot"), ("diff", "1", "2"),
    ("diff", "--text"), ("search", "because"), ("search", "-n", "1", "because", "--untrusted"),
    ("why", "README.md"), ("why", "README.md:1"),
    ("session", "list"), ("session", "use", "another"),
    ("session", "use", "main"), ("session", "fork", "forked"), ("session", "use", "main"),
    ("handoff", "write"), ("handoff", "take", "--to-file"), ("handoff", "clear"),
    ("restore", "1", "--dry-run"), ("restore", "1", "--yes"), ("repair", "--accept", "--dry-run"),
    ("repair", "--accept", "--yes"), ("gate", "--pressure", "0.99"), ("override", "--reason", "r"),
    ("verify", "--all"), ("scan",), ("purge", "2", "--dry-run"),
    ("purge", "2", "--yes", "--value-stdin"), ("verify",), ("repair",),
    ("repair", "--local"), ("repair", "--take-theirs", "--yes"),
    ("repair", "--archive-theirs", "--yes"), ("repair", "--forget", "--yes"),
    ("repair", "--trust", "--dry-run"), ("repair", "--trust", "--yes"),
    ("completion", "bash"), ("status", "--clear"),
    ("uninstall", "--dry-run"), ("uninstall",), ("uninstall", "--host", "openclaw"),
)  # fmt: skip
"""Every command, in an order in which most of them have something to do."""


def every_command() -> Iterator[Outcome]:
    """Run every command there is, also those that are newer than this list."""
    for arguments in COMMANDS:
        if "--accept" in arguments:
            _edit_state()
        yield gitguard(*arguments, stdin=_STDIN.get(arguments[0], b""))
    listed = {" ".join(arguments) for arguments in COMMANDS}
    for name in _names(app):
        if name != "hook" and not any(f"{said} ".startswith(f"{name} ") for said in listed):
            yield gitguard(*name.split())


def _names(group: click.Group, above: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _names(command, f"{above}{name} ")
        else:
            yield above + name


def _edit_state() -> None:
    for path in Path(".gitguard/sessions").glob("main/state.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "goal": "Edited"}))


# Hooks


def answer(host: str, data: bytes) -> str:
    """Answer an event as the installed hook would."""
    with alarm_lent():
        answered = hook.respond([host], io.BytesIO(data))
    return answered.text if answered is not None else ""


def payload(name: str, root: Path, **changes: Any) -> bytes:
    """Return a recorded event of a conversation in a folder."""
    document = json.loads((PAYLOADS / "claude_code" / f"{name}.json").read_text(encoding="utf-8"))
    known = {"session_id": "S1", "cwd": str(root), "transcript_path": str(root / "nothing")}
    return json.dumps(document | known | changes).encode()


_OF_TOOLS = ("PreToolUse", "PostToolUse", "before_tool_call", "after_tool_call")


def recorded(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each recorded kind of event of both hosts, of a conversation in a folder."""
    for path in _kinds((PAYLOADS / "claude_code").glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        transcript = PAYLOADS / "claude_code" / "transcript.jsonl"
        yield "claude-code", document | {"cwd": str(root), "transcript_path": str(transcript)}
    for path in _kinds((PAYLOADS / "openclaw").glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        context = document.get("ctx", document.get("context"))
        if isinstance(context, dict):
            context |= {"workspaceDir": str(root)}
            context.setdefault("sessionKey", document.get("sessionKey", "agent:main:main"))
            yield "openclaw", document


def _kinds(paths: Iterable[Path]) -> Iterable[Path]:
    """Return the newest version's file of each name; of tools, the shell's and one more."""
    kinds = {}
    for path in sorted(paths):
        hook, _, variant = path.stem.partition(".")
        is_shell = variant in ("Bash", "exec")
        kinds[f"{hook} {is_shell}" if hook in _OF_TOOLS else path.stem] = path
    return kinds.values()


def every_hook(root: Path, turn: str = "") -> Iterator[str]:
    """Answer every recorded kind of event; turn is the prompt's id, if not the recorded one."""
    for host, document in recorded(root):
        if turn and "prompt_id" in document:
            document["prompt_id"] = turn
        yield answer(host, json.dumps(document).encode())


# What must stay as it is


def tree_of(folder: Path) -> Mapping[str, object]:
    """Return what lies in a folder: names, kinds, and contents."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = os.readlink(path)
        else:
            found[name] = path.read_bytes() if path.is_file() else path.stat().st_mode
    return found
