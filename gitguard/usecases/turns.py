"""Prompts, turns, compactions and conversations: what is done when, and in which order."""

from __future__ import annotations

from gitguard.context.gate import HALT_STATUS
from gitguard.errors import GitguardError
from gitguard.model import events
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.model.host_session import HostSession
from gitguard.model.text import one_line
from gitguard.store.identity import take_unsaid
from gitguard.usecases import gate
from gitguard.usecases.capturing import PROMPT_LIMIT, Capturing
from gitguard.usecases.handing_back import HandingBack
from gitguard.usecases.hooks import completed_before, stop_text
from gitguard.usecases.measuring import with_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.errors import MissingState
    from gitguard.model.host_session import Stop
    from gitguard.store.states import Found

_ONE_COMPACTION = 60.0
"""Seconds within which two events that a compaction begins may mean the same one."""


class Turns(Capturing, HandingBack):
    """Answers every event that is not a tool call."""

    def reply(self) -> HookReply:
        """Answer the event."""
        answers = {
            events.BOOTSTRAP: self._bootstrap,
            events.PROMPT: self._prompt,
            events.TURN_END: self._turn_end,
            events.COMPACTION_START: self._compaction_start,
            events.COMPACTION_END: self._compaction_end,
            events.SESSION_START: self._session_start,
            events.SESSION_END: self._session_end,
            events.STATUS_LINE: self._status_line,
        }
        answer = answers.get(self._event.kind)
        return answer() if answer else NEUTRAL

    # Prompts

    def _prompt(self) -> HookReply:
        halt = self._known.halt and self._noticed().halt
        if halt is not None:
            refusal = self._refuse_words(halt)
            if refusal is not None:
                return refusal
        refused = self._bring_up(always=self._known.turns == 0)
        if refused is not None:
            return self._without_state(refused)
        with self._record():
            self._known = self._noticed()
            block, found = self._deliver(first=self._known.turns == 0)
            self._close_open_calls()
            self._catch_up(found)
            complete = self._complete_before(found)
            self._record_prompt(found)
            self._known = self._with_transcript(self._known.replace(turns=self._known.turns + 1))
            self._keep_window()
            line = self._about_halt() if self._known.halt else self._about_context()
        unread = [
            f"[gitguard: {text}. Decisions made in between may be missing from the state.]"
            for text in self._unread
        ]
        notice = take_unsaid(self._workspace)
        parts = (complete, block, notice and f"[gitguard: {notice}]", *unread, line)
        return HookReply(context="\n".join(text for text in parts if text))

    def _complete_before(self, found: Found) -> str:
        """Return the signal of a complete task that nothing has told this conversation yet."""
        state = found.state
        is_told = state is not None and state.task_id == self._known.completed
        if state is None or not state.is_done or is_told or not self._known.turns:
            return ""
        self._known = self._known.replace(completed=state.task_id)
        return completed_before(state.task_id)

    def _refuse_words(self, halt: Stop) -> HookReply | None:
        """Refuse the prompt of a halted conversation where words alone are too much for it."""
        from gitguard.usecases.halting import has_room, refuse_prompt

        measured, pressure = self._measure()
        if self._abilities.ends_turns and (not measured or has_room(pressure)):
            return None
        return refuse_prompt(self._event, self._abilities, halt, pressure)

    def _about_halt(self) -> str:
        from gitguard.usecases.halting import pass_prompt

        halt = self._known.halt
        assert halt is not None
        _, pressure = self._measure()
        if not halt.saved:
            saved = self._checkpoint("halt", halt.reason, pressure=pressure, if_changed=True)
            halt = halt.replace(saved=gate.saved_text(saved))
            self._known = self._known.replace(halt=halt)
        return pass_prompt(self._abilities, halt, pressure)

    def _about_context(self) -> str:
        """Return the line about the context; advice is in it where tool calls got no answer."""
        _, pressure = self._measure()
        self._keep_proof(pressure)
        calls = self._store.journal.calls(self._event.host_session)
        told = self._known.told_calls
        # Calls are counted anew once those of others fill what is read of the journal.
        since = calls - told if calls >= told else calls
        due = not self._abilities.hears_after_tools and since >= gate.ASSESS_EVERY
        return self._line(pressure, calls, assess=due, begins_turn=True)

    def _keep_window(self) -> None:
        """Keep a window that comes with the event's reading, for events that come without one."""
        reading = self._event.reading
        if reading is not None:
            self._known = with_reading(self._known, reading)

    # States that cannot be used

    def _without_state(self, error: MissingState) -> HookReply:
        """Tell the agent, and hand out this machine's copy; without one the prompt is refused."""
        is_prompt = self._event.kind == events.PROMPT
        compacted = self._event.source == events.STARTED_AFTER_COMPACTION
        hands_back = compacted and self._event.kind == events.SESSION_START
        if not (is_prompt or hands_back or self._event.kind == events.BOOTSTRAP):
            return super()._without_state(error)
        block = self._block_of_copy()
        if not is_prompt:
            self._mark(error)
        elif block:
            self._keep_words()
        else:
            return HookReply(refuse=stop_text(error))
        return HookReply(context="\n".join(text for text in (stop_text(error), block) if text))

    def _keep_words(self) -> None:
        try:
            with self._record():
                self._journal_prompt(self._clean(one_line(self._event.prompt), PROMPT_LIMIT))
        except GitguardError as error:
            self._mark(error)

    # Turns, compactions, conversations

    def _turn_end(self) -> HookReply:
        if not self._bring_back():
            return NEUTRAL
        _, pressure = self._measure()
        with self._record():
            self._record_answer()
            self._keep_window()
            self._keep_proof(pressure)
            if self._auto_checkpoint(pressure) is None:
                self._checkpoint("turn-end", "The turn ended.", pressure=pressure)
        return NEUTRAL

    def _compaction_start(self) -> HookReply:
        refused = self._bring_up()
        if refused is not None:
            self._mark(refused)  # this machine's copy is saved all the same, where there is one
        _, pressure = self._measure()
        with self._record():
            why = f"Before a compaction ({self._event.source or 'unknown'})."
            now = self._workspace.clock()
            # Hosts may tell twice of one compaction; that is no reason for a second checkpoint.
            again = now - self._known.compacting_since < _ONE_COMPACTION
            self._keep_proof(pressure)
            self._checkpoint("compaction", why, pressure=pressure, if_changed=again)
            self._known = self._known.replace(compacting_since=now)
        if self._config.handoff.enabled and not self._is_unknown:
            from gitguard.usecases.handoff import write_handoff

            write_handoff(self._store, self._config.handoff)
        return NEUTRAL

    def _compaction_end(self) -> HookReply:
        if self._known.compacting_since:
            self._compacted()
        return NEUTRAL

    def _compacted(self) -> None:
        with self._record():
            now = self._workspace.clock()
            try:
                self._known = gate.after_compaction(
                    self._known,
                    self._config,
                    now,
                    pushed=self._event.reading,
                    transcript=self._event.transcript,
                    model=self._event.model,
                )
            except GitguardError as error:
                self._mark(error)
                self._known = self._known.compacted(now)

    def _session_start(self) -> HookReply:
        if self._event.source == events.STARTED_ANEW:
            return self._begin_anew()
        if self._event.source != events.STARTED_AFTER_COMPACTION:
            if self._event.reading is not None:
                self._store_reading()
            return NEUTRAL
        self._compacted()
        refused = self._bring_up()
        if refused is not None:
            return self._without_state(refused)
        with self._record():
            block, _ = self._deliver(first=False)
        return HookReply(context=block)

    def _begin_anew(self) -> HookReply:
        """Forget what belonged to the conversation that the host ended under the same name."""
        if self._bring_back():
            with self._record():
                self._known = HostSession(started_at=self._store.now, host=self._event.host)
        return NEUTRAL

    def _session_end(self) -> HookReply:
        if not self._bring_back():
            return NEUTRAL
        with self._record():
            self._checkpoint("session-end", "The conversation ended.")
        return NEUTRAL

    # The status line

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
        if not self._bring_back():
            return
        with self._record():
            self._known = with_reading(self._known, reading)
