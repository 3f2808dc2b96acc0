"""Commands that an agent asks before it acts: gate, bundle, resume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard import process
from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.cli.process_environment import (
    halt_of,
    host_of,
    host_session,
    refuse_agents,
    shell,
)
from gitguard.cli.share_option import share_up_to
from gitguard.errors import GitguardError, HaltContextLimit, InvalidInput, StatusSignal
from gitguard.guard.hosts import WITH_CONTEXT_FILES
from gitguard.hooks.bundle import ContextItem
from gitguard.model.codec import load_json
from gitguard.model.events import MOST_SHARE, MOST_TOKENS, Reading
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.hooks.gate_decision import GateVerdict
    from gitguard.hooks.gate_question import Gated

_OVERRIDE = "To continue anyway, a human runs `gitguard override --reason …` in a terminal"
_WAY_OUT = f"Compact the context or begin a new conversation. {_OVERRIDE}"
_GIVE_USAGE = "Give the context usage with --pressure or --tokens from the first question on."


@click.command()
@click.option(
    "--pressure",
    type=share_up_to(MOST_SHARE),
    metavar="0..1",
    help="Used share of the window: 0.6 or 60%",
)
@click.option(
    "--tokens",
    type=click.IntRange(0, MOST_TOKENS),
    metavar="N",
    help="Used tokens, instead of --pressure",
)
@click.option(
    "--window",
    type=click.IntRange(1, MOST_TOKENS),
    metavar="N",
    help="Size of the window in tokens",
)
@click.option("--characters", type=click.IntRange(0), metavar="N", help="For reference_mode only")
@click.option(
    "--host-session",
    "key",
    default="",
    metavar="ID",
    help="The conversation that asks [GITGUARD_HOST_SESSION]",
)
@click.option("--changed-state", is_flag=True, help="The last action changed the state")
@click.option("--changed-phase", is_flag=True, help="The last action changed phase or goal")
@click.option(
    "--compacted",
    is_flag=True,
    help="The context was compacted since the last question; requires the pressure",
)
@with_console
def gate(
    console: Console,
    key: str,
    changed_state: bool,
    changed_phase: bool,
    compacted: bool,
    **measured: Any,
) -> None:
    """Ask before a major action whether it may run

    Also writes the checkpoint and summary that the answer requires. The first question of a
    conversation may come without pressure; after that, a missing pressure halts. Exits with 10 if
    the state is missing, 11 to halt, 12 if the task is complete.

    Example: `gitguard gate --pressure 0.62`
    """
    if compacted:
        refuse_agents("gate --compacted")
    try:
        gated = console.guard.gate(
            host_session(key),
            _reading(measured),
            characters=measured["characters"],
            action_changed_state=changed_state,
            phase_or_goal_changed=changed_phase,
            compacted=compacted,
            shell=shell(),
            host=host_of(host_session(key)),
        )
    except (InvalidInput, StatusSignal):
        raise
    except GitguardError as error:
        halted = _halted(host_session(key))
        if halted is None:
            raise
        raise halted from error
    _say_gated(console, gated)


def _halted(key: str) -> HaltContextLimit | None:
    """Return the halt of a conversation, which whatever is wrong with the repository leaves."""
    reason = halt_of(key)
    return HaltContextLimit(reason, _WAY_OUT) if reason else None


def _reading(measured: dict[str, Any]) -> Reading | None:
    share, tokens = measured["pressure"], measured["tokens"]
    if share is None and tokens is None:
        return None
    return Reading("given", process.clock(), tokens=tokens, window=measured["window"], share=share)


def _say_gated(console: Console, gated: Gated) -> None:
    verdict = gated.verdict
    lines = [one_line(f"{verdict.action}: {'; '.join(verdict.reasons)}")]
    if gated.line:
        lines.append(gated.line)
    if gated.warning:
        lines.append(f"Warning: {gated.warning}.")
    if gated.summary_conflict:
        lines.append("The summary conflicted with the state and was rewritten:")
        lines.append(gated.summary_conflict.rstrip())
    if gated.saved is not None:
        lines.append(saved_text(gated.saved))
    document = fields_of(verdict)
    document |= {"saved": gated.saved, "summary_conflict": gated.summary_conflict}
    document |= {"warning": gated.warning, "line": gated.line}
    console.say("\n".join(lines), document, _halt(verdict) or pending(gated.saved))


def _halt(verdict: GateVerdict) -> HaltContextLimit | None:
    if not verdict.halts:
        return None
    hint = _WAY_OUT if verdict.pressure is not None else f"{_GIVE_USAGE} {_OVERRIDE}"
    return HaltContextLimit(verdict.reasons[0], hint)


@click.command()
@click.option("--summary", "with_summary", is_flag=True, help="Include the summary")
@click.option(
    "--pressure",
    type=share_up_to(1),
    default=0.0,
    metavar="0..1",
    help="Pressure to trim for",
)
@click.option(
    "--items",
    type=click.File("rb"),
    metavar="FILE",
    help="JSON {items: [{name, text, worth}]}, worth low, medium or high; - for standard input",
)
@click.option(
    "--bootstrap",
    "with_bootstrap",
    is_flag=True,
    help="Add the workspace's context files after the state, as the host loads them",
)
@click.option(
    "--host",
    default=None,
    type=click.Choice(WITH_CONTEXT_FILES),
    metavar="NAME",
    help="With --bootstrap: the files' host; by default that of the newest conversation",
)
@with_console
def bundle(console: Console, pressure: float, items: Any, **wishes: Any) -> None:
    """Print the working context for the next major action

    Goal, phase, next action, last successful action, constraints and relevant artifacts; never the
    whole state. Under pressure, drops items of low worth first and names them. Cuts a long context
    file in the middle and marks the cut.

    Example: `gitguard bundle --summary --pressure 0.7`
    """
    if wishes["host"] and not wishes["with_bootstrap"]:
        raise InvalidInput(
            "`--host` says whose context files are added, and none are", "Add them: --bootstrap"
        )
    wishes["host"] = wishes["host"] or ""
    context_items = _context_items(items.read()) if items else ()
    built = console.guard.bundle(context_items, pressure=pressure, **wishes)
    lines = [
        f"Goal: {one_line(built.goal)}",
        f"Phase: {one_line(built.phase)}",
        f"Next action: {one_line(built.next_action)}",
        f"Last successful action: {one_line(built.last_successful_action)}",
        "Constraints:" + _listed(built.constraints),
        "Relevant artifacts:" + _listed(built.relevant_artifacts),
        *(f"\n{item.name}:\n{item.text}" for item in built.items),
        *([f"Dropped under pressure: {', '.join(built.dropped)}"] if built.dropped else []),
        *(f"Left out: {one_line(reason)}" for reason in built.refused),
    ]
    console.say("\n".join(lines), fields_of(built))


def _listed(items: tuple[str, ...]) -> str:
    return "".join(f"\n- {one_line(item)}" for item in items) or " (none)"


def _context_items(data: bytes) -> tuple[ContextItem, ...]:
    document = load_json(data, what="the items file")
    try:
        return tuple(
            ContextItem(str(i["name"]), str(i["text"]), str(i.get("worth", "low")))
            for i in document["items"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(
            f"the items file is wrong: {error!r}", 'Write {"items": [{"name": …, "text": …}]}'
        ) from error


@click.command()
@with_console
def resume(console: Console) -> None:
    """Print the block that returns the state to an agent

    Only a history that this machine wrote, and that verifies, is returned.

    Example: `gitguard resume`
    """
    block = console.guard.resume(host_session())
    console.say(block, {"resume": block, "characters": len(block)})


COMMANDS: list[click.Command] = [gate, bundle, resume]
