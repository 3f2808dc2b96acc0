"""What the user takes back in the host is no one's request, goal or limit any more."""

from __future__ import annotations

import pytest

from gitguard.model.text import timestamp
from tests.support.conversation import Conversation
from tests.support.staged import staged_object

GOAL = "Write a report module with a total per customer."
WRONG = "Rewrite the whole module in Rust, and never use floats."
RIGHT = "Add the export to CSV with a header line."


class Rewinding:
    """A conversation whose host writes lines that name the line before them."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.newest = ""
        self._lines = 0

    def turn(self, prompt: str, answer: str = "", *, after: str | None = None) -> str:
        """A turn behind a line, else the newest one; return the last line before the turn."""
        before = self.newest if after is None else after
        self.newest = before
        self.talk.clock.pass_by(60)
        block = self.talk.prompt(prompt)
        self._write("user", prompt)
        self.talk.clock.pass_by(5)
        if answer:
            self._write("assistant", answer)
            self.talk.send("Stop", last_assistant_message=answer)
        self.block = block
        return before

    def _write(self, kind: str, text: str) -> None:
        self._lines += 1
        name = f"line-{self._lines}"
        content = [{"type": "text", "text": text}]
        self.talk._write(
            {
                "type": kind,
                "uuid": name,
                "parentUuid": self.newest or None,
                "timestamp": timestamp(self.talk.clock()),
                "message": {"role": kind, "id": name, "content": content},
            }
        )
        self.newest = name


tmp_path, talk = staged_object("talk", Conversation)


@pytest.fixture
def rewinding(talk: Conversation) -> Rewinding:
    rewinding = Rewinding(talk)
    rewinding.turn(GOAL, "The total is there; 7 rows add up.")
    return rewinding


def block_for_another(rewinding: Rewinding) -> str:
    """What another conversation is handed later."""
    rewinding.talk.clock.pass_by(601)
    return rewinding.talk.beside("S2").prompt("Where were we?")


def test_a_prompt_that_was_taken_back_is_no_request_and_what_took_its_place_is(
    rewinding: Rewinding,
) -> None:
    before = rewinding.turn(WRONG, "I began the port: 3 of 9 files are ported.")
    rewinding.turn(RIGHT, "The export has a header.", after=before)
    state = rewinding.talk.guard.state()
    said = [exchange.text for exchange in state.exchanges if exchange.kind != "event"]
    assert WRONG not in said
    assert not any("3 of 9 files" in text for text in said)
    assert state.goal == GOAL
    assert state.next_action == RIGHT
    block = block_for_another(rewinding)
    assert RIGHT in block
    assert "The export has a header." in block
    [line] = [line for line in block.splitlines() if WRONG in line]
    assert "was taken back" in line


def test_a_goal_that_was_taken_back_gives_way_to_the_first_request_that_stands(
    talk: Conversation,
) -> None:
    rewinding = Rewinding(talk)
    before = rewinding.turn(WRONG, "I began the port.")
    rewinding.turn(RIGHT, "The export has a header.", after=before)
    assert talk.guard.state().goal == RIGHT
    assert talk.guard.state().next_action == RIGHT


def test_the_same_words_said_again_stand(rewinding: Rewinding) -> None:
    before = rewinding.turn(RIGHT, "The export has tabs in it.")
    rewinding.turn(RIGHT, "The export has commas in it.", after=before)
    rewinding.turn("Name its columns in English.", "They are English now.")
    state = rewinding.talk.guard.state()
    assert [e.text for e in state.exchanges].count(RIGHT) == 1
    assert "tabs" not in str([e.text for e in state.exchanges])
    assert "commas" in str([e.text for e in state.exchanges])


def test_what_was_noted_and_done_in_a_turn_that_was_taken_back_stays(rewinding: Rewinding) -> None:
    talk = rewinding.talk
    talk.clock.pass_by(60)
    talk.prompt(WRONG)
    rewinding._write("user", WRONG)
    talk.guard.note({"decisions": [{"what": "Totals are kept in cents"}]})
    (talk.root / "port.rs").write_text("fn main() {}\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(talk.root / "port.rs")})
    talk.send("Stop", last_assistant_message="I began the port.")
    rewinding.turn(RIGHT, "The export has a header.", after="line-2")
    state = talk.guard.state()
    assert [decision.what for decision in state.decisions] == ["Totals are kept in cents"]
    assert [artifact.path for artifact in state.artifacts] == ["port.rs"]
    earlier = [talk.guard.show("state.json", point.name).decode() for point in talk.guard.log(9)]
    assert any(WRONG in document for document in earlier)


def test_a_process_beside_at_the_same_conversation_takes_nothing_back(
    rewinding: Rewinding,
) -> None:
    before = rewinding.turn(WRONG, "I began the port.")
    ported = rewinding.newest
    rewinding.turn(RIGHT, after=before)
    exported = rewinding.newest
    rewinding.newest = ported
    rewinding._write("assistant", "I go on with the port.")
    rewinding.newest = exported
    rewinding._write("assistant", "The export has a header.")
    rewinding.talk.send("Stop", last_assistant_message="The export has a header.")
    assert WRONG in [exchange.text for exchange in rewinding.talk.guard.state().exchanges]


def test_a_turn_whose_answer_was_cut_off_by_a_kill_is_not_taken_back(rewinding: Rewinding) -> None:
    rewinding.turn(RIGHT)
    block = block_for_another(rewinding)
    assert RIGHT in block
    assert "was taken back" not in block
