"""The snapshot: a checkpoint's YAML record in the schema `openclaw/checkpoint`, version 1.

references/reference/snapshot.schema.json describes it. Ours beside that schema are the `why` of a
decision, up to where the journal is folded (`meta`), and the triggers; unknown ones are read too.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model import fields
from gitguard.model.codec import dump_yaml, load_yaml
from gitguard.model.record import Record
from gitguard.model.transcript import AGENT, USER
from gitguard.model.value import Value
from gitguard.state.checkpoint import checkpoint_name
from gitguard.state.items import labelled_text
from gitguard.state.thread import KEY_GIST, key_exchanges, labelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.state.task import TaskState

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

    input_tokens: int | None = fields.count("Tokens in the context.", always=True, default=None)
    context_window: int | None = fields.count("The window, in tokens.", always=True, default=None)
    utilization: float | None = fields.share("The pressure, 0 to 1.", always=True, default=None)


class SnapshotMeta(Record):
    """Where and when the snapshot was taken."""

    checkpoint_id: str = fields.text("`cp_` and the sequence, at least three digits.")
    session_key: str = fields.text("The session's key as it was given.")
    session_file: str = fields.text("The transcript's file name.", default="")
    created_at: str = fields.time("When.", kw_only=True)
    trigger: str = fields.text("What the checkpoint was taken for.", kw_only=True)
    compaction_count: int = fields.count("Compactions of the conversation so far.", default=0)
    token_usage: TokenUsage = fields.record(
        "How full the context was.", of=TokenUsage, default=TokenUsage()
    )
    previous_checkpoint: str | None = fields.text(
        "The checkpoint before.", always=True, default=None
    )
    channel: str = fields.text("The host.", default="")
    agent_id: str = fields.text("The host's name for the agent.", default="")
    journal_id: str = fields.text("The journal that was folded.", default="")
    journal_offset: int = fields.count("Up to which byte it is folded.", default=0)


class LastToolCall(Record):
    """The tool call that was interrupted."""

    name: str = fields.text("The tool.")
    params_summary: str = fields.text("Its parameters in one line.", default="")


class Working(Record):
    """What was going on."""

    topic: str = fields.text("What the user asked last, or the goal.")
    status: str = fields.text("What the agent was doing.", choices=STATUSES)
    interrupted: bool = fields.flag(
        "A call without its end, or a split turn.", always=True, default=False
    )
    last_tool_call: LastToolCall | None = fields.record(
        "The call that was interrupted.", of=LastToolCall, always=True, default=None
    )
    next_action: str = fields.text("The next step.", kw_only=True)


class SnapshotDecision(Record):
    """A choice that later work relies on."""

    id: str = fields.text("d1, d2, …")
    what: str = fields.text("What was decided.")
    why: str = fields.text("The reason.", default="")
    when: str = fields.time("When.", kw_only=True)


class Resources(Record):
    """What the session has used."""

    files_read: tuple[str, ...] = fields.texts("Files that were read.", default=())
    files_modified: tuple[str, ...] = fields.texts("Files that were changed.", default=())
    tools_used: tuple[str, ...] = fields.texts("Names of the tools, each once.", default=())


class KeyExchange(Record):
    """One message of the thread."""

    role: str = fields.text("Who spoke.", choices=("user", "agent"))
    gist: str = fields.text("The first 120 characters.")


class ThreadSection(Record):
    """The conversation, without a model (references/design/capture.md, "The thread")."""

    summary: str = fields.text("The first and the last thing the user said.", default="")
    key_exchanges: tuple[KeyExchange, ...] = fields.records(
        "At most 8 messages.", of=KeyExchange, default=()
    )


class Snapshot(Record):
    """The whole snapshot, as `snapshot.yaml` holds it."""

    schema: str = fields.text("The schema's name.", choices=(SCHEMA,))
    schema_version: int = fields.count("The schema's version.")
    meta: SnapshotMeta = fields.record("Where and when.", of=SnapshotMeta)
    working: Working = fields.record("What was going on.", of=Working)
    decisions: tuple[SnapshotDecision, ...] = fields.records(
        "Decisions with their reasons.", of=SnapshotDecision, default=()
    )
    resources: Resources = fields.record("What was used.", of=Resources, default=Resources())
    thread: ThreadSection = fields.record(
        "The conversation.", of=ThreadSection, default=ThreadSection()
    )
    open_items: tuple[str, ...] = fields.texts(
        "Open issues and what is left of the host's plan.", default=()
    )
    learnings: tuple[str, ...] = fields.texts("What was learned.", default=())


def snapshot_of(state: TaskState, work: Work, meta: SnapshotMeta) -> Snapshot:
    """Return the snapshot of a state and the work around it."""
    last = LastToolCall(work.last_tool, work.last_tool_params) if work.last_tool else None
    return Snapshot(
        schema=SCHEMA,
        schema_version=VERSION,
        meta=meta,
        working=Working(
            topic=work.topic or labelled_text(state.stated_goal, state.goal_from),
            status=work.status,
            interrupted=work.interrupted,
            last_tool_call=last if work.interrupted else None,
            next_action=labelled_text(state.next_action, state.next_from),
        ),
        decisions=tuple(
            SnapshotDecision(
                d.label, labelled_text(d.what, d.origin), d.why, when=d.when or state.updated_at
            )
            for d in state.decisions
        ),
        resources=Resources(work.files_read, work.files_modified, work.tools_used),
        thread=ThreadSection(
            work.thread_summary,
            tuple(
                KeyExchange(USER if e.origin.by == USER else AGENT, labelled(e)[:KEY_GIST])
                for e in key_exchanges(state.exchanges)
            ),
        ),
        open_items=tuple(labelled_text(item.text, item.origin) for item in state.open_items),
        learnings=tuple(labelled_text(note.text, note.origin) for note in state.learnings),
    )


def render_snapshot(snapshot: Snapshot) -> bytes:
    """Write a snapshot as YAML: free text in block scalars, all other text in quotes."""
    return dump_yaml(snapshot.to_document(), block=_FREE_TEXT)


class Beginning(Value):
    """The parts of a snapshot that a resume block needs; the state itself holds the others."""

    meta: SnapshotMeta
    working: Working


def read_beginning(data: bytes) -> Beginning:
    """Read a snapshot up to its decisions; raises what `read_snapshot` raises.

    A snapshot may hold hundreds of decisions, and reading YAML takes long.
    """
    snapshot = _snapshot_from(load_yaml(data, what="the snapshot", before="decisions"))
    return Beginning(snapshot.meta, snapshot.working)


def read_snapshot(data: bytes) -> Snapshot:
    """Read and validate a snapshot, or raise `InvalidDocument` or `NewerFormat`."""
    return _snapshot_from(load_yaml(data, what="the snapshot"))


def _snapshot_from(document: dict[str, Any]) -> Snapshot:
    version = document.get("schema_version")
    if isinstance(version, int) and version > VERSION:
        raise NewerFormat(f"the snapshot has schema version {version}", "upgrade gitguard")
    if version != VERSION:
        raise InvalidDocument(f"the snapshot has the schema version `{version!r:.40}`")
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
