"""Every live host: what the user takes back is no one's request, and nothing else is lost."""

from __future__ import annotations

import pytest

from .guarded import BLOCK, GuardedHost
from .live_hosts import LiveHost
from .scripted_model import Kind, Step
from .taking_back import ANEW, TAKERS, say_and_begin_anew, say_instead

GOAL = "Write a report module with a total per customer."
WRONG = "Rewrite the whole module in Rust, and never use floats."
RIGHT = "Add the export to CSV with a header line."
_PAUSE = "perl -e 'select undef, undef, undef, 2.5'"
"""Copilot writes what was said down up to two seconds late."""


@pytest.mark.parametrize("live", TAKERS, indirect=True)
def test_a_prompt_that_the_user_took_back_is_not_called_their_request(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    pause = _PAUSE if live.name == "copilot" else "true"
    live.say(GOAL, Step("I begin.", (live.shell(pause),)), Step("The total is there."))
    live.go_on(
        WRONG,
        Step("I port.", (live.write("port.rs", "fn main() {}\n"), live.shell(pause))),
        Step("I began the port: 3 of 9 files are ported."),
    )
    guarded_live.run("note", "--decision", "The totals are kept in cents")
    before = guarded_live.head()
    done = say_instead(live, RIGHT, Step("I add.", (live.shell(pause),)), Step("It is exported."))
    assert done.returncode in (0, None), done
    # Droid goes on in a copy, which is handed the block like any new conversation.
    assert all("was taken back" in line for line in lines_with_it(live))

    state = guarded_live.state()
    assert state["goal"] in (GOAL, RIGHT)  # a copy of a conversation has a task of its own
    assert state["next_action"] == RIGHT
    words = [exchange["text"] for exchange in state["exchanges"] if exchange["kind"] != "event"]
    assert WRONG not in words
    assert "3 of 9 files" not in str(words)
    assert [decision["what"] for decision in state["decisions"]] == ["The totals are kept in cents"]
    assert "port.rs" in [artifact["path"] for artifact in state["artifacts"]]
    assert WRONG in guarded_live.run("show", "state", before)
    assert guarded_live.faults() == []

    live.say("Where were we?", Step("At the export."))
    [line] = lines_with_it(live)
    assert "was taken back" in line
    assert "kept in cents" in live.model.requests(Kind.MAIN)[-1].text


def lines_with_it(live: LiveHost) -> list[str]:
    """What of the newest request quotes the prompt that was taken back."""
    newest = live.model.requests(Kind.MAIN)[-1].text
    return [line for line in newest.splitlines() if WRONG in line]


@pytest.mark.parametrize("live", ANEW, indirect=True)
def test_a_conversation_that_is_begun_anew_in_the_same_process_has_the_block_once(
    live: LiveHost, guarded_live: GuardedHost
) -> None:
    live.model.replace_script(Step("The total is there."), Step("At the export."))
    say_and_begin_anew(live, GOAL, "Where were we?")
    first, second = live.model.requests(Kind.MAIN)
    assert first.text.count(BLOCK) == 0
    assert second.text.count(BLOCK) == 1
    assert GOAL in second.text
    records = guarded_live.json("status")["host_sessions"].values()
    assert [(record["turns"], record["ended_turns"]) for record in records] == [(1, 1)] * 2
    assert guarded_live.faults() == []
