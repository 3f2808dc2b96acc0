"""What a host's transcript tells beyond readings: who said what, and how often it was compacted."""

from __future__ import annotations

from gitguard.model.value import Value

USER, AGENT = "user", "agent"


class Message(Value):
    """What the user said, or what the agent answered in text."""

    role: str
    """user or agent."""
    text: str
    at: float = 0
    """Unix seconds, 0 if the transcript does not tell."""


class StoppedCall(Value):
    """A call of a tool that the user refused or interrupted, by the host's own record of it."""

    call_id: str
    words: str = ""
    """What the user said with a refusal, empty for a mere no."""
    at: float = 0
    """Unix seconds, 0 if the transcript does not tell."""
    has_run: bool = False
    """Whether it ran until then, and was not refused."""


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
