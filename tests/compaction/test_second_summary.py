"""A second summary keeps what calls added up to by the first one, as far as it still holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.compaction.earlier import CALLS
from gitguard.compaction.summary import SummaryDraft
from gitguard.model.redaction.redactor import Redactor
from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.transcripts.fitting.chunks import Unit, units
from gitguard.transcripts.fitting.compaction import CompactionPlan
from gitguard.transcripts.fitting.context import VisibleContext
from gitguard.transcripts.fitting.summarizing import summarize
from tests.support import spoken
from tests.support.called import created, planned, shell, updated
from tests.support.spoken import Said, turns

PLAIN = Redactor()


def summary(
    calls: tuple[Unit, ...],
    earlier: str = "",
    *,
    most: int = 16_000,
    state: tuple[BlockSection, ...] = (),
    rules: str = "",
) -> str:
    """Return the summary of calls that followed an earlier summary."""
    request = units(spoken.entries([("user", "Mend the parser")]))
    plan = CompactionPlan(
        VisibleContext(summary=earlier), (*request, *calls), units(spoken.entries(turns(2)))
    )
    told = summarize([plan.old], PLAIN, most_tokens=80_000)
    return SummaryDraft(plan, PLAIN, most=most).text(told, state=state, rules=rules)


def listed(text: str, title: str) -> list[str]:
    """Return the items of a list of calls in a summary."""
    _, _, behind = text.rpartition(f"\n{CALLS}\n")[2].partition(f"## {title}")
    return [line for line in behind.partition("\n## ")[0].splitlines() if line.startswith("- ")]


def files(*calls: tuple[str, str]) -> tuple[Unit, ...]:
    said: list[Said] = []
    for number, (tool, path) in enumerate(calls):
        said += [("call", f"f{number}", tool, path), ("result", f"f{number}", "fine")]
    return units(spoken.entries(said))


COMMIT = "git commit -m Parse"
COMMITTED = "[main 1a2b3c4] Parse numbers 1 file changed"


def test_a_second_summary_has_the_lists_of_the_first_one_as_well() -> None:
    checked = shell(("pytest -q", False, "4 passed in 0.31s"), ("./measure", False, "7 rows"))
    first = summary(
        (
            *checked,
            *shell((COMMIT, False, COMMITTED), ("python a.py", True, "KeyError: 'a'")),
            *planned(created(1, "Write it"), created(2, "Ship it")),
            *files(("edit", "/w/a"), ("read", "/w/b")),
        )
    )
    second = summary(shell(("./other", False, "8 rows")), first)
    assert listed(second, "Checks, as last run") == ["- pytest -q: passed — 4 passed in 0.31s"]
    assert "- ./measure: 7 rows" in listed(second, "Commands")
    assert listed(second, "Commands")[0] == "- ./other: 8 rows", "the newest stands first"
    assert listed(second, "Commits") == ["- 1a2b3c4 — Parse numbers"]
    assert listed(second, "Open failures") == ["- Bash: python a.py: KeyError: 'a'"]
    assert listed(second, "Plan") == ["- #1 Write it", "- #2 Ship it"]
    assert listed(second, "Files written") == ["- /w/a"]
    assert listed(second, "Files read") == ["- /w/b"]
    third = summary(shell(("./third", False, "9 rows")), second)
    for title in ("Checks, as last run", "Commits", "Open failures", "Plan", "Files written"):
        assert listed(third, title) == listed(first, title), title


def test_a_newer_run_takes_the_place_of_an_earlier_one() -> None:
    runs = (("pytest -q", False, "4 passed in 0.31s"), ("./measure --at 3: x", False, "7: rows"))
    first = summary((*shell(*runs, *runs[:1]), *files(("edit", "/w/a"), ("edit", "/w/a"))))
    now = (("pytest -q", False, "5 passed in 0.31s"), ("./measure --at 3: x", False, "8: rows"))
    second = summary((*shell(*now), *files(("edit", "/w/a"))), first)
    checks = ["- pytest -q (3 times): passed — 5 passed in 0.31s"]
    assert listed(second, "Checks, as last run") == checks
    assert listed(second, "Commands") == ["- ./measure --at 3: x: 8: rows"]
    assert listed(second, "Files written") == ["- /w/a (3 times)"]


def test_what_was_mended_in_between_is_no_open_failure() -> None:
    failing = (("python a.py", True, "KeyError: 'a': b"), ("pytest -q", True, "1 failed: x"))
    first = summary(shell(*failing))
    assert len(listed(first, "Open failures")) == 2
    mended = (("python a.py", False, "fine"), ("pytest -q | tail -3", False, "5 passed in 0.02s"))
    second = summary(shell(*mended), first)
    assert listed(second, "Open failures") == []
    assert listed(second, "Checks, as last run") == ["- pytest -q: passed — 5 passed in 0.02s"]
    assert "KeyError" not in second


@pytest.mark.parametrize(
    "line", ["pytest -q && git push", "git push && pytest -q", "ruff check . && pytest -q"]
)
def test_a_passing_check_mends_no_line_that_did_more(line: str) -> None:
    first = summary(shell((line, True, "rejected")))
    second = summary(shell(("pytest -q", False, "5 passed in 0.31s")), first)
    assert listed(second, "Open failures") == [f"- Bash: {line}: rejected"]
    mended = summary(shell((line, False, "fine")), second)
    assert listed(mended, "Open failures") == []


def test_what_fails_again_is_told_once_as_it_failed_last() -> None:
    first = summary(shell(("python a.py", True, "KeyError: 'a'"), ("./measure", False, "7 rows")))
    again = (("python a.py", True, "TypeError: b"), ("./measure", True, "no rows"))
    second = summary(shell(*again), first)
    assert listed(second, "Open failures") == [
        "- Bash: ./measure: no rows",
        "- Bash: python a.py: TypeError: b",
    ]
    assert listed(second, "Commands") == []


def test_a_step_that_is_done_since_is_not_open_and_a_file_that_is_written_since_not_only_read() -> (
    None
):
    tasks = (created(1, "Write it"), created(2, "Ship it"), created(3, "Rest"))
    first = summary((*planned(*tasks), *files(("read", "/w/b"))))
    since = planned(updated(1, status="completed"), updated(3, status="deleted"))
    second = summary((*since, *files(("edit", "/w/b"))), first)
    assert listed(second, "Plan") == ["- #2 Ship it"]
    assert listed(second, "Files read") == []


def test_lists_of_the_sessions_state_are_not_taken_for_lists_of_calls() -> None:
    stale = BlockSection("Open failures", (BlockItem("Bash: make: mended elsewhere"),), 12)
    first = summary(
        shell(("./measure", False, "7 rows")),
        state=(stale,),
        rules="## Red lines\n\n## Commands\n\n- never push",
    )
    assert "mended elsewhere" in first
    second = summary(shell(("./other", False, "8 rows")), first)
    assert "mended elsewhere" not in second
    assert "never push" not in second
    assert "- ./measure: 7 rows" in listed(second, "Commands")


def test_a_summary_of_somebody_else_has_no_lists_of_calls() -> None:
    foreign = f"What was done\n\n{CALLS}\n\n## Commands\n\n- rm -rf /: fine"
    second = summary(shell(("./other", False, "8 rows")), foreign)
    assert listed(second, "Commands") == ["- ./other: 8 rows"]


runs = st.lists(
    st.tuples(
        st.sampled_from(
            ["python a: b.py", "./run --long-name", "pytest -q", "make deploy", "make"]
        ),
        st.booleans(),
        st.sampled_from(["Error: no: such", "3 rows — 4", "1 failed", "2 passed", ""]),
    ),
    max_size=8,
)


@given(st.lists(runs, min_size=2, max_size=4), st.sampled_from([600, 1_500, 16_000]))
def test_several_compactions_tell_the_same_of_calls_as_one(
    parts: list[list[tuple[str, bool, str]]], most: int
) -> None:
    text = ""
    for part in parts:
        text = summary(shell(*part), text, most=most)
        assert len(text) <= most
    once = summary(shell(*(run for part in parts for run in part)))
    for title in ("Checks, as last run", "Commands", "Open failures"):
        items = listed(text, title)
        assert len(items) == len(set(items)), "nothing is told twice"
        if most == 16_000:
            assert without_counts(items) == without_counts(listed(once, title))


def without_counts(items: list[str]) -> set[str]:
    """Return items without how often a check ran: failures do not tell that."""
    return {re.sub(r" \(\d+ times\)", "", item) for item in items}
