"""Prompts, turns, compactions and conversations: where the state is kept and handed back."""

from __future__ import annotations

import os

from gitguard.context.gate import HALT_STATUS
from gitguard.errors import GitguardError, Pending
from gitguard.model import events, journal
from gitguard.model.events import NEUTRAL, HookReply
from gitguard.model.host_session import Delivery, HostSession
from gitguard.model.text import one_line, shorten
from gitguard.model.thread import GIST, Exchange, is_decision
from gitguard.model.transcript import USER
from gitguard.store import states
from gitguard.usecases import gate
from gitguard.usecases.hooks import WAY_OUT, Conversation, stop_text
from gitguard.usecases.measuring import with_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.journal import Entry
    from gitguard.model.task import TaskState
    from gitguard.store.checkpoints import Head
    from gitguard.store.states import Found

_PROMPT_LIMIT = 2000
_ONE_COMPACTION = 60.0
"""Seconds within which two events that a compaction begins may mean the same one."""
_ANSWER_LIMIT = 600
"""Enough of an answer to begin its gist with, and to tell a long one from a short one."""


class Turns(Conversation):
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

    def _bootstrap(self) -> HookReply:
        """Answer with what belongs into the system prompt until the next checkpoint.

        What a crash left uncommitted is committed first, so that the block can hold it.
        """
        refused = self._bring_up(always=True)
        if refused is not None:
            self._mark(refused)
            return NEUTRAL
        from gitguard.usecases.resume import stable_block

        with self._record():
            self._known = self._with_transcript(self._noticed())
            self._checkpoint("recovery", "What came after the last checkpoint.", if_changed=True)
            head = self._store.readable_head()
            block = self._handoff() or stable_block(
                self._store, head, compactions=self._known.epoch
            )
            self._note_delivery(head, block)
        return HookReply(context=block)

    def _prompt(self) -> HookReply:
        halt = self._known.halt and self._noticed().halt
        if halt is not None:
            return HookReply(refuse=f"{HALT_STATUS}\n{halt.reason}. {WAY_OUT}")
        refused = self._bring_up(always=self._known.turns == 0)
        if refused is not None:
            return HookReply(refuse=stop_text(refused))
        with self._record():
            self._known = self._noticed()
            block, found = self._deliver(first=self._known.turns == 0)
            self._close_open_calls()
            self._catch_up()
            self._record_prompt(found)
            self._known = self._with_transcript(self._known.replace(turns=self._known.turns + 1))
            self._keep_window()
            line = self._gauge()
        return HookReply(context="\n".join(text for text in (block, line) if text))

    def _gauge(self) -> str:
        """Return the gauge's line; a checkpoint that fails keeps nothing from the agent."""
        _, pressure = self._measure()
        try:
            saved = self._auto_checkpoint(pressure)
        except GitguardError as error:
            self._mark(error)
            saved = None
        return self._gauge_line(pressure, saved)

    def _record_prompt(self, found: Found) -> None:
        prompt = shorten(one_line(self._event.prompt), _PROMPT_LIMIT)
        if not prompt:
            return
        state = None if found.standing == states.EDITED else found.state
        if state is not None and state.is_done:
            from gitguard.model.task import new_task
            from gitguard.usecases.changing import end_task

            try:
                found = end_task(self._store, found)
                state = new_task(self._store.session.key, self._store.now, after=state.task_id)
            except Pending as error:
                self._mark(error)
                state = None
        self._journal_prompt(prompt)
        if state is not None:
            self._fill(state, found, prompt)

    def _journal_prompt(self, prompt: str) -> None:
        answer = self._known.answer
        settles = answer if is_decision(len(answer), self._event.prompt) else ""
        entry = self._entry(journal.PROMPT, summary=prompt)
        self._store.journal.append(entry.replace(settles=one_line(settles)[:GIST]))
        self._known = self._known.replace(answer="")

    def _fill(self, state: TaskState, found: Found, prompt: str) -> None:
        """Put the prompt where the agent has noted no goal or next action yet."""
        from gitguard.model.task import fill_mechanically

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
        return known.replace(
            transcript=transcript.path,
            transcript_format=transcript.format,
            transcript_session=transcript.session,
        )

    def _keep_window(self) -> None:
        """Keep a window that comes with the event's reading, for events that come without one."""
        reading = self._event.reading
        if reading is not None:
            self._known = with_reading(self._known, reading)

    def _noticed(self) -> HostSession:
        """Return the record after a compaction of which only the transcript tells."""
        try:
            return gate.notice_compaction(
                self._known, self._config, self._event.transcript, self._event.model
            )
        except GitguardError as error:
            self._mark(error)
            return self._known

    def _catch_up(self) -> None:
        """Journal what was said before we first heard of the conversation."""
        transcript = self._event.transcript
        if self._known.turns or transcript is None or not os.path.exists(transcript.path):
            return
        from gitguard.model.thread import extend
        from gitguard.transcripts import find_format

        try:
            said = extend((), find_format(transcript.format).messages(transcript))
        except GitguardError as error:
            self._mark(error)
            return
        prompt = one_line(self._event.prompt)
        if said and said[-1].role == USER and prompt.startswith(said[-1].gist):
            said = said[:-1]  # the prompt itself, which the host wrote down before it told us
        for exchange in said:
            self._store.journal.append(self._said_before(exchange))

    def _said_before(self, exchange: Exchange) -> Entry:
        event = journal.PROMPT if exchange.role == USER else journal.TURN_ENDED
        entry = self._entry(event, summary=exchange.gist)
        return entry.replace(at=exchange.when or self._store.now)

    def _close_open_calls(self) -> None:
        """Journal calls that began and never ended as interrupted.

        At a conversation's first prompt that goes for all of them: their hosts may be dead. If one
        is not, the end of the call still counts when it comes.
        """
        first = self._known.turns == 0
        for entry in self._store.journal.open_calls():
            own = entry.host_session == self._event.host_session and not entry.sub_agent
            if own or first:
                interrupted = entry.replace(event=journal.INTERRUPTED, at=self._store.now)
                self._store.journal.append(interrupted)

    # The hand-back

    def _deliver(self, *, first: bool) -> tuple[str, Found]:
        """Return the resume block if this conversation lacks it, with a receipt kept."""
        from gitguard.recovery.injection import is_due
        from gitguard.recovery.startup import refuse_tracked
        from gitguard.usecases.resume import resume_of

        refuse_tracked(self._workspace, self._repository())
        found = self._store.states.read()
        if found.needs_rewrite:
            found = self._store.states.rewrite(found)
        problem = states.diagnose(found)
        if problem is not None:
            raise problem
        head = self._store.readable_head()
        if not is_due(self._known, head.committed):
            return "", found
        assert found.state is not None
        block = self._handoff()
        if not block and not (first and found.state.is_untouched):
            block = resume_of(
                self._store,
                found,
                head,
                compactions=self._known.epoch,
                notes=self._startup_notes,
            )
        self._note_delivery(head, block)
        return block, found

    def _handoff(self) -> str:
        """Return what a fresh hand-off file says, which stands in for the resume block."""
        if not self._config.handoff.enabled:
            return ""
        from gitguard.usecases.handoff import recover_handoff

        return recover_handoff(self._store, self._config.handoff)

    def _note_delivery(self, head: Head, block: str) -> None:
        """Keep a receipt; of a block that is given anew with every run, the first one."""
        from gitguard.recovery.injection import is_due

        known = self._known
        same = known.delivery and len(block) == known.delivery.characters
        if same and not is_due(known, head.committed):
            return
        receipt = Delivery(
            at=self._store.now,
            event=self._event.kind,
            head=head.committed,
            epoch=known.epoch,
            characters=len(block),
        )
        self._known = known.replace(delivery=receipt, head=head.committed)

    # Turns, compactions, conversations

    def _turn_end(self) -> HookReply:
        if not self._bring_back():
            return NEUTRAL
        _, pressure = self._measure()
        with self._record():
            self._record_answer()
            self._keep_window()
            if self._auto_checkpoint(pressure) is None:
                self._checkpoint("turn-end", "The turn ended.", pressure=pressure)
        return NEUTRAL

    def _record_answer(self) -> None:
        answer = self._event.answer.strip()[:_ANSWER_LIMIT]
        if answer == self._known.answer != "":
            return  # the turn ended before, and nobody said anything since
        self._store.journal.append(self._entry(journal.TURN_ENDED, summary=answer))
        self._known = self._known.replace(answer=answer)

    def _compaction_start(self) -> HookReply:
        refused = self._bring_up()
        if refused is not None:
            self._mark(refused)
            return NEUTRAL
        _, pressure = self._measure()
        with self._record():
            why = f"Before a compaction ({self._event.source or 'unknown'})."
            now = self._workspace.clock()
            # Hosts may tell twice of one compaction; that is no reason for a second checkpoint.
            again = now - self._known.compacting_since < _ONE_COMPACTION
            self._checkpoint("compaction", why, pressure=pressure, if_changed=again)
            self._known = self._known.replace(compacting_since=now)
        if self._config.handoff.enabled:
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
            self._mark(refused)
            return NEUTRAL
        with self._record():
            block, _ = self._deliver(first=False)
        return HookReply(context=block)

    def _begin_anew(self) -> HookReply:
        """Forget what belonged to the conversation that the host ended under the same name."""
        if self._bring_back():
            with self._record():
                self._known = HostSession(started_at=self._store.now)
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
