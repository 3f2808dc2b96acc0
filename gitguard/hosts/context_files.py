"""Which files of a workspace each host loads into its context, as was seen of the real programs.

Some load a file whole however long it is; for these our own limits count.
"""

from __future__ import annotations

from gitguard import hosts
from gitguard.model.context_files import ContextFiles

ANY = ContextFiles((("AGENTS.md",), ("CLAUDE.md",), ("GEMINI.md",)))
"""Where nobody knows the host."""


def context_files(host: str) -> ContextFiles:
    """Return what a host loads; an empty name stands for any host.

    Raises `InvalidInput` for an unknown one.
    """
    if not host:
        return ANY
    loaded: ContextFiles = hosts.load(host, hosts.CONTEXT_FILES).LOADED
    return loaded
