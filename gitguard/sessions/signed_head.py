"""Takes a head ahead of ours without asking, if every commit up to it is signed.

It was written on another machine by somebody whose signature counts here. What this machine has in
no checkpoint yet is never left behind for it: then a person chooses.
"""

from __future__ import annotations

from itertools import takewhile

from gitguard.errors import GitguardError, NotWritable
from gitguard.model.codec import STATE_FILE
from gitguard.model.value import Value
from gitguard.sessions.taking import adopt
from gitguard.store.disk import files
from gitguard.store.session import state_file
from gitguard.store.session.anchor import marked
from gitguard.store.session.standing import ADVANCED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.signature import SignatureVerdict
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState, UnusableState
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Session

MOST_SIGNED = 100
"""So many signatures are checked, because each takes milliseconds and nobody asked for it."""


class Ahead(Value):
    """What is between our newest checkpoint and a head ahead of it."""

    session: Session
    sequence: int
    """The number of our newest checkpoint."""
    own_work: str
    """What this machine has in no checkpoint yet, empty if nothing."""
    checkpoints: tuple[Checkpoint, ...]
    """Theirs, oldest first."""


class Judgement(Value):
    """Whether a head ahead of ours may be taken unasked."""

    signers: tuple[str, ...] = ()
    doubt: str = ""
    """Why it may not, empty if it may."""


def judge(ahead: Ahead, verdicts: Iterable[SignatureVerdict]) -> Judgement:
    """Decide; the verdicts on the checkpoints are asked for one by one, and only if they matter."""
    doubt = ahead.own_work or _doubt_of_order(ahead)
    if not doubt and len(ahead.checkpoints) > MOST_SIGNED:
        doubt = (
            f"{len(ahead.checkpoints):,} checkpoints are ahead of ours, and at most "
            f"{MOST_SIGNED:,} are checked"
        )
    if doubt:
        return Judgement(doubt=doubt)
    signers: dict[str, None] = {}
    for checkpoint, verdict in zip(ahead.checkpoints, verdicts, strict=True):
        if not verdict.is_good:
            return Judgement(doubt=f"{_named(checkpoint)} is refused: {verdict.reason}")
        signers[verdict.signer or verdict.key] = None
    return Judgement(tuple(signers))


def _doubt_of_order(ahead: Ahead) -> str:
    for number, checkpoint in enumerate(ahead.checkpoints, ahead.sequence + 1):
        if not ahead.session.is_known_as(checkpoint.session_key):
            return f"{_named(checkpoint)} belongs to the session `{checkpoint.session_key:.80}`"
        if checkpoint.sequence != number:
            return f"{_named(checkpoint)} is in the place of cp_{number:03d}"
    return ""


def _named(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.name}, commit {checkpoint.id[:12]},"


def take_signed(store: SessionStore) -> tuple[str, ...]:
    """Take a signed head ahead of ours, where the user's config says `sign`; the lock is held.

    Returns a sentence for a person if it was taken; else the chain's refusal says why not.
    """
    head = store.chain.head(settle=True) if store.config.sign else None
    if head is None or head.standing != ADVANCED:
        return ()
    try:
        if not files.is_writable(store.chain.anchors.folder):
            raise NotWritable(f"`{store.chain.anchors.folder}` cannot be written")
        return _take(store, head)
    except GitguardError as error:
        store.chain.doubt = error.message
        return ()


def _take(store: SessionStore, head: Head) -> tuple[str, ...]:
    theirs = store.chain.verify_foreign(head.id)
    state = state_file.decode_state(theirs.contents[STATE_FILE], "the checkpoint's state")
    ahead = _ahead_of_anchor(store, head, state)
    check = store.signatures()
    judgement = judge(ahead, (check.verdict(c.id, c.signature) for c in ahead.checkpoints))
    store.chain.doubt = judgement.doubt
    if judgement.doubt:
        return ()
    adopt(store, head, theirs)
    count = len(ahead.checkpoints)
    by = ", ".join(judgement.signers)
    return (
        f"took {theirs.checkpoint.name}, commit {head.id[:12]}, as our head: {count} signed "
        f"checkpoint{'s' * (count > 1)} by {by}",
    )


def _ahead_of_anchor(store: SessionStore, head: Head, theirs: TaskState) -> Ahead:
    anchor = head.own_anchor
    newer = takewhile(lambda c: c.id != anchor.committed, store.chain.history(head.id))
    return Ahead(
        session=store.session,
        sequence=anchor.sequence,
        own_work=_own_work(store, store.states.read(), anchor, theirs),
        checkpoints=tuple(newer)[::-1],
    )


def _own_work(
    store: SessionStore, reading: OwnState | UnusableState, anchor: Anchor, theirs: TaskState
) -> str:
    """Say what of ours no checkpoint holds; theirs may be there after a crash while taking it."""
    if reading.standing not in (state_file.OURS, state_file.ABSENT):
        return f"this machine's own state is {reading.standing}"
    ready = state_file.newest_own(reading)
    is_theirs = ready is not None and marked(ready.state, ()) == marked(theirs, ())
    if ready is not None and not is_theirs and ready.sha256 != anchor.state_sha256:
        return "this machine's own state is newer than its last checkpoint"
    position = (ready.journal_id, ready.journal_offset) if ready is not None else ("", 0)
    if store.journal.read(*position).unfolded:
        return "work since the last checkpoint is not in a checkpoint yet"
    return ""
