"""Says in sentences what changed: in one checkpoint, or from one to another."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE
from gitguard.model.value import Value
from gitguard.review.sentences import Sentence, printable, sentences
from gitguard.sessions.history import Difference, diff, diff_files, find, newest, show
from gitguard.state.checkpoint import Checkpoint
from gitguard.state.task import TaskState
from gitguard.store.session.state_file import decode_state
from gitguard.store.session.store import SessionStore


class CheckpointChange(Value):
    """What one checkpoint changed."""

    checkpoint: Checkpoint
    previous: str
    """The name of the checkpoint before; empty if there is none, or if it cannot be read."""
    sentences: tuple[Sentence, ...]
    note: str = ""
    """Why everything in the checkpoint is told as new, although it is not the first."""


class Comparison(Value):
    """How two checkpoints differ, in sentences and as they are stored."""

    difference: Difference
    sentences: tuple[Sentence, ...]
    text: str = ""
    """Unified diff of the stored files, if it is asked for."""


def comparison(
    store: SessionStore, older: str, newer: str, *, with_text: bool = False, untrusted: bool = False
) -> Comparison:
    """Compare two checkpoints; by default the newest with the current state.

    Where nobody knows the current state, as of a lane, it is the newest checkpoint's.
    """

    def read() -> Comparison:
        last = newer
        if not newer and not store.has_working_files:
            last = next((c.name for c in newest(store, 1, untrusted=untrusted)), "")
        difference = diff(store, older, last, untrusted=untrusted)
        before, after = (
            _marked(store, show(store, STATE_FILE, side, untrusted=untrusted))
            for side in (difference.older, last)
        )
        text = diff_files(store, older, last, untrusted=untrusted) if with_text else ""
        return Comparison(difference, sentences(before, after), text)

    return store.at_one_moment(read)


def checkpoint_change(
    store: SessionStore, checkpoint_name: str, *, untrusted: bool = False
) -> CheckpointChange:
    """Return what a checkpoint changed since the one before.

    Raises why the branch is not ours, unless an untrusted one is asked for.
    """
    return store.at_one_moment(lambda: _change(store, checkpoint_name, untrusted=untrusted))


def _change(store: SessionStore, checkpoint_name: str, *, untrusted: bool) -> CheckpointChange:
    checkpoint = find(store, checkpoint_name, untrusted=untrusted)
    after = _state_of(store, checkpoint.id)
    if not checkpoint.parent:
        return CheckpointChange(checkpoint, "", sentences(None, after))
    try:
        parent = store.chain.read(checkpoint.parent).checkpoint
        before = _state_of(store, parent.id)
    except GitguardError as error:
        note = f"The checkpoint before cannot be read, so all it holds is listed: {error.message}"
        return CheckpointChange(checkpoint, "", sentences(None, after), note)
    return CheckpointChange(checkpoint, parent.name, sentences(before, after))


def current_state(store: SessionStore, *, untrusted: bool = False) -> tuple[Sentence, ...]:
    """Say in sentences what the state of a session holds, as it is now."""
    state = _marked(store, show(store, STATE_FILE, "", untrusted=untrusted))
    phase = f"Phase: {printable(state.current_phase)}"
    return tuple(
        sentence.replace(text=phase) if sentence.field == "current_phase" else sentence
        for sentence in sentences(None, state)
    )


def _state_of(store: SessionStore, commit: str) -> TaskState:
    return _marked(store, store.chain.read(commit).contents[STATE_FILE])


def _marked(store: SessionStore, data: bytes) -> TaskState:
    """Read a state, with what another machine wrote marked, as far as this one joined it."""
    state = decode_state(data, "the state")
    return store.states.marked(state) if store.has_working_files else state
