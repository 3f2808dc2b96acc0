"""Which files of a workspace each host loads into its context, as was seen of the real programs.

Some load a file whole however long it is; for these our own limits count.
"""

from __future__ import annotations

from gitguard import hosts
from gitguard.model.context_files import ContextFiles

ANY = ContextFiles((("AGENTS.md",), ("CLAUDE.md",), ("GEMINI.md",)))
"""Where nobody knows the host."""
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
"""Files at a worktree's root, one of which most hosts load; people begin with the first.

Some load the second alone, which may import the first by a line `@AGENTS.md`.
"""


def context_files(host: str) -> ContextFiles:
    """Return what a host loads; an empty name stands for any host.

    Raises `InvalidInput` for an unknown one.
    """
    if not host:
        return ANY
    loaded: ContextFiles = hosts.load(host, hosts.CONTEXT_FILES).LOADED
    return loaded
