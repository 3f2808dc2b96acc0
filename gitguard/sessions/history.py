"""Looks at a session's checkpoints: lists, shows and compares them; nothing is changed."""

from __future__ import annotations

from itertools import islice

from gitguard.errors import NotInitialised, Untrusted
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, dump_json
from gitguard.model.text import diff_texts
from gitguard.model.value import Value
from gitguard.sessions.state_comparison import FieldChange, compare_states
from gitguard.state.checkpoint import FILES
from gitguard.store.session.composing import render_summary
from gitguard.store.session.standing import reading_problem
from gitguard.store.session.state_file import decode_state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.code_history import CodeCommit
    from gitguard.store.session.standing import Head
    from gitguard.store.session.store import SessionStore


class Difference(Value):
    """How two checkpoints differ."""

    older: str
    newer: str
    changes: tuple[FieldChange, ...]
    summary: str
    """Unified diff of the two summaries."""


def diff_files(store: SessionStore, older: str, newer: str, *, untrusted: bool = False) -> str:
    """Return the unified diff of all that two checkpoints hold, or one and the current state.

    The current state has no snapshot until it is committed.
    """

    def read() -> str:
        before = older or _newest_name(store, untrusted=untrusted)
        parts = []
        for name in FILES if newer else FILES[:2]:
            sides = (show(store, name, side, untrusted=untrusted) for side in (before, newer))
            texts = [data.decode("utf-8", "replace") for data in sides]
            names = (f"{before}/{name}", f"{newer or 'now'}/{name}")
            parts.append(diff_texts(texts[0], texts[1], names=names))
        return "".join(parts)

    return store.at_one_moment(read)


def newest(store: SessionStore, most: int, *, untrusted: bool = False) -> list[Checkpoint]:
    """Return the newest checkpoints, verified, newest first.

    Raises why the branch is not ours, unless an untrusted one is asked for.
    """

    def read() -> list[Checkpoint]:
        head = _head(store, untrusted=untrusted)
        return list(islice(store.chain.history(head.id), most))

    return store.at_one_moment(read)


def why_not_ours(store: SessionStore, *checkpoints: str) -> str:
    """Say why a branch, or one of the named checkpoints, is not ours; empty if it is."""
    head = store.chain.head()
    refusal = reading_problem(head, store.chain.ref)
    if refusal is not None:
        return refusal.message
    asides = (_doubt_of_aside(store, head, name) for name in checkpoints if name)
    return next((doubt for doubt in asides if doubt), "")


def show(store: SessionStore, name: str, checkpoint: str, *, untrusted: bool = False) -> bytes:
    """Return a checkpoint's file, or the working one when no checkpoint is named.

    Raises why the branch is not ours, unless an untrusted one is asked for.
    """
    return store.at_one_moment(lambda: _show(store, name, checkpoint, untrusted=untrusted))


def _show(store: SessionStore, name: str, checkpoint_name: str, *, untrusted: bool) -> bytes:
    if not checkpoint_name:
        return _working(store, name, untrusted=untrusted)
    checkpoint = find(store, checkpoint_name, untrusted=untrusted)
    return store.chain.read(checkpoint.id).contents[name]


def find(store: SessionStore, checkpoint_name: str, *, untrusted: bool = False) -> Checkpoint:
    """Return the checkpoint that a number, name or commit id stands for.

    Raises why the branch, or what is kept aside, is not ours, unless an untrusted one is asked for.
    """
    head = _head(store, untrusted=untrusted)
    checkpoint = store.chain.find(head.id, checkpoint_name)
    doubt = "" if untrusted else store.chain.doubt_of(head, checkpoint)
    if doubt:
        raise Untrusted(doubt, "Look at it with --untrusted")
    return checkpoint


def newest_own(store: SessionStore) -> str:
    """Return the id of the newest checkpoint; raise `NotInitialised` where there is none."""
    head = store.own_head()
    if not head.id:
        raise NotInitialised(
            f"the session `{store.session.key:.80}` has no checkpoint",
            "`gitguard session list` lists the sessions, and `gitguard ensure` begins one",
        )
    return head.id


def _head(store: SessionStore, *, untrusted: bool) -> Head:
    head = store.chain.head()
    refusal = None if untrusted else reading_problem(head, store.chain.ref)
    if refusal is not None:
        raise refusal
    return head


def _doubt_of_aside(store: SessionStore, head: Head, checkpoint: str) -> str:
    return store.chain.doubt_of(head, store.chain.find(head.id, checkpoint))


def _working(store: SessionStore, name: str, *, untrusted: bool) -> bytes:
    if name not in (STATE_FILE, SUMMARY_FILE) or not store.has_working_files:
        head = _head(store, untrusted=untrusted)
        if not head.id:
            raise NotInitialised("there is no checkpoint yet", "Run `gitguard checkpoint`")
        return store.chain.read(head.id).contents[name]
    state = store.read_unlocked().state
    return dump_json(state.to_document()) if name == STATE_FILE else render_summary(state).encode()


def diff(store: SessionStore, older: str, newer: str, *, untrusted: bool = False) -> Difference:
    """Compare two checkpoints; by default the newest with the state as it is now."""
    return store.at_one_moment(lambda: _diff(store, older, newer, untrusted=untrusted))


def _diff(store: SessionStore, older: str, newer: str, *, untrusted: bool) -> Difference:
    older = older or _newest_name(store, untrusted=untrusted)
    files = (STATE_FILE, SUMMARY_FILE)
    sides = [
        [show(store, name, side, untrusted=untrusted) for name in files] for side in (older, newer)
    ]
    before, after = (decode_state(state, "the state") for state, _ in sides)
    texts = [summary.decode("utf-8", "replace") for _, summary in sides]
    names = (older, newer or "now")
    return Difference(*names, compare_states(before, after), diff_texts(*texts, names=names))


def _newest_name(store: SessionStore, *, untrusted: bool) -> str:
    for checkpoint in newest(store, 1, untrusted=untrusted):
        return checkpoint.name
    raise NotInitialised("there is no checkpoint yet", "Run `gitguard ensure`")


def code_of(
    store: SessionStore, checkpoint: str, older: str = "", *, untrusted: bool = False
) -> CodeCommit:
    """Describe the code commit of a checkpoint, or HEAD's when no checkpoint is named.

    Files are counted from the code commit of the older checkpoint, by default the one before; for
    HEAD it is the newest.
    """
    return store.at_one_moment(lambda: _code_of(store, checkpoint, older, untrusted=untrusted))


def _code_of(store: SessionStore, checkpoint: str, older: str, *, untrusted: bool) -> CodeCommit:
    # Imported here: GitPython, behind it, takes longer to import than all of `log`.
    from gitguard.store.git.code_history import CodeHistory

    head = _head(store, untrusted=untrusted)
    history = CodeHistory(store.repository())
    later = store.chain.find(head.id, checkpoint) if checkpoint else None
    before = _compared_with(store, head, later, older)
    code = history.commit(
        later.code.head if later else history.head(), before.code.head if before else None
    )
    subject = store.workspace.redactor.text(code.subject)
    return code.replace(subject=subject, compared_with=before.name if before else "")


def _compared_with(
    store: SessionStore, head: Head, later: Checkpoint | None, older: str
) -> Checkpoint | None:
    if older:
        return store.chain.find(head.id, older)
    commit = later.parent if later else head.id
    return next(store.chain.history(commit), None)
