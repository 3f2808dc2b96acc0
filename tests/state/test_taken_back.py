"""Which of what was heard the host shows as taken back, and what is left of the state then."""

from __future__ import annotations

from gitguard.model.text import seconds
from gitguard.model.transcript import USER, Message, PromptHistory
from gitguard.state.items import HOOK, Exchange, Origin
from gitguard.state.taken_back import find_taken_back, without_taken_back
from gitguard.state.task import START, new_task
from gitguard.state.thread import refused_by_user, said_by_agent, said_by_user

BEGUN = "2026-11-27T20:00:00Z"
GOAL, WRONG, RIGHT = "Write a report module.", "Rewrite it in Rust, please.", "Add the export now."


def at(minute: int, turn: int, conversation: str = "C") -> Origin:
    return Origin(HOOK, f"2026-11-27T20:{minute:02}:00Z", conversation, turn)


EXCHANGES = (
    said_by_user(GOAL, at(1, 0)),
    said_by_agent("The total is there.", at(2, 1)),
    said_by_user(WRONG, at(3, 1)),
    refused_by_user("Bash: cargo new port", "Not in this folder", at(4, 2)),
    said_by_agent("I began the port.", at(5, 2)),
)


def recorded(exchange: Exchange, *, is_taken_back: bool = False) -> Message:
    return Message(USER, exchange.text, seconds(exchange.when) + 1, is_taken_back)


def texts(exchanges: tuple[Exchange, ...]) -> list[str]:
    return [exchange.text for exchange in exchanges]


def test_all_of_a_turn_that_the_host_shows_as_taken_back_goes() -> None:
    history = PromptHistory((recorded(EXCHANGES[0]), recorded(EXCHANGES[2], is_taken_back=True)))
    taken_back = find_taken_back(EXCHANGES, "C", BEGUN, history)
    assert taken_back == EXCHANGES[2:]
    assert find_taken_back(EXCHANGES, "D", BEGUN, history) == ()


def test_a_prompt_that_the_record_merely_lacks_stands() -> None:
    assert find_taken_back(EXCHANGES, "C", BEGUN, PromptHistory((recorded(EXCHANGES[0]),))) == ()
    later = (*EXCHANGES, said_by_user(RIGHT, at(6, 2)))
    history = PromptHistory((recorded(EXCHANGES[0]), recorded(EXCHANGES[2], is_taken_back=True)))
    assert find_taken_back(later, "C", BEGUN, history) == EXCHANGES[2:]


def test_where_the_host_removes_turns_what_was_heard_since_then_goes() -> None:
    standing = (recorded(EXCHANGES[0]),)
    left_at = seconds(EXCHANGES[1].when)
    history = PromptHistory(standing, removed_since=left_at)
    assert find_taken_back(EXCHANGES, "C", BEGUN, history) == EXCHANGES[2:]
    # What the log writes in other words than the event is older than that, and stands.
    assert find_taken_back(EXCHANGES[:2], "C", BEGUN, PromptHistory((), left_at)) == ()


def test_a_goal_and_a_next_action_that_were_taken_back_give_way_to_what_stands() -> None:
    heard = (*EXCHANGES, said_by_user(RIGHT, at(6, 2)))
    state = new_task("main", BEGUN).replace(
        exchanges=tuple(e for e in heard if e not in EXCHANGES[2:]),
        goal=WRONG,
        goal_from=at(3, 2).replace(by=USER),
        next_action=WRONG,
        next_from=at(3, 2).replace(by=USER),
    )
    left = without_taken_back(state, EXCHANGES[2:])
    assert (left.goal, left.next_action) == (RIGHT, RIGHT)
    alone = without_taken_back(state.replace(exchanges=EXCHANGES[:2]), EXCHANGES[2:])
    assert (alone.goal, alone.next_action) == (START, GOAL)
    assert alone.headline == "answered: The total is there."


def test_a_goal_that_was_noted_or_said_in_another_turn_stays() -> None:
    state = new_task("main", BEGUN).replace(goal=GOAL, goal_from=at(1, 1).replace(by=USER))
    assert without_taken_back(state, EXCHANGES[2:]).goal == GOAL
    noted = state.replace(goal=WRONG, goal_from=at(3, 2).replace(by="agent"))
    assert without_taken_back(noted, EXCHANGES[2:]).goal == WRONG
