"""The sections of a resume block: what a careful colleague would tell whoever takes over.

What the user wants and said, what was decided and why, what was tried, where things stand, what is
next; each with its age where it is older than the conversation, and with whose words it is.
"""

from __future__ import annotations

import re

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.model.tokens import beginning, fit, quarters_of
from gitguard.sessions.resume.artifact_sections import commits_and_addresses
from gitguard.sessions.resume.files import files_of, folded_items
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.reader import (
    NOBODY,
    BlockReader,
    each_line_once,
    item_of,
    items_of,
    label,
    line,
    plain,
    present,
    safe,
    single,
    with_common_remark,
)
from gitguard.sessions.resume.standing import (
    awaited,
    is_before_request,
    newest_request,
    next_action,
    plan_left,
)
from gitguard.sessions.resume.summary_sections import of_host_summary
from gitguard.state import roles
from gitguard.state.answers import closing_question, conclusions
from gitguard.state.items import (
    AGENT_KINDS,
    CONCLUSION,
    CONSTRAINT,
    DECIDED,
    EVENT,
    FAILED,
    INVARIANT,
    SAID,
    UNFINISHED,
    Exchange,
)
from gitguard.state.sentences import is_question, sentences, words_of
from gitguard.state.subjects import Subjects
from gitguard.state.thread import answer_before_last, is_heard, is_refusal, is_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.state.items import (
        Command,
        EarlierNote,
        EarlierTask,
        Failure,
    )
    from gitguard.state.snapshot import Work
    from gitguard.state.task import TaskState

_PASTED = late_pattern(r"```.*?(?:```|$)", re.DOTALL)
_PASTE = 60
"""Characters that stay of what the user pasted."""
REQUEST, EARLIER_WORDS = 320, 135
_CONCLUSION, _EARLIER_ANSWER = 900, 300
"""Characters that are shown of the newest request, of each earlier prompt, of the last answer and
of each before it, until all sections have as much."""
_FIRST_WORDS = 6
"""Earlier prompts that go beside what was noted; others, and what says little, come after it."""
_QUESTION_MARKS = frozenset("?？؟՞፧⸮")
_AFTER = 100
"""Characters of what the user's words follow, if that is no question."""
_TOLD = 40
"""Characters that two texts begin with alike if both are cut from the same words."""
_MOST_WORDS, _MOST_ANSWERS = 20, 8
"""Earlier prompts and answers that are shown: most of what older ones say has been done since."""
_FEWEST_WORDS = 3
"""Words of an answer that is worth a line when it is not the last."""


def words_of_the_user(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return the running request, and what was said before it, the newest first."""
    newest = newest_request(state)
    if newest is None:
        return ()
    is_goal = says(one_line(state.stated_goal), newest) and not newest.settles
    request = "" if is_goal else _without_pastes(newest.text)
    subjects = Subjects(exchange.text for exchange in state.exchanges)
    earlier = present(
        said_item(exchange.replace(text=_without_pastes(exchange.text)), reader).replace(
            is_minor=_says_little(exchange, subjects)
        )
        for exchange in _each_once(_earlier_words(state, newest, subjects), newest)
    )
    major = [item for item in earlier if not item.is_minor][:_FIRST_WORDS]
    items = tuple(item.replace(is_derived=item not in major) for item in earlier)
    return (
        single(
            "Last request",
            said_item(newest.replace(text=request), reader) if request else BlockItem(""),
            14,
            paragraph=REQUEST,
        ),
        BlockSection(
            "User said before",
            items,
            16,
            has_stub=False,
            paragraph=EARLIER_WORDS,
            most_items=_MOST_WORDS,
        ),
    )


def _earlier_words(state: TaskState, newest: Exchange, subjects: Subjects) -> list[Exchange]:
    """Return what the user said before the newest request and is in force, newest first."""
    earlier = [
        exchange
        for exchange in reversed(state.exchanges)
        if is_heard(exchange) and not is_talk(exchange) and exchange is not newest
    ]
    # A task is told by its goal, this one's above and earlier ones' in a section of their own.
    goals = [task.goal for task in state.earlier if task.goal]
    if not state.is_noted("goal"):
        goals.append(one_line(state.stated_goal))
    earlier = [e for e in earlier if not any(says(goal, e) for goal in goals)]
    # A newer word takes the place of an older one even where the agent noted it.
    return _not_noted(_in_force(earlier, [newest], subjects), state)


def _says_little(exchange: Exchange, subjects: Subjects) -> bool:
    """Whether a prompt that answers nothing only asks, quotes, or hardly names anything."""
    return not exchange.settles and subjects.says_little(QUOTED.sub(" ", exchange.text))


def _in_force(earlier: list[Exchange], newer: list[Exchange], subjects: Subjects) -> list[Exchange]:
    """Return messages, newest first, without the sentences that newer ones replace or repeat."""
    statements = dict.fromkeys(s for exchange in newer for s in sentences(exchange.text))
    in_force = []
    for exchange in earlier:
        own = sentences(exchange.text)
        parts = [
            sentence
            for sentence in own
            if sentence not in statements
            and not any(subjects.is_replaced(sentence, by) for by in statements)
        ]
        if exchange.settles or len(parts) == len(own):
            in_force.append(exchange)
        elif parts:
            in_force.append(exchange.replace(text=" ".join(parts)))
        statements.update(dict.fromkeys(s for s in own if not is_question(s)))
    return in_force


def _each_once(earlier: list[Exchange], newest: Exchange) -> list[Exchange]:
    """Return exchanges, newest first, without those that another one says in full."""
    texts = [plain(exchange.text) for exchange in (newest, *earlier)]
    left: list[Exchange] = []
    for place, exchange in enumerate(earlier, start=1):
        text = texts[place]
        is_repeated = text in texts[:place] or any(text in t for t in texts if t != text)
        if _is_reply(exchange) or not is_repeated:
            left.append(exchange)
    return left


def _is_reply(exchange: Exchange) -> bool:
    """Whether a message says nothing without the question, or the call, that it answers."""
    return is_refusal(exchange) or is_question(exchange.settles)


def _without_pastes(text: str) -> str:
    """Return what the user said with little of the output and code that was pasted into it."""
    return _PASTED.sub(lambda paste: shorten(paste[0], _PASTE), text)


def _not_noted(exchanges: Iterable[Exchange], state: TaskState) -> list[Exchange]:
    """Return exchanges without the sentences that the agent noted just so; a note stands anyway.

    What answers something stays: its words alone, such as "refused", do not say what is meant.
    """
    noted_texts = [d.what for d in state.decisions if d.is_noted and not d.origin.elsewhere]
    for field in state.noted(*roles.SENTENCES):
        noted_texts += [n.text for n in field.items_in(state) if not n.origin.elsewhere]
    noted = {plain(sentence) for text in noted_texts for sentence in sentences(text)}
    if not noted:
        return list(exchanges)
    left = []
    for exchange in exchanges:
        if exchange.settles:
            left.append(exchange)
            continue
        parts = [s for s in sentences(exchange.text) if plain(s) not in noted]
        if parts:
            left.append(exchange.replace(text=" ".join(parts)))
    return left


def says(text: str, exchange: Exchange) -> bool:
    """Whether a text is what an exchange says, or one of them is the other's beginning, cut."""
    words = one_line(exchange.text)
    if words == text:
        return bool(text)
    begun, cut, _ = min(text.partition("…"), words.partition("…"), key=lambda part: len(part[0]))
    begun = begun.rstrip()
    is_told = len(begun) >= _TOLD and text.startswith(begun) and words.startswith(begun)
    return bool(cut) and is_told


def said_item(exchange: Exchange, reader: BlockReader) -> BlockItem:
    """Return what was said as it is shown, with the question that it answers or what it follows."""
    text, about = exchange.text, exchange.settles
    if about and is_refusal(exchange):
        text += f" — {about}"
    elif _QUESTION_MARKS & set(about):
        text += f" — to: {about}"
    elif about:
        text += f" — after: {shorten(about, _AFTER)}"
    return item_of(text, exchange.origin, reader, is_derived=True)


def answers_of(state: TaskState, reader: BlockReader) -> tuple[BlockSection, ...]:
    """Return what the agent said last, the last full answer before it, and what came before."""
    answers = [e for e in reversed(state.exchanges) if e.kind in AGENT_KINDS]
    subjects = Subjects(exchange.text for exchange in state.exchanges)
    answers[1:] = _in_force(answers[1:], answers[:1], subjects)
    last = BlockItem("")
    for newest in _not_noted(answers[:1], state):
        # What stands as the next action is not said once more.
        rest = newest.text.replace(awaited(state), "").strip()
        if rest:
            last = said_item(newest.replace(text=rest), reader)
    before = answer_before_last(answers)
    answer_before = [said_item(answer, reader) for answer in _not_noted(before, state)]
    is_cut_off = bool(answers) and answers[0].kind == UNFINISHED
    title = "Said before the cut-off" if is_cut_off else "Last answer"
    if is_cut_off and reader.may_go_on:
        title = "Said in an open turn"
    if answers and not is_cut_off and is_before_request(answers[0], state):
        title = "Answer before that request"
    section = single(title, last, 40, paragraph=_CONCLUSION).replace(has_stub=False, cut=_heaviest)
    is_next = bool(before) and before[0] is answers[1]
    title = "Answer before that" if is_next else "Last full answer before that"
    earlier = _earlier_answers(_not_noted((e for e in answers[1:] if e not in before), state))
    return (
        section,
        section.replace(title=title, items=present(answer_before), share=20),
        BlockSection(
            "Earlier answers",
            present(said_item(answer, reader) for answer in earlier),
            8,
            has_stub=False,
            paragraph=_EARLIER_ANSWER,
            most_items=_MOST_ANSWERS,
        ),
    )


def _earlier_answers(answers: Iterable[Exchange]) -> list[Exchange]:
    """Return the answers that still tell something after a later one, each once.

    Not what was said in the middle of a turn, which its end has taken up, nor one or two words,
    such as "Done.", nor the question with which an answer closed: the user has gone on from it.
    """
    earlier: dict[str, Exchange] = {}
    for answer in answers:
        text = answer.text.replace(closing_question(answer.text), "").strip()
        if answer.kind == CONCLUSION and len(words_of(text)) >= _FEWEST_WORDS:
            earlier.setdefault(text, answer.replace(text=text))
    return list(earlier.values())


def _heaviest(text: str, quarters: int) -> str:
    return conclusions(text, quarters, size_of=quarters_of, cut=fit)


_WAITING = late_pattern(r"\w+: (?:\s*(?:sleep|echo|wait|true)\b[^;&|]*(?:;|&&|\|\||$))+")
"""Calls that only wait: whoever takes over has nothing to try again."""
_CHANGE_OF_FOLDER = late_pattern(r"^(\w+: )?cd (?:\"[^\"]*\"|'[^']*'|\S+) && ")
"""How many agents begin each command: it tells nothing, and takes the room of what follows."""
_CHECK, _FAILURE = 120, 200
"""Characters that are shown of a check and of a failure, until all sections have as much."""
_NOTE_AND_REASON = 340
"""The same of a decision with its reason, of which agents write each in 40 to 160 characters."""
_COMMAND = 80
"""Characters that are ever shown of a check's command."""
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
        *words_of_the_user(state, reader),
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
        *_where_things_stand(state, work, reader, by_host),
    )
    optional = (
        section.replace(is_required=False)
        for section in (*_besides(state, work, reader), more_by_host)
    )
    return tuple(with_common_remark(s) for s in each_line_once((*required, *optional)))


# What the task is


def _task(state: TaskState, work: Work, reader: BlockReader) -> tuple[BlockSection, ...]:
    goal, request = safe(state.stated_goal), newest_request(state)
    is_prompt = not state.is_noted("goal")
    if is_prompt and request is not None and says(one_line(state.stated_goal), request):
        goal = safe(request.text)  # the thread keeps more of its newest request than the goal
    title = "Goal"
    if is_prompt:
        has_gone_on = request is not None and _is_later_request(request, state)
        title = "Goal (first request)" if has_gone_on else "Goal (user's words)"
    last_call = f"{work.last_tool}: {without_folder(work.last_tool_params)}"
    running = last_call if work.interrupted else ""
    goal_item = item_of(goal, state.goal_from, reader, is_derived=is_prompt)
    return (
        single(title, goal_item if goal else BlockItem("(missing)"), 12, paragraph=REQUEST),
        line("Phase", "" if _is_first_phase(state) else state.current_phase, 3),
        next_action(state, reader),
        line("Interrupted", running, 5, is_derived=True),
        *_noted(state, roles.OBSTACLE, 8, reader),
        *_noted(state, roles.LIMIT, 10, reader),
    )


def _noted(state: TaskState, role: str, share: int, reader: BlockReader) -> Iterator[BlockSection]:
    """Yield a section for each field of a role that an agent notes, its newest items first."""
    for field in state.noted(role):
        newest = reversed(field.items_in(state))
        items = present(item_of(note.text, note.origin, reader) for note in newest)
        yield BlockSection(field.title, items, share, is_list=field.is_list)


def _is_later_request(request: Exchange, state: TaskState) -> bool:
    """Whether the conversation that set the goal has come to ask for something else."""
    goal_from = state.goal_from
    is_beside = goal_from is not None and goal_from.conversation != request.origin.conversation
    return not is_beside and not says(one_line(state.stated_goal), request)


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
        and not note.text.startswith(task.goal[:_TOLD])  # the goal was the user's words
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
        *answers_of(state, reader),
        by_host,
        BlockSection(
            "Checks", _checks(state), 12, has_stub=False, paragraph=_CHECK, cut=_ends_of_check
        ),
        BlockSection("Open failures", _open_failures(state, reader), 12, paragraph=_FAILURE),
        *_noted(state, roles.OPEN_WORK, 8, reader),
        plan_left(state),
        files_of(state, reader),
        *commits_and_addresses(state),
    )


def _checks(state: TaskState) -> tuple[BlockItem, ...]:
    """Return the commands that check the work: what fails now first, then what is run most."""
    commands = sorted(state.commands, key=lambda c: (c.outcome != FAILED, -c.runs))
    return items_of((_checked(command), True) for command in commands[:_MOST_CHECKS])


def _checked(command: Command) -> str:
    """Return a check with its outcome, which a long command must not push out of sight."""
    ending = f" — {command.ending}" if command.ending else ""
    return f"{shorten(command.command, _COMMAND)}{label(command)}: {command.outcome}{ending}"


def _ends_of_check(text: str, quarters: int) -> str:
    """Cut the middle of what a check said: a verdict comes first, and why it failed last."""
    told, dash, ending = text.partition(" — ")
    room = quarters - quarters_of(told + dash)
    if room < _SHORTEST_ENDING:
        return fit(text, quarters)
    last = beginning(ending[::-1], room * 2 // 3)[::-1]
    last = last.partition(" ")[2] or last
    return f"{told}{dash}{fit(ending, room - quarters_of(last) - 1)} {last}"


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
    """Return failures of tools, newest first, without waits and what the checks tell already."""
    return [
        failure
        for failure in reversed(state.failed_attempts)
        if not failure.is_noted
        and not _WAITING.fullmatch(failure.what)
        and not any(_tells(check, failure) for check in state.commands)
    ]


def _tells(check: Command, failure: Failure) -> bool:
    """Whether a check's outcome tells of a failed call that ran it, or has come after it."""
    is_telling = check.outcome == FAILED or check.when > failure.when
    return is_telling and check.command in failure.what


def _failed_call(failure: Failure, reader: BlockReader) -> BlockItem:
    text = f"{without_folder(failure.what)}: {failure.error}"
    return item_of(text, failure.origin, reader, is_derived=True)


def without_folder(call: str) -> str:
    """Return a call without the change of folder that it begins with."""
    return _CHANGE_OF_FOLDER.sub(r"\1", call)


# What else there is


def _besides(state: TaskState, work: Work, reader: BlockReader) -> tuple[BlockSection, ...]:
    outputs = [
        (f"{o.tool}: {o.summary}{label(o)}", not o.is_noted) for o in reversed(state.tool_outputs)
    ]
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
        BlockSection("Tool outputs", items_of(outputs), 6),
        *_noted(state, roles.LESSON, 10, reader),
        *_noted(state, roles.REMARK, 10, reader),
        BlockSection("Earlier on this branch", present(earlier), 3),
        BlockSection(
            "Unheard prompts",
            present(said_item(e, reader) for e in reversed(state.exchanges) if e.origin.is_read),
            4,
            has_stub=False,
            paragraph=EARLIER_WORDS,
        ),
        BlockSection(
            "Failed earlier",
            _earlier_failures(state, reader),
            3,
            paragraph=_FAILURE,
        ),
        BlockSection("Files read", folded_items(map(safe, read)), 2, is_whole=True),
    )
