"""Writes what was said into the journal, and the prompt where the agent has noted nothing yet."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, Pending
from gitguard.model import journal
from gitguard.model.text import one_line, shorten_clean
from gitguard.model.thread import GIST, Exchange, is_decision
from gitguard.model.transcript import USER
from gitguard.store import states
from gitguard.usecases.hooks import Conversation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.journal import Entry
    from gitguard.model.task import TaskState
    from gitguard.store.states import Found

PROMPT_LIMIT = 2000
_MESSAGE_BEGINS = 16_384
_ANSWER_LIMIT = 600
"""Enough of an answer to begin its gist with, and to tell a long one from a short one."""


class Capturing(Conversation):
    """Captures prompts and answers (source: Context Manager v1, section 7.2, layer B)."""

    def _record_prompt(self, found: Found) -> None:
        prompt = self._clean(one_line(self._event.prompt), PROMPT_LIMIT)
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
        if not prompt:
            return
        answer = self._known.answer
        settles = answer if is_decision(len(answer), self._event.prompt) else ""
        entry = self._entry(journal.PROMPT, summary=prompt)
        self._store.journal.append(entry.replace(settles=one_line(settles)[:GIST]))
        self._known = self._known.replace(answer="")

    def _fill(self, state: TaskState, found: Found, prompt: str) -> None:
        """Put the prompt where the agent has noted no goal or next action yet."""
        from gitguard.model.task import fill_mechanically

        goal = {} if state.stated_goal else {"goal": prompt}
        filled = fill_mechanically(state, {**goal, "next_action": prompt})
        if filled == found.state:
            return
        saved = self._store.save(filled.replace(updated_at=self._store.now), found)
        assert saved.state is not None
        self._store.write_summary(saved.state)
        if found.state is not None and filled.task_id != found.state.task_id:
            self._checkpoint("start", "A new task begins.", found=saved)

    def _record_answer(self) -> None:
        answer = self._clean(self._event.answer.strip(), _ANSWER_LIMIT)
        self._store.journal.append(self._entry(journal.TURN_ENDED, summary=answer))
        self._known = self._known.replace(answer=answer)

    def _catch_up(self, found: Found) -> None:
        """Journal what was said before we first heard of the conversation."""
        transcript = self._event.transcript
        if self._known.turns or transcript is None or not os.path.exists(transcript.path):
            return
        from gitguard.model.thread import extend
        from gitguard.transcripts import find_format

        try:
            messages = find_format(transcript.format).messages(transcript, self._unread.append)
            said = extend((), messages, self._without_secrets)
        except GitguardError as error:
            self._mark(error)
            return
        prompt = one_line(self._event.prompt)
        if said and said[-1].role == USER and prompt.startswith(said[-1].gist):
            said = said[:-1]  # the prompt itself, which the host wrote down before it told us
        is_told = bool(said) and found.state is not None
        known = self._store.folded(found)[0].exchanges if is_told else ()
        for exchange in said:
            # A conversation that was forgotten, or goes on under another name, is known so far.
            if not known or exchange.when > known[-1].when:
                self._store.journal.append(self._said_before(exchange))

    def _clean(self, text: str, limit: int) -> str:
        return shorten_clean(text, limit, self._workspace.redactor)

    def _without_secrets(self, text: str) -> str:
        # Of a message only the beginning is kept, and how long it was.
        return self._workspace.redactor.text(text[:_MESSAGE_BEGINS]) + text[_MESSAGE_BEGINS:]

    def _said_before(self, exchange: Exchange) -> Entry:
        event = journal.PROMPT if exchange.role == USER else journal.TURN_ENDED
        now = self._store.now
        return self._entry(event, summary=exchange.gist).replace(
            at=min(exchange.when or now, now), pivot=exchange.pivot, long=exchange.long
        )

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
