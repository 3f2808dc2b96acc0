"""Reports made of values alone, with a text of choice in every place that can hold one."""

from __future__ import annotations

from gitguard.model.transcript import USER
from gitguard.review.gathering import References
from gitguard.review.piece import EXACT, ChangedPath, CodeChange, Link, Piece
from gitguard.review.report import Moment, Override, Report, Verdict, report_of
from gitguard.state.checkpoint import Checkpoint, Code
from gitguard.state.items import (
    CONSTRAINT,
    FAILED,
    HOOK,
    Artifact,
    Command,
    Decision,
    Exchange,
    Failure,
    Item,
    Note,
    Origin,
)

WEB = "https://code.example/acme/mirror"
REFERENCES = References(WEB, True, ("main",))
BASE, HEAD = "a" * 40, "b" * 40


def checkpoint(
    number: int, text: str = "", trigger: str = "turn-end", head: str = BASE
) -> Checkpoint:
    return Checkpoint(
        id=f"{number:040x}",
        parent=f"{number - 1:040x}",
        subject=f"checkpoint {number}: {text}",
        why=text,
        at=1_772_438_400 + 60 * number,
        session_key=text or "main",
        sequence=number,
        trigger=trigger,
        pressure=0.5,
        code=Code(head, "main"),
    )


def items(text: str, *, with_limit: bool) -> dict[str, tuple[Item, ...]]:
    """Return an item of every kind that says a text."""
    note = Note(text, id="n", origin=Origin())
    hook = Origin(HOOK)
    return {
        "decisions": (Decision(text, text, text, id="d"),),
        "failed_attempts": (
            Failure(text, text, id="f", origin=hook),
            Failure(text, text, "2026-01-31T09:30:00Z", id="g"),
        ),
        "constraints": (note,) if with_limit else (),
        "invariants": (note,),
        "pending_assumptions": (note,),
        "open_issues": (note,),
        "blockers": (note,),
        "completed_steps": (note,),
        "learnings": (note,),
        "exchanges": (Exchange(text, CONSTRAINT, text, id="e", origin=Origin(USER)),),
        "commands": (Command(text, FAILED, text, id="c", origin=hook),),
        "artifacts": (
            Artifact(text, description=text, id="a", origin=hook),
            Artifact(f"{text} too", by_shell=True, id="b", origin=hook),
        ),
    }


def moment(number: int, text: str, *, with_limit: bool, trigger: str, head: str) -> Moment:
    return Moment(
        checkpoint(number, text, trigger, head),
        "task-1",
        text,
        USER,
        text,
        text,
        text,
        0.5,
        items(text, with_limit=with_limit),
    )


def report_with(text: str) -> Report:
    """Return a report in which every text that may be anybody's is this one."""
    change = CodeChange(HEAD, (BASE,), text, 1_772_438_400, (ChangedPath(f"{text} out", 1, 2),))
    moments = [
        moment(2, text, with_limit=False, trigger="compaction", head=HEAD),
        moment(1, text, with_limit=True, trigger="halt", head=BASE),
    ]
    around = (moments[1].checkpoint, moments[0].checkpoint)
    link = Link(change, text, EXACT, text, None, around[1], around)
    piece = Piece(BASE, HEAD, (change,), (link,), notes=(text,))
    return report_of(
        piece,
        [moments],
        overrides=(Override("2026-01-31T09:30:00Z", 0.9, text),),
        verdicts=(Verdict(text, text, False, False, (text,)),),
    )


def long_report(number: int, text: str) -> Report:
    """Return a report of so many checkpoints, each with a decision and a failure of its own."""
    moments = []
    for n in range(number, 0, -1):
        decisions = tuple(
            Decision(f"d{i}", f"{text} {i}", text, id=f"d{i}") for i in range(max(n - 40, 0), n)
        )
        failures = tuple(Failure(f"{text} {i}", text, id=f"f{i}") for i in range(max(n - 12, 0), n))
        state = moment(n, text, with_limit=True, trigger="turn-end", head=BASE)
        listed = {**state.items, "decisions": decisions, "failed_attempts": failures}
        moments.append(state.replace(items=listed))
    return report_of(Piece(BASE, HEAD, (), ()), [moments])
