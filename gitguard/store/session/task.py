"""The durable task state: what an agent is doing, decided, tried and must not forget.

references/reference/task-state.md lists its fields; it is generated from here.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model import fields
from gitguard.model.events import PlanItem
from gitguard.model.fields import Kind
from gitguard.model.record import Record, read_field
from gitguard.model.thread import Exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

SCHEMA_VERSION = 1
START = "START"
DONE_ACTIONS = frozenset({"DONE", "COMPLETE", "FINISH"})
STATUSES = ("in_progress", "waiting_for_user", "blocked", "complete")
ARTIFACT_KINDS = ("file", "directory", "branch", "commit", "url", "other")
OUTCOMES = ("success", "partial")


class LastAction(Record):
    """The last action that succeeded."""

    summary: str = fields.text("What was done.")
    outcome: str = fields.text("How it ended.", choices=OUTCOMES)
    at: str = fields.time("When it ended.")
    mechanical: bool = fields.flag(
        "True when gitguard derived the entry and no agent wrote it.", default=False
    )


class Artifact(Record):
    """A file or other thing the task touches."""

    path: str = fields.text("Where it is; for files relative to the workspace.")
    kind: str = fields.text("What it is.", choices=ARTIFACT_KINDS, default="file")
    description: str = fields.text("What it is for.", default="")
    mechanical: bool = fields.flag(
        "True when gitguard derived the entry and no agent wrote it.", default=False
    )


class Decision(Record):
    """A choice that later work relies on."""

    id: str = fields.text("d1, d2, … in the order they were made.")
    what: str = fields.text("What was decided.")
    why: str = fields.text("The reason.")
    when: str = fields.time("When it was decided.")
    mechanical: bool = fields.flag(
        "True when gitguard derived the entry and no agent wrote it.", default=False
    )


class Failure(Record):
    """An attempt that failed, so that it is not tried again blindly."""

    what: str = fields.text("What was tried.")
    error: str = fields.text("How it failed.")
    when: str = fields.time("When it failed.")
    mechanical: bool = fields.flag(
        "True when gitguard derived the entry and no agent wrote it.", default=False
    )


class ToolOutput(Record):
    """What a tool said that later work needs."""

    tool: str = fields.text("The tool's name.")
    summary: str = fields.text("What it said.")
    when: str = fields.time("When it said so.")
    mechanical: bool = fields.flag(
        "True when gitguard derived the entry and no agent wrote it.", default=False
    )


class TaskState(Record):
    """The whole state of one task, as `state.json` holds it."""

    schema_version: int = fields.count("The version of this shape; read before anything else.")
    task_id: str = fields.text("Names the task; a new task in the same session gets a new one.")
    session_id: str = fields.text("The session's key as it was given.")
    goal: str = fields.text("What the task is to reach; START until somebody says it.")
    status: str = fields.text("Where the task stands.", choices=STATUSES)
    current_phase: str = fields.text("The part of the work that is going on.")
    next_action: str = fields.text("The next step; START, or DONE, COMPLETE, FINISH at the end.")
    completed_steps: tuple[str, ...] = fields.texts("What is done, oldest first.", appends=True)
    open_issues: tuple[str, ...] = fields.texts("What still has to be solved.")
    constraints: tuple[str, ...] = fields.texts("Limits the work has to keep to.")
    artifacts: tuple[Artifact, ...] = fields.records(
        "What the task touches; one entry a path.", of=Artifact, appends=True
    )
    state_confidence: float = fields.share("How sure the agent is of this state, 0 to 1.")
    updated_at: str = fields.time("When the state was last written.")
    last_action: LastAction | None = fields.record(
        "The last action that succeeded.", of=LastAction, default=None
    )
    decisions: tuple[Decision, ...] = fields.records(
        "Decisions with their reasons.", of=Decision, appends=True, default=()
    )
    failed_attempts: tuple[Failure, ...] = fields.records(
        "What was tried and failed.", of=Failure, appends=True, default=()
    )
    tool_outputs: tuple[ToolOutput, ...] = fields.records(
        "What tools said that later work needs.", of=ToolOutput, appends=True, default=()
    )
    blockers: tuple[str, ...] = fields.texts("What stops the work.", default=())
    invariants: tuple[str, ...] = fields.texts("What must stay true.", default=())
    learnings: tuple[str, ...] = fields.texts(
        "What was learned on the way.", appends=True, default=()
    )
    pending_assumptions: tuple[str, ...] = fields.texts(
        "What is taken for true and not checked yet.", default=()
    )
    mechanical: tuple[str, ...] = fields.texts(
        "Names of the fields that gitguard filled and no agent set.", default=()
    )
    files_read: tuple[str, ...] = fields.texts(
        "Files that tools read, the newest last.", default=()
    )
    tools_used: tuple[str, ...] = fields.texts(
        "Names of the tools that were called, each once.", default=()
    )
    plan: tuple[PlanItem, ...] = fields.records(
        "The host's plan or to-do list.", of=PlanItem, default=()
    )
    exchanges: tuple[Exchange, ...] = fields.records(
        "What of the conversation is kept.", of=Exchange, default=()
    )
    dropped: Mapping[str, int] = fields.counts(
        "Mechanical entries that had no room, by field.", default={}
    )

    @property
    def is_done(self) -> bool:
        """Whether the agent said that the task is complete; a user's prompt cannot."""
        said = self.next_action.strip().upper() in DONE_ACTIONS
        return said and "next_action" not in self.mechanical

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has put anything into the state since the task began."""
        anything = self.stated_goal or self.decisions or self.artifacts
        return self.next_action == START and not anything

    @property
    def stated_goal(self) -> str:
        """The goal, empty until somebody says what the task is to reach."""
        return "" if self.goal.strip() == START else self.goal


REQUIRED = tuple(name for name in TaskState.kinds if not hasattr(TaskState, name))
"""Fields without which a state is incomplete (references/design/contract.md, "Startup")."""

CAPTURED = ("files_read", "tools_used", "plan", "exchanges", "dropped")
"""What only the journal fills; a new task begins without it."""
_FIXED = ("schema_version", "task_id", "session_id", "updated_at", "mechanical", *CAPTURED)
BY_FIELD, APPEND, REPLACE = "by field", "append", "replace"
"""What a change does to a list."""
MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For every older schema version the step to the next one; version 1 is the first."""


def new_task(session_key: str, now: str, *, after: str = "") -> TaskState:
    """Return the state a task begins with: its next action is START.

    after is the id of the task before, which a new one of the same second must not share.
    """
    second = "task-" + now.replace("-", "").replace(":", "")
    task_id = f"{after}-2" if after.startswith(second) else second
    return TaskState(
        schema_version=SCHEMA_VERSION,
        task_id=task_id,
        session_id=session_key,
        goal=START,
        status="in_progress",
        current_phase="start",
        next_action=START,
        completed_steps=(),
        open_issues=(),
        constraints=(),
        artifacts=(),
        state_confidence=1.0,
        updated_at=now,
    )


def read_state(
    document: dict[str, Any],
    migrations: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MIGRATIONS,
) -> TaskState:
    """Read a state of any version up to ours, or raise `InvalidDocument` or `NewerFormat`."""
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise InvalidDocument(f"`schema_version` must be a whole number, not `{version!r:.80}`")
    if version > SCHEMA_VERSION:
        raise NewerFormat(
            f"the state has schema version {version}, this gitguard knows {SCHEMA_VERSION}",
            "upgrade gitguard",
        )
    while version < SCHEMA_VERSION:
        if version not in migrations:
            raise InvalidDocument(f"no gitguard ever wrote schema version {version}")
        document = migrations[version](document)
        version = document["schema_version"]
    try:
        return TaskState.from_document(document)
    except InvalidInput as error:
        raise InvalidDocument(f"the state is incomplete or wrong: {error.message}") from error


def update_state(
    state: TaskState, changes: dict[str, Any], now: str, *, lists: str = BY_FIELD
) -> tuple[TaskState, dict[str, str]]:
    """Apply a document of changes whole or raise; also say for each field what was done.

    lists says whether lists are appended to, replaced, or treated as each field's kind says.
    What is set here counts as the agent's own: it is no longer marked mechanical.
    """
    report: dict[str, str] = {}
    values: dict[str, Any] = {}
    for name, given in changes.items():
        kind = TaskState.kinds.get(name)
        if kind is None or name in _FIXED:
            raise InvalidInput(
                f"`{name[:80]}` is not a field that can be set",
                "Fields: " + ", ".join(n for n in TaskState.kinds if n not in _FIXED),
            )
        read = read_field(kind, _with_defaults(name, given, state, now), name)
        values[name], report[name] = _merged(
            kind,
            getattr(state, name),
            read,
            appends=lists == APPEND or (lists == BY_FIELD and kind.appends),
        )
    if not values.get("next_action", "-").strip():
        raise InvalidInput("`next_action` is empty", "Name the next step, or DONE at the end")
    if not values.get("goal", "-").strip():
        raise InvalidInput("`goal` is empty", "Say what the task is to reach")
    kept = tuple(name for name in state.mechanical if name not in values)
    status = _status_after(state, values)
    changed = state.replace(**{"status": status, **values, "mechanical": kept, "updated_at": now})
    return changed, report


def _status_after(state: TaskState, values: dict[str, Any]) -> str:
    done = state.replace(**values).is_done
    if done:
        if values.get("status", "complete") != "complete":
            raise InvalidInput(
                f"`status` is `{values['status']}`, and `next_action` says that the task is done",
                "Give one of them",
            )
        values["status"] = "complete"
    return "in_progress" if state.status == "complete" and not done else state.status


def _with_defaults(name: str, given: Any, state: TaskState, now: str) -> Any:
    """Fill what an agent need not write: the time of an entry and a decision's number."""
    if name == "last_action" and isinstance(given, dict):
        return {"outcome": "success", "at": now, **given}
    if not isinstance(given, list) or name not in ("decisions", "failed_attempts", "tool_outputs"):
        return given
    filled = [{"when": now, **item} if isinstance(item, dict) else item for item in given]
    if name == "decisions":
        number = next_decision(state)
        filled = [
            {"id": f"d{number + i}", "why": "", **item} if isinstance(item, dict) else item
            for i, item in enumerate(filled)
        ]
    return filled


def next_decision(state: TaskState) -> int:
    """Return the number of the next decision; those before may have been dropped."""
    numbers = (d.id[1:] for d in state.decisions if d.id[:1] == "d" and d.id[1:].isdecimal())
    return max((int(number) for number in numbers if len(number) < 10), default=0) + 1


def _merged(kind: Kind, old: Any, new: Any, *, appends: bool) -> tuple[Any, str]:
    if not kind.is_list:
        return new, "set"
    if not appends:
        return new, f"replaced {len(old)} by {len(new)}"
    if kind.record is Artifact:
        _refuse_contradiction(new)
        return merge_artifacts(old, new), f"appended {len(new)}, one entry a path"
    return old + new, f"appended {len(new)}"


def _refuse_contradiction(artifacts: tuple[Artifact, ...]) -> None:
    """Refuse two entries of one path that say different things: only one of them can be kept."""
    by_path: dict[str, Artifact] = {}
    for artifact in artifacts:
        if by_path.setdefault(artifact.path, artifact) != artifact:
            raise InvalidInput(
                f"`artifacts` holds `{artifact.path:.80}` twice, and not the same of it",
                "Give each path once",
            )


def merge_artifacts(old: tuple[Artifact, ...], new: tuple[Artifact, ...]) -> tuple[Artifact, ...]:
    """Add artifacts, newest last, one entry a path; a mechanical one never replaces a noted one.

    What an earlier entry describes stays where the newer one describes nothing.
    """
    merged = {artifact.path: artifact for artifact in old}
    for artifact in new:
        known = merged.get(artifact.path)
        if known is not None and artifact.mechanical and not known.mechanical:
            continue
        merged.pop(artifact.path, None)
        if known is not None and not artifact.description:
            artifact = artifact.replace(description=known.description)
        merged[artifact.path] = artifact
    return tuple(merged.values())


def fill_mechanically(state: TaskState, values: dict[str, str]) -> TaskState:
    """Set text fields from what a host said, where the agent has not set them; mark them."""
    unset = {
        name: value
        for name, value in values.items()
        if value and (name in state.mechanical or getattr(state, name) in ("", START))
    }
    marks = (*state.mechanical, *(name for name in unset if name not in state.mechanical))
    return state.replace(**unset, mechanical=marks)
