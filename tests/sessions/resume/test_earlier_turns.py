"""The sentences of earlier turns: which get room first, and how they read."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gitguard.model.text import seconds, timestamp
from gitguard.model.tokens import tokens_of
from gitguard.sessions.resume.building import Header, build_resume
from gitguard.sessions.resume.filling import BlockItem
from gitguard.sessions.resume.reader import NOBODY
from gitguard.sessions.resume.turns import earlier_sentences, joined, turns_of
from gitguard.sessions.resume.weighing import BIAS, WEIGHTS, in_order
from gitguard.state.items import ANSWER, SMALL_TALK, Exchange, Origin
from gitguard.state.snapshot import Work
from gitguard.state.task import TaskState, new_task
from gitguard.state.thread import refused_by_user, said_by_agent, said_by_user
from tests.benches.weigh_sentences import fitted, read

BEGIN = "2026-01-31T09:30:00Z"
HOUR = 3600


def origin_at(second: float, turn: int = 0) -> Origin:
    return Origin(when=timestamp(seconds(BEGIN) + second), conversation="S1", turn=turn)


def turns(*said: tuple[str, str], apart: float = 60) -> tuple[Exchange, ...]:
    """Return prompts and their answers; an empty one is not said."""
    exchanges = []
    for n, (prompt, answer) in enumerate(said):
        origin = origin_at(apart * n, n)
        exchanges += [said_by_user(prompt, origin)] if prompt else []
        exchanges += [said_by_agent(answer, origin.replace(turn=n + 1))] if answer else []
    return tuple(exchanges)


def after(exchanges: tuple[Exchange, ...]) -> TaskState:
    newest = exchanges[-1].origin.when
    return new_task("main", BEGIN).replace(exchanges=exchanges, updated_at=newest)


def lines_of(state: TaskState, max_tokens: int, now: str = "") -> list[str]:
    """Return the lines of earlier turns, the title first."""
    header = Header("main", "cp_001", now=now, conversation="S2")
    block = build_resume(state, Work(), header, max_tokens=max_tokens)
    return (
        ("Earlier turns" + block.partition("Earlier turns")[2]).partition("\nLast ")[0].splitlines()
    )


def order_of(state: TaskState) -> list[str]:
    whole = earlier_sentences(state)
    return [whole[place].text for place in in_order(whole, state, [])]


def test_a_message_is_one_line_with_a_mark_where_sentences_are_left_out() -> None:
    filler = " ".join(f"It goes on like that for some while and once more {n}." for n in range(40))
    answer = f"The reader of a.py takes 12 ms. {filler} The reader of b.py is locked by 7 rows."
    lines = lines_of(after(turns(("Port the readers", answer), ("Test it", ""))), 340)
    assert len(lines) == 3
    assert lines[2].startswith("- → The reader of a.py takes 12 ms. It goes on like that ")
    shown = [n for n in range(40) if f" once more {n}." in lines[2]]
    gaps = sum(after - before > 1 for before, after in pairwise((-1, *shown, 40)))
    assert lines[2].count(" … ") == gaps > 0
    assert lines[2].endswith(" The reader of b.py is locked by 7 rows.")


def test_an_item_of_a_list_stands_behind_what_leads_to_it() -> None:
    items = ["lists of rows that are empty by now", "tables of an older form without columns"]
    listed = "\n".join(f"- {item}" for item in items)
    answer = f"It works for lists of many rows.\n\nNot done for these:\n{listed}"
    state = after(turns(("Port the readers", answer), ("Test it", "")))
    told = f"It works for lists of many rows. Not done for these: {items[0]}. {items[1]}."
    assert lines_of(state, 700)[2] == f"- → {told}"
    whole = earlier_sentences(state)
    shown = BlockItem(whole[-1].text, part=len(whole) - 1)
    assert joined(whole, [shown]).texts == (f"Agent: Not done for these: … {items[1]}.",)


def test_what_an_item_is_an_item_of_is_told_also_behind_one_that_names_a_thing() -> None:
    listed = "- drop_table() in db/clean.sql\n- the documentation of the old form of rows"
    answer = f"Rejected, do not do any of these:\n- the pages of the login\n{listed}"
    whole = earlier_sentences(after(turns(("Port the readers", answer), ("Test it", ""))))
    for shown in ([1], [1, 2], [2]):
        items = [BlockItem(whole[place + 1].text, part=place + 1) for place in shown]
        [line] = joined(whole, items).texts
        assert line.startswith("Agent: Rejected, do not do any of these: … ")


def test_the_agents_words_are_never_cut_to_stand_as_the_users() -> None:
    prompt = "no, please keep the old one for now and go on with the rest"
    asked = (
        "Shall I delete it? I drop the table in prod_db.sql afterwards. Shall I delete a.py first?"
    )
    first, second = turns(("Port it", "Done."), (prompt, ""))[::2]
    for budget in range(90, 200, 5):
        state = after((first, second.replace(settles=asked)))
        block = build_resume(state, Work(), Header("main", "cp_001"), max_tokens=budget)
        told, mark, _ = block.partition("I drop the table")
        assert not mark or " — after: " in told or " — to: " in told


def test_what_the_host_began_since_the_last_request_is_told_apart() -> None:
    port, done, test, tested = turns(
        ("Port the reader of rows.py", "Row 12 of rows.py was wrong."),
        ("Test the writer", "The writer of rows.py loses 7 rows."),
    )
    notified = said_by_agent("The build of rows.py passed, too.", origin_at(200, 3))
    lines = lines_of(after((port, done, test, tested, notified)), 700)
    assert "- → Row 12 of rows.py was wrong." in lines
    assert "- Since the last request: The writer of rows.py loses 7 rows." in lines


def test_what_another_conversation_answers_is_none_of_what_came_since_the_request() -> None:
    port, done, test, tested = turns(
        ("Port the reader of rows.py", "Row 12 of rows.py was wrong."),
        ("Test the writer", "The writer of rows.py loses 7 rows."),
    )
    other = said_by_agent("The pages of login.py load in 9 ms.", origin_at(150, 2))
    other = other.replace(origin=other.origin.replace(conversation="S9"))
    newest = said_by_agent("The build of rows.py passed, too.", origin_at(200, 3))
    lines = lines_of(after((port, done, test, tested, other, newest)), 700)
    assert "- Since the last request: The writer of rows.py loses 7 rows." in lines
    assert any("The pages of login.py" in line and "Since" not in line for line in lines)


def test_an_answer_whose_prompt_is_not_shown_is_told_to_be_the_agents() -> None:
    first, answer, newest = turns(("ok", "The reader of rows.py takes 12 ms now."), ("Port it", ""))
    lines = lines_of(after((first.replace(kind=SMALL_TALK), answer, newest)), 700)
    assert lines[1:] == ["- Agent: The reader of rows.py takes 12 ms now."]


def test_an_answered_prompt_says_so_where_no_answer_is_shown() -> None:
    said = turns(
        ("Move rows.py to the folder of readers", "All done!"),
        ("Port the writer of rows.py", ""),
        ("Test it all", ""),
    )
    assert lines_of(after(said), 700)[1:] == [
        "- Move rows.py to the folder of readers (answered)",
        "No answer recorded to:",
        "- Port the writer of rows.py",
    ]


def test_the_answer_of_another_conversation_answers_no_prompt() -> None:
    moved, done, newest = turns(
        ("Move rows.py to the folder of readers", "All done!"), ("Test it all", "")
    )
    beside = done.replace(origin=done.origin.replace(conversation="another"))
    assert lines_of(after((moved, beside, newest)), 700)[1] == f"- {moved.text}"


def test_a_line_says_how_old_it_is_where_others_are_newer() -> None:
    said = turns(
        ("Port the reader of rows.py", "Row 12 was wrong. Row 14 of rows.py is wrong."),
        ("Port the writer of rows.py", "It takes 9 ms now."),
        ("Test it all", ""),
        apart=5 * HOUR,
    )
    lines = lines_of(after(said), 700, now=said[-1].origin.when)
    assert "- Port the reader of rows.py (10 h old)" in lines
    assert "- → Row 12 was wrong. Row 14 of rows.py is wrong. (10 h old)" in lines
    assert "- → It takes 9 ms now. (5 h old)" in lines


def test_a_sentence_that_says_what_stands_in_the_block_comes_behind_one_that_does_not() -> None:
    told = "The reader of the ledger drops empty rows at page seven."
    other = "The writer of the archive keeps broken lines until page nine."
    state = after(turns(("Port the tables of it", f"{told} {other}"), ("Test it", "")))
    whole = earlier_sentences(state)
    order = [whole[place].text for place in in_order(whole, state, [told])]
    assert order.index(other) < order.index(told)
    order = [whole[place].text for place in in_order(whole, state, [other])]
    assert order.index(told) < order.index(other)


def test_a_prompt_and_its_answer_get_room_one_after_the_other() -> None:
    pairs = [
        (f"Port the module part_{n}.py to the parser", f"Row {n} of it was wrong.")
        for n in range(20)
    ]
    order = order_of(after(turns(*pairs, ("Test it", ""))))
    together = sum(abs(order.index(prompt) - order.index(answer)) == 1 for prompt, answer in pairs)
    assert together >= 15


def test_few_words_stand_with_the_next_sentence_of_their_prompt() -> None:
    asked = f"So. Should the reader take rows_7 or rows_8{' of the tables' * 12}?"
    limit = "2. Keep the writer of log.py as it is."
    state = after(turns((f"{asked} {limit}", "rows_7 it is."), ("Test it", "")))
    assert {s.text for s in earlier_sentences(state) if s.is_prompt} == {asked, limit}


def test_a_short_prompt_is_shown_whole() -> None:
    prompt = "I mean the rest of the exploration. Only the plan of rows.py is settled by now."
    state = after(turns((prompt, "rows_7 it is."), ("Test it", "")))
    assert [s.text for s in earlier_sentences(state) if s.is_prompt] == [prompt]


def test_a_prompt_is_shown_from_its_first_sentence_on() -> None:
    first = f"Port all the readers of the old ledger tables{' and what they read' * 10}."
    prompt = f"{first} Never drop row_7 of rows.py."
    order = order_of(after(turns((prompt, "It takes 12 ms in rows.py."), ("Test it", ""))))
    assert order.index(first) < order.index("Never drop row_7 of rows.py.")


def test_a_question_long_ago_of_which_no_answer_is_kept_is_not_shown() -> None:
    later = [(f"Port the module part_{n}.py", "") for n in range(6)]
    state = after(turns(("Is it fast?", ""), *later, ("Test it", "")))
    assert "Is it fast?" not in order_of(state)
    state = after(turns(("Is it fast?", "It takes 12 ms in rows.py."), *later, ("Test it", "")))
    assert "Is it fast?" in order_of(state)


def test_more_room_never_shows_fewer_sentences() -> None:
    said = [
        (f"Port part_{n}.py. Keep row {n} of log_{n}.md.", f"Row {n} was wrong. It is {n} ms now.")
        for n in range(15)
    ]
    state = after(turns(*said, ("Test it", "")))
    shown = [sum(map(len, lines_of(state, tokens)[1:])) for tokens in range(300, 900, 50)]
    assert shown == sorted(shown)


def test_the_weights_are_those_that_the_measured_sentences_give() -> None:
    assert fitted(read()) == (WEIGHTS, BIAS)


def test_a_prompt_by_the_transcript_alone_is_told_apart() -> None:
    heard, answer, newest = turns(("Port the reader of rows.py", "Row 12 was wrong."), ("Test", ""))
    read = said_by_user("Keep row 7 as it is", origin_at(5))
    read = read.replace(origin=read.origin.replace(is_read=True))
    block = build_resume(
        after((heard, read, answer, newest)), Work(), Header("main", "cp_001"), max_tokens=700
    )
    assert "Prompts by the transcript alone:\n- Keep row 7 as it is (answered)\n" in block


@pytest.mark.parametrize("is_noted", [True, False])
def test_a_first_request_gives_way_to_notes_where_the_goal_was_noted(is_noted: bool) -> None:
    first, limit = "Port the old parser of rows.py.", "Never drop row 7 of rows.py."
    said = turns((first, "It takes 12 ms."), (limit, ""), ("Test it", ""))
    goal_from = Origin("agent" if is_noted else "hook", BEGIN)
    state = after(said).replace(goal="Port it", goal_from=goal_from)
    earlier, *_ = turns_of(state, NOBODY)
    assert {item.text for item in earlier.items if item.is_derived} == {
        "It takes 12 ms.",
        *([first] if is_noted else []),
    }


def test_a_question_that_stands_as_the_next_action_leaves_no_mark_of_its_list() -> None:
    asked = "All is done in rows.py.\n\n- Shall I push it?"
    said = turns(("Port the reader", asked))
    block = build_resume(after(said), Work(), Header("main", "cp_001"), max_tokens=700)
    assert "(waits for the user's answer): Shall I push it?\n" in block
    assert "Last answer: All is done in rows.py.\n" in block


UNANSWERED = "\nNo answer recorded to:\n"
BEFORE = "\nBefore the last request:\n"


def block_of(exchanges: tuple[Exchange, ...], max_tokens: int = 700) -> str:
    header = Header("main", "cp_001")
    return build_resume(after(exchanges), Work(), header, max_tokens=max_tokens)


def lines_below(title: str, exchanges: tuple[Exchange, ...]) -> list[str]:
    told = block_of(exchanges).partition(title)[2]
    return told.partition("\nLast request:")[0].splitlines()


PORTED = ("Port the reader of rows.py", "Row 12 of rows.py was wrong.")
INSTALL = "The installer of the app says: no access to the repository"
WHAT = "What am I to do? The login has worked, I believe"


def test_prompts_that_got_no_answer_stand_before_the_last_request() -> None:
    filler = ("Look at the tables of stock.db once more", "Their 12 rows are in order now.")
    said = turns(PORTED, *[filler] * 3, (INSTALL, ""), (WHAT, ""), ("Use the smaller model", ""))
    assert lines_below(UNANSWERED, said) == [f"- {INSTALL}", f"- {WHAT}"]
    assert block_of(said).count(INSTALL) == 1


def test_prompts_without_an_answer_are_whole_beside_much_else() -> None:
    long = "The reader of stock.db takes each of its 12 locks twice in rows.py. " * 9
    said = turns(*[(f"Look at table {n}", f"{n}: {long}") for n in range(9)], (INSTALL, ""))
    said = (*said, *turns(("Use the smaller model", ""), ("", long)))
    assert f"- {INSTALL}\n" in block_of(said, 300)


def test_of_many_prompts_without_an_answer_the_newest_three_stand_apart() -> None:
    prompts = [f"Look at table_{n}.sql of the shop" for n in range(5)]
    *before, newest = turns(PORTED, *((p, "") for p in prompts), ("Use the smaller model", ""))
    said = (*before, said_by_user("hvala", newest.origin, kind=SMALL_TALK), newest)
    assert lines_below(UNANSWERED, said) == [f"- {prompt}" for prompt in prompts[2:]]
    assert all(block_of(said).count(prompt) == 1 for prompt in prompts)


def test_what_the_agent_speaks_of_in_between_leaves_no_prompt_without_an_answer() -> None:
    *before, newest = turns(
        PORTED, ("Build the writer of rows.py", ""), ("Push it to the team", "")
    )
    built = said_by_agent("The writer has 7 tests in a.py.", origin_at(100, 2), ends_turn=False)
    assert lines_below(UNANSWERED, (*before, newest))
    assert not lines_below(UNANSWERED, (*before, built, newest))


def test_another_conversation_neither_answers_a_prompt_nor_leaves_one_open() -> None:
    *before, newest = turns(PORTED, (INSTALL, ""), ("Use the smaller model", ""))
    beside = newest.origin.replace(conversation="another")
    theirs = said_by_user("Check the words of index.md", beside)
    answer = said_by_agent("The words of b.md have 7 errors.", beside)
    said = (*before, theirs, newest)
    assert lines_below(UNANSWERED, said) == [f"- {INSTALL}"]
    assert lines_below(UNANSWERED, (*said, answer)) == [f"- {INSTALL}"]


def test_neither_choices_in_a_dialog_nor_refusals_nor_talk_are_prompts_without_an_answer() -> None:
    *before, newest = turns(PORTED, (INSTALL, ""), ("Use the smaller model", ""))
    origin = newest.origin
    between = (
        said_by_user("sqlite", origin, settles="Which database?", kind=ANSWER),
        refused_by_user("Bash: rm -rf build", "Never delete the folder build", origin),
        said_by_user("hvala", origin, kind=SMALL_TALK),
    )
    assert lines_below(UNANSWERED, (*before, *between, newest)) == [f"- {INSTALL}"]


def test_a_prompt_without_an_answer_gives_way_to_a_newer_word_on_its_subject() -> None:
    slow, fast = (f"Set the timeout of the reader to {n} s in rows.py" for n in (30, 60))
    said = turns(PORTED, (slow, ""), (fast, ""), ("Use the smaller model", ""))
    assert lines_below(UNANSWERED, said) == [f"- {fast}"]


def test_replies_to_questions_since_the_last_request_stand_behind_it() -> None:
    asked = ("Write down what was learned of rows.py", "Who is to read it?")
    *before, reply, answer = turns(PORTED, asked, ("myself", "I write it for table 7 of rows.py."))
    reply = reply.replace(settles="Who is to read it?", kind=SMALL_TALK)
    block = block_of((*before, reply, answer))
    told = f"\nLast request: {asked[0]}\nReplied since:\n- myself — to: Who is to read it?\n"
    assert told in block
    assert block.count("myself") == 1


def test_a_prompt_before_an_answered_request_is_not_called_open() -> None:
    answer = "Both have 7 tests in a.py."
    said = turns(PORTED, ("Build the writer of lines.py", ""), ("Build columns.py as well", answer))
    assert lines_below(BEFORE, said) == ["- Build the writer of lines.py"]
    assert UNANSWERED not in block_of(said)


def test_without_any_answer_nothing_tells_which_prompts_wait() -> None:
    said = turns((PORTED[0], ""), (INSTALL, ""), ("Use the smaller model", ""))
    assert UNANSWERED not in block_of(said)
    assert BEFORE not in block_of(said)


def test_prompts_without_an_answer_are_cut_to_their_room_in_any_script() -> None:
    asked = "请检查表格的读取程序。" * 60 + "最后不要改动 stock.db 的注释。"
    other = "再看一下写入程序的行数。" * 60 + "不要碰 rows.py 的测试。"
    said = turns(PORTED, (asked, ""), (other, ""), ("Test it", ""))
    for budget in (300, 500, 700):
        assert tokens_of(block_of(said, budget)) <= budget
    assert "最后不要改动 stock.db 的注释。" in block_of(said)
    assert "不要碰 rows.py 的测试。" in block_of(said)


def test_of_a_cut_prompt_without_an_answer_the_users_words_stay() -> None:
    long = "Keep the names of the reader. " * 60 + "And remove the cache of stock.db."
    port, answer, asked, newest = turns(PORTED, (long, ""), ("Test it", ""))
    asked = asked.replace(settles="I would take the first way. Which way shall I take?")
    block = block_of((port, answer, asked, newest), 500)
    assert "And remove the cache of stock.db." in block
    assert "I would take" not in block


def test_the_last_request_has_its_part_of_a_larger_block_in_any_script() -> None:
    request = "请检查表格的读取程序和写入程序,然后告诉我每一行的锁在哪里被取走两次。" * 4
    looks = [
        (
            f"Look at table_{n}.sql",
            f"In reader_{n}.py the lock_{n} is taken twice, at line {n * 7} and in check_{n}(). "
            f"Line {n * 9} of writer_{n}.py loses what table_{n}.sql had before version {n}.4.",
        )
        for n in range(90)
    ]
    assert request in block_of(turns(*looks, (request, "")), 2000)


def test_a_short_prompt_is_not_taken_for_a_part_of_other_words() -> None:
    said = turns(PORTED, ("Use Go", ""), ("Use good names in rows.py", ""), ("Test it", ""))
    assert lines_below(UNANSWERED, said) == ["- Use Go", "- Use good names in rows.py"]


@pytest.mark.parametrize("more", ["", ", and never push by force"])
def test_refusals_in_the_same_words_are_each_of_their_call(more: str) -> None:
    port, answer, newest = turns(PORTED, ("Test the writer of rows.py", ""))
    words = "Never delete the folders of db/migrations again"
    refused = [
        refused_by_user(f"Bash: {call}", said, answer.origin.replace(turn=2 + n))
        for n, (call, said) in enumerate(
            (("rm -rf build", words), ("git push --force", f"{words}{more}"))
        )
    ]
    block = block_of((port, answer, *refused, newest))
    assert "rm -rf build" in block
    assert "git push --force" in block


def test_a_prompt_that_was_sent_again_with_more_words_stands_once() -> None:
    asked = "Where do I see the calls of preferences.js"
    first, answer, again, answered, newest = turns(
        (asked, "It is not clear yet."),
        (f"{asked}? It shows 200 of granite.js alone", "In the tab of the network."),
        ("Test it all", ""),
    )
    question = "Which calls does the tab of the network show?"
    said = (first.replace(settles=question), answer, again, answered, newest)
    assert sum(asked in line for line in lines_of(after(said), 700)) == 1


def test_the_same_few_words_reply_to_each_question() -> None:
    first, answer, again, answered, newest = turns(
        ("yes", "Row 12 of a.py is gone."), ("yes", "Row 7 of b.py is gone."), ("Test it", "")
    )
    said = (
        first.replace(settles="Shall I drop row 12 of a.py?"),
        answer,
        again.replace(settles="Shall I drop row 7 of b.py?"),
        answered,
        newest,
    )
    assert sum(line.startswith("- yes — to: ") for line in lines_of(after(said), 700)) == 2
