"""What the calls of a conversation's old turns add up to, by the rules that hooks follow.

The calls are read as if hooks had told of them one by one, and folded as a journal is. So a
compaction and a state agree on which failures are still open and how a command ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitguard import hosts
from gitguard.compaction.earlier import (
    CHECKS,
    COMMANDS,
    COMMITS,
    FAILURES,
    PLAN,
    READ,
    WRITTEN,
    EarlierLists,
    check_in,
    split,
)
from gitguard.model.checks import checks_of
from gitguard.model.conversation import CALL, RESULT, Block
from gitguard.model.events import kept_line
from gitguard.model.outcome import ERROR_LIMIT, is_answer, is_wrong_guess, verdict
from gitguard.model.plan_calls import PlanChange, whole_plan, written_list
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import counted, cut_middle, one_line, timestamp
from gitguard.model.value import Value
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.state import capture
from gitguard.state import entries as journal
from gitguard.state.entries import JournalEntry
from gitguard.state.items import PASSED, Command, Failure
from gitguard.state.task import TaskState, new_task
from gitguard.transcripts.fitting.chunks import Unit
from gitguard.transcripts.fitting.facts import entries_of, parameters, relative, touched

_COMMAND, _OUTPUT = 200, 300
"""Characters of a call's parameters, and of the end of what a command said."""
_HEAD, _TAIL = 200, 8_192
"""Characters of a result that are searched for secrets: an exit code, and the end."""
NOTHING_EARLIER = EarlierLists()
_NO_BOUND = capture.Bound(1 << 30, 1 << 40)
_BOUNDS = dict.fromkeys(capture.BOUNDS, _NO_BOUND)
"""The summary's budget decides how much is shown."""


class TouchedFiles(Value):
    """The files that tools touched, each once; what was changed is not listed as read."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


class Extraction(Value):
    """What calls add up to; each list has its newest last."""

    state: TaskState
    commands: tuple[str, ...]
    """Shell commands that ended well and check nothing, with the end of what they said."""

    @property
    def files(self) -> TouchedFiles:
        """The files that calls read and changed without failing, by name, as hosts list them."""
        modified = tuple(a.path for a in self.state.artifacts if a.kind == "file")
        read = tuple(path for path in self.state.files_read if path not in set(modified))
        return TouchedFiles(tuple(sorted(read)), tuple(sorted(modified)))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What failed and is not mended, each attempt once: as it failed last."""
        passed = {c.command: c.when for c in self.state.commands if c.outcome == PASSED}
        newest: dict[str, Failure] = {}
        for failure in self.state.failed_attempts:
            # A check that passes is mended, also if its output went through another pipe.
            if failure.when >= passed.get(check_in(failure.what), ""):
                newest.pop(failure.what, None)
                newest[failure.what] = failure
        return tuple(newest.values())

    def sections(self, mentioned: tuple[str, ...] = ()) -> tuple[BlockSection, ...]:
        """Return what to show, newest first; what mentioned texts begin with is left out."""

        def is_told(text: str) -> bool:
            return any(mention.startswith(text) for mention in mentioned)

        failing = {check_in(failure.what) for failure in self.failures}
        checks = [check for check in self.state.commands if check.command not in failing]
        steps = [s for s in self.state.plan if not s.is_done and not is_told(s.text)]
        files = [a for a in self.state.artifacts if a.kind == "file"]
        commits = [a for a in self.state.artifacts if a.kind == "commit"]
        named = {
            CHECKS: ([_ran(check) for check in checks], 12),
            COMMANDS: (list(self.commands), 10),
            WRITTEN: ([f"{a.path}{_times(a.writes)}" for a in files], 10),
            COMMITS: ([f"{a.path} — {a.description}" for a in commits], 4),
            FAILURES: ([_failed(failure) for failure in self.failures], 10),
            # With its number, by which a later call can change a step.
            PLAN: ([f"#{s.number} {s.text}" for s in reversed(steps)], 8),
            READ: (list(reversed(self.files.read)), 4),
        }
        return tuple(
            BlockSection(
                title,
                tuple(BlockItem(text) for text in reversed(texts) if not is_told(text)),
                share,
            )
            for title, (texts, share) in named.items()
        )


def _failed(failure: Failure) -> str:
    return f"{failure.what}: {failure.error}" if failure.error else failure.what


def _ran(check: Command) -> str:
    ending = f" — {check.ending}" if check.ending else ""
    return f"{check.command}{_times(check.runs)}: {check.outcome}{ending}"


def _times(count: int) -> str:
    return f" ({counted(count, 'time')})" if count > 1 else ""


def extract(
    units: Iterable[Unit],
    redactor: Redactor,
    folder: str = "",
    earlier: EarlierLists = NOTHING_EARLIER,
) -> Extraction:
    """Fold the calls in units; files that lie in the folder are named relative to it.

    What an earlier summary says is older than all of them: a newer call of the same command or
    file takes its place, and what was mended since is gone.
    """
    calls = tuple(_journal(units, redactor, folder))
    now = timestamp(len(calls))
    attempts = {capture.attempt_of(call) for call in calls}
    checks = {check_in(attempt) for attempt in attempts} - {""}
    state = earlier.added_to(
        new_task("", now), lambda text: text in attempts or check_in(text) in checks
    )
    state = capture.fold(state, calls, now, bounds=_BOUNDS)
    return Extraction(state, tuple(_commands(calls, earlier)))


def _commands(calls: tuple[JournalEntry, ...], earlier: EarlierLists) -> Iterable[str]:
    """Return the shell commands that ended well and check nothing, each once, newest last."""
    summaries = {call.summary for call in calls if call.is_shell}
    lines = {split(line, summaries.__contains__)[0]: line for line in earlier.commands}
    for call in calls:
        if not call.is_shell or checks_of(call.shell_line):
            continue
        if call.event == journal.ENDED:
            lines.pop(call.summary, None)
            lines[call.summary] = f"{call.summary}: {call.output or 'no output'}"
        elif not call.is_probe:
            lines.pop(call.summary, None)  # it stands among the failures
    return lines.values()


def _journal(units: Iterable[Unit], redactor: Redactor, folder: str) -> Iterator[JournalEntry]:
    """Yield calls that ended as journal entries; their times only tell their order."""
    calls: dict[str, Block] = {}
    number = 0
    for entry in entries_of(units):
        for block in entry.blocks:
            if block.kind == CALL:
                calls[block.id] = block
            elif block.kind == RESULT and (call := calls.pop(block.id, None)) is not None:
                number += 1
                yield _entry(call, block, redactor, folder=folder, at=timestamp(number))


def _entry(call: Block, result: Block, redactor: Redactor, folder: str, at: str) -> JournalEntry:
    arguments = call.given or {}
    command = arguments.get("command")
    command = command if isinstance(command, str) else ""
    reads, writes = (
        tuple(redactor.text(relative(one_line(path), folder)) for path in paths)
        for paths in touched(call)
    )
    what = command or ", ".join((*reads, *writes)) or parameters(call)
    output = redactor.text(cut_middle(result.text.strip(), _HEAD, _TAIL))
    plan = _plan(call, result.text, redactor)
    error = (verdict(output, ERROR_LIMIT) or "no output") if result.is_error else ""
    return JournalEntry(
        event=journal.FAILED if result.is_error else journal.ENDED,
        at=at,
        host_session="",
        id=call.id,
        tool=call.name,
        summary=redactor.shorten(one_line(what), _COMMAND),
        read=reads,
        written=writes,
        error=error,
        is_shell=bool(command),
        command=kept_line(command, redactor),
        output=verdict(output, _OUTPUT) if command else "",
        is_probe=bool(reads) or is_answer(command, error) or is_wrong_guess(command, error),
        plan=plan.items,
        whole_plan=plan.is_whole,
    )


def _plan(call: Block, answer: str, redactor: Redactor) -> PlanChange:
    """Return what a call did to the plan; each host's tools have names of their own."""
    arguments = call.given or {}
    for name in hosts.names(hosts.PLANS):
        tools = hosts.load(name, hosts.PLANS)
        if call.name in tools.TOOLS:
            result = tools.answered(call.name, arguments, answer)
            change: PlanChange = tools.plan_change(call.name, arguments, result, redactor.shorten)
            return change
    return whole_plan(written_list(arguments), redactor.shorten)
