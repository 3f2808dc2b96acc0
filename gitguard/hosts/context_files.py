"""Which files of a workspace each host loads into its context, as was seen of the real programs.

Some load a file whole however long it is; for these our own limits count.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.context_files import ContextFiles

ANY = ContextFiles((("AGENTS.md",), ("CLAUDE.md",), ("GEMINI.md",)))
"""Where nobody knows the host."""
_BY_HOST = {
    "claude-code": ContextFiles((("CLAUDE.md", "AGENTS.md"),), imports=("AGENTS.md",)),
    "codex": ContextFiles((("AGENTS.md",),), (), 32_768, 32_768, in_each_folder=True),
    "gemini": ContextFiles((("GEMINI.md",),)),
    "openclaw": ContextFiles(
        tuple(
            (f"{name}.md",)
            for name in (
                *("AGENTS", "SOUL", "TOOLS", "IDENTITY"),
                *("USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY"),
            )
        ),
        file_characters=20_000,
        total_characters=60_000,
        own_limits={"AGENTS.md": 12_000, "USER.md": 4_000},
    ),
    "opencode": ContextFiles((("AGENTS.md", "CLAUDE.md"),)),
    "pi": ContextFiles((("AGENTS.md", "CLAUDE.md"),)),
}
NAMES = tuple(_BY_HOST)


def context_files(host: str) -> ContextFiles:
    """Return what a host loads; an empty name stands for any host.

    Raises `InvalidInput` for an unknown one.
    """
    if host and host not in _BY_HOST:
        raise InvalidInput(
            f"`{host[:80]}` is not a host whose context files are known",
            "Known: " + ", ".join(NAMES),
        )
    return _BY_HOST.get(host, ANY)
