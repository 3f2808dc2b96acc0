"""A plugin that records what OpenClaw gives it and answers as the test says (openclaw_probe/)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .openclaw_install import LEGACY

_PLUGIN = Path(__file__).with_name("openclaw_probe")


@dataclass(frozen=True)
class Call:
    """One recorded hook call; internal hooks are named `type:action` and have no ctx."""

    hook: str
    time: float
    pid: int
    event: Mapping[str, Any]
    ctx: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Probe:
    """The test's side of it. `folder` is its plugin folder and where it records."""

    folder: Path

    def install(self) -> Path:
        """Copy the plugin to where a test can load it from; return that folder."""
        shutil.copytree(_PLUGIN, self.folder, dirs_exist_ok=True)
        return self.folder

    @property
    def env(self) -> dict[str, str]:
        return {"PROBE_FOLDER": str(self.folder)}

    def config(self, version: str) -> dict[str, Any]:
        """The part of OpenClaw's configuration that lets the plugin see everything."""
        entry: dict[str, Any] = {"enabled": True}
        if version != LEGACY:
            # The legacy version refuses a configuration with this key.
            entry["hooks"] = {"allowConversationAccess": True}
        return {
            "plugins": {"entries": {"probe": entry}},
            # The legacy version calls no internal hook without it.
            "hooks": {"internal": {"enabled": True}},
        }

    def answer(self, hook: str, **answer: object) -> None:
        """From now on, answer that hook so (keys: `answer` in index.js); no keys end that."""
        path = self.folder / "answers.json"
        answers = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**answers, hook: answer or None}), encoding="utf-8")

    def answer_nothing(self) -> None:
        (self.folder / "answers.json").unlink(missing_ok=True)

    def calls(self, hook: str = "") -> list[Call]:
        path = self.folder / "calls.jsonl"
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").splitlines()
        calls = [Call(**json.loads(line)) for line in lines]
        return [call for call in calls if hook in ("", call.hook)]

    def names(self) -> list[str]:
        return [call.hook for call in self.calls()]

    def forget(self) -> None:
        (self.folder / "calls.jsonl").unlink(missing_ok=True)
