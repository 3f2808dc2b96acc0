"""pi: what our extension tells (recorded with 1.5.0)."""

from __future__ import annotations

from gitguard.hosts.dialect import DialectHost, code_behind, told_reading
from gitguard.model.events import Abilities

NAME = "pi"
HOST = DialectHost(
    NAME,
    Abilities(compact_command="/compact", new_conversation="/new"),
    # `new` is the engine's word for a host session that keeps its id.
    sources={"new": "clear", "fork": "resume"},
    ids=("tool_call_id",),
    shell="bash",
    writing=frozenset(("write", "edit")),
    reading=frozenset(("read",)),
    probes=frozenset(("read", "grep", "find", "ls")),
    shell_result=code_behind("Command exited with code "),
    readings=told_reading,
    obeys_continue=True,
    shows_notices=True,
)
