"""Droid: what differs in its hooks (recorded with 0.225.2).

`droid exec` tells of no prompt, no call that failed and no automatic compaction: the transcript has
them. A call has no id.
"""

from __future__ import annotations

import os

from gitguard.hosts.dialect import KINDS, STOPS, DialectHost, beginning_of, code_behind
from gitguard.model import events
from gitguard.model.events import Abilities

NAME = "droid"
_UNKNOWN = ("PostToolUseFailure", "PostCompact")
"""Events of the dialect that it does not have."""


def _version_in(transcript: str) -> str:
    """Return the version that was started last, which stands beside the sessions' folder."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(transcript)))
    path = os.path.join(folder, "state", "last-startup-version")
    version = beginning_of(path, 64).decode(errors="replace").strip()
    return version if version.replace(".", "").isalnum() else ""


HOST = DialectHost(
    NAME,
    Abilities(
        forgets=(events.PROMPT, events.TOOL_END, events.SESSION_START),
        tells_prompts=False,
        tells_answers=False,
        tells_results=False,
        tells_compactions=False,
        compact_command="/compress",
        new_conversation="/clear",
    ),
    kinds={name: kind for name, kind in KINDS.items() if name not in _UNKNOWN},
    shell="Execute",
    writing=frozenset(("Create", "Edit", "MultiEdit")),
    reading=frozenset(("Read",)),
    probes=frozenset(("Read", "Grep", "Glob", "LS", "FetchUrl", "WebSearch")),
    planning=frozenset(("TodoWrite",)),
    project="FACTORY_PROJECT_DIR",
    version_in=_version_in,
    shell_result=code_behind("[Process exited with code ", "]"),
    refusal=STOPS,
    obeys_continue=True,
)
