"""Shows what a repair or a restore changes in the state, asks, and says what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.change_lines import difference_lines
from gitguard.cli.console import Console, confirm
from gitguard.cli.notes import pending, saved_text
from gitguard.model.text import one_line

if TYPE_CHECKING:
    from gitguard.sessions.state_comparison import FieldChange, StateChange


def shown_changes(plan: StateChange) -> list[FieldChange]:
    """Return the fields of a state that a person is told of."""
    return [c for c in plan.changes if not (c.is_empty or c.is_bookkeeping)]


def show_plan(console: Console, plan: StateChange, *, in_sentences: bool = False) -> None:
    """Print what would change in the state: its fields, or sentences about what it holds."""
    lines = [line for change in shown_changes(plan) for line in change.lines()]
    sentences = console.guard.history.sentences(plan) if in_sentences and lines else ()
    # Who said a thing may be all that differs, which no sentence tells.
    if sentences:
        lines = [
            line.text for line in difference_lines(sentences, console.guard.clock(), _whole(plan))
        ]
    lines = lines or ["The state stays the same."]
    if plan.checkpoint is not None:
        shown = plan.checkpoint
        lines.insert(0, f"{shown.name} {shown.id[:12]}: {shown.subject.partition(': ')[2]}")
    console.say("\n".join(lines), {"checkpoint": plan.checkpoint, "changes": list(plan.changes)})


def _whole(plan: StateChange) -> str:
    name = plan.checkpoint.name if plan.checkpoint is not None else "CHECKPOINT"
    return f"gitguard restore {name} --dry-run --json"


def ask_about(
    console: Console, plan: StateChange, question: str, *, yes: bool, in_sentences: bool = False
) -> None:
    """Show a change to people and ask; a program that says --json reads the outcome only."""
    if not console.as_json:
        show_plan(console, plan, in_sentences=in_sentences)
    confirm(question, yes=yes)


def say_changed(console: Console, change: StateChange) -> None:
    """Print what was changed in the state."""
    lines = [one_line(f"Done: {note}.") for note in change.notes]
    if change.saved is not None:
        lines.append(saved_text(change.saved))
    lines += [change.remark] if change.remark else []
    document = {
        "notes": list(change.notes),
        "remark": change.remark,
        "saved": change.saved,
        "state": change.after,
    }
    console.say("\n".join(lines) or "Done.", document, pending(change.saved))
