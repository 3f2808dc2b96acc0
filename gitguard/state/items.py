"""What the lists of a task state hold: every item has an id and says where it comes from.

An id is unique across machines and never used twice, so that later work can merge, link and review
items. What a hook saw gets an id from what it saw, so that the same journal folded twice gives the
same items; what an agent notes gets a random one.
"""

from __future__ import annotations

import os

from gitguard.model import fields
from gitguard.model.codec import sha256
from gitguard.model.record import Record
from gitguard.model.transcript import AGENT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HOOK = "hook"
PERSON = "person"
"""Whoever notes something in a terminal in which no agent's host runs the command."""
OUTCOMES = ("success", "partial")
ARTIFACT_KINDS = ("file", "directory", "branch", "commit", "url", "other")
OPEN, ACTIVE, DONE = STEP_STATES = ("open", "active", "done")
PASSED, FAILED, RAN = COMMAND_OUTCOMES = ("passed", "failed", "ran")
REQUEST, CORRECTION, CONSTRAINT, ANSWER, SMALL_TALK = USER_KINDS = (
    "request",
    "correction",
    "constraint",
    "answer",
    "small talk",
)
"""What a prompt can be."""
CONCLUSION, UNFINISHED = AGENT_KINDS = ("conclusion", "unfinished")
"""What an agent's words can be: the answer that ends a turn, or of one that did not end."""
EVENT = "event"
"""What is said of something that happened outside the conversation: nobody's words."""
INVARIANT, DECIDED, SAID = "invariant", "decision", "said"
"""What is kept of a task that has ended, beside its constraints."""
FROM_ELSEWHERE = "from another machine"
"""How what another machine wrote is labelled."""
_IN_PROGRESS = "in_progress"
_OUTCOMES = {
    _IN_PROGRESS: "left in progress",
    "waiting_for_user": "left waiting for the user",
    "blocked": "left blocked",
    "complete": "finished",
}
"""How a task ended, by how it stood when the next one began."""
ID_LENGTH = 16
"""Hexadecimal digits: 64 bits, so that two of a million items agree once in 37 million sessions."""
_CODE_LENGTH = 12


def derived_id(*parts: str) -> str:
    """Return the id of what can be seen twice: the same parts give the same id."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass"))[:ID_LENGTH]


def random_id(random: Callable[[int], bytes] = os.urandom) -> str:
    """Return an id that nothing else has; random takes a number of bytes."""
    return random(ID_LENGTH // 2).hex()


class Origin(Record):
    """Who an item comes from, and when, in which conversation and at which commit it came up."""

    by: str = fields.text(
        "user: the user's words, as the host handed them to a hook; agent: noted by the agent, "
        "or its words; hook: what a hook saw; person: noted in a terminal outside a host.",
        choices=(USER, AGENT, HOOK, PERSON),
        default=AGENT,
    )
    when: str = fields.time("When; left out if unknown.", default="", sparse=True)
    conversation: str = fields.text(
        "The host's id of the conversation; empty outside of one.", default="", sparse=True
    )
    turn: int = fields.count("The turn in it, from 1; 0 if unknown.", default=0, sparse=True)
    code: str = fields.text(
        "The first 12 digits of the commit that was checked out.", default="", sparse=True
    )
    elsewhere: bool = fields.flag(
        "Whether another machine wrote it; known to the machine that reads, and never written.",
        default=False,
    )
    is_read: bool = fields.flag(
        "Whether it was read in the host's transcript, where others may write, and not heard from "
        "the host.",
        default=False,
    )

    @property
    def machine_label(self) -> str:
        """What stands behind a text that another machine wrote; empty for this one's."""
        return f" ({FROM_ELSEWHERE})" if self.elsewhere else ""

    def at_commit(self, commit: str) -> Origin:
        """Return the origin with the commit that was checked out, if none is known yet."""
        if self.code or not commit:
            return self
        return self.replace(code=commit[:_CODE_LENGTH])


class Item(Record):
    """What every item of a list has in common; documents hold it behind the item's own fields."""

    id: str = fields.text("Unique across machines and never used twice.", default="", kw_only=True)
    origin: Origin = fields.record(
        "Where it comes from.", of=Origin, default=Origin(), kw_only=True
    )

    @property
    def is_noted(self) -> bool:
        """Whether somebody noted it; what hooks gathered gives way where room is short."""
        return self.origin.by in (AGENT, PERSON)

    @property
    def when(self) -> str:
        """When it came up, empty if unknown."""
        return self.origin.when


class Note(Item):
    """A sentence."""

    text: str = fields.text("What it says.")


def texts(items: Iterable[Note | PlanStep]) -> tuple[str, ...]:
    """Return what notes and steps say."""
    return tuple(item.text for item in items)


def source_label(source: str, *, elsewhere: bool) -> str:
    """Return who something comes from, and whether that was on another machine."""
    return ", ".join(filter(None, (source, FROM_ELSEWHERE if elsewhere else "")))


def labelled_text(text: str, origin: Origin | None) -> str:
    """Return a text after a label if another machine wrote it; the end of a text may be cut."""
    is_elsewhere = origin is not None and origin.elsewhere
    return f"({FROM_ELSEWHERE}) {text}" if is_elsewhere else text


class HostSummary(Item):
    """What a host's own summary says of where the work stands, and where all of it is."""

    text: str = fields.text("What it says of that, each section in a line.")
    whole: str = fields.text(
        "The id of the whole summary in the store of file snapshots; left out if it is not kept.",
        default="",
        sparse=True,
    )
    length: int = fields.count("Characters of the whole summary.", default=0, sparse=True)


class Artifact(Item):
    """A file or other thing the task touches."""

    path: str = fields.text("Where it is; for files relative to the workspace.")
    kind: str = fields.text("What it is.", choices=ARTIFACT_KINDS, default="file")
    description: str = fields.text("What it is for.", default="")
    writes: int = fields.count("How often it was seen to be written.", default=0, sparse=True)
    by_shell: bool = fields.flag(
        "Whether a shell command wrote it last, and no tool for that.", default=False, sparse=True
    )


class Decision(Item):
    """A choice that later work relies on."""

    label: str = fields.text("d1, d2, … in the order they were made, for people.")
    what: str = fields.text("What was decided.")
    why: str = fields.text("The reason.")


class Failure(Item):
    """An attempt that failed, so that it is not tried again blindly."""

    what: str = fields.text("What was tried.")
    error: str = fields.text("How it failed.")
    fixed_at: str = fields.time(
        "When the same attempt succeeded; left out until then.", default="", sparse=True
    )


class ToolOutput(Item):
    """What a tool said that later work needs."""

    tool: str = fields.text("The tool's name.")
    summary: str = fields.text("What it said.")


class Command(Item):
    """A command that builds, tests, checks or starts something, as it was last run."""

    command: str = fields.text("The command, without pipes.")
    outcome: str = fields.text("How it ended; ran: nothing told how.", choices=COMMAND_OUTCOMES)
    ending: str = fields.text("The end of what it said.", default="", sparse=True)
    runs: int = fields.count("How often it was run.", default=1)


class PlanStep(Item):
    """A step of the host's plan or to-do list."""

    number: str = fields.text("The host's number for it.")
    text: str = fields.text("What is to be done.")
    state: str = fields.text("How far it is.", choices=STEP_STATES, default=OPEN)

    @property
    def is_done(self) -> bool:
        """Whether it is done."""
        return self.state == DONE


class Exchange(Item):
    """What the user or the agent said, or what happened; `origin.by` says who said it."""

    text: str = fields.text("The words, cut to what is kept.")
    kind: str = fields.text(
        "What the words are; event: not words, but what happened.",
        choices=(*USER_KINDS, *AGENT_KINDS, EVENT),
    )
    settles: str = fields.text(
        "What the agent had said, where the user answers it in a few words.",
        default="",
        sparse=True,
    )


class EarlierTask(Item):
    """A task that was worked at before on the same branch."""

    task_id: str = fields.text("The task.")
    goal: str = fields.text("What it was to reach.")
    status: str = fields.text("How it stood when the next one began; moved: it went along.")
    moved_to: str = fields.text(
        "The branch that a moved task went along to.", default="", sparse=True
    )
    answered: bool = fields.flag(
        "Whether an answer to its last request had ended the turn by then.",
        default=False,
        sparse=True,
    )

    @property
    def outcome(self) -> str:
        """How the task ended, in words."""
        if self.moved_to:
            return f"moved to the branch {self.moved_to}"
        if self.answered and self.status == _IN_PROGRESS:
            return "last request answered"
        return _OUTCOMES.get(self.status, self.status)


class EarlierNote(Item):
    """What was noted or said for an earlier task; its id is the same.

    It may hold beyond that task, or came from another machine once the task was over.
    """

    task_id: str = fields.text("The task.")
    kind: str = fields.text(
        "What one item of its field is called; said: words of the user's that may hold beyond "
        "their task.",
    )
    text: str = fields.text("What was noted or said.")


class Variant(Record):
    """What one or several writers made of something that others changed as well."""

    writers: tuple[str, ...] = fields.texts("Who made it so.", is_fixed=True)
    value: str = fields.text("What they made of it, as a JSON object of its fields.")


class Conflict(Item):
    """A field or an item that writers changed without knowing of each other's change."""

    field: str = fields.text("The field of the state.")
    variants: tuple[Variant, ...] = fields.records(
        "What they made of it; the state holds the first.", of=Variant, is_fixed=True
    )
    # Not `key`, because what is random under that name is taken for a secret.
    item: str = fields.text(
        "What tells the item from others of its list; empty for a field that is no list.",
        default="",
        sparse=True,
    )
