"""Random work on files, snapshots, restores and undos, held against what every file has to be."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable

from gitguard.errors import GitguardError, NothingFound
from gitguard.guard import Guard
from gitguard.store.session.workspace import Places
from tests.conftest import Git
from tests.support.kept_files import Files, tree_of

NAMES = ("a", "b", "c.py", "d e", "größe", "x/a", "x/b", "x/y/c", "z/ä", "100%")
STEPS = ("restore-kept", "restore-recorded", "file-restored", "restore-done", "files-written")


class Dies(BaseException):
    """The process is killed."""


class Sequence:
    """One sequence: what it does is decided by its seed."""

    def __init__(self, git: Git, places: Places, clock: Callable[[], float], seed: int) -> None:
        """Begin a session in a repository with a first commit."""
        self.chance = random.Random(seed)
        self.git = git
        self.root = git.root
        self.guard = Guard(str(git.root), places, clock)
        self._places, self._clock = places, clock
        self.guard.ensure()
        self.snapshots: dict[str, Files] = {}
        self.before_restore: Files | None = None
        self.restored: Files | None = None
        self.done: list[str] = []

    def run(self, steps: int) -> None:
        """Do so many random steps, and check after each."""
        acts = [self.edit] * 6 + [self.snapshot] * 3 + [self.restore] * 3
        acts += [self.undo] * 2 + [self.commit, self.switch, self.killed_restore, self.partial]
        self.edit()
        self.snapshot()
        for _ in range(steps):
            act = self.chance.choice(acts)
            self.done.append(act.__name__)
            index = (self.root / ".git" / "index").read_bytes()
            head = (self.root / ".git" / "HEAD").read_bytes()
            act()
            if act not in (self.commit, self.switch):
                assert (self.root / ".git" / "index").read_bytes() == index, self.done
                assert (self.root / ".git" / "HEAD").read_bytes() == head, self.done

    # What people and agents do

    def edit(self) -> None:
        """Change something at a few random paths, whatever stands in the way."""
        for _ in range(self.chance.randint(1, 4)):
            self._change()

    def _change(self) -> None:
        path = self.root / self.chance.choice(NAMES)
        for above in (path, *path.parents):
            if above == self.root:
                break
            if above != path and (above.is_file() or above.is_symlink()):
                above.unlink()
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        kind = self.chance.choice(("write", "write", "delete", "link", "program", "folder"))
        path.unlink(missing_ok=True)
        if kind == "delete":
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            path.symlink_to(self.chance.choice(("a", "nowhere", "x")))
        elif kind == "folder":
            path.mkdir()
            (path / "inner").write_bytes(b"inner")
        else:
            path.write_bytes(self.chance.choice((b"", b"one\n", b"two\r\n", b"\0\xff", b"3" * 999)))
            path.chmod(0o755 if kind == "program" else 0o644)

    def commit(self) -> None:
        """Commit everything."""
        self.git("add", "--all", "--", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Work")

    def switch(self) -> None:
        """Go on with another branch, with the files as they are."""
        self.git("switch", "--quiet", "--create", f"branch{len(self.done)}")

    # What gitguard does

    def snapshot(self) -> None:
        """Take a checkpoint, and remember every file."""
        self.guard.checkpoint("A snapshot")
        newest = self.guard.log(1)[0]
        if newest.files:
            self.snapshots[newest.name] = tree_of(self.root)

    def restore(self) -> None:
        """Put everything back to a random snapshot."""
        self._restore(self.guard)

    def _restore(self, guard: Guard, below: tuple[str, ...] = ()) -> str:
        if not self.snapshots:
            return ""
        name = self.chance.choice(sorted(self.snapshots))
        before = tree_of(self.root)
        # What stands for nothing is refused.
        there = {*before, *self.snapshots[name]}
        paths = tuple(n for n in below if any(p == n or p.startswith(f"{n}/") for p in there))
        if below and not paths:
            return ""
        plan = guard.files.plan(name, paths, theirs_too=True)
        assert not plan.refused, (self.done, plan.refused)
        if not plan.files:
            expected = {k: v for k, v in self.snapshots[name].items() if not paths or k in paths}
            assert expected.items() <= before.items(), self.done
            return ""
        restored = guard.files.restore(plan)
        assert restored.stayed == {}, (self.done, restored.stayed)
        after = tree_of(self.root)
        if paths:
            chosen = {file.path for file in plan.files}
            expected = {k: v for k, v in before.items() if k not in chosen}
            target = self.snapshots[name].items()
            expected |= {k: v for k, v in target if k in chosen}
        else:
            expected = self.snapshots[name]
        assert after == expected, (self.done, name)
        self.before_restore, self.restored = before, after
        return name

    def partial(self) -> None:
        """Put back what stands below some of the names."""
        below = self.chance.sample(NAMES, 3)
        blocking = [name for name in below if self._is_blocked(name)]
        if not blocking:
            self._restore(self.guard, tuple(below))

    def _is_blocked(self, name: str) -> bool:
        """Say whether a file stands where a folder has to be, or the other way round."""
        trees = [tree_of(self.root), *self.snapshots.values()]
        paths = {path for tree in trees for path in tree}
        above = {"/".join(p.split("/")[:n]) for p in paths for n in range(1, p.count("/") + 1)}
        return any(path in above for path in paths if path == name or name.startswith(f"{path}/"))

    def undo(self) -> None:
        """Undo the last restore, if the files are as it left them; do it again by chance."""
        if self.before_restore is None or tree_of(self.root) != self.restored:
            return
        self.guard.files.restore(self.guard.files.plan_undo())
        assert tree_of(self.root) == self.before_restore, self.done
        self.before_restore, self.restored = self.restored, self.before_restore

    def killed_restore(self) -> None:
        """Be killed at a random step of a restore, and let the next run finish it."""
        left, chosen = [self.chance.randint(1, 4)], self.chance.choice(STEPS)

        def at_step(step: str) -> None:
            if step == chosen:
                left[0] -= 1
                if not left[0]:
                    raise Dies

        before = tree_of(self.root)
        dying = Guard(str(self.root), self._places.replace(at_step=at_step), self._clock)
        name = self.chance.choice(sorted(self.snapshots)) if self.snapshots else ""
        try:
            if name:
                plan = dying.files.plan(name, theirs_too=True)
                if plan.files:
                    dying.files.restore(plan)
        except Dies:
            finished = self.guard.files.finish()
            after = tree_of(self.root)
            if finished is None:
                assert after in (before, self.snapshots[name]), (self.done, name)
            else:
                assert finished.stayed == {}, self.done
                assert after == self.snapshots[name], (self.done, name)
            self.before_restore = None
        except (NothingFound, GitguardError):
            raise
        else:
            self.before_restore = None
