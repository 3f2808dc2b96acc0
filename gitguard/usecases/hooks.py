"""Answers the events of a host (DESIGN section 5).

What all events share is here; tool calls are answered in `tools`, everything else in `turns`. The
calm path, a tool call below every threshold, appends to the journal, reads the pressure and
returns. Whatever needs git or templates is imported where it is needed.
"""

from __future__ import annotations

import os

from gitguard.context.gauge import FIRST_TURN, Circumstances
from gitguard.errors import (
    Complete,
    EditedState,
    GitguardError,
    InvalidDocument,
    MissingState,
    NotReadable,
    NotWritable,
    Tampered,
)
from gitguard.model import events
from gitguard.model.codec import STATE_LIMIT
from gitguard.model.events import NEUTRAL
from gitguard.model.journal import Entry
from gitguard.model.text import one_line, shorten
from gitguard.session_store import HOOK_LOCK_TIMEOUT, SessionStore
from gitguard.store import states
from gitguard.store.files import is_refusal, read_bytes
from gitguard.usecases import gate
from gitguard.usecases.measuring import measure_pressure, summary_tokens, with_proof

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.context.gauge import Pressure
    from gitguard.model.config import Config
    from gitguard.model.events import Abilities, HookEvent, HookReply, ToolCall
    from gitguard.model.host_session import HostSession
    from gitguard.model.session import Session
    from gitguard.session_store import Saved
    from gitguard.store.lock import Lock
    from gitguard.store.repository import Repository
    from gitguard.store.states import Found
    from gitguard.store.workspace import Workspace

_TURNS_WITHOUT_USAGE = 2
"""Prompts after which a host that offers pressure must have reported some."""
_MOST_LISTED = 200
"""Of one call's files and plan items; a line of any length could not be read back."""
_TOOL_EVENTS = (events.TOOL_START, events.TOOL_END, events.TOOL_FAILED)


def handle(
    workspace: Workspace, config: Config, event: HookEvent, *, abilities: Abilities
) -> HookReply:
    """Answer one event; neutral where nobody ran `gitguard init`."""
    if not workspace.is_initialised:
        return NEUTRAL
    return _answer(workspace, config, event, abilities).visible()


def _answer(
    workspace: Workspace, config: Config, event: HookEvent, abilities: Abilities
) -> HookReply:
    if event.session:
        workspace = workspace.naming(event.session)
    if event.kind in _TOOL_EVENTS:
        from gitguard.usecases.tools import ToolCalls

        return ToolCalls(workspace, config, event, abilities=abilities).answer()
    if event.sub_agent:
        return NEUTRAL  # its prompts and compactions are not the conversation's
    from gitguard.usecases.turns import Turns

    return Turns(workspace, config, event, abilities=abilities).answer()


class Conversation:
    """One event of a conversation, bound to the session that its workspace works at.

    A fault of ours is left to the caller, which answers neutrally.
    """

    def __init__(
        self, workspace: Workspace, config: Config, event: HookEvent, *, abilities: Abilities
    ) -> None:
        """Bind the event; the conversation's record is read."""
        self._workspace = workspace
        self._config = config
        self._event = event
        self._abilities = abilities
        self._is_unknown, session = self._look_apart()
        self._store = SessionStore(self._workspace, session, config)
        self._known = self._as_read = self._read_record()
        self._startup_notes: tuple[str, ...] = ()
        self._older: tuple[str, ...] = ()
        self._unread: list[str] = []
        """What was left out of a conversation that takes too long to read whole."""

    def _look_apart(self) -> tuple[bool, Session]:
        """Work apart from files that nothing here vouches for; return whether that is so."""
        if not self._workspace.is_recorded:
            from gitguard.store import apart

            session = apart.session_of(self._workspace)
            if session is not None and apart.is_unknown(self._workspace):
                self._workspace = self._workspace.apart()
                if not os.path.isdir(self._workspace.session_folder(session)):
                    with self._workspace.lock(session, timeout=HOOK_LOCK_TIMEOUT):
                        self._workspace.make_folders(session)
                return True, session
        return False, self._session()

    def answer(self) -> HookReply:
        """Answer the event; a state that cannot be used is told, not left to the caller."""
        try:
            return self.reply()
        except MissingState as error:
            return self._without_state(error)
        except NotWritable as error:
            if not is_refusal(error):
                raise
            return self._without_state(states.unwritable(error))

    def reply(self) -> HookReply:
        """Answer the event while the state can be used."""
        raise NotImplementedError

    def _without_state(self, error: MissingState) -> HookReply:
        """Answer an event that cannot stop the agent, and has nothing to hand out."""
        self._mark(error)
        return NEUTRAL

    def _session(self) -> Session:
        if self._workspace.places.session or self._workspace.current_name():
            return self._workspace.current()
        from gitguard.recovery.startup import choose_session

        return choose_session(self._workspace, self._repository())

    def _repository(self) -> Repository:
        from gitguard.store.repository import Repository

        workspace = self._workspace
        return Repository(workspace.place, workspace.places.environment, workspace.clock)

    def _bring_back(self) -> bool:
        """Bring working files back that were removed; say whether the session can be used."""
        if self._is_unknown or os.path.exists(self._store.states.path):
            return True
        refused = self._bring_up(always=True)
        for note in self._startup_notes:
            self._workspace.note_fault(f"answering {self._event.kind}", GitguardError(note))
        if refused is not None:
            self._mark(refused)
        return refused is None

    def _bring_up(self, *, always: bool = False) -> MissingState | None:
        """Begin or restore the session where it has to be; return why the agent must stop."""
        if self._is_unknown or (not always and self._seems_fit()):
            return None
        from gitguard.usecases.sessions import begin

        try:
            startup = begin(
                self._workspace,
                self._repository(),
                self._config,
                self._store.session,
                timeout=HOOK_LOCK_TIMEOUT,
            )
        except MissingState as error:
            return error
        except (EditedState, Tampered) as error:
            self._mark(error)
            return None
        self._startup_notes, self._older = startup.notes, startup.older
        if startup.saved is not None and startup.saved.commit:
            with self._record():
                self._known = self._known.replace(head=startup.saved.commit)
        return None

    # Pressure

    def _measure(self) -> tuple[bool, Pressure | None]:
        """Return whether pressure could be read as the host offers it, and the pressure.

        A transcript that is not where the host says, or a window that cannot be, is our fault: it
        is marked, and stops nobody.
        """
        try:
            pressure = measure_pressure(
                self._known,
                self._config,
                pushed=self._event.reading,
                transcript=self._event.transcript,
                model=self._event.model,
                first_turn=self._abilities.offers_pressure or self._known.turns <= 1,
            )
            if self._abilities.offers_pressure and pressure is not None:
                self._expect_usage(pressure)
        except GitguardError as error:
            self._mark(error)
            return False, None
        return True, pressure

    def _keep_proof(self, pressure: Pressure | None) -> None:
        """Remember that more was in use than the window was taken to hold; the record is kept."""
        reading = self._event.reading
        model = (reading.model if reading else "") or self._event.model
        self._known = with_proof(self._known, pressure, model)

    def _expect_usage(self, pressure: Pressure) -> None:
        late = self._known.turns > _TURNS_WITHOUT_USAGE and self._known.epoch == 0
        if pressure.source == FIRST_TURN and late:
            where = self._event.transcript.path if self._event.transcript else "nowhere"
            raise InvalidDocument(f"the transcript tells no usage; the host says it is `{where}`")

    def _auto_checkpoint(self, pressure: Pressure | None) -> Saved | None:
        """Take the checkpoint that pressure has risen to, if it has."""
        trigger = gate.risen_to(self._known, pressure, self._config)
        if pressure is None or not trigger:
            return None
        saved = self._checkpoint(trigger, f"Pressure is {pressure.share:.2f}.", pressure=pressure)
        self._known = gate.checkpointed(self._known, pressure)
        return saved

    def _line(self, pressure: Pressure | None, calls: int, **due: Any) -> str:
        """Return the one line that tells the agent of its context, with a checkpoint if it is due.

        A checkpoint that fails keeps nothing from the agent.
        """
        try:
            saved = self._auto_checkpoint(pressure)
        except GitguardError as error:
            self._mark(error)
            saved = None
        if pressure is None:
            return ""
        from gitguard.usecases.speaking import Moment, line_of

        is_saved = saved is not None and bool(saved.commit)
        new = self._abilities.new_conversation
        moment = Moment(calls, saved=is_saved, new_conversation=new, **due)
        self._known, line = line_of(self._known, pressure, self._config, moment)
        return line

    def _with_transcript(self, known: HostSession) -> HostSession:
        transcript = self._event.transcript
        if transcript is None:
            return known
        return known.replace(
            transcript=transcript.path,
            transcript_format=transcript.format,
            transcript_session=transcript.session,
        )

    def _noticed(self) -> HostSession:
        """Return the record after a compaction of which only the transcript tells."""
        known, transcript = self._known, self._event.transcript
        try:
            noticed = gate.notice_compaction(known, self._config, transcript, self._event.model)
        except GitguardError as error:
            self._mark(error)
            return known
        if noticed.compactions > known.compactions:
            try:
                noticed = noticed.replace(summary_tokens=summary_tokens(known, transcript))
            except GitguardError as error:
                self._mark(error)  # the compaction counts all the same
        return noticed

    # Small parts

    @property
    def _tool(self) -> ToolCall:
        return self._event.tool or events.ToolCall("")

    def _seems_fit(self) -> bool:
        """Look at the working files without hashing or git, for every tool call."""
        try:
            data = read_bytes(self._store.states.path, limit=STATE_LIMIT)
        except (InvalidDocument, NotReadable):
            return False
        return (
            data is not None
            and states.seems_whole(data)
            and os.path.exists(self._store.states.summary_path)
        )

    def _checkpoint(
        self,
        trigger: str,
        why: str,
        *,
        pressure: Pressure | None = None,
        found: Found | None = None,
        if_changed: bool = False,
    ) -> Saved:
        if self._is_unknown:
            from gitguard.session_store import Saved

            return Saved(trigger, pending="nobody ran `gitguard trust` here yet")
        if pressure is None:
            _, pressure = self._measure()
        circumstances = Circumstances(
            pressure,
            self._event.transcript,
            self._known.epoch,
            channel=self._event.channel,
            agent=self._event.agent,
        )
        found = found or self._store.state_or_copy()
        saved = self._store.checkpoint(
            trigger, why, circumstances, found=found, if_changed=if_changed
        )
        if saved.commit:
            self._known = self._known.replace(head=saved.commit)
        return saved

    def _entry(self, event: str, *, summary: str = "") -> Entry:
        tool = self._tool
        return Entry(
            event=event,
            at=self._store.now,
            host_session=self._event.host_session,
            id=tool.id,
            tool=tool.name,
            summary=summary or tool.summary.replace(self._workspace.place.worktree + os.sep, ""),
            read=self._relative(tool.paths_read),
            written=self._relative(tool.paths_written),
            error=shorten(one_line(tool.error), 400),
            sub_agent=self._event.sub_agent,
            plan=tool.plan[-_MOST_LISTED:],
            whole_plan=tool.whole_plan,
        )

    def _relative(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._workspace.place.relative(path) for path in paths[-_MOST_LISTED:])

    def _lock(self) -> Lock:
        return self._store.lock(HOOK_LOCK_TIMEOUT)

    def _record(self) -> OpenRecord:
        """Return a context in which the conversation's record may be changed."""
        return OpenRecord(self._lock(), self._refresh, self._keep)

    def _read_record(self) -> HostSession:
        key, host = self._event.host_session, self._event.host
        return self._workspace.host_session(self._store.session, key, host)

    def _refresh(self) -> None:
        self._known = self._as_read = self._read_record()

    def _keep(self) -> None:
        if self._known != self._as_read:
            key = self._event.host_session
            self._workspace.keep_host_session(self._store.session, key, self._known)

    def _mark(self, error: GitguardError) -> None:
        self._workspace.note_fault(f"answering {self._event.kind}", error)


class OpenRecord:
    """The conversation's record under the session's lock: read on entering, kept on leaving.

    What was read before the lock was held may be somebody else's by now. Leaving by an error keeps
    nothing.
    """

    def __init__(self, lock: Lock, refresh: Callable[[], None], keep: Callable[[], None]) -> None:
        """Take the lock, and what reads and keeps the record."""
        self._lock = lock
        self._refresh = refresh
        self._keep = keep

    def __enter__(self) -> None:
        self._lock.__enter__()
        try:
            self._refresh()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            if kind is None:
                self._keep()
        finally:
            self._lock.__exit__(None, None, None)


def stop_text(error: MissingState) -> str:
    """Return what stops an agent whose state is missing or broken."""
    return f"{error.status}\n{error.message}. {error.hint}"


def complete_text(task_id: str) -> str:
    """Return what tells an agent that its task is complete."""
    return (
        f"{Complete.status}\nThe task `{task_id}` is complete, and its final state is saved. "
        "Tell the user the result and stop."
    )


def completed_before(task_id: str) -> str:
    """Return what tells an agent of that with the prompt that begins another task."""
    return (
        f"{Complete.status}\nThe task `{task_id}` is complete, and its final state is saved. This "
        "prompt begins another task."
    )
