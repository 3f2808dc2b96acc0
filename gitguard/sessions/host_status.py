"""How it stands with each host here: installed, trusted, when it was heard of, which version.

A host counts that gitguard was installed for here, or that had a conversation here.
"""

from __future__ import annotations

from gitguard import hosts
from gitguard.hosts.health import NOT_ASKED, HookHealth
from gitguard.model.value import Value
from gitguard.sessions.hook_health import hook_health, tried_versions
from gitguard.sessions.last_event import time_since

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.workspace import Workspace


class HostStatus(Value):
    """How it stands with one host."""

    host: str
    is_installed: bool
    """Whether this user installed gitguard for it here, or the project did."""
    where: str = ""
    """The file, folder or plugin that holds the hooks; empty where that is unknown."""
    trust: str = NOT_ASKED
    """Whether the host runs them, as far as its user's consent goes (`hosts/health.py`)."""
    problems: tuple[str, ...] = ()
    """What keeps hooks from running, each a sentence without its period."""
    notes: tuple[str, ...] = ()
    """What is unknown, and what else a person should know, in the same way."""
    last_event: str = ""
    """When it was heard of last in this session; empty where it was not."""
    ago: str = ""
    """How long ago that was, such as `12 min`."""
    version: str = ""
    """The newest that is known; empty where none is."""
    tried: tuple[str, ...] = ()
    """The versions that this gitguard was tried with."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return each problem with the host's name, without its period."""
        return HookHealth(self.host, self.where, self.problems).sentences


def host_statuses(
    workspace: Workspace,
    conversations: Mapping[str, HostSession],
    heard: Mapping[str, str],
) -> tuple[HostStatus, ...]:
    """Return each host, those that are installed first; a host's program may be asked.

    heard has when a host was heard of last.
    """
    versions = _versions(conversations)
    tried = tried_versions()
    statuses = []
    for health in hook_health(workspace, asks=True):
        status = HostStatus(
            health.host,
            is_installed=True,
            where=health.where,
            trust=health.trust,
            problems=health.problems,
            notes=health.notes,
            version=health.version or versions.get(health.host, ""),
        )
        statuses.append(status)
    installed = {status.host for status in statuses}
    others = [name for name in hosts.HOSTS if name in versions and name not in installed]
    statuses += [HostStatus(name, is_installed=False, version=versions[name]) for name in others]
    now = workspace.clock()
    return tuple(
        status.replace(
            last_event=heard.get(status.host, ""),
            ago=time_since(heard[status.host], now) if status.host in heard else "",
            tried=tried.get(status.host, ()),
        )
        for status in statuses
    )


def _versions(conversations: Mapping[str, HostSession]) -> dict[str, str]:
    """Return the newest conversation's version by host, for each host that had one."""
    newest = sorted(conversations.values(), key=lambda record: record.last_use)
    return {record.host: record.version for record in newest if not record.imported}
