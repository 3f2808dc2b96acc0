"""Reports made of values alone, with a text of choice in every place that can hold one."""

from __future__ import annotations

from gitguard.model.transcript import USER
from gitguard.review.authorship import CONTENT
from gitguard.review.piece import CodeChange, Link, Piece
from gitguard.review.report import (
    Override,
    Report,
    ReportCheckpoint,
    SessionPart,
    Verdict,
    report_of,
)
from gitguard.state.checkpoint import Checkpoint, Code, checkpoint_name
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
from gitguard.store.git.commits import CommitFile

WEB = "https://code.example/acme/mirror"
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


def stop(
    number: int, text: str, *, trigger: str = "turn-end", head: str = BASE
) -> ReportCheckpoint:
    return ReportCheckpoint(
        name=checkpoint_name(number),
        id=f"{number:040x}",
        session=text or "main",
        at=1_772_438_400 + 60 * number,
        trigger=trigger,
        pressure=0.5,
        code=head,
        commit="",
        why=text,
        purged="",
        goal=text,
        goal_by=USER,
        status=text,
        phase=text,
        next_action=text,
        confidence=0.5,
    )


def report_with(text: str) -> Report:
    """Return a report in which every text that may be anybody's is this one."""
    change = CodeChange(
        id=HEAD,
        parents=(BASE,),
        subject=text,
        authored_at=1_772_438_400,
        paths=(CommitFile(f"{text} out", 1, 2),),
    )
    part = SessionPart()
    newest = stop(2, text, trigger="compaction", head=HEAD)
    part.add(newest, "task-1", items(text, with_limit=False))
    part.add(stop(1, text, trigger="halt"), "task-1", items(text, with_limit=True))
    around = (checkpoint(1, text, "halt"), checkpoint(2, text, "compaction", HEAD))
    link = Link(
        commit=change,
        session=text,
        certainty=CONTENT,
        reason=text,
        before=checkpoint(0, text),
        after=around[1],
        between=around,
    )
    piece = Piece(BASE, HEAD, (change,), (link,), notes=(text,))
    return report_of(
        piece,
        [part],
        overrides=(Override("2026-01-31T09:30:00Z", 0.9, text),),
        verdicts=(Verdict(session=text, text=text, is_sound=False, is_ours=False, notes=(text,)),),
    )


def long_report(number: int, text: str) -> Report:
    """Return a report of so many checkpoints, each with a decision and a failure of its own."""
    part = SessionPart()
    for n in range(number, 0, -1):
        decisions = tuple(
            Decision(f"d{i}", f"{text} {i}", text, id=f"d{i}") for i in range(max(n - 40, 0), n)
        )
        failures = tuple(Failure(f"{text} {i}", text, id=f"f{i}") for i in range(max(n - 12, 0), n))
        listed = {**items(text, with_limit=True), "decisions": decisions}
        part.add(stop(n, text), "task-1", {**listed, "failed_attempts": failures})
    change = CodeChange(HEAD, (BASE,), text, 1_772_438_400)
    link = Link(
        commit=change,
        session="main",
        certainty=CONTENT,
        reason="",
        before=checkpoint(0),
        after=checkpoint(number),
        between=tuple(checkpoint(n) for n in range(1, number + 1)),
    )
    return report_of(Piece(BASE, HEAD, (), (link,)), [part])
