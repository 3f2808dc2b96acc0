"""The thread of a conversation: what is kept of it, whole or piece by piece."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.thread import (
    MOST_EXCHANGES,
    Exchange,
    extend,
    is_decision,
    summary,
)
from gitguard.model.transcript import AGENT, USER, Message

LONG = "because " * 63
"""504 characters."""


def user(text: str) -> Message:
    return Message(USER, text)


def agent(text: str) -> Message:
    return Message(AGENT, text)


def gists(messages: list[Message]) -> list[str]:
    return [exchange.gist for exchange in extend((), messages)]


def numbered(pieces: list[tuple[str, bool]]) -> list[Message]:
    """Make messages whose beginning tells them apart; the flag makes one long."""
    return [
        Message(role, f"{number} {LONG if is_long else 'short'}")
        for number, (role, is_long) in enumerate(pieces)
    ]


def always_kept(messages: list[Message]) -> set[int]:
    """Say which messages the rules keep whatever else there is, from the whole array."""
    users = [i for i, message in enumerate(messages) if message.role == USER]
    if not users:
        return set()
    ends = [*users[1:], len(messages)]
    pairs = [(begin, end - 1) for begin, end in zip(users, ends, strict=True) if end > begin + 1]
    newest = {i for pair in pairs[-2:] for i in pair}
    return {users[0], users[-1], *newest}


def pivots(messages: list[Message]) -> list[int]:
    return [
        i
        for i, (before, message) in enumerate(pairwise(messages), start=1)
        if message.role == USER and before.role == AGENT and len(before.text) > 500
    ]


conversations = st.lists(st.tuples(st.sampled_from([USER, AGENT]), st.booleans()), max_size=60)


@given(conversations)
def test_what_is_kept_is_what_the_rules_say(pieces: list[tuple[str, bool]]) -> None:
    messages = numbered(pieces)
    kept = [int(gist.split()[0]) for gist in gists(messages)]
    always = always_kept(messages)
    begun = min(always, default=len(messages))
    wanted = [i for i in pivots(messages) if i > begun]
    extra = [i for i in kept if i not in always]
    assert kept == sorted({*kept, *always})
    assert len(kept) <= MOST_EXCHANGES
    others = [i for i in wanted if i not in always]
    assert extra == others[len(others) - len(extra) :], "the oldest pivots go first"
    if len({*always, *wanted}) <= MOST_EXCHANGES - 1:
        assert extra == others, "none goes while there is room"


@given(conversations, st.lists(st.integers(0, 60), max_size=5))
def test_piece_by_piece_gives_the_same_as_all_at_once(
    pieces: list[tuple[str, bool]], cuts: list[int]
) -> None:
    messages = numbered(pieces)
    exchanges: tuple[Exchange, ...] = ()
    for begin, end in pairwise([0, *sorted(cuts), len(messages) + 60]):
        documents = [exchange.to_document() for exchange in exchanges]
        read = tuple(map(Exchange.from_document, documents))
        exchanges = extend(read, messages[begin:end])
    assert exchanges == extend((), messages)


def test_a_conversation_of_decisions_is_capped_at_eight_and_the_oldest_go_first() -> None:
    turns = [m for n in range(20) for m in (user(f"choice {n}"), agent(f"{n} {LONG}"))]
    shown = [gist[:9] for gist in gists(turns)]
    kept = ["choice 0", "choice 15", "choice 16", "choice 17", "choice 18", "18 becaus"]
    assert shown == [*kept, "choice 19", "19 becaus"]


def test_an_answer_of_500_characters_is_not_long_and_one_of_501_is() -> None:
    for length, pivot in ((500, False), (501, True)):
        said = [user("a"), agent("x" * length), user("b")]
        assert extend((), said)[-1].pivot is pivot


def test_a_question_without_an_answer_is_kept_besides_the_last_pairs() -> None:
    said = [user("1"), agent("one"), user("2"), agent("two"), user("3"), agent("three"), user("4")]
    assert gists(said) == ["1", "2", "two", "3", "three", "4"]


def test_the_last_of_several_agent_messages_is_the_answer() -> None:
    said = [user("1"), agent("I will look."), agent("Done."), user("2")]
    assert gists(said) == ["1", "Done.", "2"]


def test_a_gist_is_one_line_of_exactly_120_characters() -> None:
    [kept] = extend((), [user("  two\n\n words\t" + "ä" * 300)])
    assert kept.gist == "two words " + "ä" * 110


def test_a_message_without_text_is_none() -> None:
    assert extend((), [user(" \n"), agent("hi"), user("\u200b")]) == ()


def test_the_time_of_a_message_is_kept_where_it_is_known() -> None:
    known, unknown = extend((), [Message(USER, "a", 1_700_000_000.5), user("b")])
    assert (known.when, unknown.when) == ("2023-11-14T22:13:20Z", "")


def test_the_summary_is_the_first_and_the_last_of_the_user() -> None:
    said = [user("a" * 130), agent("no"), user("middle"), agent("no"), user("b" * 130)]
    assert summary(extend((), said)) == "a" * 100 + " ... " + "b" * 100


def test_the_summary_of_one_message_is_that_one_alone_and_of_none_is_empty() -> None:
    assert summary(extend((), [user("only"), agent("answer")])) == "only"
    assert summary(()) == ""


def test_a_decision_is_a_short_reply_to_a_long_answer_in_any_language() -> None:
    assert is_decision(501, "да, давай так")
    assert is_decision(501, "x" * 49)
    assert not is_decision(501, "x" * 50)
    assert not is_decision(500, "yes")
    assert not is_decision(501, "  ")


def test_a_pasted_file_costs_no_more_than_a_line() -> None:
    [kept] = extend((), [user("look:" + " \n" * 2_000 + "ü" * 5_000_000)])
    assert kept.gist == "look: " + "ü" * 114


@given(st.lists(st.tuples(st.sampled_from((USER, AGENT)), st.booleans()), max_size=40))
def test_only_what_is_kept_is_cleaned_and_it_is_kept_as_if_all_had_been(
    pieces: list[tuple[str, bool]],
) -> None:
    messages = numbered(pieces)
    cleaned: list[str] = []

    def clean(text: str) -> str:
        cleaned.append(text)
        return text.replace("short", "*****").replace("because", "*******")

    exchanges = extend((), messages, clean)
    assert len(cleaned) == len(exchanges) <= MOST_EXCHANGES
    whole = [message.replace(text=clean(message.text)) for message in messages]
    assert exchanges == extend((), whole)
