"""opencode: what our plugin tells (recorded with 1.18.34).

The plugin waits for no event that the host does not wait for; the ends of turns and of calls whose
tools failed are such events. It sends exit codes as errors.
"""

from __future__ import annotations

from gitguard.hosts.dialect import DialectHost, told_reading
from gitguard.model import events
from gitguard.model.events import Abilities
from gitguard.model.text import unquoted

NAME = "opencode"


HOST = DialectHost(
    NAME,
    Abilities(
        hears=(events.PROMPT, events.TOOL_END, events.TOOL_FAILED, events.SESSION_START),
        compact_command="/compact",
        new_conversation="/new",
    ),
    ids=("tool_call_id",),
    shell="bash",
    writing=frozenset(("write", "edit", "apply_patch", "patch", "multiedit")),
    reading=frozenset(("read",)),
    probes=frozenset(("read", "grep", "glob", "list", "webfetch", "websearch", "codesearch")),
    planning=frozenset(("todowrite",)),
    words=unquoted,
    readings=told_reading,
    obeys_continue=True,
    shows_notices=True,
    keeps_many=True,
)
