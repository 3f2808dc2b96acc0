"""The spawn policy: whether a task goes to a sub-agent, by the rule that decided.

A sub-agent can use up a context of its own, of which only its answer comes back
(references/design/policy.md, "Spawn policy").
"""

from __future__ import annotations

from difflib import get_close_matches

from gitguard.model.config.config import GaugeConfig
from gitguard.model.text import counted
from gitguard.model.value import Value

SPAWN, KEEP, ASK = "spawn", "keep", "ask"
"""Hand the task to a sub-agent; do it in this conversation; let the user decide."""
CHECKPOINT, COMPACT = "checkpoint", "compact"
"""What a threshold of a project may want first; the user decides then."""
ACTIONS = (SPAWN, KEEP, ASK, CHECKPOINT, COMPACT)


class CategoryRule(Value):
    """What is built in for a category of work."""

    answer: str
    """spawn or keep."""
    what: str
    count: str = ""
    """Of which it needs the number: tests or files; empty where it holds always."""
    least: int = 0
    most: int | None = None


_TESTS, _FILES = "tests", "files"
CATEGORIES = {
    "test-suite": CategoryRule(SPAWN, "test suites over 3 tests", _TESTS, 4),
    "audit": CategoryRule(SPAWN, "audits over 5 files", _FILES, 6),
    "build": CategoryRule(SPAWN, "build pipelines"),
    "deploy": CategoryRule(SPAWN, "deploy pipelines"),
    "research": CategoryRule(SPAWN, "research"),
    "bulk-files": CategoryRule(SPAWN, "bulk file work"),
    "command": CategoryRule(KEEP, "single commands"),
    "conversation": CategoryRule(KEEP, "conversations"),
    "edit": CategoryRule(KEEP, "edits of 1 to 3 files", _FILES, least=1, most=3),
    "status": CategoryRule(KEEP, "status checks"),
}
"""The categories that are known without a file of the project, and their rules."""
_ALIKE = 0.8
"""From here on one name may be meant to be the other."""


class Threshold(Value):
    """What holds above a pressure, up to the next threshold."""

    above: float
    over_calls: int = 0
    """More tool calls than this are handed over, where no action is named."""
    action: str = ""

    @property
    def level(self) -> str:
        """The pressure in percent, with the digits that it was given with."""
        return f"{self.above * 100:.6g}%"


def built_in_thresholds(gauge: GaugeConfig) -> tuple[Threshold, ...]:
    """Return what holds where a project names no thresholds of its own, lowest first."""
    # More calls than in the bands' advice: that is about all the work which remains, this about
    # one task, and a sub-agent has to be briefed first.
    return (Threshold(gauge.hand_over_heavy, 5), Threshold(gauge.hand_over_any, 2))


class SpawnPolicy(Value):
    """The rules in force. What a project says of a category stands in place of what is built in."""

    always: tuple[str, ...] = ()
    """Categories that a project always hands over."""
    never: tuple[str, ...] = ()
    """Categories that it never does."""
    thresholds: tuple[Threshold, ...] = built_in_thresholds(GaugeConfig())
    """Lowest first; none where pressure is to decide nothing."""
    source: str = ""
    """The project's file, empty for what is built in."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Every category that a rule is about."""
        return tuple(dict.fromkeys((*CATEGORIES, *self.always, *self.never)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What may surprise in it: categories of the project that resemble a built-in one."""
        return self.notes_on(self.categories)

    def notes_on(self, categories: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the notes in which one of the categories is named."""
        project_categories = [
            name for name in (*self.always, *self.never) if name not in CATEGORIES
        ]
        alike = (
            (name, near)
            for name in project_categories
            for near in get_close_matches(name, CATEGORIES, 1, _ALIKE)
        )
        return tuple(
            f"`{name}` is only a category of `{self.source}`; the built-in category is `{near}`"
            for name, near in alike
            if name in categories or near in categories
        )


class Task(Value):
    """What is known of the work that may be handed over."""

    tool_calls: int | None = None
    """None where nobody said how many."""
    category: str = ""
    files: int | None = None
    tests: int | None = None
    needs_user: bool = False
    """Whether the user has to say something midway."""

    @property
    def is_one_command(self) -> bool:
        """Whether nothing is known of it but that it is a single command at most."""
        is_short = self.tool_calls is not None and self.tool_calls <= 1
        return is_short and not self.category and not self.tests


class SpawnDecision(Value):
    """What to do with a task, and why."""

    answer: str
    """spawn, keep or ask."""
    rule: str
    """What decided, and for `ask` what to give: one sentence without its stop."""
    missing: tuple[str, ...] = ()
    """For `ask`: the options that would decide, where something is not known."""
    pressure: float | None = None
    """The used share of the window that it was decided for, None if that is not known."""
    source: str = ""
    """The project's file of rules, empty where there is none."""
    pressure_source: str = ""
    """Who told it: option, given (to the gate), status-line, hook, transcript or estimate;
    empty where nobody did."""
    conversation: str = ""
    """Whose pressure it is, empty where it was named or no conversation is known."""
    notes: tuple[str, ...] = ()
    """What may be a mistake in the project's file, as far as it is about this task."""


def decide(task: Task, pressure: float | None, policy: SpawnPolicy) -> SpawnDecision:
    """Say whether a task goes to a sub-agent.

    `ask` is the answer where rules contradict each other, where a project wants it or something
    else first, and where what is not known would decide: the pressure, or how many files, tests or
    tool calls.
    """
    notes = policy.notes_on(_categories_of(task))
    decision = _decide(task, pressure, policy)
    return decision.replace(pressure=pressure, source=policy.source, notes=notes)


def _decide(task: Task, pressure: float | None, policy: SpawnPolicy) -> SpawnDecision:
    open_count = _open_count(task, policy)
    if open_count is not None:
        return _whatever_the_count(task, pressure, policy, open_count)
    always, never = _rules_for(task, policy)
    if always and never:
        return SpawnDecision(ASK, f"rules contradict each other: {'; '.join((*always, *never))}")
    if always:
        return SpawnDecision(SPAWN, always[0])
    if never:
        return SpawnDecision(KEEP, never[0])
    if task.tool_calls is None:
        return _whatever_the_calls(task, pressure, policy)
    return _by_pressure(task.tool_calls, pressure, policy.thresholds)


def _whatever_the_calls(task: Task, pressure: float | None, policy: SpawnPolicy) -> SpawnDecision:
    """Decide as for every number of tool calls that tells thresholds apart, if that is the same."""
    tellable = {0, *(limit for each in policy.thresholds for limit in _sides(each.over_calls))}
    decisions = [
        _decide(task.replace(tool_calls=calls), pressure, policy) for calls in sorted(tellable)
    ]
    if len({(each.answer, each.missing) for each in decisions}) == 1:
        return decisions[-1].replace(
            rule=f"{decisions[-1].rule}, whatever the number of tool calls"
        )
    then = (option for each in decisions for option in each.missing)
    missing = tuple(dict.fromkeys(("--tool-calls", *then)))
    rule = "the answer depends on the number of tool calls; give it with --tool-calls"
    return SpawnDecision(ASK, rule, missing)


def _sides(limit: int) -> tuple[int, int]:
    return limit, limit + 1


def _categories_of(task: Task) -> tuple[str, ...]:
    """Return what a task is, by name or by its numbers."""
    named = [task.category] if task.category else []
    if task.tests and task.category != "test-suite":
        named.append("test-suite")
    if task.is_one_command:
        named.append("command")
    return tuple(named)


def _rules_for(task: Task, policy: SpawnPolicy) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules by which a task is always handed over, and those by which it never is."""
    always, never = [], []
    if task.needs_user:
        never.append("never delegated: work that needs the user midway")
    for category in _categories_of(task):
        if category in policy.always:
            always.append(f"`{policy.source}` always delegates `{category}`")
        elif category in policy.never:
            never.append(f"`{policy.source}` never delegates `{category}`")
        elif (rule := CATEGORIES.get(category)) and _holds(rule, task):
            is_always = rule.answer == SPAWN
            rule_text = f"{'always' if is_always else 'never'} delegated: {rule.what}"
            rule_text += ", such as a task of at most 1 tool call" if task.is_one_command else ""
            (always if is_always else never).append(rule_text)
    return tuple(always), tuple(never)


def _holds(rule: CategoryRule, task: Task) -> bool:
    if not rule.count:
        return True
    count: int = getattr(task, rule.count)  # `_decide` asks for a number that nobody gave
    return rule.least <= count and (rule.most is None or count <= rule.most)


def _open_count(task: Task, policy: SpawnPolicy) -> CategoryRule | None:
    """Return the rule of the task's category that needs a number nobody gave."""
    rule = CATEGORIES.get(task.category)
    if rule is None or not rule.count or task.category in (*policy.always, *policy.never):
        return None
    return rule if getattr(task, rule.count) is None else None


def _whatever_the_count(
    task: Task, pressure: float | None, policy: SpawnPolicy, rule: CategoryRule
) -> SpawnDecision:
    """Decide as for either side of a rule, if that comes to the same."""
    outside = rule.least - 1 if rule.most is None else rule.most + 1
    answers = [
        _decide(task.replace(**{rule.count: count}), pressure, policy)
        for count in (outside, rule.least)
    ]
    if answers[0].answer == answers[1].answer:
        return answers[0]
    how_often = "always" if rule.answer == SPAWN else "never"
    option = f"--{rule.count}"
    unknown = f"the answer depends on the number of {rule.count}; give it with {option}"
    then = (each for answer in answers for each in answer.missing)
    missing = tuple(dict.fromkeys((option, *then)))
    return SpawnDecision(ASK, f"{unknown}; {how_often} delegated: {rule.what}", missing)


def _by_pressure(
    calls: int, pressure: float | None, thresholds: tuple[Threshold, ...]
) -> SpawnDecision:
    if not thresholds:
        return SpawnDecision(KEEP, "no rule covers it, and there is no threshold")
    if pressure is not None:
        reached = [threshold for threshold in thresholds if pressure > threshold.above]
        return _at(
            calls, reached[-1] if reached else None, f"pressure is {_shown(pressure, thresholds)}"
        )
    shown = "the pressure is unknown"
    answers = {_at(calls, threshold, shown).answer for threshold in (None, *thresholds)}
    beside = f"{shown}, and with {counted(calls, 'tool call')}"
    if len(answers) == 1:
        return SpawnDecision(answers.pop(), f"{beside} every threshold gives this answer")
    option = "--pressure"
    return SpawnDecision(
        ASK, f"{beside} the answer depends on it; give it with {option}", (option,)
    )


def _shown(pressure: float, thresholds: tuple[Threshold, ...]) -> str:
    """Return the pressure in as many digits as show on which side of each threshold it is."""
    pressure = abs(pressure)
    for digits in range(2, 16):
        near = round(pressure, digits)
        if all((near > each.above) == (pressure > each.above) for each in thresholds):
            return f"{near:.{digits}f}"
    return repr(pressure)


def _at(calls: int, threshold: Threshold | None, shown: str) -> SpawnDecision:
    """Return what holds from a threshold on, None for below all of them."""
    if threshold is None:
        return SpawnDecision(KEEP, f"{shown}, below every threshold")
    above = f"{shown}, above {threshold.level}"
    if threshold.action in (CHECKPOINT, COMPACT):
        return SpawnDecision(ASK, f"{above}, where the project wants to {threshold.action} first")
    if threshold.action:
        return SpawnDecision(
            threshold.action, f"{above}, where the project says `{threshold.action}`"
        )
    is_more = calls > threshold.over_calls
    compared = f"{'is' if calls == 1 else 'are'}{'' if is_more else ' not'} more than"
    limit = f"{counted(calls, 'tool call')} {compared} {threshold.over_calls}"
    return SpawnDecision(SPAWN if is_more else KEEP, f"{above}, and {limit}")
