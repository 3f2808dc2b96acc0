"""Whose a note is: the agent's, or of whoever types it in a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.terminal import on_terminal

CONSTRAINT = {"constraints": ["never overwrite a.txt"]}


@pytest.fixture
def talk(tmp_path: Path) -> Conversation:
    return Conversation(tmp_path)


def noted_by(talk: Conversation) -> str:
    return talk.guard.state().constraints[-1].origin.by


def test_a_note_typed_outside_of_any_host_is_a_persons_in_block_and_state(
    talk: Conversation,
) -> None:
    talk.guard.note(CONSTRAINT, by_person=True)
    assert noted_by(talk) == "person"
    assert "- never overwrite a.txt (noted in a terminal)" in talk.guard.resume()


@pytest.mark.parametrize("is_ours", [True, False])
def test_while_an_agents_call_runs_a_note_is_the_agents(
    talk: Conversation, *, is_ours: bool
) -> None:
    """The call may be the one that notes, without its host's marks and on a terminal of its own."""
    talk.prompt("Write b.txt")
    talk.bash("env -u CLAUDECODE script -c 'gitguard note'")
    talk.guard.note(CONSTRAINT, by_person=True, host_session=talk.session if is_ours else "")
    assert noted_by(talk) == "agent"


@pytest.mark.parametrize(
    ("variables", "by"),
    [({}, "person"), ({"CLAUDECODE": "1"}, "agent"), ({"CLAUDE_CODE_SESSION_ID": "S1"}, "agent")],
)
def test_the_command_takes_a_terminal_without_a_hosts_marks_for_a_persons(
    tmp_path: Path, variables: dict[str, str], by: str
) -> None:
    place = Place(tmp_path)
    place.type("gitguard ensure")
    command = 'gitguard note --constraint "never overwrite a.txt"'
    assert on_terminal(place, command, b"", **variables)[0] == 0
    assert f'"by": "{by}"' in (place.root / ".gitguard/sessions/main/state.json").read_text()
    place.type('gitguard note --constraint "and no c.txt"')
    assert '"by": "agent"' in (place.root / ".gitguard/sessions/main/state.json").read_text()
