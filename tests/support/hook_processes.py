"""The installed hook command, run in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.conversation import PAYLOADS, Conversation
from tests.support.staged import staged_object

COMMAND = Path(sys.executable).with_name("gitguard")


tmp_path, talk = staged_object("talk", Conversation)


def run_hook(
    talk: Conversation, data: bytes, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(COMMAND), "hook", *(arguments or ("claude-code",))],
        cwd=talk.root,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(talk.root.parent / "home"),
            "GITGUARD_STATE_DIR": str(talk.root.parent / "state"),
            "CLAUDE_PROJECT_DIR": str(talk.root),
            **environment,
        },
        input=data,
        capture_output=True,
        check=False,
        timeout=30,
    )


def payload(talk: Conversation, name: str, **changes: object) -> bytes:
    document = json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))
    document |= {"cwd": str(talk.root), "transcript_path": str(talk.transcript), **changes}
    return json.dumps(document).encode()
