"""Tool calls: journaled, gated, and preceded by a checkpoint where they destroy."""

from __future__ import annotations

from gitguard.context.actions import destructive_rule
from gitguard.errors import GitguardError
from gitguard.model import events, journal
from gitguard.model.config import DESTRUCTIVE
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.store import states
from gitguard.usecases import gate
from gitguard.usecases.hooks import Conversation, complete_text, stop_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.context.gate import Verdict
    from gitguard.context.gauge import Pressure
    from gitguard.errors import MissingState
    from gitguard.model.host_session import HostSession, Stop

_SAVED_BEFORE = "State and summary were saved when the halt began."


class ToolCalls(Conversation):
    """Answers the start and the end of a tool call."""

    def reply(self) -> HookReply:
        """Answer the event; a sub-agent's pressure is not its parent's, so it is never gated."""
        main = not self._event.sub_agent
        if self._event.kind == events.TOOL_START:
            return self._tool_start() if main else self._begin_tool()
        calls = self._end_tool() if self._bring_back() else 0
        return self._after_tool(calls) if calls else NEUTRAL

    def _tool_start(self) -> HookReply:
        refused = self._bring_up()
        if refused is not None:
            return self._without_state(refused)
        measured, pressure = self._measure()
        if not measured and self._known.halt is None:
            return self._begin_tool()
        verdict = gate.judge(self._known, pressure, self._config)
        if verdict.halts:
            return self._halt(verdict, pressure)
        if verdict.write_summary:
            self._refresh_summary()
        return self._begin_tool()

    def _without_state(self, error: MissingState) -> HookReply:
        """Stop the agent, except for the one simple command of ours that mends the state."""
        if self._event.kind != events.TOOL_START or self._event.sub_agent:
            return super()._without_state(error)
        from gitguard.usecases.halting import MENDING, is_exempt

        if is_exempt(self._event, self._workspace.places, MENDING):
            return NEUTRAL
        return HookReply(stop=stop_text(error))

    def _begin_tool(self) -> HookReply:
        tool = self._tool
        rule = destructive_rule(tool.command, DESTRUCTIVE + self._config.destructive)
        if rule:
            with self._record():
                self._checkpoint("before-destructive", f"Before `{rule}`: {tool.summary}")
        with self._lock():
            self._store.journal.append(self._entry(journal.STARTED))
        return NEUTRAL

    def _halt(self, verdict: Verdict, pressure: Pressure | None) -> HookReply:
        """Save everything and deny the call; whatever fails on the way does not lift the halt."""
        from gitguard.usecases.halting import deny, gauge_of, is_exempt
        from gitguard.usecases.speaking import halt_line

        workspace, event = self._workspace, self._event
        if is_exempt(event, workspace.places):
            return self._begin_tool()
        noted, warning = halt_line(self._known, pressure, self._config)
        known = gate.halted(self._known, self._store.now, verdict).replace(warned=noted.warned)
        assert known.halt is not None
        halt = known.halt
        if not halt.saved:
            halt = halt.replace(gauge=gauge_of(pressure) if warning else "")
        # First, and without the session's lock, which an agent could hold.
        self._keep_hold(known.replace(halt=halt))
        if not halt.saved:
            halt = self._save_halt(known.replace(halt=halt), verdict, pressure)
        path = workspace.hold_path(self._store.session, event.host_session, event.host)
        return deny(event, self._abilities, halt, path, workspace.clock())

    def _keep_hold(self, known: HostSession) -> None:
        try:
            self._workspace.keep_hold(self._store.session, self._event.host_session, known)
        except GitguardError as error:
            self._mark(error)  # the record in the repository decides

    def _save_halt(self, known: HostSession, verdict: Verdict, pressure: Pressure | None) -> Stop:
        """Take the checkpoint of a halt, once; return the halt with what was saved.

        What could not be saved is tried again with the next prompt.
        """
        assert known.halt is not None
        try:
            with self._record():
                recorded = self._recorded()
                text = _SAVED_BEFORE
                if recorded is None or recorded.halt is None:
                    reason = verdict.reasons[0]
                    text = gate.saved_text(self._checkpoint("halt", reason, pressure=pressure))
                halt = known.halt.replace(saved=text)
                self._known = self._known.replace(halt=halt, override=None, warned=known.warned)
                return halt
        except GitguardError as error:
            self._mark(error)
            return known.halt.replace(saved=f"The checkpoint failed: {error.message}.")

    def _recorded(self) -> HostSession | None:
        """Return what the session's own file says of the conversation."""
        record = self._workspace.read_record(self._store.session)
        return record.host_sessions.get(self._event.host_session)

    def _refresh_summary(self) -> None:
        """Write the fresh summary that comes before a major action from compress on."""
        with self._lock():
            self._fold()

    def _fold(self) -> None:
        if self._is_unknown:
            return
        found, _ = self._store.fold(self._store.state_or_copy())
        if found.state is not None:
            self._store.write_summary(found.state)

    def _after_tool(self, calls: int) -> HookReply:
        """Answer the end of a call, with which so many of the conversation have ended."""
        if "gitguard" in self._tool.command:
            self._adopt_own_head()
            if self._abilities.hears_after_tools and (complete := self._say_complete()):
                return HookReply(context=complete)
        _, pressure = self._measure()
        assess = calls % gate.ASSESS_EVERY == 0 and self._is_to_assess(pressure)
        calm = gate.is_calm(self._known, pressure, self._config)
        if self._known.halt is not None or (calm and not assess):
            return NEUTRAL
        if not self._abilities.hears_after_tools:
            return self._save_unheard(pressure)
        with self._record():
            self._known = self._with_transcript(self._known)
            if self._known.epoch > self._known.compactions:
                self._known = self._noticed()
            return HookReply(context=self._line(pressure, calls, assess=assess))

    def _is_to_assess(self, pressure: Pressure | None) -> bool:
        """Say whether there is advice, or a usage from which the average is to be counted."""
        from gitguard.policy.bands import band_of

        if pressure is None:
            return False
        unpaced = self._known.paced_tokens < 0 or gate.has_shrunk(self._known, pressure)
        return unpaced or bool(band_of(pressure.share).advice)

    def _save_unheard(self, pressure: Pressure | None) -> HookReply:
        """Checkpoint where the answer is not read; what is to be said waits for the next prompt."""
        if pressure is not None and gate.is_to_keep(self._known, pressure, self._config):
            with self._record():
                self._auto_checkpoint(pressure)
                self._known = gate.rearmed(self._known, pressure, self._config)
        return NEUTRAL

    def _has_failed(self) -> bool:
        """Say whether the call failed; `grep` without a match, for one, only answered no."""
        if self._event.kind != events.TOOL_FAILED:
            return False
        from gitguard.model.outcome import is_answer

        return not is_answer(self._tool.command, self._tool.error)

    def _end_tool(self) -> int:
        """Journal the end of a call; return how many of the conversation have ended with it.

        0 is returned where it does not count: calls of sub-agents, and what the user interrupted.
        """
        ending = journal.FAILED if self._has_failed() else journal.ENDED
        if self._tool.interrupted:
            ending = journal.INTERRUPTED
        counts = not self._event.sub_agent and ending != journal.INTERRUPTED
        entry = self._entry(ending)
        with self._lock():
            calls = self._store.journal.calls(self._event.host_session) + 1 if counts else 0
            # A count is carried on by calls that ended well; those that failed are added to it.
            told = calls if ending == journal.ENDED else 0
            self._store.journal.append(entry.replace(calls=told))
            if ending == journal.FAILED:
                self._fold()
        return calls

    def _say_complete(self) -> str:
        """Return the signal that the task is complete, once, after its final state is written."""
        found = self._store.states.read()
        is_done = found.state is not None and found.state.is_done
        if not is_done or found.standing == states.EDITED:
            return ""
        from gitguard.usecases.sessions import finish

        with self._record():
            found = self._store.state()
            if found.state is None or found.state.task_id == self._known.completed:
                return ""
            finish(self._store, found)
            self._known = self._known.replace(completed=found.state.task_id)
            return complete_text(found.state.task_id)

    def _adopt_own_head(self) -> None:
        """Count checkpoints that the agent itself took by command as this conversation's own."""
        anchor = self._store.chain.anchors.read()
        if anchor is None or anchor.committed == self._known.head:
            return
        with self._record():
            self._known = self._known.replace(head=anchor.committed)
