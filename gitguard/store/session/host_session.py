"""`session.json`: what a session is called, where it began, and what belongs to each conversation.

Many host sessions, one after another or side by side, continue one session; none of them inherits
or lifts another's halt (references/design/contract.md, "What belongs to what"). A removed folder
must not end one either, so a copy of those that are held lies outside the repository.
"""

from __future__ import annotations

import os

from gitguard.errors import EditedState, InvalidDocument, InvalidInput, NotWritable
from gitguard.model import fields
from gitguard.model.codec import check_format, dump_json, load_json
from gitguard.model.events import Transcript
from gitguard.model.record import Record
from gitguard.model.text import one_line, shorten
from gitguard.store.disk import files
from gitguard.store.session.workspace import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.store.session.workspace import Session, Workspace

FORMAT = 1
_SEALED_AT = "session.json {}"
NEVER = "1970-01-01T00:00:00Z"


class Halt(Record):
    """A halt, or the override that lifted one."""

    at: str = fields.time("When.")
    pressure: float = fields.share("The pressure at that moment; 1 when it was missing.")
    reason: str = fields.text("Why.")
    gauge: str = fields.text("How full the context was, such as `86% (172k/200k)`.", default="")
    saved: str = fields.text("What was saved because of it, as a sentence.", default="")


class HostReading(Record):
    """A reading as it is kept."""

    source: str = fields.text("given, estimate, status-line or hook.")
    at: float = fields.number("Unix seconds.")
    tokens: float = fields.number(
        "Tokens in the context, -1 if only the share is known.", default=-1
    )
    share: float = fields.number("Share of the window, -1 if only tokens are known.", default=-1)
    model: str = fields.text("The model.", default="")
    window: int = fields.count("The window it came with, 0 if it came without.", default=0)


class Delivery(Record):
    """A receipt: which checkpoint's block went to this conversation."""

    at: str = fields.time("When.")
    event: str = fields.text("At which event.")
    head: str = fields.text("The checkpoint's commit, empty if there was none.")
    epoch: int = fields.count("After how many compactions.")
    characters: int = fields.count("The block's length.")


class UnconfirmedPrompt(Record):
    """A prompt that came while a tool call ran, so that the call may have sent it."""

    at: str = fields.time("When.")
    text: str = fields.text("The prompt, as it is journaled.", default="")
    turn_id: str = fields.text(
        "The host's id of its turn, empty where the host has none.", default=""
    )
    of_known_turn: bool = fields.flag(
        "Whether that turn went on already, so that a call in it could know the id.", default=False
    )
    calls: tuple[str, ...] = fields.texts(
        "The ids of the calls that ran; the end of one of them confirms nothing.", default=()
    )


class HostSession(Record):
    """The record of one conversation."""

    host: str = fields.text("The host's name, empty where a program asks without one.", default="")
    started_at: str = fields.time("When we first heard of it.", kw_only=True)
    used_at: str = fields.time("When something of it was last kept.", default=NEVER)
    turns: int = fields.count("Prompts so far; for a bare command line, asked gates.", default=0)
    ended_turns: int = fields.count("How many turns there were when one last ended.", default=0)
    turn_id: str = fields.text(
        "The host's id of the newest turn, empty where it has none.", default="", sparse=True
    )
    unconfirmed: tuple[UnconfirmedPrompt, ...] = fields.records(
        "Prompts that nothing has confirmed yet.", of=UnconfirmedPrompt, default=(), sparse=True
    )
    turn_since: float = fields.number(
        "Unix seconds when the newest turn began or ended; what was said before is of older ones.",
        default=0,
        sparse=True,
    )
    process: str = fields.text(
        "The host's process in the newest turn; empty where that is not known.",
        default="",
        sparse=True,
    )
    last_process: str = fields.text(
        "The process that its last start, prompt or end of a turn came from.",
        default="",
        sparse=True,
    )
    continues: bool = fields.flag(
        "Whether the host cleared or resumed another conversation into this one.",
        default=False,
        sparse=True,
    )
    sub_agents: int = fields.count(
        "Sub-agents at work whose events do not name them.", default=0, sparse=True
    )
    epoch: int = fields.count("Compactions so far.", default=0)
    compacting_since: float = fields.number(
        "When a compaction began that has not ended; else 0.", default=0
    )
    compacting_unconfirmed: bool = fields.flag(
        "Whether that beginning was told while a call ran, so that the call may have sent it.",
        default=False,
        sparse=True,
    )
    unconfirmed_compaction: float = fields.number(
        "When the end of a compaction was told that nothing has confirmed yet; else 0.",
        default=0,
        sparse=True,
    )
    compacted_at: float = fields.number(
        "Unix seconds of the last one; readings before are void.", default=0
    )
    transcript: str = fields.text("Where the host keeps the conversation.", default="")
    transcript_format: str = fields.text("The transcript's format.", default="")
    transcript_session: str = fields.text(
        "Which conversation it is, in a place of many.", default=""
    )
    window: int = fields.count("The window the host reported, 0 if it never did.", default=0)
    window_model: str = fields.text("The model it was reported for.", default="")
    proven_tokens: int = fields.count(
        "The most that were in use; a smaller window is disproved.", default=0
    )
    proven_model: str = fields.text("The model that they were in use with.", default="")
    reading: HostReading | None = fields.record(
        "The newest that a host pushed, for hooks without one.", of=HostReading, default=None
    )
    given: HostReading | None = fields.record(
        "What the gate was told last; advice alone goes by it.", of=HostReading, default=None
    )
    halt: Halt | None = fields.record("The halt in force.", of=Halt, default=None)
    override: Halt | None = fields.record("The override in force.", of=Halt, default=None)
    delivery: Delivery | None = fields.record("The last delivery.", of=Delivery, default=None)
    head: str = fields.text(
        "The newest checkpoint this conversation wrote or was handed.", default=""
    )
    compactions: int = fields.count("Compactions that the transcript tells of.", default=0)
    counted_upto: int = fields.count("Up to where in the transcript they are counted.", default=0)
    heard_upto: int = fields.count(
        "Up to where in the transcript the agent's words within turns were taken in.",
        default=0,
        sparse=True,
    )
    answer: str = fields.text("How the agent's last answer began.", default="")
    checkpointed_tokens: float = fields.number(
        "Usage at the last checkpoint that it brought; -1: re-armed.", default=-1
    )
    warned: int = fields.count(
        "The warning that was said last in this rise, 1 to 3; else 0.", default=0
    )
    told_calls: int = fields.count(
        "Calls that had ended when the agent was last advised.", default=0
    )
    told_tokens: float = fields.number(
        "Usage at the last line about the context in this rise, else 0.", default=0, sparse=True
    )
    advised_tokens: float = fields.number(
        "Usage at the last advice or warning in this rise, else 0.", default=0, sparse=True
    )
    asked_calls: int = fields.count(
        "Calls that had ended when notes were last looked for.", default=0, sparse=True
    )
    asked_at: str = fields.text("When that was.", default="", sparse=True)
    asked_notes: bool = fields.flag(
        "Whether notes were asked for since the last one.", default=False, sparse=True
    )
    paced_tokens: float = fields.number(
        "Usage from which a call's average is counted, else -1.", default=-1
    )
    paced_calls: int = fields.count("Calls that had ended by then.", default=0)
    paced_upto: float = fields.number(
        "Usage at the last look; below it, the average begins anew.", default=-1
    )
    summary_tokens: int = fields.count(
        "What the newest compaction's summary takes, about.", default=0
    )
    told_spiral: bool = fields.flag(
        "Whether it was said since the last compaction that these eat the context up.",
        default=False,
    )
    undecided: bool = fields.flag(
        "Whether nothing tells yet that the newest prompt asks for something.",
        default=False,
        sparse=True,
    )
    awaits_answer: bool = fields.flag(
        "Whether the newest turn ended before the host wrote its answer down.",
        default=False,
        sparse=True,
    )
    completed: str = fields.text("The task that it was told is complete.", default="")
    version: str = fields.text(
        "The host's version, empty where it does not tell.", default="", sparse=True
    )
    told_hooks: str = fields.text(
        "What the agent was told last of hooks that do not run.", default="", sparse=True
    )
    told_unknown: bool = fields.flag(
        "Whether it was said that nothing tells how full the context is.",
        default=False,
        sparse=True,
    )
    told_not_kept: str = fields.text(
        "The files without a copy that the person was told of last.", default="", sparse=True
    )
    told_collisions: tuple[str, ...] = fields.texts(
        "The files at which others are that it was told of, each with whom.",
        default=(),
        sparse=True,
    )
    untold_collision: str = fields.text(
        "A line of that kind that the agent could not be told yet.", default="", sparse=True
    )
    denied_done: str = fields.text(
        "When the task was called done after which a call that writes a file was denied.",
        default="",
        sparse=True,
    )
    lacks_state: bool = fields.flag(
        "Whether the newest event that hands the state back met one that is missing.",
        default=False,
        sparse=True,
    )
    untold: tuple[str, ...] = fields.texts(
        "Lines of the newest turn that a graver one kept from the agent.", default=(), sparse=True
    )
    imported: bool = fields.flag(
        "Whether it was imported, and no hook told of it since.", default=False
    )
    carried: bool = fields.flag(
        "Whether it came along from another session, and did nothing in this one.",
        default=False,
        sparse=True,
    )

    @property
    def host_transcript(self) -> Transcript | None:
        """Where the host writes the conversation down, None where that is not known."""
        path, name = self.transcript, self.transcript_format
        return Transcript(path, name, self.transcript_session) if path else None

    @property
    def last_use(self) -> str:
        """When something of it was last kept, or else when it began."""
        return max(self.used_at, self.started_at)

    @property
    def is_in_turn(self) -> bool:
        """Whether no hook has told yet that the newest prompt's turn is over."""
        return self.turns > self.ended_turns

    @property
    def is_held(self) -> bool:
        """Whether a halt or an override is in force, which nothing but its own end may end."""
        return self.halt is not None or self.override is not None

    def compacted(self, at: float) -> HostSession:
        """Return the record after a compaction: readings void, halt and override over."""
        return self.replace(
            epoch=self.epoch + 1,
            compacting_since=0,
            compacting_unconfirmed=False,
            unconfirmed_compaction=0,
            compacted_at=at,
            reading=None,
            given=None,
            halt=None,
            override=None,
            checkpointed_tokens=-1,
            warned=0,
            told_tokens=0,
            advised_tokens=0,
            paced_tokens=-1,
            summary_tokens=0,
            told_spiral=False,  # the compaction has erased these
            told_hooks="",
        )


class Hold(Record):
    """What holds a conversation: its halt, or the override that lifted it."""

    host: str = fields.text("The host's name, empty where a program asks without one.")
    conversation: str = fields.text("The host's id of the conversation.")
    halt: Halt | None = fields.record("The halt in force.", of=Halt, default=None)
    override: Halt | None = fields.record("The override in force.", of=Halt, default=None)
    denied: int = fields.count("Tool calls that were denied since the last prompt.", default=0)
    denied_call: str = fields.text("What tells the newest of them from others.", default="")
    denied_at: float = fields.number("Unix seconds when it was denied.", default=0)
    worktree: str = fields.text("Where the conversation worked, for people.", default="")


class SessionRecord(Record):
    """`session.json`: what the working files know about a session and its conversations."""

    format: int = fields.count("The version of this file.")
    key: str = fields.text("The session's key as it was given.")
    began_on: str = fields.text("The branch checked out when the session began.", default="")
    owner: str = fields.text("The git directory of the worktree that owns the session.", default="")
    branch: str = fields.text(
        "The branch whose session it is, where that is another one by now.",
        default="",
        sparse=True,
    )
    host_sessions: Mapping[str, HostSession] = fields.unwritten(default={})

    @property
    def own_branch(self) -> str:
        """The branch whose session it is, empty if nothing tells."""
        return self.branch or self.began_on


def read_record(workspace: Workspace, session: Session) -> SessionRecord:
    """Read `session.json`; one that is missing or somebody else's is empty.

    Raises `InvalidDocument` where it is damaged.
    """
    path = workspace.working_file(session, "session.json")
    data = files.read_bytes(path, limit=LIMIT)
    if data is None:
        return _recalled(workspace, session.key, session)
    record = decode_record(data, path)
    if not workspace.seal.holds(data, _SEALED_AT.format(session.name)):
        moment = workspace.moment(session)
        if not moment.is_settled:  # somebody may be sealing it for the first time
            return moment.settled(lambda: read_record(workspace, session))
        if not workspace.works_apart:
            foreign = EditedState(f"`{path}` was not written by gitguard")
            workspace.note_fault("reading the conversations", foreign)
        # Of a session known by its name alone, only a key that fits the name can be the key.
        key = record.key if session.is_known_as(record.key) else session.key
        return _recalled(workspace, key, session)
    if session.key != session.name and record.key not in (session.key, session.name):
        # A name holds 32 bits of its key's hash; somebody may have looked for the same ones.
        raise InvalidInput(
            f"the session key `{shorten(one_line(session.key), 80)}` has the same name as "
            f"`{shorten(one_line(record.key), 80)}`, `{session.name}`",
            "Use another session key",
        )
    return record


def _recalled(workspace: Workspace, key: str, session: Session) -> SessionRecord:
    return SessionRecord(FORMAT, key, host_sessions=recall_held(workspace, session))


def new_record(workspace: Workspace, session: Session, branch: str = "") -> SessionRecord:
    """Return the record of a session that this worktree works at from now on."""
    return SessionRecord(FORMAT, session.key, branch, workspace.place.git_dir)


def write_record(workspace: Workspace, session: Session, record: SessionRecord) -> None:
    """Replace `session.json`, but never by what could not be read back."""
    hosts = {key: item.to_document() for key, item in record.host_sessions.items()}
    document, _ = workspace.redactor.document({**record.to_document(), "host_sessions": hosts})
    data = dump_json(document)
    path = workspace.working_file(session, "session.json")
    # Read back before anything is replaced: a fault of ours must not cost a record that was good.
    decode_record(data, path)
    files.write_bytes(path, workspace.seal.put_on(data, _SEALED_AT.format(session.name)))


def decode_record(data: bytes, path: str) -> SessionRecord:
    """Read `session.json`, or its copy."""
    try:
        document = load_json(data, what=f"`{path}`", limit=LIMIT)
    except InvalidDocument as error:
        raise InvalidDocument(error.message, "Run `gitguard repair --local`") from error
    check_format(document, FORMAT, what=f"`{path}`")
    document.pop("seal", None)
    hosts = document.pop("host_sessions", {})
    try:
        record = SessionRecord.from_document(document)
        sessions = {key: HostSession.from_document(item) for key, item in hosts.items()}
    except (InvalidInput, AttributeError) as error:
        raise InvalidDocument(
            f"`{path}` is damaged: {error}", "Run `gitguard repair --local`"
        ) from error
    return record.replace(host_sessions=sessions)


def remember_held(workspace: Workspace, session: Session, hosts: Mapping[str, HostSession]) -> None:
    """Keep a copy of halted and overridden conversations outside the repository."""
    clean = workspace.redactor.document  # an override has a reason, which is anybody's text
    documents = {key: clean(item.to_document())[0] for key, item in hosts.items() if item.is_held}
    path = _copy_path(workspace, session)
    document = SessionRecord(FORMAT, session.key).to_document()
    try:
        if documents or os.path.exists(path):
            files.make_folder(os.path.dirname(path))
            files.write_bytes(path, dump_json({**document, "host_sessions": documents}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise


def recall_held(workspace: Workspace, session: Session) -> Mapping[str, HostSession]:
    """Return the conversations in the copy, none where there is no copy that reads."""
    path = _copy_path(workspace, session)
    try:
        data = files.read_bytes(path, limit=LIMIT)
        return {} if data is None else decode_record(data, path).host_sessions
    except InvalidDocument:
        return {}


def _copy_path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "conversations.json")
