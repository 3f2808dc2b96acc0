"""Clones of one bare repository, each on a machine of its own, and gitguard in them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from gitguard.guard import Guard
from gitguard.sessions.syncing import Leaving, Synced, SyncRequest
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git
from tests.support.hostile import Outcome, gitguard, inside

LANES = "refs/gitguard/lanes/"


class Machine:
    """One clone with a session, and the state directory of its machine."""

    def __init__(
        self, root: Path, home: Path, clock: Callable[[], float], at_step: Callable[[str], object]
    ) -> None:
        self.git = Git(root)
        self.home = home
        self._clock = clock
        self._at_step = at_step

    @property
    def guard(self) -> Guard:
        """gitguard as a new process opens it."""
        places = UserDirs(
            str(self.home / "state"),
            str(self.home / "config"),
            environment=dict(os.environ),
            machine=self.home.name.removesuffix("-home"),
            at_step=self._at_step,
        )
        return Guard(str(self.git.root), places, self._clock)

    def dying_at(self, step: str) -> Machine:
        """Return the same machine, whose processes die at a step."""

        def die(name: str) -> None:
            if name == step:
                os._exit(9)

        return Machine(self.git.root, self.home, self._clock, die)

    def dying_after(self, steps: int) -> Machine:
        """Return the same machine, whose processes die at so many steps from their start."""
        left = [steps]

        def die(_: str) -> None:
            left[0] -= 1
            if not left[0]:
                os._exit(9)

        return Machine(self.git.root, self.home, self._clock, die)

    def sync(
        self,
        remote: str = "",
        *,
        fetches: bool = True,
        pushes: bool = True,
        dry_run: bool = False,
        agrees: bool = True,
    ) -> Synced:
        def may_leave(_: Leaving) -> bool | None:
            return agrees or None  # nobody is there to ask

        request = SyncRequest(remote, fetches=fetches, pushes=pushes, dry_run=dry_run)
        return self.guard.lanes.sync(request, may_leave)

    def settled(self) -> Synced:
        """Sync; fail where anything is queued or wrong."""
        synced = self.sync()
        assert (synced.queued, synced.problems) == ("", ())
        return synced

    def trust(self, *others: Machine) -> None:
        for other in others:
            self.guard.lanes.trust(other.writer)

    @property
    def lanes(self) -> dict[str, str]:
        return lanes_in(self.git)

    @property
    def writer(self) -> str:
        """The id under which this machine pushed last."""
        paths = (self.home / "state").glob("*/_writer-*.json")
        path = max(paths, key=lambda path: path.stat().st_mtime_ns)
        return path.read_text().partition('"id": "')[2].partition('"')[0]

    @property
    def lane(self) -> str:
        """The ref that this machine writes for its session."""
        return f"{LANES}main/{self.writer}"

    @property
    def learned(self) -> set[str]:
        return {note.text for note in self.guard.state().learnings}

    def learn(self, what: str) -> None:
        self.guard.note({"learnings": [what]})


class Remote(Git):
    """A bare repository that takes no forced push and no deletion."""

    @property
    def lanes(self) -> dict[str, str]:
        return lanes_in(self)


def lanes_in(git: Git) -> dict[str, str]:
    listed = git("for-each-ref", "--format=%(refname) %(objectname)", LANES.rstrip("/"))
    return dict(line.split(" ") for line in listed.splitlines())


def make_remote(folder: Path, *options: str) -> Remote:
    """Make a bare repository with one commit on `main`; options are those of `git init`."""
    seed = Git(folder / "seed")
    seed.root.mkdir()
    seed.start(*options)
    remote = Remote(folder / "remote.git")
    seed("clone", "--quiet", "--bare", str(seed.root), str(remote.root))
    for setting in ("denyNonFastForwards", "denyDeletes"):
        remote("config", f"receive.{setting}", "true")
    for setting in ("user.name", "user.email"):
        remote("config", setting, "outsider")
    remote("config", "core.logAllRefUpdates", "always")
    return remote


def make_machine(
    folder: Path, name: str, remote: Remote, clock: Callable[[], float] = time.time
) -> Machine:
    """Clone the remote and begin the session `main` there."""
    root = folder / name
    Git(folder)("clone", "--quiet", str(remote.root), str(root))
    for setting, value in (("user.name", name), ("user.email", f"{name}@example.invalid")):
        Git(root)("config", setting, value)
    machine = Machine(root, folder / f"{name}-home", clock, str)
    machine.guard.ensure()
    return machine


def write_three(folder: Path) -> None:
    remote = make_remote(folder)
    for name in ("a", "b", "c"):
        make_machine(folder, name, remote)


def machine(folder: Path, name: str, clock: Clock) -> Machine:
    return Machine(folder / name, folder / f"{name}-home", clock, str)


def hook(remote: Remote, name: str, script: str) -> None:
    path = remote.root / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def introduced(*machines: Machine) -> None:
    """Let each machine push once, and trust all others."""
    for each in machines:
        each.settled()
    for each in machines:
        each.settled()
        each.trust(*(other for other in machines if other is not each))


def typed(at: Machine, *words: str, **environment: str) -> Outcome:
    """Type a command on a machine, without a terminal."""
    places = {
        "GITGUARD_STATE_DIR": str(at.home / "state"),
        "XDG_CONFIG_HOME": str(at.home),
        "GITGUARD_MACHINE": at.git.root.name,
    }
    with inside(at.git.root, **places, **environment):
        return gitguard(*words)


def never_forced(remote: Remote) -> None:
    """Fail where a lane of the remote was ever moved to what does not follow."""
    for name in remote.lanes:
        log = (remote.root / "logs" / name).read_text().splitlines()
        for old, new in (line.split(" ")[:2] for line in log):
            assert not old.strip("0") or Git(remote.root)("merge-base", old, new) == old
