"""Answers the events of a host: journal, gauge, gate, checkpoint, hand-back (DESIGN section 5).

The calm path, a tool call below every threshold, appends to the journal, reads the pressure and
returns. Whatever needs git or templates is imported where it is needed.
"""

from __future__ import annotations

import os

from gitguard.context.actions import destructive_rule, owner_command
from gitguard.context.gate import HALT_STATUS
from gitguard.context.gauge import Circumstances
from gitguard.errors import EditedState, GitguardError, InvalidDocument, MissingState
from gitguard.model import events
from gitguard.model import journal as folding
from gitguard.model.codec import STATE_LIMIT
from gitguard.model.config import DESTRUCTIVE
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.model.host_session import Delivery
from gitguard.model.text import one_line, shorten
from gitguard.session_store import HOOK_LOCK_TIMEOUT, SessionStore
from gitguard.store import states
from gitguard.store.files import read_bytes
from gitguard.usecases import gate
from gitguard.usecases.measuring import measure_pressure, with_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.context.gauge import Pressure
    from gitguard.model.config import Config
    from gitguard.model.events import HookEvent, ToolCall
    from gitguard.model.host_session import HostSession
    from gitguard.model.session import Session
    from gitguard.session_store import Saved
    from gitguard.store.lock import Lock
    from gitguard.store.repository import Repository
    from gitguard.store.states import Found
    from gitguard.store.workspace import Workspace

WAY_OUT = (
    "Free the context with /compact, begin a new conversation, or let a human run "
    "`gitguard override --reason …`"
)
_OWNER_REFUSAL = "`gitguard {}` is for a human: ask the user to run it in their own terminal"
_TURNS_WITHOUT_USAGE = 2
"""Prompts after which a host that offers pressure must have reported some."""
_TOPIC_LIMIT = 2000


def handle(
    workspace: Workspace, config: Config, event: HookEvent, *, offers_pressure: bool
) -> HookReply:
    """Answer one event; neutral where nobody ran `gitguard init`."""
    if not workspace.is_initialised:
        return NEUTRAL
    return Handler(workspace, config, event, offers_pressure=offers_pressure).reply()


class Handler:
    """Answers one event; a fault of ours is left to the caller, which answers neutrally."""

    def __init__(
        self, workspace: Workspace, config: Config, event: HookEvent, *, offers_pressure: bool
    ) -> None:
        """Bind the event to the session that its workspace works at."""
        self._workspace = workspace
        self._config = config
        self._event = event
        self._offers_pressure = offers_pressure
        self._store = SessionStore(workspace, self._session(), config)
        self._known = workspace.host_session(self._store.session, event.host_session)

    def _session(self) -> Session:
        if self._workspace.places.session or self._workspace.current_name():
            return self._workspace.current()
        from gitguard.recovery.startup import choose_session

        return choose_session(self._workspace, self._repository())

    def _repository(self) -> Repository:
        from gitguard.store.repository import Repository

        workspace = self._workspace
        return Repository(workspace.place, workspace.places.environment, workspace.clock)

    def reply(self) -> HookReply:
        """Answer the event."""
        if self._event.sub_agent:
            return self._of_sub_agent()
        answers = {
            events.PROMPT: self._prompt,
            events.TOOL_START: self._tool_start,
            events.TOOL_END: self._tool_end,
            events.TOOL_FAILED: self._tool_failed,
            events.TURN_END: self._turn_end,
            events.COMPACTION_START: self._compaction_start,
            events.COMPACTION_END: self._compaction_end,
            events.SESSION_START: self._session_start,
            events.SESSION_END: self._session_end,
            events.STATUS_LINE: self._status_line,
        }
        answer = answers.get(self._event.kind)
        return answer() if answer else NEUTRAL

    def _of_sub_agent(self) -> HookReply:
        """Journal a sub-agent's tool calls for its parent; its pressure is not the parent's."""
        answers = {
            events.TOOL_START: self._begin_tool,
            events.TOOL_END: self._tool_ended,
            events.TOOL_FAILED: self._tool_failed,
        }
        answer = answers.get(self._event.kind)
        return answer() if answer else NEUTRAL

    # Prompts

    def _prompt(self) -> HookReply:
        if self._known.halt is not None:
            return HookReply(refuse=f"{HALT_STATUS}\n{self._known.halt.reason}. {WAY_OUT}")
        refused = self._bring_up(always=self._known.turns == 0)
        if refused is not None:
            return HookReply(refuse=_stop_text(refused))
        with self._lock():
            block, found = self._deliver(first=self._known.turns == 0)
            self._record_prompt(found)
            self._close_open_calls()
            self._known = self._with_transcript(self._known.replace(turns=self._known.turns + 1))
            line = self._gauge()
            self._keep()
        return HookReply(context="\n".join(text for text in (block, line) if text))

    def _bring_up(self, *, always: bool = False) -> MissingState | None:
        """Begin or restore the session where it has to be; return why the agent must stop."""
        if not always and self._quick_look() is None:
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
        except EditedState as error:
            self._mark(error)
            return None
        if startup.saved is not None:
            self._known = self._known.replace(head=startup.saved.commit)
        return None

    def _record_prompt(self, found: Found) -> None:
        prompt = shorten(one_line(self._event.prompt), _TOPIC_LIMIT)
        if not prompt:
            return
        self._store.journal.append(self._entry(folding.PROMPT, summary=prompt))
        state = found.state
        if found.standing == states.EDITED or state is None:
            return
        from gitguard.model.task import fill_mechanically, new_task

        if state.is_done:
            state = new_task(self._store.session.key, self._store.now)
        goal = {} if state.goal else {"goal": prompt}
        filled = fill_mechanically(state, {**goal, "next_action": prompt})
        if filled == found.state:
            return
        saved = self._store.save(filled.replace(updated_at=self._store.now), found)
        self._store.write_summary(filled.replace(updated_at=self._store.now))
        if found.state is not None and filled.task_id != found.state.task_id:
            self._checkpoint("start", "A new task begins.", found=saved)

    def _with_transcript(self, known: HostSession) -> HostSession:
        transcript = self._event.transcript
        if transcript is None:
            return known
        return known.replace(transcript=transcript.path, transcript_format=transcript.format)

    def _close_open_calls(self) -> None:
        """Journal tool calls of this conversation that began and never ended as interrupted."""
        part = self._store.journal.read("", 0)
        for entry in folding.open_calls(part.entries):
            if entry.host_session == self._event.host_session and not entry.sub_agent:
                interrupted = entry.replace(event=folding.INTERRUPTED, at=self._store.now)
                self._store.journal.append(interrupted)

    # The hand-back

    def _deliver(self, *, first: bool) -> tuple[str, Found]:
        """Return the resume block if this conversation lacks it, with a receipt kept."""
        from gitguard.recovery.injection import is_due
        from gitguard.usecases.resume import resume_of

        found = self._store.states.read()
        if found.needs_rewrite:
            found = self._store.states.rewrite(found)
        problem = states.diagnose(found)
        if problem is not None:
            raise problem
        head = self._store.readable_head()
        committed = head.anchor.committed if head.anchor else ""
        if not is_due(self._known, committed):
            return "", found
        assert found.state is not None
        nothing_yet = first and found.state.is_untouched
        block = (
            ""
            if nothing_yet
            else resume_of(self._store, found, head, compactions=self._known.epoch)
        )
        self._known = self._known.replace(delivery=self._receipt(committed, block), head=committed)
        return block, found

    def _receipt(self, committed: str, block: str) -> Delivery:
        return Delivery(
            at=self._store.now,
            event=self._event.kind,
            head=committed,
            epoch=self._known.epoch,
            characters=len(block),
        )

    # Tools

    def _tool_start(self) -> HookReply:
        refused = self._bring_up()
        if refused is not None:
            return HookReply(stop=_stop_text(refused))
        measured, pressure = self._measure()
        if self._known.halt is not None:
            return self._halt(pressure, self._known.halt.reason)
        if measured:
            verdict = gate.judge(self._known, pressure, self._config)
            if verdict.halts:
                with self._lock():
                    self._refresh()
                    self._known = gate.halted(self._known, self._store.now, verdict)
                    self._keep()
                return self._halt(pressure, verdict.reasons[0])
        return self._begin_tool()

    def _begin_tool(self) -> HookReply:
        tool = self._tool
        owner = owner_command(tool.command)
        if owner:
            return HookReply(refuse=_OWNER_REFUSAL.format(owner))
        rule = destructive_rule(tool.command, DESTRUCTIVE + self._config.destructive)
        with self._lock():
            if rule:
                self._refresh()
                self._checkpoint("before-destructive", f"Before `{rule}`: {tool.summary}")
                self._keep()
            self._store.journal.append(self._entry(folding.STARTED))
        return NEUTRAL

    def _halt(self, pressure: Pressure | None, reason: str) -> HookReply:
        """Save everything and stop the agent; a checkpoint that fails does not lift the halt."""
        saved = ""
        try:
            with self._lock():
                self._refresh()
                done = self._checkpoint("halt", reason, pressure=pressure)
                saved = _saved_text(done)
                self._keep()
        except GitguardError as error:
            self._mark(error)
            saved = f"The checkpoint failed: {error.message}."
        return HookReply(stop=f"{HALT_STATUS}\n{reason}. {saved} {WAY_OUT}")

    def _tool_end(self) -> HookReply:
        self._tool_ended()
        if "gitguard" in self._tool.command:
            self._adopt_own_head()
        _, pressure = self._measure()
        if self._known.halt is not None or not gate.rises(self._known, pressure, self._config):
            return NEUTRAL
        with self._lock():
            self._refresh()
            line = self._gauge(pressure)
            self._keep()
        return HookReply(context=line)

    def _tool_ended(self) -> HookReply:
        with self._lock():
            self._store.journal.append(self._entry(folding.ENDED))
        return NEUTRAL

    def _tool_failed(self) -> HookReply:
        tool = self._tool
        event = folding.INTERRUPTED if tool.interrupted else folding.FAILED
        with self._lock():
            self._store.journal.append(self._entry(event))
            if tool.interrupted:
                return NEUTRAL
            from gitguard.model.task import Failure

            what = shorten(f"{tool.name}: {tool.summary}" if tool.summary else tool.name, 400)
            error = shorten(one_line(tool.error) or "failed", 400)
            found = self._store.state()
            assert found.state is not None
            failure = Failure(what, error, self._store.now, mechanical=True)
            state = folding.add_failure(found.state, failure, self._store.now)
            self._store.save(state, found)
            self._store.write_summary(state)
        return NEUTRAL

    def _adopt_own_head(self) -> None:
        """Count checkpoints that the agent itself took by command as this conversation's own."""
        anchor = self._store.chain.anchors.read()
        if anchor is None or anchor.committed == self._known.head:
            return
        with self._lock():
            self._refresh()
            self._known = self._known.replace(head=anchor.committed)
            self._keep()

    # Turns, compactions, sessions

    def _turn_end(self) -> HookReply:
        with self._lock():
            if not self._gauge():
                self._checkpoint("turn-end", "The turn ended.")
            self._keep()
        return NEUTRAL

    def _compaction_start(self) -> HookReply:
        refused = self._bring_up()
        if refused is not None:
            self._mark(refused)
            return NEUTRAL
        _, pressure = self._measure()
        with self._lock():
            self._refresh()
            why = f"Before a compaction ({self._event.source or 'unknown'})."
            self._checkpoint("compaction", why, pressure=pressure)
            self._known = self._known.replace(compacting=True)
            self._keep()
        return NEUTRAL

    def _compaction_end(self) -> HookReply:
        if self._known.compacting:
            self._compacted()
        return NEUTRAL

    def _compacted(self) -> None:
        with self._lock():
            self._refresh()
            self._known = self._known.compacted(self._workspace.clock())
            self._keep()

    def _session_start(self) -> HookReply:
        if self._event.source != events.STARTED_AFTER_COMPACTION:
            if self._event.reading is not None:
                self._store_reading()
            return NEUTRAL
        self._compacted()
        refused = self._bring_up()
        if refused is not None:
            self._mark(refused)
            return NEUTRAL
        with self._lock():
            self._refresh()
            block, _ = self._deliver(first=False)
            self._keep()
        return HookReply(context=block)

    def _session_end(self) -> HookReply:
        with self._lock():
            self._checkpoint("session-end", "The conversation ended.")
            self._keep()
        return NEUTRAL

    # Pressure

    def _status_line(self) -> HookReply:
        if self._event.reading is not None:
            self._store_reading()
        faults = len(self._workspace.faults())
        marks = [f"gitguard: {faults} fault{'s' * (faults > 1)}, see `gitguard status`"] * (
            faults > 0
        )
        if self._known.halt is not None:
            marks.append(f"gitguard: {HALT_STATUS}")
        _, pressure = self._measure()
        gauge = [pressure.gauge_line()] if pressure else []
        return HookReply(line=" ".join(gauge + marks))

    def _store_reading(self) -> None:
        reading = self._event.reading
        assert reading is not None
        with self._lock():
            self._refresh()
            known = with_reading(self._known, reading)
            if known != self._known:
                self._known = known
                self._keep()

    def _measure(self) -> tuple[bool, Pressure | None]:
        """Return whether pressure could be read as the host offers it, and the pressure.

        A transcript that is not where the host says, or that does not read, is our fault: it is
        marked, and stops nobody.
        """
        try:
            pressure = measure_pressure(
                self._known,
                self._config,
                transcript=self._event.transcript,
                model=self._event.model,
                first_turn=self._offers_pressure or self._known.turns <= 1,
            )
            if self._offers_pressure and pressure is not None:
                self._expect_usage(pressure)
        except InvalidDocument as error:
            self._mark(error)
            return False, None
        return True, pressure

    def _expect_usage(self, pressure: Pressure) -> None:
        late = self._known.turns > _TURNS_WITHOUT_USAGE and self._known.epoch == 0
        if pressure.source == "first-turn" and late:
            where = self._event.transcript.path if self._event.transcript else "nowhere"
            raise InvalidDocument(f"the transcript tells no usage; the host says it is `{where}`")

    def _gauge(self, pressure: Pressure | None = None) -> str:
        """Checkpoint when pressure has risen to `auto-80pct`; return the line for the agent."""
        if pressure is None:
            _, pressure = self._measure()
        if pressure is None:
            return ""
        if gate.rises(self._known, pressure, self._config):
            why = f"Pressure is {pressure.share:.2f}."
            saved = self._checkpoint("auto-80pct", why, pressure=pressure)
            self._known = gate.checkpointed(self._known, pressure)
            return pressure.gauge_line(saved=bool(saved.commit))
        shown = pressure.share >= self._config.gauge.show_from
        return pressure.gauge_line() if shown else ""

    # Small parts

    @property
    def _tool(self) -> ToolCall:
        return self._event.tool or events.ToolCall("")

    def _quick_look(self) -> MissingState | None:
        """Diagnose the working files without hashing or git, for every tool call."""
        store = self._store
        try:
            data = read_bytes(store.states.path, limit=STATE_LIMIT)
            state = states.decode_state(data, "the state") if data is not None else None
        except InvalidDocument as error:
            return MissingState(error.message, error.hint)
        if state is None or not os.path.exists(store.states.summary_path):
            return MissingState("the working files are missing")
        return None if state.next_action.strip() else MissingState("`next_action` is empty")

    def _checkpoint(
        self,
        trigger: str,
        why: str,
        *,
        pressure: Pressure | None = None,
        found: Found | None = None,
    ) -> Saved:
        if pressure is None:
            _, pressure = self._measure()
        circumstances = Circumstances(pressure, self._event.transcript, self._known.epoch)
        saved = self._store.checkpoint(trigger, why, circumstances, found=found)
        if saved.commit:
            self._known = self._known.replace(head=saved.commit)
        return saved

    def _entry(self, event: str, *, summary: str = "") -> folding.Entry:
        tool = self._tool
        return folding.Entry(
            event=event,
            at=self._store.now,
            host_session=self._event.host_session,
            id=tool.id,
            tool=tool.name,
            summary=summary or tool.summary,
            read=self._relative(tool.paths_read),
            written=self._relative(tool.paths_written),
            error=shorten(one_line(tool.error), 400),
            sub_agent=self._event.sub_agent,
        )

    def _relative(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        inside = self._workspace.place.worktree + os.sep
        real = (os.path.join(inside, path) for path in paths)
        return tuple(path.removeprefix(inside) for path in real)

    def _lock(self) -> Lock:
        return self._store.lock(HOOK_LOCK_TIMEOUT)

    def _refresh(self) -> None:
        """Read the conversation's record again, now that the lock is held."""
        key = self._event.host_session
        self._known = self._workspace.host_session(self._store.session, key)

    def _keep(self) -> None:
        key = self._event.host_session
        self._workspace.keep_host_session(self._store.session, key, self._known)

    def _mark(self, error: GitguardError) -> None:
        self._workspace.note_fault(f"answering {self._event.kind}", error)


def _stop_text(error: MissingState) -> str:
    return f"{error.status}\n{error.message}. {error.hint}"


def _saved_text(saved: Saved) -> str:
    if saved.pending:
        return f"The state is saved, the commit is pending: {saved.pending}."
    return f"State and summary are saved in checkpoint {saved.sequence}."
