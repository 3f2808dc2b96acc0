"""The plugin's folder, which several hosts install unchanged, as values and on the disk."""

from __future__ import annotations

import os

from gitguard import __version__
from gitguard.errors import InvalidInput
from gitguard.hosts.plugin import MANIFESTS, NAME
from gitguard.model.codec import load_json
from gitguard.rendering import template_source
from gitguard.store.disk.changes import FileEdit, content, make_all

_MARKETPLACE = f"{MANIFESTS}/marketplace.json"
_DESCRIPTION = (
    "Keeps a coding agent's working memory in git, across compactions, crashes and new "
    "conversations"
)
_AS_THEY_ARE = {
    f"{NAME}/README.md": "plugin/README.md",
    f"{NAME}/LICENSE": "plugin/LICENSE",
    f"{NAME}/icon.svg": "plugin/icon.svg",
    f"{NAME}/hooks/hooks.json": "plugin/hooks.json",
    f"{NAME}/hooks/gitguard-hook.sh": "plugin/gitguard-hook.sh",
    f"{NAME}/skills/gitguard/SKILL.md": "SKILL.md",
}
"""Files of the folder, and the templates that they are."""
_RECORDED = f"{NAME}/hooks/gitguard-path"
"""Holds the path of the `gitguard` that the hooks run, where they find it."""


def plugin_files(executable: str = "") -> dict[str, bytes]:
    """Return the contents of all files, by their names in the folder.

    executable is the path of an installation on this machine; empty leaves it to be found.
    """
    plugin = {
        "name": NAME,
        "version": __version__,
        "description": _DESCRIPTION,
        "author": {"name": "the gitguard authors"},
        "license": "MIT",
        "keywords": ["agent", "checkpoint", "context", "git", "memory"],
    }
    offered = {key: plugin[key] for key in ("name", "version", "description")}
    marketplace = {
        "name": NAME,
        "owner": plugin["author"],
        "metadata": {"description": _DESCRIPTION},
        "plugins": [{**offered, "source": f"./{NAME}"}],
    }
    files = {
        _MARKETPLACE: _json(marketplace),
        f"{NAME}/{MANIFESTS}/plugin.json": _json(plugin),
        **{name: template_source(template).encode() for name, template in _AS_THEY_ARE.items()},
    }
    return {**files, _RECORDED: f"{executable}\n".encode()} if executable else files


def write_plugin(folder: str, executable: str = "", *, dry_run: bool = False) -> list[FileEdit]:
    """Write the folder, or only say what would change; what else lies there stays.

    Raises `InvalidInput` for a folder that holds something else than an earlier plugin of ours.
    """
    folder = os.path.abspath(folder)
    _refuse_other(folder)
    edits = [
        FileEdit(os.path.join(folder, name), name, content(folder, name), after)
        for name, after in plugin_files(executable).items()
    ]
    changes = [edit for edit in edits if edit.before != edit.after]
    if not dry_run:
        make_all(tuple(changes))
    return changes


def _refuse_other(folder: str) -> None:
    if os.path.isdir(folder) and os.listdir(folder):
        marketplace = content(folder, _MARKETPLACE)
        what = f"`{os.path.join(folder, _MARKETPLACE)}`"
        if marketplace is None or load_json(marketplace, what=what).get("name") != NAME:
            raise InvalidInput(f"`{folder}` is not empty", "Name a new folder")


def _json(document: object) -> bytes:
    import json

    return (json.dumps(document, indent=2) + "\n").encode()
