"""Commands about the state: note, update, gate, bundle, resume."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, with_console
from gitguard.cli.surroundings import host_session
from gitguard.context.bundle import ContextItem
from gitguard.errors import HaltContextLimit, InvalidInput, Pending
from gitguard.model.codec import load_json
from gitguard.model.events import Reading

if TYPE_CHECKING:
    from gitguard.guard import Noted
    from gitguard.session_store import Saved
    from gitguard.usecases.gate import Gated

_LISTS = {
    "done": "completed_steps",
    "issue": "open_issues",
    "constraint": "constraints",
    "invariant": "invariants",
    "blocker": "blockers",
    "learning": "learnings",
    "assumption": "pending_assumptions",
}


@click.command()
@click.option("--goal", metavar="TEXT", help="What the task is to reach")
@click.option("--phase", metavar="TEXT", help="The part of the work that is going on")
@click.option("--next", "next_action", metavar="TEXT", help="The next step; DONE at the end")
@click.option("--done", multiple=True, metavar="TEXT", help="A completed step (can be repeated)")
@click.option("--decision", metavar="TEXT", help="A choice that later work relies on")
@click.option("--why", metavar="TEXT", default="", help="The reason of the decision")
@click.option("--failure", metavar="TEXT", help="What was tried and failed")
@click.option("--error", metavar="TEXT", default="", help="How it failed")
@click.option("--issue", multiple=True, metavar="TEXT", help="An open issue (can be repeated)")
@click.option("--constraint", multiple=True, metavar="TEXT", help="A limit (can be repeated)")
@click.option(
    "--invariant", multiple=True, metavar="TEXT", help="What must stay true (can be repeated)"
)
@click.option("--artifact", multiple=True, metavar="PATH", help="A touched file (can be repeated)")
@click.option(
    "--output", multiple=True, metavar="TOOL:TEXT", help="A tool's output to keep (can be repeated)"
)
@click.option(
    "--blocker", multiple=True, metavar="TEXT", help="What stops the work (can be repeated)"
)
@click.option(
    "--learning", multiple=True, metavar="TEXT", help="Something learned (can be repeated)"
)
@click.option(
    "--assumption", multiple=True, metavar="TEXT", help="Something unchecked (can be repeated)"
)
@click.option("--confidence", type=float, metavar="0..1", help="How sure this state is")
@click.option("--new-task", is_flag=True, help="Begin a new task in this session")
@with_console
def note(console: Console, new_task: bool, **given: Any) -> None:
    """Write down what the agent knows

    What you note stays until you change it; lists grow. To replace a list, use `gitguard update`.
    """
    _say_noted(console, console.guard.note(_changes(given), new_task=new_task))


def _changes(given: dict[str, Any]) -> dict[str, Any]:
    named = {"goal": "goal", "phase": "current_phase", "next_action": "next_action"}
    changes = {field: given[option] for option, field in named.items() if given[option] is not None}
    changes |= {field: list(given[option]) for option, field in _LISTS.items() if given[option]}
    if given["done"]:
        changes["last_action"] = {"summary": given["done"][-1]}
    if given["decision"]:
        changes["decisions"] = [{"what": given["decision"], "why": given["why"]}]
    if given["failure"]:
        changes["failed_attempts"] = [{"what": given["failure"], "error": given["error"]}]
    if given["artifact"]:
        changes["artifacts"] = [{"path": path} for path in given["artifact"]]
    if given["output"]:
        changes["tool_outputs"] = [_tool_output(text) for text in given["output"]]
    if given["confidence"] is not None:
        changes["state_confidence"] = given["confidence"]
    _refuse_lonely(given)
    return changes


def _tool_output(text: str) -> dict[str, str]:
    tool, colon, summary = text.partition(":")
    if not colon:
        raise InvalidInput(f"`{text[:80]}` has no tool's name", "Write --output 'pytest: 3 failed'")
    return {"tool": tool.strip(), "summary": summary.strip()}


def _refuse_lonely(given: dict[str, Any]) -> None:
    for detail, subject in (("why", "decision"), ("error", "failure")):
        if given[detail] and not given[subject]:
            raise InvalidInput(f"--{detail} says something about no --{subject}")


@click.command()
@with_console
def update(console: Console) -> None:
    """Set fields of the state from a JSON object on standard input

    All of it is applied, or nothing. Of the lists, artifacts, completed_steps, decisions,
    failed_attempts, learnings and tool_outputs are appended to; the others are replaced.
    """
    data = click.get_binary_stream("stdin").read()
    document = load_json(data, what="standard input")
    _say_noted(console, console.guard.update(document))


def _say_noted(console: Console, noted: Noted) -> None:
    lines = [f"{name}: {what}" for name, what in noted.report.items()] or ["A new task begins."]
    if noted.saved is not None:
        lines.append(saved_text(noted.saved))
    document = {"report": noted.report, "saved": noted.saved, "state": noted.state.to_document()}
    console.say("\n".join(lines), document)
    raise_pending(noted.saved)


def saved_text(saved: Saved) -> str:
    """Say what became of a checkpoint."""
    if saved.pending:
        return f"Saved in the working files; the commit is pending: {saved.pending}"
    if not saved.commit:
        return "Nothing changed since the last checkpoint."
    return f"Saved checkpoint {saved.sequence} ({saved.trigger}) as {saved.commit[:12]}"


def raise_pending(saved: Saved | None) -> None:
    """End a command whose commit has to wait with the exit code that says so."""
    if saved is not None and saved.pending:
        raise Pending(f"the commit is pending: {saved.pending}")


@click.command()
@click.option(
    "--pressure", type=click.FloatRange(0, None), metavar="0..1", help="Used share of the window"
)
@click.option(
    "--tokens", type=click.IntRange(0, None), metavar="N", help="Used tokens, instead of --pressure"
)
@click.option("--window", type=click.IntRange(1, None), metavar="N", help="The window in tokens")
@click.option(
    "--characters", type=click.IntRange(0, None), metavar="N", help="For reference_mode only"
)
@click.option("--host-session", "key", default="", metavar="ID", help="Conversation that asks")
@click.option("--changed-state", is_flag=True, help="The last action changed the state")
@click.option("--changed-phase", is_flag=True, help="The last action changed phase or goal")
@with_console
def gate(
    console: Console,
    pressure: float | None,
    tokens: int | None,
    window: int | None,
    characters: int | None,
    key: str,
    changed_state: bool,
    changed_phase: bool,
) -> None:
    """Ask before a major action whether it may run

    Writes the checkpoint and summary that the answer demands. A conversation's first question may
    come without pressure; later a missing one halts. Exit codes: 10 the state is missing, 11 halt,
    12 the task is complete.
    """
    reading = None
    if pressure is not None or tokens is not None:
        reading = Reading("given", time.time(), tokens=tokens, window=window, share=pressure)
    gated = console.guard.gate(
        host_session(key),
        reading,
        characters=characters,
        action_changed_state=changed_state,
        phase_or_goal_changed=changed_phase,
    )
    _say_gated(console, gated)


def _say_gated(console: Console, gated: Gated) -> None:
    verdict = gated.verdict
    lines = [f"{verdict.action}: {'; '.join(verdict.reasons)}"]
    if gated.summary_conflict:
        lines.append("The summary conflicted with the state and was rewritten:")
        lines.append(gated.summary_conflict.rstrip())
    if gated.saved is not None:
        lines.append(saved_text(gated.saved))
    document = {name: getattr(verdict, name) for name in verdict.field_names}
    document |= {"saved": gated.saved, "summary_conflict": gated.summary_conflict}
    if verdict.halts and not console.as_json:
        click.echo("\n".join(lines))
        raise HaltContextLimit(
            verdict.reasons[0], "Compact the context, or begin a new conversation"
        )
    console.say("\n".join(lines), document)
    if verdict.halts:
        click.get_current_context().exit(HaltContextLimit.exit_code)


@click.command()
@click.option("--summary", "with_summary", is_flag=True, help="Include the summary")
@click.option(
    "--pressure",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="0..1",
    help="Pressure to trim for",
)
@click.option(
    "--items", type=click.File("rb"), metavar="FILE", help="JSON {items: [{name, text, worth}]}"
)
@with_console
def bundle(console: Console, with_summary: bool, pressure: float, items: Any) -> None:
    """Print the working context for the next major action

    Goal, phase, next action, last successful action, constraints and relevant artifacts; never the
    whole state. Under pressure, items of low worth are dropped first, and named.
    """
    given = _context_items(items.read()) if items else ()
    built = console.guard.bundle(given, with_summary=with_summary, pressure=pressure)
    lines = [
        f"Goal: {built.goal}",
        f"Phase: {built.phase}",
        f"Next action: {built.next_action}",
        f"Last successful action: {built.last_successful_action}",
        "Constraints:" + _listed(built.constraints),
        "Relevant artifacts:" + _listed(built.relevant_artifacts),
        *(f"\n{item.name}:\n{item.text}" for item in built.items),
        *([f"Dropped under pressure: {', '.join(built.dropped)}"] if built.dropped else []),
    ]
    console.say("\n".join(lines), {name: getattr(built, name) for name in built.field_names})


def _listed(items: tuple[str, ...]) -> str:
    return "".join(f"\n- {item}" for item in items) or " (none)"


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
    """Print the block that hands the state back to an agent

    It is given only from a history that this machine wrote and that verifies.
    """
    block = console.guard.resume()
    console.say(block, {"resume": block, "characters": len(block)})


COMMANDS: list[click.Command] = [note, update, gate, bundle, resume]
