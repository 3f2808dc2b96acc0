"""The table of hosts, and the one way to what each of them can do.

A host is a folder of this package, and each of its capabilities a module there. Adapters only
translate: the engine names no host, and reads here which ones there are. A module is imported when
somebody asks for it, because a hook pays for every import.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import Host, Installation
    from gitguard.hosts.health import HealthOfHost

HOOKS = "hooks"
"""Answers the host's events (`base.Host`)."""
INSTALLING = "installing"
"""How gitguard is put into the host's settings (`base.Installation`)."""
HEALTH = "health"
"""Whether the host runs what was installed (`health.HealthOfHost`)."""
ADVICE = "advice"
"""Which settings the host has, and how they are made (`adviser.Adviser`)."""
PLANS = "plan_calls"
"""What tool calls of its own do to its plan (`TOOLS`, `answered`, `plan_change`)."""
CONTEXT_FILES = "context_files"
"""Which files of a workspace the host loads into its context (`LOADED`)."""

HOSTS: dict[str, tuple[str, ...]] = {
    "claude-code": (HOOKS, INSTALLING, HEALTH, ADVICE, PLANS, CONTEXT_FILES),
    "openclaw": (HOOKS, INSTALLING, HEALTH, ADVICE, CONTEXT_FILES),
    "codex": (ADVICE, CONTEXT_FILES),
    "gemini": (ADVICE, CONTEXT_FILES),
    "opencode": (ADVICE, CONTEXT_FILES),
    "pi": (ADVICE, CONTEXT_FILES),
}
"""Every host's capabilities."""
_UNKNOWN = {
    HOOKS: "is not a host gitguard knows",
    INSTALLING: "is not a host gitguard can be installed in",
    HEALTH: "is not a host whose hooks gitguard can look over",
    ADVICE: "is not a host gitguard can advise on",
    PLANS: "is not a host with tools of its own for a plan",
    CONTEXT_FILES: "is not a host whose context files are known",
}


def names(capability: str) -> tuple[str, ...]:
    """Return the hosts that have a capability."""
    return tuple(name for name, capabilities in HOSTS.items() if capability in capabilities)


def load(name: str, capability: str) -> Any:
    """Import the module of a host's capability; only that one is imported.

    Raises `InvalidInput` where the host does not have it.
    """
    if capability not in HOSTS.get(name, ()):
        raise InvalidInput(
            f"`{name[:80]}` {_UNKNOWN[capability]}", "Hosts: " + ", ".join(names(capability))
        )
    folder = name.replace("-", "_")
    return __import__(f"gitguard.hosts.{folder}.{capability}", fromlist=[capability])


def find_host(name: str) -> Host:
    """Return the adapter that answers a host's events."""
    host: Host = load(name, HOOKS)
    return host


def find_installing(name: str) -> Installation:
    """Return how gitguard is put into a host's settings."""
    installing: Installation = load(name, INSTALLING)
    return installing


def find_health(name: str) -> HealthOfHost:
    """Return how to tell whether a host runs what was installed."""
    health: HealthOfHost = load(name, HEALTH)
    return health


def surrounding_host(session: str, environment: Mapping[str, str]) -> str:
    """Return the host that started this command in a conversation, empty outside of one."""
    for name in names(HOOKS):
        if find_host(name).host_session(environment) == session:
            return name
    return ""


def in_agents_shell(environment: Mapping[str, str]) -> bool:
    """Say whether a host's agent runs this command."""
    return any(find_host(name).in_agents_shell(environment) for name in names(HOOKS))


def has_tool_marks(environment: Mapping[str, str]) -> bool:
    """Say whether this process has the marks of a tool call of any host."""
    return any(find_host(name).has_tool_marks(environment) for name in names(HOOKS))


def surrounding_session(environment: Mapping[str, str]) -> str:
    """Return the conversation of a host that started this command, empty outside of one."""
    for name in names(HOOKS):
        if conversation := find_host(name).host_session(environment):
            return conversation
    return ""
