"""How a session that came up is told of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.notes import pending
from gitguard.cli.settling import conflict_lines
from gitguard.model.text import one_line, shorten
from gitguard.store.session.standing import REMOTE_ONLY

if TYPE_CHECKING:
    from gitguard.cli.console import Console
    from gitguard.sessions.startup import Startup
    from gitguard.state.items import Origin
    from gitguard.state.task import TaskState


def say_startup(console: Console, startup: Startup) -> None:
    """Print how a session came up, and where it stands."""
    about_clone = second_clone(console, startup)
    session = console.guard.current_session()
    lines = [one_line(f"Session `{session.key}` {_how(startup)}.")]
    notes = [*startup.notes, *startup.older]
    lines += [f"Note: {note}." for note in notes]
    if startup.summary_conflict:
        lines.append(startup.summary_conflict.rstrip())
    lines += where_it_stands(startup.state)
    lines += conflict_lines(console.guard.lanes.conflicts()) if startup.state.conflicts else ()
    document = {
        "session": session.key,
        "how": startup.how,
        "notes": notes,
        "summary_conflict": startup.summary_conflict,
        "state": startup.state.to_document(),
        "checkpoint": startup.saved,
    }
    if about_clone:
        console.say(about_clone, document)
        return
    console.say("\n".join(lines), document, pending(startup.saved))


def second_clone(console: Console, startup: Startup) -> str:
    """Return the sentence on a clone of which only a remote has the session; empty for any other.

    What is noted there is saved, so nothing failed; a person decides which history goes on.
    """
    saved = startup.saved
    if saved is None or not saved.pending or console.guard.status().standing != REMOTE_ONLY:
        return ""
    way_out = f"{saved.way_out[:1].lower()}{saved.way_out[1:]}"
    text = (
        f"This is another clone, and {saved.pending}, so nothing is committed here yet; {way_out}."
    )
    return one_line(text)


def _how(startup: Startup) -> str:
    """Say how a session came up; one without a first checkpoint has not begun on its branch."""
    saved = startup.saved
    if startup.how == "begun" and saved is not None and saved.pending:
        return "is kept in the working files until its first checkpoint can be saved"
    return startup.how


def where_it_stands(state: TaskState) -> list[str]:
    """Return goal, phase and next action, a line each: a state cannot fake a signal's line."""
    goal = state.stated_goal
    following = "(the last request was answered)" if state.is_answered else state.stated_next_action
    # A request that is newer may have overtaken what was noted.
    is_older = bool(following) and state.is_noted("next_action") and state.is_next_older
    title = "Next action (older than the last request)" if is_older else "Next action"
    named = {
        "Goal": (goal, _label(state.goal_from)),
        "Phase": (state.current_phase, ""),
        title: (following, "" if state.is_answered else _label(state.next_from)),
    }
    return [
        f"{name}: {shorten(one_line(text), 300)}{label}" if text else f"{name}: (missing)"
        for name, (text, label) in named.items()
    ]


def _label(origin: Origin | None) -> str:
    return origin.machine_label if origin is not None else ""
