"""The thread of a conversation: which messages are kept, and how much of each."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.text import timestamp
from gitguard.model.transcript import AGENT, USER
from gitguard.state.items import REQUEST, SMALL_TALK, Exchange, Origin
from gitguard.state.prompts import gist, kind_of_prompt
from gitguard.state.thread import (
    AT_LENGTH,
    ROOM,
    SHORT,
    STEPS,
    extend,
    is_shortening,
    key_exchanges,
    said_by_agent,
    said_by_user,
    summary,
)

LONG = "The parser reads the file and builds a tree of it. " * 60
"""3,060 characters."""


def origin(number: int = 0, conversation: str = "S1") -> Origin:
    return Origin(when=timestamp(1_700_000_000 + number), conversation=conversation)


def user(text: str, number: int = 0, **more: str) -> Exchange:
    return said_by_user(text, origin(number), **more)


def agent(text: str, number: int = 0) -> Exchange:
    return said_by_agent(text, origin(number))


def texts_of(messages: list[Exchange]) -> list[str]:
    return [exchange.text for exchange in extend((), messages)]


WORDS = st.sampled_from(["thanks", "Write {}", "Never touch {}", "No, use {}", "yes", LONG + " {}"])
TALK = ("thanks", "yes")
CONVERSATIONS = st.lists(st.tuples(st.sampled_from([USER, AGENT]), WORDS), max_size=60).map(
    lambda pieces: [
        agent(words.format(number), number)
        if role == AGENT
        else user(words.format(number), number, kind=SMALL_TALK if words in TALK else "")
        for number, (role, words) in enumerate(pieces)
    ]
)


@given(CONVERSATIONS, st.lists(st.integers(0, 60), max_size=5))
def test_piece_by_piece_gives_the_same_as_all_at_once(
    messages: list[Exchange], cuts: list[int]
) -> None:
    exchanges: tuple[Exchange, ...] = ()
    for begin, end in pairwise([0, *sorted(cuts), len(messages) + 60]):
        documents = [exchange.to_document() for exchange in exchanges]
        exchanges = extend(tuple(map(Exchange.from_document, documents)), messages[begin:end])
    assert exchanges == extend((), messages)


@given(CONVERSATIONS)
def test_adding_what_is_there_already_changes_nothing(messages: list[Exchange]) -> None:
    once = extend((), messages)
    assert extend(once, messages) == once


@given(CONVERSATIONS)
def test_what_is_kept_is_bounded_in_size(messages: list[Exchange]) -> None:
    kept = extend((), messages)
    assert all(len(exchange.text) <= AT_LENGTH for exchange in kept)
    assert sum(len(e.text) + 200 for e in kept) <= sum(ROOM.values()) + AT_LENGTH


def test_the_first_request_stays_however_long_the_conversation() -> None:
    turns = [m for n in range(40) for m in (user(f"Write part {n}", n), agent(f"Wrote {n}.", n))]
    kept = texts_of(turns)
    assert kept[0] == "Write part 0"
    assert kept[-2:] == ["Write part 39", "Wrote 39."]


def test_what_later_turns_come_back_to_is_kept_when_other_prompts_have_gone() -> None:
    turns = [user("Begin", 0), user("Never touch the invoice template", 1)]
    for n in range(2, 80):
        about = "the invoice template" if n == 40 else f"part{n}"
        turns += [user(f"Write {about}", n), agent(f"Wrote {n}.", n)]
    texts = texts_of(turns)
    assert "Never touch the invoice template" in texts
    assert "Write part3" not in texts
    assert texts[0] == "Begin"


def test_small_talk_is_forgotten_with_the_answer_to_it_and_drives_nothing_out() -> None:
    said = [user("Port it to C11", 1), agent("Ported; 12 tests pass.", 2)]
    said += [
        user("thanks!", 3, kind=SMALL_TALK),
        agent("You're welcome!", 4),
        user("Now document it in README.md", 5),
    ]
    kept = ["Port it to C11", "Ported; 12 tests pass.", "Now document it in README.md"]
    assert texts_of(said) == kept


def test_the_newest_request_and_answer_are_kept_at_length_and_the_oldest_short() -> None:
    stated = "The parser never reads the file twice. " * 100
    said = [m for n in range(20) for m in (user(LONG, n), agent(stated, n))]
    kept = extend((), said)
    for by in (USER, AGENT):
        lengths = [len(exchange.text) for exchange in kept if exchange.origin.by == by]
        assert lengths == sorted(lengths)
        assert lengths[0] <= SHORT
        assert STEPS[1] < lengths[-1] <= AT_LENGTH


def test_no_message_is_shortened_while_there_is_room() -> None:
    said = [m for n in range(3) for m in (user(LONG[:1200], n), agent(LONG[:1400], n))]
    assert texts_of(said) == [message.text for message in said]


@pytest.mark.parametrize("ends_turn", [True, False])
def test_what_is_said_in_passing_leaves_the_last_full_answer_at_length(ends_turn: bool) -> None:
    full = agent("The parser never reads the file twice. " * 35, 2)
    said = [user("Port it", 1), full, user("Push it", 3)]
    said.append(said_by_agent("Pushed to `main`.", origin(4), ends_turn=ends_turn))
    assert len(full.text) > 1_300
    assert extend((), said)[1] == full


def test_a_short_request_leaves_the_last_full_one_at_length() -> None:
    first = user("Port the importer. " * 40, 1)
    assert extend((), [first, agent("Ported.", 2), user("commit it", 3)])[0] == first


def test_a_turn_that_the_host_began_and_that_says_little_takes_no_answers_place() -> None:
    full = agent("The parser never reads the file twice. " * 35, 2)
    said = [user("Port it", 1), full, agent("The build ended.", 3), agent("The watch ended.", 4)]
    assert texts_of(said)[1:] == [full.text, "The watch ended."]
    newer = agent("The writer never writes a row twice. " * 35, 5)
    assert texts_of([*said, newer])[1:] == [newer.text]


def test_of_the_middle_of_a_turn_stays_what_tells_something() -> None:
    def middle(text: str, number: int) -> Exchange:
        return said_by_agent(text, origin(number), ends_turn=False)

    said = [user("Port it", 1), middle("Let me look at the code.", 2)]
    said += [middle("The key lacks `tenant_id`.", 3), agent("It is ported.", 4)]
    assert texts_of(said) == ["Port it", "The key lacks tenant_id.", "It is ported."]


def test_turns_of_one_second_with_the_same_answer_lose_no_prompt() -> None:
    def turn(prompt: str, number: int) -> list[Exchange]:
        moment = origin().replace(turn=number)
        return [said_by_user(prompt, moment), said_by_agent("Done.", moment)]

    exchanges: tuple[Exchange, ...] = ()
    for number, prompt in enumerate(("Port it", "Never drop a row", "Test it")):
        exchanges = extend(exchanges, turn(prompt, number))
    prompts = [e.text for e in exchanges if e.origin.by == USER]
    assert prompts == ["Port it", "Never drop a row", "Test it"]


@given(CONVERSATIONS)
def test_whatever_the_thread_shortened_is_known_for_what_it_was(messages: list[Exchange]) -> None:
    for exchange in extend((), messages):
        before = next(message for message in messages if message.id == exchange.id)
        if exchange.kind == before.kind:
            assert exchange == before or is_shortening(exchange, before)
            assert not is_shortening(exchange.replace(text=f"No {exchange.text}"), before)


def test_the_last_of_several_agent_messages_is_the_answer() -> None:
    said = [user("1 file", 1), agent("I will look.", 2), agent("Done.", 3), user("2 files", 4)]
    assert texts_of(said) == ["1 file", "Done.", "2 files"]


def test_a_message_without_text_is_none() -> None:
    assert extend((), [user(" \n"), agent("hi there"), user("\u200b")]) == ()


def test_a_short_reply_is_kept_with_what_it_answers() -> None:
    [kept] = extend((), [user("the second", settles="Shall I take the first or the second?")])
    assert kept.settles == "Shall I take the first or the second?"


@pytest.mark.parametrize(
    ("beginning", "filler", "limit"),
    [
        (
            "Rewrite the importer.",
            "It came with the old system and nobody likes it,",
            "Never drop a row silently.",
        ),
        (
            "Prepiši uvoznik.",
            "Došao je sa starim sistemom i niko ga ne voli,",
            "Nikad ne gubi redove.",
        ),
        (
            "Schreib den Import neu.",
            "Er kam mit dem alten System und keiner mag ihn,",
            "Zeilen gehen nie verloren.",
        ),
        ("重写导入程序。", "它来自旧系统，没有人喜欢它，", "绝不能丢失任何一行数据。"),
        (
            "インポートを書き直して。",
            "古いシステムから来たもので誰も好まない、",
            "行を失ってはいけない。",
        ),
    ],
)
def test_a_long_prompt_keeps_its_beginning_and_short_sentences(
    beginning: str, filler: str, limit: str
) -> None:
    text = f"{beginning} {filler * 30} . {limit} {filler * 30}."
    kept = gist(gist(text, AT_LENGTH), SHORT)
    assert len(kept) <= SHORT
    assert kept.startswith(beginning)
    assert limit in kept


@pytest.mark.parametrize(
    "question",
    ["Soll ich es zusammenführen?", "Da spojim granu?", "要不要合并？", "統合しますか？"],
)
def test_the_question_with_which_a_long_answer_closes_is_kept(question: str) -> None:
    stated = [f"In `src/part{n}.py` there are {n} rows and {n * 7} columns." for n in range(90)]
    text = said_by_agent(f"{' '.join(stated)}\n\n{question}", origin()).text
    assert len(text) <= AT_LENGTH
    assert text.endswith(question)


def test_of_a_long_prompt_what_names_something_goes_before_what_only_tells() -> None:
    telling = "It has been slow for weeks now. People say so in every meeting we have. "
    text = (
        f"Rewrite the importer. {telling * 3}Rows go to `out/rows.csv`, 40 at a time. {telling * 3}"
    )
    text += " ".join(f"This is remark number {chr(97 + n)} of many." for n in range(26))
    assert "out/rows.csv, 40 at a time." in gist(text, SHORT)
    assert gist(gist(text, AT_LENGTH), SHORT).startswith("Rewrite the importer.")


@given(st.text(max_size=3000), st.integers(20, 1500))
def test_a_gist_is_no_longer_than_asked_for(text: str, limit: int) -> None:
    assert len(gist(text, limit)) <= limit


def test_the_summary_is_the_first_and_the_last_of_the_user() -> None:
    said = [user("a" * 130, 1), agent("no", 2), user("middle", 3), user("b" * 130, 4)]
    assert summary(extend((), said)) == "a" * 99 + "… ... " + "b" * 99 + "…"
    assert summary(()) == ""


def test_a_snapshots_thread_has_the_first_the_last_and_turning_points_between() -> None:
    said = [user("Begin with 1", 0)]
    for n in range(1, 12):
        said += [user(f"Question {n}", n), agent(f"Answer {n}", n)]
        if n == 3:
            said.append(user("the second", n, settles="First or second?"))
    shown = [exchange.text for exchange in key_exchanges(extend((), said))]
    assert shown[0] == "Begin with 1"
    assert shown[-4:] == ["Question 10", "Answer 10", "Question 11", "Answer 11"]
    assert len(shown) <= 8


def test_a_long_prompt_keeps_its_last_sentence_and_says_nothing_twice() -> None:
    built = "I built: 1) The reader of rows.py with 12 tests and 3 columns. 2) The writer of it."
    prompt = f"Help me with the form. {built} 3) The layer between. Write all of the answer now."
    kept = gist(prompt, 120)
    assert kept.endswith("Write all of the answer now.")
    assert kept.count("The reader") == 1


def test_headings_and_list_items_of_an_answer_keep_their_lines() -> None:
    answer = "## Findings\n- The first row is left out\n1. It takes 310 ms\n\n**Next:** write it"
    assert said_by_agent(answer, origin()).text == (
        "Findings:\n- The first row is left out.\n1) It takes 310 ms.\nNext: write it"
    )


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("/explore how does the parser decide on types", REQUEST),
        ("/team:explore never touch the old parser", REQUEST),
        ("/explore https://tracker.example/issues/7", REQUEST),
        ("/deploy staging", REQUEST),
        ("/pr", REQUEST),
    ],
)
def test_a_command_of_the_users_is_a_request(prompt: str, kind: str) -> None:
    assert kind_of_prompt(prompt) == kind
    assert user(prompt).text == prompt, "the command stays with its arguments"
