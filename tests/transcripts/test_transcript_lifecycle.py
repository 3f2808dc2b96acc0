"""The whole life of a conversation of 200 turns, as its host and its user see it.

Created, run, damaged, repaired, bounded, over its budget, compacted, resumed, compacted again,
closed and put away: at each step the file holds what the model is to see, and each call its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitguard.model.conversation import BROKEN, CALL, RESULT
from gitguard.model.events import Transcript
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import VisibleContext, context_of
from tests.support.compacting_user import User
from tests.support.spoken import DIALECTS, Said, turns

TURNS, SIZE = 200, 2_800
KEY = "agent:main:telegram:dm:123"


@pytest.fixture(params=DIALECTS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Transcript:
    """What the host wrote of 200 turns, about 150,000 tokens."""
    write: Callable[[Path, list[Said]], Transcript] = DIALECTS[request.param]
    return write(tmp_path / "talk.jsonl", turns(TURNS, size=SIZE))


@pytest.fixture
def user(tmp_path: Path, repo: Path) -> User:
    found = User(tmp_path / "person", repo)
    found.config.write_text("budget: {history_limits: {telegram.dms.123: 20}}\n")
    (repo / "AGENTS.md").write_text("## Red Lines\nNever push.\n" + "More words.\n" * 3_000)
    return found


def stands(transcript: Transcript) -> VisibleContext:
    found = list(find_format(transcript.format).entries(transcript))
    assert not [entry for entry in found if entry.kind == BROKEN]
    return context_of(found)


def assert_in_pairs(found: VisibleContext) -> None:
    blocks = [block for entry in found.entries for block in entry.blocks]
    calls = [block.id for block in blocks if block.kind == CALL]
    assert calls == [block.id for block in blocks if block.kind == RESULT]


def requests_in(found: VisibleContext) -> list[str]:
    texts = [block.text for entry in found.entries for block in entry.blocks]
    return [text for text in texts if text.startswith("request")]


def damage(path: Path) -> None:
    """Lose one result, tear the last line, and write nonsense in between."""
    lines = path.read_bytes().splitlines(keepends=True)
    [lost] = [i for i, line in enumerate(lines) if b"outcome 150" in line]
    lines[lost] = b"\x00\x00 nonsense {\n"
    path.write_bytes(b"".join(lines) + b'{"type": "torn')


def go_on(path: Path, text: str) -> None:
    """Let the host add a request behind what is the newest, as it does when it is resumed."""
    known = [json.loads(line) for line in path.read_text().splitlines()]
    last = known[-1]
    if "uuid" in last:
        kept = last["uuid"]
        if last.get("isCompactSummary"):
            kept = known[-2]["compactMetadata"]["preservedSegment"]["tailUuid"]
        added: dict[str, Any] = {"type": "user", "uuid": f"u-{len(known)}", "parentUuid": kept}
        added["message"] = {"role": "user", "content": text}
    else:
        added = {"type": "message", "id": f"{len(known):08x}", "parentId": last["id"]}
        added["message"] = {"role": "user", "content": [{"type": "text", "text": text}]}
    with path.open("a") as file:
        file.write(json.dumps({**added, "timestamp": "2026-11-22T10:00:00.000Z"}) + "\n")


def test_a_conversation_lives_from_its_creation_to_its_archive(
    user: User, written: Transcript
) -> None:
    path = Path(written.path)
    # The session is created, and the conversation is one of it.
    user.run("ensure")
    user.run("note", "--goal", "Ship it", "--decision", "Use git", "--why", "small")
    imported = user.json("transcript", "import", str(path))
    assert imported["turns"] == TURNS

    # The file is damaged, and repaired before it is used.
    damage(path)
    repaired = user.json("transcript", "repair")
    assert repaired["counts"]["broken"] == 2
    assert repaired["counts"]["answered"] == 1
    assert user.json("transcript", "repair")["needs_nothing"]
    assert_in_pairs(stands(written))

    # The prompt is put together: bounded history, capped context files.
    limited = user.json("transcript", "budget", "--session-key", KEY)
    assert (limited["turns"], limited["limited_turns"]) == (TURNS, 20)
    assert limited["limited_history"] < limited["budget"]["history"]
    bundle = user.run("bundle", "--bootstrap").stdout
    assert "Never push." in bundle
    assert len(bundle) < 20_000

    # The context overflows.
    assert limited["budget"]["safeguard"] == 120_000
    assert limited["over_safeguard"] > 0

    # It is compacted, with the session's state in the summary and checkpoints around it.
    done = user.json("transcript", "compact")
    assert (done["repaired"], done["notes"], done["splits_turn"]) == ({}, [], False)
    assert [saved["trigger"] for saved in done["checkpoints"]] == ["compaction"] * 2
    after = stands(written)
    assert_in_pairs(after)
    assert requests_in(after) == ["request 197", "request 198", "request 199"]
    for text in ("Ship it", "Use git — because small", "Never push.", "request 0", "edit_3.py"):
        assert text in after.summary
    assert user.json("transcript", "budget")["over_history"] == 0

    # It is resumed: what comes next follows what was kept.
    go_on(path, "request 200")
    go_on(path, "request 201")
    resumed = stands(written)
    assert requests_in(resumed)[-3:] == ["request 199", "request 200", "request 201"]
    assert resumed.summary == after.summary
    usage = user.json("transcript", "usage")
    assert usage["compactions"] == 1

    # Later it is compacted again; nothing that was decided is lost.
    user.run("transcript", "compact")
    again = stands(written)
    assert requests_in(again) == ["request 199", "request 200", "request 201"]
    assert "Use git — because small" in again.summary
    assert "request 0" in again.summary
    assert_in_pairs(again)

    # The session is closed, and its file stays for whoever needs it.
    closed = user.json("session", "close", "main")
    assert closed["archived"]["ref"].startswith("refs/gitguard/archive/")
    assert path.exists()
    assert not list(path.parent.glob("*lock*"))
    user.run("session", "reopen", closed["session"])
    assert user.json("transcript", "usage")["compactions"] == 2
    assert user.run("verify").returncode == 0
    kept = user.json("session", "maintain")
    assert (kept["sessions"], kept["found"]) == (1, [])
