"""One event's conversation: its session, its record, and what every answer does with them.

A handler is a function over this object. `record` is the conversation's entry in `session.json` as
it was read, or as a handler changed it; it is kept when `recording` ends.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    NOT_OURS,
    EditedState,
    GitguardError,
    InvalidDocument,
    MissingState,
    NotReadable,
    Tampered,
)
from gitguard.hooks import gate
from gitguard.hooks.gate import checkpointed, risen_to
from gitguard.model import events
from gitguard.model.events import FIRST_TURN
from gitguard.model.text import one_line, shorten
from gitguard.pressure.gauge import (
    may_open_gate,
    measure_pressure,
    summary_tokens,
    with_proof,
)
from gitguard.state.entries import STARTED, JournalEntry
from gitguard.store.disk.files import read_bytes
from gitguard.store.session.conversations import keep_conversation, with_hold
from gitguard.store.session.current import CurrentSession, find_current
from gitguard.store.session.host_session import read_record
from gitguard.store.session.journal import make_session_files
from gitguard.store.session.store import HOOK_LOCK_TIMEOUT, SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.hooks.told_line import ToldLine
    from gitguard.model.config.config import Config
    from gitguard.model.events import (
        Abilities,
        HookEvent,
        HookReply,
        Pressure,
        ToolCall,
        Transcript,
    )
    from gitguard.sessions.beside import Beside
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.host_session import HostSession, SessionRecord
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import Saved
    from gitguard.store.session.workspace import Workspace

_PACKED_REFS = 4 << 20
"""Bytes of packed refs up to which a branch is looked for in them."""
_TURNS_WITHOUT_USAGE = 2
"""Prompts after which a host that offers pressure must have reported some."""
_UNNAMED = (events.TOOL_START, events.TOOL_END, events.TOOL_FAILED, events.TURN_END)
"""Events that are a sub-agent's while one is at work whose events do not name it."""
_UNNAMED_AGENT = "unnamed"
_MOST_LISTED = 200
"""Of one call's files and plan items; a line of any length could not be read back."""


class Conversation:
    """One event of a conversation, bound to the session that its workspace works at.

    A fault of ours is left to the caller, which answers neutrally.
    """

    record: HostSession

    def __init__(
        self,
        workspace: Workspace,
        config: Config,
        event: HookEvent,
        *,
        abilities: Abilities,
        decide: Callable[[HookReply], None] = lambda _: None,
    ) -> None:
        """Bind the event; the conversation's record is read.

        Raises `MissingState` where something else lies in the place of our folders.
        """
        self.tool: ToolCall = event.tool or events.ToolCall("")
        self.left_commit = ""
        """The code commit that HEAD left before one of the event's checkpoints, if it did."""
        self.decide = decide
        """Takes the answer that is given should nothing better come in time."""
        self.workspace = workspace
        self.config = config
        self.event = event
        self.abilities = abilities
        self.workspace.refuse_links()
        current = None if self.workspace.is_recorded else self._session_apart()
        self.is_apart = current is not None
        """Whether nothing here vouches for the working files, so that we work beside them."""
        current = current or find_current(self.workspace)
        if current is None:
            from gitguard.sessions.choice import choose_session

            current = CurrentSession(choose_session(self.workspace, self.repository()))
        self.workspace.refuse_links(current.session)
        self.store = SessionStore(
            self.workspace, current.session, config, patience=HOOK_LOCK_TIMEOUT
        )
        self.read_record(current.record)
        if self.record.sub_agents and event.kind in _UNNAMED:
            self.event = event.replace(sub_agent=_UNNAMED_AGENT)
        self.startup_notes: tuple[str, ...] = ()
        self.archived_notes: tuple[str, ...] = ()
        """What is archived of an older session of the same name, where this one was begun."""
        self.lines: list[ToldLine] = []
        """What the agent could be told with this event; it is told one line of it."""
        self.notes_on_head: tuple[str, ...] = ()
        """Why no checkpoint is taken, for the reader of a block."""
        self.has_changed_task = False
        """Whether the conversation came to another task since its last prompt."""
        self.unread: list[str] = []
        """What was left out of a conversation that takes too long to read whole."""
        self.said_at = ""
        """When the event came, where it is answered later than that; else empty."""
        self._is_believed: bool | None = None
        self._doubted_transcript: Transcript | None = None
        self._keep_to_transcript()

    def _session_apart(self) -> CurrentSession | None:
        """Work apart from files that nothing here vouches for; return at which session, if so."""
        from gitguard.store.session import apart

        session = apart.session_of(self.workspace)
        if session is None or not apart.is_unknown(self.workspace):
            return None
        self.workspace = self.workspace.apart()
        if not os.path.isdir(self.workspace.session_folder(session)):
            with self.workspace.lock(session, timeout=HOOK_LOCK_TIMEOUT):
                make_session_files(self.workspace, session)
        return CurrentSession(session)

    def repository(self) -> Repository:
        """Return the repository of the workspace."""
        return self.workspace.repository()

    def bring_back(self) -> bool:
        """Bring working files back that were removed; say whether the session can be used."""
        if self.is_apart or os.path.exists(self.store.states.path):
            return True
        try:
            self.ensure_session(always=True)
        except MissingState as error:
            self.note_fault(error)
            return False
        for note in self.startup_notes:
            self.note_fault(GitguardError(note))
        return True

    def ensure_session(self, *, always: bool = False) -> None:
        """Begin or restore the session where it has to be, or always.

        Raises `MissingState` where the agent must stop. A foreign edit or history is marked.
        """
        is_needed = always or self.record.lacks_state
        if self.is_apart or (not is_needed and self._seems_fit()):
            return
        from gitguard.sessions.startup import begin

        try:
            startup = begin(
                self.workspace,
                self.repository(),
                self.config,
                self.store.session,
                timeout=HOOK_LOCK_TIMEOUT,
            )
        except (EditedState, Tampered) as error:
            self.note_fault(error)
            return
        self.startup_notes, self.archived_notes = startup.notes, startup.older
        if startup.saved is not None and startup.saved.commit:
            with self.recording():
                self.record = self.record.replace(head=startup.saved.commit)

    # Who speaks

    def _keep_to_transcript(self) -> None:
        """Read no other transcript than the conversation's own for a call that may have named it.

        A transcript tells which calls ended and when a compaction was, so it has to be the host's.
        """
        before, event = self.record.host_transcript, self.event
        if before is None or event.transcript in (None, before):
            return
        self.event = event.replace(transcript=before)
        # Also the end of the one call that runs may be sent by that call.
        if event.from_tool or self.open_calls():
            self._doubted_transcript = event.transcript
        else:
            self.event = event

    def open_calls(self) -> tuple[JournalEntry, ...]:
        """Return the calls of this conversation that may still run, its sub-agents' included.

        No hook tells of the end of a call that the user or a rule refused, or that was cut off. It
        has ended if a later turn goes on, or if the host has written its result down.
        """
        key, transcript = self.event.host_session, self.event.transcript
        calls = tuple(e for e in self.store.journal.open_calls() if e.host_session == key)
        newest = self.store.journal.newest_turn(key) if calls else ""
        calls = tuple(e for e in calls if not newest or e.turn_id in ("", newest))
        if not calls or transcript is None or not os.path.exists(transcript.path):
            return calls
        from gitguard.transcripts import find_ended_calls

        try:
            ended = find_ended_calls(transcript, frozenset(entry.id for entry in calls))
        except GitguardError as error:
            self.note_fault(error)
            return calls
        return tuple(entry for entry in calls if entry.id not in ended)

    @property
    def is_believed(self) -> bool:
        """Whether the event can only come from the host: no tool call runs that could send it."""
        if self._is_believed is None:
            self._is_believed = not self.event.from_tool and not any(
                not self._is_of(entry) for entry in self.open_calls()
            )
        return self._is_believed

    def _is_of(self, entry: JournalEntry) -> bool:
        """Say whether the event is of the call that an entry began."""
        tool = self.event.tool
        return tool is not None and (tool.id, tool.name) == (entry.id, entry.tool)

    def forget_belief(self) -> None:
        """Look again whether a call runs: some were closed."""
        self._is_believed = None

    @property
    def is_unsettled(self) -> bool:
        """Whether the event may confirm or discard what is kept because a call may have sent it."""
        if self.event.sub_agent or self.event.kind not in events.WITNESSES:
            return False
        return bool(self.record.unconfirmed or self.record.unconfirmed_compaction)

    # Pressure

    def measure(self) -> tuple[bool, Pressure | None]:
        """Return whether pressure could be read as the host offers it, and the pressure.

        A transcript that is not where the host says, or a window that cannot be, is our fault: it
        is marked, and stops nobody.
        """
        try:
            pressure = self._pressure_by(self.event.transcript)
            if self._doubted_transcript is not None and self.event.kind == events.TOOL_START:
                # A host that goes on in another file is halted by that one, and none is let go.
                other_pressure = self._pressure_by(self._doubted_transcript)
                pressure = max(filter(None, (pressure, other_pressure)), key=_share, default=None)
            is_missing = pressure is not None and pressure.source == FIRST_TURN
            if is_missing and self.abilities.offers_pressure:
                self._expect_usage()
        except GitguardError as error:
            self.note_fault(error)
            return False, None
        return True, pressure

    def _pressure_by(self, transcript: Transcript | None) -> Pressure | None:
        return measure_pressure(
            self.record,
            self.config,
            pushed=self.event.reading,
            transcript=transcript,
            model=self.event.model,
            first_turn=self.abilities.offers_pressure or self.record.turns <= 1,
        )

    def doubt_reading(self) -> None:
        """Leave out a reading that may open the gate, if a tool call runs that may have sent it.

        Of one that may not, the window is left out, for it would count for later readings as well.
        A host repeats what it reads, so nothing is lost.
        """
        reading, transcript = self.event.reading, self.event.transcript
        if reading is None or self.is_believed:
            return
        reading = reading.replace(window=None)
        try:
            is_doubtful = may_open_gate(reading, self.record, self.config, transcript)
        except GitguardError as error:
            self.note_fault(error)
            is_doubtful = True
        self.event = self.event.replace(reading=None if is_doubtful else reading)

    def keep_proof(self, pressure: Pressure | None) -> None:
        """Remember that more was in use than the window was taken to hold; the record is kept."""
        reading = self.event.reading
        model = (reading.model if reading else "") or self.event.model
        self.record = with_proof(self.record, pressure, model)

    def _expect_usage(self) -> None:
        # A host may go on in another file, as where the user took turns back.
        is_known = self._as_read.host_transcript in (None, self.event.transcript)
        if is_known and self.record.turns > _TURNS_WITHOUT_USAGE and self.record.epoch == 0:
            where = self.event.transcript.path if self.event.transcript else "nowhere"
            raise InvalidDocument(f"the transcript tells no usage; the host says it is `{where}`")

    def take_due_checkpoint(self, pressure: Pressure | None) -> Saved | None:
        """Take the checkpoint that pressure has risen to, if it has."""
        trigger = risen_to(self.record, pressure, self.config)
        if pressure is None or not trigger:
            return None
        saved = self.checkpoint(trigger, f"Pressure is {pressure.share:.2f}.", pressure=pressure)
        self.record = checkpointed(self.record, pressure)
        return saved

    def take_checkpoint_of_pressure(self, pressure: Pressure | None) -> Saved | None:
        """Take the checkpoint that is due; one that fails keeps nothing from the agent."""
        try:
            return self.take_due_checkpoint(pressure)
        except GitguardError as error:
            self.note_fault(error)
            return None

    def offer(self, kind: str, text: str) -> None:
        """Offer a line of a kind of `hooks/told_line.py`, empty for none, to tell the agent."""
        if text:
            from gitguard.hooks.told_line import ToldLine

            self.lines.append(ToldLine(kind, text))

    def line(self, pressure: Pressure | None, calls: int, **due: Any) -> str:
        """Return the line about the context, with the checkpoint that is due."""
        saved = self.take_checkpoint_of_pressure(pressure)
        if pressure is None:
            return ""
        from gitguard.hooks.notices import Occasion, line_of

        is_saved = saved is not None and bool(saved.commit)
        commands = self.abilities.room_commands
        occasion = Occasion(calls, saved=is_saved, room_commands=commands, **due)
        self.record, line = line_of(self.record, pressure, self.config, occasion)
        return line

    def with_transcript(self, record: HostSession) -> HostSession:
        transcript = self.event.transcript
        if transcript is None:
            return record
        return record.replace(
            transcript=transcript.path,
            transcript_format=transcript.format,
            transcript_session=transcript.session,
        )

    def noticed(self) -> HostSession:
        """Return the record after a compaction of which only the transcript tells."""
        record, transcript = self.record, self.event.transcript
        try:
            noticed = gate.notice_compaction(record, self.config, transcript, self.event.model)
        except GitguardError as error:
            self.note_fault(error)
            return record
        if noticed.compactions > record.compactions:
            try:
                noticed = noticed.replace(summary_tokens=summary_tokens(record, transcript))
            except GitguardError as error:
                self.note_fault(error)  # the compaction counts all the same
        return noticed

    # Small parts

    def _seems_fit(self) -> bool:
        """Look at working files and branch without git, for every tool call.

        A session without an anchor needs no branch.
        """
        if not self.store.states.seems_fit():
            return False
        place, ref = self.workspace.place, self.config.store.ref_prefix + self.store.session.name
        if os.path.lexists(os.path.join(place.common_dir, ref)):
            return True
        anchor = os.path.join(self.workspace.anchor_folder(self.store.session), "anchor.json")
        if not os.path.lexists(anchor) or os.path.isdir(os.path.join(place.common_dir, "reftable")):
            return True
        try:
            packed = read_bytes(os.path.join(place.common_dir, "packed-refs"), limit=_PACKED_REFS)
        except (InvalidDocument, NotReadable):
            return True  # whoever asks git is told
        return f" {ref}\n".encode() in (packed or b"")

    def checkpoint(
        self,
        trigger: str,
        why: str,
        *,
        pressure: Pressure | None = None,
        ready: OwnState | None = None,
        if_changed: bool = False,
        look: Differences | None = None,
    ) -> Saved:
        if self.is_apart:
            from gitguard.store.session.store import Saved

            return Saved(trigger, pending="nobody ran `gitguard repair --trust` here yet")
        if pressure is None:
            _, pressure = self.measure()
        from gitguard.state.circumstances import Circumstances

        circumstances = Circumstances(
            pressure,
            self.event.transcript,
            self.record.epoch,
            channel=self.event.channel,
            agent=self.event.agent,
        )
        ready = ready or self.store.state_or_copy()
        try:
            saved = self.store.checkpoint(
                trigger, why, circumstances, ready=ready, if_changed=if_changed, look=look
            )
        except NOT_OURS as error:  # the state is saved, and what was recorded has to be kept
            self.note_fault(error)
            return self._not_committed(trigger, error)
        if saved.commit:
            self.record = self.record.replace(head=saved.commit)
        self.left_commit = saved.left or self.left_commit
        return saved

    def edit_notice(self) -> str:
        """Return what a person is told where somebody else edited the state; empty elsewhere.

        A mark of it is left for `status`.
        """
        if self.is_apart or not self.store.is_edited:
            return ""
        self.note_fault(
            EditedState(f"somebody other than gitguard edited `{self.store.states.path}`")
        )
        return (
            "gitguard: somebody other than gitguard edited `state.json`; the checkpoint holds the "
            "state before that. Review the edit with `gitguard repair --accept --dry-run`"
        )

    def _not_committed(self, trigger: str, error: GitguardError) -> Saved:
        from gitguard.store.session.store import Saved

        return Saved(trigger, pending=error.message, way_out=error.hint)

    def checked_head(self) -> Head:
        """Return the head beside which our state may be handed out; the lock is held.

        What is to be said of it is kept for the answer. Raises as `readable_head` does.
        """
        from gitguard.hooks.told_line import BRANCH, outranks
        from gitguard.store.session.standing import WAIT

        head, verdict = self.store.usable_head()
        self.record = self.record.replace(lacks_state=False)
        if verdict.problem is not None:
            self.notes_on_head = verdict.notes
        if verdict.action == WAIT and self.record.turns:
            return head  # it was told at the first prompt
        if verdict.problem is not None or not outranks(self.lines, BRANCH):
            self.store.take_notice(head, verdict)
            self.offer(BRANCH, verdict.line)
        return head

    def entry(self, event: str, *, summary: str = "") -> JournalEntry:
        tool, relative = self.tool, self.workspace.place.relative
        return JournalEntry(
            event=event,
            at=self.said_at or self.store.now,
            host_session=self.event.host_session,
            id=tool.id,
            tool=tool.name,
            summary=summary or tool.summary.replace(self.workspace.place.worktree + os.sep, ""),
            read=tuple(map(relative, tool.paths_read[-_MOST_LISTED:])),
            written=tuple(map(relative, tool.paths_written[-_MOST_LISTED:])),
            error=shorten(one_line(tool.error), 400),
            sub_agent=self.event.sub_agent,
            is_shell=bool(tool.command),
            runs_on=tool.runs_on,
            output=tool.output,
            is_probe=tool.is_probe,
            milliseconds=tool.milliseconds,
            answers=tool.answers,
            turn=self.record.turns,
            turn_id=self.event.turn_id if event == STARTED else "",
            plan=tool.plan[-_MOST_LISTED:],
            whole_plan=tool.whole_plan,
        )

    def recording(self) -> Recording:
        """Return a context in which the conversation's record may be changed."""
        return Recording(self)

    def read_record(self, session_record: SessionRecord | None = None) -> None:
        """Take the conversation's record out of `session.json`, with what holds it.

        The file is read unless what it holds is given.
        """
        session_record = session_record or read_record(self.workspace, self.store.session)
        self._session_record = session_record
        self._beside: Beside | None = None
        key, host = self.event.host_session, self.event.host
        entry = session_record.host_sessions.get(key)
        self.record = self._as_read = with_hold(
            self.workspace, self.store.session, key, record=entry, host=host
        )

    @property
    def host_sessions(self) -> Mapping[str, HostSession]:
        """The records of all conversations of the session, by the host's ids of them."""
        return self._session_record.host_sessions

    def beside(self) -> Beside:
        """Return which other conversations of the session are, or may be, at work."""
        if self._beside is None:
            from gitguard.sessions.beside import conversations_beside
            from gitguard.store.disk.processes import host_process

            key, continues = self.event.host_session, self.record.continues
            self._beside = conversations_beside(
                self.store,
                key,
                {**self.host_sessions, key: self.record},
                process=host_process(self.workspace.places.caller) if continues else "",
            )
        return self._beside

    def keep_record(self) -> None:
        """Write the conversation's record, if it was changed.

        The lock is held since the record was read, so nobody else has written `session.json`.
        """
        if self.record != self._as_read:
            keep_conversation(
                self.workspace,
                self.store.session,
                self.event.host_session,
                self.record,
                record=self._session_record,
            )

    def note_fault(self, error: GitguardError) -> None:
        """Leave a mark of a fault of ours, which `status` shows; the agent goes on."""
        self.workspace.note_fault(f"answering {self.event.kind}", error)


def _share(pressure: Pressure) -> float:
    return pressure.share


class Recording:
    """The conversation's record under the session's lock: read on entering, kept on leaving.

    What was read before the lock was held may be somebody else's by now. Leaving by an error keeps
    nothing.
    """

    def __init__(self, conversation: Conversation) -> None:
        """Prepare the lock; nothing is read yet."""
        self._conversation = conversation
        self._lock = conversation.store.lock()

    def __enter__(self) -> None:
        self._lock.__enter__()
        try:
            self._conversation.read_record()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        try:
            if kind is None:
                self._conversation.keep_record()
        finally:
            self._lock.__exit__(None, None, None)
