"""Lines of a conversation, said and written."""

from __future__ import annotations

import json
from pathlib import Path


def lines(path: Path, *entries: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def said(number: int, text: str) -> dict[str, object]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": "S9",
        "timestamp": f"2026-01-31T09:3{number}:00Z",
        "message": {"role": "user", "content": text},
    }
