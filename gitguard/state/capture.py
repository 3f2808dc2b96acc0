"""What the journal's entries add up to in the state.

What hooks gathered is bounded, the oldest dropped first and counted; what the agent noted is never
dropped. A crash can take what was folded and not durable of a journal, and then the same entries
are folded again: every list is built such that this adds nothing.
"""

from __future__ import annotations

from gitguard.model.checks import Target, targets_of
from gitguard.model.created import created_addresses
from gitguard.model.text import late_pattern, seconds, shorten
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.state import entries as journal
from gitguard.state import thread
from gitguard.state.changes import merge_artifacts
from gitguard.state.check_outcomes import Ended, outcomes_of
from gitguard.state.items import (
    ACTIVE,
    ANSWER,
    DONE,
    FAILED,
    HOOK,
    OPEN,
    PASSED,
    REQUEST,
    SMALL_TALK,
    Artifact,
    Command,
    Exchange,
    Failure,
    HostSummary,
    Item,
    Origin,
    PlanStep,
    derived_id,
    texts,
)
from gitguard.state.outdated_checks import Run, in_doubt, is_covered, mended
from gitguard.state.prompts import is_brief, kind_of_prompt
from gitguard.state.reports import with_reports
from gitguard.state.snapshot import IDLE, IN_PROGRESS, WAITING, Work
from gitguard.state.spoken import ANSWERED
from gitguard.state.taken_back import told_taken_back, without_taken_back
from gitguard.state.talk import Prompt, kind_by_work, turn_seen
from gitguard.state.task import LastAction, TaskState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeVar

    from gitguard.model.events import PlanItem
    from gitguard.state.entries import JournalEntry

    T = TypeVar("T")
    _EndedChecks = Iterable[tuple[JournalEntry, tuple[Ended, ...]]]


class Bound(Value):
    """How much of one list hooks may fill, so that no state grows too large by itself."""

    items: int
    size: int
    """In bytes."""


BOUNDS = {
    "tools_used": Bound(50, 1_280),
    "files_read": Bound(60, 4_096),
    "artifacts": Bound(40, 12_288),
    "tool_outputs": Bound(6, 4_096),
    "failed_attempts": Bound(12, 6_144),
    "commands": Bound(12, 6_144),
    "plan": Bound(30, 9_216),
}
"""With at most 26 KiB of the thread all of it stays below 70 KiB."""
_COMMITTED = late_pattern(
    r"\[[^\s\]]+ (?:\(root-commit\) )?(?P<id>[0-9a-f]{7,40})\] (?P<subject>.+?)"
    r"(?= \d+ files? changed| After doing this, you may fix the identity|\s{2}|$)"
)
"""What `git commit` says: the branch, the commit and its subject."""
_SCRIPT = late_pattern(r"[^<>]*>\s*[^\s<>&|;]+\s*<<")
"""A call up to a here-document that goes into a file."""
_SUBJECT = 120
_SHORT_ID = 7
_ENDING = 300
"""Characters of the end of what a check said."""
_AROUND = 16
"""Bytes around a text: its name, quotes and a comma."""
_ORIGIN = 200
"""Bytes that say where an item comes from."""
_ESCAPED = 10
"""The most bytes that a character takes which JSON or YAML writes as an escape."""
_TOPIC_LIMIT = 100
_IDLE_AFTER = 30 * 60
"""Seconds without an event after which nobody is at work."""
_CALLED = (journal.ENDED, journal.FAILED)
_WRITING = (journal.ENDED, journal.SHELL_EDITED, journal.FILE_WRITTEN)
_OUTSIDE_TURNS = (journal.TURN_ENDED, journal.INTERRUPTED, journal.LOST, journal.REFUSED)


def fold(
    state: TaskState,
    entries: tuple[JournalEntry, ...],
    now: str,
    *,
    code: str = "",
    bounds: Mapping[str, Bound] = BOUNDS,
) -> TaskState:
    """Add what the entries say to the state; the same state comes back if they say nothing new.

    code is the commit that is checked out, empty where that is not known. Wider bounds serve a
    state that is read once and never stored.
    """
    if not entries:
        return state  # as after each checkpoint, which folds all that there is
    ended = tuple(entry for entry in entries if entry.event == journal.ENDED)
    checks = [(entry, _ended_checks(entry)) for entry in entries]
    commands = _commands(state, checks, code)
    lists: dict[str, tuple[Any, ...]] = {
        "tools_used": _tools(state, entries),
        "files_read": _newest_last(state.files_read, (path for e in ended for path in e.read)),
        "artifacts": merge_artifacts(
            state.artifacts,
            (
                *_written(state, entries, code),
                *_commits(state, entries, code),
                *_created(state, ended, code),
            ),
        ),
        "tool_outputs": with_reports(state, entries, code),
        "failed_attempts": _failures(state, entries, checks, code),
        "commands": _current(commands),
        "plan": _plan(state, ended, code),
    }
    exchanges, taken_back = _exchanges(state, entries, code)
    changed = _with_lists(state, lists, bounds).replace(
        exchanges=exchanges,
        last_action=_last_action(state, ended),
        host_summary=_host_summary(state, entries, code),
    )
    changed = without_taken_back(changed, taken_back)
    return state if changed == state else changed.replace(updated_at=now)


def within_bounds(state: TaskState) -> TaskState:
    """Return a state in which what hooks gathered has room, as after a join of several."""
    lists = {name: getattr(state, name) for name in BOUNDS}
    exchanges = thread.within_room(state.exchanges)
    return _with_lists(state, lists, BOUNDS).replace(exchanges=exchanges)


def _with_lists(
    state: TaskState, lists: Mapping[str, tuple[Any, ...]], bounds: Mapping[str, Bound]
) -> TaskState:
    """Return the state with as much of its lists as has room, and a count of the rest."""
    in_bounds = {name: bounded(items, bounds[name]) for name, items in lists.items()}
    without = {name: len(items) - len(in_bounds[name]) for name, items in lists.items()}
    dropped = {name: state.dropped.get(name, 0) + count for name, count in without.items()}
    dropped = {name: count for name, count in dropped.items() if count}
    return state.replace(**in_bounds, dropped=dropped)


def origin_of(entry: JournalEntry, code: str = "", *, by: str = HOOK) -> Origin:
    """Return where an item comes from that a hook took from an event."""
    origin = Origin(by, entry.at, entry.host_session, entry.turn)
    return origin.at_commit(code)


def bounded(items: tuple[T, ...], bound: Bound) -> tuple[T, ...]:
    """Drop the oldest of what hooks gathered above the bound; what the agent noted stays.

    An item that would fill half of the room is not kept: it would drive everything else out.
    """
    if len(items) <= bound.items and all(type(item) is str for item in items):
        # Even if each character were escaped, they cannot be too large.
        texts: tuple[Any, ...] = items
        if _ESCAPED * len("".join(texts)) + _AROUND * len(texts) <= bound.size:
            return items
    places, room = bound.items, bound.size
    fitting: list[T] = []
    for item in reversed(items):
        if isinstance(item, Item) and item.is_noted:
            fitting.append(item)
            continue
        size = _size(item)
        if size > bound.size // 2:
            continue
        places -= 1
        room -= size
        if places >= 0 and room >= 0:
            fitting.append(item)
    return tuple(reversed(fitting))


def _size(item: Any) -> int:
    """Return about how many bytes an item takes; writing it out would cost a checkpoint dearly."""
    if isinstance(item, str):
        return _written_size(item) + _AROUND
    texts = map(item.__getattribute__, item.kinds)
    return _ORIGIN + sum(_written_size(text) + _AROUND for text in texts if isinstance(text, str))


def _written_size(text: str) -> int:
    size = len(text.encode()) + text.count('"') + text.count("\\")
    return size if text.isprintable() else size + _ESCAPED * sum(not c.isprintable() for c in text)


def _newest_last(earlier: tuple[str, ...], more: Iterable[str]) -> tuple[str, ...]:
    texts = dict.fromkeys(earlier)
    for text in more:
        texts.pop(text, None)
        texts[text] = None
    return tuple(texts)


def _tools(state: TaskState, entries: tuple[JournalEntry, ...]) -> tuple[str, ...]:
    called = (entry.tool for entry in entries if entry.event in _CALLED and entry.tool)
    return _newest_last(state.tools_used, called)


def _written(
    state: TaskState, entries: tuple[JournalEntry, ...], code: str
) -> tuple[Artifact, ...]:
    """Return the files that calls wrote; a write that is counted already adds nothing."""
    counted_upto = {artifact.path: artifact.when for artifact in state.artifacts}
    return tuple(
        Artifact(
            path,
            writes=int(entry.at > counted_upto.get(path, "")),
            by_shell=entry.event == journal.SHELL_EDITED,
            id=_id_of(state, "artifacts", entry, path),
            origin=origin_of(entry, code),
        )
        for entry in entries
        if entry.event in _WRITING
        for path in entry.written
    )


def _commits(
    state: TaskState, entries: tuple[JournalEntry, ...], code: str
) -> tuple[Artifact, ...]:
    """Return the commits that shell commands made, as git's own output or HEAD tells of them."""
    commits: list[Artifact] = []
    for entry in entries:
        if entry.event == journal.COMMITTED:
            head, _, subject = entry.summary.partition(" ")
            listed = (a.path for a in (*state.artifacts, *commits) if a.kind == "commit")
            if not any(head.startswith(commit) for commit in listed):
                commits.append(
                    _commit(state, entry, code, commit=head[:_SHORT_ID], subject=subject)
                )
        elif entry.event == journal.ENDED and entry.is_shell and "git " in entry.summary:
            for line in _COMMITTED.finditer(entry.output):
                commits.append(
                    _commit(state, entry, code, commit=line["id"], subject=line["subject"])
                )
    return tuple(commits)


def _commit(
    state: TaskState, entry: JournalEntry, code: str, *, commit: str, subject: str
) -> Artifact:
    return Artifact(
        commit,
        "commit",
        shorten(subject, _SUBJECT),
        id=_id_of(state, "artifacts", entry, commit),
        origin=origin_of(entry, code),
    )


def _created(state: TaskState, ended: tuple[JournalEntry, ...], code: str) -> tuple[Artifact, ...]:
    """Return the pull requests, issues and the like that shell commands created."""
    return tuple(
        Artifact(
            address,
            "url",
            id=_id_of(state, "artifacts", entry, address),
            origin=origin_of(entry, code),
        )
        for entry in ended
        if entry.is_shell and "://" in entry.output
        for address in created_addresses(entry.shell_line, entry.output)
    )


def _host_summary(
    state: TaskState, entries: tuple[JournalEntry, ...], code: str
) -> HostSummary | None:
    summaries = [entry for entry in entries if entry.event == journal.SUMMARY and entry.summary]
    if not summaries:
        return state.host_summary
    newest = summaries[-1]
    item_id = _id_of(state, "host_summary", newest, newest.summary)
    return HostSummary(
        newest.summary,
        newest.whole,
        newest.length,
        id=item_id,
        origin=origin_of(newest, code),
    )


def _id_of(state: TaskState, field: str, entry: JournalEntry, *content: str) -> str:
    """Return the id of what an entry adds, the same one however often it is folded."""
    return derived_id(state.session_id, field, entry.host_session, entry.at, entry.id, *content)


def _failures(
    state: TaskState, entries: tuple[JournalEntry, ...], checks: _EndedChecks, code: str
) -> tuple[Failure, ...]:
    failed = tuple(
        _failure(state, entry, code)
        for entry in entries
        if entry.event == journal.FAILED and not entry.is_probe
    )
    newest = bounded(failed, BOUNDS["failed_attempts"])
    ids = {failure.id for failure in state.failed_attempts}
    fresh = tuple(failure for failure in newest if failure.id not in ids)
    # Where some are known, the older ones were dropped and counted when these were folded first.
    failures = (*state.failed_attempts, *(failed if len(fresh) == len(newest) else fresh))
    mended = _mended(entries)
    failures = tuple(
        f for f in failures if f.is_noted or f.when > mended.get(_script_of(f.what), "")
    )
    if all(failure.is_noted for failure in failures):
        return failures
    passes = _passes(checks)
    return tuple(f for f in failures if f.is_noted or not _has_passed(f, passes))


def _mended(entries: tuple[JournalEntry, ...]) -> dict[str, str]:
    """Return when each call last ended well, if it did not fail again after that."""
    mended: dict[str, str] = {}
    for entry in entries:
        if entry.event == journal.ENDED and not entry.runs_on:
            mended[_script_of(attempt_of(entry))] = entry.at
        elif entry.event == journal.FAILED:
            mended.pop(_script_of(attempt_of(entry)), None)
    return mended


def _script_of(attempt: str) -> str:
    """Return a call without the script that it writes into a file, whose text is what is mended."""
    script = _SCRIPT.match(attempt)
    return script[0] if script else attempt


def _passes(checks: _EndedChecks) -> list[tuple[str, Target]]:
    """Return what passed and has not failed since, with the time."""
    passes: list[tuple[str, Target]] = []
    for entry, ended in checks:
        if not entry.is_shell or entry.runs_on or entry.event not in _CALLED:
            continue
        targets = targets_of(entry.shell_line)
        passed = [t for check in ended if check.outcome == PASSED for t in check.targets]
        failed = [t for check in ended if check.outcome == FAILED for t in check.targets]
        if entry.event == journal.ENDED:
            passed += targets
        else:
            failed += targets
        passes = [(at, t) for at, t in passes if not any(is_covered(f, [t]) for f in failed)]
        passes += [(entry.at, target) for target in passed]
    return passes


def _has_passed(failure: Failure, passes: list[tuple[str, Target]]) -> bool:
    """Say whether all of which one failed has passed since, in the same or a wider run."""
    targets = targets_of(failure.what.partition(": ")[2])
    later = [target for at, target in passes if at >= failure.when]
    return bool(targets) and all(is_covered(target, later) for target in targets)


def _failure(state: TaskState, entry: JournalEntry, code: str) -> Failure:
    what, error = attempt_of(entry), entry.error or "failed"
    item_id = _id_of(state, "failed_attempts", entry, what, error)
    return Failure(what, error, id=item_id, origin=origin_of(entry, code))


def attempt_of(entry: JournalEntry) -> str:
    """Return what a call tried, by which failures and later successes of it are matched."""
    return shorten(f"{entry.tool}: {entry.summary}" if entry.summary else entry.tool, 220)


def _ended_checks(entry: JournalEntry) -> tuple[Ended, ...]:
    """Return how the checks of a shell call ended, none of any other entry."""
    if not entry.is_shell or entry.runs_on or entry.event not in _CALLED:
        return ()
    output, has_failed = entry.error or entry.output, entry.event == journal.FAILED
    return outcomes_of(entry.shell_line, output, has_failed=has_failed)


def _commands(state: TaskState, checks: _EndedChecks, code: str) -> tuple[Command, ...]:
    """Follow the commands that build, test, check or start something: each once, newest last."""
    commands = {command.command: command for command in state.commands}
    for entry, ended_checks in checks:
        for ended in ended_checks:
            before = commands.get(ended.command)
            if before is not None and entry.at < before.when:
                continue  # folded before, and run again since
            commands.pop(ended.command, None)
            is_counted = before is not None and entry.at == before.when
            runs = before.runs if before is not None else 0
            item_id = before.id if before else _id_of(state, "commands", entry, ended.command)
            commands[ended.command] = Command(
                ended.command,
                ended.outcome,
                ending=shorten(ended.ending, _ENDING),
                runs=runs + (not is_counted),
                id=item_id,
                origin=origin_of(entry, code),
            )
    return tuple(commands.values())


def _current(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """Return the commands without those that later runs have made outdated."""
    runs = tuple(Run(command.command, command.outcome, command.when) for command in commands)
    outdated = mended(runs) | in_doubt(runs)
    return tuple(command for command in commands if command.command not in outdated)


def _plan(state: TaskState, ended: tuple[JournalEntry, ...], code: str) -> tuple[PlanStep, ...]:
    """Follow the host's plan; what is done goes first when there is no room."""
    steps = {step.number: step for step in state.plan}
    for entry in ended:
        before = dict(steps)
        if entry.whole_plan:
            steps = {}
        for change in entry.plan:
            if change.gone:
                steps.pop(change.id, None)
            elif change.text or change.id in before:
                steps[change.id] = _step(
                    state, entry, change, before=before.get(change.id), code=code
                )
    open_steps = [step for step in steps.values() if not step.is_done]
    if len(steps) > BOUNDS["plan"].items:
        return tuple(open_steps)
    return tuple(steps.values())


def _step(
    state: TaskState, entry: JournalEntry, change: PlanItem, before: PlanStep | None, code: str
) -> PlanStep:
    """Return a step as a change leaves it; one of another text is another step."""
    progress = DONE if change.done else ACTIVE if change.active else OPEN
    text = change.text or (before.text if before is not None else "")
    if before is not None and text == before.text:
        return before if progress == before.state else before.replace(state=progress)
    item_id = _id_of(state, "plan", entry, change.id, text)
    return PlanStep(change.id, text, progress, id=item_id, origin=origin_of(entry, code))


def _last_action(state: TaskState, ended: tuple[JournalEntry, ...]) -> LastAction | None:
    is_noted = state.last_action is not None and state.last_action.by != HOOK
    if not ended or is_noted:
        return state.last_action
    newest = ended[-1]
    summary = shorten(f"{newest.tool}: {newest.summary}" if newest.summary else newest.tool, 200)
    return LastAction(summary, "success", newest.at, by=HOOK)


def _exchanges(
    state: TaskState, entries: tuple[JournalEntry, ...], code: str
) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    """Return what is kept of the conversation, and what of it the user took back."""
    turns = _turns(entries)
    state = state.replace(exchanges=_judged_by(state, turns))
    messages: list[Exchange] = []
    for place, entry in enumerate(entries):
        origin = origin_of(entry, code)
        if entry.event == journal.PROMPT:
            prompt = Prompt(entry.summary, entry.host_session, entry.settles, entry.since)
            kind = _kind_of(prompt, turns[place], state, (*state.exchanges, *messages))
            messages.append(
                thread.said_by_user(prompt.text, origin, settles=prompt.settles, kind=kind)
            )
        elif entry.event == journal.PROMPT_READ:
            read = thread.read_prompt(entry.summary, origin, settles=entry.settles)
            begins = not (state.exchanges or messages)
            messages.append(read.replace(kind=REQUEST) if begins else read)
        elif entry.event in (journal.TURN_ENDED, journal.SAID):
            ends_turn = entry.event == journal.TURN_ENDED
            messages.append(thread.said_by_agent(entry.summary, origin, ends_turn=ends_turn))
        elif entry.event == journal.TAKEN_BACK:
            messages.append(told_taken_back(entry.summary, origin))
        elif entry.event == journal.REFUSED:
            messages.append(thread.refused_by_user(attempt_of(entry), entry.said, origin))
        for answer in entry.answers if entry.event == journal.ENDED else ():
            question, _, words = answer.partition(ANSWERED)
            messages.append(thread.said_by_user(words, origin, settles=question, kind=ANSWER))
    ids = {item_id for entry in entries for item_id in entry.taken_back}
    taken_back = tuple(e for e in (*state.exchanges, *messages) if e.id in ids)
    standing = tuple(e for e in state.exchanges if e.id not in ids)
    return thread.extend(standing, (e for e in messages if e.id not in ids)), taken_back


class _TurnEntries:
    """What of a turn stands in the entries that are folded."""

    def __init__(self, conversation: str, prompted_at: str = "") -> None:
        self.conversation = conversation
        self.prompted_at = prompted_at
        """When its prompt came, empty if that was folded before."""
        self.calls: list[JournalEntry] = []
        self.answer = ""


def _turns(entries: Iterable[JournalEntry]) -> dict[int, _TurnEntries]:
    """Return the turns by the place of the prompt that began them.

    A turn that began in entries which were folded before has a place below 0.
    """
    turns: dict[int, _TurnEntries] = {}
    running: dict[str, _TurnEntries] = {}
    for place, entry in enumerate(entries):
        key = entry.host_session
        if entry.event == journal.PROMPT:
            turns[place] = running[key] = _TurnEntries(key, entry.at)
            continue
        if key not in running:
            turns[-len(turns) - 1] = running[key] = _TurnEntries(key)
        if entry.event == journal.TURN_ENDED:
            running[key].answer = entry.summary
        elif entry.tool:
            running[key].calls.append(entry)
    return turns


def _judged_by(state: TaskState, turns: Mapping[int, _TurnEntries]) -> tuple[Exchange, ...]:
    """Return the exchanges after the rest of turns whose prompts were folded before."""
    exchanges = state.exchanges
    for place, turn in turns.items():
        prompt = _newest_heard(exchanges, turn.conversation)
        if place >= 0 or not turn.calls or prompt is None or prompt.kind != SMALL_TALK:
            continue
        if any(later.prompted_at == prompt.when for later in turns.values()):
            continue  # folded before, with what came before it
        others = tuple(e for e in exchanges if e is not prompt)
        asked = Prompt(prompt.text, turn.conversation, prompt.settles)
        kind = _kind_of(asked, turn, state, others)
        if kind != SMALL_TALK:
            exchanges = thread.judged(exchanges, prompt.id, kind)
    return exchanges


def _newest_heard(exchanges: tuple[Exchange, ...], conversation: str) -> Exchange | None:
    newest_first = (e for e in reversed(exchanges) if e.origin.conversation == conversation)
    return next(filter(thread.is_heard, newest_first), None)


def _kind_of(
    prompt: Prompt, turn: _TurnEntries, state: TaskState, others: tuple[Exchange, ...]
) -> str:
    """Return what a prompt is by what its turn did so far."""
    if not is_brief(prompt.text):
        return kind_of_prompt(prompt.text, settles=bool(prompt.settles))
    return kind_by_work(prompt, turn_seen(turn.calls, turn.answer), state, others)


def work_of(
    entries: tuple[JournalEntry, ...], state: TaskState, now: float, *, compacting: bool = False
) -> Work:
    """Return what the snapshot says of the work in progress.

    compacting says that a compaction begins, which splits the turn that is going on.
    """
    main = [entry for entry in entries if not entry.sub_agent and not entry.is_found_later]
    running = journal.open_calls(main)
    in_turn = bool(main) and main[-1].event not in _OUTSIDE_TURNS
    called = running or [entry for entry in main if entry.event in _CALLED]
    last = called[-1] if called else None
    by_user = [e for e in state.exchanges if e.origin.by == USER and not e.origin.is_read]
    asked = [e for e in by_user if e.kind != SMALL_TALK] or by_user
    return Work(
        topic=thread.labelled(asked[-1])[:_TOPIC_LIMIT] if asked else "",
        status=_status(state, main, now, in_turn=in_turn),
        interrupted=bool(running) or (compacting and in_turn),
        last_tool=last.tool if last else "",
        last_tool_params=last.summary if last else "",
        files_read=state.files_read,
        files_modified=tuple(a.path for a in state.artifacts if a.kind == "file"),
        tools_used=state.tools_used,
        open_items=texts(state.open_items),
        thread_summary=thread.summary(state.exchanges),
    )


def _status(state: TaskState, main: list[JournalEntry], now: float, *, in_turn: bool) -> str:
    """Guess what the agent is doing, unless it said that it waits or is done."""
    if state.status == "waiting_for_user":
        return WAITING
    if state.status == "complete" or not main or now - seconds(main[-1].at) > _IDLE_AFTER:
        return IDLE
    return IN_PROGRESS if in_turn else WAITING
