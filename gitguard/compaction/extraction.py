"""What the calls of a conversation's old turns add up to, by the rules that hooks follow.

The calls are read as if hooks had told of them one by one, and folded as a journal is. So a
compaction and a state agree on which failures are still open and how a command ended.
"""

from __future__ import annotations

from gitguard.model.checks import check_of
from gitguard.model.conversation import CALL, RESULT
from gitguard.model.outcome import ERROR_LIMIT, is_answer, is_wrong_guess, verdict
from gitguard.model.plan_calls import answered, plan_change
from gitguard.model.text import counted, cut_middle, one_line, timestamp
from gitguard.model.value import Value
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.store.session import capture
from gitguard.store.session import entries as journal
from gitguard.store.session.entries import JournalEntry
from gitguard.store.session.task import new_task
from gitguard.transcripts.fitting.facts import entries_of, parameters, relative, touched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.conversation import Block
    from gitguard.model.items import Command
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.session.task import TaskState
    from gitguard.transcripts.fitting.chunks import Unit

_COMMAND, _OUTPUT = 200, 300
"""Characters of a call's parameters, and of the end of what a command said."""
_HEAD, _TAIL = 200, 8_192
"""Characters of a result that are searched for secrets: an exit code, and the end."""
_NO_BOUND = capture.Bound(1 << 30, 1 << 40)
_BOUNDS = dict.fromkeys(capture.BOUNDS, _NO_BOUND)
"""The summary's budget decides how much is shown."""


class Files(Value):
    """The files that tools touched, each once; what was changed is not listed as read."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


class Extraction(Value):
    """What calls add up to; each list has its newest last."""

    state: TaskState
    commands: tuple[str, ...]
    """Shell commands that ended well and check nothing, with the end of what they said."""

    @property
    def files(self) -> Files:
        """The files that calls read and changed without failing, by name, as hosts list them."""
        modified = tuple(a.path for a in self.state.artifacts if a.kind == "file")
        read = tuple(path for path in self.state.files_read if path not in set(modified))
        return Files(tuple(sorted(read)), tuple(sorted(modified)))

    def sections(self, mentioned: tuple[str, ...] = ()) -> tuple[BlockSection, ...]:
        """Return what to show, newest first; what mentioned texts begin with is left out."""
        failures = [f"{f.what}: {f.error}" for f in self.state.failed_attempts]
        checks = [check for check in self.state.commands if not _fails(check, failures)]
        files = [a for a in self.state.artifacts if a.kind == "file"]
        commits = [a for a in self.state.artifacts if a.kind == "commit"]
        named = {
            "Checks, as last run": ([_ran(check) for check in checks], 12),
            "Commands": (list(self.commands), 10),
            "Files written": ([f"{a.path}{_times(a.writes)}" for a in files], 10),
            "Commits": ([f"{a.path} — {a.description}" for a in commits], 4),
            "Open failures": (failures, 10),
            "Plan": ([s.text for s in reversed(self.state.plan) if not s.is_done], 8),
            "Files read": (list(reversed(self.files.read)), 4),
        }
        return tuple(
            BlockSection(
                title,
                tuple(
                    BlockItem(text)
                    for text in reversed(texts)
                    if not any(mention.startswith(text) for mention in mentioned)
                ),
                share,
            )
            for title, (texts, share) in named.items()
        )


def _fails(check: Command, failures: list[str]) -> bool:
    return any(check.command in failure for failure in failures)


def _ran(check: Command) -> str:
    ending = f" — {check.ending}" if check.ending else ""
    return f"{check.command}{_times(check.runs)}: {check.outcome}{ending}"


def _times(count: int) -> str:
    return f" ({counted(count, 'time')})" if count > 1 else ""


def extract(units: Iterable[Unit], redactor: Redactor, folder: str = "") -> Extraction:
    """Fold the calls in units; files that lie in the folder are named relative to it."""
    calls = tuple(_journal(units, redactor, folder))
    now = timestamp(len(calls))
    state = capture.fold(new_task("", now), calls, now, bounds=_BOUNDS)
    commands: dict[str, str] = {}
    for call in calls:
        if call.is_shell and call.event == journal.ENDED and check_of(call.summary) is None:
            commands.pop(call.summary, None)
            commands[call.summary] = f"{call.summary}: {call.output or 'no output'}"
    return Extraction(state, tuple(commands.values()))


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
                yield _entry(call, block, redactor, folder, timestamp(number))


def _entry(call: Block, result: Block, redactor: Redactor, folder: str, at: str) -> JournalEntry:
    arguments = call.given or {}
    command = arguments.get("command")
    command = command if isinstance(command, str) else ""
    reads, writes = (
        tuple(redactor.text(relative(one_line(path), folder)) for path in paths)
        for paths in touched(call)
    )
    what = command or ", ".join((*reads, *writes)) or parameters(call)
    said = redactor.text(cut_middle(result.text.strip(), _HEAD, _TAIL))
    answer = answered(call.name, arguments, result.text)
    plan = plan_change(call.name, arguments, answer, redactor.shorten)
    error = (verdict(said, ERROR_LIMIT) or "no output") if result.is_error else ""
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
        output=verdict(said, _OUTPUT) if command else "",
        is_probe=bool(reads) or is_answer(command, error) or is_wrong_guess(command, error),
        plan=plan.items,
        whole_plan=plan.is_whole,
    )
