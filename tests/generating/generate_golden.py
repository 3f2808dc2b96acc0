"""Writes the golden repository of this version's format: `make golden`.

`tests/golden/1/` is what this version leaves on a disk. Before a release it may be written again;
afterwards it stays as it is, and a new format gets a folder of its own beside it. The clock is
fixed; ids, keys and the seal's key are random, as they are on any machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from gitguard import Guard
from gitguard.model.events import Reading
from gitguard.store.session.workspace import Session
from tests.support.conversation import Conversation
from tests.support.golden import (
    ALLOWED,
    BUNDLE,
    FOLDER,
    GIT,
    HALTED,
    OVERRIDDEN,
    PARTS,
    SIGNER,
    SLUGGED,
    packed_name,
)

PLACE = Path("/tmp/gitguard-golden")
"""Where it is written: its paths stand in records, and in the name of the state folder."""
LEFT_OUT = ("lock", "config.json")
"""Empty locks, and a cache."""
_CONFIG = "thresholds: {critical: 0.9}\ngauge: {warn_critical: 0.85}\n"
"""With them 85 % is a warning of its own."""
_DATE = "2026-09-21T14:13:20+0000"


class Author:
    """Leaves every kind of trace in a repository, as an agent and its user do in time."""

    def __init__(self, folder: Path) -> None:
        """Begin with a repository of one commit."""
        self.folder, self.root = folder, folder / "repo"
        self.root.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("README.md", "# Example\n")
        self.write("parser.txt", "def parse(line): return line.split(' ')\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "First commit")
        (folder / "config").mkdir()
        (folder / "config" / "config.yaml").write_text(_CONFIG, encoding="utf-8")
        self.talk = Conversation(folder)
        self.talk.guard.ensure()

    def git(self, *arguments: str) -> str:
        """Run git as the user does."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": "UTC"}
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": "Test Author", f"GIT_{role}_EMAIL": SIGNER}
            environment[f"GIT_{role}_DATE"] = _DATE
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        """Put a file into the worktree."""
        (self.root / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, text: str, **changes: object) -> None:
        """The agent edits a file."""
        path = str(self.root / name)
        asked = {"file_path": path, "old_string": "a", "new_string": "b"}
        self.talk.send("PreToolUse.Edit", tool_input=asked, **changes)
        self.write(name, text)
        self.talk.send("PostToolUse.Edit", tool_input=asked, **changes)


def write_everything(folder: Path) -> None:
    """Leave in a folder all that this version can leave: `repo`, `state` and `allowed`."""
    author = Author(folder)
    _work(author)
    _fill_the_context(author)
    _go_back(author)
    _finish_another_task(author)
    _use_other_names(author)
    _sign(author)
    _wait(author)
    _halt(author)


def _work(author: Author) -> None:
    """Give the session of the branch items, journal lines and a file that was destroyed."""
    talk, guard = author.talk, author.talk.guard
    talk.send("SessionStart.startup")
    talk.uses(10_000)
    talk.prompt("Make the parser accept tabs. Never touch the lexer.")
    author.edit("parser.txt", "def parse(line): return line.split()\n")
    talk.bash("pytest -q")
    talk.send("PostToolUseFailure.Bash.output", tool_input={"command": "pytest -q"})
    guard.note(
        {
            "goal": "Make the parser accept tabs",
            "decisions": [{"what": "Split on any white space", "why": "Files mix both"}],
            "constraints": ["Never touch the lexer"],
            "next_action": "Run the tests",
        }
    )
    guard.note({"current_phase": "testing", "learnings": ["split() splits on tabs too"]})
    guard.note({"failed_attempts": [{"what": "shlex.split", "error": "It reads quotes"}]})
    for kind in ("open_issues", "blockers", "invariants", "pending_assumptions"):
        guard.note({kind: [f"One of {kind}"]})
    guard.note({"completed_steps": ["Read the parser"], "artifacts": [{"path": "parser.txt"}]})
    guard.note({"tool_outputs": [{"tool": "pytest", "summary": "3 passed, 1 failed"}]})
    author.write("notes.txt", "not tracked\n")
    talk.send("Stop")
    author.write("notes.txt", "changed by the user\n")
    talk.prompt("Go on")
    author.edit("parser.txt", "def parse(line): return line.split()  # tabs\n")
    talk.bash("git reset --hard HEAD~1")
    talk.send("Stop")


def _fill_the_context(author: Author) -> None:
    """Let the pressure rise to each threshold below the halt, and the host compact."""
    talk = author.talk
    talk.prompt("Test it")
    for tokens in (20_000, 151_000, 161_000, 171_000):
        talk.uses(tokens)
        talk.send("PreToolUse.Read")
        talk.send("PostToolUse.Read")
    talk.send("PreCompact")
    talk.compacts(20_000, summary="The parser accepts tabs.")
    talk.send("SessionStart.compact")
    talk.guard.note({"learnings": ["known after the compaction"]})
    talk.send("SessionEnd")


def _go_back(author: Author) -> None:
    """Take a checkpoint by hand, pin it, restore a state and files, and take one of an edit."""
    guard = author.talk.guard
    saved = guard.checkpoint("Before the tests run")
    name = str(saved.sequence)
    guard.files.pin(name)
    guard.restore("2")
    guard.restore(name)
    author.write("parser.txt", "broken\n")
    guard.files.restore(guard.files.plan(name, theirs_too=True))


def _finish_another_task(author: Author) -> None:
    """Archive a session whose work is complete."""
    author.talk.guard.sessions.use(Session.of("finished"))
    author.talk.guard.note({"goal": "Rename the command", "next_action": "DONE"})
    author.talk.guard.sessions.close()
    author.talk.guard.sessions.use(Session.of("main"))


def _use_other_names(author: Author) -> None:
    """Fork a session, and begin one whose key has to become a slug."""
    author.talk.guard.sessions.fork(Session.of("tabs-again"))
    author.talk.guard.sessions.use(Session.of(SLUGGED))
    author.talk.guard.note({"goal": "An overview of tabs"})
    author.talk.guard.sessions.use(Session.of("main"))


def _sign(author: Author) -> None:
    """Sign the checkpoints of a session with a key that is thrown away."""
    home, key = author.folder / "home", author.folder / "home" / "key"
    (home / "gitguard").mkdir(parents=True)
    (home / "gitguard" / "config.yaml").write_text("sign: true\n", encoding="utf-8")
    make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", SIGNER, "-f", str(key)]
    subprocess.run(make, check=True)
    public = " ".join(key.with_suffix(".pub").read_text(encoding="utf-8").split()[:2])
    (author.folder / ALLOWED).write_text(f'{SIGNER} namespaces="git" {public}\n', encoding="utf-8")
    settings = f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n"
    (home / ".gitconfig").write_text(settings, encoding="utf-8")
    talk = author.talk
    places = talk.guard.workspace.places.replace(
        config_home=str(home / "gitguard"),
        environment={"PATH": os.environ["PATH"], "HOME": str(home)},
        session="signed",
    )
    guard = Guard(str(talk.root), places, talk.clock)
    guard.ensure()
    guard.note({"goal": "Sign what is kept"})


def _wait(author: Author) -> None:
    """Leave a state whose checkpoint is pending, because its branch was checked out then."""
    held = str(author.folder / "held")
    author.talk.guard.sessions.use(Session.of("pending"))
    for goal in ("Wait for the branch", "Saved, and not committed yet"):
        author.git("worktree", "add", "--quiet", held, "gitguard/pending")
        saved = author.talk.guard.note({"goal": goal}).saved
        assert saved is not None
        assert saved.pending
        author.git("worktree", "remove", "--force", held)
        if goal != "Saved, and not committed yet":
            author.talk.guard.note({"learnings": ["the branch is free again"]})
    author.talk.guard.sessions.use(Session.of("main"))


def _halt(author: Author) -> None:
    """Leave a conversation halted, and one whose halt a person lifted."""
    talk = author.talk
    for conversation in (HALTED, OVERRIDDEN):
        talk.guard.gate(conversation, Reading("explicit", talk.clock(), share=0.9))
    talk.guard.override(OVERRIDDEN, "A person looked at it.")


def pack(place: Path, folder: Path) -> None:
    """Put into a folder what was left at a place, as files that git can keep."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    root = place / "repo"
    subprocess.run(
        ["git", "bundle", "create", "--quiet", str(folder / BUNDLE), "--all"], cwd=root, check=True
    )
    shutil.copy(place / ALLOWED, folder / ALLOWED)
    for name, part in PARTS.items():
        for path in sorted((place / part).rglob("*")):
            inside = path.relative_to(place / part)
            is_ours = name == GIT or inside.parts[0] != ".git"
            if path.is_file() and is_ours and path.name not in LEFT_OUT and path.suffix != ".lock":
                target = folder / name / packed_name(inside)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)


def main() -> None:
    """Write the golden repository anew."""
    shutil.rmtree(PLACE, ignore_errors=True)
    try:
        write_everything(PLACE)
        pack(PLACE, FOLDER)
    finally:
        shutil.rmtree(PLACE)  # what still lies there makes every golden repository a copy of it


if __name__ == "__main__":
    main()
