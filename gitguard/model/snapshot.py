"""The snapshot: a checkpoint's YAML record in the schema `openclaw/checkpoint`, version 1.

Source: Context Manager v1, section 5.3. To it are added the `why` of a decision and, in `meta`, up
to where the journal is folded; the triggers are ours, and unknown ones are read all the same.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model.checkpoint import checkpoint_name
from gitguard.model.codec import dump_yaml, load_yaml
from gitguard.model.record import Kind, Record
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from gitguard.model.task import TaskState

SCHEMA = "openclaw/checkpoint"
VERSION = 1
IN_PROGRESS, IDLE, WAITING = STATUSES = ("in_progress", "idle", "waiting_for_user")
_FREE_TEXT = frozenset({"topic", "next_action", "what", "why", "summary", "gist"})


class Work(Value):
    """What the journal adds up to; parts that nothing fills are empty."""

    topic: str = ""
    """What the user asked last, in its first 100 characters."""
    status: str = IDLE
    interrupted: bool = False
    """Whether a tool call began and did not end, or a compaction splits a turn."""
    last_tool: str = ""
    last_tool_params: str = ""
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()
    """Open issues, then what is not done of the host's plan."""
    thread_summary: str = ""


class TokenUsage(Record):
    """How full the context was."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "input_tokens": Kind("count", "Tokens in the context.", always=True),
        "context_window": Kind("count", "The window, in tokens.", always=True),
        "utilization": Kind("share", "The pressure, 0 to 1.", always=True),
    }
    input_tokens: int | None = None
    context_window: int | None = None
    utilization: float | None = None
    extra: Mapping[str, Any] = {}


class SnapshotMeta(Record):
    """Where and when the snapshot was taken."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "checkpoint_id": Kind("text", "`cp_` and the sequence, at least three digits."),
        "session_key": Kind("text", "The session's key as it was given."),
        "session_file": Kind("text", "The transcript's file name."),
        "created_at": Kind("time", "When."),
        "trigger": Kind("text", "What the checkpoint was taken for."),
        "compaction_count": Kind("count", "Compactions of the conversation so far."),
        "token_usage": Kind("record", "How full the context was.", of=TokenUsage),
        "previous_checkpoint": Kind("text", "The checkpoint before.", always=True),
        "channel": Kind("text", "The host."),
        "agent_id": Kind("text", "The host's name for the agent."),
        "journal_id": Kind("text", "The journal that was folded."),
        "journal_offset": Kind("count", "Up to which byte it is folded."),
    }
    checkpoint_id: str
    session_key: str
    created_at: str
    trigger: str
    token_usage: TokenUsage = TokenUsage()
    session_file: str = ""
    compaction_count: int = 0
    previous_checkpoint: str | None = None
    channel: str = ""
    agent_id: str = ""
    journal_id: str = ""
    journal_offset: int = 0
    extra: Mapping[str, Any] = {}


class LastToolCall(Record):
    """The tool call that was interrupted."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "name": Kind("text", "The tool."),
        "params_summary": Kind("text", "Its parameters in one line."),
    }
    name: str
    params_summary: str = ""
    extra: Mapping[str, Any] = {}


class Working(Record):
    """What was going on."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "topic": Kind("text", "What the user asked last, or the goal."),
        "status": Kind("text", "What the agent was doing.", choices=STATUSES),
        "interrupted": Kind("flag", "A call without its end, or a split turn.", always=True),
        "last_tool_call": Kind(
            "record", "The call that was interrupted.", of=LastToolCall, always=True
        ),
        "next_action": Kind("text", "The next step."),
    }
    topic: str
    status: str
    next_action: str
    interrupted: bool = False
    last_tool_call: LastToolCall | None = None
    extra: Mapping[str, Any] = {}


class SnapshotDecision(Record):
    """A choice that later work relies on."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "id": Kind("text", "d1, d2, …"),
        "what": Kind("text", "What was decided."),
        "why": Kind("text", "The reason."),
        "when": Kind("time", "When."),
    }
    id: str
    what: str
    when: str
    why: str = ""
    extra: Mapping[str, Any] = {}


class Resources(Record):
    """What the session has used."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "files_read": Kind("texts", "Files that were read."),
        "files_modified": Kind("texts", "Files that were changed."),
        "tools_used": Kind("texts", "Names of the tools, each once."),
    }
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    tools_used: tuple[str, ...] = ()
    extra: Mapping[str, Any] = {}


class KeyExchange(Record):
    """One message of the thread."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "role": Kind("text", "Who spoke.", choices=("user", "agent")),
        "gist": Kind("text", "The first 120 characters."),
    }
    role: str
    gist: str
    extra: Mapping[str, Any] = {}


class ThreadSection(Record):
    """The conversation, mechanically (section 11.2)."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "summary": Kind("text", "The first and the last thing the user said."),
        "key_exchanges": Kind("records", "At most 8 messages.", of=KeyExchange),
    }
    summary: str = ""
    key_exchanges: tuple[KeyExchange, ...] = ()
    extra: Mapping[str, Any] = {}


class Snapshot(Record):
    """The whole snapshot, as `snapshot.yaml` holds it."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "schema": Kind("text", "The schema's name.", choices=(SCHEMA,)),
        "schema_version": Kind("count", "The schema's version."),
        "meta": Kind("record", "Where and when.", of=SnapshotMeta),
        "working": Kind("record", "What was going on.", of=Working),
        "decisions": Kind("records", "Decisions with their reasons.", of=SnapshotDecision),
        "resources": Kind("record", "What was used.", of=Resources),
        "thread": Kind("record", "The conversation.", of=ThreadSection),
        "open_items": Kind("texts", "Open issues and what is left of the host's plan."),
        "learnings": Kind("texts", "What was learned."),
    }
    schema: str
    schema_version: int
    meta: SnapshotMeta
    working: Working
    decisions: tuple[SnapshotDecision, ...] = ()
    resources: Resources = Resources()
    thread: ThreadSection = ThreadSection()
    open_items: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = {}


def snapshot_of(state: TaskState, work: Work, meta: SnapshotMeta) -> Snapshot:
    """Return the snapshot of a state and the work around it."""
    last = LastToolCall(work.last_tool, work.last_tool_params) if work.last_tool else None
    return Snapshot(
        schema=SCHEMA,
        schema_version=VERSION,
        meta=meta,
        working=Working(
            topic=work.topic or state.stated_goal,
            status=work.status,
            interrupted=work.interrupted,
            last_tool_call=last if work.interrupted else None,
            next_action=state.next_action,
        ),
        decisions=tuple(SnapshotDecision(d.id, d.what, d.when, d.why) for d in state.decisions),
        resources=Resources(work.files_read, work.files_modified, work.tools_used),
        thread=ThreadSection(
            work.thread_summary, tuple(KeyExchange(e.role, e.gist) for e in state.exchanges)
        ),
        open_items=work.open_items,
        learnings=state.learnings,
    )


def render_snapshot(snapshot: Snapshot) -> bytes:
    """Write a snapshot as YAML: free text in block scalars, all other text in quotes."""
    return dump_yaml(snapshot.to_document(), block=_FREE_TEXT)


def read_snapshot(data: bytes) -> Snapshot:
    """Read and validate a snapshot, or raise `InvalidDocument` or `NewerFormat`."""
    document = load_yaml(data, what="the snapshot")
    version = document.get("schema_version")
    if isinstance(version, int) and version > VERSION:
        raise NewerFormat(f"the snapshot has schema version {version}", "upgrade gitguard")
    try:
        return Snapshot.from_document(document)
    except InvalidInput as error:
        raise InvalidDocument(f"the snapshot is incomplete or wrong: {error.message}") from error


def folded_upto(data: bytes) -> tuple[str, int]:
    """Return the journal and the offset in it that a checkpoint's state holds already."""
    try:
        meta = read_snapshot(data).meta
    except InvalidDocument:
        return "", 0  # then the journal is folded from its beginning
    return meta.journal_id, meta.journal_offset


def previous_of(sequence: int) -> str | None:
    """Return the name of the checkpoint before, None for the first."""
    return checkpoint_name(sequence - 1) if sequence > 1 else None
