"""What was advised in past sessions is kept in git, and adds up to a habit and to lessons."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran
from hypothesis import given
from hypothesis import strategies as st

from gitguard.cli.app import app
from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.codec import dump_line, load_json
from gitguard.profile import advice_log
from gitguard.profile.habits import (
    APPLIED,
    DECLINED,
    GIVEN,
    NOTHING_NEW,
    NOTHING_TO_ADVISE,
    OUTCOMES,
    ROLLED_BACK,
    Advised,
    GivenAdvice,
    add_up,
)
from gitguard.profile.learning import is_newest, record_advice
from gitguard.profile.patterns import BURSTY, MIXED, PATTERNS, TOOL_HEAVY, UNKNOWN
from tests.support.conversation import Conversation
from tests.support.profile_page import members, named_on_the_page
from tests.support.staged import staged_object

TTL = "contextPruning.ttl 5m → 1m"


@given(
    st.sampled_from((*PATTERNS, UNKNOWN)),
    st.sampled_from(OUTCOMES),
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4),
    st.booleans(),
)
def test_an_advice_reads_back(
    pattern: str, outcome: str, changes: list[str], is_named: bool
) -> None:
    advice = GivenAdvice(pattern, outcome, tuple(changes), is_named=is_named)
    for nothing in (NOTHING_TO_ADVISE, NOTHING_NEW):
        written = Advised("s", 1, advice.replace(nothing=nothing), "c" * 40)
        line = dump_line(written.to_document())
        assert Advised.from_document(load_json(line, what="an advice")) == written


def advised(session: str, at: int, pattern: str, outcome: str, *changes: str) -> Advised:
    return Advised(session, at, GivenAdvice(pattern, outcome, changes))


@pytest.mark.parametrize(
    ("patterns", "usual", "why"),
    [
        ((), "", "not enough to tell: 0 of at least 3 sessions"),
        ((TOOL_HEAVY,) * 2, "", "not enough to tell: 2 of at least 3 sessions"),
        ((TOOL_HEAVY,) * 3, TOOL_HEAVY, "3 of 3 sessions were tool-heavy"),
        (
            (TOOL_HEAVY, TOOL_HEAVY, MIXED, MIXED),
            "",
            "no pattern is usual: 2 of 4 sessions were tool-heavy",
        ),
        ((MIXED, TOOL_HEAVY, MIXED), MIXED, "2 of 3 sessions were mixed"),
        ((UNKNOWN,) * 5, "", "not enough to tell: 0 of at least 3 sessions"),
    ],
)
def test_a_pattern_of_most_sessions_is_usual(
    patterns: tuple[str, ...], usual: str, why: str
) -> None:
    habit = add_up([advised(f"s{i}", i, name, GIVEN) for i, name in enumerate(patterns)])
    assert (habit.usual, habit.why) == (usual, why)


def test_of_each_session_the_newest_pattern_counts() -> None:
    told = [advised("a", 2, BURSTY, GIVEN), advised("a", 1, MIXED, GIVEN)]
    assert add_up(told).patterns == ((BURSTY, 1),)
    later = [*told, advised("a", 3, UNKNOWN, GIVEN)]
    assert add_up(later).patterns == ((BURSTY, 1),)


def test_what_the_work_did_not_show_is_no_pattern_of_a_session() -> None:
    named = GivenAdvice(MIXED, APPLIED, (TTL,), is_named=True)
    told = [Advised("a", 1, named), advised("b", 1, BURSTY, ROLLED_BACK, TTL)]
    assert add_up(told).patterns == ()
    assert add_up([*told, advised("a", 0, BURSTY, GIVEN)]).patterns == ((BURSTY, 1),)


LATE = 1_790_000_000
BACK = "was rolled back on 2026-09-21"


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        ((GIVEN,), ""),
        ((APPLIED,), ""),
        ((APPLIED, APPLIED), "was applied 2 times and not rolled back"),
        ((APPLIED, GIVEN, APPLIED), "was applied 2 times and not rolled back"),
        ((APPLIED, APPLIED, DECLINED), ""),
        ((DECLINED,), ""),
        ((DECLINED, DECLINED), "was declined 2 times"),
        ((APPLIED, ROLLED_BACK), BACK),
        ((APPLIED, ROLLED_BACK, GIVEN, GIVEN), BACK),
        ((APPLIED, ROLLED_BACK, DECLINED), BACK),
        ((DECLINED, DECLINED, GIVEN), "was declined 2 times"),
        ((DECLINED, DECLINED, APPLIED), ""),
        ((APPLIED, APPLIED, GIVEN), "was applied 2 times and not rolled back"),
        ((GIVEN, GIVEN), ""),
        ((APPLIED, APPLIED, ROLLED_BACK, APPLIED), ""),
        ((DECLINED, APPLIED, ROLLED_BACK, APPLIED, DECLINED), ""),
        (
            (APPLIED, ROLLED_BACK, APPLIED, APPLIED),
            "was applied 2 times and not rolled back",
        ),
    ],
)
@pytest.mark.parametrize("seconds", [1, 0])
def test_what_became_of_a_change_is_a_lesson(
    outcomes: tuple[str, ...], verdict: str, seconds: int
) -> None:
    told = [
        advised("s", LATE + i * seconds, MIXED, outcome, TTL) for i, outcome in enumerate(outcomes)
    ]
    [lesson] = add_up(list(reversed(told))).lessons
    assert (lesson.change, lesson.times, lesson.newest) == (TTL, len(outcomes), outcomes[-1])
    assert lesson.verdict == verdict
    assert lesson.is_against == (verdict in (BACK, "was declined 2 times"))


def test_a_lesson_on_what_is_advised_again_is_found() -> None:
    kept = [
        Advised("s", at, GivenAdvice(TOOL_HEAVY, DECLINED, (TTL, "mode safeguard")[: 2 - at]))
        for at in (0, 1)
    ]
    habit = add_up(kept)
    found = habit.lesson_on(TOOL_HEAVY, TTL)
    assert found is not None
    assert found.change == TTL
    assert habit.lesson_on(TOOL_HEAVY, "mode safeguard") is None


def test_a_lesson_is_about_one_way_of_working_with_one_value() -> None:
    """What is advised where no way of working is known is what is advised for mixed work."""
    habit = add_up([advised("s", 0, MIXED, ROLLED_BACK, TTL)])
    assert habit.lesson_on(BURSTY, TTL) is None
    assert habit.lesson_on(MIXED, TTL.replace("1m", "2m")) is None
    assert habit.lesson_on(MIXED, TTL) is not None
    assert habit.lesson_on(UNKNOWN, TTL) == habit.lesson_on(MIXED, TTL)


def test_what_was_taken_as_usual_does_not_make_a_pattern_more_usual() -> None:
    usual = GivenAdvice(TOOL_HEAVY, APPLIED, (TTL,), is_usual=True)
    assert add_up([Advised("s", 0, usual)]).patterns == ()


def test_a_lesson_is_found_however_the_change_is_spelt() -> None:
    change = 'tools.deny ["a;b",\n "c"]'
    habit = add_up([advised("s", 0, TOOL_HEAVY, ROLLED_BACK, change)])
    assert habit.lesson_on(TOOL_HEAVY, change) is not None


# Remembered in the state directory


tmp_path, talk = staged_object("talk", Conversation)


def record(talk: Conversation, outcome: str = APPLIED, change: str = TTL) -> None:
    record_advice(talk.guard.store(), GivenAdvice(TOOL_HEAVY, outcome, (change,)))


def everything_in(talk: Conversation) -> dict[str, bytes]:
    paths = (path for path in talk.root.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(path): path.read_bytes() for path in paths}


def test_an_advice_changes_nothing_in_the_workspace(talk: Conversation) -> None:
    (talk.root / "memory").mkdir()
    talk.guard.ensure()
    before = everything_in(talk)
    record(talk)
    assert everything_in(talk) == before
    assert [each.advice.changes for each in talk.guard.profile.past_advice().advised] == [(TTL,)]


def test_of_a_long_advice_all_changes_are_kept(talk: Conversation) -> None:
    changes = tuple(f"some.setting.{number} {'v' * 100}{number}" for number in range(30))
    record_advice(talk.guard.store(), GivenAdvice(MIXED, GIVEN, changes))
    [advised] = talk.guard.profile.past_advice().advised
    assert advised.advice.changes == changes


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"at": "x"}',
        b'{"at":1,"session":"s","head":[],"advice":{"pattern":"mixed","outcome":"given"}}',
        b'{"at":1,"session":"s","head":"","advice":{"pattern":"lazy","outcome":"given"}}',
        b'{"at":1,"session":"s","head":"","advice":{"pattern":"mixed","outcome":"eaten"}}',
        b"",
        b"null",
    ],
)
def test_a_line_that_does_not_read_is_passed_over(talk: Conversation, line: bytes) -> None:
    record(talk)
    with open(advice_log.path_in(talk.guard.workspace.state_folder), "ab") as log:
        log.write(line + b"\n")
    record(talk, DECLINED)
    outcomes = [each.advice.outcome for each in talk.guard.profile.past_advice().advised]
    assert outcomes == [DECLINED, APPLIED]


def test_a_log_that_does_not_read_is_said_and_breaks_no_advice(talk: Conversation) -> None:
    record(talk)
    log = Path(advice_log.path_in(talk.guard.workspace.state_folder))
    log.unlink()
    log.mkdir()
    [problem] = talk.guard.profile.past_advice().problems
    assert "_advice.jsonl" in problem
    with pytest.raises(InvalidDocument):
        is_newest(talk.guard.store(), GivenAdvice(MIXED, GIVEN, (TTL,)))


def test_of_one_advice_in_a_row_and_again_the_newest_is_known(talk: Conversation) -> None:
    store = talk.guard.store()
    short = GivenAdvice(MIXED, GIVEN, (TTL,))
    long = GivenAdvice(MIXED, GIVEN, tuple(f"key.{n} {'v' * 100}{n}" for n in range(30)))
    assert not is_newest(store, short)
    for advice, other in ((short, long), (long, short)):
        record_advice(store, advice)
        talk.guard.note({"goal": f"After {advice.changes[0]}"})
        assert is_newest(store, advice)
        assert not is_newest(store, other)
    assert not is_newest(store, long.replace(outcome=DECLINED))


def test_all_sessions_are_looked_through(talk: Conversation) -> None:
    from gitguard.store.session.workspace import Session

    record(talk)
    talk.guard.sessions.use(Session.of("other"))
    talk.clock.pass_by(60)
    record(talk, DECLINED)
    past = talk.guard.profile.past_advice()
    assert [(each.session, each.advice.outcome) for each in past.advised] == [
        ("other", DECLINED),
        ("main", APPLIED),
    ]
    assert past.habit.patterns == ((TOOL_HEAVY, 2),)
    assert past.problems == ()


def test_sessions_that_were_put_away_are_past_sessions_too(
    talk: Conversation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is one of its own, though the next has the same name."""
    monkeypatch.setenv("GITGUARD_STATE_DIR", str(tmp_path / "state"))
    closed = []
    for _ in range(2):
        record(talk)
        closed.append(f"main@{talk.guard.sessions.close().commit[:12]}")
        talk.clock.pass_by(60)
        talk.guard.ensure()
    record(talk, DECLINED)
    guard = talk.guard
    past = guard.profile.past_advice()
    assert [each.session for each in past.advised] == ["main", *reversed(closed)]
    assert past.habit.usual == TOOL_HEAVY
    assert past.problems == ()
    shown = ran(talk.root, "--history").output
    assert f"{closed[0]}: tool-heavy, advice applied: {TTL}" in shown
    assert "Usual: tool-heavy (3 of 3 sessions were tool-heavy)" in shown


def test_a_secret_in_an_advice_is_taken_out(talk: Conversation) -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    record(talk, change=f"apiKey {key}")
    log = Path(advice_log.path_in(talk.guard.workspace.state_folder))
    assert "apiKey" in log.read_text()
    assert key not in log.read_text()


def test_a_purge_takes_a_value_out_of_what_was_advised(talk: Conversation) -> None:
    talk.guard.ensure()
    record(talk, change="color rubberduck-4711")
    talk.guard.note({"goal": "rubberduck-4711"})
    talk.guard.checkpoint("Keep it.")
    talk.guard.secrets.purge("1", value="rubberduck-4711")
    assert (
        "rubberduck-4711"
        not in Path(advice_log.path_in(talk.guard.workspace.state_folder)).read_text()
    )


# The command


def ran(root: Path, *arguments: str) -> Ran:
    environment = {"GITGUARD_STATE_DIR": str(root.parent / "state")}
    command = ["--root", str(root), "profile", *arguments]
    return CliRunner().invoke(app, command, env=environment)


def test_the_command_shows_the_history(talk: Conversation) -> None:
    record(talk)
    record(talk)
    said = ran(talk.root, "--history").output
    day = time.strftime("%Y-%m-%d", time.gmtime(talk.clock()))
    assert f"{day} main: tool-heavy, advice applied: {TTL}" in said
    assert "Patterns: tool-heavy 1 session" in said
    assert "Usual: none (not enough to tell: 1 of at least 3 sessions)" in said
    assert f"  {TTL}: was applied 2 times and not rolled back, for tool-heavy work" in said
    document = json.loads(ran(talk.root, "--history", "--json").output)
    assert members(document) <= named_on_the_page()
    assert document["habit"]["sessions"] == 1
    assert [each["advice"]["outcome"] for each in document["advised"]] == [APPLIED, APPLIED]


def test_without_any_advice_that_is_said(talk: Conversation) -> None:
    assert ran(talk.root, "--history").output.startswith("No advice was given yet")


def test_a_history_is_of_no_transcript(talk: Conversation) -> None:
    for arguments, named in (
        (("some.jsonl",), "the transcript"),
        (("--model", "x"), "--model"),
        (("--format", "pi", "--conversation", "c"), "--format, --conversation"),
    ):
        done = ran(talk.root, "--history", *arguments)
        assert isinstance(done.exception, InvalidInput)
        assert done.exception.hint == f"Leave out {named}"
