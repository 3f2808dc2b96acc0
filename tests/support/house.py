"""The modules of the package, their rooms and floors, and the doors to libraries."""

from __future__ import annotations

from pathlib import Path

import gitguard

PACKAGE = Path(gitguard.__file__).parent


FLOORS = (
    {"errors"},
    {"model"},
    {"state"},
    {"store/disk", "template_runtime"},
    {"store/git", "transcripts", "hosts", "compiled_templates"},
    {"rendering"},
    {"store/worktree"},
    {"store/session"},
    {"pressure"},
    {"profile"},
    {"sessions"},
    {"review"},
    {"hooks", "settings"},
    {"compaction", "delegation"},
    {"process"},
    {"guard"},
    {"cli"},
)
"""The rooms, lowest first: a module imports lower floors and its own room, nothing else."""


FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}


DOORS = {
    "git": ("store/git/code_history.py",),
    "gitdb": ("store/git/code_history.py",),
    "subprocess": ("store/disk/child.py",),
    "ruamel": ("model/codec.py",),
    "jinja2": ("rendering.py",),
    "click": ("cli/",),
    "redact_secret": ("model/redaction/second_engine.py",),
    "sqlite3": ("transcripts/database.py",),
    "backports": ("transcripts/plain_lines.py",),
    "compression": ("transcripts/plain_lines.py",),
    "orjson": ("transcripts/fast_json.py",),
    "tomlkit": ("store/disk/toml_text.py",),
    "filelock": ("transcripts/rewriting/locks.py",),
}
"""Which modules may import a library."""


def room_of(module: str) -> str:
    """Return a module's room: its folder, and in `store` the folder below that."""
    parts = module.removesuffix(".py").split("/")
    depth = 2 if parts[0] == "store" and len(parts) > 2 else 1
    return "/".join(parts[:depth])


MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


HOUSED = [module for module in MODULES if room_of(module) in FLOOR]
