"""Codex CLI: what differs in its hooks (recorded with 0.169.0 and 0.171.0).

A key that it does not know makes a whole answer void. Nothing ends a turn while it runs; a refused
compaction does, and every denied call is told why.
"""

from __future__ import annotations

from gitguard.hosts import payload as read
from gitguard.hosts.dialect import KINDS, DialectHost, beginning_of
from gitguard.model import events
from gitguard.model.events import Abilities

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NAME = "codex"
_LEFT_OUT = ("PostToolUseFailure", "SessionEnd")
"""It has no event of the first name, and ends hooks at the end of a conversation after 1 to 3 s, in
the midst of a checkpoint."""
_READ = 1 << 18
"""Characters of a patch that are read for the files it names."""
_FIRST = 4096
"""Bytes of a rollout's first line that name the version, before any text of others."""
_NAMED = r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$"


def _patched_files(parameters: dict[str, Any]) -> tuple[str, ...]:
    """Return the files that a patch names."""
    import re

    patch = read.text(parameters, "command")[:_READ]
    files = (first or second for first, second in re.findall(_NAMED, patch, re.M))
    return tuple(dict.fromkeys(map(str.strip, files)))


def _version_in(transcript: str) -> str:
    """Return the version that a conversation began with, from the first line of its rollout."""
    import re

    line = beginning_of(transcript, _FIRST).partition(b"\n")[0]
    first, _, _ = line.partition(b'"base_instructions"')
    version = re.search(rb'"cli_version": ?"([\w.+-]+)"', first)
    return version[1].decode() if version else ""


HOST = DialectHost(
    NAME,
    Abilities(
        hears=(*events.HEARD, events.TOOL_START),
        tells_results=False,
        ends_turns=False,
        stops_compactions=True,
        compact_command="/compact",
        new_conversation="/new",
    ),
    kinds={name: kind for name, kind in KINDS.items() if name not in _LEFT_OUT},
    writing=frozenset(("apply_patch",)),
    planning=frozenset(("update_plan",)),
    version_in=_version_in,
    paths_written=_patched_files,
)
