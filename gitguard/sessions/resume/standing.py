"""What was asked and answered last, and what comes next."""

from __future__ import annotations

from gitguard.model.text import one_line
from gitguard.sessions.resume.filling import BlockSection
from gitguard.sessions.resume.reader import BlockReader, item_of, items_of, label, line, single
from gitguard.state.answers import closing_question, names_step, reports_done
from gitguard.state.items import ACTIVE, AGENT_KINDS, CONCLUSION, UNFINISHED, Exchange
from gitguard.state.thread import asked_last, is_heard, is_talk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.items import PlanStep, ToolOutput
    from gitguard.state.task import TaskState


_FORMER = 6
"""Prompts behind which a goal that nobody noted is one of the turns."""
TOLD = 40
"""Characters that two texts begin with alike if both are cut from the same words."""


def newest_request(state: TaskState) -> Exchange | None:
    """Return what the user asked for last."""
    return asked_last(state.exchanges)


def newest_answer(state: TaskState) -> Exchange | None:
    """Return what the agent said last, whether or not that ended a turn."""
    for exchange in reversed(state.exchanges):
        if exchange.kind in AGENT_KINDS:
            return exchange
    return None


def is_before_request(answer: Exchange, state: TaskState) -> bool:
    """Whether the user has asked for more since an answer."""
    # Both may be of the same second, so their order tells, not their times.
    request = newest_request(state)
    if request is None:
        return False
    return state.exchanges.index(answer) < state.exchanges.index(request)


def has_later_request(state: TaskState) -> bool:
    """Whether the conversation that set the goal has come to ask for something else."""
    goal_from, request = state.goal_from, newest_request(state)
    if request is None:
        return False
    is_beside = goal_from is not None and goal_from.conversation != request.origin.conversation
    return not is_beside and not says(one_line(state.stated_goal), request)


def is_former_goal(state: TaskState) -> bool:
    """Whether the goal is a prompt behind so many others that it is one of the turns."""
    if state.is_noted("goal") or not has_later_request(state):
        return False
    goal = one_line(state.stated_goal)
    prompts = [e for e in state.exchanges if is_heard(e) and not is_talk(e)]
    return len(prompts) > _FORMER and any(says(goal, prompt) for prompt in prompts)


def says(text: str, exchange: Exchange) -> bool:
    """Whether a text is what an exchange says, or one of them is the other's beginning, cut."""
    words = one_line(exchange.text)
    if words == text:
        return bool(text)
    begun, cut, _ = min(text.partition("…"), words.partition("…"), key=lambda part: len(part[0]))
    begun = begun.rstrip()
    is_told = len(begun) >= TOLD and text.startswith(begun) and words.startswith(begun)
    return bool(cut) and is_told


def is_untold(output: ToolOutput, state: TaskState) -> bool:
    """Whether the agent has said nothing since a hook saw what a sub-agent told it."""
    if output.is_noted:
        return False
    answer = newest_answer(state)
    if answer is None or output.origin.when > answer.origin.when:
        return True
    return answer.kind == UNFINISHED and output.origin.when == answer.origin.when


def awaited(state: TaskState) -> str:
    """Return the question of the last answer that stands as the next action, empty if none does.

    Once the user has asked for something else, the question does not wait any more.
    """
    if _is_next_noted(state) or _steps_left(state):
        return ""
    answer = newest_answer(state)
    if answer is None or answer.kind != CONCLUSION or is_before_request(answer, state):
        return ""
    return closing_question(answer.text)


def next_action(state: TaskState, reader: BlockReader) -> BlockSection:
    """Return what comes next, and who says so.

    What nobody noted is the plan's next step, or the question that waits for the user's answer;
    else the user's request stands for itself.
    """
    if _is_next_noted(state):
        title = "Next action (older than the request)" if state.is_next_older else "Next action"
        return single(title, item_of(state.next_action, state.next_from, reader), 10)
    planned = _next_step(state)
    if planned is not None:
        text = f"{planned.text}{label(planned)}"
        return line(f"Next action ({_source_of(planned, state)})", text, 10, is_derived=True)
    return line("Next action (waits for the user's answer)", awaited(state), 8, is_derived=True)


def _is_next_noted(state: TaskState) -> bool:
    return state.is_noted("next_action") and bool(state.stated_next_action.strip())


def _source_of(planned: PlanStep, state: TaskState) -> str:
    """Return where a step stands: an answer that names it, or a later request, may mean its end."""
    answer, request = newest_answer(state), newest_request(state)
    is_of_request = answer is not None and not is_before_request(answer, state)
    if answer is not None and is_of_request and names_step(answer.text, planned.text):
        return "left in host's plan, named in the last answer"
    if request is not None and "" < planned.when < request.when:
        return "host's plan, older than the request"
    return "host's plan"


def plan_left(state: TaskState) -> BlockSection:
    """Return the steps that are left, without the one that stands as the next action."""
    left = _steps_left(state)
    if not _is_next_noted(state):
        following = _next_step(state)
        left = [step for step in left if step is not following]
    return BlockSection(
        "Plan, next step first",
        items_of((f"{step.text}{label(step)}", True) for step in left),
        10,
    )


def _next_step(state: TaskState) -> PlanStep | None:
    """Return the plan's step that is in progress, or else the first one that is left."""
    left = _steps_left(state)
    left.sort(key=lambda step: step.state != ACTIVE)
    return left[0] if left else None


def _steps_left(state: TaskState) -> list[PlanStep]:
    """Return the plan's steps that neither the host's tools nor the last answer report as done."""
    answer = newest_answer(state)
    text = answer.text if answer is not None else ""
    return [step for step in state.plan if not step.is_done and not reports_done(text, step.text)]
