"""What a host's transcript tells beyond readings: who said what, and how often it was compacted."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

USER, AGENT = "user", "agent"


class Message(Value):
    """What the user said, or what the agent answered in text."""

    role: str
    """user or agent."""
    text: str
    at: float = 0
    """Unix seconds, 0 if the transcript does not tell."""
    is_taken_back: bool = False
    """Of a prompt: whether the user took it back with what followed it."""


class PromptHistory(Value):
    """What the user said in a conversation, as far as the host tells what of it stands."""

    prompts: tuple[Message, ...] = ()
    """The oldest first, with what they took back if the host still has that."""
    removed_since: float = -1
    """Unix seconds from which on the host removed what it had written; -1 if it removed nothing."""


class StoppedCall(Value):
    """A call of a tool that the user refused or interrupted, by the host's own record of it."""

    call_id: str
    words: str = ""
    """What the user said with a refusal, empty for a mere no."""
    at: float = 0
    """Unix seconds, 0 if the transcript does not tell."""
    has_run: bool = False
    """Whether it ran until then, and was not refused."""


class RecordedCall(Value):
    """A call of a tool as the host wrote it down, and how it ended."""

    id: str
    name: str
    given: Mapping[str, Any] | None = None
    """Its arguments; None where there are none or they are no object."""
    has_ended: bool = False
    """Whether its result was written down, whatever it is."""
    text: str = ""
    """The result."""
    is_error: bool = False
    exit_code: int | None = None
    """Of a command, where the transcript tells it."""
    at: float = 0
    """When it ended, in Unix seconds; 0 if it has not, or the transcript does not tell."""


class Compactions(Value):
    """The compactions of a conversation behind a cursor."""

    count: int = 0
    newest_at: float = 0
    """Unix seconds of the newest counted one; 0 if none was, or if its time is unknown."""
    upto: int = 0
    """The cursor with which counting goes on; what it counts is the format's own affair."""
    anew: bool = True
    """Whether these are all there are, so that what was counted before is void."""


class Answer(Value):
    """What a summarizer said to a text that it was given."""

    text: str = ""
    complaint: str = ""
    """Why there is no text."""
