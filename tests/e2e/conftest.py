"""Fixtures: the real hosts in a fresh repository, sealed, with a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pytest

from tests.support.needed import cannot_run

from . import claude_code, openclaw_install, sealed_hosts
from .claude_code import SealedClaude
from .fetching import NotInstallable
from .guarded import COMMAND, Guarded, GuardedHost
from .guarded_openclaw import GuardedOpenClaw, Guarding, enabled
from .live_hosts import LIVE_HOSTS, LiveHost
from .openclaw import SealedOpenClaw
from .recorder import Recorder
from .scripted_model import ScriptedModel
from .sealed_hosts import SealedPi
from .talks import ClaudeTalk, OpenClawTalk, PiTalk, Talk

_LIMIT = 900
"""Seconds that a test may take: hosts start slowly, and on a busy machine very slowly."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this folder their own limit."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(_LIMIT))


P = ParamSpec("P")
T = TypeVar("T")


def installed(host: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `host` makes of its arguments; skips the test where it cannot be installed."""
    try:
        return host(*args, **kwargs)
    except NotInstallable as reason:
        cannot_run(str(reason))


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    return installed(claude_code.install)


def openclaw_version(version: str) -> openclaw_install.Installed:
    """That version of OpenClaw, installed; skips the test where it cannot be."""
    return installed(openclaw_install.install, version)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as scripted:
        yield scripted


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    """First folder on the sealed PATH: where a test puts the `gitguard` command."""
    folder = tmp_path / "bin"
    folder.mkdir()
    return folder


@pytest.fixture
def claude(
    claude_binary: Path, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> Iterator[SealedClaude]:
    home = tmp_path / "home"
    sealed = SealedClaude(claude_binary, home, repo, model.url, extra_path=(bin_dir,))
    yield sealed
    sealed.end_leftovers()


@pytest.fixture
def guarded(claude: SealedClaude, bin_dir: Path) -> Guarded:
    """A repository that a user of Claude Code ran `gitguard init` in."""
    (bin_dir / "gitguard").symlink_to(COMMAND)
    found = Guarded(claude)
    found.run("init")
    return found


@pytest.fixture
def halting(claude: SealedClaude, bin_dir: Path) -> Guarded:
    """As `guarded` for a user who declined the trigger, so that pressure can become critical."""
    (bin_dir / "gitguard").symlink_to(COMMAND)
    found = Guarded(claude)
    found.run("init", "--no-compaction-trigger")
    return found


@pytest.fixture
def recorder(tmp_path: Path, repo: Path) -> Recorder:
    """Every hook of the project records into this."""
    recording = Recorder(tmp_path / "recorded")
    recording.install(repo)
    return recording


@pytest.fixture
def pi(model: ScriptedModel, repo: Path, tmp_path: Path) -> SealedPi:
    """pi in a fresh repository; skips the test where it cannot be installed."""
    return installed(sealed_hosts.pi, tmp_path / "home", repo, model.url)


@pytest.fixture(params=LIVE_HOSTS)
def live(
    request: pytest.FixtureRequest,
    model: ScriptedModel,
    repo: Path,
    bin_dir: Path,
    tmp_path: Path,
) -> Iterator[LiveHost]:
    """Each host that is served while it works, in a fresh repository, or the one asked for."""
    host, sealed = LIVE_HOSTS[request.param]
    found = host(installed(sealed, tmp_path / "home", repo, model.url), model, (bin_dir,))
    yield found
    found.end()


@pytest.fixture
def recording(live: LiveHost, tmp_path: Path) -> Recorder:
    """Every hook of `live` records into this."""
    recorder = Recorder(tmp_path / "recorded")
    recorder.folder.mkdir()
    live.install_recorder(recorder)
    live.approve_hooks()
    return recorder


@pytest.fixture
def guarded_live(live: LiveHost, bin_dir: Path) -> GuardedHost:
    """A repository that a user of `live` ran `gitguard init --host` in."""
    (bin_dir / "gitguard").symlink_to(COMMAND)
    found = GuardedHost(live)
    found.install()
    return found


@pytest.fixture
def openclaw_with_files(model: ScriptedModel, tmp_path: Path) -> Iterator[SealedOpenClaw]:
    """The version of OpenClaw that keeps sessions in files, with its Gateway running."""
    found = openclaw_version(openclaw_install.LEGACY)
    workspace = tmp_path / "workspace"
    with SealedOpenClaw(found, tmp_path / "home", workspace, model.url) as openclaw:
        openclaw.start_gateway()
        yield openclaw


@pytest.fixture(params=openclaw_install.VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each version of OpenClaw."""
    return str(request.param)


@pytest.fixture
def guard_openclaw(
    version: str, model: ScriptedModel, repo: Path, bin_dir: Path, tmp_path: Path
) -> Guarding:
    """Installs as `gitguard init` does it where the host's own command is not on PATH."""

    @contextmanager
    def guarding(**options: Any) -> Iterator[GuardedOpenClaw]:
        (bin_dir / "gitguard").symlink_to(COMMAND)
        with SealedOpenClaw(
            openclaw_version(version),
            tmp_path / "home",
            repo,
            model.url,
            extra_path=(bin_dir,),
            extra_config=enabled(version),
            **options,
        ) as openclaw:
            guarded = GuardedOpenClaw(openclaw)
            guarded.run("init", "--host", "openclaw")
            yield guarded

    return guarding


@pytest.fixture(params=["claude-code", "pi"])
def talk(request: pytest.FixtureRequest, model: ScriptedModel) -> Talk:
    """A conversation with each host that can resume one from a file, or with the one asked for."""
    if request.param == "openclaw":
        return OpenClawTalk(request.getfixturevalue("openclaw_with_files"), model)
    if request.param == "pi":
        return PiTalk(request.getfixturevalue("pi"), model)
    return ClaudeTalk(request.getfixturevalue("claude"), model)
