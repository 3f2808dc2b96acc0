"""The durable task state: what an agent is doing, decided, tried and must not forget.

references/reference/task-state.md lists its fields; it is generated from here.
"""

from __future__ import annotations

from gitguard.errors import InvalidDocument, InvalidInput, NewerFormat
from gitguard.model import fields
from gitguard.model.record import Record
from gitguard.model.transcript import AGENT, USER
from gitguard.state.items import (
    CONCLUSION,
    CONSTRAINT,
    HOOK,
    OUTCOMES,
    PERSON,
    SMALL_TALK,
    Artifact,
    Command,
    Conflict,
    Decision,
    EarlierNote,
    EarlierTask,
    Exchange,
    Failure,
    HostSummary,
    Item,
    Note,
    Origin,
    PlanStep,
    ToolOutput,
)
from gitguard.state.roles import (
    ASSUMPTION,
    DECISION,
    DONE_WORK,
    FAILURE,
    FILE,
    HEADLINE,
    LESSON,
    LIMIT,
    OBSTACLE,
    OPEN_WORK,
    OUTPUT,
    REMARK,
    NotedField,
    declared_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping
    from typing import Any

SCHEMA_VERSION = 1
START = "START"
DONE_ACTIONS = frozenset({"DONE", "COMPLETE", "FINISH"})
IN_PROGRESS, *_ = STATUSES = ("in_progress", "waiting_for_user", "blocked", "complete")
OPEN_STATUSES = STATUSES[:-1]
MOVED = "moved"
"""How a task ended that went along to another branch."""
MOST_EARLIER = 5
"""Tasks before this one that are remembered."""
_MOST_NOTING = 3
"""Earlier tasks whose notes are kept."""


class LastAction(Record):
    """The last action that succeeded."""

    summary: str = fields.text("What was done.")
    outcome: str = fields.text("How it ended.", choices=OUTCOMES)
    at: str = fields.time("When it ended.")
    by: str = fields.text(
        "agent or person: noted; hook: what a hook saw.",
        choices=(AGENT, HOOK, PERSON),
        default=AGENT,
    )


class TaskState(Record):
    """The whole state of one task, as `state.json` holds it."""

    schema_version: int = fields.count(
        "The version of this shape; read before anything else.", is_fixed=True
    )
    task_id: str = fields.text(
        "Names the task; a new task in the same session gets a new one.",
        is_fixed=True,
        describes="goal",
    )
    session_id: str = fields.text("The session's key as it was given.", is_fixed=True)
    goal: str = fields.text(
        "What the task is to reach; START until somebody says it.",
        noted=NotedField(HEADLINE, "What the task should achieve"),
    )
    status: str = fields.text("Where the task stands.", choices=STATUSES, describes="next_action")
    current_phase: str = fields.text(
        "Current phase.", noted=NotedField(HEADLINE, "The current phase", option="phase")
    )
    next_action: str = fields.text(
        "The next step; START, or DONE, COMPLETE, FINISH at the end.",
        noted=NotedField(HEADLINE, "The next action; DONE completes the task", option="next"),
    )
    completed_steps: tuple[Note, ...] = fields.records(
        "What is done, oldest first.",
        of=Note,
        appends=True,
        noted=NotedField(
            DONE_WORK,
            "A completed step, also the last successful action",
            "Completed",
            option="done",
        ),
    )
    open_issues: tuple[Note, ...] = fields.records(
        "What still has to be solved.",
        of=Note,
        noted=NotedField(
            OPEN_WORK,
            "An open issue",
            "Open issue",
            'Closed the open issue "{}"',
            option="issue",
            title="Open items",
        ),
    )
    constraints: tuple[Note, ...] = fields.records(
        "Limits the work has to keep to.", of=Note, noted=NotedField(LIMIT, "A limit on the work")
    )
    artifacts: tuple[Artifact, ...] = fields.records(
        "What the task touches; one entry per path.",
        of=Artifact,
        appends=True,
        key="path",
        noted=NotedField(FILE, "A file that the task concerns"),
    )
    state_confidence: float = fields.share("How sure the agent is of this state, 0 to 1.")
    updated_at: str = fields.time("When the state was last written.", is_fixed=True)
    goal_from: Origin | None = fields.record(
        "Who set the goal and when; null until somebody does.",
        of=Origin,
        default=None,
        is_fixed=True,
        describes="goal",
    )
    next_from: Origin | None = fields.record(
        "Who set the next action and when; null until somebody does.",
        of=Origin,
        default=None,
        is_fixed=True,
        describes="next_action",
    )
    last_action: LastAction | None = fields.record(
        "The last action that succeeded.", of=LastAction, default=None
    )
    decisions: tuple[Decision, ...] = fields.records(
        "Decisions with their reasons.",
        of=Decision,
        appends=True,
        default=(),
        noted=NotedField(DECISION, "A choice that later work relies on"),
    )
    failed_attempts: tuple[Failure, ...] = fields.records(
        "What was tried and failed.",
        of=Failure,
        appends=True,
        default=(),
        noted=NotedField(FAILURE, "An attempt that failed", noun="failure"),
    )
    tool_outputs: tuple[ToolOutput, ...] = fields.records(
        "What tools said that later work needs.",
        of=ToolOutput,
        appends=True,
        default=(),
        noted=NotedField(OUTPUT, "A tool's output worth keeping", option="output"),
    )
    blockers: tuple[Note, ...] = fields.records(
        "What stops the work.",
        of=Note,
        default=(),
        noted=NotedField(
            OBSTACLE, "An obstacle to the work", "Blocked by", 'No longer blocked by "{}"'
        ),
    )
    invariants: tuple[Note, ...] = fields.records(
        "What must stay true.",
        of=Note,
        default=(),
        noted=NotedField(LIMIT, "A condition that must stay true", "Must stay true"),
    )
    learnings: tuple[Note, ...] = fields.records(
        "What was learned on the way.",
        of=Note,
        appends=True,
        default=(),
        noted=NotedField(LESSON, "A fact you learned", "Learned"),
    )
    pending_assumptions: tuple[Note, ...] = fields.records(
        "What is taken for true and not checked yet.",
        of=Note,
        default=(),
        noted=NotedField(
            ASSUMPTION,
            "An assumption nobody has checked yet",
            "Assumed",
            'No longer assumes "{}"',
            noun="assumption",
            title="Assumptions to check",
        ),
    )
    commands: tuple[Command, ...] = fields.records(
        "What was run to build, test, check or start.",
        of=Command,
        default=(),
        is_fixed=True,
        key="command",
    )
    plan: tuple[PlanStep, ...] = fields.records(
        "The host's plan or to-do list.", of=PlanStep, default=(), is_fixed=True
    )
    exchanges: tuple[Exchange, ...] = fields.records(
        "What of the conversation is kept, oldest first.", of=Exchange, default=(), is_fixed=True
    )
    host_summary: HostSummary | None = fields.record(
        "The host's own summary of what it compacted last.",
        of=HostSummary,
        default=None,
        is_fixed=True,
    )
    earlier: tuple[EarlierTask, ...] = fields.records(
        "Tasks before this one, oldest first.", of=EarlierTask, default=(), is_fixed=True
    )
    earlier_notes: tuple[EarlierNote, ...] = fields.records(
        "What was noted and said for tasks that have ended, oldest first.",
        of=EarlierNote,
        default=(),
        is_fixed=True,
    )
    since_task: str = fields.text(
        "The task since which the lists are kept: it began with nothing of those before.",
        default="",
        is_fixed=True,
        sparse=True,
    )
    files_read: tuple[str, ...] = fields.texts(
        "Files that tools read, the newest last.", default=(), is_fixed=True
    )
    tools_used: tuple[str, ...] = fields.texts(
        "Names of the tools that were called, each once.", default=(), is_fixed=True
    )
    dropped: Mapping[str, int] = fields.counts(
        "Items from hooks that had no room, by field.", default={}, is_fixed=True
    )

    conflicts: tuple[Conflict, ...] = fields.records(
        "What several writers changed without knowing of each other, until somebody settles it.",
        of=Conflict,
        default=(),
        is_fixed=True,
        sparse=True,
    )

    @property
    def is_done(self) -> bool:
        """Whether the agent said that the task is complete; a user's prompt cannot."""
        says_done = self.next_action.strip().upper() in DONE_ACTIONS
        return says_done and self.is_noted("next_action")

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has put anything into the state since the task began."""
        anything = self.stated_goal or self.decisions or self.artifacts
        return self.next_action == START and not anything

    @property
    def stated_goal(self) -> str:
        """The goal, empty until somebody says what the task is to reach."""
        return "" if self.goal.strip() == START else self.goal

    @property
    def stated_next_action(self) -> str:
        """The next action, empty until somebody says what comes next, and once it is answered."""
        is_stated = self.next_action.strip() != START and not self.is_answered
        return self.next_action if is_stated else ""

    @property
    def headline(self) -> str:
        """What comes next, or how the last request was answered; empty where neither is known."""
        answers = self._answers()
        return f"answered: {answers[-1].text}" if answers else self.stated_next_action

    @property
    def is_answered(self) -> bool:
        """Whether the next action is a prompt, and an answer to it has ended the turn since."""
        return bool(self._answers())

    def _answers(self) -> list[Exchange]:
        """Return the answers of the conversation whose prompt is the next action, since then."""
        prompt = self.next_from
        if prompt is None or prompt.by != USER:
            return []
        return [
            exchange
            for exchange in self.exchanges
            if exchange.kind == CONCLUSION
            and exchange.origin.conversation == prompt.conversation
            and exchange.origin.turn >= prompt.turn
        ]

    @property
    def is_next_older(self) -> bool:
        """Whether the user asked for something after the next action was noted."""
        noted = self.next_from
        return noted is not None and any(
            exchange.origin.by == USER
            and not exchange.origin.is_read
            and exchange.when > noted.when
            and exchange.kind != SMALL_TALK
            and not (exchange.kind == CONSTRAINT and exchange.settles)  # a refusal of a call
            for exchange in self.exchanges
        )

    @property
    def open_items(self) -> tuple[Note | PlanStep, ...]:
        """Open issues, then what is not done of the host's plan."""
        return (*self.open_issues, *(step for step in self.plan if not step.is_done))

    @classmethod
    def noted(cls, *roles: str) -> tuple[NotedField, ...]:
        """Return the fields of these roles, in the order of the roles."""
        return tuple(field for role in roles for field in _NOTED if field.role == role)

    @staticmethod
    def every_noted() -> tuple[NotedField, ...]:
        """Return all fields that an agent notes."""
        return _NOTED

    def is_noted(self, name: str) -> bool:
        """Whether the goal or next action was noted; else a hook took it from a prompt."""
        origin = self.goal_from if name == "goal" else self.next_from
        return origin is None or origin.by in (AGENT, PERSON)


REQUIRED = tuple(name for name in TaskState.kinds if not hasattr(TaskState, name))
"""Fields without which a state is incomplete (references/design/contract.md, "Startup")."""
_NOTED = tuple(declared_in(TaskState.kinds))
_LASTING = TaskState.noted(LIMIT, DECISION)
"""What of a task holds beyond it, beside the user's lasting words."""


def new_task(session_key: str, now: str, *, before: TaskState | None = None) -> TaskState:
    """Return the state a task begins with: its next action is START.

    before is the state of the task before, which the new one remembers by its goal and outcome.
    """
    task_id = "task-" + now.replace("-", "").replace(":", "")
    earlier: tuple[EarlierTask, ...] = ()
    notes: tuple[EarlierNote, ...] = ()
    if before is not None:
        from gitguard.state.earlier import in_short, notes_of

        if before.task_id.startswith(task_id):
            task_id = f"{before.task_id}-2"  # begun in the same second
        earlier = (*before.earlier, *_remembered(before, now))[-MOST_EARLIER:]
        noting = {task.task_id for task in earlier[-_MOST_NOTING:]}
        lasting = ((f.noun, i) for f in _LASTING for i in f.items_in(before))
        ended = in_short(notes_of(before.task_id, lasting, before.exchanges))
        notes = (*before.earlier_notes, *ended)
        notes = tuple(note for note in notes if note.task_id in noting)
    return TaskState(
        schema_version=SCHEMA_VERSION,
        task_id=task_id,
        session_id=session_key,
        goal=START,
        status=IN_PROGRESS,
        current_phase="start",
        next_action=START,
        completed_steps=(),
        open_issues=(),
        constraints=(),
        artifacts=(),
        state_confidence=1.0,
        updated_at=now,
        earlier=earlier,
        earlier_notes=notes,
        since_task=task_id,
    )


def following(state: TaskState, now: str) -> TaskState:
    """Return a task that begins where a conversation begins, on the same line of work.

    What was noted, said and seen stays, each with its age, also what the agent noted as the next
    action. The goal, the host's plan and its summary were those of the task before, which is
    remembered.
    """
    begun = new_task(state.session_id, now, before=state)
    keeps_next = state.is_noted("next_action") and not state.is_done
    next_action = state if keeps_next else begun
    return state.replace(
        task_id=begun.task_id,
        earlier=begun.earlier,
        goal=begun.goal,
        goal_from=None,
        next_action=next_action.next_action,
        next_from=next_action.next_from,
        status=begun.status,
        current_phase=begun.current_phase,
        plan=(),
        last_action=None,
        host_summary=None,
        updated_at=now,
    )


def as_of(state: TaskState, conversation: str, now: str) -> TaskState:
    """Return the state with the task that a conversation works at, where it left one open.

    Another conversation, beside it or since, has put its own task in that one's place. A goal that
    was noted outside of any conversation holds for all of them.
    """
    task = _open_task_of(state, conversation)
    if task is None:
        return state
    others = tuple(item for item in state.earlier if item.task_id != task.task_id)
    own = following(state.replace(earlier=others), now).replace(
        task_id=task.task_id, goal=task.goal, goal_from=task.origin, status=task.status
    )
    if own.next_from is not None and own.next_from.conversation not in ("", conversation):
        own = own.replace(next_action=START, next_from=None)
    return own


def as_heard(state: TaskState, conversation: str) -> TaskState:
    """Return the state with the words of a conversation last, where it has a task of its own.

    Of what was said in those that left tasks of their own open, what may last beyond them stays,
    before its words: none of it is its last request or its last answer.
    """
    goal_from = state.goal_from
    if not conversation or goal_from is None or goal_from.conversation != conversation:
        return state
    open_tasks = (task for task in state.earlier if task.status in OPEN_STATUSES)
    apart = {task.origin.conversation for task in open_tasks} - {"", conversation}
    if not apart:
        return state
    from gitguard.state.thread import lasting_words

    theirs = tuple(e for e in state.exchanges if e.origin.conversation in apart)
    heard = (e for e in state.exchanges if e.origin.conversation not in apart)
    return state.replace(exchanges=(*lasting_words(theirs), *heard))


def _open_task_of(state: TaskState, conversation: str) -> EarlierTask | None:
    goal_from = state.goal_from
    is_its_own = goal_from is None or goal_from.conversation in ("", conversation)
    if state.stated_goal and is_its_own:
        return None
    for task in reversed(state.earlier):
        if task.origin.conversation == conversation and task.status in OPEN_STATUSES:
            return task
    return None


def goal_of(state: TaskState, conversation: str) -> str:
    """Return the goal of the task that a conversation works at, empty where it has none."""
    goal_from = state.goal_from
    if goal_from is not None and goal_from.conversation == conversation:
        return state.stated_goal
    task = _open_task_of(state, conversation)
    return task.goal if task is not None else ""


def without(state: TaskState, conversations: Collection[str]) -> TaskState:
    """Return the state without what was noted, said and seen in some conversations.

    What nobody knows the conversation of goes as well, where hooks saw it.
    """
    if not conversations:
        return state
    changes: dict[str, Any] = {"last_action": None, "files_read": (), "tools_used": ()}
    for name in TaskState.kinds:
        if items := _items_in(state, name):
            kept = (item for item in items if item.origin.conversation not in conversations)
            changes[name] = tuple(kept)
    for name, origin in (("goal", state.goal_from), ("next_action", state.next_from)):
        if origin is not None and origin.conversation in conversations:
            changes[name] = START
    summary = state.host_summary
    if summary is not None and summary.origin.conversation in conversations:
        changes["host_summary"] = None
    return state.replace(**changes)


def _items_in(state: TaskState, name: str) -> tuple[Item, ...]:
    items = getattr(state, name)
    is_of_items = type(items) is tuple and items and isinstance(items[0], Item)
    return items if is_of_items else ()


def writers_of(state: TaskState, paths: Container[str]) -> frozenset[str]:
    """Return the conversations that wrote files last, none where that of one is not known."""
    writers = {a.origin.conversation for a in state.artifacts if a.path in paths}
    return frozenset() if "" in writers else frozenset(writers)


def at_work_beside(state: TaskState, writers: Collection[str]) -> frozenset[str]:
    """Return the conversations that said or did something after the writers' last request.

    Those that had ended by then, as where work was planned in one before, are not among them.
    """
    asked = [
        exchange.when
        for exchange in state.exchanges
        if exchange.origin.by == USER and exchange.origin.conversation in writers
    ]
    if not asked:
        return frozenset()
    items = (item for name in TaskState.kinds for item in _items_in(state, name))
    since = {item.origin.conversation for item in items if item.when >= max(asked)}
    return frozenset(since - {"", *writers})


def begun_from(state: TaskState, now: str) -> TaskState:
    """Return a new task that knows what was learned, decided and forbidden in another one.

    What the other one was for, and what was done and said for it, stays there.
    """
    from gitguard.state.thread import lasting_words

    begun = new_task(state.session_id, now, before=state)
    lasting = TaskState.noted(DECISION, LIMIT, LESSON, ASSUMPTION, REMARK)
    lasting_values = {field.name: getattr(state, field.name) for field in lasting}
    return begun.replace(
        **lasting_values, earlier=(), earlier_notes=(), exchanges=lasting_words(state.exchanges)
    )


def moved_away(state: TaskState, branch: str, now: str) -> TaskState:
    """Return what a session knows when its task has moved along to a branch."""
    task = state.replace(status=MOVED)
    earlier = tuple(item.replace(moved_to=branch) for item in _remembered(task, now))
    return begun_from(state, now).replace(earlier=(*state.earlier, *earlier)[-MOST_EARLIER:])


def _remembered(task: TaskState, now: str) -> tuple[EarlierTask, ...]:
    """Return what is remembered of a task that another one follows; nothing without a goal."""
    from gitguard.state.earlier import earlier_task

    if not task.stated_goal:
        return ()
    origin = (task.goal_from or Origin()).replace(when=now)
    ended = earlier_task(
        task.session_id, task.task_id, task.stated_goal, status=task.status, origin=origin
    )
    return (ended.replace(answered=task.is_answered),)


def read_state(document: dict[str, Any]) -> TaskState:
    """Read a state, or raise `InvalidDocument`, or `NewerFormat` for a newer schema."""
    try:
        return TaskState.from_document(of_our_schema(document))
    except InvalidInput as error:
        raise InvalidDocument(f"the state is incomplete or wrong: {error.message}") from error


def of_our_schema(document: dict[str, Any]) -> dict[str, Any]:
    """Return a state's document as it is; raises as `read_state` does for its schema version."""
    version = document.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise InvalidDocument(f"`schema_version` must be a whole number, not `{version!r:.80}`")
    if version == SCHEMA_VERSION:
        return document
    problem = f"the state has schema version {version}, this gitguard knows {SCHEMA_VERSION}"
    if version > SCHEMA_VERSION:
        raise NewerFormat(problem, "upgrade gitguard")
    raise InvalidDocument(problem)
