"""Compares the hooks that were installed with the hosts' settings as they are now.

What should be there is in the ledgers of installations, outside of the repository. Without one
nothing is expected, and nothing is called healthy.
"""

from __future__ import annotations

import os

from gitguard import hosts
from gitguard.errors import GitguardError
from gitguard.hosts.base import belongs_to_user
from gitguard.hosts.health import NOT_ASKED, UNKNOWN, HookHealth, InstalledSite, asks_program
from gitguard.model.codec import load_json
from gitguard.model.document_edits import TOML, has_entries
from gitguard.store.disk import files
from gitguard.store.session.install_ledger import Installed, LedgerFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitguard.hosts.health import AskedHealth, HealthOfHost
    from gitguard.store.session.install_ledger import EditedFile
    from gitguard.store.session.workspace import Workspace

_LIMIT = 4 << 20


def hook_health(
    workspace: Workspace, heard_of: str = "", *, asks: bool = False
) -> tuple[HookHealth, ...]:
    """Return how it stands with the hooks of each host that gitguard was installed for here.

    heard_of names the one host whose event is answered, so that it trusts the folder. asks is
    whether hosts' own programs are asked too, each for at most three seconds. A ledger that cannot
    be read is unknown.
    """
    every: list[HookHealth] = []
    for host in hosts.names(hosts.HEALTH):
        if heard_of in ("", host):
            module = hosts.find_health(host)
            try:
                sites = tuple(installed_sites(workspace, host))
                for site in sites:
                    trusted_site = site.replace(is_trusted=bool(heard_of))
                    health = module.hook_health(trusted_site, read_settings)
                    if asks and asks_program(module):
                        health = _asked(module, health, site)
                    every.append(health)
                if not sites and not heard_of:
                    every += _of_plugin(workspace, host, module, asks=asks)
            except GitguardError as error:
                note = f"what was installed is unknown: {error.message}"
                every.append(HookHealth(host, "", notes=(note,)))
    return tuple(every)


def _of_plugin(
    workspace: Workspace, host: str, module: HealthOfHost, *, asks: bool
) -> Iterator[HookHealth]:
    """Yield how it stands with our plugin, where the host runs it."""
    from gitguard.sessions.installed_plugin import installed_plugin

    places, worktree = workspace.places, workspace.place.worktree
    environment = {"HOME": places.home, **places.environment}
    if plugin := installed_plugin(host, worktree, environment):
        trust = UNKNOWN if asks_program(module) else NOT_ASKED
        health = HookHealth(host, f"plugin {plugin}", trust=trust)
        if asks and asks_program(module):
            site = InstalledSite(worktree, worktree, (), "", environment=environment)
            health = _asked(module, health, site)
        yield health


def _asked(module: AskedHealth, health: HookHealth, site: InstalledSite) -> HookHealth:
    from gitguard.store.disk.program import find_program

    program = find_program(module.PROGRAM, site.environment, site.worktree)
    if program is None:
        note = f"no `{module.PROGRAM}` is on PATH to ask whether it trusts them"
        return health.replace(notes=(*health.notes, note))
    return module.ask_program(health, site, program.exchange)


def hook_problems(workspace: Workspace) -> tuple[str, ...]:
    """Return a sentence on each thing that keeps hooks from running; hosts' programs are asked."""
    every = hook_health(workspace, asks=True)
    return tuple(sentence for health in every for sentence in health.sentences)


def read_settings(path: str) -> dict[str, Any]:
    """Return the settings in a file, none where there is no file."""
    # A link here is the user's own affair: nothing is written through it.
    data = files.read_bytes(os.path.realpath(path), limit=_LIMIT)
    if not data or not data.strip():
        return {}
    if not path.endswith(".toml"):
        return load_json(data, what=f"`{path}`", limit=_LIMIT)
    from gitguard.store.disk import settings_text

    return settings_text.load(TOML, data, what=f"`{path}`")


def tried_versions() -> Mapping[str, tuple[str, ...]]:
    """Return the versions of each host that this gitguard was tried with."""
    return {host: hosts.find_health(host).TRIED for host in hosts.names(hosts.HEALTH)}


def installed_sites(workspace: Workspace, host: str) -> Iterator[InstalledSite]:
    """Yield what is installed for a host here; `GitguardError` where that cannot be read."""
    settings = hosts.find_installing(host)
    if belongs_to_user(settings):
        ledger = LedgerFile(workspace.places.state_home, host).read()
        for root, part in ledger.items():
            if workspace.place.worktree in part.users:
                yield _site(workspace, root, part)
        return
    worktree = workspace.place.worktree
    ledger = LedgerFile(workspace.state_folder, host).read()
    root = _served_by(workspace, ledger)
    if root:
        yield _site(workspace, root, ledger[root])
    elif has_entries(read_settings(os.path.join(worktree, settings.SHARED)), settings.is_ours):
        # They came with the project, so that nothing is remembered of them.
        yield _site(workspace, worktree, Installed()).replace(files=(settings.SHARED,))


def _served_by(workspace: Workspace, ledger: Mapping[str, Installed]) -> str:
    """Return the worktree whose settings count here: this one, else the main one of a linked one.

    It is empty where gitguard was installed in neither.
    """
    place = workspace.place
    candidates = (place.worktree, os.path.dirname(place.common_dir))
    return next((root for root in candidates if root in ledger), "")


def _is_unchanged(path: str, entry: EditedFile) -> bool:
    try:
        data = files.read_bytes(path, limit=_LIMIT)
    except GitguardError:
        return False
    return data is not None and entry.is_unchanged(data)


def _site(workspace: Workspace, root: str, part: Installed) -> InstalledSite:
    gone, changed = [], []
    for name, entry in part.files.items():
        path = os.path.join(root, name)
        if not os.path.lexists(path):
            gone.append(name)
        elif not _is_unchanged(path, entry):
            changed.append(name)
    places = workspace.places
    return InstalledSite(
        root=root,
        worktree=workspace.place.worktree,
        files=tuple(part.files),
        executable=part.executable,
        environment={"HOME": places.home, **places.environment},
        gone=tuple(gone),
        changed=tuple(changed),
        settings={name: setting.after for name, setting in part.settings.items()},
    )
