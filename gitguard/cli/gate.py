"""The gate as a command: may the agent go on, and what was written because of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitguard import process
from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.notes import pending, saved_text
from gitguard.cli.option_values import share_up_to
from gitguard.cli.process_environment import (
    halt_of,
    host_of,
    host_session,
    is_agents_shell,
    refuse_agents,
)
from gitguard.errors import Complete, GitguardError, HaltContextLimit, InvalidInput
from gitguard.model.events import MOST_SHARE, MOST_TOKENS, Reading
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.hooks.gate import GateVerdict
    from gitguard.hooks.gate_question import Gated

_OVERRIDE = "To continue anyway, a human runs `gitguard override --reason …` in a terminal"
_COMPACT = "Compact the context or begin a new conversation."
_WITHOUT_HOOKS = (
    "Compact the context and ask with --compacted and --pressure, or begin a new conversation with "
    "an --host-session of its own."
)
_GIVE_USAGE = "Pass --pressure or --tokens on every call but the first."


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

    Also writes the checkpoint and summary that the answer requires. Without --pressure and
    --tokens, what the host last reported for the conversation counts. If no host reports it, the
    first call passes and a later one halts. If the host's transcript should tell and does not, the
    usage is unknown, which halts nobody.
    Exits with 10 if the state is missing, 11 to halt, 12 if the task is complete.

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
            host=host_of(host_session(key)),
        )
    except (InvalidInput, Complete, HaltContextLimit):
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
    return HaltContextLimit(reason, _way_out()) if reason else None


def _way_out() -> str:
    """Say how a halt ends; a host's hooks notice a compaction by themselves."""
    return f"{_COMPACT if is_agents_shell() else _WITHOUT_HOOKS} {_OVERRIDE}"


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
    if gated.branch:
        lines.append(one_line(f"Warning: {gated.branch}."))
    if gated.summary_conflict:
        lines.append("The summary conflicted with the state and was rewritten:")
        lines.append(gated.summary_conflict.rstrip())
    if gated.saved is not None:
        lines.append(saved_text(gated.saved))
    document = fields_of(verdict)
    document |= {"saved": gated.saved, "summary_conflict": gated.summary_conflict}
    document |= {"warning": gated.warning, "line": gated.line, "branch": gated.branch}
    console.say("\n".join(lines), document, _halt(verdict) or pending(gated.saved))


def _halt(verdict: GateVerdict) -> HaltContextLimit | None:
    if not verdict.halts:
        return None
    hint = _way_out() if verdict.pressure is not None else f"{_GIVE_USAGE} {_OVERRIDE}"
    return HaltContextLimit("this conversation is halted, so no major action may run", hint)


COMMANDS: list[click.Command] = [gate]
