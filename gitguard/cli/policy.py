"""Commands about the work that remains: hand it over or not, and what a sub-agent has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.option_values import share_up_to
from gitguard.cli.process_environment import host_session
from gitguard.delegation.brief import ANSWER_TOKENS, BriefOptions
from gitguard.delegation.spawn_policy import CATEGORIES, SpawnPolicy, Task
from gitguard.model.events import MOST_SHARE
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from gitguard.delegation.spawn_answer import ConversationStanding

_WARNINGS = ("none", "hand over", "compact", "critical")


@click.group()
def policy() -> None:
    """Decide on sub-agents and write their briefs

    A `.context-policy.yml` at the workspace's root changes the rules of `policy spawn`. It comes
    with a clone, so it changes nothing else.
    """


def _asking(command: Any) -> Any:
    return click.option(
        "--host-session",
        "key",
        default="",
        metavar="ID",
        help="Conversation whose pressure counts; by default the newest [GITGUARD_HOST_SESSION]",
    )(command)


@policy.command()
@_asking
@with_console
def show(console: Console, key: str) -> None:
    """Show how full the context is, and advice for the remaining work

    Pressure, its band, the warning level, the tool calls left, and the rules of `policy spawn`.

    Example: `gitguard policy show`
    """
    reading = console.guard.delegation.standing(key, host_session())
    lines = (*_standing_lines(reading), *_rule_lines(reading.policy))
    console.say("\n".join(lines), fields_of(reading))


def _standing_lines(reading: ConversationStanding) -> list[str]:
    if reading.pressure is None or reading.band is None:
        return [f"Context: unknown ({one_line(reading.problem)})"]
    runway, calls = "unknown", ""
    if reading.runway is not None:
        runway = f"about {counted(reading.runway, 'tool call')}"
    if reading.calls is not None:
        calls = f"; {counted(reading.calls, 'tool call')} so far"
    source = reading.pressure.source
    band = reading.band
    by = "as given to `gitguard gate`" if source == "given" else f"by {source}"
    return [
        f"{reading.pressure.gauge_line()} {by}",
        f"Band: {band.name}, from {band.begins:.0%}. {band.advice}".rstrip(),
        f"Warning: {_WARNINGS[reading.warning]}",
        f"Runway: {runway}{calls}",
    ]


def _rule_lines(rules: SpawnPolicy) -> list[str]:
    lines = [f"`policy spawn` decides by these rules ({rules.source or 'built in'}):"]
    for threshold in rules.thresholds:
        action_text = threshold.action or f"spawn over {counted(threshold.over_calls, 'tool call')}"
        lines.append(f"- above {threshold.level}: {action_text}")
    lines += [] if rules.thresholds else ["- no thresholds"]
    lines += [f"- always spawn: {', '.join(rules.always)}"] if rules.always else []
    lines += [f"- never spawn: {', '.join(rules.never)}"] if rules.never else []
    return lines + [f"Note: {note}" for note in rules.notes]


@policy.command()
@click.option(
    "--tool-calls",
    type=click.IntRange(0, 1_000_000),
    metavar="N",
    help="Your estimate of the tool calls the task takes; some rules need it",
)
@click.option(
    "--category",
    default="",
    metavar="NAME",
    help=f"Kind of task: {', '.join(CATEGORIES)}, or one of the project's own",
)
@click.option(
    "--files", type=click.IntRange(0), metavar="N", help="Files the task reads or changes"
)
@click.option("--tests", type=click.IntRange(0), metavar="N", help="Tests the task runs")
@click.option("--needs-user", is_flag=True, help="The task needs the user midway")
@click.option(
    "--pressure",
    type=share_up_to(MOST_SHARE),
    metavar="0..1",
    help="Used share of the window: 0.6 or 60%; by default the session's newest",
)
@_asking
@with_console
def spawn(console: Console, key: str, pressure: float | None, **task: Any) -> None:
    """Ask whether to delegate a task to a sub-agent

    Answers `spawn`, `keep` or `ask`, with the rule that decided. `ask` means that rules contradict
    each other, that the project wants you to ask, or that the answer depends on a figure you did
    not give: the pressure, or the number of files, tests or tool calls.

    Example: `gitguard policy spawn --category research --tool-calls 12`
    """
    decision = console.guard.delegation.spawn(
        Task(**task), pressure, conversation=key, around=host_session()
    )
    notes = (f"Note: {note}" for note in decision.notes)
    console.say("\n".join((f"{decision.answer}: {decision.rule}", *notes)), fields_of(decision))


@policy.command()
@click.argument("task")
@click.option("--success", multiple=True, metavar="TEXT", help="What success looks like")
@click.option("--read", multiple=True, metavar="PATH", help="A file to read first")
@click.option("--write", multiple=True, metavar="PATH", help="A file or folder to write to")
@click.option("--avoid", multiple=True, metavar="TEXT", help="What to avoid")
@click.option(
    "--tokens",
    type=click.IntRange(50, 10_000),
    default=ANSWER_TOKENS,
    show_default=True,
    metavar="N",
    help="Most tokens of the answer",
)
@with_console
def brief(console: Console, task: str, **wishes: Any) -> None:
    """Write the task description that a sub-agent needs

    A sub-agent has no context of its own. The description holds the goal, the task, what to read
    first, what success looks like, where to write, what to avoid, the decisions and constraints of
    the state, and how long the answer may be. It contains no secrets and at most 8,000 characters.
    You can repeat --success, --read, --write and --avoid.

    Example: `gitguard policy brief "Find the slow test" --read tests/ --success "One test named"`
    """
    text = console.guard.delegation.brief(task, BriefOptions(**wishes))
    console.say(text, {"brief": text, "characters": len(text)})


COMMANDS: list[click.Command] = [policy]
