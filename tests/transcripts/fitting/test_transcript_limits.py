"""History limits: whose conversation it is, and the last turns of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.conversation import CALL, RESULT, TranscriptEntry
from gitguard.transcripts.fitting.limits import (
    TurnLimit,
    first_within_limit,
    history_limit,
    is_turn,
    limits_of,
    parse_key,
    without_thread,
)
from tests.support.spoken import Said, entries

# Session keys


def test_a_key_is_read_by_its_parts() -> None:
    key = parse_key("agent:main:telegram:dm:123")
    assert key is not None
    assert (key.agent, key.provider, key.kind, key.user) == ("main", "telegram", "dm", "123")
    assert key.is_direct


@pytest.mark.parametrize(
    ("text", "user", "thread"),
    [
        ("agent:a:slack:channel:C1:thread:1790000000.1", "C1", ":thread:1790000000.1"),
        ("agent:a:telegram:group:-100:topic:42", "-100", ":topic:42"),
        ("agent:a:telegram:group:-100:topic:4:thread:5", "-100", ":topic:4:thread:5"),
        ("agent:a:matrix:direct:@me:example.org", "@me:example.org", ""),
        ("agent:a:matrix:direct:@me:example.org:THREAD:x", "@me:example.org", ":THREAD:x"),
        ("agent:a:x:dm:thread:5", "thread:5", ""),
    ],
)
def test_a_threads_suffix_is_no_part_of_the_user(text: str, user: str, thread: str) -> None:
    key = parse_key(text)
    assert key is not None
    assert (key.user, key.thread) == (user, thread)
    assert str(key) == text


@pytest.mark.parametrize(
    "text", ["", "agent:main:main", "cron:job", "agent:a:telegram:dm", "agent::x:dm:1", "main"]
)
def test_other_keys_name_no_chat(text: str) -> None:
    assert parse_key(text) is None


@given(st.text(alphabet=":agenthrdtopic1", max_size=40) | st.text())
def test_whatever_is_a_key_is_written_as_it_was_read(text: str) -> None:
    key = parse_key(f"agent:a:x:dm:{text}")
    assert key is None or str(key) == f"agent:a:x:dm:{text}"
    assert text.startswith(without_thread(text))
    assert without_thread(without_thread(text)) == without_thread(text)


# Limits by session key

CHANNELS = {
    "telegram": {
        "historyLimit": 50,
        "dmHistoryLimit": 10,
        "dms": {"123": {"historyLimit": 3}, "free": {"historyLimit": 0}, "odd": {}},
    },
    "discord": {"historyLimit": 20},
    "slack": {"dmHistoryLimit": "many", "dms": ["x"], "historyLimit": True},
    "irc": None,
}


@pytest.mark.parametrize(
    ("key", "limit"),
    [
        ("agent:main:telegram:dm:123", TurnLimit(3, "telegram.dms.123")),
        ("agent:other:Telegram:direct:123", TurnLimit(3, "telegram.dms.123")),
        ("agent:main:telegram:direct:123:topic:7", TurnLimit(3, "telegram.dms.123")),
        ("agent:main:telegram:dm:9", TurnLimit(10, "telegram.dms")),
        ("agent:main:telegram:dm:odd", TurnLimit(10, "telegram.dms")),
        ("agent:main:telegram:dm:free", None),
        ("agent:main:telegram:group:-100:topic:7", TurnLimit(50, "telegram")),
        ("agent:main:discord:channel:1", TurnLimit(20, "discord")),
        ("agent:main:discord:dm:1", None),
        ("agent:main:slack:dm:1", None),
        ("agent:main:main", None),
        ("", None),
    ],
)
def test_the_most_particular_limit_counts(key: str, limit: TurnLimit | None) -> None:
    assert history_limit(key, limits_of(CHANNELS)) == limit


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.text(),
)
def test_any_configuration_reads(channels: object, user: str) -> None:
    limits = limits_of(channels)
    assert all(type(turns) is int and turns >= 0 for turns in limits.values())
    history_limit(f"agent:a:x:dm:{user}", limits)


# The last turns


def kept(said: list[Said], most: int) -> list[Said]:
    return said[first_within_limit(entries(said), most) :]


TALK: list[Said] = [
    ("agent", "Hello."),
    ("user", "one"),
    ("call", "a", "bash"),
    ("result", "a", "out"),
    ("agent", "done"),
    ("user", "two"),
    ("agent", "done"),
    ("user", "three"),
]


def test_turns_are_counted_backwards() -> None:
    assert kept(TALK, 1) == TALK[7:]
    assert kept(TALK, 2) == TALK[5:]
    assert kept(TALK, 3) == kept(TALK, 0) == kept(TALK, 99) == TALK


def test_a_call_is_never_parted_from_its_result() -> None:
    late = [*TALK[:3], *TALK[4:], TALK[3]]
    assert kept(late, 1) == late
    early: list[Said] = [("user", "0"), ("result", "a", "out"), ("user", "1"), ("call", "a", "x")]
    assert kept([("user", "-"), *early], 1) == early


def test_an_id_that_is_used_again_names_the_last_call() -> None:
    assert kept([*TALK, *TALK[1:4]], 1) == TALK[1:4]


def test_what_the_host_says_in_the_users_name_is_no_turn() -> None:
    found = entries(TALK)
    found[5] = found[5].replace(by_host=True)
    assert first_within_limit(found, 2) == 0
    assert first_within_limit(found, 1) == 7


spoken = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.just("hi")),
        st.tuples(st.just("agent"), st.just("ok")),
        st.tuples(st.just("call"), st.sampled_from("abcd"), st.just("bash")),
        st.tuples(st.just("result"), st.sampled_from("abcd"), st.just("out")),
    ),
    max_size=40,
)


def pairs(found: list[TranscriptEntry]) -> set[tuple[int, int]]:
    """Return the places of each call and the next result of its id before it is used again."""
    open_calls: dict[str, int] = {}
    closed = set()
    for place, entry in enumerate(found):
        (block,) = entry.blocks
        if block.kind == CALL:
            open_calls[block.id] = place
        elif block.kind == RESULT and block.id in open_calls:
            closed.add((open_calls[block.id], place))
    return closed


@given(spoken, st.integers(0, 8))
def test_the_last_turns_are_whole_and_no_fewer(said: list[Said], most: int) -> None:
    found = entries(said)
    begin = first_within_limit(found, most)
    assert all((first >= begin) == (second >= begin) for first, second in pairs(found))
    turns = sum(map(is_turn, found))
    left = sum(map(is_turn, found[begin:]))
    assert left >= min(most, turns) if most else left == turns
    assert begin == 0 or is_turn(found[begin])
    assert first_within_limit(found[begin:], most) == 0 or not begin
