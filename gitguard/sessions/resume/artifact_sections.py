"""The sections of a resume block on commits, and on what was opened on a forge."""

from __future__ import annotations

from gitguard.model.text import shorten
from gitguard.sessions.resume.filling import BlockSection
from gitguard.sessions.resume.reader import items_of, label

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.items import Artifact
    from gitguard.state.task import TaskState

_ADDRESS = 200
"""Characters that are shown of an address, of which a part leads nowhere."""


def commits_and_addresses(state: TaskState) -> tuple[BlockSection, ...]:
    """Return the newest commits, and addresses of pull requests, issues and the like."""
    newest_first = state.artifacts[::-1]
    commits = [(_described(a), True) for a in newest_first if a.kind == "commit"]
    addresses = [(_described(a), not a.is_noted) for a in newest_first if a.kind == "url"]
    return (
        BlockSection("Commits", items_of(commits), 4, has_stub=False),
        BlockSection("Addresses", items_of(addresses), 4, is_whole=True),
    )


def _described(artifact: Artifact) -> str:
    description = f" — {artifact.description}" if artifact.description else ""
    return f"{shorten(artifact.path, _ADDRESS)}{description}{label(artifact)}"
