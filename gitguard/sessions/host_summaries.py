"""The hosts' own summaries, whole: kept outside the branch, and read for whoever takes over."""

from __future__ import annotations

from gitguard.errors import GitguardError, Locked, NothingFound, NotWritable
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore


class ShownSummary(Value):
    """A host's summary of a conversation that it compacted."""

    text: str
    at: str
    """When the host compacted the conversation."""
    conversation: str
    """The host's id of it."""


def keep_whole(store: SessionStore, text: str) -> str:
    """Keep a whole summary in the store of file snapshots; return its id, empty if it cannot be."""
    try:
        id_length = store.repository().id_length()
        return store.worktree.kept_summaries().keep(text, store.clock(), id_length)
    except (NotWritable, Locked):
        return ""  # a sandbox, or somebody who removes packs
    except GitguardError as error:
        store.workspace.note_fault("keeping the host's summary", error)
        return ""


def whole_summary(store: SessionStore, state: TaskState, reader: str = "") -> str:
    """Return the whole summary that a state names, empty if it is not to be had.

    A reader whose own conversation was compacted has it already, and needs none.
    """
    summary = state.host_summary
    if summary is None or not summary.whole or summary.origin.conversation == reader:
        return ""
    try:
        return store.worktree.kept_summaries().read(summary.whole) or ""
    except GitguardError:
        return ""  # the short form is in the state


def keep_for(source: SessionStore, target: SessionStore, state: TaskState) -> None:
    """Keep the whole summary of one session for another one as well, whose state names it."""
    whole = whole_summary(source, state)
    if whole:
        keep_whole(target, whole)


def shown_summary(store: SessionStore, checkpoint: str, *, untrusted: bool = False) -> ShownSummary:
    """Return the whole summary that a checkpoint names, or the current state does.

    Raises `NothingFound` if there is none, or not on this machine.
    """
    summary = _state_of(store, checkpoint, untrusted=untrusted).host_summary
    if summary is None:
        raise NothingFound(
            "there is no summary of the host's",
            "The host writes one when it compacts the conversation; a new task begins without it",
        )
    if not summary.whole:
        raise NothingFound(
            "only the short form of the host's summary is kept",
            "`gitguard show state` has it; the whole is kept with `capture.words: whole`",
        )
    text = store.worktree.kept_summaries().read(summary.whole)
    if text is None:
        raise NothingFound(
            f"the whole summary {summary.whole[:12]} is not kept here: another machine has it, it "
            "is one of the oldest, or `gitguard purge` took it out",
            "`gitguard show state` has the short form",
        )
    return ShownSummary(text, summary.when, summary.origin.conversation)


def _state_of(store: SessionStore, checkpoint: str, *, untrusted: bool) -> TaskState:
    from gitguard.model.codec import STATE_FILE
    from gitguard.sessions.history import show
    from gitguard.store.session.state_file import decode_state

    if not checkpoint:
        return store.at_one_moment(lambda: store.folded(store.read_unlocked())[0])
    data = show(store, STATE_FILE, checkpoint, untrusted=untrusted)
    return decode_state(data, "the checkpoint's state")
