"""Hands the state back to a conversation that lacks it, and keeps a receipt."""

from __future__ import annotations

from gitguard.errors import EditedState, GitguardError, Tampered
from gitguard.model.events import HookReply
from gitguard.model.host_session import Delivery
from gitguard.policy.runway import death_spiral
from gitguard.policy.warnings import spiral_line
from gitguard.store import states
from gitguard.usecases.hooks import Conversation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.standing import Head
    from gitguard.store.states import Found


UNKNOWN_STATE = (
    "[gitguard: this machine did not write the task state in this workspace, so it is not shown. "
    "What happens now is saved apart and follows when the user runs `gitguard trust`.]"
)
_COPY = "the working file cannot be used; this is this machine's copy of the state"


class HandingBack(Conversation):
    """Delivers the resume block, or a fresh hand-off file in its place (DESIGN section 4)."""

    def _bootstrap(self) -> HookReply:
        """Answer with what belongs into the system prompt until the next checkpoint.

        What a crash left uncommitted is committed first, so that the block can hold it.
        """
        if self._is_unknown:
            return HookReply(context=UNKNOWN_STATE)
        refused = self._bring_up(always=True)
        if refused is not None:
            return self._without_state(refused)
        from gitguard.usecases.resume import stable_block

        with self._record():
            self._known = self._with_transcript(self._noticed())
            # No tool runs while a host builds its prompt: what did not end was cut off by a crash.
            cut_off = bool(self._store.journal.open_calls())
            why = "What came after the last checkpoint."
            self._checkpoint("recovery", why, if_changed=not cut_off)
            head = self._store.readable_head()
            block = self._handoff()
            if not block:
                block = stable_block(self._store, head, spiral=self._spiral())
            self._note_told(block)
            self._note_delivery(head, block)
        return HookReply(context=block)

    def _block_of_copy(self) -> str:
        """Return the block of this machine's copy of the state, or of the newest checkpoint.

        It is empty where this machine has neither.
        """
        from gitguard.usecases.resume import resume_of, stable_block

        spiral = self._spiral()
        try:
            found, head = self._store.states.read(), self._store.readable_head()
            if found.state is None:
                return stable_block(self._store, head, spiral=spiral)
            return resume_of(self._store, found, head, spiral=spiral, notes=(_COPY,))
        except GitguardError as error:
            self._mark(error)
            return ""

    def _deliver(self, *, first: bool) -> tuple[str, Found]:
        """Return the resume block if this conversation lacks it, with a receipt kept."""
        if self._is_unknown:
            return UNKNOWN_STATE if first else "", self._store.states.read()
        from gitguard.recovery.startup import refuse_tracked

        refuse_tracked(self._workspace, self._repository())
        if self._config.sign:
            from gitguard.recovery.adoption import take_signed

            self._startup_notes += take_signed(self._store)
        found = self._store.states.read()
        if found.needs_rewrite:
            found = self._store.states.rewrite(found)
        problem = states.diagnose(found)
        if problem is not None:
            raise problem
        try:
            return self._fresh_block(found, first=first), found
        except (EditedState, Tampered) as error:
            self._mark(error)  # nothing of it is handed out; what is said from now on still counts
            return "", found

    def _fresh_block(self, found: Found, *, first: bool) -> str:
        from gitguard.recovery.injection import is_due
        from gitguard.usecases.resume import resume_of

        head = self._store.readable_head()
        if not is_due(self._known, head.committed):
            return ""
        if found.state is None:
            raise EditedState(
                f"`{self._store.states.path}` is not known to be ours, and no copy of it is there",
                "See `gitguard status`",
            )
        block = self._handoff()
        nothing_to_say = first and found.state.is_untouched and not self._older
        if not block and not nothing_to_say:
            block = resume_of(
                self._store,
                found,
                head,
                spiral=self._spiral(),
                notes=self._startup_notes + self._older,
            )
        self._note_told(block)
        self._note_delivery(head, block)
        return block

    def _spiral(self) -> str:
        """Say why the conversation is in the death spiral, empty where it is not.

        Part of every hand-back, because the compaction before it has erased what was said.
        """
        known = self._known
        if not known.epoch:
            return ""
        _, pressure = self._measure()
        window = pressure.window.tokens if pressure else 0
        return death_spiral(known.epoch, known.summary_tokens, window)

    def _note_told(self, block: str) -> None:
        """Remember that a block told of the death spiral, so that no line says it again."""
        if block and self._spiral():
            self._known = self._known.replace(told_spiral=True)

    def _handoff(self) -> str:
        """Return what a fresh hand-off file says, which stands in for the resume block."""
        if not self._config.handoff.enabled:
            return ""
        from gitguard.usecases.handoff import recover_handoff

        block = recover_handoff(self._store, self._config.handoff)
        spiral = self._spiral() if block else ""
        return f"{block}\n{spiral_line(spiral)}" if spiral else block

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
