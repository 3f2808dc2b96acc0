"""The sections of a resume block: what a careful colleague would tell whoever takes over.

What the user wants and said, what was decided and why, what was tried, where things stand, what is
next; each with its age where it is older than the conversation, and with whose words it is.
"""

from __future__ import annotations

import itertools

from gitguard.model.checks import checks_of
from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.model.tokens import QUARTERS, beginning, fit, quarters_of
from gitguard.sessions.beside import without_preparation
from gitguard.sessions.resume.artifact_sections import commits_and_addresses
from gitguard.sessions.resume.files import files_of, folded_items
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.last_turn import REQUEST
from gitguard.sessions.resume.messages import agents_item, heaviest
from gitguard.sessions.resume.reader import (
    NOBODY,
    BlockReader,
    each_line_once,
    item_of,
    label,
    line,
    present,
    safe,
    single,
    with_common_remark,
)
from gitguard.sessions.resume.standing import (
    TOLD,
    has_later_request,
    is_former_goal,
    is_untold,
    newest_request,
    next_action,
    plan_left,
    says,
)
from gitguard.sessions.resume.summary_sections import of_host_summary
from gitguard.sessions.resume.turns import read_prompts, turns_of
from gitguard.state import roles
from gitguard.state.items import (
    CONCLUSION,
    CONSTRAINT,
    DECIDED,
    EVENT,
    FAILED,
    INVARIANT,
    PASSED,
    RAN,
    SAID,
)
from gitguard.state.outdated_checks import Run, leads_to_commit, told_by_no_other

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.state.items import (
        Command,
        EarlierNote,
        EarlierTask,
        Failure,
        ToolOutput,
    )
    from gitguard.state.snapshot import Work
    from gitguard.state.task import TaskState

_WAITING = late_pattern(r"\w+: (?:\s*(?:sleep|echo|wait|true)\b[^;&|]*(?:;|&&|\|\||$))+")
"""Calls that only wait: whoever takes over has nothing to try again."""
_CHECK, _FAILURE = 120, 200
"""Characters that are shown of a check and of a failure, until all sections have as much."""
_REPORT = 600
"""Quarters that are shown of a report that nobody has told of, until all sections have as much."""
_LEAST_REPORT = 160
"""Quarters of a report below which no sentence of it fits in beside its name."""
_LEAST_OUTPUT = 80
"""The same of what another tool said."""
_SHORTEST_CHECK = 50
"""Quarters of a check that tell which command it is, and how it ended."""
_NOTE_AND_REASON = 340
"""The same of a decision with its reason, of which agents write each in 40 to 160 characters."""
_NUMBER_OR_ID = late_pattern(r"\b(?:\d[\d:.,]*|(?=[a-f]*\d)[0-9a-f]{6,})\b")
"""Numbers, times and ids, which differ where the same fails once more."""
_TELLING_ERROR = 24
"""Characters from which on an error says what failed."""
_PLAIN_NAME = late_pattern(r"[^\W\d_][\w:-]*")
"""An argument that is no option, no path and no value."""
_COMMAND = 80
"""Characters that are ever shown of the command of a check, or of a call that failed."""
_BEFORE_EDITS = " (before the last edits)"
_SHORTEST_ENDING = 30
"""Quarters of what a check said, from which on its first and its last words are shown."""
_MOST_CHECKS = 12
_SHARE_BEFORE = 20
_OF_OWN_TASKS = (CONSTRAINT, INVARIANT, DECIDED)
_OF_OTHER_TASKS = (SAID, CONSTRAINT, INVARIANT)
"""What is shown of a task that has ended, to the conversation that worked at it and to others."""
_GOES_ON = 2
"""Turns that an agent has ended since a failed call, after which it is not at it any more."""


def sections_of(
    state: TaskState, work: Work, reader: BlockReader = NOBODY, *, whole_summary: str = ""
) -> tuple[BlockSection, ...]:
    """Return what there is to show of a state and the work around it, what is required first.

    whole_summary is the host's own, where more of it is to be had than the state has.
    """
    by_host, more_by_host = of_host_summary(state, reader, whole_summary)
    required = (
        *_task(state, work, reader),
        BlockSection(
            "What happened",
            present(
                item_of(e.text, e.origin, reader, is_derived=True)
                for e in reversed(state.exchanges)
                if e.kind == EVENT
            ),
            6,
        ),
        _tasks_before(state, reader),
        *_course(state, reader),
        *turns_of(state, reader),
        _reported_since(state, reader),
        *_where_things_stand(state, work, reader, by_host),
    )
    optional = (
        section.replace(is_required=False)
        for section in (*_besides(state, work, reader), more_by_host)
    )
    return tuple(with_common_remark(s) for s in each_line_once((*required, *optional)))


# What the task is


def _task(state: TaskState, work: Work, reader: BlockReader) -> tuple[BlockSection, ...]:
    last_call = f"{work.last_tool}: {without_preparation(work.last_tool_params)}"
    running = last_call if work.interrupted else ""
    return (
        *_goal(state, reader),
        line("Phase", "" if _is_first_phase(state) else state.current_phase, 3),
        next_action(state, reader),
        line("Interrupted", running, 5, is_derived=True),
        *_noted(state, roles.OBSTACLE, 8, reader),
        *_noted(state, roles.LIMIT, 10, reader),
    )


def _goal(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return the goal; a prompt that nobody noted as one, unless it stands among the turns."""
    if is_former_goal(state):
        return ()
    goal, request = safe(state.stated_goal), newest_request(state)
    is_prompt = not state.is_noted("goal")
    title = "Goal"
    if is_prompt:
        title = "First request" if has_later_request(state) else "Goal (user's words)"
        if request is not None and says(one_line(state.stated_goal), request):
            goal = safe(request.text)  # the thread keeps more of its newest request than the goal
    item = item_of(goal, state.goal_from, reader, is_derived=is_prompt)
    return (single(title, item if goal else BlockItem("(missing)"), 12, paragraph=REQUEST),)


def _noted(state: TaskState, role: str, share: int, reader: BlockReader) -> Iterator[BlockSection]:
    """Yield a section for each field of a role that an agent notes, its newest items first."""
    for field in state.noted(role):
        newest = reversed(field.items_in(state))
        items = present(item_of(note.text, note.origin, reader) for note in newest)
        yield BlockSection(field.title, items, share, is_list=field.is_list)


def _is_first_phase(state: TaskState) -> bool:
    """Whether the phase is the one that every task begins with, which tells nothing."""
    return state.current_phase == "start"


def _tasks_before(state: TaskState, reader: BlockReader) -> BlockSection:
    """Return what holds of tasks that have ended, the newest task first.

    A conversation that worked at a task gets its goal and decisions; others get what limits them.
    """
    lines: list[BlockItem] = []
    for task in reversed(state.earlier):
        notes = _notes_of(state, task, reader)
        if notes or _is_of_reader(task, reader):
            lines.append(item_of(f"{task.goal} ({task.outcome})", task.origin, reader))
        for note in notes:
            text = (
                f"the user said: {note.text}" if note.kind == SAID else f"{note.kind}: {note.text}"
            )
            lines.append(item_of(text, note.origin, reader))
    return BlockSection("From the task before", present(lines), _SHARE_BEFORE, most=_SHARE_BEFORE)


def _notes_of(state: TaskState, task: EarlierTask, reader: BlockReader) -> list[EarlierNote]:
    kinds = _OF_OWN_TASKS if _is_of_reader(task, reader) else _OF_OTHER_TASKS
    return [
        note
        for note in state.earlier_notes
        if note.task_id == task.task_id
        and note.kind in kinds
        and not note.text.startswith(task.goal[:TOLD])  # the goal was the user's words
    ]


def _is_of_reader(task: EarlierTask, reader: BlockReader) -> bool:
    return bool(reader.conversation) and task.origin.conversation == reader.conversation


# What was decided and tried


def _course(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    decisions = (
        item_of(f"{d.what} — because {d.why}" if d.why else d.what, d.origin, reader)
        for d in reversed(state.decisions)
        if d.is_noted
    )
    failures = (
        item_of(f"{f.what}: {f.error}", f.origin, reader)
        for f in reversed(state.failed_attempts)
        if f.is_noted
    )
    return (
        BlockSection("Decisions", present(decisions), 20, paragraph=_NOTE_AND_REASON),
        BlockSection("Failed attempts", present(failures), 10, paragraph=_NOTE_AND_REASON),
    )


# Where things stand


def _where_things_stand(
    state: TaskState, work: Work, reader: BlockReader, by_host: BlockSection
) -> tuple[BlockSection, ...]:
    return (
        by_host,
        BlockSection(
            "Checks",
            _checks(state),
            12,
            has_stub=False,
            paragraph=_CHECK,
            least=_SHORTEST_CHECK,
            cut=_ends_of_check,
        ),
        BlockSection("Open failures", _open_failures(state, reader), 12, paragraph=_FAILURE),
        *_noted(state, roles.OPEN_WORK, 8, reader),
        plan_left(state),
        files_of(state, reader),
        *commits_and_addresses(state),
    )


def _reported_since(state: TaskState, reader: BlockReader) -> BlockSection:
    """Return what tools and sub-agents told the agent that it has said nothing of since."""
    items = present(
        agents_item(_told(o), o.origin, reader).replace(is_derived=not o.is_noted)
        for o in reversed(state.tool_outputs)
        if is_untold(o, state)
    )
    section = BlockSection("Reported since", items, 40, paragraph=_REPORT, cut=_heaviest_told)
    return section.replace(has_stub=False, least=_LEAST_REPORT)


def _told(output: ToolOutput) -> str:
    return f"{output.tool}: {output.summary}"


def _heaviest_told(text: str, quarters: int) -> str:
    """Cut what a tool told to the sentences that weigh most, behind the tool's name."""
    name, mark, told = text.partition(": ")
    room = quarters - quarters_of(name + mark)
    return f"{safe(name)}{mark}{heaviest(told, room)}" if room > 0 else fit(safe(text), quarters)


def _checks(state: TaskState) -> tuple[BlockItem, ...]:
    """Return the commands that check the work, first those that ran since a file was written.

    Of these, what fails comes first, then what is run most.
    """
    checks = [c for c in _newest_bare(state.commands) if c.outcome != RAN or c.ending]
    runs = tuple(Run(command.command, command.outcome, command.when) for command in checks)
    telling = told_by_no_other(runs)
    commands = [command for command in checks if command.command in telling]
    edited = _last_edit(state)
    commands.sort(key=lambda c: (_is_before(c, edited), c.outcome != FAILED, -c.runs))
    return present(_checked(command, edited) for command in commands[:_MOST_CHECKS])


def _newest_bare(commands: Iterable[Command]) -> list[Command]:
    """Return checks; of those of which only that they passed is known, each program's newest."""
    newest: dict[str, Command] = {}
    left = []
    for command in sorted(commands, key=lambda c: c.when):
        if command.outcome == PASSED and not command.ending:
            newest[_what_checks(command)] = command
        else:
            left.append(command)
    return [*left, *newest.values()]


def _what_checks(command: Command) -> str:
    """Return the program of a check with the names that it begins with, such as `npm run lint`."""
    checks = checks_of(command.command)
    if len(checks) != 1:
        return command.command
    target = checks[0].target
    names = itertools.takewhile(_PLAIN_NAME.fullmatch, target.arguments)
    return " ".join((target.folder, target.program, *names))


def _last_edit(state: TaskState) -> str:
    """Return when a file was last seen to be written here, empty if that is not known."""
    files = (a for a in state.artifacts if a.kind == "file")
    return max((a.when for a in files if not (a.is_noted or a.origin.elsewhere)), default="")


def _is_before(command: Command, edited: str) -> bool:
    """Whether a check is known to have run before; another machine has another clock and files."""
    return bool(command.when) and not command.origin.elsewhere and command.when < edited


def _checked(command: Command, edited: str) -> BlockItem:
    """Return a check with its outcome, which a long command must not push out of sight.

    edited is when a file was written last: what ran before it does not tell of that file.
    """
    parts = f"{shorten(command.command, _COMMAND)}{label(command)}", command.outcome, command.ending
    line, outcome, ending = map(safe, parts)
    text = f"{line}: {outcome} — {ending}" if ending else f"{line}: {outcome}"
    remark = _BEFORE_EDITS if _is_before(command, edited) else ""
    return BlockItem(text, is_derived=True, remark=remark, lines="\n".join((line, outcome, ending)))


def _ends_of_check(lines: str, quarters: int) -> str:
    """Cut the middle of what a check said: a verdict comes first, and why it failed last.

    Where its beginning was cut before, no verdict is known to stand there. lines are the command,
    its outcome and what it said.
    """
    command, outcome, ending = lines.split("\n")
    heading = f"{command}: {outcome}"
    room = quarters - quarters_of(f"{heading} — ")
    if room < _SHORTEST_ENDING:
        return f"{fit(command, quarters - quarters_of(f': {outcome}'))}: {outcome}"
    is_cut = ending.startswith("…")
    last = beginning(ending[::-1], room - QUARTERS if is_cut else room // 3)[::-1]
    last = last.partition(" ")[2] or last
    if is_cut:
        return f"{heading} — …{last}"
    return f"{heading} — {fit(ending, room - quarters_of(last) - 1)} {last}"


def _open_failures(state: TaskState, reader: BlockReader) -> tuple[BlockItem, ...]:
    """Return failed calls that nothing has mended since, those the agent may be working on."""
    passed_by = _passed_by(state)
    recent = [f for f in _unmended_calls(state) if f.when > passed_by]
    return present(_failed_call(f, reader) for f in recent)


def _earlier_failures(state: TaskState, reader: BlockReader) -> tuple[BlockItem, ...]:
    """Return failed calls after which the agent ended turns: most often it found another way."""
    passed_by = _passed_by(state)
    earlier = [f for f in _unmended_calls(state) if f.when <= passed_by]
    return present(_failed_call(f, reader) for f in earlier)


def _passed_by(state: TaskState) -> str:
    """Return the time up to which the agent has ended turns enough to have gone on."""
    ends = [e.when for e in state.exchanges if e.kind == CONCLUSION]
    return ends[-_GOES_ON] if len(ends) >= _GOES_ON else ""


def _unmended_calls(state: TaskState) -> list[Failure]:
    """Return failures of tools, newest first, without waits and what the checks tell already.

    Nor those on the way to a commit that was made in the end, and of those that failed alike the
    newest alone.
    """
    committed = max((a.when for a in state.artifacts if a.kind == "commit"), default="")
    newest: dict[tuple[str, str], Failure] = {}
    for failure in reversed(state.failed_attempts):
        if (
            not failure.is_noted
            and not _WAITING.fullmatch(failure.what)
            and not (failure.when < committed and leads_to_commit(failure.what.partition(": ")[2]))
            and not any(_tells(check, failure) for check in state.commands)
        ):
            newest.setdefault(_how_it_failed(failure), failure)
    return list(newest.values())


def _how_it_failed(failure: Failure) -> tuple[str, str]:
    """Return the tool of a failed call and its error without numbers, times and ids.

    Of a short error, such as an exit code alone, nobody knows that two calls failed alike.
    """
    tool, _, call = failure.what.partition(": ")
    error = _NUMBER_OR_ID.sub("", failure.error)
    return tool, error if len(error) >= _TELLING_ERROR else f"{call}: {failure.error}"


def _tells(check: Command, failure: Failure) -> bool:
    """Whether a check's outcome tells of a failed call that ran it, or has come after it."""
    is_telling = check.outcome == FAILED or check.when > failure.when
    return is_telling and check.command in failure.what


def _failed_call(failure: Failure, reader: BlockReader) -> BlockItem:
    # A long command must not push why it failed out of sight.
    text = f"{shorten(without_preparation(failure.what), _COMMAND)}: {failure.error}"
    return item_of(text, failure.origin, reader, is_derived=True)


# What else there is


def _besides(state: TaskState, work: Work, reader: BlockReader) -> tuple[BlockSection, ...]:
    outputs = present(
        agents_item(_told(o) + label(o), None, reader).replace(is_derived=not o.is_noted)
        for o in reversed(state.tool_outputs)
    )
    noted_paths = {artifact.path for artifact in state.artifacts}
    read = [path for path in reversed(work.files_read) if path not in noted_paths]
    earlier = [
        item_of(f"{task.goal} ({task.outcome})", task.origin, reader, is_derived=True)
        for task in reversed(state.earlier)
        if not (_notes_of(state, task, reader) or _is_of_reader(task, reader))
    ]
    return (
        *_noted(state, roles.DONE_WORK, 10, reader),
        *_noted(state, roles.ASSUMPTION, 10, reader),
        BlockSection("Tool outputs", outputs, 6, cut=_heaviest_told, least=_LEAST_OUTPUT),
        *_noted(state, roles.LESSON, 10, reader),
        *_noted(state, roles.REMARK, 10, reader),
        BlockSection("Earlier on this branch", present(earlier), 3),
        read_prompts(state, reader),
        BlockSection(
            "Failed earlier",
            _earlier_failures(state, reader),
            3,
            paragraph=_FAILURE,
        ),
        BlockSection("Files read", folded_items(map(safe, read)), 2, is_whole=True),
    )
