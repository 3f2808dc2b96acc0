"""Disks that are full, read-only, or lose power: file systems mounted for the purpose."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.faults.acting import Outcome
from tests.faults.kind import Kind
from tests.faults.scenarios import Scenario
from tests.faults.step_faults import steps_of
from tests.faults.world import World

LAYOUTS = ("one-disk", "repository-on-it", "state-on-it")
"""What lies on the disk that fails: everything, all but the state directory, that alone."""
_PAGE = 4096
_PATIENCE = 200
_MOST_ROOM = 24
"""How many pages are left on a full disk, at most; a checkpoint takes fewer."""


def no_mounts() -> str:
    """Say why nothing can be mounted, nothing where it can."""
    if os.geteuid() != 0:
        return "mounting needs root"
    folder = tempfile.mkdtemp()
    try:
        done = _mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder)
        if done.returncode:
            return f"this root may not mount: {done.stderr.decode().strip()}"
        _unmount(Path(folder))
    finally:
        os.rmdir(folder)
    return ""


def _mount(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False)


def _mounted(*arguments: str) -> None:
    done = _mount(*arguments)
    if done.returncode:
        raise OSError(f"mount {' '.join(arguments)}: {done.stderr.decode()}")


def _unmount(folder: Path) -> None:
    # Lazily, because a git that outlived its parent may still look at it.
    subprocess.run(["umount", "-l", str(folder)], check=True)


class _Mounted(World):
    """A world of which a part lies on a disk of its own."""

    def __init__(self, folder: Path, layout: str) -> None:
        self.disk = folder / "disk"
        self.disk.mkdir(parents=True)
        self.mount()
        on_it, beside = self.disk / "world", folder / "beside"
        places = {
            "one-disk": (on_it, None),
            "repository-on-it": (on_it, beside),
            "state-on-it": (beside, on_it),
        }
        super().__init__(*places[layout])

    def mount(self) -> None:
        raise NotImplementedError

    def remove(self) -> None:
        super().remove()
        _unmount(self.disk)


class _Small(_Mounted):
    def mount(self) -> None:
        _mounted("-t", "tmpfs", "-o", "size=8m", "tmpfs", str(self.disk))


class FullDisk(Kind):
    """A disk on which there is only so much room when the act begins."""

    def __init__(self, layout: str) -> None:
        """With what a layout says on the disk."""
        self.name = f"full-disk-{layout}"
        self._layout = layout

    def why_not(self) -> str:
        return no_mounts()

    def make_world(self, folder: Path) -> World:
        return _Small(folder, self._layout)

    def points(self, world: World, scenario: Scenario) -> list[str]:
        return [str(pages) for pages in range(_MOST_ROOM)]

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        assert isinstance(world, _Mounted)
        filler = world.disk / "filler"
        found = os.statvfs(world.disk)
        room = found.f_bavail * found.f_frsize - int(point) * _PAGE
        try:
            with filler.open("wb") as file:
                file.write(bytes(max(room, 0)))
            return scenario.run(world)
        finally:
            filler.unlink(missing_ok=True)


class ReadOnly(Kind):
    """Folders that are mounted read-only while the act runs, as an agent's sandbox does."""

    name = "read-only"

    def why_not(self) -> str:
        return no_mounts()

    def points(self, world: World, scenario: Scenario) -> list[str]:
        return ["git", "state", "worktree", "git+state", "git+state+worktree"]

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        folders = {
            "git": world.root / ".git",
            "state": world.state_home,
            "worktree": world.base / scenario.root,
        }
        with ExitStack() as seals:
            for name in sorted(point.split("+"), reverse=True):
                seals.enter_context(_sealed(folders[name]))
            return scenario.run(world)


@contextmanager
def _sealed(folder: Path) -> Iterator[None]:
    folder.mkdir(exist_ok=True)
    _mounted("--bind", str(folder), str(folder))
    try:
        _mounted("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        _unmount(folder)


class _Imaged(_Mounted):
    """A world on an ext4 file system in a file, of which a copy is what a power cut leaves."""

    def __init__(self, folder: Path, layout: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._image = folder / "image"
        self._start = folder / "start"
        with self._image.open("wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", str(self._image)], check=True)
        self._device = ""
        super().__init__(folder, layout)

    def mount(self) -> None:
        # The same device each time: the anchor knows the git directory by it, too.
        wanted = self._device or "-f"
        command = ["losetup", "--show", wanted, str(self._image)]
        self._device = (
            subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            or self._device
        )
        _mounted(self._device, str(self.disk))

    def unmount(self) -> None:
        """Take the disk away, so that another can be put in its place."""
        for _ in range(_PATIENCE):
            done = subprocess.run(["umount", str(self.disk)], capture_output=True, check=False)
            if not done.returncode:
                break
            time.sleep(0.02)  # a git that lost its parent is about to end
        subprocess.run(["losetup", "-d", self._device], check=True)

    def keep(self) -> None:
        super().keep()
        self.unmount()
        shutil.copyfile(self._image, self._start)
        self.mount()

    def put_back(self) -> None:
        self.unmount()
        shutil.copyfile(self._start, self._image)
        self.mount()
        super().put_back()

    def cut_power(self) -> None:
        """Make the disk what it would be had the power gone just now."""
        copied = self._image.with_name("cut")
        subprocess.run(["cp", "--sparse=always", str(self._image), str(copied)], check=True)
        self._cut = copied

    def power_up(self) -> None:
        """Mount what the cut left."""
        self.unmount()
        os.replace(self._cut, self._image)
        self.mount()

    def remove(self) -> None:
        self.unmount()
        shutil.rmtree(self._image.parent, ignore_errors=True)


class RealPowerCut(Kind):
    """A cut at each step, and right after the command acknowledged."""

    def __init__(self, layout: str) -> None:
        """With what a layout says on the disk that loses power; what is beside it loses nothing."""
        self.alone = True  # loop devices cannot be shared out safely
        self.name = f"ext4-power-cut-{layout}"
        self._layout = layout

    def why_not(self) -> str:
        if missing := no_mounts():
            return missing
        if not shutil.which("mkfs.ext4") or not shutil.which("losetup"):
            return "there is no mkfs.ext4 or losetup"
        done = subprocess.run(["losetup", "-f"], capture_output=True, check=False)
        return f"no loop device: {done.stderr.decode().strip()}" if done.returncode else ""

    def make_world(self, folder: Path) -> World:
        return _Imaged(folder, self._layout)

    def points(self, world: World, scenario: Scenario) -> list[str]:
        steps = steps_of(world, scenario)
        world.put_back()
        return [*(f"{number}:{step}" for number, step in enumerate(steps)), "acknowledged"]

    def strike(self, world: World, scenario: Scenario, point: str) -> Outcome:
        assert isinstance(world, _Imaged)
        if point == "acknowledged":
            outcome = scenario.run(world)
            world.cut_power()
        else:
            outcome = _cut_at(world, scenario, int(point.partition(":")[0]))
        world.power_up()
        return outcome


def _cut_at(world: _Imaged, scenario: Scenario, wanted: int) -> Outcome:
    """Cut the power while the act stands at a step."""
    reader, writer = os.pipe()
    seen = 0

    def stand(_step: str) -> None:
        nonlocal seen
        seen += 1
        if seen - 1 == wanted:
            os.write(writer, b"x")
            signal.pause()

    def cut(process: int) -> None:
        os.read(reader, 1)
        world.cut_power()
        os.kill(process, signal.SIGKILL)

    world.at_step = stand
    try:
        return scenario.run(world, started=cut)
    finally:
        world.at_step = str
        os.close(reader)
        os.close(writer)
