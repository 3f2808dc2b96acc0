"""Every live host: what the user takes back is no one's request, and nothing else is lost."""

from __future__ import annotations

import pytest

from .guarded import GuardedHost
from .live_hosts import LiveHost
from .scripted_model import Kind, Step
from .taking_back import TAKERS, say_instead

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
    assert WRONG not in live.model.requests(Kind.MAIN)[-1].text

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
    newest = live.model.requests(Kind.MAIN)[-1].text.replace("&lt;", "<")
    [line] = [line for line in newest.splitlines() if WRONG in line]
    assert "took back" in line
    assert "kept in cents" in newest
