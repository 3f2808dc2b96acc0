"""The snapshot: a checkpoint's YAML record in the schema `openclaw/checkpoint`, version 1."""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.model.checkpoint import checkpoint_name
from gitguard.model.codec import dump_yaml, load_yaml
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.task import TaskState

_FREE_TEXT = frozenset({"topic", "next_action", "what", "why", "summary", "gist"})
_QUOTED = frozenset(
    {"schema", "checkpoint_id", "session_key", "session_file", "created_at", "trigger"}
    | {"previous_checkpoint", "channel", "agent_id", "status", "id", "when", "role"}
    | {"files_read", "files_modified", "tools_used", "open_items", "learnings", "journal_id"}
)


class Work(Value):
    """What the journal adds up to; sections that nothing fills are empty."""

    topic: str = ""
    interrupted: bool = False
    last_tool: str = ""
    last_tool_params: str = ""
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()


class SnapshotMeta(Value):
    """Where and when a snapshot was taken, and how full the context was."""

    sequence: int
    created_at: str
    trigger: str
    session_file: str
    tokens: int | None
    window: int | None
    pressure: float | None
    journal_id: str
    journal_offset: int
    compaction_count: int = 0
    channel: str = ""
    agent_id: str = ""


def render_snapshot(state: TaskState, work: Work, meta: SnapshotMeta) -> bytes:
    """Write the snapshot of a state (seed: Context Manager v1, section 5.3)."""
    document = {
        "schema": "openclaw/checkpoint",
        "schema_version": 1,
        "meta": _meta(state, meta),
        "working": _working(state, work),
        "decisions": [
            {"id": d.id, "what": d.what, "why": d.why, "when": d.when} for d in state.decisions
        ],
        "resources": {
            "files_read": list(work.files_read),
            "files_modified": list(work.files_modified),
            "tools_used": list(work.tools_used),
        },
        "thread": {"summary": "", "key_exchanges": []},
        "open_items": list(state.open_issues),
        "learnings": list(state.learnings),
    }
    return dump_yaml(document, block=_FREE_TEXT, quoted=_QUOTED)


def folded_upto(snapshot: bytes) -> tuple[str, int]:
    """Return the journal and the offset in it that a checkpoint's state holds already."""
    try:
        meta = load_yaml(snapshot, what="the snapshot").get("meta")
    except InvalidDocument:
        return "", 0  # then the journal is folded from its beginning
    found = meta if isinstance(meta, dict) else {}
    name, offset = found.get("journal_id"), found.get("journal_offset")
    if not isinstance(name, str) or not isinstance(offset, int) or offset < 0:
        return "", 0
    return name, offset


def _meta(state: TaskState, meta: SnapshotMeta) -> dict[str, Any]:
    previous = checkpoint_name(meta.sequence - 1) if meta.sequence > 1 else None
    return {
        "checkpoint_id": checkpoint_name(meta.sequence),
        "session_key": state.session_id,
        "session_file": meta.session_file,
        "created_at": meta.created_at,
        "trigger": meta.trigger,
        "compaction_count": meta.compaction_count,
        "token_usage": {
            "input_tokens": meta.tokens,
            "context_window": meta.window,
            "utilization": None if meta.pressure is None else round(meta.pressure, 3),
        },
        "previous_checkpoint": previous,
        "channel": meta.channel,
        "agent_id": meta.agent_id,
        "journal_id": meta.journal_id,
        "journal_offset": meta.journal_offset,
    }


def _working(state: TaskState, work: Work) -> dict[str, Any]:
    status = {"waiting_for_user": "waiting_for_user", "in_progress": "in_progress"}
    last = {"name": work.last_tool, "params_summary": work.last_tool_params}
    return {
        "topic": work.topic or state.goal,
        "status": status.get(state.status, "idle"),
        "interrupted": work.interrupted,
        "last_tool_call": last if work.interrupted else None,
        "next_action": state.next_action,
    }
