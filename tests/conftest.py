"""Fixtures of every test: a sealed machine, a repository of one commit, and gitguard in it."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from gitguard.guard import Guard
from gitguard.hosts import HOSTS
from gitguard.store.session.workspace import UserDirs
from tests.support.staged import is_staged, staged

settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")  # what fails for one has to fail for all

_ENDING = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM)


def pytest_configure(config: pytest.Config) -> None:
    """Give this process, and every child it starts, the usual answers to signals.

    A script that starts the tests behind `&` or `nohup` leaves SIGINT, SIGQUIT or SIGHUP ignored;
    every child would inherit that, and a test that interrupts one would wait for ever.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    _keep_compiled_code()


def _keep_compiled_code() -> None:
    """Have Python keep what it compiles, though the machine may say otherwise.

    Each of the many commands that tests start would compile gitguard anew, for 0.3 s.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="every seed, place and step")


@pytest.fixture
def thorough(request: pytest.FixtureRequest) -> bool:
    """Whether all is tried of what is too much for every run of the tests."""
    return bool(request.config.getoption("--thorough"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is too much for every run of the tests."""
    if not config.getoption("--thorough"):
        config.hook.pytest_deselected(items=[i for i in items if i.get_closest_marker("thorough")])
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take all that was collected out of Python's search for garbage: it lives to the end.

    Else each process that a test forks would look at it, and so copy it.
    """
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end which tests this machine could not run, and what it lacks for them."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.getreports("skipped"):
        if isinstance(report.longrepr, tuple):
            reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("not tried on this machine")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} skipped: {reason}")


_HOSTS = ("CLAUDE", "ANTHROPIC_", "OPENCLAW", "CODEX", "COPILOT", "FACTORY", "KIMI", "QWEN")
_FOREIGN = ("GITGUARD_", "GIT_", "XDG_", "LC_", *_HOSTS)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a new folder each time, beside thousands of others that nobody has to list."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(scope="session")
def path_without_hosts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PATH without the hosts of this machine, which `gitguard init` would look for."""
    programs = {row.program for row in HOSTS.values()}
    folders = []
    for name in os.environ["PATH"].split(os.pathsep):
        folder = Path(name)
        if any((folder / program).exists() for program in programs):
            folder = tmp_path_factory.mktemp("path")
            for file in Path(name).iterdir():
                if file.name not in programs:
                    (folder / file.name).symlink_to(file)
        folders.append(str(folder))
    return os.pathsep.join(folders)


@pytest.fixture(autouse=True)
def hermetic_seal(homes: Iterator[Path], path_without_hosts: str) -> Iterator[Path]:
    """Give each test a machine of its own: nothing of the user's is read or written."""
    home = next(homes)
    home.mkdir()
    before = dict(os.environ)
    for name in before:
        if name.startswith(_FOREIGN):
            del os.environ[name]
    os.environ.update(
        HOME=str(home),
        PATH=path_without_hosts,
        XDG_CONFIG_HOME=str(home / ".config"),
        XDG_STATE_HOME=str(home / ".local" / "state"),
        XDG_CACHE_HOME=str(home / ".cache"),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_EDITOR="false",
        GIT_TERMINAL_PROMPT="0",
        LANG="C.UTF-8",
        TZ="UTC",
    )
    time.tzset()
    yield home
    os.environ.clear()
    os.environ.update(before)
    time.tzset()


class Clock:
    """The time, which passes by itself and can be moved."""

    def __init__(self) -> None:
        self._offset = 0.0

    def __call__(self) -> float:
        return time.time() + self._offset

    def advance(self, seconds: float) -> None:
        self._offset += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Git:
    """Runs git in a folder as a person would."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, *arguments: str, stdin: str = "", check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def at(self, root: Path) -> Git:
        """Return the same for another folder."""
        return Git(root)

    def start(self, *arguments: str) -> None:
        """Begin a repository of one commit in the folder."""
        self("init", "--quiet", "--initial-branch=main", *arguments)
        for sample in (self.root / ".git" / "hooks").glob("*.sample"):
            sample.unlink()  # of no use, and copied for each test
        self("config", "user.name", "Test Author")
        self("config", "user.email", "author@example.invalid")
        (self.root / "README.md").write_text("# Example\n", encoding="utf-8")
        self("add", "README.md")
        self("commit", "--quiet", "--message", "First commit")

    def traces(self) -> dict[str, object]:
        """Return all that gitguard must leave as it is: HEAD, index, refs of others, worktree."""
        git_dir = Path(self("rev-parse", "--absolute-git-dir"))
        index = git_dir / "index"
        refs = self("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return {
            "HEAD": (git_dir / "HEAD").read_bytes(),
            "index": index.read_bytes() if index.exists() else None,
            "refs": [ref for ref in refs if "/gitguard/" not in ref],
            "status": self("status", "--porcelain", "--untracked-files=all"),
            "files": {
                str(path.relative_to(self.root)): path.read_bytes()
                for path in sorted(self.root.rglob("*"))
                if path.is_file() and not {".git", ".gitguard"} & set(path.parts)
            },
        }

    def fsck(self) -> None:
        """Fail unless the repository is sound."""
        said = self("fsck", "--strict", "--no-dangling", "--full")
        assert said in ("", "notice: HEAD points to an unborn branch (main)"), said


@pytest.fixture
def git(repo: Path) -> Git:
    return Git(repo)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first test makes the repository that every test gets a copy of."""
    return tmp_path_factory.mktemp("template")


@pytest.fixture
def repo(tmp_path: Path, template: Path) -> Path:
    """A git repository with one commit and an identity of its own."""
    if not (template / ".git").exists():
        Git(template).start()
    root = tmp_path / "repo"
    if not root.exists():  # where the folder is staged
        shutil.copytree(template, root)
        Git(root)("update-index", "--refresh")
    return root


def user_dirs(folder: Path) -> UserDirs:
    return UserDirs(
        state_home=str(folder / "state"),
        config_home=str(folder / "config"),
        environment=dict(os.environ),
    )


@pytest.fixture
def places(tmp_path: Path) -> UserDirs:
    """Where gitguard's files are on the sealed machine."""
    return user_dirs(tmp_path)


class OpenGuard(Protocol):
    """Opens gitguard in the repository, or elsewhere, with other places."""

    def __call__(self, root: Path | None = None, **places: object) -> Guard: ...


@pytest.fixture
def open_guard(repo: Path, places: UserDirs, clock: Callable[[], float]) -> OpenGuard:
    def open_it(root: Path | None = None, **changes: object) -> Guard:
        return Guard(str(root or repo), places.replace(**changes), clock)

    return open_it


@pytest.fixture
def guard(open_guard: OpenGuard) -> Guard:
    return open_guard()


def new_guard(folder: Path, clock: Callable[[], float] = time.time) -> Guard:
    """Begin a repository where the fixtures `repo` and `guard` look for it."""
    git = Git(folder / "repo")
    git.root.mkdir()
    git.start()
    return Guard(str(git.root), user_dirs(folder), clock)


def start_guard(folder: Path, goal: str = "") -> Guard:
    """Begin a repository and a session where the fixtures look for them."""
    guard = new_guard(folder)
    guard.ensure()
    if goal:
        guard.note({"goal": goal})
    return guard


@pytest.fixture
def begun(guard: Guard, tmp_path: Path) -> Guard:
    """gitguard in the repository, with a goal noted in its session."""
    if not is_staged(tmp_path):
        guard.ensure()
        guard.note({"goal": "Ours"})
    return guard


tmp_path = staged(begun=lambda folder: start_guard(folder, goal="Ours"))


Process = subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def host_processes() -> Iterator[list[Process]]:
    processes: list[Process] = []
    yield processes
    for process in processes:
        kill(process)


@pytest.fixture
def host_process(host_processes: list[Process]) -> Process:
    """A host's process, which runs until a test kills it."""
    if not host_processes or host_processes[-1].poll() is not None:
        host_processes.append(subprocess.Popen(["sleep", "6000"]))
        time.sleep(0.5)  # a younger one may have been started for a hook alone
    return host_processes[-1]


def kill(process: Process) -> None:
    process.kill()
    process.wait()
