"""What belongs to one conversation of a host: pressure, halt, override, deliveries.

Many host sessions, one after another or side by side, continue one session; none of them inherits
or lifts another's halt (DESIGN section 2).
"""

from __future__ import annotations

from gitguard.model.record import Kind, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


NEVER = "1970-01-01T00:00:00Z"


class Stop(Record):
    """A halt, or the override that lifted one."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "at": Kind("time", "When."),
        "pressure": Kind("share", "The pressure at that moment; 1 when it was missing."),
        "reason": Kind("text", "Why."),
        "gauge": Kind("text", "How full the context was, such as `86% (172k/200k)`."),
        "saved": Kind("text", "What was saved because of it, as a sentence."),
    }
    at: str
    pressure: float
    reason: str
    gauge: str = ""
    saved: str = ""
    extra: Mapping[str, Any] = {}


class HostReading(Record):
    """A reading as it is kept."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "source": Kind("text", "given, estimate, status-line or hook."),
        "at": Kind("number", "Unix seconds."),
        "tokens": Kind("number", "Tokens in the context, -1 if only the share is known."),
        "share": Kind("number", "Share of the window, -1 if only tokens are known."),
        "model": Kind("text", "The model."),
        "window": Kind("count", "The window it came with, 0 if it came without."),
    }
    source: str
    at: float
    tokens: float = -1
    share: float = -1
    model: str = ""
    window: int = 0
    extra: Mapping[str, Any] = {}


class Delivery(Record):
    """A receipt: which checkpoint's block went to this conversation."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "at": Kind("time", "When."),
        "event": Kind("text", "At which event."),
        "head": Kind("text", "The checkpoint's commit, empty if there was none."),
        "epoch": Kind("count", "After how many compactions."),
        "characters": Kind("count", "The block's length."),
    }
    at: str
    event: str
    head: str
    epoch: int
    characters: int
    extra: Mapping[str, Any] = {}


class HostSession(Record):
    """The record of one conversation."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "host": Kind("text", "The host's name, empty where a program asks without one."),
        "started_at": Kind("time", "When we first heard of it."),
        "used_at": Kind("time", "When something of it was last kept."),
        "turns": Kind("count", "Prompts so far; for a bare command line, asked gates."),
        "epoch": Kind("count", "Compactions so far."),
        "compacting_since": Kind("number", "When a compaction began that has not ended; else 0."),
        "compacted_at": Kind("number", "Unix seconds of the last one; readings before are void."),
        "transcript": Kind("text", "Where the host keeps the conversation."),
        "transcript_format": Kind("text", "The transcript's format."),
        "transcript_session": Kind("text", "Which conversation it is, in a place of many."),
        "window": Kind("count", "The window the host reported, 0 if it never did."),
        "window_model": Kind("text", "The model it was reported for."),
        "proven_tokens": Kind("count", "The most that were in use; a smaller window is disproved."),
        "proven_model": Kind("text", "The model that they were in use with."),
        "reading": Kind(
            "record", "The newest that a host pushed, for hooks without one.", of=HostReading
        ),
        "given": Kind(
            "record", "What the gate was told last; advice alone goes by it.", of=HostReading
        ),
        "halt": Kind("record", "The halt in force.", of=Stop),
        "override": Kind("record", "The override in force.", of=Stop),
        "delivery": Kind("record", "The last delivery.", of=Delivery),
        "head": Kind("text", "The newest checkpoint this conversation wrote or was handed."),
        "compactions": Kind("count", "Compactions that the transcript tells of."),
        "counted_upto": Kind("count", "Up to where in the transcript they are counted."),
        "answer": Kind("text", "How the agent's last answer began."),
        "checkpointed_tokens": Kind(
            "number", "Usage at the last checkpoint that it brought; -1: re-armed."
        ),
        "warned": Kind("count", "The warning that was said last in this rise, 1 to 3; else 0."),
        "told_calls": Kind("count", "Calls that had ended when the agent was last advised."),
        "paced_tokens": Kind("number", "Usage from which a call's average is counted, else -1."),
        "paced_calls": Kind("count", "Calls that had ended by then."),
        "paced_upto": Kind("number", "Usage at the last look; below it, the average begins anew."),
        "summary_tokens": Kind("count", "What the newest compaction's summary takes, about."),
        "told_spiral": Kind(
            "flag", "Whether it was said since the last compaction that these eat the context up."
        ),
        "completed": Kind("text", "The task that it was told is complete."),
        "imported": Kind("flag", "Whether it was imported, and no hook told of it since."),
    }
    started_at: str
    turns: int = 0
    epoch: int = 0
    compacting_since: float = 0
    compacted_at: float = 0
    transcript: str = ""
    transcript_format: str = ""
    transcript_session: str = ""
    window: int = 0
    window_model: str = ""
    proven_tokens: int = 0
    proven_model: str = ""
    used_at: str = NEVER
    reading: HostReading | None = None
    given: HostReading | None = None
    halt: Stop | None = None
    override: Stop | None = None
    delivery: Delivery | None = None
    compactions: int = 0
    counted_upto: int = 0
    answer: str = ""
    checkpointed_tokens: float = -1
    warned: int = 0
    told_calls: int = 0
    paced_tokens: float = -1
    paced_calls: int = 0
    paced_upto: float = -1
    summary_tokens: int = 0
    told_spiral: bool = False
    head: str = ""
    host: str = ""
    completed: str = ""
    imported: bool = False
    extra: Mapping[str, Any] = {}

    @property
    def last_use(self) -> str:
        """When something of it was last kept; records of older versions say only when it began."""
        return max(self.used_at, self.started_at)

    @property
    def is_held(self) -> bool:
        """Whether a halt or an override is in force, which nothing but its own end may end."""
        return self.halt is not None or self.override is not None

    def compacted(self, at: float) -> HostSession:
        """Return the record after a compaction: readings void, halt and override over."""
        return self.replace(
            epoch=self.epoch + 1,
            compacting_since=0,
            compacted_at=at,
            reading=None,
            given=None,
            halt=None,
            override=None,
            checkpointed_tokens=-1,
            warned=0,
            paced_tokens=-1,
            summary_tokens=0,
            told_spiral=False,  # the compaction has erased it
        )


class Hold(Record):
    """What holds a conversation: its halt, or the override that lifted it."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "host": Kind("text", "The host's name, empty where a program asks without one."),
        "conversation": Kind("text", "The host's id of the conversation."),
        "halt": Kind("record", "The halt in force.", of=Stop),
        "override": Kind("record", "The override in force.", of=Stop),
        "denied": Kind("count", "Tool calls that were denied since the last prompt."),
        "worktree": Kind("text", "Where the conversation worked, for people."),
    }
    host: str
    conversation: str
    halt: Stop | None = None
    override: Stop | None = None
    denied: int = 0
    worktree: str = ""
    extra: Mapping[str, Any] = {}


class SessionRecord(Record):
    """`session.json`: what the working files know about a session and its conversations."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "format": Kind("count", "The version of this file."),
        "key": Kind("text", "The session's key as it was given."),
        "began_on": Kind("text", "The branch checked out when the session began."),
        "owner": Kind("text", "The git directory of the worktree that owns the session."),
    }
    format: int
    key: str
    began_on: str = ""
    owner: str = ""
    host_sessions: Mapping[str, HostSession] = {}
    extra: Mapping[str, Any] = {}
