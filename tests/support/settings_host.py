"""A stand-in for a host's own settings command, which takes, refuses and fails as it is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PROGRAM = """#!{python} -IS
import json, os, sys
def copy(source, target):
    with open(source) as file, open(target, "w") as new:
        new.write(file.read())
HERE = {here!r}
CONFIG = {config!r}
told = json.load(open(os.path.join(HERE, "told.json")))
words = sys.argv[1:]
with open(os.path.join(HERE, "runs"), "a") as runs:
    runs.write(" ".join(words) + "\\n")
def load():
    return json.load(open(CONFIG)) if os.path.exists(CONFIG) else {{}}
def find(names):
    value = load()
    for name in names:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value
def say(document, code=0):
    print(json.dumps(document))
    sys.exit(code)
if words == ["--version"]:
    print("OpenClaw " + told["version"] + " (abc123)")
elif words[:2] == ["models", "list"]:
    if told["recovers"] and "meta" not in load() and os.path.exists(CONFIG + ".bak"):
        copy(CONFIG + ".bak", CONFIG)
    if told["writes_while_listing"]:
        json.dump({{**load(), "theirs": True}}, open(CONFIG + ".new", "w"))
        os.replace(CONFIG + ".new", CONFIG)
    say({{"models": [{{"key": "a/b", "contextWindow": told["window"], "tags": ["default"]}}]}})
elif words[:2] == ["config", "validate"]:
    try:
        load()
    except ValueError as error:
        issue = {{"path": "<root>", "message": "JSON5 parse failed: " + str(error)}}
        say({{"valid": False, "path": CONFIG, "issues": [issue]}}, 1)
    if told["invalid_after"] and os.path.exists(os.path.join(HERE, "was-set")):
        issue = {{"path": "agents", "message": "out of range"}}
        say({{"valid": False, "path": CONFIG, "issues": [issue]}}, 1)
    if not os.path.exists(CONFIG):
        say({{"valid": False, "path": CONFIG, "error": "file not found"}}, 1)
    say({{"valid": True, "path": CONFIG}})
elif words[:2] == ["config", "get"]:
    if told["get_fails"]:
        print("Error: " + told["get_fails"], file=sys.stderr)
        sys.exit(1)
    value = find(words[2].split("."))
    if value is None:
        print("Config path not found: " + words[2], file=sys.stderr)
        sys.exit(1)
    say(value)
elif words[:2] == ["config", "set"]:
    key = words[2]
    if key in told["unknown"]:
        print('Config validation failed: x: Unrecognized key: "y"', file=sys.stderr)
        sys.exit(1)
    if key in told["hanging"]:
        os.execlp("sleep", "sleep", "600")
    if key in told["failing"]:
        print("disk full", file=sys.stderr)
        sys.exit(1)
    open(os.path.join(HERE, "was-set"), "w").close()
    if key in told["elsewhere"]:
        sys.exit(0)
    document = load()
    place = document
    for name in key.split(".")[:-1]:
        place = place.setdefault(name, {{}})
    if key not in told["ignored"]:
        place[key.split(".")[-1]] = json.loads(words[3])
    document["meta"] = {{"touched": document.get("meta", {{}}).get("touched", 0) + 1}}
    if "meta" in load() and told["recovers"]:
        copy(CONFIG, CONFIG + ".bak")
    with open(CONFIG + ".new", "w") as new:
        json.dump(document, new)
    os.replace(CONFIG + ".new", CONFIG)
else:
    sys.exit(2)
"""
OLDER, NEWER = "2026.3.13", "2026.9.6"


class SettingsHost:
    """The command on a PATH of its own, and the file that it keeps."""

    def __init__(self, folder: Path) -> None:
        """Install the older version with a window of 200,000 and a file with a secret in it."""
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        self.config = folder / "openclaw.json"
        self.write({"models": {"apiKey": SECRET}, "agents": {"defaults": {}}})
        self._told: dict[str, Any] = {}
        self.tell(version=OLDER, window=200_000)
        program = self.bin / "openclaw"
        text = PROGRAM.format(python=sys.executable, here=str(folder), config=str(self.config))
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def tell(self, **told: object) -> None:
        """Say how it is to behave from now on; all else stays."""
        usual = {
            "unknown": [],
            "failing": [],
            "hanging": [],
            "ignored": [],
            "elsewhere": [],
            "invalid_after": False,
            "get_fails": "",
            "recovers": False,
            "writes_while_listing": False,
        }
        self._told = {**usual, **self._told, **told}
        (self.folder / "told.json").write_text(json.dumps(self._told), encoding="utf-8")

    def write(self, document: object) -> None:
        """Write the file as a person did, with indents."""
        self.config.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

    def document(self) -> dict[str, Any]:
        """Return what stands in the file."""
        found = json.loads(self.config.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found

    def defaults(self) -> dict[str, Any]:
        """Return what stands in the part that advice is about."""
        found = self.document()["agents"]["defaults"]
        assert isinstance(found, dict)
        return found

    def writes(self) -> list[str]:
        """Return the keys that it was asked to set, in that order."""
        runs = (self.folder / "runs").read_text(encoding="utf-8").splitlines()
        return [run.split()[2] for run in runs if run.startswith("config set")]


SECRET = "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6"
