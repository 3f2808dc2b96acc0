"""Conversations that read, plan and write files of one repository, and who collides with whom.

A seed decides what happens. Real git and the real hooks take part; beside them a ledger counts, by
steps and never by times, who saw which version of which file. From that ledger alone it says
before each write whether the agent has to be told.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.conftest import Process, kill
from tests.support.conversation import Conversation

CHECKOUT, WORKTREES, MIXED = PLACES = ("one checkout", "a worktree each", "two in each worktree")
CHANGED, PLANNED, LIMITED = KINDS = ("changed", "planned", "limited")
FILES = (
    "setup.py",
    "src/parser.py",
    "src/parser_test.py",
    "src/api/routes.py",
    "src/api/util.py",
    "src/web/util.py",
    "src/web/page view.ts",
    "docs/überblick.md",
    "docs/使い方.md",
    "lib/a.py",
    "lib/a.pyi",
    "lib/data.json",
    "tests/test_api.py",
    "tests/test_web.py",
)
_PLANS = (
    "Split {} in two",
    "Next: rewrite {}, then run the tests",
    "{}を分割する",
    "Als Nächstes `{}` umbauen.",
    "修改{}的错误处理",
    "Clean up ./{} and its callers",
)
_LIMITS = (
    "{} must not import anything",
    "Never touch {}",
    "`{}` は変更しない",
    "Keep the order of keys in {}",
)
_DECOYS = (
    "Read old/{} for ideas",
    "{}.bak can go",
    "Compare with my-{}",
)
"""What names another file than it seems."""
_READING = ("cat '{}'", "head -50 '{}'", "grep -n def '{}'")
_WRITING = (
    "sed -i s/x/y/ '{}'",
    "printf done > '{}'",
    "cat > '{}' <<'EOF'\nnew\nEOF",
    "echo more | tee -a '{}'",
)
_PROMPTS = (
    "Please work on the next part of the program and keep to the house rules that we have",
    "Look at what is left to do in this module, and finish the piece that was begun",
    "Improve the error messages that users of the command line see most often, in plain words",
)


@dataclass
class Speaker:
    """One conversation, and what the ledger knows of it."""

    talk: Conversation
    process: Process
    began: int = 0
    """The step of its first prompt."""
    in_turn: bool = False
    calls: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    """By file, the step at which it last read or wrote it in its own worktree."""
    wrote: dict[str, int] = field(default_factory=dict)
    """By file, the step at which it last wrote it."""
    next_file: str = ""
    """The file that its next action names."""
    planned: tuple[str, ...] = ()
    """The files that open steps of its plan name."""
    limits: set[str] = field(default_factory=set)
    told: set[tuple[str, str]] = field(default_factory=set)
    """Files, each with the conversation, of which it was told."""
    perhaps_told: set[tuple[str, str]] = field(default_factory=set)
    """Those of which a line may have told besides."""

    @property
    def name(self) -> str:
        return self.talk.session

    @property
    def plans(self) -> set[str]:
        """The files that it says it will change."""
        return {name for name in (self.next_file, *self.planned) if name}


@dataclass
class Counts:
    """What happened, and what was told."""

    turns: int = 0
    writes: int = 0
    planted: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    false: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        self.turns += other.turns
        self.writes += other.writes
        self.false += other.false
        self.planted += other.planted
        self.warned += other.warned
        self.missed += other.missed
        self.wrong += other.wrong

    @property
    def share(self) -> float:
        """The share of planted collisions that were told before the write."""
        return self.warned.total() / max(self.planted.total(), 1)

    @property
    def false_in_100(self) -> float:
        """Lines without a collision, in 100 turns."""
        return 100 * self.false / max(self.turns, 1)


class World:
    """A repository with several conversations, and the ledger."""

    def __init__(self, folder: Path, seed: int, conversations: int, place: str) -> None:
        self._random = Random(f"{seed} {conversations} {place}")
        self._folder, self._place = folder, place
        self._step = self._names = 0
        self._limits: dict[Path, set[str]] = defaultdict(set)
        """By worktree, the files that limits of its session name."""
        self._last: dict[tuple[Path, str], str] = {}
        """By worktree and file, who wrote it last."""
        self.counts = Counts()
        self._where = f"seed {seed}, {conversations} in {place}"
        self._first = Conversation(folder, "S0")
        for name in FILES:
            path = self._first.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{name}\n")
        self._first.git("add", ".")
        self._first.git("commit", "--quiet", "--message", "Begin")
        self._roots = self._make_roots(conversations)
        self._idle = [subprocess.Popen(["sleep", "6000"]) for _ in range(2 * conversations)]
        time.sleep(0.5)  # a younger process may have been started for a hook alone
        self.speakers = [self._begin(number) for number in range(conversations)]

    def _make_roots(self, conversations: int) -> list[Path]:
        main = self._first.root
        if self._place == CHECKOUT:
            return [main] * conversations
        each = 1 if self._place == WORKTREES else 2
        roots = [main]
        for number in range(1, (conversations + each - 1) // each):
            root = self._folder / f"tree-{number}"
            self._first.git("worktree", "add", "--quiet", "-b", f"branch-{number}", str(root))
            roots.append(root)
        return [roots[number // each] for number in range(conversations)]

    def _begin(self, number: int) -> Speaker:
        self._names += 1
        process = self._idle.pop() if self._idle else subprocess.Popen(["sleep", "6000"])
        talk = Conversation(
            self._folder,
            f"S{self._names}",
            self._first.clock,
            process.pid,
            root=self._roots[number],
        )
        return Speaker(talk, process)

    def run(self, turns: int) -> Counts:
        """Let things happen until so many turns have ended."""
        acts: tuple[tuple[Callable[[Speaker], None], int], ...] = (
            (self._read, 6),
            (self._write, 9),
            (self._write_by_shell, 3),
            (self._note_next, 2),
            (self._plan, 2),
            (self._limit, 1),
            (self._mislead, 1),
            (self._end_turn, 5),
            (self._merge, 1),
            (self._replace, 1),
        )
        try:
            while self.counts.turns < turns:
                self._step += 1
                self._first.clock.pass_by(self._random.choice((1, 5, 30, 300)))
                speaker = self._random.choice(self.speakers)
                if not speaker.in_turn:
                    speaker.talk.prompt(self._random.choice(_PROMPTS))
                    speaker.in_turn = True
                    speaker.began = speaker.began or self._step
                (act,) = self._random.choices([a for a, _ in acts], [w for _, w in acts])
                act(speaker)
        finally:
            self.close()
        return self.counts

    def close(self) -> None:
        """End the processes that stand for hosts."""
        for process in (*self._idle, *(speaker.process for speaker in self.speakers)):
            kill(process)

    # What conversations do

    def _call(self, speaker: Speaker) -> str:
        speaker.calls += 1
        return f"{speaker.name}-{speaker.calls}"

    def _pick(self, speaker: Speaker) -> str:
        """Choose a file, in half of the cases one that another conversation is at."""
        theirs = sorted(
            {f for other in self._others(speaker) for f in (*other.wrote, *other.plans)}
        )
        return self._random.choice(theirs if theirs and self._random.random() < 0.5 else FILES)

    def _others(self, speaker: Speaker) -> list[Speaker]:
        """Return the others that have said anything yet."""
        return [other for other in self.speakers if other is not speaker and other.began]

    def _read(self, speaker: Speaker) -> None:
        name, call = self._pick(speaker), self._call(speaker)
        path = speaker.talk.root / name
        if self._random.random() < 0.3:
            command = self._random.choice(_READING).format(name)
            speaker.talk.bash(command, tool_use_id=call)
            speaker.talk.send("PostToolUse.Bash", tool_input={"command": command}, tool_use_id=call)
        else:
            read = {
                "tool_name": "Read",
                "tool_use_id": call,
                "tool_input": {"file_path": str(path)},
            }
            speaker.talk.send("PreToolUse.Write", **read)
            speaker.talk.send("PostToolUse.Write", tool_response={}, **read)
        speaker.seen[name] = self._step

    def _write(self, speaker: Speaker) -> None:
        name, call = self._pick(speaker), self._call(speaker)
        path = speaker.talk.root / name
        content = {"file_path": str(path), "content": call}
        answer = speaker.talk.send("PreToolUse.Write", tool_input=content, tool_use_id=call)
        self._judge(speaker, name, str(answer))
        path.write_text(f"{call}\n")
        speaker.talk.send("PostToolUse.Write", tool_input=content, tool_use_id=call)
        self._wrote(speaker, name)

    def _write_by_shell(self, speaker: Speaker) -> None:
        name, call = self._pick(speaker), self._call(speaker)
        command = self._random.choice(_WRITING).format(name)
        answer = speaker.talk.bash(command, tool_use_id=call)
        self._judge(speaker, name, str(answer))
        (speaker.talk.root / name).write_text(f"{call}\n")
        speaker.talk.send("PostToolUse.Bash", tool_input={"command": command}, tool_use_id=call)
        self._wrote(speaker, name)

    def _wrote(self, speaker: Speaker, name: str) -> None:
        speaker.seen[name] = speaker.wrote[name] = self._step
        self._last[speaker.talk.root, name] = speaker.name

    def _plan(self, speaker: Speaker) -> None:
        """Write the host's whole plan, of which some steps are done."""
        names = self._random.sample(FILES, 3)
        speaker.planned = tuple(names[:2])
        todos = [
            {"content": self._random.choice(_PLANS).format(name), "status": status}
            for name, status in zip(names, ("pending", "in_progress", "completed"), strict=True)
        ]
        call = {"tool_name": "TodoWrite", "tool_use_id": self._call(speaker)}
        wrote = {"tool_input": {"todos": todos}, **call}
        speaker.talk.send("PreToolUse.Write", **wrote)
        speaker.talk.send("PostToolUse.Write", tool_response={}, **wrote)

    def _note_next(self, speaker: Speaker) -> None:
        speaker.next_file = self._random.choice(FILES)
        words = self._random.choice(_PLANS).format(speaker.next_file)
        speaker.talk.guard.note({"next_action": words}, host_session=speaker.name)

    def _limit(self, speaker: Speaker) -> None:
        name = self._random.choice(FILES)
        speaker.limits.add(name)
        self._limits[speaker.talk.root].add(name)
        words = self._random.choice(_LIMITS).format(name)
        speaker.talk.guard.note({"constraints": [words]}, host_session=speaker.name)

    def _mislead(self, speaker: Speaker) -> None:
        words = self._random.choice(_DECOYS).format(self._random.choice(FILES))
        speaker.next_file = ""
        speaker.talk.guard.note({"next_action": words}, host_session=speaker.name)

    def _end_turn(self, speaker: Speaker) -> None:
        speaker.talk.send("Stop", last_assistant_message="Done with that part.")
        speaker.in_turn = False
        self.counts.turns += 1

    def _replace(self, speaker: Speaker) -> None:
        """End a conversation, or kill its host, and begin another one in its place."""
        if self._random.random() < 0.5:
            speaker.talk.send("SessionEnd")
        kill(speaker.process)
        number = self.speakers.index(speaker)
        self.speakers[number] = self._begin(number)
        self._idle.append(subprocess.Popen(["sleep", "6000"]))

    def _merge(self, speaker: Speaker) -> None:
        """Commit everywhere, and merge another worktree's branch into this one's."""
        others = [o for o in self._others(speaker) if o.talk.root != speaker.talk.root]
        for each in {other.talk.root: other for other in (*others, speaker)}.values():
            each.talk.git("commit", "--quiet", "--allow-empty", "--all", "--message", "Work")
        if not others:
            return
        branch = self._random.choice(others).talk.git("branch", "--show-current").strip()
        speaker.talk.git("merge", "--quiet", "-X", "ours", "--no-edit", branch)

    # The ledger

    def _judge(self, speaker: Speaker, name: str, answer: str) -> None:
        """Compare what an agent is told before a write with what the ledger says."""
        self.counts.writes += 1
        must, may = self._collisions(speaker, name)
        must = {(other, kind) for other, kind in must if (name, other) not in speaker.told}
        # A line may have named it together with another one.
        unsure = {(other, kind) for other, kind in must if (name, other) in speaker.perhaps_told}
        must -= unsure
        is_told = "additionalContext" in answer
        if must:
            kind = min((kind for _, kind in must), key=KINDS.index)
            self.counts.planted[kind] += 1
            self.counts.warned[kind] += is_told
            if not is_told:
                self.counts.missed.append(f"{self._where}, step {self._step}: {name} {must}")
        elif is_told and not may and not unsure:
            self.counts.false += 1
            self.counts.wrong.append(f"{self._where}, step {self._step}: {name} {answer}")
        if is_told:
            speaker.told |= {(name, other) for other, _ in must}
            speaker.perhaps_told |= {(name, other) for other in may}

    def _collisions(self, speaker: Speaker, name: str) -> tuple[set[tuple[str, str]], set[str]]:
        """Return who has to be told of, and why, and of whom one may be told.

        In one worktree the last writer of a file hides those before it.
        """
        must: set[tuple[str, str]] = set()
        may: set[str] = set()
        for other in self._others(speaker):
            if self._is_news(speaker, other, name):
                must.add((other.name, CHANGED))
            elif name in other.wrote:
                may |= {other.name} if self._is_hidden(other, name) else set()
            if name in other.plans:
                must.add((other.name, PLANNED))
            if name in self._limits_for(speaker, other):
                must.add((other.name, LIMITED))
        return must, may

    def _is_news(self, speaker: Speaker, other: Speaker, name: str) -> bool:
        at = other.wrote.get(name, -1)
        if at < 0 or self._is_hidden(other, name):
            return False
        if other.talk.root == speaker.talk.root:
            return at > speaker.seen.get(name, speaker.began)
        return self._differs(speaker, other, name)

    def _is_hidden(self, other: Speaker, name: str) -> bool:
        """Say whether somebody wrote a file after a conversation did, who may have ended since."""
        return self._last[other.talk.root, name] != other.name

    def _differs(self, speaker: Speaker, other: Speaker, name: str) -> bool:
        """Say whether the other worktree has a content that this one never had, by git itself."""
        theirs = (other.talk.root / name).read_text()
        if theirs == (speaker.talk.root / name).read_text():
            return False
        head = other.talk.git("rev-parse", "HEAD").strip()
        base = speaker.talk.git("merge-base", "HEAD", head).strip()
        return theirs != speaker.talk.git("show", f"{base}:{name}")

    def _limits_for(self, speaker: Speaker, other: Speaker) -> set[str]:
        """Return the limited files: another session's, but of the own one what the other noted."""
        is_own = other.talk.root == speaker.talk.root
        return other.limits if is_own else self._limits[other.talk.root]


def worlds(conversations: int) -> Iterator[str]:
    """Yield the places in which so many conversations can be."""
    yield from (CHECKOUT, WORKTREES)
    if conversations > 2:
        yield MIXED


def measure(conversations: int, seeds: list[int], turns: int, folder: Path) -> Counts:
    """Let conversations happen in each place; return what was told, in all."""
    counts = Counts()
    for seed in seeds:
        for number, place in enumerate(worlds(conversations)):
            home = folder / f"{seed}-{conversations}-{number}"
            home.mkdir()
            counts.add(World(home, seed, conversations, place).run(turns))
    return counts
