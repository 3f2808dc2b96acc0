"""Properties of folding: whatever a conversation is like, the state stays small, whole and true."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitguard.model.codec import dump_json
from gitguard.model.events import PlanItem
from gitguard.model.text import seconds, timestamp
from gitguard.model.tokens import tokens_of
from gitguard.model.transcript import USER
from gitguard.sessions.resume.building import Header, build_resume
from gitguard.state import entries as journal
from gitguard.state.capture import fold, work_of
from gitguard.state.entries import JournalEntry
from gitguard.state.items import AGENT_KINDS
from gitguard.state.task import TaskState, new_task
from gitguard.state.thread import is_heard

NOW = "2026-01-31T09:30:00Z"
STATE_LIMIT = 64 * 1024

WORDS = st.sampled_from(
    ["port", "the", "parser", "never", "instead", "12", "Fixed", "fails.", "next:", "ok", "yes",
     "no,", "`x`", "\n", "##", "- ", "é", "日本", "\u2028", "\x07", '"', "\\", "😀",
     "не надо", "解析器必须接受旧文件。", "파서는"]
)  # fmt: skip


def text(most: int) -> st.SearchStrategy[str]:
    """Sentences of any length up to most characters, long ones as likely as short ones."""
    words = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)
    return st.builds(lambda said, times: (f"{said} " * times)[:most], words, st.integers(1, 80))


PATHS = st.lists(text(300).map(lambda name: name.replace("\n", "")), max_size=4).map(tuple)
PLAN = st.lists(
    st.builds(
        PlanItem,
        st.integers(1, 60).map(str),
        text(200),
        done=st.booleans(),
        active=st.booleans(),
        gone=st.booleans(),
    ),
    max_size=40,
).map(tuple)
COMMANDS = st.sampled_from(["make test", "pytest -q", "npm run build", "ls", "git commit -m x"])


def said(event: str, most: int) -> st.SearchStrategy[JournalEntry]:
    return st.builds(JournalEntry, st.just(event), st.just(NOW), conversation(), summary=text(most))


def conversation() -> st.SearchStrategy[str]:
    return st.sampled_from(["S1", "S1", "S1", "S2"])


def call(event: str, error: st.SearchStrategy[str]) -> st.SearchStrategy[JournalEntry]:
    return st.builds(
        JournalEntry,
        st.just(event),
        st.just(NOW),
        conversation(),
        tool=st.sampled_from(["Bash", "Edit", "Read"]),
        summary=st.one_of(COMMANDS, text(200)),
        read=PATHS,
        written=PATHS,
        error=error,
        is_shell=st.booleans(),
        output=text(400),
        answers=st.lists(text(300).map(lambda words: f"Which? → {words}"), max_size=2).map(tuple),
        plan=PLAN,
        whole_plan=st.booleans(),
    )


EVENTS = st.one_of(
    said(journal.PROMPT, 2000),
    said(journal.PROMPT_READ, 2000),
    said(journal.TURN_ENDED, 1500),
    said(journal.SAID, 1400),
    said(journal.SUMMARY, 1500),
    call(journal.ENDED, st.just("")),
    call(journal.FAILED, text(400)),
)


def numbered(events: list[JournalEntry]) -> tuple[JournalEntry, ...]:
    """Entries of a journal: each has its time and, where it is a call, its id."""
    return tuple(
        entry.replace(at=timestamp(seconds(NOW) + number), id=f"c{number}" * bool(entry.tool))
        for number, entry in enumerate(events)
    )


CONVERSATIONS = st.lists(EVENTS, max_size=120).map(numbered)
MANY = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def folded(entries: tuple[JournalEntry, ...], parts: int = 1) -> TaskState:
    """The state after a journal that was folded in so many parts."""
    state = new_task("main", NOW)
    size = max(len(entries) // parts, 1)
    for start in range(0, len(entries), size):
        state = fold(state, entries[start : start + size], NOW)
    return state


@MANY
@given(CONVERSATIONS)
def test_what_hooks_gather_never_makes_a_state_larger_than_64_kib(
    entries: tuple[JournalEntry, ...],
) -> None:
    state = folded(numbered([*entries] * 5), parts=5)
    assert len(dump_json(state.to_document())) <= STATE_LIMIT


@MANY
@given(CONVERSATIONS)
def test_what_is_folded_once_more_changes_nothing(entries: tuple[JournalEntry, ...]) -> None:
    state = folded(entries)
    again = fold(state, entries, NOW)
    # A step that was removed and came back under its old number may change its place.
    assert {step.id for step in again.plan} == {step.id for step in state.plan}
    assert again.replace(dropped={}, plan=()) == state.replace(dropped={}, plan=())


@MANY
@given(CONVERSATIONS, st.integers(1, 7))
def test_what_was_said_is_the_same_however_the_journal_is_cut(
    entries: tuple[JournalEntry, ...], parts: int
) -> None:
    assert folded(entries, parts).exchanges == folded(entries).exchanges


@MANY
@given(CONVERSATIONS)
def test_the_newest_request_is_kept_and_only_prompts_and_answers_are_the_users(
    entries: tuple[JournalEntry, ...],
) -> None:
    state = folded(entries)
    prompts = [e.summary for e in entries if e.event == journal.PROMPT and e.summary.strip()]
    heard = [e for e in state.exchanges if is_heard(e)]
    assert bool(heard) >= bool(prompts)
    assert {e.kind for e in state.exchanges if e.origin.by == USER}.isdisjoint(AGENT_KINDS)


@pytest.mark.parametrize("tokens", [700, 1500, 2000])
@MANY
@given(entries=CONVERSATIONS)
def test_a_block_that_leaves_something_out_uses_nine_tenths_of_its_room(
    entries: tuple[JournalEntry, ...], tokens: int
) -> None:
    state = folded(entries)
    work = work_of(entries, state, seconds(NOW))
    block = build_resume(state, work, Header("main", "cp_012", now=NOW), max_tokens=tokens)
    assert tokens_of(block) <= tokens
    if "Not shown:" in block or " more" in block:
        assert tokens_of(block) >= 0.9 * tokens, block
