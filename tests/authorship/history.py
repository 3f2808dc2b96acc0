"""A history from a seed: an agent and a person work in the same files, and git rewrites it all.

Each line that counts has a token of its own, so that the content of any commit says who wrote what,
whatever became of the commits in which it was first.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.support.conversation import Clock, Conversation

HAND = 0
"""The person, beside the agent's turns from 1."""
TRIVIAL = ("", "}", "    pass", "else:", "    return None", "# ---", "import os", "x = 1")
_TOKEN = re.compile(r"tok_(\d+)_")
_PATHS = ("a.py", "b.py", "src/c.py", "src/d.py", "docs/e.md", "f.txt")
_WORDS = ("index", "parser", "queue", "window", "branch", "header", "mirror", "signal", "table")


class Shell(Clock):
    """The machine's own time, as file systems have it, for what shell commands change."""

    def __call__(self) -> float:
        import time

        return time.time()


class History:
    """One repository while it is made; afterwards it says what is true of it."""

    def __init__(self, seed: int, folder: Path) -> None:
        """Begin a repository with three files that the person wrote."""
        self.random = Random(seed)
        self.by_shell = self.random.random() < 0.15
        self.talk = Conversation(folder, clock=Shell() if self.by_shell else Clock())
        self.root = self.talk.root
        self.author: dict[int, int] = {}
        """Who wrote each token."""
        self.deleted_by: dict[int, set[int]] = {}
        self.trivial: set[tuple[str, int]] = set()
        """Paths in which somebody changed a line without a token, and who."""
        self.steps: list[str] = []
        self.log: list[int] = []
        """Who changed files, in order: turns, `HAND`, and below 0 turns that changed none."""
        self._tokens = 0
        self._turns = 0
        self.tip = "HEAD"
        for path in self.random.sample(_PATHS, 3):
            self._put(path, [self._line(HAND) for _ in range(self.random.randint(4, 12))])
        self.commit_by_hand("Base")
        self.base = self.git("rev-parse", "HEAD")

    # Git and files

    def git(self, *arguments: str, check: bool = True) -> str:
        if not self.by_shell:
            self.talk.clock.pass_by(self.random.randint(1, 6))
        when = f"{int(self.talk.clock())} +0000"
        names = {f"GIT_{role}_{part}": "x" for role in ("AUTHOR", "COMMITTER")
                 for part in ("NAME", "EMAIL")}  # fmt: skip
        done = subprocess.run(
            ("git", *arguments),
            cwd=self.root,
            env={
                **names,
                "PATH": os.environ["PATH"],
                "HOME": str(self.root.parent),
                "GIT_EDITOR": "true",
                "GIT_AUTHOR_DATE": when,
                "GIT_COMMITTER_DATE": when,
            },
            check=False,
            capture_output=True,
            text=True,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr}{done.stdout}")
        return "" if done.returncode else done.stdout.strip()

    def _line(self, by: int) -> str:
        self._tokens += 1
        self.author[self._tokens] = by
        word, verb = self.random.choice(_WORDS), self.random.choice(_WORDS)
        return f"{' ' * self.random.choice((0, 4))}{word}.{verb}(tok_{self._tokens}_)"

    def _lines(self, path: str) -> list[str]:
        return (self.root / path).read_text().splitlines()

    def _put(self, path: str, lines: list[str]) -> None:
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text("".join(f"{line}\n" for line in lines))

    def paths(self) -> list[str]:
        """Return the files that lie in the worktree."""
        listed = self.git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
        return sorted({path for path in listed if (self.root / path).is_file()})

    # What both do to a file

    def edit(self, by: int) -> str:
        """Change, make, or remove lines of a file; return its path."""
        paths = self.paths()
        new = [path for path in _PATHS if path not in paths]
        if new and (not paths or self.random.random() < 0.25):
            self.log.append(by)
            path = self.random.choice(new)
            self._put(path, [self._line(by) for _ in range(self.random.randint(1, 10))])
            return path
        path = self.random.choice(paths)
        lines = self._lines(path)
        at = self.random.randint(0, len(lines))
        self.log.append(by)
        kind = self.random.choices(("add", "replace", "delete", "trivial"), (5, 4, 1, 1))[0]
        if kind == "trivial":
            lines.insert(at, self.random.choice(TRIVIAL))
            self.trivial.add((path, by))
        elif kind == "add" or len(lines) < 4:
            lines[at:at] = [self._line(by) for _ in range(self.random.randint(1, 6))]
        else:
            count = self.random.randint(1, 3)
            for line in lines[at : at + count]:
                self._remove(line, by)
            fresh = [self._line(by) for _ in range(count)] if kind == "replace" else []
            lines[at : at + count] = fresh
            if not fresh and at == len(lines):
                lines.append(self._line(by))
        self._put(path, lines)
        return path

    def _remove(self, line: str, by: int) -> None:
        for token in _TOKEN.findall(line):
            self.deleted_by.setdefault(int(token), set()).add(by)

    def format(self) -> str:
        """Format a file: what a line says stays, and how it is written does not."""
        path = self.random.choice(self.paths())
        self.log.append(HAND)
        self._put(
            path, [line.replace("    ", "\t").replace("(", "( ") for line in self._lines(path)]
        )
        return path

    # The person

    def hand_edits(self) -> None:
        self.steps.append(f"hand edits {self.edit(HAND)}")

    def hand_formats(self) -> None:
        self.steps.append(f"hand formats {self.format()}")

    def hand_moves(self) -> None:
        path = self.random.choice(self.paths())
        target = f"moved/{path.replace('/', '_')}"
        if (self.root / target).exists() or path.startswith("moved/"):
            return
        (self.root / "moved").mkdir(exist_ok=True)
        (self.root / path).rename(self.root / target)
        self.log.append(HAND)
        for _, by in [pair for pair in self.trivial if pair[0] == path]:
            self.trivial.add((target, by))
        self.steps.append(f"hand moves {path}")

    def commit_by_hand(self, subject: str = "By hand") -> None:
        """Commit all, or now and then all but one file."""
        self.git("add", "--all")
        changed = self.git("diff", "--cached", "--name-only", "--no-renames").splitlines()
        partly = len(changed) > 1 and self.random.random() < 0.2
        if partly:
            self.git("reset", "--quiet", "--", self.random.choice(changed))
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)
        self.steps.append(f"commit {self.git('rev-parse', '--short', 'HEAD')} {subject}")

    def revert(self) -> None:
        """Take back one of the last commits of the branch."""
        commits = self.git("rev-list", "--no-merges", f"{self.base}..HEAD", "-n", "4").split()
        if not commits or self.git("status", "--porcelain"):
            return
        commit = self.random.choice(commits)
        before = self.git("rev-parse", "HEAD^{tree}")
        if not self._try("revert", "--no-edit", commit):
            self.git("revert", "--abort", check=False)
        self.log += [HAND] if self.git("rev-parse", "HEAD^{tree}") != before else []
        self.steps.append(f"revert {commit[:7]}")

    def _try(self, *arguments: str) -> bool:
        head = self.git("rev-parse", "HEAD")
        self.git(*arguments, check=False)
        return self.git("rev-parse", "HEAD") != head and not self.git("status", "--porcelain")

    # The agent

    def turn(self) -> None:
        """One turn: a prompt, perhaps a decision, edits and commits, and its end."""
        self._turns += 1
        number = self._turns
        self.steps.append(f"turn {number}")
        self.talk.prompt(f"Request {number}: see to the next part")
        if self.random.random() < 0.6:
            decision = {"what": f"Decision {number}", "why": "It is simple"}
            self.talk.guard.note({"decisions": [decision]})
        for call in range(self.random.choice((0, 1, 1, 2, 3))):
            if self.by_shell:
                self._runs(f"python3 change.py {number}.{call}", lambda: self.edit(number))
            else:
                self._edits(f"toolu_{number}_{call}", number)
            if self.random.random() < 0.25:
                self._runs(
                    "git add --all && git commit --quiet -m Agent",
                    lambda: self.commit_by_hand(f"Agent {number}"),
                )
        self.log += [] if number in self.log else [-number]
        self.talk.send("Stop", last_assistant_message=f"Turn {number} is done.")

    def _edits(self, call: str, number: int) -> None:
        # The file is not chosen before it is written, so the host tells of it afterwards alone.
        path = self.edit(number)
        full = str(self.root / path)
        self.steps.append(f"agent edits {path}")
        said = {"file_path": full, "content": "…"}
        self.talk.send("PreToolUse.Write", tool_use_id=call, tool_input=said)
        self.talk.send(
            "PostToolUse.Write", tool_use_id=call, tool_input=said, tool_response={"filePath": full}
        )

    def _runs(self, command: str, act: Callable[[], object]) -> None:
        call = f"toolu_sh_{len(self.steps)}_{self._tokens}"
        self.talk.bash(command, tool_use_id=call)
        self.steps.append(f"agent runs {command}: {act()}")
        self.talk.send("PostToolUse.Bash", tool_input={"command": command}, tool_use_id=call)

    # The whole

    def make(self) -> None:
        """Let it all happen."""
        if self.random.random() < 0.5:
            self.hand_edits()
            self.commit_by_hand("Before the first prompt")
        self.git("switch", "--quiet", "--create", "feature")
        actions = (
            (self.turn, 9), (self.hand_edits, 3), (self.hand_formats, 1), (self.hand_moves, 1),
            (self.commit_by_hand, 4), (self.revert, 1),
        )  # fmt: skip
        names, weights = zip(*actions, strict=True)
        for _ in range(self.random.randint(6, 14)):
            self.random.choices(names, weights)[0]()
        if self.random.random() < 0.7 and self.git("status", "--porcelain"):
            self.commit_by_hand("After the last turn")
        self.rewrite()
        self.steps.append("asked")

    def rewrite(self) -> None:
        """Let git rewrite the branch in one of its ways, or leave it."""
        if self.git("status", "--porcelain"):
            self.git("stash", "--include-untracked", check=False)
        ways = (self._keep, self._amend, self._rebase, self._squash, self._squash_merge, self._pick)
        way = self.random.choice(ways)
        # The others leave all files as they are.
        self.log += [HAND] if way in (self._rebase, self._squash_merge, self._pick) else []
        self.steps.append(way.__name__)
        way()
        if self.random.random() < 0.3:
            self.hand_edits()
            self.commit_by_hand("At the end")
        if self.random.random() < 0.3:
            self.turn()

    def _keep(self) -> None:
        pass

    def _amend(self) -> None:
        if self.random.random() < 0.5:
            self.hand_edits()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--amend", "--message", "Amended")

    def _beside(self) -> None:
        self.git("switch", "--quiet", "main")
        self._put("beside.txt", [self._line(HAND) for _ in range(4)])
        paths = self.paths()
        if self.random.random() < 0.6:
            path = self.random.choice(paths)
            self._put(path, [*self._lines(path), self._line(HAND)])
        self.commit_by_hand("Beside")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Beside, too")

    def _rebase(self) -> None:
        self._beside()
        self.git("switch", "--quiet", "feature")
        if not self._try("rebase", "--quiet", "main"):
            self.git("rebase", "--abort", check=False)

    def _squash(self) -> None:
        commits = self.git("rev-list", "--count", f"{self.base}..HEAD")
        self.git("reset", "--quiet", "--soft", f"HEAD~{self.random.randint(1, int(commits))}"
                 if int(commits) else "HEAD")  # fmt: skip
        self.git("commit", "--quiet", "--allow-empty", "--message", "Squashed")

    def _squash_merge(self) -> None:
        if self.random.random() < 0.5:
            self._beside()
        else:
            self.git("switch", "--quiet", "main")
        self.git("merge", "--quiet", "--squash", "feature", check=False)
        if self.git("ls-files", "--unmerged"):
            self.git("reset", "--quiet", "--hard")
            self.git("switch", "--quiet", "feature")
            return
        self.git("commit", "--quiet", "--allow-empty", "--message", "Feature (squashed)")
        if self.random.random() < 0.7:
            self.git("branch", "--quiet", "--delete", "--force", "feature")
            self.git("reflog", "expire", "--expire=now", "--all")
            self.git("gc", "--quiet", "--prune=now")

    def _pick(self) -> None:
        commits = self.git("rev-list", "--reverse", "main..feature").split()
        self._beside()
        for commit in commits:
            if not self._try("cherry-pick", "--allow-empty", "--keep-redundant-commits", commit):
                self.git("cherry-pick", "--abort", check=False)
                self.git("reset", "--quiet", "--hard")

    # What is true

    def around(self, turns: set[int]) -> set[int]:
        """Return turns with those beside them that changed no file: their words are its, too."""
        whole = set(turns)
        for log in (self.log, self.log[::-1]):
            last = HAND
            for entry in log:
                if entry >= 0:
                    last = entry
                elif last in turns:
                    whole.add(-entry)
        return whole

    def tokens_at(self, commit: str) -> dict[str, set[int]]:
        """Return the tokens of each file of a commit."""
        return {
            path: {int(token) for token in _TOKEN.findall(self.git("show", f"{commit}:{path}"))}
            for path in self.git("ls-tree", "-r", "--name-only", commit).splitlines()
        }
