"""Which hosts are on this machine, and for which of them gitguard is set up here."""

from __future__ import annotations

import os

from gitguard import hosts
from gitguard.hosts import HOSTS
from gitguard.hosts.base import NO_TRIGGER
from gitguard.model.value import Value
from gitguard.sessions.hook_health import installed_sites
from gitguard.store.disk.program import path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.base import InstallOptions
    from gitguard.store.session.workspace import Workspace


class PresentHost(Value):
    """A host, and by what it is known to be here."""

    name: str
    program: str = ""
    """Where its command is that PATH finds; empty where it finds none."""
    folder: str = ""
    """Its folder of the user, empty where it is not there."""
    in_project: str = ""
    """Its folder in the worktree, empty where it is not there."""
    is_set_up: bool = False
    """Whether gitguard is installed for it here."""
    is_around: bool = False
    """Whether its agent runs this command."""
    offers: tuple[str, ...] = ()
    """The options of `init` that not all hosts know, and it does."""

    @property
    def is_there(self) -> bool:
        """Whether the host is on this machine, as far as can be told."""
        return bool(self.program or self.folder or self.is_around)

    @property
    def absence(self) -> str:
        """Where it was looked for in vain, a sentence without its period; empty if it is there."""
        if self.is_there:
            return ""
        return (
            f"{self.name} was not found: no `{HOSTS[self.name].program}` is on PATH, and your home "
            "folder has none of its files; what is set up counts once it is installed"
        )


def look_for(workspace: Workspace, name: str) -> PresentHost:
    """Look for one host; raises `GitguardError` where it cannot be told what is installed."""
    places, worktree = workspace.places, workspace.place.worktree
    environment = {"HOME": places.home, **places.environment}
    marks, installing = HOSTS[name].marks, hosts.find_installing(name)
    folder = marks.user_folder(environment) if marks.folder else installing.user_folder(environment)
    in_project = marks.folder if os.path.isdir(os.path.join(worktree, marks.folder)) else ""
    return PresentHost(
        name,
        program=path_of(HOSTS[name].program, environment, worktree),
        folder=folder if os.path.isabs(folder) and os.path.isdir(folder) else "",
        in_project=in_project,
        is_set_up=any(True for _ in installed_sites(workspace, name)),
        is_around=marks.in_agents_shell(environment),
        offers=installing.OFFERS,
    )


def look_for_all(workspace: Workspace) -> tuple[PresentHost, ...]:
    """Return the hosts that gitguard can be set up for and that are here, or once were."""
    every = (look_for(workspace, name) for name in hosts.names(hosts.INSTALLING))
    return tuple(host for host in every if host.is_there or host.is_set_up)


class HostChoice(Value):
    """For which hosts to set gitguard up."""

    present: tuple[PresentHost, ...]
    """Those that it can be set up for as was asked."""
    chosen: tuple[str, ...]
    """Those that need no question."""
    asked: tuple[str, ...] = ()
    """Those that the user has to confirm."""


def choose(present: tuple[PresentHost, ...], options: InstallOptions) -> HostChoice:
    """Choose those that are set up already, else the one around this command, else the only one.

    Where none is here, the first of the table is set up; a person may install it later.
    """
    present = tuple(
        host for host in present if options.wishes - {NO_TRIGGER} <= frozenset(host.offers)
    )
    names = tuple(host.name for host in present)
    chosen = tuple(host.name for host in present if host.is_set_up)
    chosen = chosen or tuple(host.name for host in present if host.is_around)
    if not chosen and len(names) < 2:
        chosen = names or hosts.names(hosts.INSTALLING)[:1]
    return HostChoice(present, chosen, tuple(name for name in names if name not in chosen))


def options_for(host: str, options: InstallOptions) -> InstallOptions:
    """Return options without the trigger's, which one host alone may have been asked for."""
    has_trigger = NO_TRIGGER in hosts.find_installing(host).OFFERS
    return options if has_trigger else options.replace(with_trigger=True)
