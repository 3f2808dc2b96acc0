"""What became of each message of a Gemini CLI chat (recorded with 0.61.0).

A line may be written again, taken back, or told once more by a later `$set`.
"""

from __future__ import annotations

from gitguard.transcripts.blocks import word
from gitguard.transcripts.entries import time_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SNAPSHOT = "<state_snapshot>"
_NOT_THE_USERS = ("<session_context>", SNAPSHOT, "<system_reminder>")
"""How texts begin that stand in the user's name."""
_BY_HOOKS, _END_OF_IT = "<hook_context>", "</hook_context>"
"""What hooks said; it may stand before the user's words in the same text."""
OWN = -1
"""The place of a message that is a line of its own, and not one of many in a `$set`."""


class ChatHistory:
    """What became of every message: where each one stands that the model was given.

    A place is where a line begins, and the number of the message in its `$set` or `OWN`.
    """

    def __init__(self) -> None:
        self.compressions: set[int] = set()
        # By id, in the order of the conversation. A message that is written again keeps its turn:
        # a dictionary leaves a key where it was first put, and rewinding relies on that.
        self._live_places: dict[str, tuple[int, int]] = {}
        # Also of messages that were taken back, because a later `$set` may bring them again.
        self._newest_places: dict[str, tuple[int, int]] = {}
        self._answered: set[str] = set()
        # The model was given these before a compression dropped them, so they count as well.
        self._compressed_places: set[tuple[int, int]] = set()

    def take(self, at: int, line: dict[str, Any]) -> None:
        """Go on with a line that begins at an offset."""
        name, taken_back = line.get("id"), line.get("$rewindTo")
        if isinstance(taken_back, str):
            self._rewind(taken_back)
        elif isinstance(name, str):
            self._put(name, (at, OWN), line)
        elif (history := set_messages(line)) is not None:
            if any(name not in self._newest_places for name in snapshots(line)):
                self._compressed_places.update(self._live_places.values())
                self.compressions.add(at)
            self._live_places = {}
            for place, message in enumerate(history):
                self._restate(word(message["id"]), (at, place), message)

    def counted_places(self) -> set[tuple[int, int]]:
        """Return the places of the messages that the model was given and still counts."""
        return self._compressed_places | set(self._live_places.values())

    def _put(self, name: str, place: tuple[int, int], message: dict[str, Any]) -> None:
        self._live_places[name] = self._newest_places[name] = place
        self._answered.update(_answers(message))

    def _restate(self, name: str, place: tuple[int, int], message: dict[str, Any]) -> None:
        answers = _answers(message)
        if name in self._newest_places:
            self._live_places[name] = self._newest_places[name]
        elif not answers or not self._answered.issuperset(answers):
            # Else it is a copy of results that the program makes when it goes on with a chat.
            self._put(name, place, message)

    def _rewind(self, name: str) -> None:
        # From the end backwards, because a chat may be taken back as often as it has messages.
        while self._live_places:
            newest, _ = self._live_places.popitem()
            if newest == name:
                return


def set_messages(line: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the history that a line sets, None where it sets none."""
    patch = line.get("$set")
    messages = patch.get("messages") if isinstance(patch, dict) else None
    if not isinstance(messages, list):
        return None
    return [item for item in messages if isinstance(item, dict) and isinstance(item.get("id"), str)]


def messages_in(line: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the messages that a line tells, each with its place."""
    if isinstance(line.get("id"), str):
        return [(OWN, line)]
    return [*enumerate(set_messages(line) or ())]


def snapshots(line: dict[str, Any]) -> list[str]:
    """Return the ids of the snapshots in the history that a line sets.

    A snapshot that no line before has is what a compression left; one without an id is none, as
    nothing tells whether it is new.
    """
    return [item["id"] for item in set_messages(line) or () if item["id"] and is_snapshot(item)]


def is_snapshot(message: dict[str, Any]) -> bool:
    """Say whether a message stands for all before it."""
    return any(SNAPSHOT in text for text in texts_in(message))


def texts_in(message: dict[str, Any]) -> list[str]:
    """Return the texts of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return [content] if content.strip() else []
    parts = content if isinstance(content, list) else ()
    values = [p.get("text") for p in parts if isinstance(p, dict) and not p.get("thought")]
    return [text for text in values if isinstance(text, str) and text.strip()]


def users_words(text: str) -> str:
    """Return what of a text in the user's name is the user's, empty if nothing is."""
    words = text.strip()
    while words.startswith(_BY_HOOKS):
        words = words.partition(_END_OF_IT)[2].lstrip()
    return "" if words.startswith(_NOT_THE_USERS) else words


def time_of_set(line: dict[str, Any]) -> float:
    """Return when a line set the history, 0 if it does not tell."""
    patch = line.get("$set")
    return time_of({"timestamp": patch.get("lastUpdated")}) if isinstance(patch, dict) else 0


def _answers(message: dict[str, Any]) -> list[str]:
    """Return the ids of the calls of which a message is the result, and nothing else."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    responses = [p.get("functionResponse") for p in parts if isinstance(p, dict)]
    answers = [word(response.get("id")) for response in responses if isinstance(response, dict)]
    return answers if len(answers) == len(parts) else []
