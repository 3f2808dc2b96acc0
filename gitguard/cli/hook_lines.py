"""What `status` says of the hooks of hosts: whether they run, and when they were heard of last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.file_changes import path_word
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.hosts.health import HookHealth
    from gitguard.sessions.last_event import LastEvent
    from gitguard.sessions.status import Overview
    from gitguard.store.session.host_session import Delivery, HostSession

_PATHS = 5


def hook_lines(overview: Overview) -> Iterator[str]:
    """Yield how it stands with the hooks of each host, and when the last event came."""
    if not overview.hooks:
        yield "Hooks: none installed here by this user; `gitguard init` installs them"
    for health in overview.hooks:
        yield one_line(f"Hooks: {_health_text(health)}")
    if overview.session:
        yield one_line(f"Last event of a host: {_event_text(overview.last_event)}")


def _health_text(health: HookHealth) -> str:
    parts = []
    if health.problems:
        parts.append("do not all run, see the warnings")
    elif health.where:
        parts.append(f"as installed in `{health.where}`")
    parts += health.notes
    return f"{health.host} {'; '.join(parts)}"


def _event_text(event: LastEvent) -> str:
    parts = [f"{event.at} ({event.ago} ago)" if event.at else "none yet"]
    if event.changed:
        paths = ", ".join(path_word(path) for path in event.changed[:_PATHS])
        more = f" and {len(event.changed) - _PATHS} more" * (len(event.changed) > _PATHS)
        parts.append(f"changed since, up to {event.changed_at}: {paths}{more}")
    if event.head_moved_at:
        parts.append(f"HEAD moved at {event.head_moved_at}")
    if event.unknown:
        parts.append(f"which files changed since is unknown: {event.unknown}")
    return "; ".join(parts)


def version_part(conversation: HostSession, tried: tuple[str, ...]) -> list[str]:
    """Name the host of a conversation and its version, and whether it is one that was tried."""
    host, version = conversation.host, conversation.version
    if not host:
        return []
    if conversation.ran_by:
        return [f"run by {conversation.ran_by}"]
    if not version:
        return [f"{host}, version unknown"]
    named = ", ".join(tried) or "none"
    note = "" if version in tried else f" (not tried with this gitguard; tried: {named})"
    return [f"{host} {version}{note}"]


def delivery_part(delivery: Delivery | None) -> list[str]:
    """Say from which checkpoint a conversation got its resume block; nothing of an empty one."""
    if delivery is None or not delivery.characters:
        return []
    return [f"got a resume block from {delivery.head[:12] or 'no checkpoint'} at {delivery.event}"]
