"""Looks at a session's checkpoints: lists, shows and compares them; nothing is changed."""

from __future__ import annotations

from itertools import islice

from gitguard.composing import render_summary
from gitguard.errors import NotInitialised
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, dump_json
from gitguard.model.text import diff_texts
from gitguard.model.value import Value
from gitguard.review.history import FieldChange, compare_states
from gitguard.store.states import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.checkpoint import Checkpoint
    from gitguard.session_store import SessionStore


class Difference(Value):
    """How two checkpoints differ."""

    older: str
    newer: str
    changes: tuple[FieldChange, ...]
    summary: str
    """Unified diff of the two summaries."""


def newest(store: SessionStore, most: int) -> list[Checkpoint]:
    """Return the newest checkpoints, verified, newest first."""
    head = store.chain.head()
    return list(islice(store.chain.history(head.id), most))


def show(store: SessionStore, name: str, wanted: str) -> bytes:
    """Return a checkpoint's file, or the working one when no checkpoint is named."""
    if not wanted:
        return _working(store, name)
    head = store.chain.head()
    checkpoint = store.chain.find(head.id, wanted)
    return store.chain.read(checkpoint.id).contents[name]


def _working(store: SessionStore, name: str) -> bytes:
    if name not in (STATE_FILE, SUMMARY_FILE):
        head = store.chain.head()
        if not head.id:
            raise NotInitialised("there is no checkpoint yet", "Run `gitguard checkpoint`")
        return store.chain.read(head.id).contents[name]
    state = store.look().state
    assert state is not None
    return dump_json(state.to_document()) if name == STATE_FILE else render_summary(state).encode()


def diff(store: SessionStore, older: str, newer: str) -> Difference:
    """Compare two checkpoints; by default the newest with the state as it is now."""
    older = older or _newest_name(store)
    sides = [
        (show(store, STATE_FILE, side), show(store, SUMMARY_FILE, side)) for side in (older, newer)
    ]
    before, after = (decode_state(state, "the state") for state, _ in sides)
    texts = [summary.decode("utf-8", "replace") for _, summary in sides]
    names = (older, newer or "now")
    return Difference(*names, compare_states(before, after), diff_texts(*texts, names=names))


def _newest_name(store: SessionStore) -> str:
    for checkpoint in newest(store, 1):
        return checkpoint.name
    raise NotInitialised("there is no checkpoint yet", "Run `gitguard ensure`")
