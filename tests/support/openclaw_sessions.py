"""Sessions of OpenClaw as files and as a database, laid out for tests."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

PAYLOADS = Path(__file__).parents[1] / "payloads" / "openclaw"


MAIN, OTHER = "agent:main:main", "agent:main:incident-42"


def lay_out_files(folder: Path) -> dict[str, str]:
    """Put the recorded files where 2026.3.13 has them; return the sessions by their key."""
    recorded, sessions = PAYLOADS / "2026.3.13", folder / "sessions"
    sessions.mkdir(parents=True)
    shutil.copy(recorded / "sessions.json", sessions)
    index = json.loads((sessions / "sessions.json").read_text())
    ids = {key: entry["sessionId"] for key, entry in index.items()}
    shutil.copy(recorded / "transcript.jsonl", sessions / f"{ids[MAIN]}.jsonl")
    shutil.copy(recorded / "transcript.after_reset.jsonl", sessions / f"{ids[OTHER]}.jsonl")
    return ids


def lay_out_database(folder: Path) -> dict[str, str]:
    """Put the recorded database where 2026.9.6 has it; return the sessions by their key."""
    place = folder / "agent" / "openclaw-agent.sqlite"
    place.parent.mkdir(parents=True)
    shutil.copy(PAYLOADS / "2026.9.6" / place.name, place)
    found = change(folder, "SELECT session_key, current_session_id FROM session_nodes")
    return {str(key): str(session) for key, session in found}


def change(folder: Path, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements on the laid out database and return what the last one gives."""
    database = sqlite3.connect(folder / "agent" / "openclaw-agent.sqlite")
    for statement in statements:
        found = database.execute(statement).fetchall()
    database.commit()
    database.close()
    return found


LAY_OUT = {"2026.3.13": lay_out_files, "2026.9.6": lay_out_database}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "agents" / "main"
