"""Which files of a workspace OpenClaw 2026.9.6 loads into its context."""

from __future__ import annotations

from gitguard.model.context_files import ContextFiles

LOADED = ContextFiles(
    (
        ("AGENTS.md",),
        ("SOUL.md",),
        ("TOOLS.md",),
        ("IDENTITY.md",),
        ("USER.md",),
        ("HEARTBEAT.md",),
        ("BOOTSTRAP.md",),
        ("MEMORY.md",),
    ),
    file_characters=20_000,
    total_characters=60_000,
    own_limits={"AGENTS.md": 12_000, "USER.md": 4_000},
)
