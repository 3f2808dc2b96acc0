"""The planted piece of work is what the report is measured by, so it has to be hard enough."""

from __future__ import annotations

from gitguard.guard import Guard
from tests.conftest import Git

from . import planted


def test_ten_answers_stand_among_ten_times_as_many_routine_entries() -> None:
    entries = planted.history(1).entries
    routine = [entry for entry in entries if not entry.is_planted]
    assert len(planted.QUESTIONS) == 10
    assert len(routine) >= 100
    assert planted.history(1) == planted.history(1) != planted.history(2)


def test_the_code_alone_answers_at_most_one_question(guard: Guard, git: Git) -> None:
    written = planted.write(planted.history(1), guard, git)
    shown = git("log", "--patch", "--stat", written.range)
    commits = shown.split("\ncommit ")
    assert len(commits) == 30
    assert len(planted.answered(commits)) <= 1
    assert written.guard.problem_of(written.guard.verify()) is None
    assert len(written.guard.log(200)) == 121
