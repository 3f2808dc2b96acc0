"""Which conversations work in a repository, where each of them does, and which of them live.

Each conversation has one small file in the state directory, which all worktrees of the repository
share. A hook writes it as a turn begins, and only when it says something new; the end of the
conversation removes it. What a conversation did stands in its session's journal and state alone.
What it means to do is announced as well, because a state holds that of one conversation alone.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, NotWritable
from gitguard.model import fields
from gitguard.model.codec import dump_line, sha256
from gitguard.model.events import PlanItem
from gitguard.model.record import Record
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, load_record
from gitguard.store.session.at_work import GONE, RUNS, UNKNOWN, process_runs
from gitguard.store.session.conversations import announcements_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.workspace import Session, Workspace

ALIVE, NOT_KNOWN, OVER = "alive", "unknown", "over"
SILENT = "no sign of it came for a day"
_DAY = 86_400.0
"""Seconds without a sign after which a conversation is over whose process nobody knows."""

_STEP, _MOST_STEPS = 400, 50
"""Characters of what is announced to be done, and steps of a plan."""
_FORGOTTEN_AFTER = 7 * _DAY
"""A file is written again every day on which its conversation has a turn."""


class Announced(Record):
    """Where a conversation works, and in which process."""

    host: str = fields.text("The host's name.")
    conversation: str = fields.text("The host's id of the conversation.")
    key: str = fields.text("The session's key.")
    session: str = fields.text("The session's name.")
    worktree: str = fields.text("The root of the worktree.")
    since: str = fields.time("When it began.")
    process: str = fields.text("The host's process in the newest turn.", default="")
    last_process: str = fields.text("The process that its last event came from.", default="")
    next_action: str = fields.text("What it noted last as its next action.", default="")
    plan: tuple[PlanItem, ...] = fields.records(
        "The host's plan as its calls left it.", of=PlanItem, default=()
    )

    @property
    def intents(self) -> tuple[str, ...]:
        """What it means to do: the next action that it noted, then the open steps of its plan."""
        steps = (step.text for step in self.plan if not step.done)
        return tuple(filter(None, (self.next_action, *steps)))


class Life(Value):
    """Whether a conversation lives, and what shows it."""

    standing: str
    """alive, unknown or over."""
    reason: str


def judge_life(*, runs: bool | None, silent_for: float) -> Life:
    """Say whether a conversation lives; an end that was told leaves nothing to judge.

    runs is whether its process lives, None where that is not known, and silent_for the seconds
    since its last sign.
    """
    if runs is not None:
        return Life(ALIVE, RUNS) if runs else Life(OVER, GONE)
    return Life(NOT_KNOWN, UNKNOWN) if silent_for < _DAY else Life(OVER, SILENT)


def announce(workspace: Workspace, session: Session, key: str, record: HostSession) -> None:
    """Say where a conversation works; a state directory that cannot be written stays silent."""
    announced = Announced(
        record.host,
        key,
        session.key,
        session.name,
        worktree=workspace.place.worktree,
        since=record.started_at,
        process=record.process,
        last_process=record.last_process,
    ).redacted(workspace.redactor)[0]
    path = _path(workspace, record.host, key)
    before = _read(path)
    if before is not None and before.since == announced.since:
        announced = announced.replace(next_action=before.next_action, plan=before.plan)
    is_young = workspace.clock() - files.changed_at(path) < _DAY
    if not is_young or before != announced:
        _write(path, announced)


def announce_intent(
    workspace: Workspace,
    host: str,
    key: str,
    *,
    next_action: str = "",
    plan: tuple[PlanItem, ...] = (),
    whole_plan: bool = False,
) -> None:
    """Say what a conversation means to do, if it is announced.

    plan are steps as a call of its host wrote them; whole_plan is whether these are all there are.
    """
    path = _path(workspace, host, key)
    before = _read(path)
    if before is None:
        return
    steps = {} if whole_plan else {step.id: step for step in before.plan}
    for step in plan:
        text = step.text or (steps[step.id].text if step.id in steps else "")
        steps[step.id] = step.replace(text=shorten(text, _STEP))
    kept = tuple(step for step in steps.values() if step.text and not step.gone)
    announced = before.replace(
        next_action=shorten(one_line(next_action), _STEP) or before.next_action,
        plan=tuple(step for step in kept if not step.done)[-_MOST_STEPS:],
    ).redacted(workspace.redactor)[0]
    if announced != before:
        _write(path, announced)


def _write(path: str, announced: Announced) -> None:
    try:
        files.make_folder(os.path.dirname(path))
        # A power cut may take it: the conversation is over then, or the next prompt writes it.
        data = dump_line({"format": FORMAT, **announced.to_document()})
        files.write_bytes(path, data, settled=False, synced=False)
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def withdraw(workspace: Workspace, host: str, key: str) -> None:
    """Forget a conversation that ended."""
    files.remove(_path(workspace, host, key))


def announced_beside(workspace: Workspace, host: str, key: str) -> list[Announced]:
    """Return the conversations of all worktrees that may live beside one, in no order."""
    own = os.path.basename(_path(workspace, host, key))
    names = _names(workspace)
    if not names or names == [own]:
        return []
    return [announced for announced in _living(workspace, names) if not _is(announced, host, key)]


def all_announced(workspace: Workspace) -> list[Announced]:
    """Return the conversations of all worktrees that may live, in no order."""
    return list(_living(workspace, _names(workspace)))


def _is(announced: Announced, host: str, key: str) -> bool:
    return (announced.host, announced.conversation) == (host, key)


def _names(workspace: Workspace) -> list[str]:
    names = files.names_in(announcements_folder(workspace))
    return [name for name in names if name.endswith(".json")]


def _living(workspace: Workspace, names: list[str]) -> Iterator[Announced]:
    """Yield what files say, and remove those of conversations that are known to be over.

    A worktree that is gone has none.
    """
    for name in names:
        path = os.path.join(announcements_folder(workspace), name)
        announced = _read(path)
        if announced is None:
            continue
        runs = process_runs(announced.process, announced.last_process)
        is_old = workspace.clock() - files.changed_at(path) > _FORGOTTEN_AFTER
        is_over = runs is False or (runs is None and is_old)
        if is_over or not os.path.isdir(announced.worktree):
            files.remove(path)
        else:
            yield announced


def _path(workspace: Workspace, host: str, key: str) -> str:
    name = sha256(f"{host}\0{key}".encode("utf-8", "surrogatepass"))[:32]
    return os.path.join(announcements_folder(workspace), f"{name}.json")


def _read(path: str) -> Announced | None:
    """Return what a file says; nothing where it is gone or damaged, which its owner mends."""
    try:
        return load_record(path, "an announced conversation", Announced)
    except GitguardError:
        return None
