"""Whether a host runs our plugin, by the host's own record of what is installed."""

from __future__ import annotations

import os

from gitguard.hosts import HOSTS, PLUGIN, find_plugin
from gitguard.hosts.plugin import switched_on
from gitguard.model.document_edits import JSON
from gitguard.store.disk import settings_text
from gitguard.store.disk.changes import content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def installed_plugin(host: str, root: str, environment: Mapping[str, str]) -> str:
    """Return what a host calls our plugin, empty where it is not installed or switched off.

    root is the project's folder, and environment has HOME. Raises `InvalidDocument` where the
    host's record cannot be read, so that nothing is known.
    """
    if host not in HOSTS or PLUGIN not in HOSTS[host].capabilities:
        return ""
    plugin = find_plugin(host)
    folder = HOSTS[host].marks.user_folder(environment)
    record = _read(os.path.join(folder, plugin.record), plugin.format)
    in_project = (_read(os.path.join(root, name), JSON) for name in plugin.in_project)
    return switched_on(plugin, (record, *in_project))


def _read(path: str, format: str) -> dict[str, Any]:
    # A link here is the user's own affair: nothing is written through it.
    path = os.path.realpath(path)
    data = content(os.path.dirname(path), os.path.basename(path))
    return settings_text.load(format, data, what=f"`{path}`")
