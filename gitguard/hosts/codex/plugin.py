"""How Codex installs and removes plugins."""

from __future__ import annotations

from gitguard.hosts.plugin import NAME, HostPlugin
from gitguard.model.document_edits import TOML

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def _switches(config: Mapping[str, Any]) -> dict[str, bool]:
    plugins = config.get("plugins")
    listed = plugins.items() if isinstance(plugins, dict) else ()
    return {id: part.get("enabled") is not False for id, part in listed if isinstance(part, dict)}


PLUGIN = HostPlugin(
    (
        "codex plugin marketplace add {folder}",
        f"codex plugin add {NAME}@{NAME}",
    ),
    "codex plugin remove {id}",
    _switches,
    record="config.toml",
    format=TOML,
    after_install="start `codex` and type `/hooks` to trust the hooks; until then none runs",
)
