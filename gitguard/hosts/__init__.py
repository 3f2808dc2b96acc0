"""Hosts: one module each. Adapters only translate; the engine names no host."""

from __future__ import annotations

from gitguard.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.hosts.base import Host

NAMES = ("claude-code", "openclaw")


def find_host(name: str) -> Host:
    """Return the adapter of a host; only that one is imported."""
    if name == "claude-code":
        from gitguard.hosts.claude_code import hooks

        return hooks
    if name == "openclaw":
        from gitguard.hosts.openclaw import hooks as openclaw

        return openclaw
    raise InvalidInput(f"`{name[:80]}` is not a host gitguard knows", "Hosts: " + ", ".join(NAMES))


def surrounding_host(session: str, environment: Mapping[str, str]) -> str:
    """Return the host that started this command in a conversation, empty outside of one."""
    hosts = (name for name in NAMES if find_host(name).host_session(environment) == session)
    return next(hosts, "")


def surrounding_session(environment: Mapping[str, str]) -> str:
    """Return the conversation of a host that started this command, empty outside of one."""
    return next(filter(None, (find_host(name).host_session(environment) for name in NAMES)), "")
