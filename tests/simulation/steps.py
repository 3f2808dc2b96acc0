"""What can happen: every command, events of a host, edits from outside, kills and the clock."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from .memory import Memory, Session, Task
from .readers import OTHER_FORMS, READERS, ask_all, judge_end
from .world import Answer, Broken, World

PENDING = 13
HALTED = 11
CONVERSATIONS = ("first", "second", "third")
_LOCK_AGE = 61.0


class Scene(NamedTuple):
    """What a step works with."""

    world: World
    memory: Memory
    random: Random

    def word(self, kind: str) -> str:
        """Return a text that nothing else has."""
        return f"{kind} {self.random.getrandbits(40):010x}"


Step = Callable[[Scene], str]
"""Makes something happen and says what; an empty text where there was no occasion for it."""


class Note(NamedTuple):
    """A `note` command, and what it must leave behind."""

    words: tuple[str, ...]
    task: Task
    is_valid: bool = True


# Commands that write


def _compose(scene: Scene) -> Note:
    """Make up a note with one to three values of each kind."""
    random, task = scene.random, deepcopy(scene.memory.session.task)
    words: list[str] = []
    if random.random() < 0.3:
        task.goal = scene.word("goal")
        words += ["--goal", task.goal]
    for _ in range(random.choice((0, 1, 1, 3))):
        task.learnings.append(scene.word("learning"))
        words += ["--learning", task.learnings[-1]]
    for option, reason, pairs in (
        ("--decision", "--why", task.decisions),
        ("--failure", "--error", task.failures),
    ):
        for _ in range(random.choice((0, 0, 1, 2, 3))):
            pairs.append((scene.word("choice"), scene.word("reason")))
            words += [option, pairs[-1][0], reason, pairs[-1][1]]
    if not words:
        task.learnings.append(scene.word("learning"))
        words += ["--learning", task.learnings[-1]]
    return Note(tuple(words), task)


def note(scene: Scene) -> str:
    composed = _compose(scene)
    answer = scene.world.run("--json", "note", *composed.words)
    _keep(scene, answer, composed.task)
    return f"note {' '.join(composed.words)}"


def note_that_is_refused(scene: Scene) -> str:
    composed = _compose(scene)
    words = (*composed.words, "--decision", scene.word("choice"), "--why", "a", "--why", "b")
    answer = scene.world.run("--json", "note", *words)
    if answer.code == 0:
        raise Broken(f"`note {' '.join(words)}` is not refused, and one reason too many is gone")
    return "note with a reason too many"


def update(scene: Scene) -> str:
    task = deepcopy(scene.memory.session.task)
    task.goal = scene.word("goal")
    document: dict[str, Any] = {"goal": task.goal}
    answer = scene.world.run("--json", "update", stdin=json.dumps(document))
    _keep(scene, answer, task)
    return f"update {document}"


def checkpoint(scene: Scene) -> str:
    answer = scene.world.run("--json", "checkpoint", "-m", scene.word("why"))
    _keep(scene, answer, scene.memory.session.task)
    return "checkpoint"


def ensure(scene: Scene) -> str:
    answer = scene.world.run("--json", "ensure")
    _expect(answer, "ensure", {0, 12})
    scene.memory.session.instead = None if answer.code else scene.memory.session.instead
    return "ensure"


def restore(scene: Scene) -> str:
    session = scene.memory.session
    if not session.checkpoints:
        return ""
    commit = scene.random.choice(sorted(session.checkpoints))
    answer = scene.world.run("--json", "restore", commit, "--yes")
    _keep(scene, answer, deepcopy(session.checkpoints[commit]))
    return f"restore {commit[:12]}"


def handoff(scene: Scene) -> str:
    action = scene.random.choice(("write", "read", "clear"))
    _expect(scene.world.run("handoff", action), f"handoff {action}", {0, 12, 21, 23})
    return f"handoff {action}"


REPAIRS = (
    ("ensure",),
    ("repair", "--accept", "--yes"),
    ("repair", "--archive-theirs", "--yes"),
    ("repair", "--dry-run"),
    ("repair", "--local"),
)


def repair(scene: Scene) -> str:
    """Ask for a repair where there is nothing to repair."""
    words = scene.random.choice(REPAIRS)
    _expect(scene.world.run(*words), " ".join(words), {0, 12, 23})
    return " ".join(words)


def _keep(scene: Scene, answer: Answer, task: Task) -> None:
    """Remember what a command acknowledged: all of it, or nothing."""
    if answer.code not in (0, PENDING):
        raise Broken(f"a command ends with {answer.code}: {answer.err or answer.out}")
    scene.memory.session.task = task
    saved = answer.document.get("saved") or {}
    if saved.get("commit"):
        scene.memory.session.acknowledge(saved["commit"])


def _expect(answer: Answer, name: str, codes: set[int]) -> None:
    if answer.code not in codes:
        raise Broken(f"`{name}` ends with {answer.code}: {(answer.err or answer.out)[-600:]}")


# Sessions


def use_session(scene: Scene) -> str:
    memory = scene.memory
    closed = {key for key, session in memory.sessions.items() if session.is_closed}
    keys = sorted({"main", "tabs", "lexer", "Ärger mit Tabs"} - closed)
    key = scene.random.choice(keys)
    answer = scene.world.run("--json", "session", "use", key)
    _expect(answer, f"session use {key}", {0, 12})
    memory.sessions.setdefault(key, Session(key))
    memory.current = key
    return f"session use {key}"


def fork_session(scene: Scene) -> str:
    memory = scene.memory
    key = f"fork-{len(memory.sessions)}"
    if len(memory.sessions) > 6 or key in memory.sessions:
        return ""
    answer = scene.world.run("--json", "session", "fork", key)
    _expect(answer, f"session fork {key}", {0})
    memory.sessions[key] = Session(key, deepcopy(memory.session.task))
    memory.current = key
    return f"session fork {key}"


def close_and_reopen(scene: Scene) -> str:
    memory = scene.memory
    key = memory.current
    answer = scene.world.run("--json", "session", "close", key)
    if answer.code == 23 and "halted" in answer.out:
        return f"session close {key}, refused because a conversation is halted"
    _expect(answer, f"session close {key}", {0})
    memory.session.is_closed = True
    _expect(scene.world.run("--json", "session", "reopen", key), f"reopen {key}", {0, 12})
    memory.session.is_closed = False
    return f"session close and reopen {key}"


# Gate and hooks


def gate(scene: Scene) -> str:
    memory = scene.memory
    conversation = scene.random.choice(CONVERSATIONS)
    pressure = scene.random.choice((0.2, 0.4, 0.6, 0.72, 0.82, 0.9, 0.95))
    words = ("gate", "--pressure", str(pressure))
    answer = scene.world.run("--json", *words, conversation=conversation)
    _expect(answer, " ".join(words), {0, HALTED})
    if conversation in memory.halted and answer.code == 0:
        raise Broken(f"`{' '.join(words)}` lets a halted conversation go on")
    if answer.code == HALTED:
        memory.halted.add(conversation)
    _note_commit(memory, answer)
    return f"{conversation}: {' '.join(words)}"


def _note_commit(memory: Memory, answer: Answer) -> None:
    saved = answer.document.get("saved") or {}
    if saved.get("commit"):
        memory.session.acknowledge(saved["commit"])


def override(scene: Scene) -> str:
    if not scene.memory.halted:
        return ""
    conversation = scene.random.choice(sorted(scene.memory.halted))
    words = ("override", "--host-session", conversation, "--reason", "A human looked at it")
    answer = scene.world.run("--json", *words)
    _expect(answer, " ".join(words), {0, 23})
    if answer.code == 0:
        scene.memory.halted.discard(conversation)
    return " ".join(words)


def tool(scene: Scene) -> str:
    """An agent asks to use a tool; a halted one may not."""
    conversation = scene.random.choice(CONVERSATIONS)
    command = scene.random.choice(("ls", "pytest -q", "git push --force", "rm -rf build"))
    changes = {"tool_input": {"command": command}}
    answer = scene.world.hook("PreToolUse.Bash", conversation, **changes)
    _check_denied(scene.memory, conversation, answer)
    if not _is_denied(answer):
        ended = scene.random.choice(("PostToolUse.Bash", "PostToolUseFailure"))
        scene.world.hook(ended, conversation, **changes)
    return f"{conversation}: {command}"


def _is_denied(answer: dict[str, Any]) -> bool:
    details = answer.get("hookSpecificOutput", {})
    return details.get("permissionDecision") == "deny" or answer.get("continue") is False


def _check_denied(memory: Memory, conversation: str, answer: dict[str, Any]) -> None:
    if conversation in memory.halted and not _is_denied(answer):
        raise Broken(f"the halted conversation `{conversation}` uses a tool: {answer}")


def turn(scene: Scene) -> str:
    conversation = scene.random.choice(CONVERSATIONS)
    name = scene.random.choice(("UserPromptSubmit", "PostToolUse.Write", "Stop"))
    changes = {"prompt": scene.word("please do")} if name == "UserPromptSubmit" else {}
    scene.world.hook(name, conversation, **changes)
    return f"{conversation}: {name}"


def another_conversation(scene: Scene) -> str:
    """A conversation begins anew under a name that was in use; its halt ends with the old one."""
    conversation = scene.random.choice(CONVERSATIONS)
    scene.world.hook("SessionEnd", conversation, reason="other")
    scene.world.hook("SessionStart.startup", conversation)
    _see_whether_released(scene, conversation)
    return f"{conversation}: session ends and starts"


def _see_whether_released(scene: Scene, conversation: str) -> None:
    """What ends a halt is the gate's own matter; here a halt that is not ended has to last."""
    answer = scene.world.hook("PreToolUse.Bash", conversation, tool_input={"command": "ls"})
    if not _is_denied(answer):
        scene.memory.halted.discard(conversation)


def compaction(scene: Scene) -> str:
    conversation = scene.random.choice(CONVERSATIONS)
    scene.world.hook("PreCompact", conversation)
    scene.world.hook("SessionStart.compact", conversation)
    _see_whether_released(scene, conversation)
    return f"{conversation}: compaction"


# From outside


def switch_branch(scene: Scene) -> str:
    """The user works on; sessions that follow branches are not told from here."""
    path = scene.world.root / "work.txt"
    path.write_text(scene.word("work"))
    scene.world.git("add", "work.txt")
    scene.world.git("commit", "--quiet", "--message", "Work")
    return "the user commits"


def pass_time(scene: Scene) -> str:
    seconds = scene.random.choice((1.0, 70.0, 3600.0, -3600.0, 86_400.0))
    scene.world.clock.advance(seconds)
    return f"the clock goes {seconds:+.0f} s"


def lose_working_files(scene: Scene) -> str:
    """Somebody runs `git clean -fdx`, or a part of it."""
    files = scene.world.working_files()
    if not files or scene.random.random() < 0.5:
        shutil.rmtree(scene.world.working_folder)
        _expect(scene.world.run("ensure"), "ensure", {0, 12})
        return "rm -r .gitguard; ensure"
    path = scene.random.choice([path for path in files if path.name != "journal.jsonl"] or files)
    if path.name == "journal.jsonl":
        return ""
    path.unlink()
    _expect(scene.world.run("ensure"), "ensure", {0, 10, 12})
    _expect(scene.world.run("repair", "--local"), "repair --local", {0, 12, 23})
    return f"rm {path.name}; repair --local"


def make_a_folder(scene: Scene) -> str:
    """Somebody makes a folder beside the sessions."""
    folder = scene.world.working_folder / "sessions" / "zzz"
    folder.mkdir(parents=True, exist_ok=True)
    ask_all(scene.world, scene.memory)
    folder.rmdir()
    return "mkdir .gitguard/sessions/zzz"


def forge_history(scene: Scene) -> str:
    """Somebody puts a checkpoint of their own on the branch, and everybody looks at it."""
    world, memory = scene.world, scene.memory
    ref = world.run("--json", "status").document["branch"]
    if not memory.session.checkpoints:
        return ""
    head = world.git("rev-parse", ref)
    memory.forged = scene.word("forged")
    way = scene.random.choice(("instead", "before"))
    commit = _forge(world, head, memory.forged, replace=way == "instead")
    world.git("update-ref", ref, commit)
    try:
        ask_all(world, memory)
    finally:
        world.git("update-ref", ref, head)
        memory.forged = ""
    return f"a forged checkpoint {way} the newest"


def _forge(world: World, head: str, marker: str, *, replace: bool) -> str:
    """Write a checkpoint with a marker in all of its files; return its commit."""
    lines = []
    for line in world.git("ls-tree", head).splitlines():
        details, _, name = line.partition("\t")
        mode, _kind, blob = details.split()
        text = world.git("cat-file", "blob", blob)
        if name == "state.json":
            state = json.loads(text)
            state["goal"] = marker
            text = json.dumps(state, indent=2, sort_keys=True)
        else:
            text += f"\n# {marker}\n"
        changed = world.git("hash-object", "-w", "--stdin", stdin=text + "\n")
        lines.append(f"{mode} blob {changed}\t{name}\n")
    tree = world.git("mktree", stdin="".join(lines))
    message = world.git("log", "-1", "--format=%B", head)
    parents = world.git("log", "-1", "--format=%P", head).split() if replace else [head]
    options = [word for parent in parents for word in ("-p", parent)]
    return world.git("commit-tree", tree, *options, stdin=message)


def edit_state(scene: Scene) -> str:
    """Somebody writes into `state.json`; everybody looks at it, and it is put back."""
    world, memory = scene.world, scene.memory
    # The working files hold the newest state only after a command that restores them.
    _expect(world.run("ensure"), "ensure", {0, 12})
    for path in world.working_files():
        if path.name == "state.json" and _session_of(path) == _name_of(world):
            data = path.read_bytes()
            state = json.loads(data)
            memory.edited = scene.word("edited")
            state["goal"] = memory.edited
            path.write_text(json.dumps(state))
            try:
                ask_all(world, memory)
            finally:
                path.write_bytes(data)
                memory.edited = ""
            return "an edited state.json"
    return ""


def _session_of(path: Path) -> str:
    return path.parent.name


def _name_of(world: World) -> str:
    return str(world.run("--json", "status").document["branch"]).rpartition("/")[2]


def attack_a_halt(scene: Scene) -> str:
    """A halted agent writes whatever it can reach, and asks for a tool again."""
    world, memory = scene.world, scene.memory
    if not memory.halted:
        return ""
    conversation = scene.random.choice(sorted(memory.halted))
    backup = world.folder / "backup"
    shutil.copytree(world.working_folder, backup, symlinks=True)
    way = scene.random.choice(sorted(ATTACKS))
    ATTACKS[way](scene)
    try:
        answer = world.hook("PreToolUse.Bash", conversation, tool_input={"command": "ls"})
        _check_denied(memory, conversation, answer)
    finally:
        if world.working_folder.is_symlink():
            world.working_folder.unlink()
        shutil.rmtree(world.working_folder, ignore_errors=True)
        backup.rename(world.working_folder)
        world.run("status", "--clear")
    return f"{conversation} tries to lift its halt: {way}"


def _empty_records(scene: Scene) -> None:
    for path in scene.world.working_files():
        if path.name == "session.json":
            path.write_bytes(b"")


def _remove_everything(scene: Scene) -> None:
    shutil.rmtree(scene.world.working_folder)


def _lead_away(scene: Scene) -> None:
    shutil.rmtree(scene.world.working_folder)
    elsewhere = scene.world.folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    scene.world.working_folder.symlink_to(elsewhere)


def _name_another_session(scene: Scene) -> None:
    (scene.world.working_folder / "current").write_text("another\n")


def _garble_a_file(scene: Scene) -> None:
    path = scene.random.choice(scene.world.working_files())
    path.write_bytes(b'{"format": 1, "host_sessions": {}}\n')


ATTACKS: dict[str, Callable[[Scene], None]] = {
    "session.json emptied": _empty_records,
    ".gitguard removed": _remove_everything,
    ".gitguard replaced by a link": _lead_away,
    "current rewritten": _name_another_session,
    "a file garbled": _garble_a_file,
}


# Kills, and writers that others look beside


def kill(scene: Scene) -> str:
    """A command is killed at one of its steps; what it wrote is there whole or not at all."""
    session = scene.memory.session
    composed = _compose(scene)
    number = scene.random.randrange(14)
    words, task = scene.random.choice(
        (
            (("note", *composed.words), composed.task),
            (("checkpoint", "-m", "about to die"), deepcopy(session.task)),
        )
    )
    answer = scene.world.run("--json", *words, at_step=_Countdown(number, _die))
    scene.world.clock.advance(_LOCK_AGE)
    if answer.code == -signal.SIGKILL:
        session.instead = task
        return f"{' '.join(words)}, killed at step {number}"
    _keep(scene, answer, task)
    return " ".join(words)


def kill_a_fork(scene: Scene) -> str:
    key = f"dead-{scene.random.getrandbits(20):05x}"
    number = scene.random.randrange(10)
    answer = scene.world.run("session", "fork", key, at_step=_Countdown(number, _die))
    scene.world.clock.advance(_LOCK_AGE)
    current = scene.memory.current
    ask = scene.world.run("--json", "verify", "--all")
    _expect(ask, f"verify --all after a killed fork ({number})", {0})
    _expect(scene.world.run("session", "use", current), f"session use {current}", {0, 12})
    return f"session fork {key}, ended with {answer.code}"


def hold(scene: Scene) -> str:
    """A writer is held at one of its steps while every reading command is asked."""
    session = scene.memory.session
    composed = _compose(scene)
    number = scene.random.randrange(14)
    session.instead = composed.task
    with _Held(scene.world, "--json", "note", *composed.words, at_step=number) as writer:
        if writer.is_waiting:
            ask_all(scene.world, scene.memory, beside_a_writer=True)
    session.instead = None
    _keep(scene, writer.answer, composed.task)
    return f"note {' '.join(composed.words)}, held at step {number}"


def come_in_between(scene: Scene) -> str:
    """Reading commands are held at one of their places each, while a writer comes in."""
    readers = scene.random.sample((*READERS, *OTHER_FORMS), 4)
    for reader in readers:
        composed = _compose(scene)
        place = scene.random.randrange(60)
        with _Held(scene.world, *reader.words, at_place=place) as held:
            answer = scene.world.run("--json", "note", *composed.words)
            _keep(scene, answer, composed.task)
        try:
            judge_end(reader, held.answer, scene.memory, beside_a_writer=False)
        except Broken as error:
            raise Broken(f"{error}\nA note came in at its place {place}") from error
    return f"notes while {', '.join(reader.name for reader in readers)} read"


class _Held:
    """A command that waits, at the step or place of a number, until the block is left."""

    def __init__(self, world: World, *words: str, at_step: int = -1, at_place: int = -1) -> None:
        self._reached, self._release = os.pipe(), os.pipe()
        place = _Countdown(at_place, self._wait)
        self._command = world.start(
            *words, at_step=_Countdown(at_step, self._wait), at_place=lambda: place("")
        )
        os.close(self._reached[1])
        self.is_waiting = os.read(self._reached[0], 1) == b"1"
        """Whether it got there; it may have ended before."""
        self.answer = Answer(0)

    def _wait(self, _step: str) -> None:
        os.write(self._reached[1], b"1")
        os.read(self._release[0], 1)

    def __enter__(self) -> _Held:
        return self

    def __exit__(self, *_failure: object) -> None:
        os.write(self._release[1], b"1")
        for handle in (self._reached[0], *self._release):
            os.close(handle)
        self.answer = self._command.finish()


class _Countdown:
    """Acts at the step of a number, counted from 0."""

    def __init__(self, number: int, act: Callable[[str], None]) -> None:
        self._left = number
        self._act = act

    def __call__(self, step: str) -> None:
        if self._left == 0:
            self._act(step)
        self._left -= 1


def _die(_step: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


STEPS: dict[Step, int] = {
    note: 14,
    note_that_is_refused: 3,
    update: 4,
    checkpoint: 6,
    ensure: 3,
    restore: 4,
    handoff: 2,
    repair: 3,
    use_session: 5,
    fork_session: 2,
    close_and_reopen: 2,
    gate: 8,
    override: 2,
    tool: 6,
    turn: 6,
    another_conversation: 1,
    compaction: 2,
    switch_branch: 3,
    pass_time: 3,
    lose_working_files: 2,
    make_a_folder: 2,
    forge_history: 4,
    edit_state: 2,
    attack_a_halt: 5,
    kill: 6,
    kill_a_fork: 2,
    hold: 4,
    come_in_between: 4,
}
"""Everything that can happen, and how often against the rest."""
