"""What `gitguard init --plugin` writes and says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitguard.cli.process_environment import executable

if TYPE_CHECKING:
    from gitguard.cli.console import Console


def init_plugin(console: Console, folder: str, *, dry_run: bool) -> None:
    """Write the plugin's folder, and say how each host installs it."""
    from gitguard.guard.hosts import plugin_installs, write_plugin_folder

    folder = os.path.abspath(folder)
    changes = write_plugin_folder(folder, executable(), dry_run=dry_run)
    verb = "Would write" if dry_run else "Wrote"
    lines = [f"{verb} `{os.path.join(folder, change.name)}`." for change in changes]
    lines += [] if changes else [f"The plugin in `{folder}` needs no change."]
    installs = plugin_installs(folder)
    for install in installs:
        lines += ["", f"{install.host}:", *(f"    {command}" for command in install.commands)]
        lines += [f"    Then {install.after}."] if install.after else []
    lines += ["", "Then run `gitguard init --host HOST` in each repository, to begin its session."]
    document = {
        "dry_run": dry_run,
        "folder": folder,
        "changes": [{"path": change.name, "what": change.what} for change in changes],
        "install": [
            {"host": install.host, "commands": list(install.commands), "after": install.after}
            for install in installs
        ],
    }
    console.say("\n".join(lines), document)
